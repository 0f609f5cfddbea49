"""Means against geomstats at equal tolerance, each from its own start; arrays pass as they are.

geomstats 2.8 needs NumPy 1: this file runs in an environment of its own (``make bench``).
"""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere, frechet_mean

pytest.importorskip("geomstats", exc_type=ImportError)

TOLERANCE = 1e-8


def peer_space(manifold):
    from geomstats.geometry.hyperboloid import Hyperboloid
    from geomstats.geometry.hypersphere import Hypersphere
    from geomstats.geometry.spd_matrices import (
        SPDAffineMetric,
        SPDLogEuclideanMetric,
        SPDMatrices,
    )

    if isinstance(manifold, Sphere):
        return Hypersphere(manifold.dim)
    if isinstance(manifold, Hyperbolic):
        return Hyperboloid(manifold.dim)
    space = SPDMatrices(manifold.k, equip=False)
    log_euclidean = isinstance(manifold, SPDLogEuclidean)
    space.equip_with_metric(SPDLogEuclideanMetric if log_euclidean else SPDAffineMetric)
    return space


def peer_estimator(manifold, method):
    """Both methods until the gradient is at most the tolerance; made outside the time taken."""
    from geomstats.learning.frechet_mean import FrechetMean

    # the default method compares |g|^2 with epsilon * dim, the adaptive one |g| with epsilon
    epsilon = TOLERANCE**2 / manifold.dim if method == "default" else TOLERANCE
    estimator = FrechetMean(peer_space(manifold), method=method)
    estimator.set(epsilon=epsilon, max_iter=500)
    return estimator


def points_in_ball(manifold, center, radius, n):
    """Uniform directions, radii as in a flat ball."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(n, manifold.dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= radius * rng.uniform(size=(n, 1)) ** (1.0 / manifold.dim)
    return manifold.exp(center, manifold.tangent_vector(center, vectors))


@pytest.mark.parametrize("n", [1000, 10_000, 100_000])
@pytest.mark.parametrize(("manifold", "radius"), [(Sphere(2), 0.7), (Hyperbolic(2), 1.0)], ids=str)
def test_means(report, manifold, radius, n):
    ball = Ball(manifold, np.eye(3)[0], radius)
    points = points_in_ball(manifold, ball.center, radius, n)

    def ours():
        return frechet_mean(manifold, points, ball=ball, tol=TOLERANCE).value

    for method in ("default", "adaptive"):
        estimator = peer_estimator(manifold, method)

        def peer(estimator=estimator):
            return estimator.fit(points).estimate_

        assert manifold.dist(ours(), peer()) < 10.0 * TOLERANCE
        rounds = {1000: 101, 10_000: 31, 100_000: 11}[n]
        mine, theirs = report.alternate(ours, peer, rounds=rounds)
        report.add(
            f"{type(manifold).__name__}(2) mean, n={n}, to {TOLERANCE:g} (geomstats in the "
            f"gradient, ours in the distance): geomstats, {method} method / ours",
            f"{1e3 * mine:.3g} ms",
            f"{1e3 * theirs:.3g} ms",
            theirs / mine,
            at_least=9.0,
        )


@pytest.mark.parametrize("manifold", [SPDLogEuclidean(9), SPDAffineInvariant(9)], ids=str)
def test_matrix_means(report, manifold):
    points = points_in_ball(manifold, np.eye(9), 2.0, 1000)
    estimator = peer_estimator(manifold, "default")

    def ours():
        return frechet_mean(manifold, points, tol=TOLERANCE).value

    def peer():
        return estimator.fit(points).estimate_

    assert manifold.dist(ours(), peer()) < 10.0 * TOLERANCE
    mine, theirs = report.alternate(ours, peer)
    report.add(
        f"{type(manifold).__name__}(9) mean, n=1000, to {TOLERANCE:g} (geomstats in the gradient, "
        "ours in the distance): geomstats / ours",
        f"{1e3 * mine:.3g} ms",
        f"{1e3 * theirs:.3g} ms",
        theirs / mine,
    )


@pytest.mark.parametrize(
    "manifold",
    [Sphere(2), Sphere(5), Hyperbolic(3), SPDLogEuclidean(3), SPDAffineInvariant(3)],
    ids=str,
)
def test_arrays_pass_unchanged(manifold):
    """Points and tangent vectors of either are those of the other, with the same metric."""
    space = peer_space(manifold)
    center = np.eye(manifold.point_shape[0])
    center = center if len(manifold.point_shape) == 2 else center[0]
    points = points_in_ball(manifold, center, 1.0, 20)
    assert np.all(space.belongs(points, atol=1e-10))
    manifold.validate(space.random_point(10))
    base, others = points[0], points[1:]
    vectors = manifold.log(base, others)
    np.testing.assert_allclose(space.metric.log(others, base), vectors, atol=1e-9)
    np.testing.assert_allclose(space.metric.exp(vectors, base), others, atol=1e-9)
    np.testing.assert_allclose(space.metric.dist(base, others), manifold.dist(base, others))
    np.testing.assert_allclose(
        space.metric.inner_product(vectors[0], vectors[1:], base),
        manifold.inner(base, vectors[0], vectors[1:]),
        atol=1e-9,
    )
