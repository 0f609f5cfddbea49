from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp._errors import InvalidBudgetError, InvalidParameterError, UnsupportedManifoldError
from riemdp.privacy import PureDP
from riemdp.research._net import ball_net
from riemdp.research._net_laplace import normalised
from riemdp.research._public_prior import PublicPriorLaplace, clipped
from riemdp.spaces import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, Sphere


def _prior(manifold):
    return lambda points: np.exp(-4 * manifold.dist(manifold.origin, points) ** 2)


def _law(manifold, epsilon=0.5, sensitivity=0.2):
    ball = Ball(manifold, manifold.origin, 1.0)
    return PublicPriorLaplace(ball, _prior(manifold), epsilon, sensitivity, bounds=(1e-2, 1.0))


@pytest.mark.parametrize(
    "manifold", [Euclidean(1), Euclidean(2), Sphere(2), Hyperbolic(2)], ids=str
)
def test_density_ratio_by_enumeration(manifold):
    # the density on a fine net, its normaliser by the cells' volumes
    law = _law(manifold)
    net = ball_net(law.ball, 4000 if manifold.dim > 1 else 2000)
    axis = np.eye(manifold.dim)[0]
    pairs = [(1.0, 0.8), (0.1, -0.1), (0.6, 0.4), (-0.9, -0.7)]

    def loss(factor):
        worst = 0.0
        for a, b in pairs:
            log_p = [
                normalised(
                    np.log(net.volumes)
                    + law._log_prior(net.points)
                    - factor * manifold.dist(law.ball.point(t * axis), net.points) / law.sigma
                )
                for t in (a, b)
            ]
            worst = max(worst, np.max(np.abs(log_p[0] - log_p[1])))
        return worst

    assert loss(1.0) <= 0.5
    assert loss(2.0) > 0.5  # negative control: half the noise


def holds(pvalue):
    """Whether a p-value exceeds 1e-4, with one retry on a fresh seed."""
    return any(pvalue(np.random.default_rng(seed)) > 1e-4 for seed in (20211, 20212))


def test_draws_follow_the_density_on_a_line():
    law = _law(Euclidean(1), 1.0, 0.3)
    grid = np.linspace(-1, 1, 20001)

    def pvalue(generator, sigma=law.sigma):
        mass = np.maximum(np.exp(-4 * grid**2), 1e-2) * np.exp(-np.abs(grid - 0.5) / sigma)
        cdf = np.cumsum(mass) / mass.sum()
        draws = law.sample(np.array([0.5]), 20_000, generator)[:, 0]
        return scipy.stats.kstest(draws, lambda x: np.interp(x, grid, cdf)).pvalue

    assert holds(pvalue)
    assert pvalue(np.random.default_rng(0), sigma=1.2 * law.sigma) < 1e-4


def test_any_dimension():
    law = _law(Euclidean(9), 1.0, 0.05)
    draws = law.sample(np.full(9, 0.1), 2000, np.random.default_rng(0))
    assert draws.shape == (2000, 9)
    assert np.all(law.ball.contains(draws))


def test_log_weight_and_attributes():
    law = _law(Sphere(2))
    foot = Sphere(2).origin
    points = law.ball.point(np.array([[0.0, 0.0], [0.5, 0.0]]))
    np.testing.assert_allclose(
        law.log_weight(points, foot), [0.0, -1.0 - 0.5 / law.sigma], atol=1e-9
    )
    outside = Sphere(2).exp(foot, np.array([1.5, 0.0, 0.0]))
    assert law.log_weight(outside[None], foot)[0] == -math.inf
    assert law.sigma == pytest.approx(0.8)
    assert law.sigma >= 0.8
    assert law.guarantee == PureDP(0.5)
    assert law.proven


def test_a_prior_is_clipped_whatever_it_returns():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    law = PublicPriorLaplace(ball, lambda x: np.full(len(x), math.nan), 0.5, 0.2, bounds=(0.5, 1.0))
    assert law.sample(np.zeros(2), 10, np.random.default_rng(0)).shape == (10, 2)


