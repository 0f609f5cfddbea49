"""Noise of shapes: that of the sphere of preshapes, whose turns nobody sees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from riemdp import Ball, PlanarShapes, RiemannianGaussian, RiemannianLaplace, research
from riemdp.noise import RadialLaw, family, potential

KINDS = pytest.mark.parametrize("kind", ["laplace", "gaussian"])
SIZES = pytest.mark.parametrize("k", [4, 6])


def configurations(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) + 1j * rng.normal(size=(n, k))


def law_of_the_distance(kind, k, sigma):
    """Distribution function of the distance in CP^(k-2) of noise on S^n, n = 2k - 3.

    A draw of the sphere at distance r, whose direction has the part u along the orbit, is
    arcsin(sin r sqrt(1 - u^2)) away, and 1 - u^2 has the law Beta((n - 1)/2, 1/2).
    """
    n = 2 * k - 3
    nodes, weights = np.polynomial.legendre.leggauss(400)
    r = 0.5 * math.pi * (nodes + 1.0)
    density = weights * np.exp(-potential(kind).energy(r / sigma)) * np.sin(r) ** (n - 1)
    density /= density.sum()

    def below(distance):
        share = np.minimum(np.square(np.sin(distance)[:, None] / np.sin(r)), 1.0)
        return stats.beta.cdf(share, 0.5 * (n - 1), 0.5) @ density

    grid = np.linspace(0.0, 0.5 * math.pi, 301)
    values = below(grid)
    return lambda distance: np.interp(distance, grid, values)


def agrees(distances, law):
    return stats.kstest(distances, law).pvalue > 1e-4


@SIZES
@KINDS
@pytest.mark.parametrize("sigma", [0.05, 0.2, 1.0])
def test_distances_follow_the_law_of_the_sphere_pushed_down(kind, k, sigma):
    space = PlanarShapes(k)
    foot = space.validate(configurations(1, k)[0])
    draws = research.sample(family(kind, space).law(sigma), foot, 5000, np.random.default_rng(0))
    found = space.dist(foot, draws)
    assert agrees(found, law_of_the_distance(kind, k, sigma))
    # the controls: the sphere's own law, that of another number of landmarks, another scale
    assert not agrees(found, RadialLaw(kind, 2 * k - 3, 1.0, sigma, math.pi).cdf)
    assert not agrees(found, law_of_the_distance(kind, k + 1, sigma))
    if sigma < 1.0:  # wide noise is nearly uniform
        assert not agrees(found, law_of_the_distance(kind, k, 1.1 * sigma))


def test_the_law_does_not_depend_on_what_stands_for_the_footpoint():
    space = PlanarShapes(4)
    foot = configurations(1, 4)[0]
    law = family("laplace", space).law(0.3)
    one, other = (
        research.sample(law, start, 200, np.random.default_rng(2))
        for start in (foot, 3j * foot + 5.0)
    )
    np.testing.assert_allclose(one, other, atol=1e-12)


def exact_distances(kind, space, sigma, size):
    """Distances of exact draws from their footpoint, for a public centre elsewhere."""
    ball = Ball(space, configurations(1, space.k)[0], 1.0)
    foot = np.random.default_rng(3).normal(size=space.dim)
    foot *= 0.5 / np.linalg.norm(foot)
    draw = family(kind, space).law(sigma).exact_draw(1.0)
    generator = np.random.default_rng(4)
    rounded = [draw.draw(tuple(foot), 50, generator=generator).values() for _ in range(size)]
    return space.dist(ball.point(foot), ball.point(np.array(rounded)))


@pytest.mark.parametrize("size", [500, pytest.param(5000, marks=pytest.mark.slow)])
@SIZES
@KINDS
@pytest.mark.fast("laplace-6-500")
def test_exact_draws_follow_the_law(kind, k, size):
    pytest.importorskip("flint")
    found = exact_distances(kind, PlanarShapes(k), 0.1, size)
    assert agrees(found, law_of_the_distance(kind, k, 0.1))
    assert not agrees(found, law_of_the_distance(kind, k, 0.13))


def test_privacy_is_that_of_the_sphere():
    space = PlanarShapes(4)
    for mechanism in (RiemannianLaplace, RiemannianGaussian):
        below, above = mechanism(space, 0.3), mechanism(space.cover, 0.3)
        assert below.privacy(0.2) == above.privacy(0.2)
        assert below.proven
        assert below.proofs()["PlanarShapes"] == "docs/proofs/quotients.md"
