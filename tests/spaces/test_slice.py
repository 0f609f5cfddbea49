"""Slices: isometric parts of spheres, and frames that are the same on every machine."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import KendallShapes, PlanarShapes, Sphere
from riemdp.spaces import SphereSlice, WholeSlice
from riemdp.spaces._slice import reflected, reflections


@pytest.mark.parametrize("curvature", [1.0, 0.25])
def test_a_slice_of_a_sphere_is_one(curvature):
    generator = np.random.default_rng(0)
    cover = Sphere(7, curvature)
    basis = np.linalg.qr(generator.normal(size=(8, 8)))[0]
    template = basis[0] / np.sqrt(curvature)
    vertical = np.array([[2.0, 0.0], [5.0, 0.1]]) @ basis[1:3]  # neither unit nor orthogonal
    part = SphereSlice(curvature, template, vertical, 1.0)
    assert part.space == Sphere(5, curvature)
    assert part.reach == 1.0
    points = part.space.point(part.space.origin, generator.normal(size=(20, 5)))
    above = part.embed(points)
    cover.validate(above)
    np.testing.assert_allclose(above @ vertical.T, 0.0, atol=1e-14)
    np.testing.assert_allclose(part.restrict(above), points, atol=1e-14)
    np.testing.assert_allclose(
        cover.dist(above[:10], above[10:]), part.space.dist(points[:10], points[10:]), atol=1e-14
    )
    # the first axis is the template, whatever its signs
    first = np.eye(6)[0] / np.sqrt(curvature)
    np.testing.assert_allclose(part.restrict(template), first, atol=1e-15)
    np.testing.assert_allclose(part.embed(first), template, atol=1e-15)
    # what lies beside is dropped
    beside = above + 0.01 * vertical[0]
    np.testing.assert_allclose(part.restrict(beside), points, atol=1e-14)


def test_all_of_a_cover_is_a_slice():
    part = WholeSlice(Sphere(3), 0.5)
    points = np.eye(4)
    assert part.space == Sphere(3)
    assert part.restrict(points) is part.embed(points) is points


@pytest.mark.parametrize("space", [PlanarShapes(5), KendallShapes(5), KendallShapes(6, 4)])
def test_slices_have_the_dimension_of_the_space(space):
    template = space.validate(np.random.default_rng(1).normal(size=space.point_shape))
    part = space.slice_at(template)
    assert part.space == Sphere(space.dim)
    # of a rotation of the template too: the first axis is its representative
    first = np.eye(space.dim + 1)[0]
    np.testing.assert_allclose(part.embed(first), space.lift(template), atol=1e-14)


def test_frames_do_not_jump_with_the_rounding_of_zeros():
    space = KendallShapes(4)  # its origin has many zeros
    start = space.lift(space.origin)
    rows = start.reshape(3, 3)
    vertical = np.stack(
        [np.stack([-rows[1], rows[0], 0.0 * rows[0]]), np.stack([-rows[2], 0.0 * rows[0], rows[0]])]
    ).reshape(2, 9)
    vectors = np.concatenate([start[None], vertical])
    points = np.random.default_rng(5).normal(size=(10, 9))
    found = [
        reflected(reflections(vectors + 1e-16 * noise)[0], points)
        for noise in np.random.default_rng(6).normal(size=(20, 3, 9))
    ]
    assert np.ptp(found, axis=0).max() < 1e-13
    # the control: signs of the entries themselves jump
    jumps = [
        reflected(reflections(np.array([[sign, 1.0, 0.5]]) / 1.5)[0], np.eye(3))
        for sign in (1e-7, -1e-7)
    ]
    assert np.ptp(jumps, axis=0).max() > 0.5
