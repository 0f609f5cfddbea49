from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from riemdp._errors import NotAttainableError, NotOnManifoldError, UnsupportedBallError
from riemdp.noise import IsotropicLaw
from riemdp.research import sample
from riemdp.research._ball_laplace import BallLaplace
from riemdp.research._laplace_rejection import LaplaceRejection
from riemdp.spaces import Ball, Euclidean, Hyperbolic, SPDLogEuclidean, Sphere


def _always(footpoints, points):
    return np.zeros(len(points))


def _same_law(law, foot, sigma, count, generator):
    """P-value that draws come from the Laplace law restricted to the ball."""
    ball, manifold = law.ball, law.ball.manifold
    draws = law.sample(foot, count, generator)
    assert np.all(ball.contains(draws))
    other = BallLaplace(ball, sigma).sample(foot, count, generator)
    return min(
        scipy.stats.ks_2samp(manifold.dist(z, draws), manifold.dist(z, other)).pvalue
        for z in (foot, ball.center)
    )


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    ("manifold", "sigma"),
    [(Euclidean(3), 0.2), (Euclidean(2), 30.0), (Sphere(2), 0.5), (Hyperbolic(3), 0.9)],
    ids=str,
)
def test_without_rejection_it_is_the_restricted_laplace(manifold, sigma, holds):
    ball = Ball(manifold, manifold.origin, 1.0)
    foot = ball.point(np.eye(manifold.dim)[0] * 0.6)
    law = LaplaceRejection(ball, sigma, _always)
    assert holds(lambda generator: _same_law(law, foot, sigma, 4000, generator))


def test_acceptance_shapes_the_density(holds):
    # on a line: exp(-|x - a|/s - 3 x^2) in closed form on a grid
    ball = Ball(Euclidean(1), np.zeros(1), 1.0)
    foot, sigma = np.array([0.4]), 0.3
    law = LaplaceRejection(ball, sigma, lambda _, x: -3 * x[:, 0] ** 2)
    grid = np.linspace(-1, 1, 40001)

    def pvalue(generator, power=3.0):
        mass = np.exp(-np.abs(grid - 0.4) / sigma - power * grid**2)
        cdf = np.cumsum(mass) / mass.sum()
        draws = law.sample(foot, 20_000, generator)[:, 0]
        return scipy.stats.kstest(draws, lambda x: np.interp(x, grid, cdf)).pvalue

    assert holds(pvalue)
    # negative control
    assert pvalue(np.random.default_rng(0), power=2.5) < 1e-4


@pytest.mark.fast("Hyperbolic(dim=3, curvature=-1.0)-7.0-0.498")
@pytest.mark.parametrize(
    ("manifold", "radius", "sigma"),
    [(SPDLogEuclidean(9), 20.0, 0.65), (Hyperbolic(3), 7.0, 0.498)],
    ids=str,
)
def test_noise_beyond_float64_coordinates_is_thrown_away(manifold, radius, sigma, holds):
    ball = Ball(manifold, manifold.origin, radius)
    law = LaplaceRejection(ball, sigma, _always)
    assert isinstance(law._law, IsotropicLaw)
    foot = ball.point(np.eye(manifold.dim)[0] * 0.9 * radius)
    # most draws of the law are far outside: as matrices or hyperboloid points they would overflow
    with pytest.raises((NotAttainableError, NotOnManifoldError)):
        manifold.dist(foot, sample(law._law, foot, 1000, np.random.default_rng(0)))
    assert holds(lambda generator: _same_law(law, foot, sigma, 1000, generator))


def test_shapes_and_a_law_for_each_footpoint():
    space = SPDLogEuclidean(2)
    ball = Ball(space, np.eye(2), 1.0)
    foot = ball.point(np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]))
    law = LaplaceRejection(ball, 0.01, lambda about, x: -space.dist(about, x))
    draws = law.sample(foot, (3, 4), np.random.default_rng(0))
    assert draws.shape == (3, 4, 2, 2, 2)
    assert np.all(space.dist(draws, foot) < 0.3)
    assert law.sample(foot[0], None, np.random.default_rng(0)).shape == (2, 2)
    assert law.sample(foot, 0).shape == (0, 2, 2, 2)


def accepted_share(law, footpoint, proposals=4000):
    """Share of the proposals about a footpoint that are accepted, by simulation."""
    point, coordinates = law._checked(footpoint)
    found, _ = law._candidates(coordinates, proposals, np.random.default_rng(0))
    logs = law.log_acceptance(np.broadcast_to(point, found.shape), found)
    return float(np.sum(np.exp(logs))) / proposals


# proposals on the whole space, but for the last two: no law there, or too little in the ball
ACCEPTED = [
    (Euclidean(1), 1.0, 0.4, 1.0),
    (Euclidean(2), 1.0, 0.01, 50.0),
    (Euclidean(6), 2.0, 0.1, 5.0),
    (Sphere(2), 1.2, 0.5, 1.0),
    (Sphere(4), 2.0, 0.4, 2.0),
    (Sphere(3), 3.0, 30.0, 0.3),
    (Hyperbolic(3), 1.5, 0.3, 2.0),
    (SPDLogEuclidean(2), 1.0, 0.2, 1.0),
    (Hyperbolic(3), 2.0, 3.0, 1.0),
    (Euclidean(9), 1.0, 1.0, 3.0),
]


@pytest.mark.fast("Euclidean(dim=1)-1.0-0.4-1.0", "Hyperbolic(dim=3, curvature=-1.0)-1.5-0.3-2.0")
@pytest.mark.parametrize(("manifold", "radius", "sigma", "rate"), ACCEPTED, ids=str)
def test_least_acceptance_at_any_footpoint(manifold, radius, sigma, rate):
    ball = Ball(manifold, manifold.origin, radius)
    law = LaplaceRejection(ball, sigma, lambda about, x: -rate * manifold.dist(about, x))
    least = law.least_acceptance(rate)
    rng = np.random.default_rng(3)
    direction = rng.normal(size=(7, manifold.dim))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    lengths = radius * np.append(rng.random(4) ** (1.0 / manifold.dim), [1.0, 1.0, 0.0])
    shares = [accepted_share(law, ball.point(v)) for v in lengths[:, None] * direction]
    assert least <= 1.2 * min(shares)  # 4000 proposals
    # negative control: a few times as much is no bound
    close = isinstance(law._law, IsotropicLaw) and radius < 3.0
    assert (1.6 if close else 6.0) * least > min(shares)


def test_footpoints_outside_are_refused():
    law = LaplaceRejection(Ball(Euclidean(2), np.zeros(2), 1.0), 0.1, _always)
    with pytest.raises(UnsupportedBallError, match="ball"):
        law.sample(np.array([2.0, 0.0]))
