"""Balls that clip every factor by itself."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    Power,
    Product,
    ProductBall,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
)
from riemdp.spaces import BoxBall, FlatProduct, ball_proofs

MIXED = Product(Sphere(2), SPDAffineInvariant(2), Hyperbolic(2), Euclidean(1))
RADII = {
    Power(Sphere(2), 4): 0.4,
    Power(SPDAffineInvariant(2), 3): (0.3, 0.5, 0.3),
    MIXED: (0.3, 0.6, 0.5, 0.2),
    FlatProduct(Euclidean(2), SPDLogEuclidean(2)): (0.3, 0.4),
    Power(Euclidean(2), 3): (0.3, 0.4, 0.5),
}
every = pytest.mark.parametrize(("manifold", "radii"), list(RADII.items()), ids=str)


def points_of(manifold, number=40):
    coordinates = 0.4 * np.random.default_rng(0).normal(size=(number, manifold.dim))
    return manifold.point(manifold.origin, coordinates)


@every
def test_every_factor_is_clipped_by_itself(manifold, radii):
    ball = ProductBall(manifold, manifold.origin, radii=radii)
    points = points_of(manifold)
    found = ball.project(points)
    moved = []
    for own, before, after in zip(
        ball.parts, manifold.apart(points), manifold.apart(found), strict=True
    ):
        inside = own.manifold.dist(own.center, before) <= own.radius
        np.testing.assert_array_equal(after[inside], before[inside])
        np.testing.assert_allclose(
            own.manifold.dist(own.center, after[~inside]), own.radius, rtol=1e-9
        )
        np.testing.assert_allclose(after, own.project(before), atol=1e-13)
        moved.append(~inside)
    assert np.any(moved)
    assert not np.all(moved)
    assert np.all(ball.contains(found))
    assert not np.all(ball.contains(points))
    np.testing.assert_allclose(ball.point(ball.coordinates(points)), found, atol=1e-9)
    assert ball.radius == pytest.approx(math.hypot(*ball.radii))
    assert ball.reach >= math.hypot(*ball.radii)


@every
def test_then_the_record_as_a_whole(manifold, radii):
    ball = ProductBall(manifold, manifold.origin, radii=radii, rms_radius=0.2)
    points = points_of(manifold)
    found = ball.project(points)
    whole = Ball(manifold, manifold.origin, 0.2 * math.sqrt(len(ball.radii)))
    assert ball.radius == whole.radius
    assert np.all(ball.contains(found))
    assert np.all(whole.contains(found))
    boxed = ProductBall(manifold, manifold.origin, radii=radii).project(points)
    np.testing.assert_allclose(found, whole.project(boxed), atol=1e-13)
    assert not np.all(whole.contains(boxed))
    # the ball about the whole record is one of those that a point lies in
    np.testing.assert_array_equal(ball.contains(boxed), whole.contains(boxed))
    np.testing.assert_allclose(ball.point(ball.coordinates(points)), found, atol=1e-9)


@every
@pytest.mark.parametrize("rms", [None, 0.2])
def test_shortened_coordinates_are_in_every_ball(manifold, radii, rms):
    ball = ProductBall(manifold, manifold.origin, radii=radii, rms_radius=rms)
    rows = np.random.default_rng(1).normal(size=(30, manifold.dim))
    short = ball.shorten(rows, 0.5)
    ends = np.cumsum([space.dim for space in manifold.each])[:-1]
    for part, own in zip(np.split(short, ends, axis=-1), ball.parts, strict=True):
        assert np.all(np.linalg.norm(part, axis=-1) <= 0.5 * own.radius * (1.0 + 1e-12))
    assert np.all(np.linalg.norm(short, axis=-1) <= 0.5 * ball.radius * (1.0 + 1e-12))
    np.testing.assert_array_equal(ball.shorten(1e-3 * rows), 1e-3 * rows)


def test_the_room_is_that_of_each_factor():
    power = Power(Sphere(2), 100)
    ball = ProductBall(power, [0.0, 0.0, 1.0], radii=0.4)
    assert ball.radius == pytest.approx(4.0)
    with pytest.raises(UnsupportedBallError):
        Ball(power, power.origin, 4.0)
    with pytest.raises(UnsupportedBallError, match="injectivity"):
        ProductBall(power, [0.0, 0.0, 1.0], radii=3.2)
    hyperbolic = Power(Hyperbolic(2), 9)
    assert ProductBall(hyperbolic, hyperbolic.origin, radii=5.0).radius == pytest.approx(15.0)


def test_refusals():
    power = Power(Sphere(2), 2)
    for radii in ((0.3,), (0.3, 0.3, 0.3), -0.3, (0.3, math.inf), "wide"):
        with pytest.raises(InvalidParameterError):
            ProductBall(power, power.origin, radii=radii)
    with pytest.raises(InvalidParameterError):
        BoxBall(Sphere(2), [0.0, 0.0, 1.0], 1.0, (0.3,))
    with pytest.raises(UnsupportedBallError):
        BoxBall(power, power.origin, 0.0, (0.3, 0.3))


def test_it_is_told_from_others_and_kept():
    power = Power(Sphere(2), 2)
    ball, other = (ProductBall(power, power.origin, radii=r) for r in (0.3, (0.3, 0.4)))
    assert ball != other
    assert ball == ProductBall(power, power.origin, radii=(0.3, 0.3))
    assert ball != Ball(power, power.origin, ball.radius)
    again = pickle.loads(pickle.dumps(ball))
    assert again == ball
    assert hash(again) == hash(ball)
    assert again.parts == ball.parts


def test_its_proof_is_its_own():
    power = Power(Sphere(2), 2)
    ball = ProductBall(power, power.origin, radii=0.3)
    assert ball_proofs(ball)["BoxBall"] == "docs/proofs/products.md"

    class Changed(BoxBall):
        proof = "https://example.org/changed"

    assert ball_proofs(Changed(power, power.origin, 1.0, (0.3, 0.3)))["Changed"] is None


def test_what_float64_loses_costs_its_factor_alone():
    power = Power(SPDAffineInvariant(2), 3)
    points = points_of(power, 5)
    broken = points.copy()
    broken[2, 1] = np.diag([5e-324, 1.0])
    ball = ProductBall(power, np.eye(2), radii=0.3)
    found, wanted = ball.project(broken), ball.project(points)
    assert np.all(ball.contains(found))
    assert np.delete(found, 2, axis=0).tobytes() == np.delete(wanted, 2, axis=0).tobytes()
    np.testing.assert_array_equal(found[2, [0, 2]], wanted[2, [0, 2]])
