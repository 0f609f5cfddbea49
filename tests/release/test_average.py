"""Noisy answers of several sites are averaged before projection, where that can be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    PureDP,
    Sphere,
    combine,
    private_mean,
)
from riemdp.release._combine import _mean_square
from riemdp.release._offer import wanted_mean
from riemdp.release._run import Options, prepared

SPHERE = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)


def points(ball, n=40, seed=0, shift=0.2):
    rows = np.random.default_rng(seed).normal(shift, 0.15, (n, ball.manifold.dim))
    return ball.point(rows * min(1.0, ball.radius))


def drawing(ball, budget, mechanism, n=40, seed=1, **options):
    """Return what draws releases of the same records, each with noise of its own."""
    ready = prepared(
        wanted_mean,
        np.resize(points(ball), (n, *ball.manifold.point_shape)),
        ball,
        budget,
        Options(
            mechanism=mechanism,
            generator=np.random.default_rng(seed),
            accountant=None,
            **({"allow_unproven": False} | options),
        ),
    )
    return ready.release


def test_the_mean_square_of_a_length_follows_from_its_quantiles():
    laplace = drawing(SPHERE, PureDP(2.0), "riemannian-laplace")().mechanism
    assert _mean_square(laplace.error_quantile) == pytest.approx(
        laplace._distance_law.mean_square(), rel=1e-6
    )
    assert _mean_square(lambda q: -math.log1p(-q)) == pytest.approx(2.0, rel=1e-6)
    assert _mean_square(lambda _: 3.0) == pytest.approx(9.0, rel=1e-12)


def test_draws_are_averaged_before_projection(projecting):
    projecting(True)
    ball = Ball(Euclidean(2), [0.0, 0.0], 0.5)
    edge = np.full((20, 2), [0.5, 0.0])
    releases = [private_mean(edge, ball, PureDP(0.2), mechanism="tangent-laplace")
                for _ in range(4)]  # fmt: skip
    free = [np.array(r.rounded) * 2.0**-r.grid for r in releases]
    found = combine(releases)
    np.testing.assert_allclose(found.value, np.mean(free, axis=0), atol=1e-12)
    assert not any("projected" in warning for warning in found.warnings)


def test_points_too_far_apart_are_averaged_as_they_were_released(projecting):
    projecting(True)
    draw = drawing(SPHERE, PureDP(0.05), "riemannian-laplace")
    for _ in range(20):
        releases = [draw() for _ in range(3)]
        found = combine(releases)
        far = max(np.linalg.norm(np.array(r.rounded) * 2.0**-r.grid) for r in releases)
        if far > math.pi / 2:
            break
    assert far > math.pi / 2
    assert sum("projected" in warning for warning in found.warnings) == 3
    assert SPHERE.contains(found.value)
