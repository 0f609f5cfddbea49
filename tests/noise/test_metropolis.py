from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp._errors import InvalidParameterError, NotAttainableError, NotOnManifoldError
from riemdp.manifolds import Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp.noise import RadialLaw, secure_generator
from riemdp.noise._isotropic import IsotropicLaw
from riemdp.noise._metropolis import MetropolisLaw

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
    chain = MetropolisLaw(law.kind, law.manifold, law.sigma, steps=steps)
    distance = law.manifold.dist(foot, chain.sample(foot, size, generator))
    return scipy.stats.kstest(distance, law.radial.cdf).pvalue


def stationary_pvalue(chain, size, foot, generator):
    """Of the distance after one step from exact draws."""
    manifold = chain.manifold
    before = IsotropicLaw(chain.kind, manifold, chain.sigma).sample(foot, size, generator)
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
    chain = MetropolisLaw(kind, manifold, sigma)
    foot = away(manifold, 0.4)
    assert holds(lambda generator: stationary_pvalue(chain, 50_000, foot, generator))


@pytest.mark.fast(1)
@pytest.mark.parametrize("scale", [1.0, 3.0, 20.0])
def test_proposals_that_wrap_around_are_symmetric(scale, holds):
    chain = MetropolisLaw("gaussian", Sphere(2), 0.8, proposal_scale=scale)
    assert holds(lambda generator: stationary_pvalue(chain, 50_000, Sphere(2).origin, generator))


class NormalCoordinates(MetropolisLaw):
    """A Gaussian step in normal coordinates about the origin, without the volume's ratio."""

    def _propose(self, state, generator):
        m = self.manifold
        at = m.tangent_coordinates(m.origin, m.log(m.origin, state))
        at = at + self._scale() * generator.standard_normal(at.shape)
        return m.exp(m.origin, m.tangent_vector(m.origin, at))


class Uphill(MetropolisLaw):
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
    chain = wrong("gaussian", manifold, sigma)
    assert not holds(lambda generator: stationary_pvalue(chain, 20_000, foot, generator))
    right = MetropolisLaw("gaussian", manifold, sigma)
    assert holds(lambda generator: stationary_pvalue(right, 20_000, foot, generator))


def balance_pvalue(chain, generator):
    """Of as many moves from region A to region B as back, from exact draws."""
    manifold = chain.manifold
    foot, mark = manifold.origin, away(manifold, chain.sigma)
    before = IsotropicLaw("gaussian", manifold, chain.sigma).sample(foot, 50_000, generator)
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
    chain = MetropolisLaw("gaussian", manifold, sigma)
    assert holds(lambda generator: balance_pvalue(chain, generator))


def test_flows_that_do_not_balance_are_caught(holds):
    chain = Uphill("gaussian", Sphere(2), 0.8)
    assert not holds(lambda generator: balance_pvalue(chain, generator))


@pytest.mark.slow
def test_spd_2_splits_into_a_line_and_a_hyperbolic_plane(holds):
    # SPD(2) = R x H^2 with curvature -1/2, and log det / sqrt 2 is the coordinate of the line: the
    # Gaussian splits into a normal law and the plane's
    manifold, sigma = SPDAffineInvariant(2), 0.7
    plane = RadialLaw("gaussian", 2, -0.5, sigma)

    def check(generator, steps):
        points = MetropolisLaw("gaussian", manifold, sigma, steps=steps).sample(
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
    law = MetropolisLaw("gaussian", manifold, 0.01, steps=30)
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
    law = MetropolisLaw("gaussian", manifold, sigma, steps=200, proposal_scale=sigma)
    with pytest.raises(NotAttainableError, match="too far out"):
        law.sample(manifold.origin, 20, np.random.default_rng(0))


def test_bad_parameters():
    with pytest.raises(InvalidParameterError, match="kind"):
        MetropolisLaw("cauchy", Sphere(2), 1.0)
    for bad in ({"sigma": 0.0}, {"steps": 0}, {"proposal_scale": -1.0}):
        with pytest.raises(InvalidParameterError, match=next(iter(bad))):
            MetropolisLaw(**{"kind": "gaussian", "manifold": Sphere(2), "sigma": 1.0, **bad})
    with pytest.raises(NotOnManifoldError):
        MetropolisLaw("gaussian", Sphere(2), 1.0, steps=1).sample([1.0, 1.0, 1.0])
    with pytest.raises(InvalidParameterError, match="generator"):
        MetropolisLaw("gaussian", Sphere(2), 1.0, steps=1).sample(Sphere(2).origin, 1, 7)


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
        MetropolisLaw("laplace", manifold, limit * 1.001)
    MetropolisLaw("laplace", manifold, limit * 0.999)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_growth_of_the_affine_invariant_volume(k):
    # the largest of sum_{i<j} |l_i - l_j| / 2 over unit vectors l, by trying
    logs = np.random.default_rng(k).normal(size=(200_000, k))
    logs /= np.linalg.norm(logs, axis=-1, keepdims=True)
    rate = 0.25 * np.abs(logs[:, :, None] - logs[:, None, :]).sum(axis=(1, 2)).max()
    MetropolisLaw("laplace", SPDAffineInvariant(k), 0.95 / rate)
    with pytest.raises(NotAttainableError):
        MetropolisLaw("laplace", SPDAffineInvariant(k), 1.001 / rate)
