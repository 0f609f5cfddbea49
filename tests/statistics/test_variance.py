"""Variances: what they are, their range, and how far one record moves them."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, Euclidean, InvalidParameterError, SPDLogEuclidean, Sphere
from riemdp._part_document import decode, encode
from riemdp.statistics import Answer, DirectVariance, Variance, answer, outline, through
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

BALLS = [
    Ball(Euclidean(2), [1.0, 0.0], 2.0),
    Ball(Sphere(2), [0.0, 0.6, 0.8], 1.4),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 3.0),
]


def points_of(ball, n=40):
    rows = np.random.default_rng(0).normal(size=(n, ball.manifold.dim))
    return ball.point(0.1 * ball.reach * (rows + 1.0))


@pytest.mark.parametrize(
    "statistic", [Variance("public"), Variance(alpha=30.0), DirectVariance()], ids=str
)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_values_are_variances_in_a_tangent_space(statistic, ball, sums):
    points = points_of(ball)
    rows = ball.coordinates(points)
    (found,) = sums.walked(statistic, ball, points).raw
    wanted = np.square(rows - rows.mean(axis=0)).sum(axis=1).mean()
    curved = ball.manifold.chart is None and statistic == Variance(alpha=30.0)  # of another space
    assert found == pytest.approx(wanted, rel=5e-2 if curved else 1e-6)


def test_values_stay_in_their_range_under_any_noise():
    for ball in BALLS:
        for statistic in (Variance("public"), Variance(), DirectVariance()):
            range_ = outline(statistic, ball).value.ball
            assert range_.manifold.dim == 1
            assert range_.center[0] - range_.radius == 0.0
            assert range_.center[0] + range_.radius == pytest.approx(ball.reach**2)
        for statistic in (Variance("public"), Variance()):
            found = []
            for mean, second in itertools.product((-1e3, 0.0, 1e3), (-1e3, 1e3)):

                def answered(query, mean=mean, second=second, ball=ball):
                    answers = query.answers(ball)
                    noisy = [*np.full(answers.manifold.dim - 1, mean), second]
                    return Answer(answers.point(noisy), 1.0)

                found.append(through(statistic, ball, answered).raw.item())
            assert min(found) == 0.0
            assert max(found) == ball.reach**2


def test_the_direct_variance_of_one_record_is_zero_whatever_rounding_makes_of_it():
    for ball in BALLS:
        half = Fraction(ball.reach) ** 2 / 2
        for point in points_of(ball):
            (found,) = answer(next(DirectVariance().queries(ball)), ball, point[None], 0.0)
            assert -half <= found < -half * (1 - Fraction(1, 10**9))


def test_documents_and_wrong_parameters():
    for statistic in (Variance(), Variance("public"), Variance(alpha=3.0), DirectVariance()):
        assert decode(json.loads(json.dumps(encode(statistic)))) == statistic
    assert set(Variance().proofs()) == {"variance", "recentred", "moments"}
    assert set(Variance("public").proofs()) == {"variance", "moments"}
    for build in (
        lambda: Variance("none"),
        lambda: Variance(share=2.0),
        lambda: Variance(alpha=-1),
    ):
        with pytest.raises(InvalidParameterError):
            build()


@pytest.mark.fast(1)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_the_checks_of_any_statistic_hold(ball):
    for statistic in (Variance(), Variance("public"), DirectVariance()):
        check_part(statistic, ball=ball)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_the_direct_variance_moves_no_farther_than_is_said(n):
    """All records at one end of a diameter but one, which is replaced; exactly, as integers are."""
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    query = next(DirectVariance().queries(ball))
    vectors = np.random.default_rng(7).normal(size=(40, 3))
    moves = []
    for one, other in zip(vectors, vectors[::-1], strict=True):
        rows = [np.array([one] * (n - 1) + [last]) for last in (one, -one, other, 0.0 * one)]
        found = [answer(query, ball, each, 0.0)[0] for each in rows]
        moves += [abs(a - b) for a in found for b in found]
    bound = Fraction(query.replace_one(ball, n, "distance"))
    assert bound * (1 - Fraction(1, 10**9)) < max(moves) <= bound
    exact = Fraction(4 * (n - 1), n * n)
    assert exact + Fraction(1, n << 40) <= bound or bound == 1
    assert bound <= exact + Fraction(1, n << 39)


def test_a_square_of_integers_is_rounded_down_by_less_than_a_step():
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    query = next(DirectVariance().queries(ball))
    given = query.prepare(ball, np.random.default_rng(7).normal(size=(300, 3)))
    for *vector, second in query.rows(ball, given).tolist():
        assert 0 <= sum(x * x for x in vector) - (second << 40) < 1 << 40
