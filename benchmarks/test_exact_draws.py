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
    research,
)
from riemdp.noise import secure_generator
from riemdp.noise.exact import default_grid

#: Space, scales of the Laplace and of the Gaussian law, and most milliseconds for a draw.
DRAWS = [
    (Euclidean(10), (1.0, 1.0), 1.0),
    (Euclidean(465), (1.0, 1.0), 20.0),
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
    foot = ball.point(footpoint)

    def exact():
        for _ in range(20):
            draw.draw(footpoint, grid, generator=generator)

    def float64():
        for _ in range(20):
            ball.project(research.sample(mechanism, foot, generator=generator))

    ours, theirs = (1e3 * seconds / 20 for seconds in report.alternate(exact, float64, rounds=7))
    report.add(
        f"exact draw of {kind.name} on {manifold}, sigma = {sigma:g} / in float64",
        f"{ours:.3g} ms",
        f"{theirs:.3g} ms",
        ours / theirs,
        at_most=limit,
        value=ours,
    )


#: Space, number of draws, and most times what float64 takes.
BATCHES = [
    (Euclidean(2), 10_000, 20.0),
    (Euclidean(465), 1000, 5.0),
    (Sphere(2), 10_000, 20.0),
    (Hyperbolic(2), 10_000, 20.0),
    (Sphere(10), 10_000, 25.0),
]


@pytest.mark.parametrize("kind", [RiemannianLaplace, RiemannianGaussian])
@pytest.mark.parametrize(("manifold", "count", "limit"), BATCHES, ids=str)
def test_many_draws(report, kind, manifold, count, limit):
    sigma = 0.1
    mechanism, ball = kind(manifold, sigma), Ball(manifold, manifold.origin, 1.0)
    draw, grid, generator = (
        mechanism.exact_draw(ball),
        default_grid(sigma),
        np.random.default_rng(0),
    )
    footpoint = np.zeros(manifold.dim)
    footpoint[0] = 0.3
    foot, some = ball.point(footpoint), count // 100

    def together():
        draw.draws(footpoint, grid, count, generator=generator)

    def float64():
        research.sample(mechanism, foot, count, generator=generator)

    def alone():
        for _ in range(some):
            draw.draw(footpoint, grid, generator=generator)

    name = f"{count} exact draws of {kind.name} on {manifold}, sigma = {sigma:g}"
    ours, theirs = (1e6 * s / count for s in report.alternate(together, float64, rounds=7))
    if kind is RiemannianLaplace and manifold == Euclidean(465):
        limit = None  # 64 bits of each of 931 uniform variables, and one of their logarithms
    report.add(
        f"{name} / in float64",
        f"{ours:.3g} us a draw",
        f"{theirs:.3g} us",
        ours / theirs,
        at_most=limit,
    )
    ours, theirs = report.alternate(together, alone)
    ours, theirs = 1e6 * ours / count, 1e6 * theirs / some
    report.add(
        f"one by one / {name}",
        f"{ours:.3g} us a draw",
        f"{theirs:.3g} us",
        theirs / ours,
        at_least=15.0 if manifold == Euclidean(465) else 20.0,
    )
