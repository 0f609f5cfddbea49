from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri

from riemdp import (
    GDP,
    KLDP,
    ZCDP,
    ApproxDP,
    InvalidBudgetError,
    InvalidParameterError,
    PureDP,
    UnsupportedBudgetError,
)
from riemdp.privacy import (
    adds_up,
    bounded_range,
    largest_range,
    mean_noise,
    noise_kind,
    rest_of,
    share_of,
    within_total,
)

BUDGETS = [PureDP(0.7), PureDP(9.0), ZCDP(0.5), ZCDP(1e-9, 0.1), GDP(1.0), GDP(1e-6), GDP(7.0)]
RANGES = [0.01, 0.3, 1.0, 4.0, 12.0]


@pytest.mark.parametrize("rate", RANGES)
def test_no_split_of_the_range_costs_more(rate):
    """Every binary pair with losses b - rate and b, which is the worst of its range."""
    high = np.linspace(0.0, rate, 401)[1:-1]
    # q of the loss b under Q, p under P: the mean of the likelihood ratio is one
    q = np.expm1(rate - high) / np.expm1(rate)
    mu = np.max(ndtri(np.minimum(q * np.exp(high), 1.0 - 1e-16)) - ndtri(q))
    stated = bounded_range(GDP, rate).mu
    assert mu <= stated * (1.0 + 1e-9)
    assert mu >= stated * (1.0 - 1e-4)
    assert stated == pytest.approx(2.0 * ndtri(expit(0.5 * rate)), rel=1e-9)
    # Renyi divergences of the same pairs, at several orders, over the order
    p = q * np.exp(high)
    for order in (1.01, 2.0, 8.0, 64.0):
        sides = np.log(q) + order * high, np.log1p(-q) + order * (high - rate)
        divergence = np.logaddexp(*sides) / (order - 1.0)
        assert np.max(divergence) <= bounded_range(ZCDP, rate).rho * order * (1.0 + 1e-6) + 1e-12
    assert np.all(p <= 1.0 + 1e-12)
    assert bounded_range(PureDP, rate) == PureDP(rate)


def test_a_smaller_constant_is_exceeded():
    """Negative control: the middle split of the pair has exactly this separation."""
    q, p = expit(-0.5), expit(0.5)
    assert ndtri(p) - ndtri(q) > 0.999 * bounded_range(GDP, 1.0).mu
    assert ndtr(-bounded_range(GDP, 1.0).mu / 2.0) == pytest.approx(expit(-0.5), rel=1e-12)
    assert bounded_range(ZCDP, 2.0).rho == 0.5


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_largest_range_is_within_the_budget_and_no_smaller_than_it_has_to_be(budget):
    rate = largest_range(budget)
    assert bounded_range(type(budget), rate).price()[0] <= budget.price()[0]
    assert bounded_range(type(budget), rate * (1.0 + 1e-11)).price()[0] > budget.price()[0]


def test_an_enormous_budget_needs_no_enormous_range():
    assert largest_range(PureDP(1e300)) == 2.0**20


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_shares_and_the_rest_are_within_the_budget_exactly(budget):
    rng = np.random.default_rng(0)
    for _ in range(50):
        shares = rng.dirichlet(np.ones(4))[:3]
        parts = [share_of(budget, float(share)) for share in shares]
        rest = rest_of(budget, parts)
        assert within_total(budget, [*parts, rest])
        (name, *_), size = rest.sizes, getattr(rest, rest.sizes[0])
        assert not within_total(budget, [*parts, replace(rest, **{name: size * (1.0 + 1e-15)})])
        assert rest.price()[0] == pytest.approx((1.0 - shares.sum()) * budget.price()[0], rel=1e-9)
        # what neither choices nor noise need is left to the release
        assert rest.price()[1:] == budget.price()[1:]
        assert not any(x for part in parts for x in part.price()[1:])
    assert rest_of(budget, []) is budget
    assert rest_of(budget, [budget]) is None
    assert not within_total(budget, [budget, share_of(budget, 1e-3)])
    assert not within_total(budget, [KLDP(1e-9)])


def test_the_rest_of_every_number_of_a_price_is_rounded_down():
    rng = np.random.default_rng(1)
    for rho, xi in rng.uniform(0.0, 0.3, (100, 2)):
        parts = [ZCDP(rho, xi), ZCDP(xi, rho)]
        assert within_total(ZCDP(1.0, 1.0), [*parts, rest_of(ZCDP(1.0, 1.0), parts)])


def test_every_number_of_a_price_adds_up():
    assert not within_total(ZCDP(1.0, 0.1), [ZCDP(0.1, 0.06), ZCDP(0.1, 0.06)])
    assert within_total(ZCDP(1.0, 0.1), [ZCDP(0.1, 0.06), ZCDP(0.1, 0.03)])


def test_of_an_approximate_budget_what_takes_less_noise():
    budget = ApproxDP(1.0, 1e-6)
    assert adds_up(budget, 2) == PureDP(1.0)
    found = adds_up(budget, 36)
    assert found.mu == pytest.approx(0.2367, abs=1e-4)
    assert budget.follows_from(found)
    assert not budget.follows_from(GDP(found.mu * (1.0 + 1e-9)))
    for dim in (2, 17, 18, 36):
        noise = {b: mean_noise(b, dim)[0] for b in (PureDP(1.0), found)}
        assert adds_up(budget, dim) == min(noise, key=noise.get)
    assert adds_up(GDP(1.0), 2) == GDP(1.0)


def test_a_mu_that_is_a_little_too_large_is_not_taken(monkeypatch):
    from riemdp.privacy import _bounded_range

    budget, honest = ApproxDP(1.0, 1e-6), _bounded_range.affordable_mu
    monkeypatch.setattr(_bounded_range, "affordable_mu", lambda x: honest(x) * (1.0 + 1e-9))
    found = adds_up(budget, 36)
    assert budget.follows_from(found)
    assert found.mu > honest(budget) * (1.0 - 1e-8)


def test_noise_is_that_of_its_kind():
    assert mean_noise(PureDP(0.5), 3) == (6.0, 1.0)
    assert mean_noise(GDP(0.5), 9) == (6.0, 0.5)
    assert mean_noise(ZCDP(0.125), 9) == (6.0, 0.5)
    assert [noise_kind(x) for x in (PureDP, ZCDP, GDP)] == ["laplace", "gaussian", "gaussian"]


def test_what_is_not_proved_is_refused():
    with pytest.raises(UnsupportedBudgetError, match="search"):
        adds_up(KLDP(1.0), 3)
    with pytest.raises(InvalidBudgetError, match="too large"):
        adds_up(GDP(1e200), 3)
    with pytest.raises(UnsupportedBudgetError, match="bounded range"):
        bounded_range(KLDP, 1.0)
    with pytest.raises(InvalidParameterError, match="share"):
        share_of(GDP(1.0), 1.5)
    with pytest.raises(InvalidParameterError, match="rate"):
        bounded_range(GDP, math.nan)
    assert Fraction(share_of(PureDP(1.0), 0.25).epsilon) == Fraction(1, 4)
