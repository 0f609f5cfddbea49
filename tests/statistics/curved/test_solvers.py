"""The solvers of our spaces: chunks make the whole, and clip as the ball does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Grassmann,
    Hyperbolic,
    PlanarShapes,
    Power,
    ProductBall,
    Rotations,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
    frechet_mean,
)
from riemdp.spaces import Product
from riemdp.statistics import FrechetMean, Prepared, TangentMean, answer


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    query = next(FrechetMean().queries(ball))
    return np.array(answer(query, ball, data, tol), dtype=float)


SPACES = [
    Euclidean(3),
    Sphere(1),
    Sphere(2),
    Hyperbolic(2),
    SPDLogEuclidean(2),
    SPDAffineInvariant(1),
    SPDAffineInvariant(2),
]


def records(ball, n, length):
    manifold = ball.manifold
    vectors = np.random.default_rng(1).normal(size=(n, manifold.dim))
    vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
    return manifold.validate(
        manifold.exp(ball.center, manifold.tangent_vector(ball.center, vectors))
    )


@pytest.mark.parametrize("manifold", SPACES, ids=str)
@pytest.mark.parametrize("statistic", [FrechetMean(), TangentMean()], ids=lambda s: s.name)
def test_chunks_make_the_whole(manifold, statistic):
    ball = Ball(manifold, manifold.origin, 0.6)
    points = np.concatenate([records(ball, 7, 0.4), records(ball, 6, 0.9)])
    query = next(statistic.queries(ball))
    first, second = (Prepared(ball, part).summary(query) for part in (points[:5], points[5:]))
    found = query.finish(ball, query.merge(first, second), 1e-9)
    assert found == answer(query, ball, points, 1e-9)
    assert len(found) == manifold.dim
    assert np.linalg.norm(np.array(found, dtype=float)) <= ball.radius


@pytest.mark.parametrize("manifold", SPACES, ids=str)
@pytest.mark.parametrize("statistic", [FrechetMean(), TangentMean()], ids=lambda s: s.name)
def test_they_clip_as_the_ball_does(manifold, statistic):
    ball = Ball(manifold, manifold.origin, 0.6)
    far = np.concatenate([records(ball, 4, 0.9), records(ball, 3, 0.5)])
    found = [
        np.array(answer(next(statistic.queries(ball)), ball, points, 1e-9), dtype=float)
        for points in (far, ball.project(far))
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_records_of_a_product_are_clipped_as_a_whole():
    manifold = Product(Euclidean(1), Euclidean(1))
    ball = Ball(manifold, manifold.origin, 1.0)
    mean = certified(ball, [[0.9, 0.9], [0.0, 0.0]], 1e-9)
    np.testing.assert_allclose(mean, math.sqrt(0.125), atol=1e-9)


@pytest.mark.parametrize(
    "manifold",
    [
        Product(Sphere(2), SPDLogEuclidean(2), Hyperbolic(2)),
        Product(PlanarShapes(4), Grassmann(2, 4)),
        Power(Rotations(), 4),
    ],
    ids=str,
)
def test_means_of_products_are_certified(manifold):
    random = np.random.default_rng(3)
    ball = ProductBall(manifold, manifold.origin, radii=0.5)
    points = ball.project(ball.point(0.4 * random.normal(size=(40, manifold.dim))))
    weights = random.uniform(size=40)
    for given, tol in ((None, 1e-10), (weights, 1e-7)):
        found = frechet_mean(manifold, points, given, ball=ball, tol=tol)
        assert found.error_bound <= tol
        # the gradient vanishes there, and an error of the bound's size would be seen
        seen = manifold.coordinates(found.value, points)
        assert np.linalg.norm(np.average(seen, axis=0, weights=given)) <= 2.0 * tol
    with pytest.raises(UnsupportedBallError, match="row 0 lies outside the ball"):
        frechet_mean(manifold, points, ball=Ball(manifold, manifold.origin, 0.01))
    with pytest.raises(UnsupportedBallError, match="only inside a ball"):
        frechet_mean(manifold, points)
