"""Means of rows: numbers that are rounded up, and what holds on every ball."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from riemdp.statistics._rows import quotient_of, root_up


@pytest.mark.parametrize(
    "square",
    [
        2,
        3,
        5,
        Fraction(1, 7),
        10**20 + 1,
        0,
        3 * 10**400,
        Fraction(3, 10**320),
        Fraction(3, 10**600),
    ],
)
def test_roots_are_rounded_up_and_no_more(square):
    found = root_up(Fraction(square))
    assert Fraction(found) ** 2 >= square
    assert found == 0.0 or Fraction(math.nextafter(found, 0.0)) ** 2 < square


def test_roots_of_squares_that_leave_float64_are_exact_where_they_can_be():
    for radius in (1e-300, 1e-160, 1e-150, 1e150, 1e160, 1e300):
        assert root_up(Fraction(radius) ** 2) == radius


def test_quotients_are_rounded_up():
    for numerator in (Fraction(1), Fraction(2.5), Fraction(1, 3)):
        for n in (1, 3, 10, 2**53 + 1):
            found = quotient_of(numerator, n)
            assert Fraction(found) * n >= numerator > Fraction(math.nextafter(found, 0.0)) * n
