from __future__ import annotations

import math
from fractions import Fraction

import pytest

from riemdp import InvalidParameterError
from riemdp.noise.exact import Rounded, default_grid


def test_values_are_the_nearest_floats():
    integers = (0, 1, -3, 2**60 + 1, -(10**40))
    for grid in (0, 41, 84, -7):
        expected = [float(Fraction(n) * Fraction(2) ** -grid) for n in integers]
        assert Rounded(integers, grid).values().tolist() == expected


def test_default_grid():
    for sigma in (1e-300, 1e-6, 0.1, 0.5, 1.0, 1.5, 100.0, 1e300):
        assert default_grid(sigma) == 40 - math.floor(math.log2(sigma))
    with pytest.raises(InvalidParameterError):
        default_grid(0.0)


def test_values_at_the_ends_of_what_is_short():
    integers = (2**53 + 1, 3 * 2**53 + 1, 2**499 + 1, 2**500 - 1, -(2**500), 1)
    for grid in (-500, 499, 500, 501, 1074, 1100):
        expected = [float(Fraction(n) * Fraction(2) ** -grid) for n in integers]
        assert Rounded(integers, grid).values().tolist() == expected
        assert Rounded(integers[:-2], grid).values().tolist() == expected[:-2]
    assert Rounded((), 40).values().shape == (0,)


def test_the_longest_is_that_of_the_size():
    assert [Rounded(each, 3).longest for each in ((), (0,), (-8, 3), (7, -7), (2**70, -1))] == [
        0, 0, 4, 3, 71,
    ]  # fmt: skip
