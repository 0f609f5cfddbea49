"""Every sum of integers: rows at the stated norm count, and longer ones do not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Product, Records, Sphere
from riemdp.kernel import Moment, _sums
from riemdp.statistics import (
    AddRemove,
    ClassMoments,
    Counted,
    DirectionalMoments,
    DirectVariance,
    FrechetMean,
    GeometricMedian,
    Moments,
    Recentred,
    RefinedMean,
    TangentMean,
    TangentRegression,
    WeightedTangentMean,
    answer,
)

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
ONE = Fraction(2**40)
FREE_SQUARE = Moment(1).norm - 1

#: Questions with the square of the norm that is proved of their rows, in steps of the grid.
SUMS = {
    "tangent mean": (TangentMean(), ONE**2),
    "first step": (RefinedMean(2), ONE**2 * (1 + FREE_SQUARE)),
    "step of a median": (GeometricMedian(3), ONE**2),
    "moments": (Moments(), ONE**2 * (1 + FREE_SQUARE)),
    "matrix": (Moments("matrix"), ONE**2 * Fraction(3, 2)),
    "classes": (ClassMoments(("a", "b")), ONE**2 * 2),
    "classes, matrix": (ClassMoments(("a", "b"), "matrix"), ONE**2 * 2),
    "line": (TangentRegression(0.0, 1.0), ONE**2 * 5),
    "directions": (DirectionalMoments(1), ONE**2),
    "scatter": (DirectionalMoments(2), ONE**2),
    "second round": (Recentred(Moments()), ONE**2 * (1 + FREE_SQUARE)),
    "variance": (DirectVariance(), ONE**2 * 2),
    "counted mean": (Counted(TangentMean(), 0.75), ONE**2),
    "counted moments": (Counted(Moments(), 0.75), ONE**2 * (1 + FREE_SQUARE)),
}


def question_of(name):
    statistic, _ = SUMS[name]
    point = statistic.start(BALL)
    if name in ("step of a median", "second round"):
        noisy = np.zeros(statistic.answers(BALL).manifold.dim)
        point = statistic.move(BALL, point, noisy, 0, float)
        return statistic.ask(BALL, point, 1)
    return statistic.ask(BALL, point, 0)


def a_row(question):
    extras = {"labels": ["a"], "covariates": [0.5], "weights": [1.0]}
    given = {name: np.array(extras[name], dtype=object) for name in question.takes}
    if "covariates" in given or "weights" in given:
        given = {name: each.astype(float) for name, each in given.items()}
    records = Records(BALL.center[None], **given)
    rows = question.rows(BALL, question.prepare(BALL, records if given else records.points))
    return np.zeros_like(rows)


@pytest.mark.parametrize("name", SUMS)
def test_rows_are_as_long_as_is_proved_and_no_longer(name, monkeypatch):
    question, (_, square) = question_of(name), SUMS[name]
    row = a_row(question)
    # weights are rounded down by as much
    row[0, 0] = math.isqrt(math.floor(square * (1 - Fraction(1, 10**8))))
    kept = question.added(BALL, row)
    assert kept.total[0] == row[0, 0]
    row[0, 0] = math.isqrt(math.floor(square * (1 + Fraction(1, 10**8)))) + 1
    lost = question.added(BALL, row)
    assert lost.total[0] == 0
    assert lost.count == kept.count == 1
    monkeypatch.setattr(_sums, "guarded", lambda rows, *_: rows)
    assert question.added(BALL, row).total[0] == row[0, 0]  # the control


def test_a_record_that_is_lost_is_counted():
    for name in ("counted mean", "counted moments"):
        question = question_of(name)
        row = a_row(question)
        row[:] = 2**62
        *rest, number = question.finish(BALL, question.added(BALL, row), 0.0)
        assert set(rest) == {0}
        assert number == answer(question, BALL, BALL.center[None], 0.0)[-1] > 0


def test_public_weights_multiply_what_is_no_longer_than_the_radius():
    question = WeightedTangentMean(0.5)
    rows = np.array([[2**40, 0], [2**40 + 1, 0]])
    whole = np.array([2**39, 2**40])
    assert question.added(BALL, (rows, whole)).total == (2**79, 0)


def test_a_flat_factor_of_a_product_is_guarded():
    space = Product(Sphere(2), Euclidean(1))
    ball = Ball(space, space.origin, 0.7)
    mean = FrechetMean()
    points, whole = mean.rows(ball, ball.point(np.zeros((1, 3))))
    assert mean.added(ball, (points, whole + 2**41))[1].total == (0,)
    assert mean.added(ball, (points, whole + 2**39))[1].total == (2**39,)


def test_a_hostile_function_of_another_package_moves_no_sum_farther():
    """No clip, no number, far too long, raising, looking at its neighbours."""

    class Hostile(Moments):
        name = "tests.Hostile"

        def rows(self, ball, records):
            found = super().rows(ball, records)
            vectors = np.asarray(records.points)
            found[:, 0] += len(vectors) - 1
            found[vectors[:, 0] > 0.0] = 2**41
            found[vectors[:, 1] > 0.0] = -(2**63)
            if (vectors[:, 1] < -0.5).any():
                raise ValueError("a secret")
            return found

    points = BALL.point(np.array([[0.3, 0.0], [0.0, 0.3], [0.0, -0.6], [-0.3, -0.1]]))
    form = Hostile().counted(BALL)
    question = form.ask(BALL, form.start(BALL), 0)
    alone = [answer(question, BALL, point[None], 0.0) for point in points]
    bound = Fraction(form.add_remove(BALL, "coordinates")) ** 2
    assert all(sum(x * x for x in sums) <= bound for sums in alone)
    assert answer(question, BALL, points, 0.0) == tuple(map(sum, zip(*alone, strict=True)))
    assert [sums[:-1] == (0, 0, 0) for sums in alone] == [True, True, True, False]
    assert AddRemove().sensitivity(form, BALL, None, "coordinates") > 0.0


def test_hostile_vectors_and_extras_move_no_sum_farther():
    """No clip, no number, far too long: what a shape is given is checked again."""

    class Hostile(TangentRegression):
        name = "tests.HostileVectors"

        def vectors(self, ball, points):
            found = super().vectors(ball, points) * 1e9
            found[found[:, 0] > 0.0] = np.nan
            return found

        def beside(self, records):
            return np.where(super().beside(records) > 0.0, 1e9, np.nan)

    points = BALL.point(np.array([[0.3, 0.0], [0.0, 0.3], [0.0, -0.6], [-0.3, -0.1]]))
    line = Hostile(0.0, 1.0)
    records = Records(points, covariates=np.array([0.1, 0.9, 0.2, 0.8]))
    rows = line.rows(BALL, line.prepare(BALL, records)).astype(object)
    assert np.sum(rows**2, axis=1).max() <= line.shape(2).longest
    assert not rows[:, 2:].any()
    assert not rows[0].any()
    assert rows[1:, :2].any(axis=1).all()
