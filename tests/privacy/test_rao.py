import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import Budget, RaoDP
from riemdp.privacy._rao import angle_of_affinity, angle_of_response


def angle(theta):
    return RaoDP(theta, distance="angle")


def exact_delta(theta, epsilon):
    with mpmath.workdps(700):
        c, s = mpmath.exp(mpmath.mpf(epsilon)), mpmath.sin(mpmath.mpf(theta) / 2)
        return (mpmath.sqrt((c - 1) ** 2 + 4 * c * s**2) - (c - 1)) / 2


def test_pinned_values():
    tenth = angle(0.1)
    assert tenth.delta_at(0.0) == pytest.approx(math.sin(0.05), rel=1e-13)
    assert tenth.delta_at(math.inf) == pytest.approx(math.sin(0.05) ** 2, rel=1e-13)
    assert tenth.delta_at(math.inf) == pytest.approx(0.0025, abs=3e-6)
    assert angle_of_response(1.0) == pytest.approx(2.0 * math.acos(1.0 / math.cosh(0.5)))
    assert angle_of_affinity(0.125) == pytest.approx(2.0 * math.acos(math.exp(-0.125)))
    assert angle(math.pi).delta_at(3.0) == 1.0


@given(st.floats(1e-140, math.pi), st.floats(0.0, 1000.0))
def test_delta_is_exact_and_rounded_up(theta, epsilon):
    delta = float(angle(theta).delta_at(epsilon))
    exact = exact_delta(theta, epsilon)
    assert exact <= delta <= float(exact) * (1.0 + 2e-12)


def test_delta_in_the_tails():
    assert angle(2e-150).delta_at(1.0) == pytest.approx(float(exact_delta(2e-150, 1.0)), rel=1e-12)
    assert 0.0 < angle(2e-150).delta_at(1.0) < 1e-299
    assert angle(1e-300).delta_at(2.0) == 5e-324  # 1e-600, rounded up
    curve = angle(1.0).delta_at(np.linspace(0.0, 900.0, 5001))
    assert np.all(np.diff(curve) <= 1e-15)
    assert angle(1.0).delta_at(np.zeros((2, 3))).shape == (2, 3)


@given(st.floats(1e-6, 3.0), st.floats(1e-12, 0.999999))
def test_epsilon_is_the_inverse(theta, share):
    budget = angle(theta)
    floor, top = (float(budget.delta_at(e)) for e in (math.inf, 0.0))
    delta = floor * (top / floor) ** share
    epsilon = budget.epsilon_at(delta)
    if epsilon < math.inf:
        assert budget.delta_at(epsilon) <= delta
        assert epsilon == 0.0 or budget.delta_at(epsilon * (1.0 - 1e-6)) > delta * (1.0 - 1e-12)
    else:
        assert delta <= floor * (1.0 + 1e-11)


def test_epsilon_at_its_ends():
    budget = angle(0.1)
    assert budget.epsilon_at(math.sin(0.05) ** 2) == math.inf
    assert budget.epsilon_at(0.0) == math.inf
    assert budget.epsilon_at(0.05) == 0.0
    assert budget.epsilon_at(0.0025) == pytest.approx(7.0879, abs=1e-3)
    assert angle(math.pi).epsilon_at(0.999) == math.inf


def test_laws_with_two_outcomes_attain_the_curve():
    for theta, epsilon in [(0.1, 0.0), (0.5, 1.0), (2.0, 0.3), (2.5, 4.0)]:
        c = math.exp(epsilon)

        def laws(t, c=c):
            q = (1.0 - c / t) / (c * (t - 1.0 / t))
            return np.array([c * t * q, 1.0 - c * t * q]), np.array([q, 1.0 - q])

        low, high = max(c, 1.0) * (1.0 + 1e-12), 1e12
        for _ in range(200):  # the angle of these laws grows with t
            t = math.sqrt(low * high)
            p, q = laws(t)
            wider = 2.0 * math.acos(min(1.0, float(np.sum(np.sqrt(p * q))))) > theta
            low, high = (low, t) if wider else (t, high)
        p, q = laws(low)
        delta = float(np.maximum(p - c * q, 0.0).sum())
        assert delta == pytest.approx(float(angle(theta).delta_at(epsilon)), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.5, 2.0])
