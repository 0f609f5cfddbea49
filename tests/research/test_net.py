from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp.research._net import ball_net, nodes_for
from riemdp.spaces import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

CASES = [
    (Euclidean(1), 0.7),
    (Euclidean(2), 1.3),
    (Euclidean(3), 1.0),
    (SPDLogEuclidean(2), 2.0),
    (Sphere(1), 1.5),
    (Sphere(2), 0.8),
    (Sphere(2, 4.0), 1.4),
    (Sphere(3), 1.2),
    (Hyperbolic(2), 2.0),
    (Hyperbolic(3, -2.0), 1.0),
]


def _uniform(ball, rng, count):
    steps = rng.normal(size=(count, ball.manifold.dim))
    steps /= np.linalg.norm(steps, axis=-1, keepdims=True)
    return ball.point(ball.radius * rng.random((count, 1)) ** (1 / ball.manifold.dim) * steps)


@pytest.mark.fast(
    "60-Euclidean(dim=1)-0.7",
    "60-SPDLogEuclidean(k=2)-2.0",
    "60-Sphere(dim=2, curvature=4.0)-1.4",
    "600-Hyperbolic(dim=3, curvature=-2.0)-1.0",
)
@pytest.mark.parametrize(("manifold", "radius"), CASES, ids=str)
@pytest.mark.parametrize("nodes", [60, 600])
def test_every_point_has_a_node_within_the_covering_radius(manifold, radius, nodes):
    ball = Ball(manifold, manifold.origin, radius)
    net = ball_net(ball, nodes)
    assert 0.3 * nodes <= len(net.points) <= nodes
    assert np.all(ball.contains(net.points))
    points = _uniform(ball, np.random.default_rng(0), 3000)
    every = np.min(manifold.dist(points[:, None], net.points[None]), axis=1)
    assert every.max() <= net.covering_radius
    # not by a wide margin: a covering radius claimed to be 20 per cent smaller is refuted
    assert every.max() > 0.8 * net.covering_radius


@pytest.mark.fast(4)
@pytest.mark.parametrize(("manifold", "radius"), CASES, ids=str)
def test_nodes_are_quasi_uniform_and_cells_fill_the_ball(manifold, radius):
    net = ball_net(Ball(manifold, manifold.origin, radius), 500)
    size = len(net.points)
    apart = manifold.dist(net.points[:, None], net.points[None])[~np.eye(size, dtype=bool)]
    assert apart.min() > 0.5 * net.covering_radius
    volumes = {  # closed forms at curvature c, dimension by dimension
        Euclidean(1): 2 * radius,
        Euclidean(2): math.pi * radius**2,
        Euclidean(3): 4 / 3 * math.pi * radius**3,
        SPDLogEuclidean(2): 4 / 3 * math.pi * radius**3,
        Sphere(1): 2 * radius,
        Sphere(2): 2 * math.pi * (1 - math.cos(radius)),
        Sphere(2, 4.0): 2 * math.pi * (1 - math.cos(2 * radius)) / 4,
        Sphere(3): 2 * math.pi * (radius - 0.5 * math.sin(2 * radius)),
        Hyperbolic(2): 2 * math.pi * (math.cosh(radius) - 1),
        Hyperbolic(3, -2.0): 2
        * math.pi
        * (0.5 * math.sinh(2 * math.sqrt(2) * radius) - math.sqrt(2) * radius)
        / 2**1.5,
    }
    assert net.volumes.min() > 0
    assert math.fsum(net.volumes) == pytest.approx(volumes[manifold], rel=1e-9)


@pytest.mark.fast(4)
@pytest.mark.parametrize(("manifold", "radius"), CASES, ids=str)
def test_nearest_and_close_pairs_against_brute_force(manifold, radius):
    ball = Ball(manifold, manifold.origin, radius)
    net = ball_net(ball, 200)
    points = _uniform(ball, np.random.default_rng(1), 300).reshape(3, 100, *manifold.point_shape)
    dist = manifold.dist(points[..., None, *(slice(None),) * len(manifold.point_shape)], net.points)
    nearest = net.nearest(points)
    assert nearest.shape == (3, 100)
    got = np.take_along_axis(dist, nearest[..., None], axis=-1)[..., 0]
    np.testing.assert_allclose(got, dist.min(axis=-1), atol=1e-12)
    np.testing.assert_allclose(net.distances(points[0, 0]), dist[0, 0], atol=1e-12)
    reach = 2.3 * net.covering_radius
    first, second, apart = net.close_pairs(reach)
    full = manifold.dist(net.points[:, None], net.points[None])
    wanted = np.argwhere(np.triu(full <= reach, 1))
    pairs = {tuple(sorted(pair)) for pair in zip(first.tolist(), second.tolist(), strict=True)}
    assert pairs >= {tuple(pair) for pair in wanted.tolist()}
    assert len(pairs) == len(first)
    np.testing.assert_allclose(apart, full[first, second], atol=1e-12)


def test_points_that_contains_forgives_are_covered():
    ball = Ball(Euclidean(1), np.zeros(1), 1.0)
    net = ball_net(ball, 2000)
    outside = np.array([1.0 + 0.99e-9])
    assert ball.contains(outside)
    away = np.min(net.distances(outside))
    assert away <= net.covering_radius
    assert away > 1.0 / len(net.points) * (1 + 1e-9)  # the spacing alone does not cover it


def test_too_few_nodes_high_dimensions_and_varying_curvature_are_refused():
    with pytest.raises(InvalidParameterError, match="at least"):
        ball_net(Ball(Euclidean(3), np.zeros(3), 1.0), 5)
    with pytest.raises(InvalidParameterError, match="dimension 3"):
        ball_net(Ball(Euclidean(4), np.zeros(4), 1.0), 500)
    with pytest.raises(UnsupportedManifoldError):
        ball_net(Ball(SPDAffineInvariant(2), np.eye(2), 1.0), 500)


def test_estimated_number_of_nodes_reaches_the_spacing():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    needed = nodes_for(ball, 0.03)
    assert ball_net(ball, int(1.3 * needed)).covering_radius <= 0.03
    assert ball_net(ball, needed // 2).covering_radius > 0.03
