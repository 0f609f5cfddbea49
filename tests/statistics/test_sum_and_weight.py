"""Sums that are divided by a sum of weights: what both of its statistics share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import Ball, Euclidean, InvalidParameterError
from riemdp.statistics import CountedMean, Records, WeightedMean, exact_answer

BALL = Ball(Euclidean(2), [0.0, 0.0], 2.0)
KINDS = [CountedMean, WeightedMean]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_the_sum_of_weights_are_small(kind):
    assert kind(4.0).weight == 4.0
    for wrong in (0.0, -1.0, 4.1, math.inf, math.nan):
        with pytest.raises(InvalidParameterError, match="weight"):
            kind(wrong)


def test_weights_of_one_are_a_count():
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(9, 2))
    counted = exact_answer(CountedMean(0.7), BALL, points, 0.0)
    records = Records(points, weights=np.ones(9)).validated(BALL.manifold)
    assert exact_answer(WeightedMean(0.7), BALL, records, 0.0) == counted
    half = Records(points, weights=np.full(9, 0.5)).validated(BALL.manifold)
    found = exact_answer(WeightedMean(0.7), BALL, half, 0.0)
    np.testing.assert_allclose(
        [float(x) for x in found], [0.5 * float(x) for x in counted], atol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_divided_by_is_read_of_the_answer(kind):
    statistic = kind(0.5)
    noisy = np.array([3.0, 4.0, 0.5 * 2.0 * 5.0])
    assert statistic.released_total(BALL, [noisy]) == pytest.approx(5.0)
    np.testing.assert_allclose(statistic.move(BALL, 0.0, noisy, 0), [0.6, 0.8], rtol=1e-9)
    far = statistic.move(BALL, 0.0, np.array([30.0, 40.0, 5.0]), 0)
    assert np.linalg.norm(far) == pytest.approx(2.0)
    assert statistic.noise_in_value(BALL) == pytest.approx(math.sqrt((2.0 + 4.0) / 3.0))
    assert statistic.add_remove(BALL, "coordinates") == pytest.approx(2.0 * math.sqrt(1.25))


def test_a_number_of_records_under_one_is_taken_for_one():
    for number in (-3.0, 0.0, 0.4):
        noisy = np.array([0.3, 0.4, 0.5 * 2.0 * number])
        found = CountedMean(0.5).move(BALL, None, noisy, 0)
        np.testing.assert_allclose(found, [0.3, 0.4], rtol=1e-9)
