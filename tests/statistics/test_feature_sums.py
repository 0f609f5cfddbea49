"""Sums of features on a grid: what is added, and roots that are rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp.statistics._feature_sums import root_up, symmetric_of


def test_products_are_read_with_their_weights():
    matrix = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    products = np.concatenate([0.7 * np.diag(matrix), 1.4 * matrix[np.triu_indices(3, 1)]])
    np.testing.assert_allclose(symmetric_of(products, 3, (0.7, 1.4)), matrix, rtol=1e-14)


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
