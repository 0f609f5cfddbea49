"""The checks of spaces hold of this library's, and each fails for a space with that mistake."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
)
from riemdp.testing import check_part

MANIFOLDS = [
    Euclidean(1),
    Euclidean(3),
    Sphere(1),
    Sphere(2),
    Sphere(4, 2.5),
    Hyperbolic(1),
    Hyperbolic(4, -2.5),
    SPDLogEuclidean(1),
    SPDLogEuclidean(3),
    SPDLogCholesky(3),
    SPDPower(1, 0.25),
    SPDPower(3),
    SPDPower(3, 0.01),
    SPDPower(2, 1.0),
    SPDAffineInvariant(1),
    SPDAffineInvariant(4),
]


@pytest.mark.fast(5)
@pytest.mark.parametrize("part", MANIFOLDS, ids=str)
def test_the_spaces_pass(part):
    check_part(part)


class Flat(Sphere):
    name = "tests.Flat"
    curvature_bound = 0.0


class Wide(Sphere):
    name = "tests.Wide"
    injectivity_radius = 2.0 * math.pi


class Bent(Hyperbolic):
    name = "tests.Bent"
    constant_curvature = -2.0


class Careless(Sphere):
    name = "tests.Careless"

    def validate(self, points):
        return np.asarray(points, dtype=float)


class Muddled(Euclidean):
    name = "tests.Muddled"

    def present(self, points):
        return super().present(points)[..., ::-1]


class Scaled(Sphere):
    name = "tests.Scaled"

    def dist(self, a, b):
        return 1.1 * super().dist(a, b)


class Oblique(Euclidean):
    name = "tests.Oblique"

    def tangent_vector(self, base, coordinates):
        return 2.0 * super().tangent_vector(base, coordinates)

    def tangent_coordinates(self, base, tangent):
        return 0.5 * super().tangent_coordinates(base, tangent)


class Transposed(Euclidean):
    name = "tests.Transposed"

    def log(self, base, point):
        return np.moveaxis(super().log(base, point), -1, 0)


class Crooked(Euclidean):
    name = "tests.Crooked"

    def dist(self, a, b):
        return super().dist(a, b) * (1.0 + np.asarray(a)[..., 0] ** 2)


class Herd(Euclidean):
    """Centres records together: one of them moves the others."""

    name = "tests.Herd"

    def coordinates(self, center, points):
        found = super().coordinates(center, points)
        return found - 1e-12 * found.mean(axis=0) if found.ndim > 1 else found


class Paired(Euclidean):
    """Has distances of as many points on either side alone."""

    name = "tests.Paired"

    def dist(self, a, b):
        a, b = np.asarray(a), np.asarray(b)
        return super().dist(a, b.reshape(a.shape) if b.size == a.size else b)


class Sticky(Euclidean):
    name = "tests.Sticky"

    def clip(self, center, points, radius):
        return super().clip(center, points, 0.9 * radius)


class Roomy(Sphere):
    name = "tests.Roomy"

    def check_ball(self, center, radius):
        """Has room for anything."""

    def clip(self, center, points, radius):
        return super().clip(center, points, radius) * (np.nan if radius > 3.0 else 1.0)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Flat(2), "curvature_is_bounded"),
        (Wide(2), "geodesics_are_shortest"),
        (Bent(3), "curvature_is_bounded"),
        (Careless(2), "bad_points_are_refused"),
        (Muddled(2), "points_come_back_as_written"),
        (Scaled(2), "exp_inverts_log"),
        (Oblique(2), "coordinates_are_orthonormal"),
        (Transposed(2), "shapes"),
        (Crooked(2), "distances_are_a_metric"),
        (Herd(2), "records_are_independent"),
        (Paired(2), "centres_broadcast"),
        (Sticky(2), "balls_clip"),
        (Roomy(2), "large_balls_work_or_are_refused"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_broken_space_is_noticed(part, expected, failures):
    assert expected in failures(part)
    if expected != "shapes":
        assert "document" not in failures(part)
