"""Medians and Huber means: how long their steps are, and with what weight."""

from __future__ import annotations

import math

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean
from riemdp.statistics import GeometricMedian, HuberMean
from riemdp.statistics._steps import Place


def test_weights_are_roots_of_shares():
    median = GeometricMedian(12, 0.25)
    assert median.steps == 13
    assert sum(median.answer_weight(step) ** 2 for step in range(13)) == pytest.approx(1.0)
    assert median.answer_weight(0) == 0.5


def test_steps_of_a_median_become_shorter():
    ball = Ball(Euclidean(2), [0.0, 0.0], 4.0)
    median = GeometricMedian(3, eta=0.5, last=0.04)
    w = median.answer_weight(1)
    place = Place(np.zeros(2), unit=2.0)
    for step, length in ((1, 0.5), (2, 0.1), (3, 0.02)):
        moved = median.move(ball, place, w * np.array([4.0, 0.0, 1.0]), step, float)
        np.testing.assert_allclose(moved.point, [2.0 * length, 0.0], rtol=1e-12)
    assert GeometricMedian(1)._length(1) == 1.0
    assert median.noise_in_value(ball) == pytest.approx(0.5 / w)


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
