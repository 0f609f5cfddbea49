"""Sums seen from a released mean: whatever was released, no record moves them farther."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedNeighboursError,
)
from riemdp._part_document import decode, encode
from riemdp.statistics import (
    DirectVariance,
    Moments,
    Recentred,
    Records,
    TangentMean,
    TangentRegression,
    Variance,
    answer,
)
from riemdp.testing import check_part


def numbers(*given):
    """An answer in float64."""
    return np.array(answer(*given), dtype=float)


BALLS = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 3.1),
    Ball.whole(Sphere(2)),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 5.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
]


def places(statistic, ball):
    """Where the first round may lead: the centre, somewhere inside, and beyond the ball."""
    dim = statistic.answers(ball).manifold.dim
    first = np.eye(dim)[0]
    for length, moment in ((0.0, 0.0), (0.2, 0.01), (0.4, 0.5), (9.0, -3.0)):
        noisy = ball.reach * (length * first + moment * np.eye(dim)[ball.manifold.dim])
        yield statistic.move(ball, statistic.start(ball), noisy, 0, lambda: 0.01 * ball.reach)


def extremes(ball, place):
    """Records that the second round sees at the ends of its clip, and others."""
    dim = ball.manifold.dim
    axes = np.eye(dim)[:2]
    rows = np.concatenate([axes, -axes, -0.2360679775 * axes, 0.0 * axes])
    rows = np.concatenate([rows, np.random.default_rng(0).normal(size=(4, dim))])
    seen = ball.manifold if ball.manifold.chart is None else Euclidean(dim)
    near = seen.point(place.point, place.unit * rows)
    near = near if seen is ball.manifold else ball.point(near)
    return np.concatenate([near, ball.point(ball.reach * rows)])


@pytest.mark.parametrize("covariates", [(60.0, 80.0), (60.0, 60.0)])
def test_the_first_round_moves_as_far_as_the_second(covariates, sums):
    """It is multiplied by what features move in place of 2: both are paid for at one rate."""
    line = TangentRegression(60.0, 80.0)
    for ball in (BALLS[0], BALLS[3], BALLS[5]):
        statistic = Recentred(line)
        stated = Fraction(statistic.replace_one(ball, 2, "distance"))
        assert float(stated) == pytest.approx(2.0**0.5 * ball.reach, rel=1e-10)
        place = next(places(statistic, ball))  # the centre
        for step, at in ((0, statistic.start(ball)), (1, place)):
            points = extremes(ball, place)
            records = Records(points, covariates=np.resize(covariates, len(points)))
            limit = (stated * Fraction(statistic.answer_weight(step))) ** 2
            found = max(sums.moves(statistic.ask(ball, at, step), ball, records))
            assert limit * (1 - Fraction(1, 10**6)) < found <= limit


def test_what_two_rounds_cost_and_how_far_noise_goes():
    ball = BALLS[1]
    for statistic in (Recentred(Moments(), share=0.36), Variance(share=0.36)):
        weights = [statistic.answer_weight(step) for step in range(statistic.steps)]
        np.testing.assert_allclose(weights, [0.6, 0.8], rtol=1e-12)
    assert Recentred(Moments(), share=0.36).noise_in_value(ball) == pytest.approx(1.25)
    # of a variance squares of distances
    for statistic, wanted in ((Variance(share=0.36), 1.25), (Variance("public"), 1.0)):
        assert statistic.noise_in_value(ball) == pytest.approx(2.1 * ball.reach * wanted)
    with pytest.raises(UnsupportedNeighboursError):
        Recentred(Moments()).add_remove(ball, "distance")


def test_an_inner_statistic_that_says_less_takes_no_noise_from_the_first_round():
    class Modest(Moments):
        name = "tests.modest"

        def replace_one(self, ball, n, metric):
            return 0.1 * super().replace_one(ball, n, metric)

        def add_remove(self, ball, metric):
            return 0.1

    statistic, ball = Recentred(Modest()), BALLS[0]
    stated = Recentred(Moments()).replace_one(ball, 7, "distance")
    assert statistic.replace_one(ball, 7, "distance") == stated
    assert statistic.replace_point(ball, 7, "distance") == stated
    with pytest.raises(UnsupportedNeighboursError):
        statistic.add_remove(ball, "distance")


def test_records_outside_count_as_what_the_ball_makes_of_them():
    """In the second round too, which sees them from elsewhere."""
    for ball in (Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0), BALLS[5]):
        statistic = Recentred(Moments("matrix"))
        place = list(places(statistic, ball))[1]
        rows = np.random.default_rng(2).normal(size=(6, ball.manifold.dim))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        outside = ball.point(1.6 * ball.reach * rows)
        question = statistic.ask(ball, place, 1)
        for one in outside:
            found = [numbers(question, ball, x[None], 0.0) for x in (one, ball.project(one))]
            np.testing.assert_allclose(*found, atol=1e-9)
            assert not ball.contains(one)


def test_a_clip_that_is_not_kept_is_found(sums, monkeypatch):
    """Negative control: records that are scaled as if the clip were shorter go over the bound."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)

    class Loose(Moments):
        name = "tests.loose"

        def rows(self, ball, records):
            found = super().rows(ball, records)
            return found + found // 100

    monkeypatch.setattr("riemdp.kernel._sums.guarded", lambda rows, *_: rows)
    statistic = Recentred(Loose())
    place = list(places(statistic, ball))[1]
    limit = (
        Fraction(statistic.replace_one(ball, 2, "distance")) * Fraction(statistic.answer_weight(1))
    ) ** 2
    assert max(sums.moves(statistic.ask(ball, place, 1), ball, extremes(ball, place))) > limit


