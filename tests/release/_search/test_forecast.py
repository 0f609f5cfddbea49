from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    KLDP,
    Ball,
    Euclidean,
    PureDP,
    UnsupportedBudgetError,
    plan,
    private_ball,
    private_mean,
)
from riemdp.release._search import _forecast
from riemdp.release._search._forecast import SPREADS

from .conftest import cluster


def forecast(*public, counted=False):
    return _forecast.forecast(*public, counted=counted)


@pytest.mark.parametrize("budget", [PureDP(0.3), GDP(0.3)], ids=str)
def test_the_smallest_n_is_where_a_search_begins(budget):
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    smallest = forecast(1.0, 3, 10, budget).smallest_n
    for n, reason in ((smallest - 1, "small n"), (smallest, None)):
        found = private_ball(cluster(n, 3), ball, budget, generator=np.random.default_rng(0))
        assert (found.reason == "small n") == (reason == "small n")
    assert forecast(1.0, 3, smallest - 1, budget).share is None
    assert "too few" in str(forecast(1.0, 3, smallest - 1, budget))


def test_the_forecast_is_about_what_is_found():
    n, dim, budget = 2000, 6, GDP(0.5)
    ball = Ball(Euclidean(dim), np.zeros(dim), 2.0)
    expected = dict(forecast(2.0, dim, n, budget).expected)
    assert list(expected) == list(SPREADS)
    assert list(expected.values()) == sorted(expected.values())
    for spread in (0.03, 0.1):
        points = cluster(n, dim, spread=2.0 * spread / 1.5, offset=0.6)
        found = [
            private_mean(
                points,
                ball,
                budget,
                method="adaptive",
                mechanism="tangent-gaussian",
                generator=np.random.default_rng(seed),
            )
            for seed in range(3)
        ]
        distance = np.mean([release.expected_distance for release in found])
        assert 0.4 * expected[spread] < distance < 1.6 * expected[spread]


def test_a_plan_tells():
    made = plan(
        Euclidean(2), 1.0, 2000, PureDP(1.0), method="adaptive", mechanisms=["tangent-laplace"]
    )
    assert made.search == forecast(1.0, 2, 2000, PureDP(1.0))
    assert made.search.if_wide == pytest.approx(1.0 / 0.98)
    assert str(made.search) in str(made)
    without = plan(Euclidean(2), 1.0, 2000, PureDP(1.0), mechanisms=["tangent-laplace"])
    assert without.search is None
    assert "adaptive" not in str(without)
    with pytest.raises(UnsupportedBudgetError):
        plan(Euclidean(2), 1.0, 2000, KLDP(1.0), method="adaptive", mechanisms=["tangent-laplace"])


def test_a_budget_that_underflows_has_no_smallest_n():
    assert forecast(1.0, 2, 100, PureDP(5e-324)).smallest_n is None
    assert "no n" in str(forecast(1.0, 2, 100, PureDP(5e-324)))


@pytest.mark.parametrize("budget", [PureDP(0.3), GDP(0.3)], ids=str)
def test_a_private_number_of_units_takes_more_units(budget):
    """Which are fewer by a deviation for the search, at noise that is half as long."""
    own, counted = (forecast(1.0, 6, 4000, budget, counted=x) for x in (False, True))
    assert own.smallest_n == counted.smallest_n
    assert counted.if_wide > own.if_wide
    few = own.smallest_n
    assert forecast(1.0, 6, few, budget).share is not None
    assert forecast(1.0, 6, few, budget, counted=True).share is None
    assert max(dict(counted.expected).values()) < max(dict(own.expected).values())
