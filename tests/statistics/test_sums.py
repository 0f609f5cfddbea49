"""Sums of features: exact, in no order, and no record moves them farther than is said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.statistics import Moments, SumStatistic, answer
from riemdp.statistics._feature_sums import features_margin, quotient_of
from riemdp.statistics._half_vectors import half_vectors

BALLS = [
    Ball(Euclidean(1), [0.3], 1.0),
    Ball(Euclidean(3), [0.3, 0.0, 1.0], 1e-3),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 3.1),
    Ball.whole(Sphere(2)),
    Ball(Hyperbolic(2), Hyperbolic(2).origin, 5.0),
    Ball(SPDAffineInvariant(2), np.diag([1.0, 3.0]), 4.0),
    Ball(SPDLogEuclidean(2), np.diag([1.0, 3.0]), 4.0),
]


def extremes(ball):
    """Points of the data that a search for the largest move should meet, some of them outside."""
    dim = ball.manifold.dim
    axes = np.eye(dim)[:2]
    rows = [*axes, *-axes, -0.2360679775 * axes[0], 2.0 * axes[-1], 0.0 * axes[0]]
    rows = [*rows, *np.random.default_rng(0).normal(size=(5, dim))]
    return ball.point(ball.reach * np.array(rows))


@dataclass(frozen=True)
class Heavy(SumStatistic):
    """Features with a weight of their own, and a sensitivity that is said to be 2."""

    weight: float = 1.0

    name = "tests.heavy"

    def size(self, dim):
        return dim + 1

    def features(self, vectors, records):
        squares = np.square(vectors).sum(axis=-1, keepdims=True)
        return np.concatenate([vectors, self.weight * squares], axis=-1)

    def feature_sensitivity(self, dim):
        return 2.0

    def feature_length(self, dim):
        return 4.0

    def parts(self, view, features, deviation):
        return {"mean": view.point(features[:-1]), "sd": deviation}


def test_features_that_move_farther_are_found(sums):
    """Negative control: a weight of 1.7 moves them by 2.0262, so that the bound is broken."""
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    assert sums.worst_of(Heavy(1.66), ball, extremes(ball)) <= 1
    found = math.sqrt(sums.worst_of(Heavy(1.7), ball, extremes(ball)))
    assert 1.0125 < found <= 2.0261894 / 2.0


def test_vectors_that_are_a_little_too_long_do_not_count(sums, monkeypatch):
    """Negative control: a billionth is enough, where nothing is looked at before it is added."""

    class Tight(Moments):
        name = "tests.tight"

        def whole(self, dim):
            return 1.0 + 2.0**-30

        def vectors(self, ball, points):
            return (1.0 + 2.0**-30) * super().vectors(ball, points)

    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    for statistic in (Moments(), Tight()):
        assert sums.worst_of(statistic, ball, extremes(ball)) <= 1
    monkeypatch.setattr("riemdp.kernel._sums.guarded", lambda rows, *_: rows)
    assert sums.worst_of(Moments(), ball, extremes(ball)) <= 1
    assert sums.worst_of(Tight(), ball, extremes(ball)) > 1


class Outer(Heavy):
    """``v v^T`` of vectors in the plane, which moves farthest between any two at right angles."""

    name = "tests.outer"

    def size(self, dim):
        return 3

    def features(self, vectors, records):
        return half_vectors(vectors, 1.0)

    def feature_sensitivity(self, dim):
        return math.nextafter(math.sqrt(2.0), 2.0)


def test_without_the_margin_rounding_takes_records_over_the_bound(monkeypatch):
    ball, statistic = Ball(Euclidean(2), [0.0, 0.0], 1.0), Outer()
    bound = (Fraction(statistic.feature_sensitivity(2)) * 2**40) ** 2
    rng, over = np.random.default_rng(5), {True: 0, False: 0}
    for angle in 2.0**-12 * rng.normal(size=50):
        one = [math.cos(angle), math.sin(angle)]
        for margin in (True, False):
            with monkeypatch.context() as patch:
                if not margin:
                    patch.setattr(Outer, "whole", lambda self, dim: 1.0)
                ends = [
                    statistic.summarise(ball, statistic.prepare(ball, 2.0 * np.array([row]))).total
                    for row in (one, [-one[1], one[0]])
                ]
            moved = sum((a - b) ** 2 for a, b in zip(*ends, strict=True))
            assert moved > bound * (1 - Fraction(1, 10**8))
            over[margin] += moved > bound
    assert over[True] == 0
    assert over[False] > 5


@pytest.mark.parametrize("second", ["scalar", "matrix"])
@pytest.mark.parametrize("ball", BALLS, ids=str)
def test_sums_are_of_integers_in_any_order(ball, second):
    statistic, points = Moments(second), extremes(ball)
    whole = answer(statistic, ball, points, 0.0)
    cut = [statistic.summarise(ball, statistic.prepare(ball, points[i::2])) for i in (0, 1)]
    chunks = statistic.finish(ball, statistic.merge(*cut), 0.0)
    if not isinstance(ball.manifold, SPDAffineInvariant):  # products of matrices: by position
        assert whole == chunks == answer(statistic, ball, points[::-1], 0.0)
    unit = Fraction(ball.reach) / 2**40 / len(points)
    assert all((each / unit).denominator == 1 for each in whole)


def test_many_rows_are_added_in_parts(monkeypatch):
    ball, points = BALLS[1], np.random.default_rng(1).normal(size=(50, 3)) * 1e-3
    whole = answer(Moments("matrix"), ball, points, 0.0)
    monkeypatch.setattr("riemdp.statistics._answer._ENTRIES", 20)
    monkeypatch.setattr("riemdp.kernel._tiles._ROWS", 4)
    assert answer(Moments("matrix"), ball, points, 0.0) == whole


def test_sums_of_a_million_records_are_those_of_one():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    one = answer(Moments(), ball, np.full((1, 1), 0.7), 0.0)
    assert answer(Moments(), ball, np.full((1_000_000, 1), 0.7), 0.0) == one


@pytest.mark.parametrize("radius", [1e-140, 1e140])
def test_radii_at_the_ends_of_the_range(radius, sums):
    ball = Ball(Euclidean(2), [0.0, 0.0], radius)
    points = radius * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, 0.0]])
    assert 1 - Fraction(1, 10**8) < sums.worst_of(Moments("matrix"), ball, points) <= 1


def test_quotients_are_rounded_up():
    for numerator in (Fraction(1), Fraction(2.5), Fraction(1, 3)):
        for n in (1, 3, 10, 2**53 + 1):
            found = quotient_of(numerator, n)
            assert Fraction(found) * n >= numerator > Fraction(math.nextafter(found, 0.0)) * n


@pytest.mark.parametrize(("move", "length"), [(0.4, 0.5), (2.0, 4.1), (1.0, 2.1)])
def test_features_that_the_margin_is_not_proved_for_are_refused(move, length):
    class Odd(Heavy):
        name = "tests.odd"

        def feature_sensitivity(self, dim):
            return move

        def feature_length(self, dim):
            return length

    with pytest.raises(InvalidParameterError, match="scale them"):
        Odd().replace_one(BALLS[0], 10, "distance")


def test_the_margin_is_tiny_and_more_than_the_grid():
    for dim in (1, 6, 253):
        size = dim + dim * (dim + 1) // 2
        assert math.sqrt(size) * 2.0**-40 < features_margin(dim, size) < 1e-8
        # section 8 of docs/proofs/joint-sensitivities.md
        assert features_margin(dim, size) >= math.sqrt(size) * 2.0**-38 + (dim + 16) * 2.0**-49
        assert Moments("matrix").whole(dim) <= 1.0 - features_margin(dim, size)


def test_noise_of_a_feature_is_said():
    ball = Ball(Euclidean(2), [0.0, 0.0], 2.0)
    found = Heavy().present(ball, np.array([1.0, 0.0, 1.0]), lambda: 0.5)
    assert found.sd == 0.25
    np.testing.assert_array_equal(found.mean, [1.0, 0.0])


def test_moves_of_all_pairs_are_compared(sums):
    """The helper's own control: two records at a distance of 1 move a mean of two by 1/2."""
    ball = Ball(Euclidean(1), [0.0], 4.0)
    (found,) = sums.moves(Moments(), ball, np.array([[0.0], [1.0]]))
    second = Fraction(1705, 1024) * Fraction(1, 4) / 2
    assert float(found) == pytest.approx(float(Fraction(1, 4) + second**2), rel=1e-9)
