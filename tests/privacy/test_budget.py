import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Budget,
    MeanCDP,
    PureDP,
    RaoDP,
    compose,
    convert,
)

BAD_POSITIVE = [0.0, -1.0, math.nan, math.inf, -math.inf, "a lot", None, True, [1.0], 1j]
EPSILONS = np.array([0.0, 0.1, 0.5, 0.999, 1.0, 1.5, 10.0, 1e6, np.inf])


@pytest.mark.parametrize("bad", BAD_POSITIVE)
@pytest.mark.parametrize("budget", [PureDP, GDP, ZCDP, lambda value: ApproxDP(value, 1e-6)])
def test_a_budget_outside_its_domain_is_refused(budget, bad):
    with pytest.raises(errors.InvalidBudgetError, match=r"epsilon|mu|rho"):
        budget(bad)


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


def test_no_delta_of_zero_without_pure_privacy():
    assert GDP(1.0).epsilon_at(0.0) == math.inf
    assert ZCDP(1.0).epsilon_at(0.0) == math.inf


SPLIT = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-3),
    GDP(1.0),
    ZCDP(0.5, 0.1),
    RDP(3.0, 0.7),
    RDP(math.inf, 0.7),
    KLDP(0.3),
    RaoDP(1.0, distance="angle"),
    RaoDP(3.1, distance="angle"),
    RaoDP(1e-120, distance="angle"),
    RaoDP(7.0, distance="parametric"),
]


@pytest.mark.parametrize("budget", SPLIT)
@pytest.mark.parametrize("releases", [1, 2, 3, 7, 49, 1000])
def test_shares_fit_together_and_hardly_more_would(budget, releases):
    share = budget.split(releases)
    assert type(share) is type(budget)
    together = compose([share] * releases)
    size = budget.sizes[0]
    for name in budget.sizes:
        assert getattr(together, name) <= getattr(budget, name)
    more = budget.at(getattr(share, size) * (1.0 + 1e-9))
    assert getattr(compose([more] * releases), size) > getattr(budget, size)
    if releases == 1:
        assert share == budget


@pytest.mark.parametrize("budget", [b for b in SPLIT if b.price()[0] > 1e-200])
@pytest.mark.parametrize("releases", [3, 49])
def test_an_account_takes_all_shares_and_no_other_one(budget, releases):
    account = Accountant(budget)
    share = budget.split(releases)
    for _ in range(releases):
        account.spend(share, "share")
    with pytest.raises(errors.BudgetExceededError):
        account.spend(share, "one more")


@given(st.floats(1e-300, 1e300), st.integers(1, 10**12))
def test_shares_are_rounded_down(value, n):
    assert n * Fraction(PureDP(value).split(n).epsilon) <= Fraction(value)
    assert n * Fraction(GDP(value).split(n).mu) ** 2 <= Fraction(value) ** 2


SHARES = st.lists(st.integers(1, 2**40), min_size=2, max_size=6).map(
    lambda wanted: [Fraction(each, sum(wanted)) for each in wanted]
)


@pytest.mark.parametrize("budget", SPLIT)
@given(shares=SHARES)
def test_parts_of_any_shares_fit_together(budget, shares):
    """As they are composed, and as an account adds them up: exactly, but for angles."""
    parts = [budget.part(share) for share in shares]
    together = compose(parts)
    for name in budget.sizes:
        assert getattr(together, name) <= getattr(budget, name)
    assert getattr(together, budget.sizes[0]) >= getattr(budget, budget.sizes[0]) * (1.0 - 1e-9)
    if getattr(budget, "distance", "") != "angle":
        for whole, *prices in zip(budget.price(), *(part.price() for part in parts), strict=True):
            assert sum(map(Fraction, prices)) <= Fraction(whole)
    assert budget.part(Fraction(1)) == budget


@pytest.mark.parametrize("budget", SPLIT)
def test_no_part_is_more_than_all(budget):
    for bad in (0, -1, Fraction(3, 2), 1.0000001, math.nan, math.inf, "1", None):
        with pytest.raises(
            errors.InvalidParameterError, match="share must be over 0 and at most 1"
        ):
            budget.part(bad)


def test_parts_keep_what_the_budget_is_about():
    assert GDP(1.0, adjacency="add-remove").part(Fraction(1, 4)) == GDP(0.5, adjacency="add-remove")


