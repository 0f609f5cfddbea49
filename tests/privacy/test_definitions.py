import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import GDP, ZCDP, ApproxDP, Budget, PureDP, gaussian_delta

BAD_POSITIVE = [0.0, -1.0, math.nan, math.inf, -math.inf, "a lot", None, True, [1.0], 1j]
EPSILONS = np.array([0.0, 0.1, 0.5, 0.999, 1.0, 1.5, 10.0, 1e6, np.inf])


@pytest.mark.parametrize("bad", BAD_POSITIVE)
@pytest.mark.parametrize("budget", [PureDP, GDP, ZCDP, lambda value: ApproxDP(value, 1e-6)])
def test_a_budget_outside_its_domain_is_refused(budget, bad):
    with pytest.raises(errors.InvalidBudgetError, match=r"epsilon|mu|rho"):
        budget(bad)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, 2.0, math.nan, math.inf, "a", None, [1e-6]])
def test_a_delta_outside_its_domain_is_refused(delta):
    with pytest.raises(errors.InvalidBudgetError, match="delta"):
        ApproxDP(1.0, delta)


@pytest.mark.parametrize("xi", [-1e-9, math.nan, math.inf])
def test_a_xi_outside_its_domain_is_refused(xi):
    with pytest.raises(errors.InvalidBudgetError, match="xi must be at least 0"):
        ZCDP(1.0, xi)


def test_budgets_are_values():
    assert PureDP(1) == PureDP(1.0)
    assert ZCDP(0.5) == ZCDP(0.5, 0.0)
    assert hash(ApproxDP(1, 1e-6)) == hash(ApproxDP(1.0, 1e-6))
    assert isinstance(PureDP(np.float64(1.0)).epsilon, float)
    with pytest.raises(AttributeError):
        GDP(1.0).mu = 2.0


@pytest.mark.parametrize("budget", [PureDP(1.0), ApproxDP(1.0, 1e-3), GDP(1.0), ZCDP(0.5, 0.1)])
def test_curves_of_budgets(budget):
    assert isinstance(budget, Budget)
    delta = budget.delta_at(EPSILONS)
    assert delta.shape == EPSILONS.shape
    assert np.all((delta >= 0.0) & (delta <= 1.0))
    assert np.all(np.diff(delta) <= 0.0)
    assert budget.delta_at(1.0) == delta[4]
    for target in (0.3, 0.05, 1.1e-3):
        epsilon = budget.epsilon_at(target)
        assert budget.delta_at(epsilon) <= target * (1.0 + 1e-12)
        assert epsilon == 0.0 or budget.delta_at(0.999 * epsilon) > target
    for bad in (-0.1, math.nan, "x", None, [None], True):
        with pytest.raises(errors.InvalidParameterError, match="epsilon"):
            budget.delta_at(bad)
    for bad in (-0.1, 1.0, math.nan, "x", None, [0.1], False):
        with pytest.raises(errors.InvalidParameterError, match="delta"):
            budget.epsilon_at(bad)


@given(st.floats(0.01, 30.0), st.floats(1e-9, 0.9), st.floats(0.0, 1.0))
def test_smaller_epsilon_of_an_approximate_guarantee(epsilon, delta, share):
    # the largest 1 - f(a) - e^eps a over the trade-off function f of (epsilon, delta)
    smaller = share * epsilon
    kink = (1.0 - delta) / (1.0 + math.exp(epsilon))
    alpha = np.array([0.0, kink, 1.0 - delta])
    power = 1.0 - np.maximum(
        1.0 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1.0 - delta - alpha)
    )
    brute = np.max(power - math.exp(smaller) * alpha)
    assert ApproxDP(epsilon, delta).delta_at(smaller) == pytest.approx(brute, rel=1e-9)


