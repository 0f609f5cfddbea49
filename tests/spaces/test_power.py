"""Powers: the geometry of a product of copies, with no loop over them."""

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
    Power,
    Product,
    ProductBall,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
)
from riemdp._part_document import decode, encode
from riemdp.spaces import CurvedPower, FlatPower, FlatProduct
from riemdp.testing import check_part

SPACES = [Sphere(2), Hyperbolic(2), SPDAffineInvariant(2), SPDLogEuclidean(2), Euclidean(3)]
both = pytest.mark.parametrize("space", SPACES, ids=str)


def points_of(manifold, number, seed=0, scale=0.4):
    coordinates = scale * np.random.default_rng(seed).normal(size=(number, manifold.dim))
    return manifold.point(manifold.origin, coordinates)


@both
def test_it_is_the_product_of_its_copies(space):
    power = Power(space, 4)
    product = (Product if space.chart is None else FlatProduct)(*[space] * 4)
    center, points = points_of(power, 1, 1)[0], points_of(power, 7)

    def flat(values):
        return values.reshape(-1, *product.point_shape)

    tangent = power.log(center, points)
    others = product.log(flat(center)[0], flat(points))
    np.testing.assert_allclose(tangent.reshape(7, -1), others, atol=1e-13)
    np.testing.assert_allclose(flat(power.exp(center, tangent)), flat(points), atol=1e-12)
    np.testing.assert_allclose(
        power.dist(center, points), product.dist(flat(center), flat(points)), rtol=1e-13
    )
    for name in ("coordinates", "tangent_coordinates"):
        own = tangent if name == "tangent_coordinates" else points
        other = others if name == "tangent_coordinates" else flat(points)
        found = getattr(power, name)(center, own)
        wanted = getattr(product, name)(flat(center)[0], other)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_array_equal(power.origin.reshape(-1), product.origin)
    for name in (
        "dim",
        "curvature_bound",
        "curvature_floor",
        "constant_curvature",
        "injectivity_radius",
        "factors",
    ):
        if name != "factors" or space.chart is None:
            assert getattr(power, name) == getattr(product, name)
    assert power.diameter == pytest.approx(product.diameter)
    balls = [
        Ball(manifold, at, 0.7) for manifold, at in ((power, center), (product, flat(center)[0]))
    ]
    clipped, wanted = balls[0].project(points), balls[1].project(flat(points))
    assert 0 < np.sum(np.any(clipped != points, axis=tuple(range(1, points.ndim)))) <= 7
    np.testing.assert_allclose(flat(clipped), wanted, atol=1e-12)
    assert balls[0].rounding == pytest.approx(balls[1].rounding)


@both
def test_one_copy_is_the_space(space):
    power = Power(space, 1)
    points = points_of(space, 5)
    np.testing.assert_array_equal(
        power.coordinates(power.origin, points[:, None]), space.coordinates(space.origin, points)
    )
    assert power.curvature_bound == space.curvature_bound
    assert power.curvature_floor == space.curvature_floor
    assert power.constant_curvature == space.constant_curvature


@pytest.mark.parametrize(
    "manifold",
    [Power(space, 3) for space in SPACES]
    + [Power(Product(Sphere(2), Euclidean(1)), 2), Product(Power(Sphere(2), 2), Euclidean(1))],
    ids=str,
)
def test_everything_that_must_hold_of_a_manifold(manifold):
    check_part(manifold)
    assert decode(encode(manifold), "manifold") == manifold


def test_a_power_of_a_flat_space_is_flat():
    assert isinstance(Power(Euclidean(2), 3), FlatPower)
    assert isinstance(Power(FlatProduct(Euclidean(2), SPDLogEuclidean(2)), 3), FlatPower)
    assert isinstance(Power(Sphere(2), 3), CurvedPower)
    points = points_of(Power(SPDLogEuclidean(2), 3), 4)
    chart = Power(SPDLogEuclidean(2), 3).chart.to_chart(points)
    np.testing.assert_allclose(chart.reshape(4, 3, 3), SPDLogEuclidean(2).to_chart(points))


