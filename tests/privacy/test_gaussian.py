import itertools
from unittest import mock

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import _gdp, gaussian_delta, gaussian_epsilon, gaussian_mu

EPSILONS = [0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0]
DELTAS = [1e-3, 1e-5, 1e-6, 1e-9, 1e-12, 1e-15]
EXTREME_EPSILONS = [1e-6, 100.0, 1e4, 1e6]
EXTREME_DELTAS = [0.999999, 0.9, 0.1, 1e-50, 1e-100, 1e-300]


def exact_delta(mu, epsilon, digits=50):
    """Hockey-stick divergence from its definition, in high precision."""
    with mpmath.workdps(digits):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)

        def upper(x):
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        first = upper(epsilon / mu - mu / 2)
        return first - mpmath.exp(epsilon) * upper(epsilon / mu + mu / 2)


@pytest.mark.parametrize(("epsilon", "delta"), [*itertools.product(EPSILONS, DELTAS)])
def test_calibrated_noise_meets_the_target_to_50_digits(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert exact_delta(mu, epsilon) <= mpmath.mpf(delta)
    # and nothing is given away: 3e-9 more mu breaks the target
    assert exact_delta(mu * (1 + 3e-9), epsilon) > mpmath.mpf(delta)


EXTREMES = [
    *itertools.product(EXTREME_EPSILONS, EXTREME_DELTAS + DELTAS),
    *itertools.product(EPSILONS, EXTREME_DELTAS),
]


@pytest.mark.fast("0.01-1e-300", "1e-06-0.999999", "100.0-0.001", "1000000.0-0.999999")
@pytest.mark.parametrize(("epsilon", "delta"), EXTREMES)
def test_calibrated_noise_meets_extreme_targets(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    # a quotient 1/epsilon cancels in the difference, hence the digits
    assert exact_delta(mu, epsilon, 400) <= mpmath.mpf(delta)
    assert exact_delta(mu * (1 + 1e-6), epsilon, 400) > mpmath.mpf(delta)


def test_reference_values():
    assert 1.0 / gaussian_mu(1.0, 1e-6) == pytest.approx(4.224678889, rel=2e-9)
    found = [1.0 / gaussian_mu(epsilon, 1e-6) for epsilon in (0.1, 0.2, 0.3, 0.4)]
    assert found == pytest.approx([36.305, 18.99, 12.99, 9.93], rel=5e-4)


def test_relative_accuracy_in_the_tails():
    random = np.random.default_rng(1)
    worst = 0.0
    for _ in range(300):
        mu = 10 ** random.uniform(-6, 3)
        threshold = random.uniform(max(-0.5 * mu, -5.0), 37.3)
        epsilon = max(0.0, mu * (threshold + 0.5 * mu))
        exact = exact_delta(mu, epsilon, 80)
        if exact > 1e-300:
            worst = max(worst, float(abs(gaussian_delta(mu, epsilon) / exact - 1)))
    assert worst < 1e-12


def test_plain_formula_would_fail_the_accuracy_test():
    from scipy.special import ndtr

    mu, epsilon = 0.001, 0.03
    plain = ndtr(0.5 * mu - epsilon / mu) - np.exp(epsilon) * ndtr(-0.5 * mu - epsilon / mu)
    exact = exact_delta(mu, epsilon, 80)
    assert abs(plain / exact - 1) > 1e-12
    assert abs(gaussian_delta(mu, epsilon) / exact - 1) < 1e-12


def test_limits():
    values = gaussian_delta(1.0, [0.0, 1e6, 1e300, np.inf])
    assert values[0] == pytest.approx(0.3829249225480262, rel=1e-14)
    np.testing.assert_array_equal(values[1:], 0.0)
    assert gaussian_delta(1e200, 1.0) == 1.0
    assert gaussian_delta(1e-300, 1.0) == 0.0
    assert gaussian_delta(1e-300, 0.0) == pytest.approx(1e-300 / np.sqrt(2 * np.pi))
    assert gaussian_delta(5e-324, 1e-320) >= 0.0


def test_broadcasting():
    mu, epsilon = np.array([[0.5], [1.0]]), np.array([0.0, 1.0, 2.0])
    table = gaussian_delta(mu, epsilon)
    assert table.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        assert table[i, j] == pytest.approx(gaussian_delta(mu[i, 0], epsilon[j]), rel=1e-13)
    assert gaussian_delta(1.0, 1.0).shape == ()


@given(st.floats(1e-6, 1e3), st.floats(0.0, 20.0), st.floats(1e-3, 2.0))
def test_delta_falls_with_epsilon_and_grows_with_mu(mu, step, growth):
    epsilon = step * mu
    here = gaussian_delta(mu, epsilon)
    assert gaussian_delta(mu, epsilon + growth * mu) < here or here == 1.0
    assert gaussian_delta(mu * (1.0 + growth), epsilon) >= here


@settings(deadline=None)
@given(st.floats(1e-4, 100.0), st.floats(-690.0, -0.01))
def test_epsilon_inverts_delta(mu, log_delta):
    delta = float(np.exp(log_delta))
    epsilon = gaussian_epsilon(mu, delta)
    assert gaussian_delta(mu, epsilon) <= delta
    if epsilon == 0.0:
        assert gaussian_delta(mu, 0.0) <= delta
    else:
        assert gaussian_delta(mu, epsilon * (1.0 - 1e-9)) > delta * (1.0 - 1e-11)


@settings(deadline=None)
@given(st.floats(0.0, 1e3), st.floats(-690.0, -1e-9))
def test_mu_inverts_delta(epsilon, log_delta):
    delta = float(np.exp(log_delta))
    mu = gaussian_mu(epsilon, delta)
    assert mu > 0.0
    assert gaussian_delta(mu, epsilon) <= delta


@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.5, 0.999])
@pytest.mark.parametrize("mu", [1e-12, 1e6, 1e17])
def test_epsilon_at_extremes(mu, delta):
    epsilon = gaussian_epsilon(mu, delta)
    assert 0.0 <= epsilon < np.inf
    assert exact_delta(mu, epsilon, 200) <= delta