def test_no_pair_of_laws_violates_the_curve(pairs, epsilon):
    deltas = pairs.delta(epsilon)
    sines = np.sin(0.5 * pairs.angle)

    def curve(s):
        # the formula as it is printed, for many angles at once
        rise = math.expm1(epsilon)
        return 0.5 * (np.sqrt(rise**2 + 4.0 * math.exp(epsilon) * s**2) - rise)

    some = slice(None, None, 1000)
    np.testing.assert_allclose(
        curve(sines[some]), [float(angle(t).delta_at(epsilon)) for t in pairs.angle[some]],
        rtol=1e-9, atol=1e-13,
    )  # fmt: skip
    assert np.all(deltas <= curve(sines) * (1.0 + 1e-9) + 1e-13)
    assert np.any(deltas > curve(0.5 * sines) * (1.0 + 1e-9) + 1e-13)


def test_a_parametric_theta_means_its_angle():
    path = RaoDP(1.0, distance="parametric")
    epsilons = np.linspace(0.0, 5.0, 11)
    np.testing.assert_array_equal(path.delta_at(epsilons), angle(1.0).delta_at(epsilons))
    assert path.epsilon_at(0.3) == angle(1.0).epsilon_at(0.3)
    long = RaoDP(10.0, distance="parametric")
    assert np.all(long.delta_at(epsilons) == 1.0)
    assert long.epsilon_at(0.9) == math.inf


def test_a_rao_budget_is_a_value():
    assert isinstance(angle(1.0), Budget)
    assert angle(1) == angle(1.0)
    assert angle(1.0) != RaoDP(1.0, distance="parametric")
    assert hash(angle(1.0)) == hash(angle(1.0))
    assert repr(angle(1.0)) == "RaoDP(theta=1.0, distance='angle')"


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "a", None])
@pytest.mark.parametrize("distance", ["angle", "parametric"])
def test_a_theta_outside_its_domain_is_refused(bad, distance):
    with pytest.raises(errors.InvalidBudgetError, match="theta"):
        RaoDP(bad, distance=distance)


def test_the_distance_has_to_be_named():
    with pytest.raises(TypeError, match="distance"):
        RaoDP(1.0)
    with pytest.raises(TypeError):
        RaoDP(1.0, "angle")
    with pytest.raises(errors.InvalidBudgetError, match=r'"angle".*"parametric"'):
        RaoDP(1.0, distance="fisher")
    with pytest.raises(errors.InvalidBudgetError, match="at most pi"):
        RaoDP(3.2, distance="angle")
    for bad in (-0.1, math.nan):
        with pytest.raises(errors.InvalidParameterError, match="epsilon"):
            angle(1.0).delta_at(bad)
    for bad in (-0.1, 1.0, math.nan):
        with pytest.raises(errors.InvalidParameterError, match="delta"):
            angle(1.0).epsilon_at(bad)


@pytest.mark.parametrize("bad", [np.array([1.0, 2.0]), ["angle"], None, "arc", 1.0])
def test_a_distance_that_is_no_name_is_refused(bad):
    with pytest.raises(errors.InvalidBudgetError, match="distance"):
        RaoDP(1.0, distance=bad)


@pytest.mark.parametrize("theta", [math.pi, math.pi * (1.0 - 1e-16), 3.0])
def test_the_sine_of_half_an_angle_is_rounded_up_and_at_most_one(theta):
    with mpmath.workdps(40):
        exact = mpmath.sin(mpmath.mpf(theta) / 2)
        assert exact <= RaoDP(theta, distance="angle")._sine() <= 1.0