def test_without_noise_the_moments_at_the_mean_are_found():
    rng = np.random.default_rng(0)
    for ball in (BALLS[1], BALLS[3], BALLS[5]):
        rows = 0.05 * ball.reach * rng.normal(size=(60, ball.manifold.dim)) + 0.1
        points = ball.point(rows)
        statistic = Recentred(Moments("matrix"), alpha=50.0)
        place = statistic.start(ball)
        for step in (0, 1):
            noisy = numbers(statistic.ask(ball, place, step), ball, points, 0.0)
            place = statistic.move(ball, place, noisy, step, float)
        value = statistic.value_at(ball, place)
        found = statistic.present(ball, value, float)
        np.testing.assert_allclose(found.base, ball.point(rows.mean(axis=0)), atol=1e-7)
        assert found.clip == ball.reach
        seen = ball.manifold.coordinates(found.base, points)
        np.testing.assert_allclose(found.coordinates, seen.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(
            found.second_moment, seen.T @ seen / len(seen), atol=1e-6 * ball.reach**2
        )


def test_noise_follows_the_spread():
    """The clip is twice the spread, and standard deviations shrink with it."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 10.0)
    points = np.random.default_rng(1).normal(size=(4000, 2)) * 0.5 + [3.0, 4.0]
    statistic = Recentred(Moments())
    place = statistic.start(ball)
    found = numbers(statistic.ask(ball, place, 0), ball, points, 0.0)
    place = statistic.move(ball, place, found, 0, lambda: 0.01)
    np.testing.assert_allclose(place.point, points.mean(axis=0), atol=1e-6)
    assert place.unit == pytest.approx(max(2.0 * math.sqrt(0.5), 1.25), rel=0.05)
    found = statistic.present(
        ball,
        statistic.value_at(ball, (place, np.zeros(3))),
        lambda: 0.1 * statistic.answer_weight(1),
    )
    assert found.mean_sd == pytest.approx(0.1 * place.unit / 10.0)


def test_answers_of_both_rounds_lie_in_their_ball():
    for second in ("scalar", "matrix"):
        for ball, share in ((BALLS[1], 0.99), *((ball, 0.2) for ball in BALLS)):
            statistic = Recentred(Moments(second), share)
            reach = statistic.answers(ball).reach
            for place in places(statistic, ball):
                for step, at in ((0, statistic.start(ball)), (1, place)):
                    for point in extremes(ball, place):
                        rows = point[None]
                        found = answer(statistic.ask(ball, at, step), ball, rows, 0.0)
                        assert math.hypot(*map(float, found)) <= reach


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: Recentred(TangentMean()), "sum of normal coordinates"),
        (lambda: Recentred(DirectVariance()), "sum of normal coordinates"),
        (lambda: Recentred(3), "sum of normal coordinates"),
        (lambda: Recentred(Moments(), share=1.0), "share must be over 0 and under 1"),
        (lambda: Recentred(Moments(), share=math.nan), "share must be over 0 and under 1"),
        (lambda: Recentred(Moments(), alpha=0.0), "alpha must be positive"),
    ],
)
def test_wrong_parameters_are_refused(build, said):
    with pytest.raises(InvalidParameterError, match=said):
        build()


def test_documents():
    statistic = Recentred(Moments("matrix"), 0.3, 1.5)
    assert decode(json.loads(json.dumps(encode(statistic)))) == statistic
    assert statistic.inside == (Moments("matrix"),)
    assert set(statistic.proofs()) == {"recentred", "moments"}


@pytest.mark.fast(2)
@pytest.mark.parametrize("ball", [BALLS[0], BALLS[1], BALLS[4]], ids=str)
def test_the_checks_of_any_statistic_hold(ball):
    check_part(Recentred(Moments()), ball=ball)
