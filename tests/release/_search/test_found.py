from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    GDP,
    ZCDP,
    ApproxDP,
    Ball,
    BudgetExceededError,
    Euclidean,
    InvalidParameterError,
    PureDP,
    private_ball,
)
from riemdp.release._search._adaptive import radii, radius_weights
from riemdp.release._search._found import _left_out, _value
from riemdp.release._search._units import beyond

from .conftest import cluster


def _found(seed=0, **options):
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    rng = np.random.default_rng(seed)
    return private_ball(cluster(600, 2), ball, GDP(1.0), generator=rng, **options)


def test_a_part_has_to_be_left():
    found = _found()
    assert found.part(None) == found.left
    assert found.part(GDP(0.1)) == GDP(0.1)
    with pytest.raises(BudgetExceededError, match="left is"):
        found.part(GDP(0.999))
    with pytest.raises(InvalidParameterError, match="share of what is left"):
        found.part(PureDP(0.1))
    with pytest.raises(InvalidParameterError, match="definition"):
        found.part(0.1)
    found.account.spend(found.left, "release")
    assert found.left is None
    for part in (None, GDP(0.1)):
        with pytest.raises(BudgetExceededError, match="nothing is left"):
            found.part(part)


def test_of_an_approximate_budget_that_is_whole_there_are_no_shares():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    found = private_ball(cluster(30, 2), ball, ApproxDP(1.0, 1e-6))
    with pytest.raises(InvalidParameterError, match="share of ApproxDP"):
        found.part(ApproxDP(0.5, 1e-6))
    assert found.part(ApproxDP(1.0, 1e-6)) == found.left == ApproxDP(1.0, 1e-6)


def test_what_was_spent_is_listed(found):
    shares = sum(Fraction(*step["share"]) for step in found.steps)
    assert found.spent.mu**2 == pytest.approx(float(shares), rel=1e-12)
    assert found.spent.mu**2 >= shares
    assert found.steps[0]["query"] == "pairs"
    assert found.n == 600
    assert not found.private


def test_a_copy_would_hold_what_is_left_twice():
    found = _found()
    for attempt in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="double"):
            attempt(found)


@pytest.mark.parametrize("beta", [0.0, 1.0, np.nan, "x"])
def test_a_probability_that_is_none_is_refused(found, beta):
    with pytest.raises(InvalidParameterError, match="beta"):
        found.clipped_at_most(beta)


def test_the_public_ball_leaves_nothing_out():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    found = private_ball(cluster(30, 2), ball, ZCDP(0.1))
    assert found.clipped_at_most() == 0


def _outside(points, found):
    return int(np.sum(np.linalg.norm(points - found.ball.center, axis=1) > found.ball.radius))


def test_no_more_are_left_out_than_is_said():
    points = np.random.default_rng(3).standard_t(2.0, (600, 2)) * 0.02 + 0.2
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1.0)
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    worse = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        found = private_ball(points, ball, GDP(1.0), generator=rng)
        bounds = [found.clipped_at_most(beta) for beta in (0.5, 0.05, 0.005)]
        assert bounds == sorted(bounds)
        worse.append(_outside(points, found) > bounds[1])
    assert sum(worse) <= 2


def test_the_bound_allows_for_all_radii_that_might_have_been_the_last():
    found = _found()
    radii_ = [s for s in found.steps if s["query"] == "radius"]
    (last,) = [s for s in radii_ if _value(s) == found.ball.radius]
    assert found.clipped_at_most(0.2) == _left_out(last, 0.2 / 3) > _left_out(last, 0.2)


def _radius(place, count=25, penalty=20.0, rate=0.1):
    numbers = {"rate": rate, "top": 1.0, "count": count, "penalty": penalty, "place": place}
    return {"query": "radius", "share": [1, 50], "center": [0.0, 0.0], **numbers}


def test_the_bound_is_of_the_radius_that_was_taken():
    """The last one is larger here, and was not."""
    found = _found()
    taken, last = _radius(8), _radius(4)
    ball = replace(found.ball, radius=0.25)
    one = replace(found, ball=ball, search=replace(found.search, steps=(taken, last)))
    assert one.clipped_at_most(0.2) == _left_out(taken, 0.2 / 3) != _left_out(last, 0.2 / 3)


@pytest.mark.parametrize("penalty", [1e-6, 20.0])
def test_the_bound_holds_where_all_radii_but_the_largest_leave_out_one_more(penalty):
    count, beta = 9, 0.2
    steps = [_radius(place, count, penalty) for place in range(count)]
    outside = [0, *(_left_out(step, beta) + 1 for step in steps[1:])]
    law = radius_weights(outside, 0.1, penalty)
    first, second = map(float, law.units)
    logs = np.log(2.0) * second * np.array(law.octaves) - first * np.array(law.losses)
    fails = np.exp(logs[1:] - np.logaddexp.reduce(logs)).sum()
    assert 0.5 * beta < fails <= beta


@pytest.mark.slow
def test_the_bound_of_those_left_out_fails_as_rarely_as_it_says():
    """The law of the count itself: of a bound with 1/beta left out it would fail far more often."""
    rng = np.random.default_rng(0)
    distances = np.sort(rng.pareto(0.4, 400) * 0.002).clip(max=1.0)
    rate, penalty, grid = 0.1, 20.0, radii(1.0, 25)
    law = radius_weights(beyond(distances, grid), rate, penalty)
    first, second = map(float, law.units)
    logs = np.log(2.0) * second * np.array(law.octaves) - first * np.array(law.losses)
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    for beta in (0.5, 0.05):
        fails = 0.0
        for place, (weight, value) in enumerate(zip(weights, grid, strict=True)):
            step = _radius(place, 25, penalty, rate)
            fails += weight * (np.sum(distances > value) > _left_out(step, beta))
        assert fails <= beta


def test_its_text_says_what_was_found_and_what_is_left():
    found = _found()
    assert f"{found.ball.radius:.4g}" in str(found)
    assert "NO: the noise was seeded" in str(found)
    assert f"{found.left}, for releases" in str(found)
    assert f"{found.spent}, on the search" in str(found)
    assert {"found": "yes", "wide": "no"}[found.reason] in str(found)
    found.account.spend(found.left, "release")
    assert "left     nothing" in str(found)
    assert "Private ball in" in found._repr_html_()


@pytest.mark.parametrize("budget", [GDP(1.0), PureDP(3.0)], ids=str)
def test_under_a_private_number_of_records_there_is_a_bound_too(budget):
    ball, rng = Ball(Euclidean(2), np.zeros(2), 1.0), np.random.default_rng(0)
    found = private_ball(cluster(900, 2), ball, budget.under("add-remove"), generator=rng)
    assert (found.n, found.reason) == (None, "found")
    assert "private" in str(found)
    assert 0 <= found.clipped_at_most() < 900
    assert found.left.adjacency == found.spent.adjacency == "add-remove"
    assert 0.0 <= found.bias_at_most < 0.2
