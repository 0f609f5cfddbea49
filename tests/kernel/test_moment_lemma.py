"""A vector with its square moves no farther than the vector, in whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp.kernel import UNIT, Moment, _shapes

#: The lengths at which the real function moves farthest, one over the other.
CRITICAL = 5.0**0.5 - 2.0
PROVED = _shapes._FREE
GAPS = (0, 1, 2, 3, 2**20, 2**30 - 1, 2**30, 2**40, 2**50 // PROVED, 2**60)


def last(square, free=PROVED):
    """The last coordinate of a row of this square: :func:`test_last_coordinates_are_these`."""
    return free * (square >> 30) >> 20


def is_short(one, other, more=0, free=PROVED):
    """Whether rows of these squares are at most 2 apart, whatever their directions.

    ``one + other + 2 sqrt(one other) + jump^2 <= 4 N^2``, in whole numbers.
    """
    jump = abs(last(one, free) - last(other, free)) + more
    rest = 4 * UNIT**2 - one - other - jump**2
    return rest >= 0 and rest**2 >= 4 * one * other


def squares():
    """Squares, at most ``N^2``: the largest, where last coordinates jump, and any others."""
    rng = np.random.default_rng(0)
    jumps = [-(-(q << 50) // PROVED) for q in (1, 2, 3, 1000, PROVED << 29, (PROVED << 30) - 1)]
    steps = [k << 30 for k in (1, 2**10, 2**49, 2**50 - 1)]
    lengths = [UNIT, UNIT - 1, round(CRITICAL * UNIT), UNIT // 2, 1, 2]
    some = [int(share * UNIT**2) for share in rng.uniform(size=40)]
    found = {*jumps, *steps, *(length**2 for length in lengths), *some}
    return sorted(each for each in found if each <= UNIT**2)


def test_last_coordinates_are_these():
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(300, 3))
    vectors *= rng.uniform(size=(300, 1)) / np.linalg.norm(vectors, axis=1, keepdims=True)
    edges = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [2.0**-10, 2.0**-40, 0.0]])
    for row in Moment(3).rows(np.concatenate([vectors, edges])).tolist():
        assert row[3] == last(sum(x * x for x in row[:3]))


@pytest.mark.parametrize("gap", GAPS)
def test_squares_that_differ_by_little(gap):
    for one in squares():
        for near in range(one - 2, one + 3):
            if gap <= near <= UNIT**2:
                assert is_short(near, near - gap)


def test_any_two_squares():
    found = squares()
    assert all(is_short(one, other) for one in found for other in found)
    assert len(found) > 40


def test_at_the_critical_ratio():
    """The slack is least there, and hardly any step of the factor is left."""
    least = round(CRITICAL * UNIT)
    others = [(least + i) ** 2 for i in (*range(-2000, 2000), *range(-(2**36), 2**36, 2**27))]
    assert all(is_short(UNIT**2, other) for other in others)
    assert not is_short(UNIT**2, least**2, free=PROVED + 1)  # the control
    far = 2 * UNIT - max(
        math.isqrt((UNIT + math.isqrt(each)) ** 2 + (last(UNIT**2) - last(each)) ** 2)
        for each in others
    )
    assert 0 < far < 1e-4 * UNIT


def test_one_step_more_is_not_covered():
    top = UNIT**2
    assert last(top) - last(top - 1) == 1
    assert is_short(top, top - 1)
    assert not is_short(top, top - 1, more=1)  # the control


def test_opposite_rows_are_two_apart():
    one, other = Moment(2).rows(np.array([[1.0, 0.0], [-1.0, 0.0]])).tolist()
    assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) == 4 * UNIT**2
    assert sum(a * a for a in one) == Moment(2).longest


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_rows_of_vectors_are_at_most_two_apart(dim):
    rng = np.random.default_rng(dim)
    vectors = rng.normal(size=(60, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) * (1.0 + 2.0**-48)
    lengths = np.array([1.0, 1.0 - 2.0**-40, 1.0 - 2.0**-39, CRITICAL, CRITICAL + 2.0**-38, 0.0])
    vectors = np.concatenate([each * vectors[::6] for each in (*lengths, *-lengths)])
    rows = Moment(dim).rows(vectors).tolist()
    most = max(
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for one in rows for other in rows
    )
    assert Fraction(99, 100) < Fraction(most, 4 * UNIT**2) <= 1


def test_numbers_of_the_proof():
    square, k = Fraction(PROVED, 1024) ** 2, Fraction(1002, 1000)
    assert k >= 1 + Fraction(PROVED, 2**20)
    assert square / 4 + Fraction(4, UNIT) + k**2 < 2
    # phi^5 / 4 = (11 + 5 sqrt(5)) / 8
    slack = (11 + 5 * Fraction(math.isqrt(5 * 10**40), 10**20)) / 8 - square
    assert slack > Fraction(18, 10**5)
    assert 2 * k * Fraction(PROVED, 1024) <= 4
    assert slack / 16 * UNIT**2 > 4 * UNIT + 2
    w = np.linspace(0.0, 1.0, 10**6, endpoint=False)
    least = np.min((3.0 + w) / ((1.0 + w) ** 2 * (1.0 - w)))
    assert least == pytest.approx((11 + 5 * 5**0.5) / 8, rel=1e-10)
