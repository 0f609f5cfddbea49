"""Means of products whose factors are clipped each in its own ball."""

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
    ProductBall,
    SPDAffineInvariant,
    Sphere,
    UnsupportedBallError,
    frechet_mean_sensitivity,
    tangent_mean_sensitivity,
)
from riemdp.statistics import FrechetMean, TangentMean, answer, log_stretch


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    return np.array(answer(next(FrechetMean().queries(ball)), ball, data, tol), dtype=float)


RADIUS = 0.4


def spheres(copies):
    power = Power(Sphere(2), copies)
    return power, ProductBall(power, [0.0, 0.0, 1.0], radii=RADIUS)


def move(ball, first, second):
    """Distance of the means of two data sets, given by coordinates."""
    means = [ball.point(certified(ball, ball.point(rows), 1e-9)) for rows in (first, second)]
    return float(ball.manifold.dist(*means))


def across(n, copies):
    """One record that crosses every ball while the others lie on both sides of its way."""
    rows = np.zeros((n, copies, 2))
    rows[1:, :, 1] = RADIUS * (-1.0) ** np.arange(n - 1)[:, None]
    rows[0, :, 0] = RADIUS
    others = rows.copy()
    others[0, :, 0] = -RADIUS
    return rows.reshape(n, -1), others.reshape(n, -1)


@pytest.mark.parametrize("copies", [1, 4, 25])
def test_spheres_reach_the_root_of_their_number(copies):
    n = 401
    _, ball = spheres(copies)
    claimed = frechet_mean_sensitivity(ball, n)
    assert claimed == pytest.approx(math.sqrt(copies) * 2.0 * math.tan(RADIUS) / n)
    assert claimed >= math.sqrt(copies) * 2.0 * math.tan(RADIUS) / n
    found = move(ball, *across(n, copies))
    assert 0.99 * claimed <= found <= claimed * (1.0 + 1e-6)
    # controls: the flat constant, and that of balls half as large
    assert found > math.sqrt(copies) * 2.0 * RADIUS / n
    half = ProductBall(ball.manifold, ball.center, radii=0.5 * RADIUS)
    assert found > frechet_mean_sensitivity(half, n)


@pytest.mark.parametrize("n", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3))])
def test_no_search_exceeds_it(n):
    manifold = Product(Sphere(2), Hyperbolic(2), Euclidean(1))
    radii, rng = (0.6, 0.8, 0.3), np.random.default_rng(n)
    boxes = [
        ProductBall(manifold, manifold.origin, radii=radii),
        ProductBall(manifold, manifold.origin, radii=radii, rms_radius=0.4),
    ]
    for ball in boxes:
        claimed, largest = frechet_mean_sensitivity(ball, n), 0.0
        for _ in range(40):
            first = ball.coordinates(ball.point(rng.normal(size=(n, 5))))
            second = first.copy()
            second[0] = ball.coordinates(ball.point(-2.0 * first[:1]))[0]
            largest = max(largest, move(ball, first, second))
        assert largest <= claimed * (1.0 + 1e-6)
        assert largest > 0.7 * claimed  # the control: 0.7 times it is none


def test_both_bounds_hold_where_both_are_known():
    power = Power(SPDAffineInvariant(2), 9)
    only = ProductBall(power, np.eye(2), radii=0.8)
    assert frechet_mean_sensitivity(only, 10) == pytest.approx(2.0 * 0.8 * 3.0 / 10)
    cut = ProductBall(power, np.eye(2), radii=0.8, rms_radius=0.3)
    whole = Ball(power, cut.center, cut.radius)
    assert frechet_mean_sensitivity(cut, 10) == frechet_mean_sensitivity(whole, 10)
    assert tangent_mean_sensitivity(cut, 10) == tangent_mean_sensitivity(whole, 10)
    one = ProductBall(Power(SPDAffineInvariant(2), 1), np.eye(2), radii=0.8)
    alone = Ball(SPDAffineInvariant(2), np.eye(2), 0.8)
    for sensitivity in (frechet_mean_sensitivity, tangent_mean_sensitivity):
        assert sensitivity(one, 10) == pytest.approx(sensitivity(alone, 10))
    power, _ = spheres(9)
    cut = ProductBall(power, power.origin, radii=1.2, rms_radius=0.2)
    assert frechet_mean_sensitivity(cut, 10) == pytest.approx(2.0 * math.tan(0.6) / 10)
    far = ProductBall(power, power.origin, radii=0.3, rms_radius=0.9)
    assert frechet_mean_sensitivity(far, 10) == pytest.approx(3.0 * 2.0 * math.tan(0.3) / 10)


@pytest.mark.parametrize("options", [{}, {"rms_radius": 0.4}], ids=["box", "cut"])
def test_tangent_means_move_as_far_as_the_ball_lets_all_factors(options, sums):
    manifold = Product(Sphere(2), Hyperbolic(2), Euclidean(1))
    ball = ProductBall(manifold, manifold.origin, radii=(0.6, 0.8, 0.3), **options)
    query = next(TangentMean().queries(ball))
    stated = query.replace_one(ball, 2, "coordinates")
    assert stated == pytest.approx(tangent_mean_sensitivity(ball, 2), rel=1e-12)
    rows = np.random.default_rng(0).choice([-9.0, 9.0], size=(4, 5)) * [1.0, 0.0, 1.0, 0.0, 1.0]
    points = manifold.point(manifold.origin, 0.3 * np.concatenate([rows, -rows]))
    assert 0.99 < sums.worst_of(query, ball, points) <= 1


def test_tangent_means_and_stretches():
    manifold = Product(Sphere(2), Hyperbolic(2))
    ball = ProductBall(manifold, manifold.origin, radii=(1.0, 2.0))
    assert tangent_mean_sensitivity(ball, 10) == pytest.approx(2.0 * math.hypot(1.0, 2.0) / 10)
    assert log_stretch(ball) == pytest.approx(1.0 / math.sin(1.0))
    assert log_stretch(Ball(manifold, manifold.origin, 2.0)) > 2.0  # the control


def test_every_factor_has_to_leave_room_for_a_certificate():
    power = Power(Sphere(2), 3)
    near = ProductBall(power, power.origin, radii=(0.4, 1.57, 0.4))
    assert math.isfinite(frechet_mean_sensitivity(near, 10))
    with pytest.raises(UnsupportedBallError, match="too near"):
        next(FrechetMean().queries(near))
    # the control: all factors together are farther than that, each is not
    wide = ProductBall(power, power.origin, radii=1.0)
    assert wide.reach > 1.57
    query = next(FrechetMean().queries(wide))
    assert query.replace_one(wide, 10, "distance") == frechet_mean_sensitivity(wide, 10)


def test_every_factor_needs_a_small_ball():
    power = Power(Sphere(2), 3)
    ball = ProductBall(power, power.origin, radii=(0.4, 1.6, 0.4))
    with pytest.raises(UnsupportedBallError, match="Fréchet mean to be unique"):
        frechet_mean_sensitivity(ball, 10)
    assert tangent_mean_sensitivity(ball, 10) > 0.3
