"""Mean and second moment: what they stand for, and that the second costs the mean nothing."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    SPDLogEuclidean,
    Sphere,
    tangent_mean_sensitivity,
)
from riemdp._part_document import decode, encode, from_text
from riemdp.statistics import Groups, Moments, NamedValues, outline
from riemdp.statistics._moments import nonnegative
from riemdp.statistics._seen import View
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

BALLS = [
    Ball(Euclidean(3), [1.0, 0.0, -1.0], 4.0),
    Ball(Sphere(2), [0.0, 0.6, 0.8], 1.4),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 2.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 3.0),
]


def points_of(ball, n=40):
    rows = np.random.default_rng(0).normal(size=(n, ball.manifold.dim))
    return ball.point(0.4 * ball.reach * (rows + np.eye(ball.manifold.dim)[0]) / 2.0)


@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_parts_are_the_moments_of_clipped_coordinates(ball, sums):
    points = points_of(ball)
    rows = ball.coordinates(points)
    mean, square = rows.mean(axis=0), rows.T @ rows / len(rows)
    for second in ("scalar", "matrix"):
        statistic = Moments(second)
        found = NamedValues(np.zeros(1), sums.walked(statistic, ball, points).parts)
        np.testing.assert_allclose(found.coordinates, mean, atol=1e-8)
        np.testing.assert_allclose(found.mean, ball.point(mean), atol=1e-8)
        wanted = square if second == "matrix" else np.trace(square)
        np.testing.assert_allclose(found.second_moment, wanted, atol=1e-8)
        assert found.variance == pytest.approx(np.trace(square) - mean @ mean, abs=1e-7)
        np.testing.assert_allclose(found.base, ball.center, rtol=1e-14)
        assert found.clip == ball.reach
    np.testing.assert_allclose(found.covariance, square - np.outer(mean, mean), atol=1e-7)


@pytest.mark.fast("scalar")
@pytest.mark.parametrize("second", ["scalar", "matrix"])
def test_what_the_noise_of_the_mean_adds_is_taken_off(second, sums):
    """The variance is centred: the square of a noisy mean is too large by that of its noise."""
    ball, statistic = Ball(Euclidean(2), [0.0, 0.0], 1.0), Moments(second)
    exact = sums.walked(statistic, ball, points_of(ball)).raw
    noise = 0.01 * np.random.default_rng(1).normal(size=(2000, len(exact)))
    plain = sums.named(statistic, ball, exact).variance
    found = [sums.named(statistic, ball, exact + each, 0.01).variance for each in noise]
    error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - plain) < 4.0 * error
    uncorrected = [sums.named(statistic, ball, exact + each).variance for each in noise]
    assert np.mean(uncorrected) < plain


def test_parts_under_heavy_noise_stay_in_their_range(sums):
    ball = BALLS[1]
    for second in ("scalar", "matrix"):
        statistic = Moments(second)
        size = statistic.shape(ball.manifold.dim).size
        found = sums.named(statistic, ball, np.full(size, -50.0), math.nan)
        assert ball.contains(found.mean)
        assert found.variance == 0.0
        assert math.isnan(found.mean_sd)
    np.testing.assert_array_equal(found.covariance, 0.0)


def test_a_mean_lies_no_farther_than_records_were_shortened_to():
    ball = BALLS[1]
    view = View(ball, ball.point([0.2, 0.1]), 0.3)
    found = Moments().parts(view, np.array([3.0, -4.0, 0.0]), math.nan, 0.0)
    assert ball.manifold.dist(found["base"], found["mean"]) == pytest.approx(0.3, rel=1e-9)
    np.testing.assert_allclose(found["coordinates"], [0.9, -1.2], rtol=1e-12)


def test_the_second_moment_costs_the_mean_nothing():
    for ball in BALLS:
        for second in ("scalar", "matrix"):
            for n in (1, 2, 77):
                (query,) = outline(Moments(second), ball).queries
                stated = query.replace_one(ball, n, "coordinates")
                assert stated == pytest.approx(tangent_mean_sensitivity(ball, n), rel=1e-11)
                assert stated >= 2.0 * ball.reach / n
    query = next(Moments().queries(BALLS[0]))
    assert Groups(3).sensitivity(query, BALLS[0], 77, "distance") == pytest.approx(24.0 / 77.0)


def test_negative_eigenvalues_are_set_to_zero():
    found = nonnegative(np.diag([2.0, -1.0, 0.5]))
    np.testing.assert_allclose(found, np.diag([2.0, 0.0, 0.5]), atol=1e-15)


def test_documents_and_texts():
    for second in ("scalar", "matrix"):
        statistic = Moments(second)
        assert decode(json.loads(json.dumps(encode(statistic)))) == statistic
        assert from_text(f"moments:second={second}", "statistic") == statistic
    with pytest.raises(InvalidParameterError, match='"scalar" or "matrix"'):
        Moments("vector")


@pytest.mark.fast(2)
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_the_checks_of_any_statistic_hold(ball):
    for second in ("scalar", "matrix"):
        check_part(Moments(second), ball=ball)
