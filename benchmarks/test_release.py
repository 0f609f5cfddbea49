"""A private mean end to end beside the mean alone: what privacy costs in time."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    ApproxDP,
    Ball,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    frechet_mean,
    private_mean,
)


@pytest.mark.parametrize(
    "manifold",
    [Sphere(2), Hyperbolic(2), SPDLogEuclidean(9), SPDAffineInvariant(9)],
    ids=str,
)
def test_private_mean(report, benchmark, manifold):
    rng = np.random.default_rng(0)
    shape = manifold.point_shape
    center = np.eye(shape[0]) if len(shape) == 2 else np.eye(shape[0])[0]
    ball = Ball(manifold, center, 1.0)
    vectors = rng.normal(size=(2000, manifold.dim)) / (3.0 * np.sqrt(manifold.dim))
    points = ball.project(manifold.exp(center, manifold.tangent_vector(center, vectors)))
    budget = ApproxDP(1.0, 1e-6)

    def release():
        return private_mean(points, ball, budget)

    result = benchmark(release)
    assert ball.contains(result.value)
    ours, mean = report.alternate(
        release, lambda: frechet_mean(manifold, points, ball=ball, tol=1e-8), rounds=7
    )
    report.add(
        f"private_mean ({type(result.mechanism).__name__}) on {manifold}, n=2000 / frechet_mean",
        f"{1e3 * ours:.3g} ms",
        f"{1e3 * mean:.3g} ms",
        ours / mean,
    )
