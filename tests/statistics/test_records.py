"""Records in the forms that means are computed from."""

import numpy as np

from riemdp import Ball, Euclidean, SPDAffineInvariant
from riemdp.statistics._records import IntegerSum, joined, record_coordinates


def test_chunks_of_nested_records_are_joined_level_by_level():
    first, second = (np.zeros(2), (np.ones(3),)), (np.ones(1), (np.zeros(1),))
    outer, (inner,) = joined(first, second)
    np.testing.assert_array_equal(outer, [0, 0, 1])
    np.testing.assert_array_equal(inner, [1, 1, 1, 0])


def test_sums_are_added():
    total = joined(IntegerSum((1, -2), 3), IntegerSum((2**70, 5), 4))
    assert total == IntegerSum((2**70 + 1, 3), 7)


def test_a_record_beyond_float64_counts_as_the_centre():
    ball = Ball(Euclidean(1), [-1e308], 1.0)
    np.testing.assert_array_equal(record_coordinates(ball, np.array([[1e308], [-1e308]])), 0.0)
    ball = Ball(SPDAffineInvariant(2), np.eye(2), 2.0)
    found = record_coordinates(ball, np.array([np.eye(2), 1e3 * np.eye(2)]))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [0.0, 2.0], rtol=1e-12, atol=1e-12)
