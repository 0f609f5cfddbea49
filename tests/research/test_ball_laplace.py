from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp._errors import InvalidParameterError, UnsupportedBallError, UnsupportedManifoldError
from riemdp.noise import IsotropicLaw
from riemdp.research import sample
from riemdp.research._ball_laplace import BallLaplace
from riemdp.spaces import (
    Ball,
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

CASES = [
    (Euclidean(1), 0.6),
    (Euclidean(2), 0.8),
    (Euclidean(5), 1.5),
    (SPDLogEuclidean(2), 1.0),
    (Sphere(1), 1.0),
    (Sphere(1, 4.0), 1.4),
    (Sphere(2), 0.7),
    (Sphere(2), 2.9),
    (Sphere(4, 2.0), 1.6),
    (Hyperbolic(1), 0.6),
    (Hyperbolic(2), 1.0),
    (Hyperbolic(3, -2.0), 0.9),
]


def _ball(manifold: Manifold, radius: float) -> Ball:
    if isinstance(manifold, Sphere):
        center = np.ones(manifold.dim + 1) / math.sqrt((manifold.dim + 1) * manifold.curvature)
    elif isinstance(manifold, Hyperbolic):
        step = np.concatenate([[0.0], np.full(manifold.dim, 0.3)])
        center = manifold.exp(manifold.origin, step)
    elif isinstance(manifold, SPDLogEuclidean):
        center = np.diag(np.arange(1.0, manifold.k + 1))
    else:
        center = np.ones(manifold.dim)
    return Ball(manifold, center, radius)


def _inside(ball: Ball, share: float, axis: int = 0) -> np.ndarray:
    step = np.zeros(ball.manifold.dim)
    step[axis] = share * ball.radius * (1 - 1e-12)
    return ball.manifold.exp(ball.center, ball.manifold.tangent_vector(ball.center, step))


@pytest.mark.fast(2)
@pytest.mark.parametrize(("manifold", "radius"), CASES, ids=str)
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_draws_and_normaliser_against_plain_rejection(manifold, radius, share, holds):
    ball = _ball(manifold, radius)
    foot, aside = _inside(ball, share), _inside(ball, 0.7, manifold.dim - 1)
    sigma = 0.5 / manifold.dim
    law, free = BallLaplace(ball, sigma), IsotropicLaw("laplace", manifold, sigma)
    kept = math.exp(free.log_density(foot, foot) - law.log_density(foot, foot))
    assert kept <= 1.0 + 1e-9

    def pvalue(generator: np.random.Generator) -> float:
        draws = law.sample(foot, 10_000, generator)
        assert np.all(ball.contains(draws))
        brute = sample(free, foot, 50_000, generator)
        brute = brute[ball.contains(brute)]
        pvalues = [
            scipy.stats.ks_2samp(
                manifold.dist(z, draws), manifold.dist(z, brute), method="asymp"
            ).pvalue
            for z in (foot, ball.center, aside)
        ]
        inside = scipy.stats.binomtest(len(brute), 50_000, min(kept, 1.0)).pvalue
        return min(*pvalues, inside)

    assert holds(pvalue)


@pytest.mark.slow
@pytest.mark.parametrize(("manifold", "radius"), CASES, ids=str)
def test_many_draws_against_plain_rejection(manifold, radius, holds):
    ball = _ball(manifold, radius)
    foot = _inside(ball, 0.8)
    sigma = 0.5 / manifold.dim
    law, free = BallLaplace(ball, sigma), IsotropicLaw("laplace", manifold, sigma)

    def pvalue(generator: np.random.Generator) -> float:
        brute = sample(free, foot, 300_000, generator)
        brute = brute[ball.contains(brute)]
        draws = law.sample(foot, 300_000, generator)
        return min(
            scipy.stats.ks_2samp(
                manifold.dist(z, draws), manifold.dist(z, brute), method="asymp"
            ).pvalue
            for z in (foot, ball.center)
        )

    assert holds(pvalue)


def test_a_wrong_scale_is_noticed():
    # negative control of the rejection test
    ball = _ball(Sphere(2), 0.7)
    foot = _inside(ball, 0.5)
    generator = np.random.default_rng(0)
    draws = BallLaplace(ball, 0.25 * 1.1).sample(foot, 20_000, generator)
    brute = sample(IsotropicLaw("laplace", Sphere(2), 0.25), foot, 50_000, generator)
    brute = brute[ball.contains(brute)]
    dists = [Sphere(2).dist(foot, points) for points in (draws, brute)]
    assert scipy.stats.ks_2samp(*dists, method="asymp").pvalue < 1e-4


def test_log_density_integrates_to_one_on_a_cap():
    ball = Ball(Sphere(2), np.array([0.0, 0.0, 1.0]), 1.2)
    foot = np.array([math.sin(0.9), 0.0, math.cos(0.9)])
    law = BallLaplace(ball, 0.4)
    node, weight = np.polynomial.legendre.leggauss(600)
    low = math.cos(1.2)
    height, weight = low + 0.5 * (1 - low) * (1 + node), 0.5 * (1 - low) * weight
    angle = 2 * math.pi * (np.arange(1200) + 0.5) / 1200
    ring = np.sqrt(1 - height**2)[:, None]
    points = np.stack(
        [ring * np.cos(angle), ring * np.sin(angle), np.broadcast_to(height[:, None], (600, 1200))],
        axis=-1,
    )
    total = np.sum(weight @ np.exp(law.log_density(points, foot))) * 2 * math.pi / 1200
    assert total == pytest.approx(1.0, abs=1e-4)


@pytest.mark.fast(4)
@pytest.mark.parametrize(("manifold", "radius"), CASES, ids=str)
def test_loss_is_at_most_two_distances_over_sigma(manifold, radius):
    # the privacy claim of the restricted law, and its negative control: one distance is too few
    ball, sigma = _ball(manifold, radius), 0.2
    law = BallLaplace(ball, sigma)
    points = law.sample(_inside(ball, 0.3), 400, np.random.default_rng(0))
    points = np.concatenate([points, _inside(ball, 1.0)[None]])
    worst = 0.0
    for share in (0.0, 0.5, 0.9):
        one, two = _inside(ball, share), _inside(ball, share + 0.1)
        distance = float(manifold.dist(one, two))
        loss = law.log_density(points, one) - law.log_density(points, two)
        assert np.all(np.abs(loss) <= 2.0 * distance / sigma * (1 + 1e-9))
        worst = max(worst, float(np.max(np.abs(loss))) * sigma / distance)
    assert worst > 1.0001


def test_density_is_zero_outside():
    ball = _ball(Euclidean(2), 0.8)
    law = BallLaplace(ball, 0.3)
    assert law.log_density([3.0, 3.0], ball.center) == -np.inf
    assert np.isfinite(law.log_density([1.0, 1.5], ball.center))


def test_no_normaliser_is_needed_on_hyperbolic_balls():
    ball = _ball(Hyperbolic(3), 2.0)
    law = BallLaplace(ball, 5.0)
    draws = law.sample(_inside(ball, 0.9), 1_000, np.random.default_rng(0))
    assert np.all(ball.contains(draws))
    # nearly uniform: most of the volume lies near the boundary
    assert np.mean(ball.manifold.dist(ball.center, draws)) > 1.4


@pytest.mark.parametrize(
    ("manifold", "radius", "sigma"),
    [
        (Sphere(2), 3.1, 1e-4),
        (Sphere(2), 3.1, 1e3),
        (Sphere(999), 1.0, 0.01),
        (Euclidean(1000), 1.0, 1e3),
        (Hyperbolic(200), 8.0, 0.5),
        (Hyperbolic(2), 8.0, 1e-4),
    ],
    ids=str,
)
def test_extremes(manifold, radius, sigma):
    ball = _ball(manifold, radius)
    law = BallLaplace(ball, sigma)
    foot = _inside(ball, 1.0)
    draws = law.sample(foot, 100, np.random.default_rng(0))
    assert np.all(ball.manifold.dist(ball.center, draws) <= ball.radius * (1 + 1e-6))
    assert np.isfinite(law.log_density(foot, foot))


@pytest.mark.slow
def test_shapes():
    for manifold, radius in CASES:
        ball = _ball(manifold, radius)
        law = BallLaplace(ball, 0.3)
        feet = np.stack([_inside(ball, share) for share in (0.0, 0.4, 1.0)])
        generator = np.random.default_rng(0)
        assert law.sample(feet[0], None, generator).shape == manifold.point_shape
        assert law.sample(feet, None, generator).shape == (3, *manifold.point_shape)
        assert law.sample(feet, (2, 5), generator).shape == (2, 5, 3, *manifold.point_shape)
        assert law.sample(feet, 0, generator).shape == (0, 3, *manifold.point_shape)
        assert law.log_density(feet[:, None], feet).shape == (3, 3)
        manifold.validate(law.sample(feet, 20, generator))


def test_many_footpoints_share_no_draws():
    ball = _ball(Sphere(2), 0.7)
    feet = np.stack([_inside(ball, 0.5)] * 3)
    draws = BallLaplace(ball, 0.3).sample(feet, 4, np.random.default_rng(0))
    assert len(np.unique(draws.reshape(12, 3), axis=0)) == 12


def test_work_does_not_depend_on_the_footpoint():
    ball = _ball(Sphere(2), 0.7)
    law = BallLaplace(ball, 0.3)
    states = []
    for share in (0.0, 0.3, 1.0):
        generator = np.random.default_rng(5)
        law.sample(_inside(ball, share), 50, generator)
        uniforms = generator.bit_generator.state["state"]
        states.append(uniforms)
    assert states[0] == states[1] == states[2]


def test_inputs_are_checked():
    ball = _ball(Sphere(2), 0.7)
    for sigma in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidParameterError, match="sigma"):
            BallLaplace(ball, sigma)
    with pytest.raises(UnsupportedBallError, match="footpoint"):
        BallLaplace(ball, 0.3).sample(-ball.center)
    with pytest.raises(UnsupportedBallError, match="footpoint"):
        BallLaplace(ball, 0.3).log_density(ball.center, -ball.center)
    with pytest.raises(UnsupportedManifoldError, match="tangent-gaussian"):
        BallLaplace(Ball(SPDAffineInvariant(2), np.eye(2), 1.0), 0.3)
