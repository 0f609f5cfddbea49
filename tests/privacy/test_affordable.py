import math

import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    Budget,
    GaussianCurve,
    MeanCDP,
    PureCurve,
    PureDP,
    RaoDP,
    affordable_epsilon,
    affordable_mu,
    gaussian_mu,
    implied_epsilon,
    pure_to_gaussian,
)

BUDGETS = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-6),
    GDP(0.7),
    ZCDP(0.3),
    RDP(4.0, 0.5),
    RDP(math.inf, 0.5),
    KLDP(0.3),
    MeanCDP(0.3, 0.5),
    RaoDP(0.4, distance="angle"),
]


class Bisected(Budget):
    """What another definition allows, without its closed forms."""

    def __init__(self, inner):
        self.inner = inner

    def delta_at(self, epsilon):
        return self.inner.delta_at(epsilon)

    def epsilon_at(self, delta):
        return self.inner.epsilon_at(delta)

    def allows(self, curve):
        return self.inner.allows(curve)


@pytest.mark.parametrize("budget", BUDGETS)
def test_what_is_affordable_is_allowed_and_hardly_more(budget):
    epsilon = affordable_epsilon(budget)
    assert budget.allows(PureCurve(epsilon * (1.0 - 1e-12)))
    # the closed form for (epsilon, delta) spends no delta
    largest = affordable_epsilon(Bisected(budget))
    assert epsilon <= largest * (1.0 + 1e-12)
    assert not budget.allows(PureCurve(largest * (1.0 + 1e-9)))
    if not isinstance(budget, ApproxDP):
        assert epsilon == pytest.approx(largest, rel=1e-11)


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_separation_that_is_affordable(budget):
    if budget == PureDP(1.0) or budget == RDP(math.inf, 0.5):
        with pytest.raises(errors.UnsupportedBudgetError, match="no pure epsilon"):
            affordable_mu(budget)
        with pytest.raises(errors.NotAttainableError, match="bounded losses"):
            affordable_mu(Bisected(budget))
        return
    mu = affordable_mu(budget)
    assert budget.allows(GaussianCurve(mu * (1.0 - 1e-12)))
    assert not budget.allows(GaussianCurve(mu * (1.0 + 1e-8)))
    assert mu == pytest.approx(affordable_mu(Bisected(budget)), rel=2e-9)


def test_the_exact_conversion_allows_more_than_the_usual_one():
    exact = implied_epsilon(ZCDP(0.3))
    assert exact > affordable_epsilon(ZCDP(0.3)) == math.sqrt(0.6)
    assert exact * math.tanh(0.5 * exact) == pytest.approx(0.3, rel=1e-12)


def test_nothing_is_affordable_under_a_definition_that_does_not_say():
    class Silent(Bisected):
        def allows(self, curve):
            return super(Bisected, self).allows(curve)

    class Never(Bisected):
        def allows(self, curve):
            return self.inner.allows(curve) and curve.mu() == 0.0

    for find in (affordable_epsilon, affordable_mu):
        with pytest.raises(errors.UnsupportedBudgetError, match="Silent"):
            find(Silent(GDP(1.0)))
        with pytest.raises(errors.NotAttainableError, match="too small for"):
            find(Never(GDP(1.0)))
    with pytest.raises(errors.NoConversionError, match="ask the mechanism"):
        affordable_epsilon(RaoDP(1.0, distance="parametric"))


def test_pure_epsilon_under_each_budget():
    assert affordable_epsilon(PureDP(0.7)) == 0.7
    assert affordable_epsilon(ApproxDP(0.7, 1e-6)) == 0.7
    assert affordable_epsilon(ZCDP(0.5, 0.1)) == 1.0
    epsilon = affordable_epsilon(GDP(1.0))
    assert epsilon == pytest.approx(math.log(0.691462461274013 / 0.308537538725987), rel=1e-11)
    assert pure_to_gaussian(epsilon) <= 1.0


def test_gaussian_mu_under_each_budget():
    assert affordable_mu(ApproxDP(1.0, 1e-6)) == gaussian_mu(1.0, 1e-6)
    assert affordable_mu(GDP(0.7)) == 0.7
    assert affordable_mu(ZCDP(0.5)) == 1.0
    assert affordable_mu(RaoDP(0.7, distance="parametric")) == 0.7
    affinity = math.exp(-(affordable_mu(RaoDP(0.7, distance="angle")) ** 2) / 8.0)
    assert affinity == pytest.approx(math.cos(0.35), rel=1e-14)
    with pytest.raises(errors.InvalidBudgetError, match="TangentLaplace or RiemannianLaplace"):
        affordable_mu(PureDP(1.0))


@pytest.mark.parametrize("function", [affordable_epsilon, affordable_mu])
@pytest.mark.parametrize("budget", [1.0, None, np.array([271828.0])])
def test_what_is_no_budget(function, budget):
    match = "PureDP, ApproxDP, GDP or RaoDP"
    with pytest.raises(errors.InvalidBudgetError, match=match) as caught:
        function(budget)
    assert "271828" not in str(caught.value)
