"""What a statistic that says nothing of itself gets, and how one is gone through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, Euclidean, InvalidParameterError, Sphere, UnsupportedError
from riemdp.kernel import Vector
from riemdp.statistics import (
    Answer,
    ClassMoments,
    Counted,
    DirectVariance,
    GeometricMedian,
    Moments,
    Query,
    Records,
    RefinedMean,
    Rows,
    Statistic,
    TangentMean,
    Value,
    Variance,
    Weighted,
    check_statistic,
    outline,
    through,
)

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)


def mean_of(ball):
    return next(TangentMean().queries(ball))


@dataclass(frozen=True)
class Silent(Statistic):
    """A statistic that asks so often, and says nothing of itself."""

    times: int = 1

    name = "Silent"

    def queries(self, ball):
        answers = []
        for _ in range(self.times):
            answers.append((yield mean_of(ball)))
        return Value(answers[-1].point, ball)


class Takes(Silent):
    takes = ("labels",)


def test_defaults_claim_nothing():
    silent = Silent()
    assert silent.proofs_on(BALL) == silent.proofs() == {"Silent": None}
    assert silent.title == silent.name
    assert (silent.of, Takes().of) == ("points", "rows")
    assert silent.check_size(1) is None
    assert silent.check_chunk(Records(BALL.center[None])) is None
    with pytest.raises(InvalidParameterError, match="labels"):
        Takes().check_records(Records(BALL.center[None]))
    assert silent.absent() == silent.typical_extras(3, np.random.default_rng(0)) == {}
    with pytest.raises(UnsupportedError, match="a person without records"):
        Takes().absent()
    with pytest.raises(UnsupportedError, match="say in typical_extras"):
        Takes().typical_extras(3, np.random.default_rng(0))


def test_every_query_is_answered_in_turn():
    points = [BALL.point([0.1 * j, 0.0]) for j in range(3)]
    left = iter(points)
    value = through(Silent(3), BALL, lambda query: Answer(next(left), 0.0))
    np.testing.assert_array_equal(value.raw, points[-1])
    assert value.ball is BALL
    assert next(left, None) is None


def test_what_is_no_query_or_no_value_is_refused():
    class Asks(Silent):
        name = "Asks"

        def queries(self, ball):
            yield 3

    class Ends(Silent):
        name = "Ends"

        def queries(self, ball):
            yield mean_of(ball)
            return 3.0

    for wrong, match in (
        (Asks(), r"^Asks\.queries must yield riemdp\.statistics\.Rows"),
        (Ends(), r"^Ends\.queries must return a riemdp\.statistics\.Value, got float"),
    ):
        with pytest.raises(InvalidParameterError, match=match):
            outline(wrong, BALL)
    with pytest.raises(InvalidParameterError, match="Statistic"):
        check_statistic("moments")


class Own(Rows):
    def replace_one(self, ball, n, metric):
        return 1e-9


class Short(Vector):
    move = Fraction(1, 10**9)


class Says(Query):
    def finish(self, ball, partial, tol):
        return np.zeros(ball.manifold.dim)


@pytest.mark.parametrize("of", ["rows", "shape", "query"])
def test_what_says_by_itself_how_far_it_moves_is_refused(of):
    """Also inside a sum, where nobody else sees it."""

    class Foreign(Silent):
        name = "tests.Foreign"

        def queries(self, ball):
            own = mean_of(ball)
            if of == "query":
                answer = yield Says()
            elif of == "rows":
                answer = yield Own(own.shape, own.unit, own.vectors)
            else:
                answer = yield replace(own, shape=Short(ball.manifold.dim))
            return Value(answer.point, ball)

    forms = Foreign(), Counted(Foreign(), 1.0), Counted(Foreign(), 1.0, weighs=True)
    for statistic in (*forms, Weighted(Foreign(), 0.5)):
        with pytest.raises(
            (InvalidParameterError, UnsupportedError), match=r"must yield|is no mean"
        ):
            outline(statistic, BALL)
    assert len(outline(Counted(Silent(), 1.0), BALL).queries) == 1  # the control


def test_one_that_never_ends_is_refused(monkeypatch):
    monkeypatch.setattr("riemdp.statistics._statistic._MOST", 10)
    assert len(outline(Silent(10), BALL).queries) == 10
    with pytest.raises(InvalidParameterError, match="Silent asks more than 10 queries"):
        outline(Silent(11), BALL)


@pytest.mark.parametrize(
    "statistic",
    [TangentMean(), RefinedMean(3), GeometricMedian(3), Moments(), ClassMoments((0, 1))],
    ids=lambda each: each.name,
)
def test_public_numbers_of_queries_are_the_same_for_any_answers(statistic, sums):
    ball = Ball(Euclidean(2), [0.3, 0.0], 1.0)
    for each in (statistic, Counted(statistic, 0.0 if statistic.takes else 1.0)):
        planned = outline(each, ball).queries
        assert sum(query.share for query in planned) == pytest.approx(1.0, rel=1e-12)
        for noise in (0.0, 0.3, 100.0):
            for one, other in zip(planned, sums.asked(each, ball, noise), strict=True):
                assert one.answers(ball) == other.answers(ball)
                assert (one.share, one.takes, one.projects) == (
                    other.share,
                    other.takes,
                    other.projects,
                )
                for metric in ("distance", "coordinates"):
                    numbers = [query.replace_one(ball, 9, metric) for query in (one, other)]
                    assert numbers[0] == numbers[1] > 0.0


@pytest.mark.parametrize("radius", [1e-300, 1e-76, 1e76, 1e300])
@pytest.mark.parametrize("statistic", [Variance(), Moments(), DirectVariance(), RefinedMean()])
def test_a_radius_whose_powers_leave_float64_is_refused_before_any_query(statistic, radius):
    ball = Ball(Euclidean(2), [0.0, 0.0], radius)
    with pytest.raises(InvalidParameterError, match="radius of the ball must lie between 1e-75"):
        outline(statistic, ball)
