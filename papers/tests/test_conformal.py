from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp import (
    InvalidBudgetError,
    InvalidParameterError,
    NotOnManifoldError,
    UnsupportedBallError,
)
from riemdp.spaces import Ball, Euclidean, SPDLogEuclidean, Sphere
from riemdp_papers._conformal import (
    PublishedConformalLaplace,
    graph_laplacian,
)

LINE = Ball(Euclidean(1), np.zeros(1), 1.0)


def _on_the_line(data):
    return PublishedConformalLaplace(
        data[:, None], LINE, 0.1, 2 / len(data), bandwidth=0.1, neighbours=10, kernel_width=0.5
    )


def _log_density(law, data, points=200_001):
    """Exact on a line: the conformal distance is a difference of integrals of exp(s)."""
    grid = np.linspace(-1, 1, points)
    scaling = law.log_scaling_at(grid[:, None])
    speed = np.exp(scaling)
    step = grid[1] - grid[0]
    along = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1])) * step])
    dist = np.abs(along - np.interp(data.mean(), grid, along))
    weight = np.full(points, step)
    weight[[0, -1]] *= 0.5
    log_p = scaling - law.rate * dist  # base measure factor^(1/2)
    return grid, log_p - math.log(np.sum(weight * np.exp(log_p))), weight


def test_true_loss_of_the_pinned_example():
    """Nominal epsilon 0.1, true loss 2.015, and delta .589 at the nominal epsilon."""
    data = np.random.default_rng(0).normal(0.0, 0.1, 20)
    neighbour = data.copy()
    neighbour[0] = 0.9
    _, log_p, weight = _log_density(_on_the_line(data), data)
    _, log_q, _ = _log_density(_on_the_line(neighbour), neighbour)
    assert np.max(np.abs(log_p - log_q)) == pytest.approx(2.015, abs=5e-4)
    excess = np.maximum(np.exp(log_p) - math.exp(0.1) * np.exp(log_q), 0.0)
    assert np.sum(weight * excess) == pytest.approx(0.589, abs=5e-4)


def test_with_a_factor_from_elsewhere_the_loss_is_below_epsilon():
    # negative control: the same data, footpoints and base measure, but one factor for both
    data = np.random.default_rng(0).normal(0.0, 0.1, 20)
    neighbour = data.copy()
    neighbour[0] = 0.9
    law = _on_the_line(data)
    _, log_p, _ = _log_density(law, data)
    _, log_q, _ = _log_density(law, neighbour)
    assert np.max(np.abs(log_p - log_q)) <= 0.1


def test_distance_and_weight_against_the_exact_ones_on_a_line():
    data = np.random.default_rng(0).normal(0.0, 0.1, 20)
    law = _on_the_line(data)
    grid, log_p, _ = _log_density(law, data)
    some = np.arange(0, len(grid), 5000)
    weight = law.log_weight(grid[some, None], np.broadcast_to(data.mean(), (len(some), 1)))
    np.testing.assert_allclose(weight - weight[0], log_p[some] - log_p[some[0]], atol=0.01)


