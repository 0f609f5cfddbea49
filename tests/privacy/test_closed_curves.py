"""Curves in closed form are on the safe side, and not far from it."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import (
    GaussianCurve,
    PureCurve,
    PureDP,
    gaussian_delta,
    gaussian_epsilon,
)


@settings(deadline=None)
@given(st.floats(1e-3, 100.0))
def test_pure_privacy_implies_the_gaussian_one(epsilon):
    grid = np.linspace(0.0, epsilon, 101)
    pure = PureCurve(epsilon)
    assert np.all(gaussian_delta(pure.mu(), grid) >= pure.delta_at(grid) * (1.0 - 3e-12))
    if epsilon < 20.0:  # beyond, delta(0) is 1 to rounding for both
        assert np.any(gaussian_delta(0.99 * pure.mu(), grid) < pure.delta_at(grid))


def test_gaussian_curve():
    curve = GaussianCurve(0.8)
    epsilon = np.array([0.0, 1.0, 5.0])
    np.testing.assert_allclose(curve.delta_at(epsilon), gaussian_delta(0.8, epsilon), rtol=3e-12)
    assert curve.epsilon_at(1e-6) == gaussian_epsilon(0.8, 1e-6)
    assert curve.epsilon_at(0.0) == math.inf
    assert curve.mu() == 0.8
    assert curve.mu_bracket() == (0.8, 0.8)
    assert curve.pure_epsilon() == math.inf
    assert curve.zcdp_rho() == pytest.approx(0.32)


def exact_gaussian_delta(mu, epsilon):
    with mpmath.workdps(60):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)

        def upper(x):
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        below = upper(epsilon / mu + mu / 2)
        return upper(epsilon / mu - mu / 2) - mpmath.exp(epsilon) * below


def exact_pure_delta(epsilon0, epsilon):
    with mpmath.workdps(60):
        top = mpmath.exp(mpmath.mpf(epsilon0))
        return (top - mpmath.exp(mpmath.mpf(epsilon))) / (1 + top)


def test_delta_lies_on_the_safe_side_of_60_digits():
    random = np.random.default_rng(2)
    plain_under = 0
    for _ in range(300):
        mu = 10 ** random.uniform(-3, 2)
        epsilon = max(0.0, mu * (random.uniform(-2.0, 38.5) + 0.5 * mu))
        exact = exact_gaussian_delta(mu, epsilon)
        delta = float(GaussianCurve(mu).delta_at(epsilon))
        assert exact <= delta <= max(exact * (1 + mpmath.mpf(4e-12)), exact + 2e-323)
        plain_under += float(gaussian_delta(mu, epsilon)) < exact

        epsilon0 = 10 ** random.uniform(-3, 2)
        epsilon = epsilon0 * random.uniform() ** random.choice([0.001, 1.0, 5.0])
        exact = exact_pure_delta(epsilon0, epsilon)
        assert exact <= float(PureCurve(epsilon0).delta_at(epsilon)) <= exact * (1 + 4e-12)
    assert plain_under > 50  # without the rounding the check fails


def test_a_gaussian_delta_vanishes_at_infinity_only():
    curve = GaussianCurve(0.1)
    np.testing.assert_array_equal(curve.delta_at([1e3, 1e300, math.inf]), [5e-324, 5e-324, 0.0])
    assert GaussianCurve(1e-300).delta_at(1.0) == 5e-324
    assert not curve.satisfies(PureDP(1e300))
    assert GaussianCurve(1e200).delta_at(1.0) == 1.0
    assert PureCurve(5e-324).delta_at(0.0) == 5e-324


@settings(deadline=None)
@given(st.floats(1e-4, 100.0), st.floats(-740.0, -1e-13))
def test_epsilon_inverts_the_rounded_delta(parameter, log_delta):
    delta = math.exp(log_delta)
    for curve in (GaussianCurve(parameter), PureCurve(parameter)):
        assert curve.delta_at(curve.epsilon_at(delta)) <= delta


def test_pure_curve(exact_kink):
    curve = PureCurve(1.0)
    assert curve.delta_at(0.0) == pytest.approx(math.tanh(0.5))
    assert curve.delta_at(1.0) == 0.0
    assert curve.epsilon_at(0.0) == 1.0
    assert curve.epsilon_at(0.9) == 0.0
    lower, upper = curve.mu_bracket()
    assert upper == curve.mu() == pytest.approx(1.2318, abs=1e-3)
    assert exact_kink(lower) < 1.0 <= exact_kink(upper)
    assert upper - lower < 1e-12
    assert curve.pure_epsilon() == 1.0
    assert curve.zcdp_rho() == 0.5


@pytest.mark.parametrize("curve", [GaussianCurve, PureCurve])
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "x", None, True, [1.0]])
def test_curves_refuse_what_is_outside_their_domain(curve, bad):
    with pytest.raises(errors.InvalidParameterError, match="must be"):
        curve(bad)


@pytest.mark.parametrize("separation", [1e-200, 1e-160, 1e-155, 1e-99, 1e-50])
def test_tiny_angles_are_the_length(separation):
    theta = GaussianCurve(separation).rao("angle").theta
    assert separation <= theta <= separation * (1 + 1e-12)
