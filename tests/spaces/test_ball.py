"""Balls: limits of centre and radius, projection along geodesics, clipped coordinates."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    NotOnManifoldError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
)
from riemdp._errors import InvalidParameterError

MANIFOLDS = [
    Euclidean(3),
    Sphere(1),
    Sphere(1, 4.0),
    Sphere(2),
    Sphere(5, 4.0),
    Hyperbolic(1),
    Hyperbolic(2),
    Hyperbolic(4, -4.0),
    SPDLogEuclidean(1),
    SPDLogEuclidean(2),
    SPDLogEuclidean(3),
    SPDAffineInvariant(1),
    SPDAffineInvariant(2),
    SPDAffineInvariant(3),
]
every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
NORTH = [0.0, 0.0, 1.0]


def reach(manifold):
    """Farthest that random points may be in these tests."""
    return min(manifold.injectivity_radius, 3.0)


@every_manifold
@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf, -math.inf])
def test_radius_has_to_be_positive_and_finite(manifold, radius, random_points):
    center = random_points(manifold, np.random.default_rng(0))
    if radius == math.inf and math.isfinite(manifold.injectivity_radius):
        assert Ball(manifold, center, radius).is_whole  # of a compact space
        return
    with pytest.raises(UnsupportedBallError, match="positive and finite"):
        Ball(manifold, center, radius)


@pytest.mark.parametrize("radius", [None, "wide", [1.0, 2.0], 1j])
def test_radius_has_to_be_a_number(radius):
    with pytest.raises(InvalidParameterError, match="number"):
        Ball(Sphere(2), NORTH, radius)


@pytest.mark.parametrize("dim", [1, 2, 4])
@pytest.mark.parametrize("curvature", [1.0, 4.0, 0.1])
def test_radius_stays_under_the_injectivity_radius(dim, curvature):
    sphere = Sphere(dim, curvature)
    center = np.eye(dim + 1)[0] / math.sqrt(curvature)
    limit = math.pi / math.sqrt(curvature)
    for radius in (limit, 1.001 * limit, 10.0 * limit):
        with pytest.raises(UnsupportedBallError, match="injectivity radius"):
            Ball(sphere, center, radius)
    assert Ball(sphere, center, 0.999 * limit).radius == 0.999 * limit


@pytest.mark.parametrize("curvature", [-1.0, -4.0, -0.1])
def test_hyperbolic_radius_stays_where_coordinates_carry_distances(curvature):
    space = Hyperbolic(2, curvature)
    limit = 8.0 / math.sqrt(-curvature)
    assert Ball(space, space.origin, limit).radius == limit
    with pytest.raises(UnsupportedBallError, match="8/sqrt"):
        Ball(space, space.origin, 1.001 * limit)


def test_center_has_to_be_one_point_of_the_manifold():
    for center in ([0.0, 0.0, 1.1], [0.0, math.nan, 1.0], [0.0, 1.0], [NORTH, NORTH], "north"):
        with pytest.raises(NotOnManifoldError):
            Ball(Sphere(2), center, 1.0)
    with pytest.raises(NotOnManifoldError, match="positive"):
        Ball(SPDLogEuclidean(2), -np.eye(2), 1.0)
    with pytest.raises(NotOnManifoldError):
        Ball(Hyperbolic(2), [0.0, 0.0, 1.0], 1.0)
    with pytest.raises(InvalidParameterError, match="manifold"):
        Ball("sphere", NORTH, 1.0)


def test_center_is_canonical_and_cannot_change():
    given_center = np.array([0.0, 0.0, 1.0 + 5e-7])
    ball = Ball(Sphere(2), given_center, 1)
    assert np.linalg.norm(ball.center) == pytest.approx(1.0, abs=1e-15)
    given_center[:] = 0.0
    assert ball.center[2] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        ball.center[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        ball.radius = 2.0
    assert type(ball.radius) is float


def test_balls_compare_by_value():
    ball = Ball(Sphere(2), NORTH, 1.0)
    same = Ball(Sphere(2), np.array(NORTH), 1)
    assert ball == same
    assert hash(ball) == hash(same)
    assert ball != Ball(Sphere(2), NORTH, 1.5)
    assert ball != Ball(Sphere(2), [1.0, 0.0, 0.0], 1.0)
    assert ball != "ball"
    assert "center" not in repr(ball)


@pytest.mark.fast(3)
@every_manifold
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.01, 0.95))
def test_projection(manifold, seed, share, random_points):
    rng = np.random.default_rng(seed)
    center = random_points(manifold, rng)
    radius = share * reach(manifold)
    ball = Ball(manifold, center, radius)
    length = rng.uniform(0.0, reach(manifold), size=40)
    direction = rng.normal(size=(40, manifold.dim))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    points = manifold.exp(center, manifold.tangent_vector(center, length[:, None] * direction))
    kept = points.copy()
    projected = ball.project(points)
    np.testing.assert_array_equal(points, kept)

    inside = length < radius * (1.0 - 1e-9)
    outside = length > radius * (1.0 + 1e-9)
    np.testing.assert_array_equal(projected[inside], points[inside])
    np.testing.assert_array_equal(ball.contains(points)[inside | outside], inside[inside | outside])
    assert ball.contains(projected).all()
    dist = manifold.dist(center, projected)
    np.testing.assert_allclose(dist, np.minimum(length, radius), rtol=1e-9, atol=1e-12)
    expected = manifold.exp(center, manifold.tangent_vector(center, radius * direction))
    np.testing.assert_allclose(projected[outside], expected[outside], rtol=1e-8, atol=1e-8)
    # On the geodesic: the way over the projection is no detour.
    detour = dist + manifold.dist(projected, points) - manifold.dist(center, points)
    assert detour.max() <= 1e-9

    assert manifold.dist(ball.project(projected), projected).max() <= 1e-11
    coordinates = ball.coordinates(points)
    clipped = np.minimum(length, radius)[:, None] * direction
    np.testing.assert_allclose(coordinates, clipped, atol=1e-9)
    assert np.linalg.norm(coordinates, axis=-1).max() <= radius * (1.0 + 4e-16)
    seen = manifold.exp(center, manifold.tangent_vector(center, coordinates))
    assert manifold.dist(seen, projected).max() <= 1e-9


@every_manifold
def test_every_record_is_treated_by_itself(manifold, random_points):
    rng = np.random.default_rng(0)
    points = random_points(manifold, rng, (3, 4), reach(manifold))
    ball = Ball(manifold, random_points(manifold, rng), 0.4 * reach(manifold))
    projected, coordinates = ball.project(points), ball.coordinates(points)
    assert projected.shape == points.shape
    assert coordinates.shape == (3, 4, manifold.dim)
    assert ball.contains(points).shape == (3, 4)
    assert not ball.contains(points).all()
    for i in np.ndindex(3, 4):
        np.testing.assert_allclose(ball.project(points[i]), projected[i], atol=1e-13)
        np.testing.assert_allclose(ball.coordinates(points[i]), coordinates[i], atol=1e-13)
        assert ball.contains(points[i]).shape == ()
    nothing = np.empty((0, *manifold.point_shape))
    assert ball.project(nothing).shape == nothing.shape
    assert ball.coordinates(nothing).shape == (0, manifold.dim)


@every_manifold
def test_projection_returns_new_memory(manifold, random_points):
    rng = np.random.default_rng(1)
    center = random_points(manifold, rng)
    points = np.stack([center, center])
    projected = Ball(manifold, center, 0.5).project(points)
    projected[:] = 0.0
    np.testing.assert_array_equal(points, np.stack([center, center]))


@pytest.mark.parametrize("sphere", [Sphere(1), Sphere(2), Sphere(6, 4.0)], ids=str)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.05, 0.95))
def test_the_antipode_goes_to_one_point_of_the_boundary(sphere, seed, share, random_points):
    center = random_points(sphere, np.random.default_rng(seed), (), 3.0)
    ball = Ball(sphere, center, share * sphere.injectivity_radius)
    antipode = -ball.center
    projected = ball.project(np.stack([antipode, ball.center, antipode]))
    np.testing.assert_array_equal(projected[0], projected[2])
    np.testing.assert_array_equal(projected[0], ball.project(antipode))
    np.testing.assert_array_equal(projected[1], ball.center)
    assert sphere.dist(center, projected[0]) == pytest.approx(ball.radius, rel=1e-12)
    coordinates = ball.coordinates(antipode)
    assert np.linalg.norm(coordinates) == pytest.approx(ball.radius, rel=1e-12)
    seen = sphere.exp(ball.center, sphere.tangent_vector(ball.center, coordinates))
    assert sphere.dist(seen, projected[0]) <= 1e-12


def test_points_that_rounding_leaves_at_the_antipode_are_clipped_too():
    """No record may make the projection fail or land outside."""
    ball = Ball(Sphere(2), NORTH, 1.0)
    records = [
        [0.0, 0.0, -1.0 + 2e-16],
        [0.0, 0.0, -1.0 - 2e-16],
        [1e-200, 0.0, -1.0],
        [5e-324, 0, -1],
    ]
    records = ball.manifold.validate(records)
    assert ball.contains(ball.project(records)).all()
    assert np.linalg.norm(ball.coordinates(records), axis=-1) == pytest.approx(np.ones(4))
    rng = np.random.default_rng(0)
    for _ in range(200):
        center = rng.normal(size=3)
        ball = Ball(Sphere(2), center / np.linalg.norm(center), 1.2)
        near = -ball.center * (1.0 + rng.integers(-3, 4, size=(20, 1)) * 1.1e-16)
        near = np.concatenate([near, np.nextafter(near, rng.normal(size=near.shape))])
        dist = ball.manifold.dist(ball.center, ball.project(ball.manifold.validate(near)))
        np.testing.assert_allclose(dist, 1.2, rtol=1e-14)


@pytest.mark.parametrize("size", [1e10, 1e160, 1e300])
def test_far_records_are_clipped_to_the_boundary(size):
    plane = Ball(Euclidean(2), [1.0, 1.0], 5.0)
    records = size * np.array([[3.0, 4.0], [0.0, -1.0]])
    boundary = [[4.0, 5.0], [1.0, -4.0]]
    np.testing.assert_allclose(plane.project(records), boundary, atol=1e-8)
    np.testing.assert_allclose(plane.coordinates(records), np.subtract(boundary, 1.0), atol=1e-8)
    if size < 1e154:
        space = Hyperbolic(2)
        ball = Ball(space, space.origin, 1.0)
        far = space.validate([[size, size, 0.0], [size, 0.0, -size]])
        expected = [[math.cosh(1), math.sinh(1), 0], [math.cosh(1), 0, -math.sinh(1)]]
        np.testing.assert_allclose(ball.project(far), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_matrices_of_any_scale_are_clipped_to_the_boundary(metric, k, scale):
    ball = Ball(metric(k), np.eye(k), 1.5)
    projected = ball.project(scale * np.eye(k))
    expected = math.exp(math.copysign(1.5, math.log(scale)) / math.sqrt(k))
    np.testing.assert_allclose(projected, expected * np.eye(k), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "manifold", [Euclidean(3), Hyperbolic(3), SPDLogEuclidean(2), SPDAffineInvariant(3)], ids=str
)
def test_projection_does_not_stretch_distances_on_hadamard_spaces(manifold, random_points):
    rng = np.random.default_rng(3)
    ball = Ball(manifold, random_points(manifold, rng), 0.7)
    a, b = random_points(manifold, rng, (2, 200), 3.0)
    before, after = manifold.dist(a, b), manifold.dist(ball.project(a), ball.project(b))
    assert (after <= before + 1e-11).all()
    assert (after < before - 1e-3).any()


def test_equal_balls_hash_alike_and_stay_read_only_through_pickle():
    import pickle

    ball = Ball(Euclidean(2), [0.0, -0.0], 1.0)
    other = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    assert ball == other
    assert hash(ball) == hash(other)
    again = pickle.loads(pickle.dumps(ball))
    assert again == ball
    assert not again.center.flags.writeable


def test_point_inverts_coordinates(random_points):
    rng = np.random.default_rng(3)
    for manifold in (Euclidean(3), Sphere(2, 4.0), Hyperbolic(3), SPDLogEuclidean(3)):
        ball = Ball(manifold, random_points(manifold, rng), 0.4)
        coordinates = 0.2 * rng.normal(size=(5, manifold.dim)) / np.sqrt(manifold.dim)
        points = ball.point(coordinates)
        np.testing.assert_allclose(ball.coordinates(points), coordinates, atol=1e-12)


@pytest.mark.parametrize("kind", [SPDLogEuclidean, SPDAffineInvariant])
def test_point_stays_positive_definite_however_far(kind):
    rng = np.random.default_rng(4)
    center = np.array([[2.0, 0.3], [0.3, 0.5]])
    ball = Ball(kind(2), center, 1e5)
    points = ball.point(1e4 * rng.normal(size=(50, 3)))
    assert np.all(np.linalg.eigvalsh(points)[:, 0] > 0.0)
    assert ball.contains(points).all()
