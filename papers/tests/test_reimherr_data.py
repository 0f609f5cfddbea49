from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.statistics import frechet_mean_sensitivity
from riemdp_papers import _reimherr_data as data
from riemdp_papers._reimherr_data import SPD, SPD_RADIUS, SPHERE, SPHERE_RADIUS


@pytest.mark.parametrize("ball", [SPD, SPHERE], ids=["spd", "sphere"])
def test_records_lie_in_the_ball_and_fill_it(ball):
    points = data.draw_data(ball, 5000, np.random.default_rng(0))
    assert points.shape == (5000, *ball.manifold.point_shape)
    distances = ball.manifold.dist(ball.center, points)
    assert np.max(distances) <= ball.radius * (1 + 1e-12)
    assert np.max(distances) > 0.99 * ball.radius


def test_polar_angles_on_the_sphere_are_uniform():
    angles = np.sort(
        SPHERE.manifold.dist(SPHERE.center, data.sphere_data(20_000, np.random.default_rng(1)))
    )
    uniform = (np.arange(20_000) + 0.5) / 20_000
    assert np.max(np.abs(angles / SPHERE.radius - uniform)) < 1.95 / math.sqrt(20_000)  # p = 1e-3


def test_matrices_follow_the_truncated_wishart_law():
    """Against plain rejection, one matrix at a time, from scipy's Wishart law."""
    from scipy.stats import ks_2samp, wishart

    generator = np.random.default_rng(2)
    draws = wishart(df=2, scale=np.eye(2) / 2).rvs(40_000, random_state=generator)
    draws = draws[np.linalg.det(draws) > 1e-12]
    kept = draws[SPD.manifold.dist(np.eye(2), draws) < SPD.radius]
    ours = data.spd_data(len(kept), generator)
    for statistic in (np.linalg.det, lambda m: np.trace(m, axis1=-2, axis2=-1)):
        assert ks_2samp(statistic(ours), statistic(kept)).pvalue > 1e-4


@pytest.mark.parametrize("ball", [SPD, SPHERE], ids=["spd", "sphere"])
@pytest.mark.parametrize("n", [11, 201])
def test_the_worst_pair_is_near_the_bound_and_never_above(ball, n):
    move = float(ball.manifold.dist(*data.worst_pair(ball, n)))
    bound = frechet_mean_sensitivity(ball, n)
    assert 0.95 * bound < move <= bound + 1e-9
    if n == 201:
        assert move > 0.999 * bound


@pytest.mark.parametrize(
    ("ball", "radius", "factor"), [(SPD, SPD_RADIUS, 1.9), (SPHERE, SPHERE_RADIUS, 1.05)]
)
def test_the_mean_moves_by_more_than_the_embedding_allows(ball, radius, factor):
    assert data.largest_step(ball, 201) > factor * 2 * radius / 201


def test_the_step_of_matrices_is_that_of_actual_means():
    n = 21
    logs = np.zeros((n, 2, 2))
    logs[:, 0, 0] = SPD.radius
    moved = logs.copy()
    moved[-1, 0, 0] = -SPD.radius
    one, two = (
        data.fixed_mean(SPD, SPD.manifold.exp(np.eye(2), values)) for values in (logs, moved)
    )
    vech = [np.array([m[0, 0], m[1, 0], m[1, 1]]) for m in (one, two)]
    assert np.linalg.norm(vech[0] - vech[1]) == pytest.approx(data.largest_step(SPD, n), rel=1e-7)


def test_the_embeddings_radius_holds_the_ball():
    """Proposition 1 and A.3.2, by search."""
    generator = np.random.default_rng(3)
    chords = np.linalg.norm(data.sphere_data(5000, generator) - SPHERE.center, axis=-1)
    assert 0.99 * SPHERE_RADIUS < np.max(chords) <= SPHERE_RADIUS * (1 + 1e-12)
    directions = generator.standard_normal((5000, 2))
    logs = SPD.radius * directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    sizes = np.linalg.norm(np.expm1(logs), axis=-1)
    assert 0.999 * SPD_RADIUS < np.max(sizes) <= SPD_RADIUS * (1 + 1e-12)
