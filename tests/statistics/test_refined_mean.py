"""Means in rounds: their shares, and what the spread of one does to the next."""

from __future__ import annotations

import math

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean, Sphere
from riemdp.kernel import Moment, Vector
from riemdp.statistics import Answer, RefinedMean, TangentMean, outline

FREE = Moment(1).weights[0]


def test_rounds_ask_with_their_shares():
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    found = outline(RefinedMean(3, (0.1, 0.2, 0.7)), ball).queries
    assert [query.share for query in found] == [0.1, 0.2, 0.7]
    assert [query.shape for query in found] == [Moment(2), Moment(2), Vector(2)]
    assert RefinedMean().shares == pytest.approx((0.2, 0.8))
    assert RefinedMean(3).shares == pytest.approx((0.1, 0.1, 0.8))


@pytest.mark.parametrize("space", [Euclidean(1), Euclidean(2), Sphere(1), Sphere(2)], ids=str)
def test_one_round_is_the_tangent_mean(space, sums):
    assert RefinedMean(1).shares == (1.0,)
    ball = Ball(space, space.origin, 1.0)
    points = ball.point(np.random.default_rng(0).normal(size=(9, space.dim)))
    (one,), (mean,) = (outline(each, ball).queries for each in (RefinedMean(1), TangentMean()))
    assert (one.share, one.shape, one.unit) == (mean.share, mean.shape, mean.unit)
    found = [sums.walked(each, ball, points) for each in (RefinedMean(1), TangentMean())]
    np.testing.assert_array_equal(found[0].raw, found[1].raw)
    assert found[0].gain == 1.0


def spread_of(ball, noisy, deviation):
    """Length that the second round clips to, and the point that it sees records from."""
    queries = RefinedMean().queries(ball)
    answers = next(queries).answers(ball)
    second = queries.send(Answer(answers.point(ball.reach * np.array(noisy)), deviation))
    base, unit = second.vectors.args
    return unit, base


def test_spread_of_the_first_round_sets_the_length_of_the_next():
    """The formula by hand, on the plane: what is left when noise is taken off and added."""
    ball, deviation = Ball(Euclidean(2), [1.0, 1.0], 4.0), 0.1
    g, q = np.array([0.5, -0.25]), 1.3
    unit, base = spread_of(ball, [*(g / 4.0), FREE * q / 16.0], deviation)
    square = 2.0 * deviation**2  # of two coordinates
    assert unit == pytest.approx(2.0 * math.sqrt(q - g @ g + 2.0 * square), rel=1e-12)
    np.testing.assert_allclose(base, g, rtol=1e-12)  # coordinates about the centre
    unit, _ = spread_of(ball, [*(g / 4.0), 0.0], deviation)
    assert unit == pytest.approx(max(2.0 * math.sqrt(square), 0.5), rel=1e-12)
    unit, _ = spread_of(ball, [0.0, 0.0, 7.0], deviation)
    assert unit == 4.0
    unit, _ = spread_of(ball, [*(g / 4.0), FREE * q / 16.0], math.nan)  # not known: none
    assert unit == pytest.approx(2.0 * math.sqrt(q - g @ g), rel=1e-12)


def test_noise_is_worth_as_much_as_the_last_clip_is_long():
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    points = ball.point(np.random.default_rng(0).normal(scale=0.4, size=(400, 2)))
    found = outline(RefinedMean(), ball, spread=0.4 * math.sqrt(2.0)).value.gain
    assert found == pytest.approx(2.0 * 0.4 * math.sqrt(2.0) / 4.0, rel=0.5)
    unit, _ = spread_of(ball, [0.0, 0.0, FREE * np.mean(points**2) * 2.0 / 16.0], 0.0)
    assert 0.25 < unit / 4.0 == pytest.approx(2.0 * 0.4 * math.sqrt(2.0) / 4.0, rel=0.1)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: RefinedMean(0), "rounds must be a positive integer"),
        (lambda: RefinedMean(2.0), "rounds must be a positive integer"),
        (lambda: RefinedMean(10**6), "rounds must be at most 10000"),
        (lambda: RefinedMean(2, (0.5,)), "shares must be a tuple of 2 numbers"),
        (lambda: RefinedMean(2, [0.5, 0.5]), "shares must be a tuple of 2 numbers"),
        (lambda: RefinedMean(2, (0.5, 0.6)), "shares must sum to 1"),
        (lambda: RefinedMean(2, (1.5, -0.5)), "a share must be positive"),
        (lambda: RefinedMean(2, (0.5, "x")), "a share"),
        (lambda: RefinedMean(alpha=0.0), "alpha must be positive"),
        (lambda: RefinedMean(alpha=math.inf), "alpha must be positive"),
    ],
)
def test_wrong_parameters_are_refused(build, said):
    with pytest.raises(riemdp.InvalidParameterError, match=said):
        build()
