from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from riemdp import research
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    UnsupportedManifoldError,
)
from riemdp.noise._affine_invariant import AffineInvariantLaw
from riemdp.noise._volume_series import growth_rate
from riemdp.spaces import SPDAffineInvariant, SPDLogEuclidean

LAWS = [
    AffineInvariantLaw(kind, SPDAffineInvariant(k), sigma)
    for k, sigma in [(1, 0.5), (2, 1e-4), (2, 0.3), (3, 0.2), (5, 0.15)]
    for kind in ("gaussian", "laplace")
] + [AffineInvariantLaw("gaussian", SPDAffineInvariant(2), 1.0)]


def _footpoint(k: int, seed: int = 0) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((k, k)) + 2.0 * np.eye(k)
    return root @ root.T


@pytest.mark.fast(1)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_distances_follow_the_radial_law(law, holds):
    foot = _footpoint(law.manifold.k)

    def pvalue(generator: np.random.Generator) -> float:
        draws = research.sample(law, foot, 20_000, generator)
        dist = law.manifold.dist(foot, draws)
        grid = np.linspace(0.0, dist.max(), 2_000)
        values = np.interp(dist, grid, law.radial.cdf(grid))
        return scipy.stats.kstest(values, "uniform").pvalue

    assert holds(pvalue)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("k", "sigma"), [(2, 0.5), (4, 0.3)])
def test_an_isometry_takes_the_law_along(k, sigma, holds):
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(k), sigma)
    foot, probe = _footpoint(k), _footpoint(k, 1)
    turn = np.random.default_rng(2).standard_normal((k, k)) + np.eye(k)
    moved = turn @ foot @ turn.T

    def pvalue(generator: np.random.Generator) -> float:
        one = turn @ research.sample(law, foot, 10_000, generator) @ turn.T
        two = research.sample(law, moved, 10_000, generator)
        statistics = [
            [law.manifold.dist(probe, 0.5 * (x + np.swapaxes(x, -1, -2))) for x in (one, two)],
            [np.log(x[:, 0, 0]) for x in (one, two)],
            [x[:, 0, 1] for x in (one, two)],
        ]
        return len(statistics) * min(scipy.stats.ks_2samp(a, b).pvalue for a, b in statistics)

    assert holds(pvalue)


def test_a_factor_on_the_wrong_side_is_noticed():
    k = 3
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(k), 0.3)
    foot = _footpoint(k)
    factor = np.linalg.cholesky(foot)
    centred = research.sample(law, np.eye(k), 5_000, np.random.default_rng(0))
    wrong = factor.T @ centred @ factor
    dist = law.manifold.dist(foot, 0.5 * (wrong + np.swapaxes(wrong, -1, -2)))
    assert scipy.stats.kstest(dist, law.radial.cdf).pvalue < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_the_density_integrates_to_one_at_two_by_two(kind):
    # X = exp(t/sqrt 2) H, t the trace coordinate, H at distance rho: area 2 pi sqrt 2 sinh
    law = AffineInvariantLaw(kind, SPDAffineInvariant(2), 0.4)
    foot = np.eye(2)

    def density(t: float, rho: float) -> float:
        logs = np.array([t + rho, t - rho]) / math.sqrt(2.0)
        value = float(np.exp(law.log_density(np.diag(np.exp(logs)), foot)))
        return value * 2.0 * math.pi * math.sqrt(2.0) * math.sinh(rho / math.sqrt(2.0))

    total, _ = scipy.integrate.dblquad(density, 0.0, 12.0, -12.0, 12.0, epsabs=1e-4, epsrel=1e-4)
    assert total == pytest.approx(1.0, abs=1e-3)


def test_log_density_is_invariant_and_symmetric():
    law = AffineInvariantLaw("laplace", SPDAffineInvariant(3), 0.2)
    x, y, turn = _footpoint(3), _footpoint(3, 1), _footpoint(3, 2)
    value = law.log_density(x, y)
    assert law.log_density(y, x) == pytest.approx(value)
    assert law.log_density(turn @ x @ turn, turn @ y @ turn) == pytest.approx(value)
    assert law.log_density(np.stack([x, y]), y).shape == (2,)
    assert law.log_density(y, y) == pytest.approx(-law.radial.log_normaliser())


def test_shapes():
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(2), 0.1)
    generator = np.random.default_rng(0)
    feet = np.stack([np.eye(2), 1.1 * np.eye(2), 1.2 * np.eye(2)])
    assert research.sample(law, np.eye(2), None, generator).shape == (2, 2)
    assert research.sample(law, feet, (4, 2), generator).shape == (4, 2, 3, 2, 2)
    assert research.sample(law, feet, 0, generator).shape == (0, 3, 2, 2)
    assert research.sample(law, feet[:0], 5, generator).shape == (5, 0, 2, 2)
    assert research.sample(law, np.eye(2), (), generator).shape == (2, 2)
    assert research.sample(law, np.eye(2)).shape == (2, 2)


def test_laws_travel_between_processes():
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(3), 0.2)
    research.sample(law, np.eye(3), 2)
    law.radial.cdf(1.0)
    other = pickle.loads(pickle.dumps(law))
    assert other == law
    assert research.sample(other, np.eye(3)).shape == (3, 3)


def test_what_it_refuses():
    manifold = SPDAffineInvariant(3)
    with pytest.raises(UnsupportedManifoldError, match="SPDAffineInvariant"):
        AffineInvariantLaw("gaussian", SPDLogEuclidean(3), 1.0)
    with pytest.raises(InvalidParameterError, match="kind"):
        AffineInvariantLaw("cauchy", manifold, 1.0)
    with pytest.raises(InvalidParameterError, match="sigma"):
        AffineInvariantLaw("gaussian", manifold, [1.0])
    with pytest.raises(NotAttainableError, match="has no normaliser"):
        AffineInvariantLaw("laplace", manifold, 1.0 / growth_rate(3))
    law = AffineInvariantLaw("gaussian", manifold, 0.1)
    with pytest.raises(NotOnManifoldError):
        research.sample(law, -np.eye(3))
    with pytest.raises(InvalidParameterError, match="size"):
        research.sample(law, np.eye(3), -1)
    wide = AffineInvariantLaw("gaussian", manifold, 6.0)
    with pytest.raises(NotAttainableError, match="too far out"):
        research.sample(wide, np.eye(3), 200, np.random.default_rng(0))
    with pytest.raises(NotAttainableError, match="too far for float64"):
        AffineInvariantLaw("gaussian", manifold, 100.0).check_drawable()
    slow = AffineInvariantLaw("laplace", SPDAffineInvariant(30), 0.985 / growth_rate(30))
    with pytest.raises(NotAttainableError, match="seconds"):
        research.sample(slow, np.eye(30))


def test_the_footpoint_does_not_change_the_work():
    law = AffineInvariantLaw("laplace", SPDAffineInvariant(3), 0.3)
    states = []
    for foot in (np.eye(3), _footpoint(3), 1e6 * _footpoint(3, 1)):
        generator = np.random.default_rng(7)
        research.sample(law, foot, 50, generator)
        states.append(generator.bit_generator.state["state"]["state"])
    assert len(set(states)) == 1