@pytest.mark.parametrize("name", ["exp", "log", "dist", "coordinates", "point"])
def test_no_loop_over_copies(monkeypatch, name):
    power, calls = Power(SPDAffineInvariant(2), 50), []
    kind = SPDAffineInvariant
    center, points = points_of(power, 1, 1, 0.1)[0], points_of(power, 3, 0, 0.1)
    second = {
        "exp": lambda: power.log(center, points),
        "point": lambda: power.coordinates(center, points),
    }.get(name, lambda: points)()
    original = getattr(kind, name)

    def noted(self, *arguments):
        calls.append(name)
        return original(self, *arguments)

    monkeypatch.setattr(kind, name, noted)
    getattr(power, name)(center, second)
    assert calls == [name]


def test_records_beyond_float64_cost_their_factor_or_record_alone():
    power = Power(SPDAffineInvariant(2), 3)
    points = points_of(power, 4)
    broken = points.copy()
    broken[2, 1] = np.diag([5e-324, 1.0])
    ball = ProductBall(power, np.eye(2), rms_radius=0.5)
    found, wanted = ball.project(broken), ball.project(points)
    assert np.all(ball.contains(found))
    assert np.delete(found, 2, axis=0).tobytes() == np.delete(wanted, 2, axis=0).tobytes()


def test_each_copy_is_clipped_about_its_own_centre():
    space = SPDAffineInvariant(2)
    centers = points_of(space, 3, 1)
    points = points_of(Power(space, 3), 5)
    broken = points.copy()
    broken[2, 1] = np.diag([5e-324, 1.0])
    wanted = space.clip(centers, points, 0.3)
    found = space.clip(centers, broken, 0.3)
    np.testing.assert_array_equal(found[2, 1], centers[1])
    found[2, 1] = wanted[2, 1]
    np.testing.assert_array_equal(found, wanted)


def test_bad_points_are_named_by_row_and_copy():
    power = Power(Sphere(2), 3)
    points = points_of(power, 4)
    points[2, 1] *= 1.1
    with pytest.raises(NotOnManifoldError, match=r"row \(2, 1\) does not have norm"):
        power.validate(points)
    with pytest.raises(NotOnManifoldError, match="shape"):
        power.validate(points[:, :2])
    points[2, 1] /= 1.1
    rough = points * 1.00003
    np.testing.assert_allclose(np.linalg.norm(power.validate(rough), axis=-1), 1.0, atol=1e-14)


def test_refusals():
    for build in (
        lambda: Power(3, 2),
        lambda: Power(Sphere(2), 0),
        lambda: Power(Sphere(2), 2.0),
        lambda: FlatPower(Sphere(2), 2),
        lambda: ProductBall(Sphere(2), [0, 0, 1], rms_radius=0.3),
        lambda: ProductBall(Power(Sphere(2), 2), [0, 0, 1]),
        lambda: ProductBall(Power(Sphere(2), 2), [0, 0, 1], rms_radius=-1.0),
    ):
        with pytest.raises(InvalidParameterError):
            build()
    with pytest.raises(UnsupportedBallError, match="injectivity radius"):
        ProductBall(Power(Sphere(2), 100), [0, 0, 1], rms_radius=0.4)


def test_the_radius_of_a_product_ball_grows_with_the_root_of_the_factors():
    center = np.diag([1.0, 2.0])
    ball = ProductBall(Power(SPDAffineInvariant(2), 9), center, rms_radius=0.5)
    assert ball.radius == pytest.approx(1.5)
    np.testing.assert_array_equal(ball.center, np.broadcast_to(center, (9, 2, 2)))
    product = Product(Euclidean(2), Hyperbolic(2))
    assert ProductBall(product, product.origin, rms_radius=0.5).radius == pytest.approx(
        0.5 * math.sqrt(2.0)
    )


def test_directions_of_curvature_lie_in_the_first_copy():
    found = Power(SPDAffineInvariant(2), 3).extreme_directions(np.stack([np.eye(2)] * 3))
    assert found.shape[1] == 9
    np.testing.assert_array_equal(found[:, 3:], 0.0)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
