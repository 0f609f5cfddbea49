"""A search for the worst pair of data sets."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Euclidean, InvalidParameterError, Sphere, UnsupportedBallError
from riemdp.auditing import neighbouring_datasets, search_pair
from riemdp.auditing._neighbours import check_neighbours


def test_search_finds_a_pair_that_no_constructor_makes():
    """The objective rewards changing the last row while all others are at one boundary point."""
    ball, n = Ball(Euclidean(2), np.zeros(2), 1.0), 6

    def objective(dataset, neighbour):
        moved = np.linalg.norm(dataset[-1] - neighbour[-1])
        return moved + abs(dataset[:-1, 1].mean())

    found = search_pair(
        objective, ball, n, restarts=6, steps=150, generator=np.random.default_rng(0)
    )
    assert found.value == objective(found.dataset, found.neighbour)
    assert found.value > 2.6  # constructors reach 2
    check_neighbours(found.dataset, found.neighbour)
    assert ball.contains(found.dataset).all()
    assert found.evaluations == 6 + 7 * 150 + 6


def test_search_is_reproducible():
    ball = Ball(Sphere(2), [0, 0, 1.0], 0.5)
    pairs = [
        search_pair(
            lambda a, b: float(np.abs(a - b).sum()),
            ball,
            5,
            restarts=1,
            steps=20,
            generator=np.random.default_rng(3),
        )
        for _ in range(2)
    ]
    assert np.array_equal(pairs[0].dataset, pairs[1].dataset)


def test_search_among_data_sets_with_a_record_less():
    """The sum is at one boundary point in both: only moves of the record itself reach it."""
    ball, n = Ball(Euclidean(2), np.zeros(2), 1.0), 4
    seen = set()

    def objective(dataset, neighbour):
        check_neighbours(dataset, neighbour, "add-remove")
        seen.add((len(dataset), len(neighbour)))
        moved = dataset.sum(axis=0) - neighbour.sum(axis=0)
        return float(np.array([0.6, 0.8]) @ moved)

    found = search_pair(
        objective, ball, n, adjacency="add-remove", generator=np.random.default_rng(0)
    )
    assert seen == {(4, 3)}
    assert 0.99 < found.value <= 1.0 + 1e-12
    assert found.value == objective(found.dataset, found.neighbour)
    with pytest.raises(InvalidParameterError, match="neighbouring_users"):
        search_pair(objective, ball, n, adjacency="replace-user")
    with pytest.raises(InvalidParameterError, match="add-remove"):
        neighbouring_datasets(ball, n, adjacency="")


def test_a_search_needs_a_ball():
    with pytest.raises(UnsupportedBallError):
        search_pair(lambda a, b: 0.0, 1.0, 3)
