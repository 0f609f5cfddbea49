"""What a solver returns, and what is a weighted mean without weights."""

from __future__ import annotations

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, Sphere
from riemdp.statistics._solver_of_space import mean_solver

BALLS = [
    Ball(space, space.origin, 1.0) for space in (Sphere(2), Hyperbolic(2), SPDAffineInvariant(2))
]


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_a_mean_is_the_weighted_one_without_weights(ball):
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (9, ball.manifold.dim)))
    solver = mean_solver(ball.manifold)
    records = solver.records(ball, points)
    mean = solver.mean(ball, records, 1e-9)
    assert solver.weighs(ball.manifold)
    assert mean.tobytes() == solver.weighted(ball, records, None, 1e-9).tobytes()
    alike = solver.weighted(ball, records, np.full(9, 1.0 / 9.0), 1e-9)
    np.testing.assert_allclose(alike, mean, rtol=0.0, atol=2e-9)
    one = solver.weighted(ball, records, np.array([0.92] + [0.01] * 8), 1e-9)
    assert np.linalg.norm(one - mean) > 0.01


def test_certified_means_are_compared_by_their_numbers():
    first, again, other = (
        riemdp.frechet_mean(Euclidean(2), np.array([[x, 0.0], [1.0, 2.0]])) for x in (0.0, 0.0, 1.0)
    )
    assert first == again
    assert hash(first) == hash(again)
    assert first != other
