"""Values that the integers of a release stand for."""

from dataclasses import replace

import numpy as np
import pytest

import riemdp
from riemdp import GDP, Ball, Euclidean, RiemannianGaussian, Sphere, private_mean
from riemdp.kernel import Vector
from riemdp.noise.exact import Rounded
from riemdp.release import offer
from riemdp.release._rounded_value import replayed, rounded_point
from riemdp.statistics import FrechetMean, Rows, Statistic, Value


def test_draws_beyond_float64_are_projected_as_others_are(projecting):
    projecting(True)
    line = Ball(Euclidean(2), [0.0, 1.0], 3.0)
    far = rounded_point(line, Rounded((3 * 2**1100, -4 * 2**1100), 5))
    np.testing.assert_allclose(far, [1.8, -1.4], rtol=1e-12)
    np.testing.assert_allclose(rounded_point(line, Rounded((3, -4), 2)), [0.75, 0.0], rtol=1e-12)
    given = riemdp.TangentGaussian(Euclidean(2), 1e308, base=line.center)
    release = private_mean(np.zeros((1, 2)), line, GDP(1.0), mechanism=given)
    assert max(map(abs, release.rounded)).bit_length() - release.grid > 900
    assert line.contains(release.value)


def test_integers_are_coordinates_about_the_centre():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
    made = offer(FrechetMean(), RiemannianGaussian, ball, 50, GDP(1.0))
    near = replayed(made, (1, -2), 3).raw
    np.testing.assert_allclose(near, ball.point([0.125, -0.25]), rtol=1e-15, atol=1e-16)
    far = replayed(made, (3, -4), 0).raw
    np.testing.assert_allclose(far, ball.point([0.3, -0.4]), rtol=1e-14)
    for wrong, said in (((1,), "fewer"), ((1, 2, 3), "1 integers too many"), ((), "fewer")):
        with pytest.raises(riemdp.InvalidParameterError, match=said):
            replayed(made, wrong, 3)


def half():
    """Half of a budget, answered with zero."""
    return Rows(Vector(2), 1.0, lambda ball, points: np.zeros_like(points), share=0.5)


class Twice(Statistic):
    """Two answers, the second counted from the first."""

    name = "tests.Twice"

    def queries(self, ball):
        first = yield half()
        second = yield half()
        return Value(first.point + second.point, ball)


def test_several_answers_are_replayed_one_after_the_other():
    """Each on the grid of its own scale; that of the last one is stated."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    release = riemdp.private_statistic(
        Twice(),
        np.zeros((3, 2)),
        ball,
        riemdp.GDP(50.0),
        mechanism="riemannian-gaussian",
        allow_unproven=True,
    )
    assert len(release.rounded) == 4
    np.testing.assert_array_equal(
        replayed(release.offer, release.rounded, release.grid).raw, release.value
    )
    early = release.offer.asked[0].grid
    found = replayed(release.offer, (2 << early, 4 << early, 1, -1), 1).raw
    np.testing.assert_array_equal(found, [2.5, 3.5])
    other = replace(release, value=[0.0, 0.0], rounded=release.rounded[:2])
    with pytest.raises(riemdp.InvalidParameterError, match="fewer"):
        replayed(other.offer, other.rounded, other.grid)
