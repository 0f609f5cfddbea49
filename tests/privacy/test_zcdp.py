import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import ZCDP, gaussian_delta


@pytest.mark.parametrize("xi", [-1e-9, math.nan, math.inf])
def test_a_xi_outside_its_domain_is_refused(xi):
    with pytest.raises(errors.InvalidBudgetError, match="xi must be at least 0"):
        ZCDP(1.0, xi)


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
