"""Lanes: what plain Python computes, and what numba makes of the same code."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import _lanes
from riemdp._lanes import WIDE, choose, get, lanes, put, root


def compute(rows):
    first, second = get(rows, 0), get(rows, 1)
    total = first * second + 3.0 * first - second / 7.0
    total = choose(total - 1.0, root(total * total + 1.0), lanes(2.0) - total)
    put(rows, 2, total / (first + 0.1))
    put(rows, 0, get(rows, 2) - first)


def some():
    rows = _lanes.rows(3)
    rows[:] = np.random.default_rng(0).normal(size=(3, WIDE))
    rows[1, 2], rows[0, 3] = np.nan, np.inf
    return rows


def test_lanes_are_rows_of_numpy():
    rows = some()
    first, second = rows[0].copy(), rows[1].copy()
    with np.errstate(all="ignore"):
        compute(rows)
        total = first * second + 3.0 * first - second / 7.0
        total = np.where(total > 1.0, np.sqrt(total * total + 1.0), 2.0 - total)
        expected = total / (first + 0.1)
    np.testing.assert_array_equal(rows[2], expected)
    np.testing.assert_array_equal(rows[0], expected - first)


def test_what_was_read_does_not_change_when_the_row_does():
    rows = some()
    before = get(rows, 0)
    put(rows, 0, lanes(5.0))
    assert not np.array_equal(before, get(rows, 0))


@pytest.mark.parametrize("number", [1, 2, 57])
def test_rows_begin_where_lines_of_a_cache_do(number):
    for rows in (_lanes.rows(number), _lanes.rows(number)):
        assert rows.shape == (number, WIDE)
        assert rows.ctypes.data % (8 * WIDE) == 0
        rows[:] = 1.0


@pytest.mark.slow
def test_compiled_lanes_have_the_bits_of_numpy():
    numba = pytest.importorskip("numba")
    _lanes.teach(numba)
    plain, compiled = some(), some()
    with np.errstate(all="ignore"):
        compute(plain)
    numba.njit(error_model="numpy")(compute)(compiled)
    np.testing.assert_array_equal(plain, compiled)
    # a compiler that contracts a * b + c would show here
    ulp = np.nextafter(plain, np.inf)
    assert not np.array_equal(ulp, compiled)