def test_the_equation_is_solved_and_dense_places_contract():
    rng = np.random.default_rng(1)
    data = np.concatenate([rng.normal(0, 0.05, (30, 2)), rng.uniform(-0.5, 0.5, (10, 2))])
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    law = PublishedConformalLaplace(data, ball, 0.5, 0.05, bandwidth=0.3, neighbours=39)
    dist = np.linalg.norm(data[:, None] - data[None], axis=-1)
    density = np.exp(-(dist**2) / (2 * 0.09)).mean(axis=1) / (2 * math.pi * 0.09)
    laplacian = graph_laplacian(dist, 39, 0.5)
    np.testing.assert_allclose(laplacian.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(laplacian @ law.log_scaling, density.mean() - density, atol=1e-9)
    assert law.log_scaling.mean() == pytest.approx(0.0, abs=1e-12)
    # "in denser regions, this factor is smaller"
    assert np.corrcoef(law.log_scaling, density)[0, 1] < -0.5
    assert law.rate == pytest.approx(0.5 / (2 * np.exp(law.log_scaling.max()) * 0.05))


def test_neighbours_are_symmetrised_by_the_larger_weight():
    dist = np.abs(np.subtract.outer([0.0, 1.0, 3.0], [0.0, 1.0, 3.0]))
    weights = -graph_laplacian(dist, 1, 2.0)
    assert weights[0, 1] == weights[1, 0] == pytest.approx(math.exp(-0.25))
    assert weights[2, 1] == weights[1, 2] == pytest.approx(math.exp(-1.0))
    assert weights[0, 2] == 0.0


def test_the_chain_draws_from_the_density_on_a_line():
    data = np.random.default_rng(0).normal(0.0, 0.1, 20)
    law = PublishedConformalLaplace(
        data[:, None], LINE, 3.0, 0.1, bandwidth=0.1, kernel_width=0.5, steps=300
    )
    grid, log_p, weight = _log_density(law, data, 20_001)
    cdf = np.cumsum(weight * np.exp(log_p))
    draws = law.sample(np.array([data.mean()]), 2000, np.random.default_rng(5))
    assert draws.shape == (2000, 1)
    fit = scipy.stats.kstest(draws[:, 0], lambda x: np.interp(x, grid, cdf))
    assert fit.pvalue > 1e-4


@pytest.mark.parametrize("manifold", [Euclidean(3), Sphere(2), SPDLogEuclidean(2)], ids=str)
def test_draws_stay_in_the_ball_and_in_the_conformal_ball(manifold):
    ball = Ball(manifold, manifold.origin, 0.8)
    data = ball.point(np.random.default_rng(2).normal(0, 0.2, (15, manifold.dim)))
    foot = manifold.origin
    law = PublishedConformalLaplace(data, ball, 0.5, 0.1, steps=30, support=0.3, rate_max=2.0)
    assert law.rate <= 2.0
    draws = law.sample(foot, (4, 2), np.random.default_rng(0))
    assert draws.shape == (4, 2, *manifold.point_shape)
    assert np.all(ball.contains(draws))
    assert np.all(law.conformal_distance(foot, draws) <= 0.3)
    free = PublishedConformalLaplace(data, ball, 0.5, 0.1, steps=30)
    assert np.any(free.conformal_distance(foot, free.sample(foot, 20)) > 0.3)


def test_nothing_is_guaranteed():
    law = _on_the_line(np.linspace(-0.5, 0.5, 12))
    assert not law.proven
    assert law.guarantee is None
    assert "array" not in repr(law)


def test_bad_input_is_refused():
    data = np.linspace(-0.5, 0.5, 12)[:, None]
    with pytest.raises(InvalidBudgetError, match="epsilon"):
        PublishedConformalLaplace(data, LINE, 0.0, 0.1)
    with pytest.raises(InvalidParameterError, match="n >= 2"):
        PublishedConformalLaplace(data[:1], LINE, 0.1, 0.1)
    with pytest.raises(InvalidParameterError, match="bandwidth"):
        PublishedConformalLaplace(data, LINE, 0.1, 0.1, bandwidth=-1.0)
    with pytest.raises(InvalidParameterError, match="steps"):
        PublishedConformalLaplace(data, LINE, 0.1, 0.1, steps=0)
    with pytest.raises(InvalidParameterError, match="ball"):
        PublishedConformalLaplace(data, 1.0, 0.1, 0.1)  # type: ignore[arg-type]
    with pytest.raises(NotOnManifoldError):
        PublishedConformalLaplace(np.array([[0.0], [math.nan]]), LINE, 0.1, 0.1)
    with pytest.raises(UnsupportedBallError, match="ball"):
        _on_the_line(data[:, 0]).sample(np.array([2.0]))


def test_widths_by_default_are_shares_of_the_radius():
    ball = Ball(Euclidean(2), np.zeros(2), 3.0)
    law = PublishedConformalLaplace(np.eye(2), ball, 1.0, 0.1)
    assert law.kernel_width == 1.5
    assert law.bandwidth == pytest.approx(0.3, rel=1e-15)
