import math

import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.mechanisms._calibration import (
    affordable_epsilon,
    affordable_mu,
    check_sensitivity,
    classical_mu,
    exact_epsilon,
)
from riemdp.privacy import GDP, ZCDP, ApproxDP, PureDP, RaoDP, gaussian_mu, pure_to_gaussian


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "x", None, True, [1.0]])
def test_sensitivity_outside_its_domain(bad):
    with pytest.raises(errors.InvalidParameterError, match="sensitivity must be"):
        check_sensitivity(bad)


def test_pure_epsilon_under_each_budget():
    assert affordable_epsilon(PureDP(0.7)) == 0.7
    assert affordable_epsilon(ApproxDP(0.7, 1e-6)) == 0.7
    assert affordable_epsilon(ZCDP(0.5, 0.1)) == 1.0
    epsilon = affordable_epsilon(GDP(1.0))
    assert epsilon == pytest.approx(math.log(0.691462461274013 / 0.308537538725987), rel=1e-11)
    assert pure_to_gaussian(epsilon) <= 1.0


def test_exact_conversion_allows_a_little_more():
    epsilon = exact_epsilon(ZCDP(0.5))
    assert epsilon > affordable_epsilon(ZCDP(0.5))
    assert epsilon * math.tanh(0.5 * epsilon) == pytest.approx(0.5, rel=1e-9)


def test_gaussian_mu_under_each_budget():
    assert affordable_mu(ApproxDP(1.0, 1e-6)) == gaussian_mu(1.0, 1e-6)
    assert affordable_mu(GDP(0.7)) == 0.7
    assert affordable_mu(ZCDP(0.5)) == 1.0
    assert affordable_mu(RaoDP(0.7, distance="parametric")) == 0.7
    affinity = math.exp(-(affordable_mu(RaoDP(0.7, distance="angle")) ** 2) / 8.0)
    assert affinity == pytest.approx(math.cos(0.35), rel=1e-14)
    with pytest.raises(errors.InvalidBudgetError, match="TangentLaplace or RiemannianLaplace"):
        affordable_mu(PureDP(1.0))


def test_classical_formula():
    expected = math.sqrt(2.0 * math.log(1.25e6)) / 0.5
    assert 1.0 / classical_mu(ApproxDP(0.5, 1e-6)) == pytest.approx(expected, rel=1e-14)
    for budget in (GDP(1.0), PureDP(0.5), ZCDP(0.5)):
        with pytest.raises(errors.InvalidBudgetError, match='use method="analytic"'):
            classical_mu(budget)
    for epsilon in (1.0, 2.0):
        with pytest.raises(errors.InvalidBudgetError, match="epsilon < 1 only"):
            classical_mu(ApproxDP(epsilon, 1e-6))


@pytest.mark.parametrize("function", [affordable_epsilon, affordable_mu])
@pytest.mark.parametrize("budget", [1.0, None, np.array([271828.0])])
def test_what_is_no_budget(function, budget):
    match = "PureDP, ApproxDP, GDP or RaoDP"
    with pytest.raises(errors.InvalidBudgetError, match=match) as caught:
        function(budget)
    assert "271828" not in str(caught.value)
