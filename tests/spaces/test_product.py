"""Products: factors side by side, records clipped as a whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    NotOnManifoldError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
    frechet_mean,
)
from riemdp._part_document import decode, encode
from riemdp.spaces import FlatProduct, Product
from riemdp.statistics import FrechetMean, answer


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    query = next(FrechetMean().queries(ball))
    return np.array(answer(query, ball, data, tol), dtype=float)


SPACES = [
    Product(Sphere(2), Euclidean(2)),
    Product(Hyperbolic(2), SPDAffineInvariant(2), Sphere(1)),
    Product(Sphere(3, 0.25)),
    FlatProduct(Euclidean(2), SPDLogEuclidean(2)),
    Product(Product(Sphere(2), Euclidean(1)), Hyperbolic(1)),
]


def points_of(manifold, shape=(6,), seed=0):
    generator = np.random.default_rng(seed)
    coordinates = 0.4 * generator.normal(size=(*shape, manifold.dim))
    return manifold.exp(manifold.origin, manifold.tangent_vector(manifold.origin, coordinates))


@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_geometry(manifold):
    points, other = points_of(manifold), points_of(manifold, seed=1)
    np.testing.assert_allclose(manifold.validate(points), points, atol=1e-14)
    tangent = manifold.log(points, other)
    assert tangent.shape == (6, *manifold.tangent_shape)
    np.testing.assert_allclose(manifold.exp(points, tangent), other, atol=1e-12)
    dist = manifold.dist(points, other)
    np.testing.assert_allclose(manifold.norm(points, tangent), dist, rtol=1e-10)
    coordinates = manifold.tangent_coordinates(points, tangent)
    np.testing.assert_allclose(np.linalg.norm(coordinates, axis=-1), dist, rtol=1e-10)
    np.testing.assert_allclose(manifold.tangent_vector(points, coordinates), tangent, atol=1e-12)
    parts = [
        space.dist(a, b)
        for space, a, b in zip(
            manifold.spaces, manifold.split(points), manifold.split(other), strict=True
        )
    ]
    np.testing.assert_allclose(dist, np.linalg.norm(parts, axis=0), rtol=1e-12)
    np.testing.assert_array_equal(manifold.join(manifold.split(points)), points)


@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_one_ball_clips_the_record_as_a_whole(manifold):
    ball = Ball(manifold, manifold.origin, 0.5)
    points = points_of(manifold, (40,))
    inside = manifold.dist(manifold.origin, points) <= 0.5
    assert 0 < inside.sum() < 40
    clipped = ball.project(points)
    np.testing.assert_array_equal(clipped[inside], points[inside])
    np.testing.assert_allclose(manifold.dist(manifold.origin, clipped[~inside]), 0.5, rtol=1e-10)
    np.testing.assert_allclose(ball.point(ball.coordinates(points)), clipped, atol=1e-10)


@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_documents(manifold):
    assert decode(encode(manifold), "manifold") == manifold


def test_numbers():
    mixed = Product(Sphere(2, 4.0), Hyperbolic(2))
    assert (mixed.curvature_bound, mixed.constant_curvature) == (4.0, None)
    assert mixed.injectivity_radius == 0.5 * math.pi
    assert Product(Hyperbolic(2), Hyperbolic(2)).curvature_bound == 0.0
    assert Product(Hyperbolic(2)).curvature_bound == -1.0
    assert Product(Sphere(2), Sphere(2)).diameter == pytest.approx(math.sqrt(2.0) * math.pi)
    assert Product(Euclidean(1), Sphere(1)).constant_curvature == 0.0
    assert FlatProduct(Euclidean(1), Euclidean(2)).chart is not None
    assert Product(Euclidean(1), Euclidean(2)).chart is None


def test_refusals():
    for build in (Product, lambda: Product(3), lambda: FlatProduct(Sphere(2))):
        with pytest.raises(InvalidParameterError):
            build()
    manifold = Product(Sphere(2), Euclidean(1))
    with pytest.raises(NotOnManifoldError, match="row 1 does not have norm"):
        manifold.validate([[1, 0, 0, 5], [1, 1, 0, 5]])
    with pytest.raises(NotOnManifoldError, match="shape"):
        manifold.validate([[1, 0, 0]])
    with pytest.raises(UnsupportedBallError):
        Ball(manifold, manifold.origin, 3.2)
    hyperbolic = Product(Hyperbolic(2), Euclidean(1))
    with pytest.raises(UnsupportedBallError, match="hyperboloid"):
        Ball(hyperbolic, hyperbolic.origin, 9.0)


def test_parts_are_mended_as_in_the_factors():
    point = np.array([0.6, 0.8, 0.0, 1.0]) * [1.00003, 1.00003, 1.0, 1.0]
    mended = Product(Sphere(2), Euclidean(1)).validate(point)
    assert np.linalg.norm(mended[:3]) == pytest.approx(1.0, abs=1e-14)


def test_means_are_those_of_the_parts():
    manifold = Product(Hyperbolic(2), SPDAffineInvariant(2), Euclidean(1))
    ball = Ball(manifold, manifold.origin, 2.0)
    points = points_of(manifold, (30,))
    assert np.all(ball.contains(points))
    found = manifold.split(ball.point(certified(ball, points, 1e-8)))
    for space, part, mean in zip(manifold.spaces, manifold.split(points), found, strict=True):
        assert space.dist(frechet_mean(space, part).value, mean) < 1e-7
    flat = FlatProduct(Euclidean(2), SPDLogEuclidean(2))
    points = points_of(flat, (30,))
    value = flat.split(frechet_mean(flat, points).value)
    for space, part, mean in zip(flat.spaces, flat.split(points), value, strict=True):
        assert space.dist(frechet_mean(space, part).value, mean) < 1e-12


@pytest.mark.parametrize("points", [[[1.0], [1.0, 2.0]], [["a", "b", "c", "d"]], [[1.0, 2.0]]])
def test_rows_that_are_none_are_refused(points):
    with pytest.raises(NotOnManifoldError):
        Product(Sphere(2), Euclidean(1)).validate(points)


def test_no_rows_at_all():
    assert Product(Sphere(2), Euclidean(1)).validate(np.zeros((0, 4))).shape == (0, 4)
