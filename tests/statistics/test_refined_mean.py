"""Means in rounds: their shares, and what the spread of one does to the next."""

from __future__ import annotations

import math

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean
from riemdp.kernel import Moment
from riemdp.statistics import RefinedMean

FREE = Moment(1).weights[0]


def test_weights_are_roots_of_shares():
    refined = RefinedMean(3, (0.1, 0.2, 0.7))
    assert refined.steps == 3
    weights = [refined.answer_weight(step) for step in range(3)]
    np.testing.assert_allclose(np.square(weights), [0.1, 0.2, 0.7])
    assert RefinedMean().shares == pytest.approx((0.2, 0.8))
    assert RefinedMean(3).shares == pytest.approx((0.1, 0.1, 0.8))
    assert RefinedMean(1).shares == (1.0,)
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    assert RefinedMean().noise_in_value(ball) == pytest.approx(1.0 / math.sqrt(0.8))


def test_spread_of_the_first_round_sets_the_length_of_the_next():
    """The formula by hand, on the plane: what is left when noise is taken off and added."""
    ball = Ball(Euclidean(2), [1.0, 1.0], 4.0)
    statistic = RefinedMean()
    noise = 0.1
    place = statistic.start(ball)
    w = math.sqrt(0.2)
    g, q = np.array([0.5, -0.25]), 1.3
    noisy = w * np.array([*g, FREE * q / 4.0])
    moved = statistic.move(ball, place, noisy, 0, lambda: noise)
    square = (noise / w) ** 2 * 2.0 / 2.5  # of the first two coordinates of three
    expected = 2.0 * math.sqrt(q - g @ g + 2.0 * square)
    assert moved.unit == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(moved.point, g, rtol=1e-12)  # coordinates about the centre
    low = statistic.move(ball, place, w * np.array([*g, 0.0]), 0, lambda: noise)
    assert low.unit == pytest.approx(max(2.0 * math.sqrt(square), 0.5), rel=1e-12)
    high = statistic.move(ball, place, w * np.array([0.0, 0.0, 7.0]), 0, lambda: noise)
    assert high.unit == 4.0


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
