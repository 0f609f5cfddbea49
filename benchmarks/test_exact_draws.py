"""Exact draws beside those in float64: what privacy in the bits costs in time."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    Sphere,
)
from riemdp.noise import secure_generator
from riemdp.noise.exact import default_grid

#: Space, scales of the Laplace and of the Gaussian law, and most milliseconds for a draw.
DRAWS = [
    (Euclidean(10), (1.0, 1.0), 1.0),
    (Euclidean(465), (1.0, 1.0), 40.0),
    (Sphere(2), (0.3, 0.3), 0.3),
    (Hyperbolic(2), (0.3, 0.3), 0.3),
    (Sphere(10), (0.1, 0.3), 1.0),
    (Hyperbolic(10), (0.05, 0.3), 1.0),
    (SPDAffineInvariant(3), (0.3, 0.3), 2.0),
    (SPDAffineInvariant(10), (0.06, 0.3), 10.0),
]


@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
@pytest.mark.parametrize(("manifold", "scales", "limit"), DRAWS, ids=str)
def test_draws(report, kind, manifold, scales, limit):
    sigma = scales[kind is RiemannianGaussian]
    mechanism, ball = kind(manifold, sigma), Ball(manifold, manifold.origin, 1.0)
    draw, grid, generator = mechanism.exact_draw(ball), default_grid(sigma), secure_generator()
    footpoint = np.sin(1.0 + np.arange(manifold.dim))
    footpoint *= 0.3 / np.linalg.norm(footpoint)

    def exact():
        for _ in range(20):
            draw.draw(footpoint, grid, generator=generator)

    def float64():
        for _ in range(20):
            mechanism.sample_from_coordinates(footpoint, ball, generator)

    ours, theirs = (1e3 * seconds / 20 for seconds in report.alternate(exact, float64, rounds=7))
    report.add(
        f"exact draw of {kind.name} on {manifold}, sigma = {sigma:g} / in float64",
        f"{ours:.3g} ms",
        f"{theirs:.3g} ms",
        ours / theirs,
        at_most=limit,
        value=ours,
    )
