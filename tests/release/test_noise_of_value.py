"""What a release says of its noise follows from public numbers, and from what it released."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riemdp import GDP, Ball, Euclidean, Sphere, UnsupportedError, private_mean, private_median

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)


def mean(ball=PLANE, **options):
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (50, 2)))
    return private_mean(points, ball, GDP(1.0), generator=np.random.default_rng(1), **options)


@pytest.mark.parametrize("ball", [PLANE, Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)], ids=str)
def test_of_one_answer_it_is_that_of_the_mechanism(ball):
    release = mean(ball)
    assert release.expected_distance == release.mechanism.expected_distance()
    assert release.error_quantile(0.9) == release.mechanism.error_quantile(0.9)
    assert release.count == 50.0


def test_of_several_answers_it_is_longer():
    points = np.full((50, 2), 0.1)
    release = private_median(points, PLANE, GDP(1.0))
    factor = release.statistic.noise_in_value(PLANE)
    assert factor > 1.0
    assert release.expected_distance == factor * release.mechanism.expected_distance()


@pytest.mark.parametrize(
    "options", [{}, {"adjacency": "add-remove"}, {"method": "refined"}], ids=str
)
def test_a_mean_square_is_that_of_the_same_noise(options):
    """Of a Gaussian it is over the square of the mean length, and little more."""
    release = mean(mechanism="tangent-gaussian", **options)
    assert 1.0 < release.mean_square_bound / release.expected_distance**2 < 1.3


def test_a_private_number_is_what_was_released():
    release = mean(adjacency="add-remove")
    assert release.n is None
    assert abs(release.count - 50.0) < 25.0
    assert release.count != 50.0
    other = replace(release, rounded=())
    assert other.count is None
    with pytest.raises(UnsupportedError, match="what was released beside it"):
        _ = other.expected_distance
