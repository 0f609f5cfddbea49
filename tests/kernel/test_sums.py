"""Sums of integer rows: exact, however many and however large, and guarded."""

import dataclasses
import itertools

import numpy as np
import pytest

from riemdp.kernel import Sum, added, added_products, added_with_weights, sum_of


def test_sums_add_up():
    assert Sum((1, -2), 3) + Sum((2**70, 5), 4) == Sum((2**70 + 1, 3), 7)
    with pytest.raises(ValueError, match="shorter"):
        Sum((1, -2), 3) + Sum((1,), 4)


@pytest.mark.fast("-1")
@pytest.mark.parametrize("sign", [1, -1])
def test_many_large_rows_do_not_overflow(sign):
    n = 2**21 + 5
    rows = np.full((n, 1), sign * 2**42)
    assert added(rows, 2**84) == Sum((n * sign * 2**42,), n)
    assert sum_of(rows[:, 0]) == n * sign * 2**42


def test_no_sum_changes_after_it_is_made():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sum((1, -2), 3).count = 4


def test_of_no_rows_the_sum_is_zero():
    assert added(np.zeros((0, 3), dtype=np.int64), 1) == Sum((0, 0, 0), 0)
    nothing = np.zeros(0, dtype=np.int64)
    assert added_with_weights(np.zeros((0, 2), dtype=np.int64), nothing, 1) == Sum((0, 0), 0)


def test_a_longer_row_counts_as_zero():
    rows = np.array([[3, 4], [5, 1], [-(2**63), 0]])
    assert added(rows, 25) == Sum((3, 4), 3)
    assert added(rows, 26) == Sum((8, 5), 3)  # the control
    assert added_with_weights(rows, np.array([2, 3, 5]), 25) == Sum((6, 8), 10)
    assert added_with_weights(rows, np.array([2, 3, 5]), 26) == Sum((21, 11), 10)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_integers_are_added_without_overflow(sign):
    n = 2**20 + 5
    rows = np.full((n, 1), sign * (2**42 - 1))
    assert added_products(rows, np.full(n, 2**40)) == (n * sign * (2**42 - 1) * 2**40,)
    rng = np.random.default_rng(0)
    rows, whole = rng.integers(-(2**41), 2**41, (9, 2)), rng.integers(0, 2**40, 9)
    terms = [[int(q) * int(x) for x in row] for q, row in zip(whole, rows, strict=True)]
    assert added_products(rows, whole) == tuple(map(sum, zip(*terms, strict=True)))


def test_parts_may_be_added_in_any_order():
    rng = np.random.default_rng(0)
    rows, whole = rng.integers(-(2**39), 2**39, (30, 3)), rng.integers(0, 2**40, 30)
    plain, weighted = added(rows, 2**80), added_with_weights(rows, whole, 2**80)
    for order in itertools.permutations(range(3)):
        parts = [slice(10 * i, 10 * i + 10) for i in order]
        first, second, third = (added(rows[part], 2**80) for part in parts)
        assert first + second + third == plain
        first, second, third = (added_with_weights(rows[p], whole[p], 2**80) for p in parts)
        assert first + (second + third) == weighted
