"""Records of a research release, and the sensitivity of their mean."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Chunks, InvalidParameterError, NotOnManifoldError, Sphere, UnsupportedError
from riemdp.research._records import checked_records, mean_sensitivity, unopened
from riemdp.statistics import (
    FrechetMean,
    TangentMean,
    frechet_mean_sensitivity,
    tangent_mean_sensitivity,
)

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
POINTS = BALL.point(np.random.default_rng(0).normal(0.0, 0.4, (40, 2)))


def test_records_are_read_late_and_clipped():
    calls = []

    def late():
        calls.append(1)
        return POINTS

    size, rows = unopened(late, BALL, 40, "mean")
    assert (size, calls) == (40, [])
    np.testing.assert_allclose(rows(), BALL.project(POINTS))
    assert calls == [1]
    assert unopened(POINTS, BALL, None, "mean")[0] == 40


def test_what_is_public_of_them_is_refused_before():
    with pytest.raises(InvalidParameterError, match="n = 39"):
        unopened(POINTS, BALL, 39, "mean")
    with pytest.raises(UnsupportedError):
        unopened(Chunks(lambda: iter([POINTS])), BALL, 40, "mean")
    with pytest.raises(NotOnManifoldError):
        unopened(np.ones((4, 2)), BALL, None, "mean")
    with pytest.raises(InvalidParameterError):
        unopened(lambda: POINTS, BALL, 39, "mean")[1]()
    with pytest.raises(InvalidParameterError, match="shape"):
        checked_records(BALL, BALL.center)


@pytest.mark.parametrize(
    ("mean", "metric", "exact"),
    [
        (FrechetMean(), "distance", frechet_mean_sensitivity),
        (TangentMean(), "coordinates", tangent_mean_sensitivity),
    ],
)
def test_the_sensitivity_has_twice_the_tolerance(mean, metric, exact):
    found, tol = mean_sensitivity(mean, BALL, 100, metric)
    assert found >= (exact(BALL, 100) + 2.0 * tol) * (1.0 - 1e-14)  # it is rounded up at once
    assert found <= exact(BALL, 100) + 2.1 * tol
    assert tol >= 1e-10
