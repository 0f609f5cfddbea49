"""Euclidean space: exact formulas and large numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import Ball, Euclidean, NotOnManifoldError


@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 6))
def test_rigid_motions_keep_distances(seed, dim, random_rotation):
    rng = np.random.default_rng(seed)
    space = Euclidean(dim)
    a, b = rng.normal(size=(2, 8, dim))
    rotation, shift = random_rotation(rng, dim), rng.normal(size=dim)
    moved = space.dist(a @ rotation.T + shift, b @ rotation.T + shift)
    np.testing.assert_allclose(moved, space.dist(a, b), atol=1e-13)


def test_formulas_are_those_of_vectors():
    space = Euclidean(2)
    assert space.dist([0.0, 0.0], [3.0, 4.0]) == 5.0
    np.testing.assert_array_equal(space.log([1, 2], [4, 6]), [3.0, 4.0])
    np.testing.assert_array_equal(space.exp([1, 2], [3, 4]), [4.0, 6.0])
    assert space.inner([9.0, 9.0], [1.0, 2.0], [3.0, 4.0]) == 11.0
    assert space.log([1, 2], [4, 6]).dtype == np.float64


def test_results_do_not_alias_the_input():
    base, coordinates = np.ones(3), np.arange(3.0)
    vector = Euclidean(3).tangent_vector(base, coordinates)
    vector[:] = 7.0
    np.testing.assert_array_equal(coordinates, np.arange(3.0))


def test_large_finite_numbers_are_points():
    # Their sum overflows; the entries do not.
    points = np.full((3, 2), 1e308)
    np.testing.assert_array_equal(Euclidean(2).validate(points), points)


def test_distances_of_large_numbers():
    space = Euclidean(2)
    assert space.dist([3e200, 0.0], [0.0, 4e200]) == pytest.approx(5e200)
    assert space.dist([1.7e308, 0.0], [-1.7e308, 0.0]) == np.inf
    assert Ball(space, [0.0, 0.0], 1.0).project([1e308, 0.0]).tolist() == [1.0, 0.0]


def test_integers_and_single_precision_become_doubles():
    assert Euclidean(2).validate([[1, 2]]).dtype == np.float64
    assert Euclidean(2).validate(np.ones((1, 2), dtype=np.float32)).dtype == np.float64


def test_messages_do_not_hold_coordinates():
    points = np.array([[1.0, 2.0], [123.456, np.nan]])
    with pytest.raises(NotOnManifoldError) as caught:
        Euclidean(2).validate(points)
    assert "row 1" in str(caught.value)
    assert "123" not in str(caught.value)
