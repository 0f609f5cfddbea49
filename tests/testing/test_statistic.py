"""The checks of statistics hold of this library's, and each fails for one with that mistake."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp.kernel import Vector
from riemdp.statistics import (
    ClassMoments,
    FrechetMean,
    RefinedMean,
    ReplaceOne,
    Rows,
    Statistic,
    TangentMean,
    TangentRegression,
    Value,
    shortened,
)
from riemdp.statistics._counted import Total
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

BALLS = [
    None,
    Ball(Euclidean(1), [3.0], 0.5),
    Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7),
    Ball(Hyperbolic(3), Hyperbolic(3).origin, 1.5),
    Ball(SPDLogEuclidean(2), np.eye(2), 2.0),
    Ball(SPDAffineInvariant(2), np.eye(2), 1.0),
]


@pytest.mark.fast(4)
@pytest.mark.parametrize("ball", BALLS, ids=str)
@pytest.mark.parametrize("part", [FrechetMean(), TangentMean(), ReplaceOne()], ids=str)
def test_statistics_and_neighbours_pass(part, ball):
    check_part(part, ball=ball)


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    "part", [RefinedMean(3), ClassMoments(("a", "b")), TangentRegression(-1.0, 1.0)], ids=str
)
def test_statistics_of_several_queries_and_of_labels_pass(part):
    check_part(part, ball=BALLS[2])


def in_box(ball, coordinates):
    """Coordinates, each clipped to a box that is in the unit ball."""
    side = ball.reach * len(ball.center) ** -0.5
    return 0.999 * np.clip(coordinates, -side, side) / ball.reach


def too_long(ball, coordinates):
    return 3.0 * coordinates / ball.reach


def not_finite(ball, coordinates):
    return np.where(coordinates > 0.0, np.nan, 0.0)


def squares(ball, coordinates):
    """Squared distances to the centre, as numbers from -1 to 1."""
    return shortened(
        2.0 * np.sum((coordinates / ball.reach) ** 2, axis=-1, keepdims=True) - 1.0, 1.0
    )


@dataclass(frozen=True)
class Squares(Statistic):
    """Mean squared distance to the centre, less half the squared radius."""

    name = "tests.Squares"

    def queries(self, ball):
        half = 0.5 * ball.reach**2
        answer = yield Rows(Vector(1), half, squares)
        values = Ball(Euclidean(1), [0.0], half)
        return Value(values.project(answer.point), values)


class Counting:
    """Vectors that follow how many records there were before."""

    def __init__(self):
        self.number = 0

    def __call__(self, ball, coordinates):
        self.number += 1
        return in_box(ball, coordinates) / (1 + self.number % 2)


@dataclass(frozen=True)
class Boxed(Statistic):
    """Mean of coordinates in a box, right or with a mistake."""

    name = "tests.Boxed"
    mistake: str = ""

    @property
    def takes(self):
        return ("covariates",) if self.mistake == "takes" else ()

    def queries(self, ball):
        vectors = {"long": too_long, "nan": not_finite}.get(self.mistake, in_box)
        if self.mistake == "pickle":
            vectors = lambda *given: in_box(*given)  # noqa: E731, PLW0108
        if self.mistake == "company":
            vectors = Counting()
        share = {"shares": 0.6, "no share": 0.0}.get(self.mistake, 0.5)
        first = yield Rows(Vector(2), ball.reach, vectors, share=share)
        far = np.linalg.norm(first.point)
        unit = ball.reach * (1.0 + far if self.mistake == "unit" else 1.0)
        if self.mistake == "more" and far > ball.reach:
            yield Rows(Vector(2), ball.reach, vectors, share=0.1)
        second = yield Rows(Vector(2), unit, vectors, share=0.5)
        found = ball.project(second.point)
        if self.mistake == "outside":
            found = second.point + 2.0 * ball.reach
        elif self.mistake == "no number":
            found = second.point * np.nan
        values = ball if self.mistake != "range" else Ball(ball.manifold, ball.center, 1.0 + far)
        return Value(found, values)


def test_a_statistic_of_ones_own_passes(failures):
    assert failures(Boxed()) == []


@pytest.mark.fast(1)
@pytest.mark.parametrize("ball", [BALLS[2], BALLS[4]], ids=str)
def test_rows_in_one_dimension_or_on_a_curved_space_pass(ball, failures):
    assert failures(Squares(), ball) == []


NOTICED = {
    "company": "company_does_not_count",
    "long": "rows_are_as_short_as_is_stated",
    "nan": "rows_are_as_short_as_is_stated",
    "pickle": "queries_go_to_other_processes",
    "shares": "public_numbers_follow_from_no_answer",
    "no share": "public_numbers_follow_from_no_answer",
    "unit": "public_numbers_follow_from_no_answer",
    "more": "public_numbers_follow_from_no_answer",
    "range": "values_lie_in_their_ball",
    "outside": "values_lie_in_their_ball",
    "no number": "values_lie_in_their_ball",
    "takes": "extras_are_stated",
}


@pytest.mark.parametrize("mistake", NOTICED)
def test_a_broken_statistic_is_noticed(mistake, failures):
    found = failures(Boxed(mistake))
    assert NOTICED[mistake] in found
    assert "document" not in found
    if mistake not in ("takes", "no share", "company"):  # of which little else can be asked
        assert found == [NOTICED[mistake]]


def test_a_move_that_is_stated_short_is_noticed(failures, monkeypatch):
    stated = Rows.replace_one
    monkeypatch.setattr(Rows, "replace_one", lambda *given: 0.7 * stated(*given))
    assert failures(Squares()) == ["neighbours_are_close"]


def test_a_sum_that_is_stated_short_is_noticed(failures, monkeypatch):
    stated = Total.add_remove
    monkeypatch.setattr(Total, "add_remove", lambda *given: 0.7 * stated(*given))
    assert failures(Squares()) == ["counted_form_is_bounded"]


@dataclass(frozen=True)
class Nobody(ReplaceOne):
    name = "tests.Nobody"

    def sensitivity(self, query, ball, n, metric):
        return 0.0 * super().sensitivity(query, ball, n, metric)


def test_neighbours_that_nothing_tells_apart_are_noticed(failures):
    assert failures(Nobody()) == ["relation_is_measured"]


class Stash:
    """Vectors that leave the last record behind."""

    def __init__(self, way, carrier, kept):
        self.way, self.carrier, self.kept = way, carrier, kept

    def __call__(self, ball, coordinates):
        found = squares(ball, coordinates) + 0.0 * self.carrier.half
        if self.way == "attribute":
            object.__setattr__(self.carrier, "last", found)
        elif self.way == "query":
            self.last = found
        elif self.way == "list":
            self.carrier.seen[0] = float(found[0, 0])
        elif self.way == "array":
            self.carrier.array[:] = found[0]
        elif self.way == "class":
            type(self.carrier).last = found
        elif self.way == "closure":
            self.kept[:] = [found[0]]
        return found


def stashed(way):
    """Return a statistic that releases its noise, and hands a record on beside it."""
    kept = []

    class Carrier(Statistic):
        name = "tests.Carrier"
        last = None

        def __init__(self):
            self.seen, self.array = [0.0], np.zeros(1)

        @functools.cached_property
        def half(self):
            return 0.5

        def queries(self, ball):
            answer = yield Rows(Vector(1), 1.0, Stash(way, self, kept))
            point = kept[0] if kept else answer.point
            values = Ball(Euclidean(1), [0.0], 1.0)
            return Value(values.project(np.array(point)), values)

    return Carrier()


@pytest.mark.parametrize("way", ["attribute", "query", "list", "array", "class", "closure"])
def test_a_statistic_that_carries_an_answer_past_the_noise_is_noticed(way, failures):
    assert "nothing_is_carried" in failures(stashed(way))


def test_what_is_computed_once_of_public_numbers_is_no_answer(failures):
    assert "nothing_is_carried" not in failures(stashed("none"))
