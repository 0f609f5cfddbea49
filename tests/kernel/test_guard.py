"""The guard: rows that are too long are found, exactly, and replaced."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.kernel import _guard, guarded, within

LEAST = -(2**63)


def exactly(rows, most):
    """What Python's integers say."""
    return [
        sum(x * x for x in row) <= most and max(map(abs, row), default=0) <= 2**42
        for row in rows.tolist()
    ]


def plainly(rows, most):
    """What NumPy says that knows no better: squares wrap around, and floats round."""
    return ((rows * rows).sum(axis=-1) <= most).tolist()


@pytest.mark.parametrize("width", [1, 2, 6, 45])
@pytest.mark.parametrize("bits", [3, 20, 31, 40, 41])
def test_random_rows_are_judged_as_integers(width, bits):
    rng = np.random.default_rng(width * bits)
    rows = rng.integers(-(2**bits), 2**bits, size=(200, width), endpoint=True)
    squares = [sum(x * x for x in row) for row in rows.tolist()]
    for most in (0, min(squares), sorted(squares)[100], max(squares) - 1, max(squares)):
        assert within(rows, most).tolist() == exactly(rows, most)


@pytest.mark.parametrize("width", [1, 2, 6, 45, 1000])
@pytest.mark.parametrize("length", [1, 2**21 - 1, 2**21, 2**40, 2**41 - 1, 2**42 - 3])
def test_rows_at_the_bound_and_one_off(width, length):
    """Each is moved by one step in one coordinate; a bound too is moved by one."""
    rng = np.random.default_rng(width)
    vectors = rng.normal(size=(20, width))
    vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.trunc(vectors).astype(np.int64)
    rows = np.concatenate([rows, rows + np.eye(width, dtype=np.int64)[:1], -rows])
    for row in rows.tolist():
        square = sum(x * x for x in row)
        for most in (square - 1, square, square + 1):
            if most >= 0:
                one = np.array([row])
                assert within(one, most).tolist() == exactly(one, most) == [most >= square]
    assert within(rows, length**2).tolist() == exactly(rows, length**2)


def test_floats_alone_do_not_tell_one_step():
    """The control of what precedes: a sum of squares in float64 does not see it."""
    rows = np.array([[2**41, 1, 0], [2**41, 0, 0]])
    assert within(rows, 2**82).tolist() == [False, True]
    squares = np.square(rows.astype(np.float64)).sum(axis=-1)
    assert (squares <= float(2**82)).tolist() == [True, True]


@pytest.mark.parametrize(
    "row",
    [
        [LEAST, 0, 0],
        [LEAST, LEAST, LEAST],
        [2**63 - 1, 0, 0],
        [2**42 + 1, 0, 0],
        [-(2**42) - 1, 0, 0],
        [0, 2**62, -(2**62)],
    ],
)
def test_coordinates_beyond_all_bounds(row):
    rows = np.array([row, [1, 2, 3]], dtype=np.int64)
    assert within(rows, 2**84).tolist() == [False, True]
    assert within(rows, 20).tolist() == [False, True]
    assert guarded(rows, 20).tolist() == [[0, 0, 0], [1, 2, 3]]


def test_squares_that_wrap_around_fool_plain_products():
    rows = np.array([[LEAST, 0, 0], [2**32, 2**32, 0]], dtype=np.int64)
    assert plainly(rows, 20) == [True, True]  # the control
    assert (np.abs(rows[0, 0]) <= 20).tolist() is True  # and that of abs


def test_numbers_that_are_none_are_no_rows():
    numbers = np.array([[math.nan, 0.0], [math.inf, 0.0], [-math.inf, 1.0], [1e300, 0.0]])
    with np.errstate(invalid="ignore"):
        rows = numbers.astype(np.int64)
    assert not within(rows, 4 * 2**80).any()


@pytest.mark.parametrize("width", [1, 3, 64, 4097])
@pytest.mark.parametrize("value", [2**21 - 1, 2**31, 2**41 + 1, 2**42 - 1, 2**42])
def test_sums_of_squares_beyond_int64(width, value):
    rows = np.full((2, width), value)
    rows[1] *= -1
    square = width * value**2
    assert within(rows, square).tolist() == [True, True]
    assert within(rows, square - 1).tolist() == [False, False]


def test_no_coordinate_is_over_the_bound_however_long_a_row_may_be():
    rows = np.array([[2**42, 1], [2**42 + 1, 0], [0, -(2**42)], [0, -(2**42) - 1], [LEAST, 0]])
    assert within(rows, 2**200).tolist() == [True, False, True, False, False]


@pytest.mark.parametrize("width", [1, 2, 6, 100])
def test_floats_decide_where_they_err_by_less_than_is_allowed_for(width):
    """The bound is 2^60 over 1 - (m + 4) 2^-52, or one float less than that."""
    row = np.zeros((1, width), dtype=np.int64)
    row[0, 0] = 2**30
    most = 2**60 + (width + 4) * 2**8
    assert _guard.surely_within(row, most).tolist() == [True]
    assert _guard.surely_within(row, 2 * most).tolist() == [True]
    assert _guard.surely_within(row, most - 2**8).tolist() == [False]
    assert within(row, most - 2**8).tolist() == [True]  # by integers


def test_floats_that_decide_do_not_err():
    """Of rows within a few roundings of the bound, some longer and some not."""
    rng = np.random.default_rng(3)
    rows = rng.integers(-(2**42), 2**42, size=(2000, 5), endpoint=True)
    squares = [sum(x * x for x in row) for row in rows.tolist()]
    sure = 0
    for share in range(-40, 41):
        mosts = [square + share * square // 2**54 for square in squares]
        for row, most, square in list(zip(rows, mosts, squares, strict=True))[share % 20 :: 20]:
            found = _guard.surely_within(row[None], most).item()
            assert square <= most or not found
            sure += found
    assert 0 < sure < 81 * 50  # either happens


def test_longer_rows_count_as_zero():
    rows = np.array([[3, 4], [3, 5], [0, 0], [LEAST, 1]])
    assert guarded(rows, 25).tolist() == [[3, 4], [0, 0], [0, 0], [0, 0]]
    assert guarded(np.empty((0, 2), dtype=np.int64), 25).shape == (0, 2)


def test_a_copy_is_checked_and_returned():
    rows = np.asfortranarray([[3, 4], [1, 2]])
    found = guarded(rows, 25)
    rows[:] = 2**40
    assert found.tolist() == [[3, 4], [1, 2]]
    assert found.flags.c_contiguous
