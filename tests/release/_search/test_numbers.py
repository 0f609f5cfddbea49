from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import GDP, ZCDP, PureDP
from riemdp.manifolds import Ball, Euclidean, Sphere
from riemdp.release._search._numbers import (
    LEAST_LEFT,
    Numbers,
    place_weights,
    places,
    radii,
    radius_weights,
)
from riemdp.release._search._records import Records, below, beyond


def log_weights(weights):
    """Logarithms of probabilities."""
    first, second = map(float, weights.units)
    logs = math.log(2.0) * second * np.array(weights.octaves) - first * np.array(weights.losses)
    return logs - np.logaddexp.reduce(logs)


def spread_of(logs, others):
    """Length of the interval that the privacy loss takes values in, and 0."""
    loss = logs - others
    return max(loss.max(), 0.0) - min(loss.min(), 0.0)


def neighbours(ball, count, seed):
    """Data sets and neighbours: tight clusters and wide ones, with a record that jumps."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(5, 40))
        scale = 10.0 ** rng.uniform(-2.5, 0.3)
        steps = rng.normal(size=(n, ball.manifold.dim)) * scale
        other = steps.copy()
        other[rng.integers(n)] = rng.normal(size=ball.manifold.dim) * 10.0 ** rng.uniform(-3, 2)
        yield ball.point(steps), ball.point(other)


BALLS = [Ball(Euclidean(2), np.zeros(2), 1.0), Ball(Sphere(2), [1.0, 0.0, 0.0], 1.2)]


def sides(values, lines):
    step = lines[1] - lines[0]
    return below(values, lines - step), beyond(values, lines + step)


def ranges(ball, count, rate, penalty, *, seed=0, fold=None):
    """Ranges of the losses of all three choices, over neighbours; ``fold`` changes the scores."""
    fold = fold or (lambda outside: outside)
    rng = np.random.default_rng(seed)
    thresholds, lines = radii(2.0 * ball.reach, 24), places(ball.reach, 31)
    axis = np.eye(ball.manifold.dim)[0]
    for first, second in neighbours(ball, count, seed):
        both = [Records(ball, points) for points in (first, second)]
        order = rng.permutation(len(first))
        center = ball.point(rng.normal(size=ball.manifold.dim) * 0.3)
        for values in (
            [records.pairs(order) for records in both],
            [records.distances(center) for records in both],
        ):
            logs = [
                log_weights(radius_weights(fold(beyond(x, thresholds)), rate, penalty))
                for x in values
            ]
            yield spread_of(*logs)
        logs = [
            log_weights(place_weights(*sides(x.places(axis), lines), len(first), rate))
            for x in both
        ]
        yield spread_of(*logs)


@pytest.mark.parametrize("ball", BALLS, ids=lambda ball: str(ball.manifold))
def test_no_neighbours_make_more_of_the_range(ball):
    found = list(ranges(ball, 25, 0.5, 7.0))
    assert 0.5 * 0.999 < max(found) <= 0.5 * (1.0 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("ball", BALLS, ids=lambda ball: str(ball.manifold))
def test_no_neighbours_of_very_many_make_more_of_the_range(ball):
    found = list(ranges(ball, 10_000, 0.5, 7.0, seed=1))
    assert len(found) >= 20_000
    assert 0.5 * 0.999 < max(found) <= 0.5 * (1.0 + 1e-12)


def test_a_score_of_two_sides_has_twice_the_range():
    """Negative control: the distance of the count from a target moves to both sides."""
    found = list(ranges(BALLS[0], 40, 0.5, 7.0, fold=lambda outside: [abs(x - 3) for x in outside]))
    assert 2.0 * 0.5 * 0.999 < max(found) <= 2.0 * 0.5 * (1.0 + 1e-12)


def test_grids_are_public_and_geometric():
    grid = radii(3.0, 20)
    assert grid[0] == 3.0
    assert grid[4] == 1.5
    np.testing.assert_allclose(grid[:-1] / grid[1:], 2.0**0.25, rtol=1e-15)
    line = places(0.7, 5)
    np.testing.assert_allclose(line, [-0.7, -0.35, 0.0, 0.35, 0.7])


def test_weights_are_those_of_the_score():
    weights = radius_weights([0, 0, 3, 9], 0.5, 4.0)
    assert weights.losses == (0, 0, 3, 9)
    assert weights.units[0] == Fraction(1, 2)
    # rate * penalty * log(top / t) is octaves * log 2
    top, value = radii(2.0, 4)[[0, 3]]
    penalty = float(weights.units[1]) * weights.octaves[3] * math.log(2.0)
    assert penalty == pytest.approx(0.5 * 4.0 * math.log(top / value))
    weights = place_weights([0, 2, 5], [5, 2, 0], 5, 0.5)
    assert (weights.losses, weights.octaves) == ((5, 0, 5), (0, 0, 0))
    assert weights.units == (Fraction(1, 8), 0)


@pytest.mark.parametrize(
    ("budget", "limit"),
    [(PureDP(0.25), 20 / 0.12 / 0.25), (ZCDP(0.5), 20.4 / math.sqrt(0.5)), (GDP(0.5), 36 / 0.5)],
    ids=str,
)
def test_the_smallest_n_and_the_share_of_a_choice(budget, limit):
    few, enough = (Numbers(budget, int(limit * x), 3) for x in (0.97, 1.04))
    assert few.choice_share() is None
    assert enough.choice_share() == 0.12
    many = Numbers(budget, int(50 * limit), 3)
    assert many.choice_share() == 0.02
    between = Numbers(budget, int(2.2 * limit), 3)
    share = between.choice_share()
    assert 0.02 < share < 0.12
    assert between.rate(share) * between.n == pytest.approx(40.0, rel=1e-6)


def test_the_noise_of_a_share_is_that_of_a_mean():
    assert Numbers(PureDP(0.5), 100, 3).noise(0.5) == pytest.approx(2 * 3 / (100 * 0.25))
    assert Numbers(GDP(0.5), 100, 4).noise(0.25) == pytest.approx(2 * 2 / (100 * 0.25))
    assert Numbers(ZCDP(0.125), 100, 4).noise(0.25) == pytest.approx(2 * 2 / (100 * 0.25))


def test_the_plan_is_the_best_of_all():
    numbers, share, left, spread, radius = Numbers(GDP(1.0), 500, 36), 0.02, 0.96, 0.1, 1.0
    best = math.inf
    shares = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
    for count in (1, 2, 3):
        for parts in itertools.product(shares, repeat=count):
            if list(parts) != sorted(set(parts)):
                continue
            length = radius
            for part in parts:
                length = min(length, math.hypot(spread, numbers.noise(part) * length))
            end = left - sum(parts) - (count - 1) * share - numbers.last_share(share)
            if end >= LEAST_LEFT:
                best = min(best, numbers.noise(end) * length)
    plan = numbers.plan(share, left, spread, radius, 3)
    assert plan.noise == pytest.approx(best)
    assert plan.noise <= 0.95 * numbers.noise(left)
    assert len(numbers.plan(share, left, spread, radius, 1).shares) == 1
    assert numbers.plan(share, left, 0.95, radius, 3) is None
    assert numbers.plan(share, left, spread, radius, 0) is None


def test_an_empty_stretch_is_left_behind_but_not_all_records():
    numbers = Numbers(PureDP(1.0), 1000, 2)
    rate = numbers.rate(0.04)
    penalty = numbers.penalty(rate, 1000, 0.9)
    assert rate * penalty >= 5.0
    assert numbers.penalty(rate, 500, 0.9, planning=True) * rate >= 3.5
    for depth in (0.0, 2.0, 50.0):
        count = numbers.candidates(rate, penalty, depth)
        lowest = radii(1.0, count)[-1]
        assert rate * penalty * math.log(1.0 / lowest) <= rate * 1000 - 5.0
    assert numbers.places(rate, 1.0, 1e-6) <= 129
    assert numbers.places(rate, 1.0, 0.5) % 2 == 1