def test_what_has_no_share():
    with pytest.raises(errors.UnsupportedBudgetError, match="share MeanCDP"):
        MeanCDP(0.1, 0.2).split(3)
    with pytest.raises(errors.UnsupportedBudgetError, match="allows everything"):
        RaoDP(math.pi, distance="angle").split(2)
    for budget in (*SPLIT, MeanCDP(0.1, 0.2)):
        for bad in (0, -1, 1.5, "2"):
            if type(budget) is not MeanCDP:
                with pytest.raises(errors.InvalidParameterError, match="releases"):
                    budget.split(bad)


@pytest.mark.parametrize("budget", SPLIT)
def test_prices_are_those_of_the_total(budget):
    prices = budget.price()
    assert all(price >= 0.0 for price in prices)
    again = budget.total(prices)
    for name in budget.sizes:
        assert getattr(again, name) == pytest.approx(getattr(budget, name), rel=1e-14)
    assert budget.total([0.0] * len(prices)) is None
    charged = budget.price_of(budget)
    if getattr(budget, "distance", None) == "angle":  # no float is exactly that
        with mpmath.workdps(40):
            exact = -mpmath.log1p(-(mpmath.sin(mpmath.mpf(budget.theta) / 2) ** 2)) / 2
        assert prices[0] < exact < charged[0] < prices[0] * (1.0 + 1e-14)
    else:
        assert charged == prices


def test_a_price_in_another_definition():
    assert ApproxDP(1.0, 1e-6).price_of(PureDP(0.5)) == (0.5, 0.0)
    assert ApproxDP(1.0, 1e-6).price_of(RDP(math.inf, 0.5)) == (0.5, 0.0)
    assert ApproxDP(1.0, 1e-6).total((0.5, 0.0)) == PureDP(0.5)
    assert RDP(3.0, 1.0).price_of(GDP(1.0)) == (convert(GDP(1.0), RDP, order=3.0).epsilon,)
    with pytest.raises(errors.NoConversionError, match="larger order"):
        RDP(3.0, 1.0).price_of(RDP(2.0, 1.0))
    with pytest.raises(errors.UnsupportedBudgetError, match="MeanCDP cannot be a total"):
        MeanCDP(0.1, 0.2).price()
    with pytest.raises(errors.UnsupportedBudgetError, match="MeanCDP cannot be a total"):
        MeanCDP(0.1, 0.2).total((0.1,))


@pytest.mark.parametrize("budget", [*SPLIT, MeanCDP(0.1, 0.2)])
def test_other_sizes(budget):
    other = budget.at(0.25)
    assert getattr(other, budget.sizes[0]) == 0.25
    assert other._fixed() == budget._fixed()
    same = budget.at(getattr(budget, budget.sizes[0]))
    for name in budget.sizes:
        assert getattr(same, name) == pytest.approx(getattr(budget, name), rel=1e-15)
    assert budget.largest >= 0.25
    if budget.largest < math.inf:
        assert budget.at(budget.largest).theta == math.pi


def test_other_sizes_keep_the_rest():
    assert ApproxDP(1.0, 1e-6).at(2.0) == ApproxDP(2.0, 1e-6)
    assert MeanCDP(0.1, 0.25).at(0.5) == MeanCDP(0.2, 0.5)
    assert ZCDP(1.0, 0.5).at(2.0) == ZCDP(2.0, 0.5)


@pytest.mark.parametrize("budget", [*SPLIT, MeanCDP(0.1, 0.2)])
def test_a_budget_follows_from_itself_and_from_no_weaker_one(budget):
    assert budget.follows_from(budget)
    assert budget.follows_from(budget.at(0.9 * getattr(budget, budget.sizes[0])))
    weaker = min(1.1 * getattr(budget, budget.sizes[0]), budget.largest)
    assert not budget.follows_from(budget.at(weaker))
    assert not budget.follows_from(RaoDP(math.pi, distance="angle"))


def test_parameters_without_a_limit_have_to_be_finite():
    with pytest.raises(errors.InvalidBudgetError, match="positive and finite, got"):
        GDP(-1.0)
    with pytest.raises(errors.InvalidBudgetError, match="under 1, got"):
        ApproxDP(1.0, 1.5)


def test_a_budget_is_split_by_division():
    assert GDP(1.0) / 48 == GDP(1.0).split(48)
    assert ApproxDP(1.0, 1e-6) / 3 == ApproxDP(1.0, 1e-6).split(3)
    with pytest.raises(errors.InvalidParameterError):
        GDP(1.0) / 0
    with pytest.raises(errors.InvalidParameterError):
        GDP(1.0) / 2.5
