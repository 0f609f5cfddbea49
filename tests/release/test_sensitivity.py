"""Sensitivity of what a release hands to the sampler, rounding and solver included.

``private_mean`` calibrates to ``computed_sensitivity`` and adds noise to the coordinates that the
clipped means return. Here one record of many changes, on data that are hard to compute with, and
the footpoint may move by that sensitivity at most.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp._errors import NotOnManifoldError, UnsupportedBallError
from riemdp.release._offer import computed_sensitivity
from riemdp.statistics import FrechetMean, ReplaceOne, TangentMean, answer

seeds = st.integers(0, 2**32 - 1)
STATISTICS = {
    "frechet-mean": (FrechetMean(), "distance"),
    "tangent-mean": (TangentMean(), "coordinates"),
}


def distance(ball, u, v):
    """Distance of two points in normal coordinates, by half angles, where nothing cancels.

    For matrices the distance of the coordinates, which is not longer: the exponential expands.
    """
    if not isinstance(ball.manifold, Sphere | Hyperbolic):
        return float(np.linalg.norm(u - v))
    k = math.sqrt(abs(ball.manifold.curvature))
    a, b = (max(float(np.linalg.norm(w)), 1e-300) for w in (u, v))
    half = 0.5 * float(np.linalg.norm(u / a - v / b))
    if isinstance(ball.manifold, Sphere):
        square = math.sin(k * (a - b) / 2) ** 2 + math.sin(k * a) * math.sin(k * b) * half**2
        return 2.0 * math.asin(math.sqrt(min(square, 1.0))) / k
    square = math.sinh(k * (a - b) / 2) ** 2 + math.sinh(k * a) * math.sinh(k * b) * half**2
    return 2.0 * math.asinh(math.sqrt(square)) / k


def moved(ball, rows, counts, ends, summary="frechet-mean"):
    """Move of the computed mean, over the sensitivity, when the last record is replaced."""
    first, second = ends
    n = int(sum(counts)) + 1
    statistic, metric = STATISTICS[summary]
    query = next(statistic.queries(ball))
    sensitivity, tol = computed_sensitivity(statistic, query, ball, n, metric, ReplaceOne())
    data = np.concatenate([np.repeat(rows, counts, axis=0), first[None]])
    before = np.array(answer(query, ball, ball.manifold.validate(data), tol), dtype=float)
    data[-1] = second
    after = np.array(answer(query, ball, ball.manifold.validate(data), tol), dtype=float)
    assert max(np.linalg.norm(before), np.linalg.norm(after)) <= ball.radius * (1 + 1e-12)
    if summary == "tangent-mean":
        return float(np.linalg.norm(before - after)) / sensitivity
    return distance(ball, before, after) / sensitivity


def sensitivity_of_mean(ball, n):
    query = next(FrechetMean().queries(ball))
    return computed_sensitivity(FrechetMean(), query, ball, n, "distance", ReplaceOne())


@functools.cache
def largest_ball(manifold):
    """The largest ball about the identity whose mean is not refused from public numbers."""

    def allowed(radius):
        try:
            sensitivity_of_mean(Ball(manifold, np.eye(manifold.k), radius), 9)
        except UnsupportedBallError:
            return False
        return True

    low, high = 0.1, 60.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low


def symmetric(matrices):
    return 0.5 * (matrices + np.swapaxes(matrices, -1, -2))


def graded(rng, k, decades):
    """Matrix ``D C D`` with C of moderate condition and a diagonal D over many decades."""
    factor = rng.normal(size=(k, k)) / math.sqrt(k)
    core = factor @ factor.T + 0.3 * np.eye(k)
    scale = 10.0 ** (decades * rng.permutation(np.linspace(-0.25, 0.25, k)))
    return symmetric(core * scale[:, None] * scale)


def spread(rng, k, decades):
    """Matrix with a random frame and eigenvalues over many decades, as far as float64 goes."""
    frame = np.linalg.qr(rng.normal(size=(k, k)))[0]
    values = 10.0 ** rng.uniform(-0.5 * min(decades, 12.0), 0.5 * min(decades, 12.0), size=k)
    return symmetric((frame * values) @ frame.T)


def spd_pair(rng, ball, decades):
    """Rows of a data set, and two records that take the last place in turn."""

    def draw(kind):
        over = decades
        while True:
            matrix = kind(rng, ball.manifold.k, over)
            try:
                ball.coordinates(matrix)
                return ball.manifold.validate(matrix)
            except NotOnManifoldError:  # more than float64 or this space takes
                over *= 0.7

    rows = np.stack([draw((graded, spread)[int(rng.integers(2))]) for _ in range(3)])
    if rng.integers(2):  # all equal but for a factor
        return np.repeat(rows[:1], 3, axis=0), (rows[0], rng.uniform(1.1, 3.0) * rows[0])
    return rows, (draw(graded), draw(spread))


def direction_pair(rng, ball):
    """Points on the boundary of a ball: clusters, and a record that crosses it."""
    dim = ball.manifold.dim
    ends = rng.normal(size=(5, dim))
    ends[3], ends[4] = ends[0] + 0.1 * ends[3], -ends[0]
    if rng.integers(2):
        ends[1] = -ends[2]
    ends *= ball.radius / np.linalg.norm(ends, axis=-1, keepdims=True)
    points = ball.point(ends * rng.choice([1.0, 1.0, 0.3, 1e-3], size=(5, 1)))
    return points[:3], points[3:]


def split(rng, n):
    return rng.multinomial(n - 1, rng.dirichlet([0.5, 0.5, 0.5]))


CURVED = [
    Ball(Sphere(2), np.eye(3)[0], 0.9),
    Ball(Sphere(2), np.eye(3)[2], 0.998 * 0.5 * math.pi * (1 - 1e-12)),
    Ball(Sphere(6, 0.25), 2.0 * np.eye(7)[0], 3.1),
    Ball(Hyperbolic(2), np.eye(3)[0], 1.0),
    Ball(Hyperbolic(2), np.eye(3)[0], 8.0),
    Ball(Hyperbolic(5, -4.0), Hyperbolic(5, -4.0).exp(0.5 * np.eye(6)[0], np.eye(6)[1]), 4.0),
]
WIDE = [
    Ball(Sphere(2), np.eye(3)[0], math.pi * (1 - 1e-9)),
    Ball(Hyperbolic(3), np.eye(4)[0], 8.0),
    Ball(SPDAffineInvariant(3), np.diag([1e-3, 1.0, 50.0]), 60.0),
    Ball(SPDLogEuclidean(3), np.diag([1e-6, 1.0, 1e5]), 60.0),
    Ball(Euclidean(3), [1e6, 0.0, -1.0], 1e-3),
]


@given(seed=seeds, which=st.integers(0, len(CURVED) - 1), n=st.sampled_from([2, 3, 50, 1000]))
def test_curved_spaces_to_the_largest_ball(seed, which, n):
    rng, ball = np.random.default_rng(seed), CURVED[which]
    rows, ends = direction_pair(rng, ball)
    assert moved(ball, rows, split(rng, n), ends) <= 1.0


@given(
    seed=seeds,
    which=st.integers(0, len(WIDE) - 1),
    n=st.sampled_from([2, 3, 50, 1000]),
    decades=st.sampled_from([2.0, 12.0, 30.0]),
)
def test_tangent_means_to_the_largest_ball(seed, which, n, decades):
    rng, ball = np.random.default_rng(seed), WIDE[which]
    if ball.manifold.point_shape == (3, 3):
        rows, ends = spd_pair(rng, ball, decades)
    else:
        rows, ends = direction_pair(rng, ball)
    assert moved(ball, rows, split(rng, n), ends, summary="tangent-mean") <= 1.0


@pytest.mark.fast(1)
@given(
    seed=seeds,
    k=st.sampled_from([2, 3, 5, 10]),
    share=st.sampled_from([0.02, 0.5, 0.9, 1.0]),
    n=st.sampled_from([2, 30, 500]),
)
@pytest.mark.parametrize("kind", [SPDAffineInvariant, SPDLogEuclidean])
def test_graded_matrices(kind, seed, k, share, n):
    rng = np.random.default_rng(seed)
    ball = Ball(kind(k), np.eye(k), share * largest_ball(kind(k)))
    rows, ends = spd_pair(rng, ball, rng.uniform(1.0, 30.0))
    assert moved(ball, rows, split(rng, n), ends) <= 1.0


def test_the_pair_that_moved_the_mean_too_far():
    # By 1.9 times the sensitivity: the rounding of a logarithm was in no allowance.
    rng, ball = np.random.default_rng(21), Ball(SPDAffineInvariant(5), np.eye(5), 40.0)
    rows, ends = spd_pair(rng, ball, rng.uniform(1.0, 30.0))
    try:
        sensitivity_of_mean(ball, 500)
    except UnsupportedBallError:
        return
    assert moved(ball, rows, split(rng, 500), ends) <= 1.0


@pytest.mark.parametrize("ball", [*CURVED, WIDE[-1]], ids=str)
def test_the_sensitivity_is_nearly_reached(ball):
    # The search above does not pass because its pairs are tame.
    worst = 0.0
    for n in (2, 3, 50):
        side = np.zeros((3, ball.manifold.dim))
        side[:, 0] = ball.radius * np.array([1.0, -1.0, 0.0])
        if isinstance(ball.manifold, Sphere):  # half of the records at either end, one crosses
            rows = np.zeros((2, ball.manifold.dim))
            rows[:, 1] = ball.radius, -ball.radius
            counts = [(n - 1) // 2, n - 1 - (n - 1) // 2]
        else:
            rows, counts = side[:1], [n - 1]
        rows, ends = ball.point(rows), ball.point(side)
        worst = max(worst, moved(ball, rows, counts, ends[:2]))
    assert 0.6 <= worst <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.parametrize("ball", CURVED, ids=str)
def test_many_records_on_curved_spaces(ball, n):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, ends = direction_pair(rng, ball)
        assert moved(ball, rows, split(rng, n), ends) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.parametrize("kind", [SPDAffineInvariant, SPDLogEuclidean])
def test_many_graded_matrices(kind, k, share, n):
    ball = Ball(kind(k), np.eye(k), share * largest_ball(kind(k)))
    for seed in range(2):
        rng = np.random.default_rng(seed)
        rows, ends = spd_pair(rng, ball, 14.0)
        assert moved(ball, rows, split(rng, n), ends) <= 1.0
