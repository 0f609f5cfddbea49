"""The mean and the median are those of the functions."""

from __future__ import annotations

import numpy as np
import pytest

import riemdp
from riemdp import GDP, InvalidParameterError, Sphere
from riemdp.estimators import PrivateFrechetMean, PrivateMedian


def seeded():
    return np.random.default_rng(8)


def test_means_are_those_of_the_function(cone, budget):
    points, _, ball = cone
    for options in ({}, {"method": "refined"}):
        expected = riemdp.private_mean(points, ball, budget, generator=seeded(), **options)
        found = PrivateFrechetMean(ball, budget, random_state=seeded(), **options).fit(points)
        np.testing.assert_array_equal(found.mean_, expected.value)
        assert found.release_.statistic == expected.statistic
        plan = found.set_params(mechanism=found.release_.mechanism.name).plan(len(points))
        assert plan[found.mechanism].summary == expected.statistic.name
        assert plan[found.mechanism].sigma == expected.sigma


def test_medians_are_those_of_the_function(cone, budget):
    points, _, ball = cone
    expected = riemdp.private_median(points, ball, budget, generator=seeded())
    found = PrivateMedian(ball, budget, random_state=seeded()).fit(points)
    np.testing.assert_array_equal(found.median_, expected.value)


def test_other_spaces():
    ball = riemdp.Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    points = np.tile([0.0, 0.6, 0.8], (2000, 1))
    mean = PrivateFrechetMean(ball, GDP(5.0), random_state=0).fit(points)
    assert ball.manifold.dist(mean.mean_, points[0]) < 0.01
    assert mean.n_features_in_ == 3


def test_options_are_checked_by_fit(plane, budget, blobs):
    with pytest.raises(InvalidParameterError, match="method"):
        PrivateFrechetMean(plane, budget, method="twice").fit(blobs[0])
    with pytest.raises(InvalidParameterError, match="method"):
        PrivateFrechetMean(plane, budget, method="twice").plan(10)