def test_approximate_guarantee_at_its_corners():
    budget = ApproxDP(1.0, 1e-3)
    assert budget.delta_at(1.0) == 1e-3
    assert budget.delta_at(5.0) == 1e-3
    assert budget.epsilon_at(1e-3) == 1.0
    assert budget.epsilon_at(1e-4) == math.inf
    assert budget.epsilon_at(0.9) == 0.0
    # 1 - (1 - delta)(1 + e^(1/2))/(1 + e)
    expected = 1.0 - 0.999 * (1.0 + math.exp(0.5)) / (1.0 + math.e)
    assert budget.delta_at(0.5) == pytest.approx(expected, rel=1e-13)


def test_pure_guarantee_at_its_corners():
    assert PureDP(1.0).delta_at(0.0) == pytest.approx(math.tanh(0.5), rel=1e-14)
    assert PureDP(1.0).delta_at(1.0) == 0.0
    assert PureDP(1.0).epsilon_at(0.0) == 1.0
    assert PureDP(800.0).delta_at(0.0) == 1.0
    assert PureDP(800.0).epsilon_at(0.5) == pytest.approx(800.0 - math.log(2.0))
    small = PureDP(1e-9).delta_at(0.5e-9)
    assert small == pytest.approx(0.25e-9, rel=1e-8)


def test_no_delta_of_zero_without_pure_privacy():
    assert GDP(1.0).epsilon_at(0.0) == math.inf
    assert ZCDP(1.0).epsilon_at(0.0) == math.inf


def test_gaussian_guarantee():
    exact = gaussian_delta(0.7, EPSILONS)
    np.testing.assert_allclose(GDP(0.7).delta_at(EPSILONS), exact, rtol=3e-12, atol=5e-324)


@settings(deadline=None)
@given(st.floats(1e-6, 50.0), st.floats(0.0, 1.0))
def test_zero_concentrated_is_a_bound_for_the_gaussian(rho, share):
    # N(0,1) against N(mu,1) is exactly mu^2/2-zCDP
    mu = math.sqrt(2.0 * rho)
    epsilon = share * (rho + 8.0 * mu)
    bound = ZCDP(rho).delta_at(epsilon)
    assert gaussian_delta(mu, epsilon) <= bound
    plain = math.exp(-((epsilon - rho) ** 2) / (4.0 * rho)) if epsilon > rho else 1.0
    assert bound <= plain * (1.0 + 1e-9)


def test_half_the_rho_is_no_bound_for_the_gaussian():
    assert gaussian_delta(1.0, 3.0) > ZCDP(0.25).delta_at(3.0)


def test_zero_concentrated_at_the_best_order():
    budget, epsilon = ZCDP(0.5, 0.2), 4.0
    order = np.linspace(1.0001, 60.0, 200_001)
    log_delta = (order - 1.0) * (0.2 + 0.5 * order - epsilon)
    log_delta += (order - 1.0) * np.log1p(-1.0 / order) - np.log(order)
    brute = math.exp(np.min(log_delta))
    assert budget.delta_at(epsilon) == pytest.approx(brute, rel=1e-6)


@pytest.mark.parametrize("rho", [1e-300, 1e-12, 1e-3, 1.0, 1e4, 1e50])
@pytest.mark.parametrize("delta", [0.99, 1e-6, 1e-300])
def test_zero_concentrated_at_extremes(rho, delta):
    budget = ZCDP(rho)
    epsilon = budget.epsilon_at(delta)
    limit = rho + 2.0 * math.sqrt(-rho * math.log(delta))
    assert 0.0 <= epsilon <= limit * (1.0 + 1e-9)
    assert budget.delta_at(epsilon) <= delta
    assert np.all(np.isfinite(budget.delta_at([0.0, 1e-3, 1e5, np.inf])))


@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.5, math.nextafter(1.0, 0.0)])
def test_epsilon_of_a_rho_under_normal_numbers(delta):
    for xi in (0.0, 1.0):
        tiny, small = ZCDP(5e-324, xi).epsilon_at(delta), ZCDP(1e-300, xi).epsilon_at(delta)
        assert ZCDP(1e-310, xi).epsilon_at(delta) == tiny == small
