"""Draws in float64 on spaces of constant curvature."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp.noise import IsotropicLaw, RadialLaw
from riemdp.research import sample
from riemdp.research._isotropic import isotropic_vectors, polar_draws
from riemdp.research._polar import Geometry
from riemdp.spaces import Ball, Euclidean, Hyperbolic, Sphere

KINDS = ["laplace", "gaussian"]


def test_cap_of_far_rays_moves_nothing():
    # the bound in the code: beyond 2R + 40 the projected point is at rest
    geometry = Geometry(-1, 1.0)
    angle = np.linspace(1e-3, math.pi, 50)
    away = np.square(np.sin(0.5 * angle))
    near, far = (
        geometry.third_side(
            np.full(50, 8.0), np.full(50, 56.0 + more), np.sin(angle), 1 - away, away
        )
        for more in (0.0, 100.0)
    )
    assert np.all(near[0] > 8.0)
    np.testing.assert_allclose(near[1], far[1], atol=1e-15)
    np.testing.assert_allclose(near[2], far[2], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [1, 2, 7])
def test_isotropic_vectors(kind, dim, holds):
    law = RadialLaw(kind, dim, 0.0, 0.4)

    def pvalue(generator: np.random.Generator) -> float:
        vectors = isotropic_vectors(law, (100, 200), generator)
        assert vectors.shape == (100, 200, dim)
        flat = vectors.reshape(-1, dim)
        if kind == "gaussian":
            return scipy.stats.kstest(flat.ravel() / 0.4, "norm").pvalue
        return scipy.stats.kstest(np.linalg.norm(flat, axis=-1), law.cdf).pvalue

    assert holds(pvalue)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("manifold", "radius"),
    [(Euclidean(3), 1.0), (Sphere(1), 2.8), (Sphere(4, 2.0), 1.9), (Hyperbolic(2), 1.5)],
    ids=str,
)
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_polar_draws_are_those_of_the_law(kind, manifold, radius, share, holds):
    law = IsotropicLaw(kind, manifold, 0.3 if manifold.dim < 4 else 0.15)
    ball = Ball(manifold, manifold.origin, radius)
    coordinates = share * radius * (1 - 1e-12) * np.eye(manifold.dim)[0]
    foot, aside = ball.point(coordinates), ball.point(0.5 * radius * np.eye(manifold.dim)[-1])

    def pvalue(generator: np.random.Generator) -> float:
        side, direction = polar_draws(law, coordinates, ball, 10_000, generator)
        ours = ball.point(np.minimum(side, radius)[:, None] * direction)
        theirs = ball.project(sample(law, foot, 10_000, generator))
        # the boundary carries mass: round, so that its points tie in both samples
        return min(
            scipy.stats.ks_2samp(
                np.round(manifold.dist(z, ours), 6),
                np.round(manifold.dist(z, theirs), 6),
                method="asymp",
            ).pvalue
            for z in (foot, ball.center, aside)
        )

    assert holds(pvalue)
