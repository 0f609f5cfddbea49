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
)
from riemdp._part_document import decode, encode
from riemdp.statistics import (
    Answer,
    DirectVariance,
    Moments,
    NamedValues,
    Recentred,
    Records,
    Rows,
    TangentMean,
    TangentRegression,
    Variance,
    answer,
    outline,
)
from riemdp.statistics._seen import at_mean, mean_query, steps_ball, view_from_centre
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

BALLS = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 3.1),
    Ball.whole(Sphere(2)),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 5.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
]


def views(ball):
    """Where the first round may lead: the centre, somewhere inside, and beyond the ball."""
    start, dim = view_from_centre(ball), ball.manifold.dim
    answers = mean_query(start, 1.0, moment=True).answers(ball)
    for length, moment in ((0.0, 0.0), (0.2, 0.01), (0.4, 0.5), (9.0, -3.0)):
        noisy = ball.reach * (length * np.eye(dim + 1)[0] + moment * np.eye(dim + 1)[dim])
        yield at_mean(start, Answer(answers.point(noisy), 0.01 * ball.reach), 2.0)


def extremes(ball, view):
    """Records that the second round sees at the ends of its clip, and others."""
    dim = ball.manifold.dim
    axes = np.eye(dim)[:2]
    rows = np.concatenate([axes, -axes, -0.2360679775 * axes, 0.0 * axes])
    rows = np.concatenate([rows, np.random.default_rng(0).normal(size=(4, dim))])
    seen = steps_ball(ball)
    near = seen.manifold.point(view.base, view.unit * rows)
    near = near if seen is ball else ball.point(near)
    return np.concatenate([near, ball.point(ball.reach * rows)])


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_no_record_moves_the_second_round_farther_wherever_the_first_one_led(ball, sums):
    for view in views(ball):
        for second in ("scalar", "matrix"):
            query = Moments(second).query(ball, view, 0.8)
            assert query.replace_one(ball, 2, "coordinates") >= ball.reach
            assert sums.worst_of(query, ball, extremes(ball, view)) <= 1


@pytest.mark.parametrize("covariates", [(60.0, 80.0), (60.0, 60.0)])
def test_each_round_has_the_sensitivity_of_its_own_rows(covariates, sums):
    """That of a mean first, and then of what the features move."""
    for ball in (BALLS[0], BALLS[3], BALLS[5]):
        view = next(views(ball))  # the centre
        points = extremes(ball, view)
        records = Records(points, covariates=np.resize(covariates, len(points)))
        first, second = sums.asked(Recentred(TangentRegression(60.0, 80.0)), ball)
        stated = [query.replace_one(ball, 2, "distance") / ball.reach for query in (first, second)]
        np.testing.assert_allclose(stated, [1.0, 2.0**0.5], rtol=1e-10)
        assert 1 - Fraction(1, 10**6) < sums.worst_of(first, ball, records) <= 1
        found = sums.worst_of(second, ball, records)
        assert found <= 1
        assert covariates[0] != covariates[1] or found > 1 - Fraction(1, 10**6)


def test_what_two_rounds_cost_and_how_far_noise_goes():
    ball = BALLS[1]
    for statistic in (Recentred(Moments(), share=0.36), Variance(share=0.36)):
        assert [query.share for query in outline(statistic, ball).queries] == [0.36, 0.64]
    for spread, unit in ((3.1, 1.0), (1.0, 2.0 / 3.1), (0.1, 0.125)):  # at least an eighth
        found = outline(Recentred(Moments()), ball, spread).value.gain
        assert found == pytest.approx(unit, rel=1e-12)
        # a variance is one number: what the second moment was multiplied by divides its noise
        value = outline(Variance(), ball, spread).value
        assert value.size == 1
        assert value.gain == pytest.approx(unit**2 * ball.reach * 1024 / 1705, rel=1e-12)
    # about the centre, with a mean at the boundary
    slope = np.hypot(1024 / 1705, 2.0) * ball.reach
    assert outline(Variance("public"), ball).value.gain == pytest.approx(slope, rel=1e-12)


def test_records_outside_count_as_what_the_ball_makes_of_them(sums):
    """In the second round too, which sees them from elsewhere."""
    for ball in (Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0), BALLS[5]):
        query = Moments("matrix").query(ball, list(views(ball))[1])
        rows = np.random.default_rng(2).normal(size=(6, ball.manifold.dim))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        outside = ball.point(1.6 * ball.reach * rows)
        for one in outside:
            found = [
                sums.floats(answer(query, ball, x[None], 0.0)) for x in (one, ball.project(one))
            ]
            np.testing.assert_allclose(*found, atol=1e-9)
            assert not ball.contains(one)


def test_a_clip_that_is_not_kept_is_found(sums, monkeypatch):
    """Negative control: records that are scaled as if the clip were shorter go over the bound."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)

    class Loose(Rows):
        def rows(self, ball, records):
            found = super().rows(ball, records)
            return found + found // 100

    monkeypatch.setattr("riemdp.kernel._sums.guarded", lambda rows, *_: rows)
    view = list(views(ball))[1]
    query = Moments().query(ball, view)
    assert sums.worst_of(query, ball, extremes(ball, view)) <= 1
    loose = Loose(query.shape, query.unit, query.vectors, clipped=query.clipped)
    assert sums.worst_of(loose, ball, extremes(ball, view)) > 1


def test_without_noise_the_moments_at_the_mean_are_found(sums):
    rng = np.random.default_rng(0)
    for ball in (BALLS[1], BALLS[3], BALLS[5]):
        rows = 0.05 * ball.reach * rng.normal(size=(60, ball.manifold.dim)) + 0.1
        points = ball.point(rows)
        statistic = Recentred(Moments("matrix"), alpha=50.0)
        value = sums.walked(statistic, ball, points)
        found = NamedValues(value.raw, value.parts)
        np.testing.assert_allclose(found.base, ball.point(rows.mean(axis=0)), atol=1e-7)
        assert found.clip == ball.reach
        seen = ball.manifold.coordinates(found.base, points)
        np.testing.assert_allclose(found.coordinates, seen.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(
            found.second_moment, seen.T @ seen / len(seen), atol=1e-6 * ball.reach**2
        )


def test_noise_follows_the_spread(sums):
    """The clip is twice the spread, and standard deviations shrink with it."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 10.0)
    points = np.random.default_rng(1).normal(size=(4000, 2)) * 0.5 + [3.0, 4.0]
    value = sums.walked(Recentred(Moments()), ball, points, deviation=0.01)
    found = NamedValues(value.raw, value.parts)
    np.testing.assert_allclose(found.base, points.mean(axis=0), atol=1e-6)
    assert found.clip == pytest.approx(max(2.0 * math.sqrt(0.5), 1.25), rel=0.05)
    assert found.mean_sd == pytest.approx(0.01 * found.clip / 10.0)
    assert found.base_sd == 0.01
    assert value.gain == found.clip / 10.0
    np.testing.assert_array_equal(value.raw[:3], [*found.base, found.clip])


def test_answers_of_both_rounds_lie_in_their_ball():
    for second in ("scalar", "matrix"):
        for ball in BALLS:
            for view in views(ball):
                for query in (
                    mean_query(view_from_centre(ball), 0.2, moment=True),
                    Moments(second).query(ball, view, 0.8),
                ):
                    reach = query.answers(ball).reach
                    for point in extremes(ball, view):
                        found = answer(query, ball, point[None], 0.0)
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
