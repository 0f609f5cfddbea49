"""Noise of quotients: distances, privacy, and the law that must not be inferred."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial.transform import Rotation

from riemdp import (
    Ball,
    Euclidean,
    InvalidParameterError,
    PureDP,
    RiemannianGaussian,
    RiemannianLaplace,
    Torus,
    UnsupportedManifoldError,
    research,
)
from riemdp.auditing import audit, audit_sampler, footpoint_pair
from riemdp.noise import Family, Law, RadialLaw, _rules, family, potential, rule
from riemdp.privacy import GDP, GaussianCurve, LaplaceCurve
from riemdp.research import RestrictedLaplace
from riemdp.spaces import DiscreteQuotient, FlatManifold


class Ring(DiscreteQuotient):
    """Angles: the line, turn by turn."""

    dim = 1
    point_shape = (1,)
    injectivity_radius = math.pi
    cover = Euclidean(1)

    def lift(self, points):
        return np.asarray(points, dtype=float)

    def push(self, points):
        return np.mod(points, 2.0 * math.pi)

    def nearest(self, base, points):
        gap = np.asarray(points) - base
        return base + gap - 2.0 * math.pi * np.round(gap / (2.0 * math.pi))

    validate = lift


def angle_law(kind, sigma):
    """Distribution function of the angle: noise of both quaternions, on Haar measure."""
    grid = np.linspace(0.0, math.pi, 4001)
    energy = potential(kind).energy
    height = np.exp(-energy(grid / sigma)) + np.exp(-energy((2.0 * math.pi - grid) / sigma))
    mass = integrate.cumulative_simpson(height * (1.0 - np.cos(grid)), x=grid, initial=0.0)
    return lambda angle: np.interp(angle, grid, mass / mass[-1])


def angles(space, kind, sigma, seed):
    foot = Rotation.from_rotvec([1.0, 2.0, -1.5]).as_matrix()
    draws = research.sample(
        family(kind, space).law(sigma), foot, 20_000, np.random.default_rng(seed)
    )
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


def test_privacy_is_that_of_the_cover(rotations):
    space = rotations.SO3()
    for mechanism in (RiemannianLaplace, RiemannianGaussian):
        below, above = mechanism(space, 0.3), mechanism(space.cover, 0.3)
        assert below.privacy(0.2) == above.privacy(0.2)
        for distance in ("angle", "parametric"):
            assert below.rao(0.2, distance) == above.rao(0.2, distance)
        assert below.expected_distance() == above.expected_distance()
        assert below.proofs()["law on rotations.SO3"] == "docs/proofs/quotients.md"
    with pytest.raises(UnsupportedManifoldError):
        RestrictedLaplace(space, 0.3, ball=Ball(space, np.eye(3), 0.5))
    below, above = (family("gaussian", each) for each in (Torus(2), Euclidean(2)))
    assert below.mu_scale(0.2, 1.5) == above.mu_scale(0.2, 1.5) == pytest.approx(0.2 / 1.5)
    # distances below are shorter
    assert (
        np.mean(angles(space, "laplace", 3.0, 0))
        < RiemannianLaplace(space, 3.0).expected_distance()
    )


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_density_sums_over_both_quaternions(rotations, kind):
    space, sigma = rotations.SO3(), 1.5
    law = family(kind, space).law(sigma)
    axis = np.array([0.6, 0.0, 0.8])
    angle = np.linspace(0.0, math.pi, 4001)
    points = Rotation.from_rotvec(angle[:, None] * axis).as_matrix()
    density = np.exp(law.log_density(points, np.eye(3)))
    # the volume of SO(3) in polar coordinates: 4 pi (2 sin(t/2))^2
    volume = 4.0 * math.pi * np.square(2.0 * np.sin(0.5 * angle))
    assert integrate.simpson(density * volume, x=angle) == pytest.approx(1.0, rel=1e-6)
    one = np.exp(law.above.log_density(space.lift(points), space.lift(np.eye(3))))
    assert abs(integrate.simpson(one * volume, x=angle) - 1.0) > 0.01  # the control


def test_audits_of_quotients(rotations):
    space = rotations.SO3()
    mechanism = RiemannianLaplace(space, 0.8)
    pair = footpoint_pair(space, 0.4)
    generator = np.random.default_rng(0)
    found = audit(mechanism, *pair, PureDP(0.5), samples=4000, generator=generator)
    assert found.verdict != "violated"
    wrong = audit(mechanism, *pair, PureDP(0.1), samples=10_000, generator=generator)
    assert wrong.verdict == "violated"
    with pytest.raises(InvalidParameterError, match="exact one as law"):
        audit_sampler(mechanism, np.eye(3), samples=1000, generator=generator)

    class Angle:
        def quantile(self, q):
            grid = np.linspace(0.0, math.pi, 4001)
            return np.interp(q, angle_law("laplace", 0.8)(grid), grid)

    found = audit_sampler(mechanism, np.eye(3), samples=5000, law=Angle(), generator=generator)
    assert found.verdict != "violated"


def test_densities_of_infinite_orbits_are_refused():
    with pytest.raises(UnsupportedManifoldError, match="orbit"):
        family("laplace", Ring()).law(0.3).log_density([1.0], [2.0])


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


class Clipped(Law):
    """Noise on a line that is clipped to an interval: as private there as without."""

    def __init__(self, kind, manifold, sigma):
        self.kind, self.manifold, self.sigma = kind, manifold, sigma

    @property
    def radial(self):
        return RadialLaw(self.kind, 1, 0.0, self.sigma)

    def sample(self, footpoint, size=None, generator=None):
        draws = np.asarray(footpoint) + generator.normal(size=(size, 1)) * self.sigma
        return np.clip(draws, 1.0, 2.0 * math.pi - 1.0)


def test_noise_of_a_cover_that_isometries_do_not_keep_is_unproven(monkeypatch):
    monkeypatch.setattr(_rules, "_rules", dict(_rules._rules))

    class Line(FlatManifold):
        dim, point_shape = 1, (1,)
        proof = "https://example.org/line"

        def to_chart(self, points):
            return np.asarray(points, dtype=float)

        from_chart = validate = to_chart

    @rule("gaussian", Line)
    class ClippedFamily(Family):
        proof = "https://example.org/clipped"

        def law(self, sigma):
            return Clipped(self.kind, self.manifold, sigma)

        def curve(self, sigma, sensitivity):
            return GaussianCurve(sensitivity / sigma)

    class Circle(Ring):
        cover = Line()
        proof = "https://example.org/circle"

    assert RiemannianGaussian(Line(), 0.1).proven  # what it says of the line is true
    mechanism = RiemannianGaussian.calibrate(Circle(), 0.02, GDP(0.2))
    assert not mechanism.proven
    assert mechanism.proofs()["isometries under the noise of Line"] is None
    ends = [[0.01], [2.0 * math.pi - 0.01]]
    generator = np.random.default_rng(0)
    above = [research.sample(mechanism, end, 1000, generator) > math.pi for end in ends]
    assert abs(np.mean(above[0]) - np.mean(above[1])) > 0.9  # and of the circle false
    assert RiemannianGaussian(Ring(), 0.1)._family.invariance is not None


def test_a_mechanism_on_a_space_without_a_proof_has_none():
    assert RiemannianGaussian(Ring(), 0.3).proofs()["Ring"] is None
    assert not RiemannianGaussian(Ring(), 0.3).proven
