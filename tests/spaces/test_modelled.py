"""Spaces that take their geometry over from a model: of a cover, and of a slice."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import PlanarShapes, Rotations, Torus
from riemdp.spaces import Aligned

SPACES = {
    "cover": Rotations(),
    "angles": Torus(2),
    "slice": Aligned(PlanarShapes(4), PlanarShapes(4).origin),
}


@pytest.mark.parametrize("name", list(SPACES))
def test_the_geometry_is_that_of_the_model(name):
    space = SPACES[name]
    model, center = space._model, space.origin
    directions = np.random.default_rng(1).normal(size=(7, space.dim))
    short = 0.3 * directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    points = space.point(center, short)
    start, near = space._beside(center, points)
    assert space.tangent_shape == model.tangent_shape
    assert space.curvature_bound == model.curvature_bound
    assert space.curvature_floor == model.curvature_floor
    assert space.constant_curvature == model.constant_curvature
    np.testing.assert_allclose(space.coordinates(center, points), short, atol=1e-12)
    np.testing.assert_array_equal(space.log(center, points), model.log(start, near))
    tangent = space.tangent_vector(center, short)
    np.testing.assert_allclose(space.tangent_coordinates(center, tangent), short, atol=1e-12)
    np.testing.assert_allclose(
        space.dist(space.exp(center, tangent), points), np.zeros(7), atol=1e-7
    )


@pytest.mark.parametrize("name", list(SPACES))
def test_clipping_leaves_what_lies_inside(name):
    space = SPACES[name]
    rows = np.concatenate([0.2 * np.eye(space.dim), 0.4 * np.eye(space.dim)])
    points = space.point(space.origin, rows)
    clipped = space.clip(space.origin, points, 0.3)
    np.testing.assert_array_equal(clipped[: space.dim], points[: space.dim])
    dist = space.dist(space.origin, clipped[space.dim :])
    np.testing.assert_allclose(dist, np.full(space.dim, 0.3), atol=1e-12)
    np.testing.assert_array_equal(space.clip(space.origin, points, 0.5), points)
