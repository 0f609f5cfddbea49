"""Noise of quotients: distances, privacy, and the law that must not be inferred."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial.transform import Rotation

from riemdp import Ball, RiemannianGaussian, RiemannianLaplace, UnsupportedManifoldError
from riemdp.noise import RadialLaw, family, potential
from riemdp.privacy import LaplaceCurve


def angle_law(kind, sigma):
    """Distribution function of the angle: noise of both quaternions, on Haar measure."""
    grid = np.linspace(0.0, math.pi, 4001)
    energy = potential(kind).energy
    height = np.exp(-energy(grid / sigma)) + np.exp(-energy((2.0 * math.pi - grid) / sigma))
    mass = integrate.cumulative_simpson(height * (1.0 - np.cos(grid)), x=grid, initial=0.0)
    return lambda angle: np.interp(angle, grid, mass / mass[-1])


def angles(space, kind, sigma, seed):
    foot = Rotation.from_rotvec([1.0, 2.0, -1.5]).as_matrix()
    draws = family(kind, space).law(sigma).sample(foot, 20_000, np.random.default_rng(seed))
    return space.dist(foot, draws)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("sigma", [0.2, 1.0, 3.0])
def test_distances_follow_the_law_of_the_angle(rotations, kind, sigma):
    space = rotations.SO3()
    for seed in range(2):
        found = angles(space, kind, sigma, seed)
        if stats.kstest(found, angle_law(kind, sigma)).pvalue > 1e-4:
            break
    else:
        pytest.fail("the angles do not follow the law")
    # the law that was inferred from dimension, curvature and injectivity radius; narrow Gaussian
    # noise does not get round
    if sigma >= (1.0 if kind == "laplace" else 3.0):
        inferred = RadialLaw(kind, 3, 0.25, sigma, math.pi)
        assert stats.kstest(found, inferred.cdf).pvalue < 1e-9


def test_draws_in_a_ball_follow_the_projected_law(rotations):
    space, sigma = rotations.SO3(), 1.0
    ball = Ball(space, np.eye(3), 1.4)
    law = family("laplace", space).law(sigma)
    foot = np.array([1.0, 0.2, -0.3])
    coordinates = np.tile(foot, (20_000, 1))
    generator = np.random.default_rng(0)
    polar = law.sample_from_coordinates(coordinates, ball, generator=generator)
    plain = ball.project(law.sample(ball.point(foot), 20_000, generator))
    assert np.all(ball.contains(polar))
    # the same law about other representatives: projected in the quotient, not in the cover
    for chart in (lambda x: space.dist(np.eye(3), x), lambda x: ball.coordinates(x) @ foot):
        assert stats.ks_2samp(chart(polar), chart(plain)).pvalue > 1e-4
    above = family("laplace", space.cover).law(sigma)
    wrong = space.push(
        above.sample_from_coordinates(coordinates, space.lifted(ball), generator=generator)
    )
    assert (
        stats.ks_2samp(ball.coordinates(wrong) @ foot, ball.coordinates(plain) @ foot).pvalue < 1e-6
    )


def test_privacy_is_that_of_the_cover(rotations):
    space = rotations.SO3()
    for mechanism in (RiemannianLaplace, RiemannianGaussian):
        below, above = mechanism(space, 0.3), mechanism(space.cover, 0.3)
        assert below.privacy(0.2) == above.privacy(0.2)
        for distance in ("angle", "parametric"):
            assert below.rao(0.2, distance) == above.rao(0.2, distance)
        assert below.expected_distance() == above.expected_distance()
        assert below.proofs()["law on rotations.SO3"] == "docs/proofs/quotients.md"
        with pytest.raises(UnsupportedManifoldError, match="density"):
            below.log_density(np.eye(3), np.eye(3))
    with pytest.raises(UnsupportedManifoldError):
        RiemannianLaplace(space, 0.3, ball=Ball(space, np.eye(3), 0.5))
    # distances below are shorter
    assert (
        np.mean(angles(space, "laplace", 3.0, 0))
        < RiemannianLaplace(space, 3.0).expected_distance()
    )


def test_wrapped_noise_keeps_to_the_curve_of_the_line():
    sigma, sensitivity = 1.0, 0.5
    grid = np.linspace(0.0, 2.0 * math.pi, 20_001)

    def density(foot):
        turns = np.arange(-60, 61)[:, None] * 2.0 * math.pi
        return np.sum(np.exp(-np.abs(grid - foot + turns) / sigma), axis=0) / (2.0 * sigma)

    first, second = density(3.0), density(3.0 + sensitivity)
    curve = LaplaceCurve(sensitivity / sigma)
    for epsilon in (0.0, 0.1, 0.2, 0.3, 0.45):
        delta = integrate.simpson(np.maximum(first - math.exp(epsilon) * second, 0.0), x=grid)
        assert delta <= float(curve.delta_at(epsilon)) + 1e-6
    # the control: half the sensitivity would not do
    half = LaplaceCurve(0.5 * sensitivity / sigma)
    delta = integrate.simpson(np.maximum(first - second, 0.0), x=grid)
    assert delta > float(half.delta_at(0.0)) + 0.01
