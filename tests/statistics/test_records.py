"""Records in the forms that means are computed from."""

from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, Euclidean, SPDAffineInvariant
from riemdp.kernel import Sum, on_grid
from riemdp.spaces import clip_norm, in_units
from riemdp.statistics._records import joined, record_coordinates


def test_chunks_of_nested_records_are_joined_level_by_level():
    first, second = (np.zeros(2), (np.ones(3),)), (np.ones(1), (np.zeros(1),))
    outer, (inner,) = joined(first, second)
    np.testing.assert_array_equal(outer, [0, 0, 1])
    np.testing.assert_array_equal(inner, [1, 1, 1, 0])


def test_sums_are_added():
    assert joined(Sum((1,), 3), Sum((2,), 4)) == Sum((3,), 7)


@pytest.mark.fast("1e-140-1", "0.3-2", "1.0-3", "1e+140-45")
@pytest.mark.parametrize("dim", [1, 2, 3, 45, 1000])
@pytest.mark.parametrize("length", [1e-140, 0.3, 1.0, 1e140])
def test_vectors_that_were_clipped_are_no_longer_than_one(dim, length):
    """As real numbers; those that are divided by the length alone are, some of them."""
    rng = np.random.default_rng(dim)
    rows = rng.normal(size=(400, dim))
    rows[::2, 1:] *= 1e-9  # nearly along an axis
    rows *= length / np.abs(rows).max(axis=1, keepdims=True) * rng.uniform(1.0, 9.0, (400, 1))
    rows = clip_norm(rows, length)
    for vectors, most in ((in_units(rows, length), 0), (rows / length, 400)):
        exact = [sum(Fraction(x) ** 2 for x in row) for row in vectors.tolist()]
        assert sum(each > 1 for each in exact) <= most
        assert min(exact) > 1 - (4 * dim + 40) * Fraction(1, 2**52)
    assert dim == 1 or any(each > 1 for each in exact)


def test_a_record_nearly_along_an_axis_is_not_lost():
    rows = clip_norm(np.array([[1e9, 1.0, 2.0], [3.0, 1e-9, 0.0], [2.0, 0.0, 0.0]]), 1.0)
    assert (on_grid(in_units(rows, 1.0))[:, 0] == 2**40 - 1).all()
    assert list(on_grid(rows)[:, 0]) == [0, 0, 2**40]  # the control


def test_a_record_beyond_float64_counts_as_the_centre():
    ball = Ball(Euclidean(1), [-1e308], 1.0)
    np.testing.assert_array_equal(record_coordinates(ball, np.array([[1e308], [-1e308]])), 0.0)
    ball = Ball(SPDAffineInvariant(2), np.eye(2), 2.0)
    found = record_coordinates(ball, np.array([np.eye(2), 1e3 * np.eye(2)]))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [0.0, 2.0], rtol=1e-12, atol=1e-12)
