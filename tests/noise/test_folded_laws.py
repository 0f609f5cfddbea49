"""Laws of noise on rotations, axes and angles, in both arithmetics, and what they hide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from riemdp import Ball, Euclidean, ProjectiveSpace, Rotations, Sphere, Torus, research
from riemdp.noise import RadialLaw, family, potential
from riemdp.noise.exact import Bits, FlatDraw, FoldedDraw, SpaceFormDraw
from riemdp.privacy import GaussianCurve

KINDS = ("laplace", "gaussian")
#: Space, and a narrow and a wide scale.
ANTIPODAL = [
    (Rotations(), 0.3),
    (Rotations(), 3.0),
    (ProjectiveSpace(2), 0.2),
    (ProjectiveSpace(2), 1.5),
    (ProjectiveSpace(1), 0.8),
    (ProjectiveSpace(4), 0.6),
]


def distance_law(kind, space, sigma):
    """Distribution function of the distance: noise of both representatives, on the volume."""
    end, power = space.cover.injectivity_radius, space.dim - 1
    grid = np.linspace(0.0, 0.5 * end, 4001)
    energy = potential(kind).energy
    height = np.exp(-energy(grid / sigma)) + np.exp(-energy((end - grid) / sigma))
    height = height * np.sin(math.pi * grid / end) ** power
    mass = integrate.cumulative_simpson(height, x=grid, initial=0.0)
    return lambda distance: np.interp(distance, grid, mass / mass[-1])


def drawn(space, kind, sigma, coordinates, size, *, seed, exact):
    """Points about one with these coordinates, and that point."""
    center = space.point(space.origin, np.full(space.dim, 0.2))
    ball = Ball(space, center, 0.99 * space.injectivity_radius)
    foot = ball.point(coordinates)
    law = family(kind, space).law(sigma)
    if not exact:
        return ball, foot, research.sample(law, foot, size, np.random.default_rng(seed))
    bits, draw = Bits(np.random.default_rng(seed)), law.exact_draw()
    rows = [draw.rounded(bits, coordinates, 40).values() for _ in range(size)]
    return ball, foot, ball.point(np.array(rows))


def check_distances(space, sigma, kind, size, *, exact):
    coordinates = np.zeros(space.dim)
    coordinates[0], coordinates[-1] = 0.9 * space.injectivity_radius, 0.1
    for seed in range(2):
        _, foot, points = drawn(space, kind, sigma, coordinates, size, seed=seed, exact=exact)
        found = space.dist(foot, points)
        if stats.kstest(found, distance_law(kind, space, sigma)).pvalue > 1e-4:
            break
    else:
        pytest.fail("the distances do not follow the law")
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("space", "sigma"), ANTIPODAL)
def test_distances_follow_the_folded_law(space, sigma, kind, exact):
    found = check_distances(space, sigma, kind, 400, exact=exact)
    if sigma > 1.0:  # the control: the law that curvature and injectivity radius alone suggest
        unfolded = RadialLaw(
            kind, space.dim, space.curvature_bound, sigma, space.injectivity_radius
        )
        assert np.max(np.abs(unfolded.cdf(found) - stats.rankdata(found) / 400)) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("space", "sigma"), ANTIPODAL)
def test_distances_follow_the_folded_law_in_many_draws(space, sigma, kind, exact):
    found = check_distances(space, sigma, kind, 5000, exact=exact)
    if sigma > 1.0:
        unfolded = RadialLaw(
            kind, space.dim, space.curvature_bound, sigma, space.injectivity_radius
        )
        assert stats.kstest(found, unfolded.cdf).pvalue < 1e-4


@pytest.mark.fast(1)
@pytest.mark.parametrize("kind", KINDS)
def test_both_arithmetics_draw_the_same(kind):
    """In all coordinates, about a point next to the cut locus of the centre."""
    for space, sigma in ((Rotations(), 1.0), (ProjectiveSpace(2), 0.5), (Torus(2), 1.0)):
        coordinates = np.zeros(space.dim)
        coordinates[0] = 0.95 * space.injectivity_radius
        ball, _, exact = drawn(space, kind, sigma, coordinates, 800, seed=0, exact=True)
        _, _, floats = drawn(space, kind, sigma, coordinates, 4000, seed=1, exact=False)
        first, second = ball.coordinates(exact), ball.coordinates(floats)
        for one, other in zip(first.T, second.T, strict=True):
            assert stats.ks_2samp(one, other).pvalue > 1e-4
        # the control: draws that are not folded
        bits, draw = Bits(np.random.default_rng(2)), family(kind, space).law(sigma).exact_draw()
        plain = [draw.above.rounded(bits, coordinates, 40).values()[0] for _ in range(800)]
        assert stats.ks_2samp(plain, second[:, 0]).pvalue < 1e-4


def wrapped_law(kind, dim, sigma):
    """Distribution function of one angle: the marginal law of the line, turn by turn."""
    turns = np.arange(-400, 401) * 2.0 * math.pi
    if kind == "gaussian":
        line = stats.norm(scale=sigma).cdf
    else:
        assert dim == 3  # the density is proportional to (1 + |x|/s) exp(-|x|/s)

        def line(x):
            size = np.abs(x) / sigma
            return 0.5 + np.sign(x) * (0.5 - 0.25 * (2.0 + size) * np.exp(-size))

    return lambda x: sum(line(x + t) - line(t - math.pi) for t in turns)


def check_angles(kind, sigma, size, *, exact):
    space = Torus(3)
    coordinates = np.array([2.0, -1.5, 0.3])
    ball, _, points = drawn(space, kind, sigma, coordinates, size, seed=0, exact=exact)
    foot = space.push(ball.center + coordinates)
    for angle in space.push(points - foot).T:
        assert stats.kstest(angle, wrapped_law(kind, 3, sigma)).pvalue > 1e-4
    return points - ball.center


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exact", [False, True])
def test_angles_follow_the_wrapped_law(kind, exact):
    check_angles(kind, 2.0, 400, exact=exact)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_angles_follow_the_wrapped_law_in_many_draws(kind, exact, sigma):
    check_angles(kind, sigma, 5000, exact=exact)


def test_exact_draws_are_those_of_the_cover():
    assert family("laplace", Rotations()).law(0.3).exact_draw() == FoldedDraw(
        Rotations(), SpaceFormDraw("laplace", 3, 0.25, 0.3)
    )
    assert family("gaussian", ProjectiveSpace(1)).law(0.3).exact_draw() == FoldedDraw(
        ProjectiveSpace(1), SpaceFormDraw("gaussian", 1, 1.0, 0.3)
    )
    assert family("gaussian", Torus(3)).law(0.3).exact_draw() == FoldedDraw(
        Torus(3), FlatDraw("gaussian", 3, 0.3)
    )


@pytest.mark.fast(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "space", [Rotations(), ProjectiveSpace(1), ProjectiveSpace(2), Torus(2)], ids=str
)
def test_draws_about_all_representatives_are_one_law(kind, space):
    """What they are about is a class: another representative of the footpoint changes nothing."""
    sigma, coordinates = 0.6 * space.injectivity_radius, np.zeros(space.dim)
    coordinates[0] = 0.4 * space.injectivity_radius
    other = coordinates.copy()
    other[0] -= 2.0 * space.injectivity_radius
    draw, bits = family(kind, space).law(sigma).exact_draw(), Bits(np.random.default_rng(3))
    first, second = (
        np.array([draw.rounded(bits, x, 40).values() for _ in range(600)])
        for x in (coordinates, other)
    )
    assert np.all(np.linalg.norm(first, axis=1) <= space.diameter + 1e-9)
    for one, two in zip(first.T, second.T, strict=True):
        assert stats.ks_2samp(one, two).pvalue > 1e-4
    # the control: those of the cover tell the two apart
    one, two = (
        [draw.above.rounded(bits, x, 40).values()[0] for _ in range(600)]
        for x in (coordinates, other)
    )
    assert stats.ks_2samp(one, two).pvalue < 1e-4


def hockey_stick(kind, sigma, distance, epsilon, *, folded):
    """Quadrature of delta at epsilon on the sphere, or on its axes."""
    size = 600
    heights, weights = np.polynomial.legendre.leggauss(size)
    azimuth = (np.arange(size) + 0.5) * math.pi / size  # half of it: the rest is the same
    across = np.sqrt(1.0 - heights**2)[:, None] * np.cos(azimuth)
    feet = [(0.0, 1.0), (math.sin(distance), math.cos(distance))]
    densities = []
    for x, z in feet:
        angle = np.arccos(np.clip(x * across + z * heights[:, None], -1.0, 1.0))
        height = np.exp(-potential(kind).energy(angle / sigma))
        if folded:
            height = height + np.exp(-potential(kind).energy((math.pi - angle) / sigma))
        densities.append(height)
    gap = np.maximum(densities[0] - math.exp(epsilon) * densities[1], 0.0)
    return float(weights @ gap.sum(axis=1) / (weights @ densities[0].sum(axis=1)))


@pytest.mark.fast(1)
@pytest.mark.parametrize("kind", KINDS)
def test_axes_hide_more_than_points_of_the_sphere(kind):
    for sigma, epsilon in ((0.3, 1.0), (0.8, 0.5), (0.8, 0.0), (2.0, 0.1)):
        sphere, axes = (
            hockey_stick(kind, sigma, 0.8, epsilon, folded=folded) for folded in (False, True)
        )
        assert axes <= sphere
        assert axes < 0.9 * sphere or sigma < 0.5
        curve = family(kind, ProjectiveSpace(2)).curve(sigma, 0.8)
        assert float(curve.delta_at(epsilon)) == pytest.approx(sphere, abs=5e-4)
        assert curve == family(kind, Sphere(2)).curve(sigma, 0.8)


def test_what_wide_noise_hides():
    assert hockey_stick("gaussian", 0.8, 0.8, 0.5, folded=True) == pytest.approx(0.0474, abs=2e-4)
    assert hockey_stick("gaussian", 0.8, 0.8, 0.5, folded=False) == pytest.approx(0.194, abs=2e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_of_angles_is_as_private_as_on_the_line(kind):
    space, sigma = Torus(3), 0.25
    curve, flat = (family(kind, s).curve(sigma, 0.1) for s in (space, Euclidean(3)))
    assert curve == flat
    if kind == "gaussian":
        assert curve == GaussianCurve(0.1 / sigma)
    else:
        assert curve.pure_epsilon() == pytest.approx(0.1 / sigma)


@pytest.mark.parametrize("sigma", [1e3, 1e12, 1e140])
def test_noise_of_many_turns_is_uniform(sigma):
    space = Torus(2)
    ball, coordinates = Ball(space, [3.0, -1.0], 3.1), np.array([2.0, -1.0])
    law = family("gaussian", space).law(sigma)
    floats = research.sample(law, ball.point(coordinates), 800, np.random.default_rng(0))
    bits, draw = Bits(np.random.default_rng(1)), law.exact_draw()
    exact = [draw.rounded(bits, coordinates, 40).values() for _ in range(200)]
    for angles in (*floats.T, *np.array(exact).T):
        assert stats.kstest(angles, stats.uniform(-math.pi, 2.0 * math.pi).cdf).pvalue > 1e-4
