"""Values that the integers of a release stand for."""

import numpy as np
import pytest

import riemdp
from riemdp import GDP, Ball, Euclidean, Sphere, private_mean
from riemdp.noise.exact import Rounded
from riemdp.release._rounded_value import replayed, rounded_point
from riemdp.statistics import FrechetMean, Summary


def test_draws_beyond_float64_are_projected_as_others_are():
    line = Ball(Euclidean(2), [0.0, 1.0], 3.0)
    far = rounded_point(line, Rounded((3 * 2**1100, -4 * 2**1100), 5))
    np.testing.assert_allclose(far, [1.8, -1.4], rtol=1e-12)
    np.testing.assert_allclose(rounded_point(line, Rounded((3, -4), 2)), [0.75, 0.0], rtol=1e-12)
    given = riemdp.TangentGaussian(Euclidean(2), 1e308, base=line.center)
    release = private_mean(np.zeros((1, 2)), line, GDP(1.0), mechanism=given, project=True)
    assert max(map(abs, release.rounded)).bit_length() - release.grid > 900
    assert line.contains(release.value)


def test_integers_are_coordinates_about_the_centre():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
    value = replayed(FrechetMean(), ball, 3, (1, -2))
    np.testing.assert_allclose(value, ball.point([0.125, -0.25]), rtol=1e-15, atol=1e-16)
    far = replayed(FrechetMean(), ball, 0, (3, -4))
    np.testing.assert_allclose(far, ball.point([0.3, -0.4]), rtol=1e-14)
    for wrong in ((1,), (1, 2, 3), ()):
        with pytest.raises(riemdp.InvalidParameterError, match="2 integers for each of 1 answers"):
            replayed(FrechetMean(), ball, 3, wrong)


class Twice(Summary):
    """Two answers, the second counted from the first."""

    name = "tests.Twice"
    steps = 2

    def replace_one(self, ball, n, metric):
        return 1.0

    def finish(self, ball, partial, tol):
        return np.zeros(2)

    def move(self, ball, point, noisy, step, noise):
        return point + noisy


def test_several_answers_are_replayed_one_after_the_other():
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    np.testing.assert_array_equal(replayed(Twice(), ball, 1, (2, 4, 1, -1)), [1.5, 1.5])
    data = np.zeros((3, 2))
    release = riemdp.private_statistic(
        Twice(), data, ball, riemdp.GDP(50.0), mechanism="riemannian-gaussian", allow_unproven=True
    )
    assert len(release.rounded) == 4
    again = replayed(release.statistic, ball, release.grid, release.rounded)
    np.testing.assert_array_equal(again, release.value)
