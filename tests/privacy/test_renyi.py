import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import RDP, PureDP


def test_the_order_infinity_is_pure():
    epsilons = np.linspace(0.0, 2.0, 9)
    limit, pure = RDP(math.inf, 1.0), PureDP(1.0)
    np.testing.assert_array_equal(limit.delta_at(epsilons), pure.delta_at(epsilons))
    assert limit.epsilon_at(0.0) == 1.0
    assert limit.epsilon_at(0.1) == pure.epsilon_at(0.1)
    assert limit.angle() == RDP(1e12, 1.0).angle() or limit.angle().theta == pytest.approx(
        RDP(1e12, 1.0).angle().theta, rel=1e-9
    )


@pytest.mark.fast(2)
@pytest.mark.parametrize("order", [1.1, 2.0, 8.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 3.0])
def test_no_pair_of_laws_violates_delta(pairs, order, epsilon):
    measured, deltas = pairs.renyi(order), pairs.delta(epsilon)
    grid = np.geomspace(1e-5, 12.0, 1000)
    index = np.searchsorted(grid, measured)
    inside = index < len(grid)
    index = np.minimum(index, len(grid) - 1)
    bound = np.array([float(RDP(order, value).delta_at(epsilon)) for value in grid])[index]
    assert np.all(deltas <= bound + 1e-13, where=inside)
    if epsilon < 3.0:  # half the divergence
        half = np.array([float(RDP(order, 0.5 * value).delta_at(epsilon)) for value in grid])[index]
        assert np.any((deltas > half + 1e-13) & inside)


def test_delta_of_one_order():
    # the bound of Canonne, Kamath and Steinke, where it is the smaller one
    budget, epsilon, order = RDP(8.0, 0.5), 3.0, 8.0
    log_delta = 7.0 * (0.5 - epsilon) + 7.0 * math.log1p(-1.0 / order) - math.log(order)
    assert budget.delta_at(epsilon) == pytest.approx(math.exp(log_delta), rel=1e-12)
    assert budget.epsilon_at(math.exp(log_delta)) == pytest.approx(epsilon, rel=1e-12)
    assert RDP(8.0, 0.5).delta_at(0.0) == pytest.approx(
        math.sin(0.5 * budget.angle().theta), rel=1e-12
    )
    assert RDP(50.0, 3.0).delta_at(2.9) <= -math.expm1(2.9 - 3.0) * (1.0 + 1e-9)


@given(st.sampled_from([1.01, 1.5, 3.0, 64.0]), st.floats(1e-6, 50.0), st.floats(1e-300, 0.9))
def test_epsilon_is_the_inverse(order, divergence, delta):
    budget = RDP(order, divergence)
    epsilon = budget.epsilon_at(delta)
    assert budget.delta_at(epsilon) <= delta * (1.0 + 1e-11)
    if epsilon > 1e-9:
        assert budget.delta_at(epsilon * (1.0 - 1e-6)) > delta * (1.0 - 1e-9)


def test_tails():
    budget = RDP(4.0, 0.5)
    assert np.all(np.diff(budget.delta_at(np.linspace(0.0, 300.0, 3001))) <= 0.0)
    assert 0.0 < budget.delta_at(229.0) < 1e-297
    assert budget.delta_at(math.inf) == 0.0
    assert budget.epsilon_at(1e-300) == pytest.approx(230.0, abs=1.0)
    assert budget.epsilon_at(0.0) == math.inf


@pytest.mark.parametrize("order", [1.0, 0.5, -1.0, math.nan, "a", None])
def test_an_order_outside_its_domain_is_refused(order):
    with pytest.raises(errors.InvalidBudgetError, match="order"):
        RDP(order, 1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, None])
def test_an_epsilon_outside_its_domain_is_refused(epsilon):
    with pytest.raises(errors.InvalidBudgetError, match="epsilon"):
        RDP(2.0, epsilon)
    for bad in (-0.1, math.nan):
        with pytest.raises(errors.InvalidParameterError, match="epsilon"):
            RDP(2.0, 1.0).delta_at(bad)
    for bad in (-0.1, 1.0, math.nan):
        with pytest.raises(errors.InvalidParameterError, match="delta"):
            RDP(2.0, 1.0).epsilon_at(bad)


@pytest.mark.parametrize("bad", ["2", None, [2.0], np.ones(2), 10**400, 1j, True, math.nan])
def test_an_order_that_is_no_number_is_refused(bad):
    with pytest.raises(errors.InvalidBudgetError, match="order"):
        RDP(bad, 1.0)
