from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from riemdp._errors import InvalidBudgetError, InvalidParameterError, NotOnManifoldError
from riemdp.research._conformal_density import (
    cell_counts,
    cell_number,
    density_factor,
    noisy_cell_counts,
    split_budget,
)
from riemdp.research._net import ball_net
from riemdp.research._records import checked_records
from riemdp.spaces import Ball, Euclidean, Sphere

# Exponentials of the C library and of NumPy differ in the last bit; the calibration allows 1e-9.
EPS = 4.0 * float(np.finfo(np.float64).eps)


def _partition(nodes=60):
    return ball_net(Ball(Euclidean(2), np.zeros(2), 1.0), nodes)


def test_counts_are_hard_and_one_record_moves_two_of_them_by_one():
    partition = _partition()
    points = np.random.default_rng(0).uniform(-0.6, 0.6, (200, 2))
    counts = cell_counts(partition, points)
    assert counts.sum() == 200
    assert np.all(counts == np.round(counts))
    for target in ([0.9, 0.0], [0.0, 0.0], [-0.5, 0.5]):
        neighbour = points.copy()
        neighbour[3] = target
        assert np.abs(counts - cell_counts(partition, neighbour)).sum() in (0.0, 2.0)


def test_noise_of_the_counts_has_scale_two_over_epsilon():
    # 100 records in each cell, so that no noisy count is small enough to be set to zero
    partition = _partition()
    points = np.repeat(partition.points, 100, axis=0)
    assert np.all(cell_counts(partition, points) == 100)
    rng = np.random.default_rng(1)
    noise = np.concatenate(
        [noisy_cell_counts(partition, points, 0.3, rng) - 100 for _ in range(60)]
    )
    assert scipy.stats.kstest(noise, scipy.stats.laplace(scale=2 / 0.3).cdf).pvalue > 1e-4
    # negative control: the scale of add-or-remove neighbours
    assert scipy.stats.kstest(noise, scipy.stats.laplace(scale=1 / 0.3).cdf).pvalue < 1e-4


def test_loss_of_the_counts_is_at_most_epsilon():
    # the density ratio of the vector of noisy counts is largest at exp(sum |difference| / scale)
    partition = _partition()
    points = np.random.default_rng(2).uniform(-0.6, 0.6, (50, 2))
    neighbour = points.copy()
    neighbour[0] = [-0.9, 0.0]
    difference = cell_counts(partition, points) - cell_counts(partition, neighbour)

    def loss(scale):
        return np.abs(difference).sum() / scale

    assert loss(2 / 0.3) <= 0.3 * (1 + 1e-12)
    assert loss(1 / 0.3) > 0.3


@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2), Euclidean(3)], ids=str)
def test_factor_is_bounded_and_follows_the_density(manifold):
    ball = Ball(manifold, manifold.origin, 1.0)
    net, partition = ball_net(ball, 600), ball_net(ball, 200)
    points = ball.point(np.random.default_rng(3).normal(0, 0.15, (500, manifold.dim)))
    counts = cell_counts(partition, points)
    factor = density_factor(net, partition, counts, 500)
    assert factor.shape == (len(net.points),)
    assert math.exp(-2 - EPS) <= factor.min() < factor.max() <= math.exp(2 + EPS)
    away = manifold.dist(manifold.origin, net.points)
    assert np.corrcoef(np.log(factor), away)[0, 1] < -0.7
    flipped = density_factor(net, partition, counts, 500, contract_dense=True)
    np.testing.assert_allclose(flipped, 1 / factor)
    # whatever noise does to the counts
    wild = density_factor(net, partition, -1e6 + 2e6 * (counts > 3), 500)
    assert math.exp(-2 - EPS) <= wild.min() <= wild.max() <= math.exp(2 + EPS)


def test_split_of_the_budget():
    assert split_budget(2.0, None) == pytest.approx((0.2, 1.8))
    assert split_budget(1.0, 0.25) == pytest.approx((0.25, 0.75))
    for part in (1.0, 2.0):
        with pytest.raises(InvalidBudgetError, match=r"epsilon_density .* total"):
            split_budget(1.0, part)
    for total, part in ((0.0, None), (1.0, 0.0), (1.0, -0.1)):
        with pytest.raises(InvalidBudgetError, match="positive"):
            split_budget(total, part)


def test_records_are_validated_and_clipped():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    np.testing.assert_allclose(checked_records(ball, np.array([[2.0, 0.0]])), [[1.0, 0.0]])
    with pytest.raises(NotOnManifoldError):
        checked_records(ball, np.array([[math.nan, 0.0]]))
    for wrong in (np.zeros(2), np.zeros((0, 2))):
        with pytest.raises(InvalidParameterError, match="shape"):
            checked_records(ball, wrong)


def test_cells_by_default():
    assert [cell_number(None, dim, math.inf) for dim in (1, 2, 3)] == [16, 256, 1000]
    assert [cell_number(None, dim, 25.0) for dim in (1, 2, 3)] == [16, 25, 64]
    assert cell_number(50, 2, math.inf) == 50
    with pytest.raises(InvalidParameterError, match="cells"):
        cell_number(0, 2, math.inf)


def test_noise_leaves_empty_cells_empty():
    partition = _partition()
    noisy = noisy_cell_counts(partition, np.zeros((500, 2)), 0.3, np.random.default_rng(0))
    assert np.all((noisy == 0) | (noisy > 2 * 2 / 0.3))
    assert np.mean(noisy == 0) > 0.85
