from __future__ import annotations

import math
import pickle

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    UnsupportedBallError,
    UnsupportedManifoldError,
)
from riemdp.manifolds import Ball, SPDAffineInvariant, SPDLogEuclidean, _symmetric
from riemdp.noise import _affine_invariant
from riemdp.noise._affine_invariant import AffineInvariantLaw
from riemdp.noise._sinh_envelope import growth_rate

EPS = float(np.finfo(np.float64).eps)
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
        draws = law.sample(foot, 20_000, generator)
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
        one = turn @ law.sample(foot, 10_000, generator) @ turn.T
        two = law.sample(moved, 10_000, generator)
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
    centred = law.sample(np.eye(k), 5_000, np.random.default_rng(0))
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


@pytest.mark.fast(1)
@pytest.mark.parametrize("law", [LAWS[2], LAWS[7], LAWS[8]], ids=str)
def test_the_projected_draw_is_the_draw_projected(law):
    manifold, k = law.manifold, law.manifold.k
    ball = Ball(manifold, _footpoint(k, 5), 1.0)
    foot = ball.project(_footpoint(k))
    one = law.sample_in_ball(foot, ball, 4_000, np.random.default_rng(1))
    two = ball.project(law.sample(foot, 4_000, np.random.default_rng(2)))
    assert ball.contains(one).all()
    for probe in (foot, np.asarray(ball.center), _footpoint(k, 6)):
        a, b = manifold.dist(probe, one), manifold.dist(probe, two)
        assert scipy.stats.ks_2samp(np.round(a, 9), np.round(b, 9)).pvalue > 1e-4


def test_shapes():
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(2), 0.1)
    ball = Ball(law.manifold, np.eye(2), 1.0)
    generator = np.random.default_rng(0)
    feet = np.stack([np.eye(2), 1.1 * np.eye(2), 1.2 * np.eye(2)])
    assert law.sample(np.eye(2), None, generator).shape == (2, 2)
    assert law.sample(feet, (4, 2), generator).shape == (4, 2, 3, 2, 2)
    assert law.sample(feet, 0, generator).shape == (0, 3, 2, 2)
    assert law.sample(feet[:0], 5, generator).shape == (5, 0, 2, 2)
    assert law.sample(np.eye(2), (), generator).shape == (2, 2)
    assert law.sample_in_ball(feet, ball, 5, generator).shape == (5, 3, 2, 2)
    assert law.sample_from_coordinates(np.zeros(3), ball, None, generator).shape == (2, 2)
    assert law.sample(np.eye(2)).shape == (2, 2)


@pytest.mark.parametrize("k", [2, 4])
def test_a_footpoint_of_condition_1e12_keeps_its_distances(k):
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(k), 0.2)
    ball = Ball(law.manifold, np.eye(k), 60.0)
    generator = np.random.default_rng(4)
    frame, _ = np.linalg.qr(generator.standard_normal((k, k)))
    levels = np.linspace(-6.9, 6.9, k)  # half of log(1e12) each way
    coordinates = _symmetric.vecd(_symmetric.compose(2.0 * levels, frame))
    # The draw itself, before float64 entries round it away: about the centre of its logarithm.
    draw = law._draw.sample(20, np.random.default_rng(9))
    kept = law.sample_from_coordinates(coordinates, ball, 20, np.random.default_rng(9))
    for i in range(20):
        with mpmath.workdps(60):
            logs, vectors = (mpmath.matrix(part[i].tolist()) for part in draw)
            turn = mpmath.matrix(frame.tolist()) * mpmath.diag([mpmath.exp(v) for v in levels])
            middle = vectors * mpmath.diag([mpmath.exp(v) for v in logs]) * vectors.T
            exact = np.array((turn * middle * turn.T).tolist(), dtype=float)
        scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
        np.testing.assert_allclose(kept[i] / scale, exact / scale, atol=1e-9)


def test_graded_singular_values_keep_their_digits():
    rng = np.random.default_rng(3)
    rows = np.exp([-30.0, 0.0, -90.0, -60.0])[None, :, None] * rng.standard_normal((1, 4, 4))
    values, directions = _affine_invariant._right_singular(rows, np.array([True]))
    with mpmath.workdps(200):
        exact = mpmath.svd_r(mpmath.matrix(rows[0].tolist()), compute_uv=False)
    # One-sided rotations keep the digits that the rows have once they are scaled to one length.
    lost = 16.0 * EPS * np.linalg.cond(rows[0] / np.linalg.norm(rows[0], axis=-1, keepdims=True))
    np.testing.assert_allclose(
        np.sort(values[0])[::-1], np.array(exact.tolist(), float).ravel(), rtol=lost
    )
    np.testing.assert_allclose(directions[0] @ directions[0].T, np.eye(4), atol=1e-13)
    plain, _ = _affine_invariant._right_singular(rows, np.array([False]))
    assert not np.allclose(np.sort(plain[0])[::-1], np.sort(values[0])[::-1], rtol=1e-12, atol=0.0)


def test_laws_travel_between_processes():
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(3), 0.2)
    law.sample(np.eye(3), 2)
    law.radial.cdf(1.0)
    other = pickle.loads(pickle.dumps(law))
    assert other == law
    assert other.sample(np.eye(3)).shape == (3, 3)


def test_very_wide_noise_lands_on_the_ball():
    law = AffineInvariantLaw("gaussian", SPDAffineInvariant(3), 6.0)
    ball = Ball(law.manifold, np.eye(3), 1.5)
    draws = law.sample_from_coordinates(np.zeros(6), ball, 200, np.random.default_rng(0))
    np.testing.assert_allclose(law.manifold.dist(ball.center, draws), 1.5, rtol=1e-9)
    with pytest.raises(NotAttainableError, match="release into a public ball"):
        law.sample(np.eye(3), 200, np.random.default_rng(0))
    absurd = AffineInvariantLaw("gaussian", SPDAffineInvariant(3), 100.0)
    with pytest.raises(NotAttainableError, match="too far out"):
        absurd.sample_from_coordinates(np.zeros(6), ball, None, np.random.default_rng(0))


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
        law.sample(-np.eye(3))
    with pytest.raises(InvalidParameterError, match="size"):
        law.sample(np.eye(3), -1)
    ball = Ball(manifold, np.eye(3), 0.5)
    with pytest.raises(UnsupportedBallError):
        law.sample_in_ball(10.0 * np.eye(3), ball)
    with pytest.raises(InvalidParameterError, match="the ball must belong"):
        law.sample_in_ball(np.eye(3), Ball(SPDLogEuclidean(3), np.eye(3), 0.5))
    slow = AffineInvariantLaw("laplace", SPDAffineInvariant(30), 0.985 / growth_rate(30))
    with pytest.raises(NotAttainableError, match="seconds"):
        slow.check_drawable()
    assert slow.acceptance() < 1e-6
    assert law.acceptance() > 0.99


def test_the_footpoint_does_not_change_the_work():
    law = AffineInvariantLaw("laplace", SPDAffineInvariant(3), 0.3)
    states = []
    for foot in (np.eye(3), _footpoint(3), 1e6 * _footpoint(3, 1)):
        generator = np.random.default_rng(7)
        law.sample(foot, 50, generator)
        states.append(generator.bit_generator.state["state"]["state"])
    assert len(set(states)) == 1
