"""Medians and Huber means: how long their steps are, and with what weight."""

from __future__ import annotations

import math

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean
from riemdp.kernel import Moment, Vector
from riemdp.statistics import Answer, GeometricMedian, HuberMean, outline, through

FREE = Moment(1).weights[0]


def test_steps_ask_with_equal_shares():
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    first, *steps = outline(GeometricMedian(12, 0.25), ball).queries
    assert (first.share, first.shape) == (0.25, Moment(2))
    assert [query.share for query in steps] == [0.75 / 12] * 12
    assert {query.shape for query in steps} == {Vector(2)}


def trail(statistic, ball, spread, direction):
    """Points that steps of one direction lead to, and the value."""
    bases = []

    def answered(query):
        if isinstance(query.shape, Moment):
            noisy = [0.0, 0.0, FREE * spread**2 / ball.reach]
        else:
            bases.append(query.vectors.args[0])
            noisy = direction
        return Answer(query.answers(ball).point(np.array(noisy)), 0.0)

    return bases, through(statistic, ball, answered)


def test_steps_of_a_median_become_shorter():
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    median = GeometricMedian(3, eta=0.5, last=0.04)
    lengths = [median.length(step) for step in range(3)]
    np.testing.assert_allclose(lengths, [0.5, 0.1, 0.02], rtol=1e-12)
    bases, value = trail(median, ball, 2.0, [4.0, 0.0])
    np.testing.assert_allclose(bases, [[0.0, 0.0], [1.0, 0.0], [1.2, 0.0]], rtol=1e-12)
    # of three steps the last two
    np.testing.assert_allclose(value.raw, [(1.2 + 1.24) / 2.0, 0.0], rtol=1e-12)
    # each takes back 0.75 of its length over the spread of what noise did before it
    noise = np.zeros((4, 3))
    for step, length in enumerate([1.0, 0.2, 0.04]):
        noise[step + 1] = (1.0 - 0.75 * length / 2.0) * noise[step]
        noise[step + 1, step] = length
    of_average = np.linalg.norm(noise[2:].mean(axis=0)) / 4.0
    assert value.gain == pytest.approx(of_average, rel=1e-12)
    assert GeometricMedian(1).length(0) == 1.0


def test_steps_of_a_huber_mean_are_as_long_as_its_clip():
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    for huber, unit in (
        (HuberMean(2), 1.0),
        (HuberMean(2, threshold=0.5), 0.5),
        (HuberMean(2, clip=0.3), 0.3),
        (HuberMean(2, threshold=math.inf, clip=0.3), 0.3),
        (HuberMean(2, threshold=math.inf), 4.0),
    ):
        bases, value = trail(huber, ball, 1.0, [2.0, 0.0])
        np.testing.assert_allclose(bases, [[0.0, 0.0], [0.5 * unit, 0.0]], rtol=1e-12)
        kept = 1.0 - 0.75 * min(1.0, unit)
        assert value.gain == pytest.approx(unit / 4.0 * math.hypot(1.0, kept), rel=1e-12)


def test_no_step_is_longer_than_the_ball_is_wide():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    _, value = trail(GeometricMedian(1, eta=1e9), ball, 1.0, [1.0, 0.0])
    assert value.gain == 2.0
    np.testing.assert_array_equal(value.raw, [1.0, 0.0])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: GeometricMedian(0), "steps must be a positive integer"),
        (lambda: GeometricMedian(12, 0.0), "warm_share must be over 0"),
        (lambda: GeometricMedian(12, 1.0), "warm_share must be over 0"),
        (lambda: GeometricMedian(eta=-1.0), "eta must be positive"),
        (lambda: GeometricMedian(last=1.1), "last must be at most 1"),
        (lambda: GeometricMedian(last=0.0), "last must be positive"),
        (lambda: HuberMean(threshold=0.0), "threshold must be positive"),
        (lambda: HuberMean(clip=math.nan), "clip must be"),
    ],
)
def test_wrong_parameters_are_refused(build, said):
    with pytest.raises(riemdp.InvalidParameterError, match=said):
        build()
