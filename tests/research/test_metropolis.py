from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from scipy import integrate, stats

from riemdp import GDP, ApproxDP, PureDP, RiemannianGaussian, RiemannianLaplace
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    UnsupportedManifoldError,
)
from riemdp.auditing import audit
from riemdp.noise import RadialLaw, secure_generator
from riemdp.noise._isotropic import IsotropicLaw
from riemdp.privacy import PureCurve
from riemdp.research import Metropolis, sample
from riemdp.spaces import (
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

SPACES = [
    (Sphere(1), 2.0),
    (Sphere(2), 0.5),
    (Sphere(2, 4.0), 1.5),
    (Sphere(9), 0.3),
    (Hyperbolic(2), 0.6),
    (Hyperbolic(3, -2.0), 0.2),
    (Euclidean(3), 1.0),
    (SPDLogEuclidean(2), 0.4),
]


def radial_law(kind, manifold, sigma):
    return RadialLaw(
        kind, manifold.dim, manifold.constant_curvature, sigma, manifold.injectivity_radius
    )


def away(manifold, distance):
    step = np.zeros(manifold.dim)
    step[0] = distance
    return manifold.exp(manifold.origin, manifold.tangent_vector(manifold.origin, step))


def pvalue(law, steps, size, foot, generator):
    """Of a chain that starts at the footpoint."""
    chain = Metropolis(law.manifold, law.sigma, law.kind, steps=steps)
    distance = law.manifold.dist(foot, chain.sample(foot, size, generator))
    return scipy.stats.kstest(distance, law.radial.cdf).pvalue


def stationary_pvalue(chain, size, foot, generator):
    """Of the distance after one step from exact draws."""
    manifold = chain.manifold
    before = sample(IsotropicLaw(chain.kind, manifold, chain.sigma), foot, size, generator)
    after = chain._step(foot, before, generator)
    cdf = radial_law(chain.kind, manifold, chain.sigma).cdf
    return scipy.stats.kstest(manifold.dist(foot, after), cdf).pvalue


@pytest.mark.slow
@pytest.mark.parametrize(("manifold", "sigma"), [(Sphere(2), 0.5), (Hyperbolic(2), 0.6)], ids=str)
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_long_chain_is_the_law_and_a_short_one_is_not(kind, manifold, sigma, holds):
    law = IsotropicLaw(kind, manifold, sigma)
    foot = away(manifold, 0.7)
    steps = 300 if kind == "gaussian" else 500
    assert holds(lambda generator: pvalue(law, steps, 4000, foot, generator))
    assert not holds(lambda generator: pvalue(law, 10, 4000, foot, generator))


@pytest.mark.fast(1)
@pytest.mark.parametrize(("manifold", "sigma"), SPACES, ids=str)
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_a_step_leaves_the_law_unchanged(kind, manifold, sigma, holds):
    chain = Metropolis(manifold, sigma, kind)
    foot = away(manifold, 0.4)
    assert holds(lambda generator: stationary_pvalue(chain, 50_000, foot, generator))


@pytest.mark.fast(1)
@pytest.mark.parametrize("scale", [1.0, 3.0, 20.0])
def test_proposals_that_wrap_around_are_symmetric(scale, holds):
    chain = Metropolis(Sphere(2), 0.8, "gaussian", proposal_scale=scale)
    assert holds(lambda generator: stationary_pvalue(chain, 50_000, Sphere(2).origin, generator))


class NormalCoordinates(Metropolis):
    """A Gaussian step in normal coordinates about the origin, without the volume's ratio."""

    def _propose(self, state, generator):
        m = self.manifold
        at = m.tangent_coordinates(m.origin, m.log(m.origin, state))
        at = at + self._scale() * generator.standard_normal(at.shape)
        return m.exp(m.origin, m.tangent_vector(m.origin, at))


class Uphill(Metropolis):
    """A step that is longer farther out, without the Hastings factor."""

    def _propose(self, state, generator):
        m = self.manifold
        scale = self._scale() * (0.5 + m.dist(m.origin, state)[..., None])
        vectors = scale * generator.standard_normal((len(state), m.dim))
        return m.exp(state, m.tangent_vector(state, vectors))


@pytest.mark.fast(1)
@pytest.mark.parametrize("wrong", [NormalCoordinates, Uphill])
@pytest.mark.parametrize(("manifold", "sigma"), [(Sphere(2), 0.8), (Hyperbolic(2), 0.8)], ids=str)
def test_a_missing_factor_is_caught(wrong, manifold, sigma, holds):
    foot = manifold.origin
    chain = wrong(manifold, sigma, "gaussian")
    assert not holds(lambda generator: stationary_pvalue(chain, 20_000, foot, generator))
    right = Metropolis(manifold, sigma, "gaussian")
    assert holds(lambda generator: stationary_pvalue(right, 20_000, foot, generator))


def balance_pvalue(chain, generator):
    """Of as many moves from region A to region B as back, from exact draws."""
    manifold = chain.manifold
    foot, mark = manifold.origin, away(manifold, chain.sigma)
    before = sample(IsotropicLaw("gaussian", manifold, chain.sigma), foot, 50_000, generator)
    after = chain._step(foot, before, generator)
    states = (before, after)
    near = np.median(manifold.dist(foot, before))
    close = np.median(manifold.dist(mark, before))
    in_a = [manifold.dist(foot, x) < near for x in states]
    in_b = [(manifold.dist(mark, x) < close) & ~a for x, a in zip(states, in_a, strict=True)]
    forth, back = np.sum(in_a[0] & in_b[1]), np.sum(in_b[0] & in_a[1])
    return scipy.stats.binomtest(forth, forth + back).pvalue


@pytest.mark.fast(2)
@pytest.mark.parametrize(("manifold", "sigma"), SPACES[1:6], ids=str)
def test_flows_between_two_regions_balance(manifold, sigma, holds):
    chain = Metropolis(manifold, sigma, "gaussian")
    assert holds(lambda generator: balance_pvalue(chain, generator))


def test_flows_that_do_not_balance_are_caught(holds):
    chain = Uphill(Sphere(2), 0.8, "gaussian")
    assert not holds(lambda generator: balance_pvalue(chain, generator))


@pytest.mark.slow
def test_spd_2_splits_into_a_line_and_a_hyperbolic_plane(holds):
    # SPD(2) = R x H^2 with curvature -1/2, and log det / sqrt 2 is the coordinate of the line: the
    # Gaussian splits into a normal law and the plane's
    manifold, sigma = SPDAffineInvariant(2), 0.7
    plane = RadialLaw("gaussian", 2, -0.5, sigma)

    def check(generator, steps):
        points = Metropolis(manifold, sigma, "gaussian", steps=steps).sample(
            np.eye(2), 2000, generator
        )
        line = np.log(np.linalg.det(points)) / math.sqrt(2.0)
        radius = np.sqrt(np.maximum(np.square(manifold.dist(np.eye(2), points)) - line**2, 0.0))
        return min(
            scipy.stats.kstest(line / sigma, scipy.stats.norm.cdf).pvalue,
            scipy.stats.kstest(radius, plane.cdf).pvalue,
        )

    assert holds(lambda generator: check(generator, 150))
    assert not holds(lambda generator: check(generator, 5))


def test_shapes_seeds_and_the_secure_generator():
    manifold = Sphere(2)
    feet = np.stack([manifold.origin, away(manifold, 1.0)])
    law = Metropolis(manifold, 0.01, "gaussian", steps=30)
    draws = law.sample(feet, (3, 4), np.random.default_rng(1))
    assert draws.shape == (3, 4, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(draws, axis=-1), 1.0, rtol=1e-12)
    assert np.all(manifold.dist(feet, draws) < 0.1)
    np.testing.assert_array_equal(draws, law.sample(feet, (3, 4), np.random.default_rng(1)))
    assert law.sample(feet[0]).shape == (3,)
    assert law.sample(feet[0], 2, secure_generator()).shape == (2, 3)


@pytest.mark.parametrize(
    ("manifold", "sigma"),
    [(Hyperbolic(2), 1e4), (SPDAffineInvariant(3), 20.0), (SPDLogEuclidean(3), 300.0)],
    ids=str,
)
def test_a_proposal_without_coordinates_is_an_error(manifold, sigma):
    law = Metropolis(manifold, sigma, "gaussian", steps=200, proposal_scale=sigma)
    with pytest.raises(NotAttainableError, match="too far out"):
        law.sample(manifold.origin, 20, np.random.default_rng(0))


def test_bad_parameters():
    with pytest.raises(InvalidParameterError, match="kind"):
        Metropolis(Sphere(2), 1.0, "cauchy")
    for bad in ({"sigma": 0.0}, {"steps": 0}, {"proposal_scale": -1.0}):
        with pytest.raises(InvalidParameterError, match=next(iter(bad))):
            Metropolis(**{"kind": "gaussian", "manifold": Sphere(2), "sigma": 1.0, **bad})
    with pytest.raises(NotOnManifoldError):
        Metropolis(Sphere(2), 1.0, "gaussian", steps=1).sample([1.0, 1.0, 1.0])
    with pytest.raises(InvalidParameterError, match="generator"):
        Metropolis(Sphere(2), 1.0, "gaussian", steps=1).sample(Sphere(2).origin, 1, 7)


@pytest.mark.parametrize(
    ("manifold", "limit"),
    [
        (Hyperbolic(3), 0.5),
        # SPD(2) = R x H^2(-1/2): sqrt 2
        (SPDAffineInvariant(2), math.sqrt(2.0)),
        (SPDAffineInvariant(3), 1.0 / math.sqrt(2.0)),
    ],
    ids=str,
)
def test_a_laplace_law_without_normaliser_is_refused(manifold, limit):
    with pytest.raises(NotAttainableError, match="no normaliser"):
        Metropolis(manifold, limit * 1.001, "laplace")
    Metropolis(manifold, limit * 0.999, "laplace")


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_growth_of_the_affine_invariant_volume(k):
    # the largest of sum_{i<j} |l_i - l_j| / 2 over unit vectors l, by trying
    logs = np.random.default_rng(k).normal(size=(200_000, k))
    logs /= np.linalg.norm(logs, axis=-1, keepdims=True)
    rate = 0.25 * np.abs(logs[:, :, None] - logs[:, None, :]).sum(axis=(1, 2)).max()
    Metropolis(SPDAffineInvariant(k), 0.95 / rate, "laplace")
    with pytest.raises(NotAttainableError):
        Metropolis(SPDAffineInvariant(k), 1.001 / rate, "laplace")


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_what_is_stated_is_about_the_law_and_not_proved(kind):
    own = {"laplace": RiemannianLaplace, "gaussian": RiemannianGaussian}[kind]
    exact, chain = own(Sphere(2), 0.3), Metropolis(Sphere(2), 0.3, kind)
    assert exact.proven
    assert not chain.proven
    assert chain.proofs() == {"metropolis": None}
    assert chain.privacy(0.1).delta_at(0.2) == exact.privacy(0.1).delta_at(0.2)
    assert chain.rao(0.1, "parametric") == exact.rao(0.1, "parametric")
    assert chain.expected_distance() == exact.expected_distance()
    assert chain.error_quantile(0.9) == exact.error_quantile(0.9)
    pole = Sphere(2).origin
    assert chain.log_density(pole, pole) == exact.log_density(pole, pole)
    for budget in (GDP(0.5), ApproxDP(0.5, 1e-6)):
        found = Metropolis.calibrate(Sphere(2), 0.1, budget, kind=kind, steps=7)
        assert (found.sigma, found.kind, found.steps) == (
            own.calibrate(Sphere(2), 0.1, budget).sigma,
            kind,
            7,
        )


def test_chains_where_no_law_is_known(bumpy):
    laplace = Metropolis.calibrate(bumpy(2), 0.1, PureDP(0.5))
    assert laplace.sigma == pytest.approx(0.4)  # nobody says that the normaliser does not move
    assert Metropolis(bumpy(2), 0.4).privacy(0.1) == PureCurve(0.5)
    gaussian = Metropolis(bumpy(2), 0.2, "gaussian")
    pole = bumpy(2).origin
    for call in (
        lambda: gaussian.privacy(0.1),
        lambda: Metropolis.calibrate(bumpy(2), 0.1, GDP(1.0), kind="gaussian"),
        gaussian.expected_distance,
        laplace.expected_distance,
        lambda: gaussian.log_density(pole, pole),
    ):
        with pytest.raises(UnsupportedManifoldError, match="law is known"):
            call()


class Interval(Manifold):
    """The interval from -1 to 1 as another library might add it: it is not homogeneous."""

    dim, point_shape, tangent_shape = 1, (1,), (1,)
    curvature_bound, constant_curvature, injectivity_radius = 0.0, None, math.inf
    origin = np.zeros(1)

    def exp(self, base, tangent):  # reflected at the ends
        turned = np.mod(np.add(base, tangent) + 1.0, 4.0)
        return 1.0 - np.abs(turned - 2.0)

    def log(self, base, point):
        return np.subtract(point, base)

    def dist(self, a, b):
        return np.abs(np.subtract(a, b))[..., 0]

    def tangent_vector(self, base, coordinates):
        return np.asarray(coordinates)

    tangent_coordinates = tangent_vector

    def validate(self, points):
        return np.asarray(points, dtype=float)


def test_a_normaliser_that_moves_costs_twice_the_loss():
    """Reimherr, Bharath and Soto, Theorem 1 beyond homogeneous spaces, on an interval."""
    sensitivity = sigma = 0.1
    mechanism = Metropolis(Interval(), sigma)
    claim = mechanism.privacy(sensitivity)
    assert claim == PureCurve(2.0)
    grid = np.linspace(-1.0, 1.0, 20_001)

    def density(foot):
        height = np.exp(-np.abs(grid - foot) / sigma)
        return height / integrate.simpson(height, x=grid)

    first, second = density(1.0), density(0.9)
    true = np.max(np.log(first / second))
    assert true == pytest.approx(1.49, abs=5e-3)
    assert sensitivity / sigma < true < 2.0
    generator = np.random.default_rng(0)
    mass = [integrate.cumulative_simpson(p, x=grid, initial=0.0) for p in (first, second)]
    chain = Metropolis(Interval(), sigma, steps=100)
    draws = chain.sample([[1.0], [0.9]], 4000, generator)[..., 0]
    for found, each in zip(draws.T, mass, strict=True):
        assert stats.kstest(np.interp(found, grid, each), "uniform").pvalue > 1e-4

    class Exact:
        def sample(self, footpoint, size, generator):
            inverse = mass[int(footpoint[0] < 0.95)]
            return np.interp(generator.random(size), inverse, grid)

    for epsilon, verdict in ((2.0, False), (sensitivity / sigma, True)):
        found = audit(Exact(), [1.0], [0.9], PureDP(epsilon), samples=200_000, generator=generator)
        assert (found.verdict == "violated") is verdict
