"""Noisy steps: where they lead without noise, and what they say of themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp._part_document import decode, encode, from_text
from riemdp.statistics import GeometricMedian, HuberMean, RefinedMean, frechet_mean
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

BALLS = [
    Ball(Euclidean(2), [1.0, -2.0], 3.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 3.0),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 4.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 5.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 5.0),
]
STATISTICS = [RefinedMean(), RefinedMean(3), GeometricMedian(4), HuberMean(4)]


def data(ball, n=60, spread=0.2, seed=0):
    """Records about a point that is not the centre."""
    rng = np.random.default_rng(seed)
    middle = np.zeros(ball.manifold.dim)
    middle[0] = 0.6
    return ball.point(middle + spread * rng.normal(size=(n, ball.manifold.dim)))


def objective(ball, points, c, loss):
    """Mean loss of distances to a point that is given by coordinates about another one."""
    return float(np.mean(loss(ball.manifold.dist(c, points))))


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_without_noise_steps_lead_to_what_they_are_named_after(ball, sums):
    points = data(ball)
    space = ball.manifold
    mean = frechet_mean(space, points, ball=Ball(space, points[0], 1.5)).value
    gap = space.dist(mean, sums.walked(RefinedMean(4, alpha=4.0), ball, points).raw)
    assert gap < 1e-3  # the tangent mean about a point that is nearly the mean

    def worse(value, loss):
        """Points all around, of which none should be better."""
        angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
        around = np.zeros((8, space.dim))
        around[:, 0], around[:, 1] = 0.05 * np.cos(angles), 0.05 * np.sin(angles)
        here = objective(ball, points, value, loss)
        return all(objective(ball, points, c, loss) > here for c in space.point(value, around))

    assert worse(sums.walked(GeometricMedian(40), ball, points).raw, lambda d: d)
    huber = sums.walked(HuberMean(40, clip=0.1, threshold=math.inf), ball, points).raw
    assert worse(huber, lambda d: np.where(d < 0.1, 0.5 * d**2, 0.1 * d - 0.005))


def test_a_median_stays_where_a_mean_is_carried_away(sums):
    ball = Ball(Euclidean(2), [0.0, 0.0], 10.0)
    points = data(ball, 100)
    clean = frechet_mean(ball.manifold, points).value
    points[::10] = [0.0, 10.0]
    moved = {
        statistic.name: float(np.linalg.norm(sums.walked(statistic, ball, points).raw - clean))
        for statistic in (RefinedMean(4, alpha=10.0), HuberMean(30), GeometricMedian(30))
    }
    assert moved["refined-mean"] > 0.9
    assert moved["geometric-median"] < 0.2
    assert moved["geometric-median"] < moved["huber-mean"] < moved["refined-mean"]


@pytest.mark.parametrize(
    "points",
    [
        np.array([[0.0, 0.0, 1.0]]),
        np.array([[0.0, 0.0, 1.0]] * 5),
        np.array([[0.0, 0.0, -1.0]] * 3),
        np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]),
        np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    ],
    ids=["one", "coincident", "at the cut point", "antipodes", "equator"],
)
@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_extreme_records_have_a_value(statistic, points, sums):
    for ball in (Ball(Sphere(2), [0.0, 0.0, 1.0], 3.1), Ball.whole(Sphere(2))):
        value = sums.walked(statistic, ball, points).raw
        ball.manifold.validate(value)
        assert ball.contains(value)


def test_dimension_one(sums):
    for space, ends in ((Euclidean(1), [[-1.0], [2.0]]), (Sphere(1), [[1.0, 0.0], [0.0, 1.0]])):
        ball = Ball(space, space.origin, 2.5)
        for statistic in STATISTICS:
            assert ball.contains(sums.walked(statistic, ball, np.array(ends)).raw)


@pytest.mark.parametrize("statistic", [*STATISTICS, RefinedMean(1)], ids=str)
def test_every_answer_moves_as_far_as_is_said_and_no_farther(statistic, sums):
    """Query by query, seen from where no noise leads."""
    ball = BALLS[0]
    points = ball.point([[3.0, 0.0], [-3.0, 0.0], [0.0, 3.0], [0.7, 0.0]])
    for query in sums.asked(statistic, ball):
        assert 1 - Fraction(1, 10**8) < sums.worst_of(query, ball, points) <= 1


@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_exact_sums_rest_on_their_own_proof(statistic):
    for ball in BALLS[:2]:
        assert set(statistic.proofs_on(ball)) == {statistic.name, "exact mean"}


def test_documents_and_texts():
    for part in (
        RefinedMean(),
        RefinedMean(3, (0.1, 0.1, 0.8), 1.25),
        GeometricMedian(7, 0.1, 0.5),
        HuberMean(5, clip=0.3, threshold=math.inf),
    ):
        assert decode(encode(part), "statistic") == part
    assert from_text("geometric-median:steps=16", "statistic") == GeometricMedian(16)
    assert from_text("refined-mean", "statistic") == RefinedMean()
    assert from_text("huber-mean:clip=0.5", "statistic") == HuberMean(clip=0.5)


@pytest.mark.fast(2)
@pytest.mark.parametrize("statistic", [*STATISTICS, RefinedMean(1)], ids=str)
def test_the_checks_of_any_statistic_hold(statistic):
    check_part(statistic, ball=BALLS[0])


@pytest.mark.slow
@pytest.mark.parametrize("ball", BALLS[1:], ids=str)
@pytest.mark.parametrize("statistic", [*STATISTICS, RefinedMean(1)], ids=str)
def test_the_checks_of_any_statistic_hold_on_other_spaces(statistic, ball):
    check_part(statistic, ball=ball)
    if not isinstance(ball.manifold, SPDAffineInvariant):  # whose products round by position
        check_part(statistic, ball=ball)
