"""What version 0.1 has by the name of a summary is what the statistics of that name say."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Sphere
from riemdp.statistics import (
    FrechetMean,
    TangentMean,
    answer,
    clipped_frechet_mean,
    clipped_tangent_mean,
    is_average,
    public_tolerance,
    tolerance_floor,
)


def ball_of(manifold, radius=0.5):
    return Ball(manifold, manifold.origin, radius)


@pytest.mark.parametrize("mean", [FrechetMean(), TangentMean()], ids=lambda mean: mean.name)
def test_tolerances_are_those_of_the_functions(mean):
    ball = ball_of(Sphere(2))
    assert mean.tolerance(ball, 0.1) == public_tolerance(ball, 0.1, mean.name)
    assert mean.tolerance(ball, 0.0) == tolerance_floor(ball, mean.name)
    assert is_average(ball, mean.name) == (mean == TangentMean())
    assert mean.rounding(ball) == 0.5 * tolerance_floor(ball, mean.name) > 0.0


def test_clipped_means_are_those_of_the_statistics():
    ball = ball_of(Sphere(2))
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (9, 2)))
    frechet, tangent = (f(ball, points, 1e-9) for f in (clipped_frechet_mean, clipped_tangent_mean))
    assert frechet.tobytes() == answer(FrechetMean(), ball, points, 1e-9).tobytes()
    assert tangent.tobytes() == answer(TangentMean(), ball, points, 1e-9).tobytes()
    assert not np.array_equal(frechet, tangent)
