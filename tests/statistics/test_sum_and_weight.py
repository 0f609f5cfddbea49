"""Sums that are divided by a sum of weights: what both share, and the mean of a private number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    SPDLogEuclidean,
    Sphere,
    private_mean,
)
from riemdp.statistics import CountedMean, Records, TangentMean, WeightedMean, answer
from riemdp.testing import check_part

BALL = Ball(Euclidean(2), [0.0, 0.0], 2.0)
KINDS = [CountedMean, WeightedMean]
BALLS = [
    Ball(Euclidean(2), [0.3, 0.0], 1.0),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.8),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 2.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_the_sum_of_weights_are_small(kind):
    assert kind(4.0).weight == 4.0
    for wrong in (0.0, -1.0, 2.0**-21, 4.001, math.inf, math.nan):
        with pytest.raises(InvalidParameterError, match="weight"):
            kind(wrong)


def test_weights_of_one_are_a_count():
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(9, 2))
    counted = answer(CountedMean(0.7), BALL, points, 0.0)
    records = Records(points, weights=np.ones(9)).validated(BALL.manifold)
    assert answer(WeightedMean(0.7), BALL, records, 0.0) == counted
    half = Records(points, weights=np.full(9, 0.5)).validated(BALL.manifold)
    found = answer(WeightedMean(0.7), BALL, half, 0.0)
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


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_it_is_a_part(ball):
    check_part(TangentMean().counted(ball), ball=ball)


def test_sums_of_the_largest_counts_do_not_overflow():
    ball, rows = Ball(Euclidean(1), [0.5], 3.0), 2**20 + 1
    form = CountedMean(4.0)
    # as many integers as are added in 64 bits at once, and one more
    total, one = (
        form.added(ball, form.rows(ball, Records(np.ones((size, 1))))).total for size in (rows, 1)
    )
    assert total == tuple(rows * each for each in one)
    assert form.add_remove(ball, "coordinates") == pytest.approx(3.0 * 17.0**0.5, rel=1e-12)


def test_the_count_is_exact_and_divides():
    ball = BALLS[0]
    form = CountedMean(0.7)
    rows = np.tile([0.9, -0.2], (12, 1))
    sums = np.array([float(x) for x in answer(form, ball, Records(rows), 0.0)])
    assert form.released_count(ball, [sums]) == pytest.approx(12.0, rel=1e-14)
    np.testing.assert_allclose(form.move(ball, None, sums, 0), rows[0], rtol=1e-10)
    assert form.released_count(ball, [0.0 * sums]) == 0.0
    np.testing.assert_allclose(form.move(ball, None, 0.0 * sums, 0), ball.center)


@pytest.mark.parametrize("weight", [0.0, -1.0, 5.0, 1e-9, np.nan])
def test_weights_that_integers_do_not_hold_are_refused(weight):
    with pytest.raises(InvalidParameterError, match="weight"):
        CountedMean(weight)


def test_the_noise_of_sum_and_count_is_as_large_as_said_and_independent():
    """Half of it, a part of it left out, or one number used twice would be seen."""
    disc, draws = Ball(Euclidean(2), [0.0, 0.0], 1.0), 250
    generator, data = np.random.default_rng(29), np.array([[0.3, 0.0], [0.0, -0.2]])
    released = [
        private_mean(data, disc, GDP(1.0), adjacency="add-remove", generator=generator)
        for _ in range(draws)
    ]
    mechanism, weight = released[0].mechanism, released[0].statistic.weight
    assert mechanism.sigma == pytest.approx(np.sqrt(1.0 + weight**2))
    noisy = np.array([np.array(each.rounded) * 2.0**-each.grid for each in released])
    noise = (noisy - [0.3, -0.2, 2.0 * weight]) / mechanism.sigma

    def refuted(standard):
        squares = stats.chi2.sf(np.square(standard).sum(axis=0), draws)
        correlations = np.corrcoef(standard.T)[np.triu_indices(3, 1)] * np.sqrt(draws)
        two_sided = 2.0 * np.minimum(squares, 1.0 - squares)
        return min(*two_sided, *(2.0 * stats.norm.sf(abs(correlations)))) < 1e-4

    assert not refuted(noise)
    assert refuted(0.5 * noise)
    assert refuted(noise[:, [0, 0, 2]])
    assert refuted(np.column_stack([noise[:, :2], 0.0 * noise[:, 2] + 1e-9 * noise[:, 0]]))
