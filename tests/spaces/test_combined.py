"""What products and powers share: the balls of their factors, and sums over them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    Power,
    Product,
    Rotations,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    Torus,
    UnsupportedBallError,
    frechet_mean_sensitivity,
)
from riemdp.spaces._product import factor_balls


def test_equal_factors_have_one_ball():
    power = Power(Sphere(2), 4)
    center = power.origin
    center[2] = [0.0, 1.0, 0.0]
    balls = power.balls(Ball(power, center, 0.3))
    assert [ball.radius for ball in balls] == [0.3] * 4
    assert balls[0] is balls[1] is balls[3]
    assert balls[2] != balls[0]
    np.testing.assert_array_equal(balls[2].center, [0.0, 1.0, 0.0])
    several = factor_balls(power, center, (0.3, 0.3, 0.3, 0.4))
    assert several[1] is several[0]
    assert several[3].radius == 0.4


def test_sums_over_factors():
    power, product = Power(Sphere(2), 3), Product(Sphere(2), Euclidean(1))
    numbers = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(power.total([numbers]), numbers.sum(axis=1))
    np.testing.assert_array_equal(
        product.total([numbers[:, 0], numbers[:, 1]]), numbers[:, 0] + numbers[:, 1]
    )


def test_single_factors_are_told_apart():
    power = Power(SPDAffineInvariant(2), 3)
    points = np.arange(24.0).reshape(2, 3, 2, 2)
    parts = power.apart(points)
    assert len(parts) == len(power.each) == 3
    np.testing.assert_array_equal(parts[1], points[:, 1])
    product = Product(Sphere(2), Euclidean(1))
    assert product.each == product.spaces
    assert [part.shape for part in product.apart(np.ones((5, 4)))] == [(5, 3), (5, 1)]


@pytest.mark.parametrize(
    ("space", "limit"),
    [
        (Product(Sphere(2), Sphere(2, 4.0)), math.pi / 4),
        (Product(Euclidean(1), Torus(2), Sphere(2)), math.pi / 2),
        (Product(Rotations(), Power(Sphere(2, 9.0), 2)), math.pi / 6),
        (Product(Sphere(2), SPDAffineInvariant(2)), math.pi / 2),
    ],
    ids=["spheres", "circles", "copies", "matrices"],
)
def test_balls_of_means_are_small_for_the_least_factor(space, limit):
    assert space.convexity_radius == pytest.approx(limit, rel=1e-15)
    assert frechet_mean_sensitivity(Ball(space, space.origin, 0.999 * limit), 10**6) > 0.0
    with pytest.raises(UnsupportedBallError, match="Fréchet mean to be unique"):
        frechet_mean_sensitivity(Ball(space, space.origin, 1.001 * limit), 10**6)


@pytest.mark.parametrize(
    "space",
    [
        Power(SPDLogEuclidean(2), 3),
        Power(SPDAffineInvariant(2), 3),
        Product(Sphere(2), Euclidean(2), Hyperbolic(2)),
        Product(Power(Sphere(2), 2), SPDLogEuclidean(2)),
    ],
    ids=str,
)
def test_points_coincide_factor_by_factor(space):
    rng = np.random.default_rng(1)
    center = space.point(space.origin, 0.3 * rng.normal(size=space.dim))
    moved = rng.normal(size=(4, space.dim)) * [[0.0], [1e-9], [1.0], [1.0]]
    moved[3, : space.spaces[0].dim] += 12.0  # one factor far out, where rounding is coarse
    points = space.point(center, moved)
    assert space.coincide(center, points, points, 0.0).all()
    again = space.point(center, moved * (1.0 + 2.0**-52))
    assert space.coincide(center, points, again, 1e-12).all()
    off = moved + 1e-9
    assert not space.coincide(center, space.point(center, off), points, 1e-12).any()
    off = moved.copy()
    off[:, -1] += 1e-9  # the last factor alone
    assert not space.coincide(center, space.point(center, off), points, 1e-12).any()
    assert space.coincide(center, space.point(center, off), points, 1e-6)[2:].all()


def test_points_off_their_space_do_not_coincide():
    sphere = Sphere(2)
    point = sphere.origin
    assert not sphere.coincide(point, 1.001 * point, point, 1e-12)  # at no distance
    far = Euclidean(2)
    huge = np.array([1e308, 0.0])
    assert not far.coincide(np.zeros(2), huge, -huge, 1e-12)
    assert not far.coincide(np.zeros(2), huge, np.array([np.inf, 0.0]), 1e-12)


def test_places_are_counted_bit_by_bit():
    """One place where all copies have the same centre; another where only a sign differs."""
    power = Power(Sphere(2), 5)
    center = power.origin
    ((space, at, number),) = power._places(center)
    assert (space, number) == (Sphere(2), 5)
    np.testing.assert_array_equal(at, center[0])
    other = center.copy()
    other[3, 1] = -0.0
    assert [number for _, _, number in power._places(other)] == [4, 1]
    ((_, alone, one),) = Product(Sphere(2))._places(Sphere(2).origin)
    assert (alone.shape, one) == ((3,), 1)