def test_epsilon_next_to_zero():
    delta = float(gaussian_delta(1.0, 0.0)) * (1.0 + 1e-13)
    epsilon = gaussian_epsilon(1.0, delta)  # delta(0) is too close to say that 0 is enough
    assert 0.0 < epsilon < 1e-10
    assert exact_delta(1.0, epsilon) <= delta


def test_no_finite_epsilon_in_float64():
    assert gaussian_epsilon(1e200, 1e-6) == np.inf


def test_mu_next_to_certainty():
    mu = gaussian_mu(1.0, 1.0 - 1e-15)
    assert 1.0 < mu < 20.0
    assert gaussian_delta(mu, 1.0) <= 1.0 - 1e-15


@pytest.mark.parametrize(("mu", "epsilon"), [(0.0, 1.0), (-1.0, 1.0), (np.inf, 1.0), (np.nan, 1.0)])
def test_mu_outside_its_domain(mu, epsilon):
    with pytest.raises(errors.InvalidParameterError, match="mu must be positive"):
        gaussian_delta(mu, epsilon)
    with pytest.raises(errors.InvalidParameterError, match="mu must be positive"):
        gaussian_epsilon(mu, 0.1)


@pytest.mark.parametrize("epsilon", [-1e-9, np.nan])
def test_epsilon_outside_its_domain(epsilon):
    with pytest.raises(errors.InvalidParameterError, match="epsilon must be at least 0"):
        gaussian_delta(1.0, [1.0, epsilon])
    with pytest.raises(errors.InvalidParameterError, match="epsilon must be at least 0"):
        gaussian_mu(epsilon, 0.1)


@pytest.mark.parametrize("bad", ["x", None, True, [None]])
def test_what_is_no_number(bad):
    for call in (
        lambda: gaussian_delta(bad, 1.0),
        lambda: gaussian_delta(1.0, bad),
        lambda: gaussian_epsilon(bad, 0.1),
        lambda: gaussian_epsilon(1.0, bad),
        lambda: gaussian_mu(bad, 0.1),
        lambda: gaussian_mu(1.0, bad),
    ):
        with pytest.raises(errors.InvalidParameterError, match="real number"):
            call()


def test_infinite_epsilon_has_no_mu():
    with pytest.raises(errors.InvalidParameterError, match="finite"):
        gaussian_mu(np.inf, 0.1)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_delta_outside_its_domain(delta):
    with pytest.raises(errors.InvalidParameterError, match="strictly between 0 and 1"):
        gaussian_epsilon(1.0, delta)
    with pytest.raises(errors.InvalidParameterError, match="strictly between 0 and 1"):
        gaussian_mu(1.0, delta)


def test_threshold_of_a_mu_whose_square_underflows():
    found = _gdp._threshold(np.array([1e-170, 1e-90]), np.zeros(2))
    assert found.tolist() == [-0.5e-170, -0.5e-90]


def test_calibration_checks_once():
    checks = []
    _gdp._largest_mu.cache_clear()
    epsilons, deltas = (1e-3, 0.1, 1.0, 5.0, 30.0), (1e-12, 1e-6, 1e-2, 0.5)
    with mock.patch.object(
        _gdp, "_safely_under", lambda *a, f=_gdp._safely_under: checks.append(a) or f(*a)
    ):
        for epsilon, delta in itertools.product(epsilons, deltas):
            gaussian_mu(epsilon, delta)
    assert len(checks) == len(epsilons) * len(deltas)
