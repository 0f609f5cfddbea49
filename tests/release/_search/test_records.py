from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Euclidean, SPDAffineInvariant, Sphere
from riemdp.release._search._units import Records, below, beyond
from riemdp.spaces import Product

BALL = Ball(Euclidean(3), np.zeros(3), 1.0)


def test_counts_are_those_above_and_below():
    values = np.array([0.1, 0.5, 0.5, np.inf, 2.0])
    thresholds = np.array([3.0, 2.0, 0.5, 0.1, 0.0])
    assert beyond(values, thresholds) == [int(np.sum(values > t)) for t in thresholds]
    assert below(values, thresholds) == [int(np.sum(values < t)) for t in thresholds]


@pytest.mark.parametrize("size", [7, 8])
def test_pairs_are_disjoint(size):
    points = np.eye(3)[np.arange(size) % 3] * 0.1 * (1 + np.arange(size))[:, None] / size
    order = np.random.default_rng(0).permutation(size)
    records = Records(BALL, points)
    before = records.pairs(order)
    assert before.shape == (size // 2,)
    for i in range(size):
        changed = points.copy()
        changed[i] = [0.7, -0.3, 0.2]
        assert np.sum(Records(BALL, changed).pairs(order) != before) <= 1


@pytest.mark.parametrize(
    "manifold",
    [Sphere(2), SPDAffineInvariant(3), Euclidean(4), Product(Sphere(2), Euclidean(1))],
    ids=str,
)
def test_what_is_computed_of_a_record_depends_on_no_other_one(manifold):
    """In every bit: a replaced record changes its own distance alone."""
    rng = np.random.default_rng(0)
    ball = Ball(manifold, manifold.origin, 1.0)
    points = ball.point(rng.normal(size=(33, manifold.dim)) * 0.5)
    changed = points.copy()
    changed[5] = ball.point(rng.normal(size=manifold.dim) * 30.0)
    center = ball.point(rng.normal(size=manifold.dim) * 0.2)
    axis = np.eye(manifold.dim)[0]
    first, second = Records(ball, points), Records(ball, changed)
    for one, other in (
        (first.distances(center), second.distances(center)),
        (first.places(axis), second.places(axis)),
    ):
        assert np.flatnonzero(one != other).tolist() == [5]
    order = rng.permutation(33)
    assert np.sum(first.pairs(order) != second.pairs(order)) <= 1


def test_a_record_that_fails_is_infinite_and_alone():
    def compute(rows):
        if (rows > 5.0).any():
            raise ValueError("a secret")
        return np.where(rows[:, 0] == 3.0, np.nan, rows[:, 0])

    values = np.array([[1.0], [3.0], [7.0], [2.0], [9.0]])
    records = Records(Ball(Euclidean(1), [0.0], 10.0), values)
    assert records._each(compute, values).tolist() == [1.0, np.inf, np.inf, 2.0, np.inf]


def test_records_are_clipped_to_the_public_ball():
    records = Records(BALL, np.array([[3.0, 0.0, 0.0], [0.1, 0.0, 0.0]]))
    assert records.distances(np.zeros(3)).tolist() == [1.0, 0.1]
    assert len(records) == 2
