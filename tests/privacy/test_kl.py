import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import KLDP, MeanCDP, _kl


def binary_optimum(alpha, epsilon):
    """Largest delta of two-outcome laws with KL(P||Q) <= alpha, by brute force."""
    p = 1.0 / (1.0 + np.exp(-np.linspace(-25.0, 20.0, 20_001)))
    low, high = np.full(p.shape, -700.0), np.log(p)  # log q under log p
    for _ in range(100):
        middle = 0.5 * (low + high)
        divergence = p * (np.log(p) - middle)
        divergence += (1.0 - p) * (np.log1p(-p) - np.log1p(-np.exp(middle)))
        low, high = (
            np.where(divergence > alpha, middle, low),
            np.where(divergence > alpha, high, middle),
        )
    return float(np.max(p - np.exp(epsilon + high)))


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_the_bound_of_one_mean_is_the_best(alpha, epsilon):
    from riemdp.privacy._kl import _mean_loss_delta

    bound = float(_mean_loss_delta(alpha, np.array([epsilon]))[0])
    best = binary_optimum(alpha, epsilon)
    assert best <= bound * (1.0 + 1e-12)
    assert bound <= best * (1.0 + 1e-4) + 1e-7
    assert KLDP(alpha).delta_at(epsilon) <= bound


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 3.0])
def test_no_pair_of_laws_violates_delta(pairs, epsilon):
    grid = np.geomspace(1e-5, 12.0, 120)
    for measured, build in [
        (pairs.kl, KLDP),
        (pairs.tau, lambda value: MeanCDP(1e9, value)),
        (pairs.tau, lambda value: MeanCDP(0.5 * value**2, value)),
    ]:
        index = np.searchsorted(grid, measured)
        inside = index < len(grid)
        index = np.minimum(index, len(grid) - 1)
        bound = np.array([float(build(value).delta_at(epsilon)) for value in grid])[index]
        assert np.all(pairs.delta(epsilon) <= bound + 1e-13, where=inside)
        less = np.array([float(build(0.25 * value).delta_at(epsilon)) for value in grid])[index]
        assert np.any((pairs.delta(epsilon) > less + 1e-13) & inside)


def test_pinned_values():
    # total variation: that of randomised response with the same divergence
    epsilon = 1.3
    alpha = epsilon * math.tanh(0.5 * epsilon)
    assert KLDP(alpha).delta_at(0.0) == pytest.approx(math.tanh(0.5 * epsilon), rel=1e-11)
    # better than Pinsker, and than exp(-alpha/2) for the affinity
    assert KLDP(alpha).delta_at(0.0) < math.sqrt(0.5 * alpha)
    assert math.cos(0.5 * KLDP(alpha).angle().theta) > math.exp(-0.5 * alpha)
    # delta falls like alpha / epsilon
    assert KLDP(0.1).delta_at(1e6) == pytest.approx(1e-7, rel=1e-4)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.floats(1e-6, 20.0), st.floats(1e-8, 0.95))
def test_epsilon_is_the_inverse(alpha, delta):
    budget = KLDP(alpha)
    epsilon = budget.epsilon_at(delta)
    assert budget.delta_at(epsilon) <= delta
    if epsilon > 1e-6:
        assert budget.delta_at(epsilon * (1.0 - 1e-6)) > delta * (1.0 - 1e-9)


def test_tails():
    budget = KLDP(0.1)
    epsilons = np.concatenate([np.linspace(0.0, 50.0, 501), np.geomspace(51.0, 1e290, 300)])
    delta = budget.delta_at(epsilons)
    assert np.all(np.diff(delta) <= 1e-12 * delta[1:])
    assert delta[-1] == pytest.approx(1e-291, rel=1e-2)
    assert budget.delta_at(math.inf) > 0.0
    assert budget.epsilon_at(0.0) == math.inf
    assert budget.epsilon_at(1e-300) == math.inf
    assert KLDP(1e-30).delta_at(1.0) == pytest.approx(5.0817e-31, rel=1e-3)
    np.testing.assert_array_equal(budget.delta_at([[0.1, 1.0]]).shape, (1, 2))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "a", None])
def test_a_parameter_outside_its_domain_is_refused(bad):
    with pytest.raises(errors.InvalidBudgetError, match="alpha"):
        KLDP(bad)
    with pytest.raises(errors.InvalidBudgetError, match="mu"):
        MeanCDP(bad, 1.0)
    with pytest.raises(errors.InvalidBudgetError, match="tau"):
        MeanCDP(1.0, bad)
    for budget in (KLDP(1.0), MeanCDP(1.0, 1.0)):
        with pytest.raises(errors.InvalidParameterError, match="epsilon"):
            budget.delta_at(-0.1)
        with pytest.raises(errors.InvalidParameterError, match="delta"):
            budget.epsilon_at(1.0)


@pytest.mark.parametrize("x", [-700.0, -5.0, -0.1, -0.03, -1e-5, 1e-9, 0.02, 0.1, 3.0])
def test_the_excess_of_the_exponential_keeps_its_digits(x):
    with mpmath.workdps(40):
        exact = float(mpmath.mpf(x) + mpmath.expm1(-mpmath.mpf(x)))
    assert float(_kl._g(np.array([x]))[0]) == pytest.approx(exact, rel=1e-13)
