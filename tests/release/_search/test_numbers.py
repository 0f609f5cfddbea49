from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp.release._search._adaptive import place_weights, places, radii, radius_weights
from riemdp.release._search._units import Records, below, beyond
from riemdp.spaces import Ball, Euclidean, Sphere


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
