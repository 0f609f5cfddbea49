"""Rows of people: exact means of integer rows, rounded towards zero."""

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp.kernel import guarded, means_of_owners

MOST = 2**42


def means(rows, owners, cuts=()):
    """Means of rows that come in parts."""
    rows = np.asarray(rows, dtype=np.int64)
    parts = np.split(rows, cuts)
    return np.concatenate(list(means_of_owners(parts, np.asarray(owners, dtype=np.intp))))


def expected(rows, owners):
    """The same of Python's fractions."""
    found = []
    for owner in dict.fromkeys(owners):
        own = [row for row, whose in zip(rows, owners, strict=True) if whose == owner]
        columns = zip(*own, strict=True)
        found.append([math.trunc(Fraction(sum(map(int, x)), len(own))) for x in columns])
    return found


def drawn(size, seed):
    random = np.random.default_rng(seed)
    rows = random.integers(-MOST, MOST, (size, 3), endpoint=True)
    ends = [-MOST, MOST, 0, 1, -1, 2**21, -(2**21), 2**21 - 1]
    rows[::5] = random.choice(ends, (len(rows[::5]), 3))
    return rows, np.sort(random.integers(0, 1 + size // 4, size))


@pytest.mark.parametrize("seed", range(8))
def test_means_are_exact_and_rounded_towards_zero(seed):
    rows, owners = drawn(40, seed)
    assert means(rows, owners).tolist() == expected(rows, owners.tolist())


@pytest.mark.parametrize("cuts", [(), (1,), (0, 0, 7, 7, 39), tuple(range(1, 40))])
def test_the_parts_that_rows_come_in_do_not_count(cuts):
    rows, owners = drawn(40, 1)
    np.testing.assert_array_equal(means(rows, owners, cuts), means(rows, owners))


def test_neither_order_nor_others_count():
    rows, owners = drawn(40, 2)
    order = np.lexsort([np.random.default_rng(0).random(40), owners])
    np.testing.assert_array_equal(means(rows[order], owners), means(rows, owners))
    kept = owners > owners[0]
    np.testing.assert_array_equal(means(rows[kept], owners[kept]), means(rows, owners)[1:])


def test_millions_of_rows_of_the_largest_entries_overflow_nothing():
    size = 2**21 + 2
    for sign in (1, -1):
        rows = np.full((size, 2), sign * MOST)
        rows[-1] = [0, sign]
        total = sign * MOST * (size - 1)
        want = [math.trunc(Fraction(x, size)) for x in (total, total + sign)]
        assert means(rows, np.zeros(size)).tolist() == [want]
        assert int(rows[:, 0].sum()) != total  # which one sum would not hold


def test_halves_go_to_zero_on_either_side():
    rows = [[1, -1, 3, -3], [0, 0, 0, 0]]
    assert means(rows, [0, 0]).tolist() == [[0, 0, 1, -1]]
    assert means([[-1, 1], [0, 0], [0, 0]], [5, 5, 5]).tolist() == [[0, 0]]


def test_no_rows_have_no_owner():
    assert means(np.empty((0, 3)), []).shape == (0, 3)
    assert not list(means_of_owners([], np.empty(0, dtype=np.intp)))


def test_means_are_no_longer_than_rows_and_move_by_a_grid_unit_a_coordinate_more():
    """Claim 6 of docs/proofs/neighbours.md, on rows of a sphere and on its worst pairs."""
    random, radius = np.random.default_rng(3), 9
    grid = np.stack(np.meshgrid(*[np.arange(-radius, radius + 1)] * 2), axis=-1).reshape(-1, 2)
    rows = grid[np.square(grid).sum(axis=1) <= radius**2]
    picks = random.integers(0, len(rows), (1000, 3))
    found = means(rows[picks].reshape(-1, 2), np.repeat(np.arange(1000), 3))
    assert np.square(found).sum(axis=1).max() <= radius**2
    exact = rows[picks].mean(axis=1)
    moved = np.linalg.norm(found[:, None] - found, axis=-1)
    allowed = np.linalg.norm(exact[:, None] - exact, axis=-1) + math.sqrt(2.0)
    assert (moved <= allowed + 1e-9).all()
    # the unit a coordinate is needed: rounding moves two means apart that are nearer
    one, other = means([[1, 1], [1, 1], [0, 0], [1, 1], [0, 0], [1, 1]], [0, 0, 1, 1, 2, 2])[:2]
    assert math.dist(one, other) > 0.5 * math.sqrt(2.0) + 0.5


def test_what_is_too_long_counts_as_zero_before_the_mean():
    wild = np.array([[2**62, 0], [-(2**63), 5], [3, 4], [3, 5]])
    assert means(guarded(wild, 25), [0] * 4).tolist() == [[0, 1]]
