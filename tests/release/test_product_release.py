"""Releases on products and powers, from exact draws to documents."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    GDP,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    Power,
    Product,
    ProductBall,
    PureDP,
    Release,
    SPDAffineInvariant,
    Sphere,
    UnsupportedBallError,
    plan,
    private_ball,
    private_mean,
    verify,
)

MIXED = Product(Sphere(2), Hyperbolic(2), Euclidean(1))
BALLS = {
    "whole": ProductBall(Power(Sphere(2), 2), [0.0, 0.0, 1.0], rms_radius=0.3),
    "box": ProductBall(Power(Sphere(2), 2), [0.0, 0.0, 1.0], radii=(0.3, 0.5)),
    "both": ProductBall(MIXED, MIXED.origin, radii=0.6, rms_radius=0.4),
    "flat": ProductBall(Power(Euclidean(2), 3), [0.0, 0.0], radii=(0.3, 0.4, 0.5)),
}


def slow(name):
    return pytest.param(name, marks=pytest.mark.slow)


FACTORWISE = ["riemannian-gaussian", "riemannian-laplace"]


def points_of(ball, n=20):
    return ball.point(0.3 * np.random.default_rng(0).normal(size=(n, ball.manifold.dim)))


@pytest.mark.parametrize("name", ["box", "flat", *map(slow, ("whole", "both"))])
@pytest.mark.parametrize("mechanism", [*FACTORWISE, "wrapped-gaussian", "tangent-laplace"])
def test_releases_are_exact_and_come_back_from_documents(name, mechanism):
    ball, rng = BALLS[name], np.random.default_rng(1)
    budget = PureDP(1.0) if mechanism.endswith("laplace") else GDP(1.0)
    release = private_mean(points_of(ball), ball, budget, mechanism=mechanism, generator=rng)
    assert release.proven
    assert release.rounded is not None
    again = Release.from_json(release.to_json())
    assert again.ball == ball
    checks = {check.name: check.passed for check in verify(again).checks}
    assert all(checks.values())
    boxed = name != "whole"
    assert ("BoxBall" in release.proofs) == boxed
    if boxed:  # the control: with other radii nothing fits
        other = release.to_json().replace('"radii"', '"radios"')
        with pytest.raises(InvalidParameterError, match="radi"):
            Release.from_json(other)


@pytest.mark.parametrize("name", [*map(slow, ("whole", "both")), "box"])
def test_a_record_counts_and_its_place_does_not(name):
    ball = BALLS[name]
    points = points_of(ball)

    def released(rows):
        generator = np.random.default_rng(2)
        return private_mean(
            rows, ball, GDP(1e6), mechanism="riemannian-gaussian", generator=generator
        ).value

    value = released(points)
    np.testing.assert_allclose(released(points[::-1]), value, atol=1e-6)
    extreme = points.copy()
    extreme[3] = ball.manifold.point(ball.center, np.full(ball.manifold.dim, 1.2))
    moved = ball.manifold.dist(released(extreme), value)
    assert 1e-4 < moved < 2.0 * ball.radius
    one = released(points[:1])
    assert ball.manifold.dist(one, ball.project(points[:1])[0]) < 1e-3


@pytest.mark.parametrize("mechanism", [*FACTORWISE, "wrapped-gaussian", "tangent-gaussian"])
@pytest.mark.parametrize("space", [Sphere(2), Euclidean(2)], ids=str)
def test_one_copy_is_released_as_the_space_is(space, mechanism, projecting):
    projecting(False)
    power = Power(space, 1)
    ball = ProductBall(power, space.origin, rms_radius=0.5)
    points = points_of(ball)
    budget = PureDP(1.0) if mechanism.endswith("laplace") else GDP(1.0)
    values = [
        private_mean(
            rows,
            around,
            budget,
            mechanism=mechanism,
            generator=np.random.default_rng(3),
        )
        for rows, around in ((points, ball), (points[:, 0], alone(ball)))
    ]
    assert values[0].mechanism.sigma == pytest.approx(values[1].mechanism.sigma, rel=2e-4)
    far = power.dist(values[0].value, values[1].value[None])
    assert far < 1e-3


def alone(ball):
    """The ball of the only factor."""
    return type(ball)(ball.manifold.space, ball.center[0], ball.radius)


def test_plans_of_many_matrices():
    power = Power(SPDAffineInvariant(3), 1000)
    rows = {row.mechanism: row for row in plan(power, 8.0, 500, GDP(1.0)).rows}
    best = rows["riemannian-gaussian"]
    assert best.expected_distance < rows["tangent-gaussian"].expected_distance
    # noise of one factor grows with the root of their number, at one radius for each
    wanted = 2.0 * 8.0 / 500 * math.sqrt(6000)
    assert best.expected_distance == pytest.approx(wanted, rel=0.05)


def test_laplace_noise_ranks_by_its_error():
    power = Power(Sphere(2), 3)
    rows = {row.mechanism: row for row in plan(power, 0.5, 100, PureDP(1.0)).rows}
    assert rows["riemannian-laplace"].sigma > rows["tangent-laplace"].sigma
    assert rows["riemannian-laplace"].expected_distance > 0.0
    release = private_mean(
        points_of(BALLS["whole"]), BALLS["whole"], PureDP(1.0), generator=np.random.default_rng(0)
    )
    assert release.mechanism.name == "tangent-laplace"


def test_a_search_needs_one_ball():
    ball = BALLS["box"]
    with pytest.raises(UnsupportedBallError, match="rms_radius alone"):
        private_ball(points_of(ball, 200), ball, PureDP(0.5))