def test_a_public_function_is_clipped_on_both_sides():
    values = [-math.inf, -1.0, 0.1, 0.3, 2.0, 7.0, math.inf, math.nan]
    points = np.arange(8.0)[:, None]
    found = clipped(lambda x: np.take(values, x[:, 0].astype(int)), points, (0.2, 2.0))
    np.testing.assert_array_equal(found, [0.2, 0.2, 0.2, 0.3, 2.0, 2.0, 2.0, 0.2])


def test_the_stated_density_is_that_of_the_clipped_prior():
    ball = Ball(Euclidean(1), np.zeros(1), 1.0)
    law = PublicPriorLaplace(
        ball, lambda x: np.where(x[:, 0] > 0.0, 9.0, 0.5), 0.5, 0.2, bounds=(0.5, 1.0)
    )
    weights = law.log_weight(np.array([[0.5], [-0.5]]), np.zeros(1))
    assert weights[0] - weights[1] == pytest.approx(math.log(2.0))


def test_no_proposal_is_accepted_with_more_than_certainty():
    # the largest prior is the top of the acceptance, wherever the bounds lie
    ball = Ball(Euclidean(1), np.zeros(1), 1.0)
    for upper in (0.25, 1.0, 4.0):
        law = PublicPriorLaplace(
            ball, lambda x: np.exp(3.0 * x[:, 0]), 1.0, 0.3, bounds=(0.1, upper)
        )
        points = np.linspace(-1.0, 1.0, 11)[:, None]
        accepted = np.exp(law._law.log_acceptance(np.zeros_like(points), points))
        expected = np.clip(np.exp(3.0 * points[:, 0]), 0.1, upper) / upper
        np.testing.assert_allclose(accepted, expected, rtol=1e-14)


def test_bad_input_is_refused():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    prior = _prior(Euclidean(2))
    with pytest.raises(InvalidBudgetError, match="epsilon"):
        PublicPriorLaplace(ball, prior, -1.0, 0.2, bounds=(0.1, 1.0))
    with pytest.raises(InvalidParameterError, match="sensitivity"):
        PublicPriorLaplace(ball, prior, 1.0, 0.0, bounds=(0.1, 1.0))
    with pytest.raises(InvalidParameterError, match="function"):
        PublicPriorLaplace(ball, 1.0, 1.0, 0.2, bounds=(0.1, 1.0))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="ball"):
        PublicPriorLaplace(1.0, prior, 1.0, 0.2, bounds=(0.1, 1.0))  # type: ignore[arg-type]
    for bounds in ((1.0, 0.1), (0.0, 1.0), (0.1, math.inf), (0.1,), (0.1, 0.5, 1.0)):
        with pytest.raises(InvalidParameterError, match="bound"):
            PublicPriorLaplace(ball, prior, 1.0, 0.2, bounds=bounds)
    with pytest.raises(InvalidParameterError, match="every draw ends"):
        PublicPriorLaplace(ball, prior, 1.0, 0.2, bounds=(1e-9, 1.0))
    with pytest.raises(InvalidParameterError, match="tuple"):
        PublicPriorLaplace(ball, prior, 1.0, 0.2, bounds=0.1)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedManifoldError):
        PublicPriorLaplace(
            Ball(SPDAffineInvariant(2), np.eye(2), 1.0), prior, 1.0, 0.2, bounds=(0.1, 1.0)
        )


def test_no_draw_fails_because_a_batch_is_empty():
    # how many proposals fall into the ball depends on the footpoint
    def prior(points):
        if not len(points):
            raise ValueError("empty")
        return np.ones(len(points))

    ball = Ball(Euclidean(9), np.zeros(9), 1.0)
    law = PublicPriorLaplace(ball, prior, 1.0, 0.05, bounds=(0.5, 2.0))
    generator = np.random.default_rng(0)
    edge = np.eye(9)[0]
    assert all(ball.contains(law.sample(edge, generator=generator)) for _ in range(200))


def test_a_prior_of_the_wrong_shape_is_refused_before_any_draw():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    for wrong in (lambda _: 1.0, lambda x: np.ones(len(x) - 1), lambda x: x):
        with pytest.raises(InvalidParameterError, match="one number"):
            PublicPriorLaplace(ball, wrong, 1.0, 0.1, bounds=(0.5, 2.0))
