"""Every sum of integers: rows at the stated norm count, and longer ones do not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    InvalidParameterError,
    Product,
    Records,
    RiemdpError,
    Sphere,
    UnsupportedError,
)
from riemdp.kernel import Moment, Vector, _sums
from riemdp.statistics import (
    ClassMoments,
    Counted,
    DirectionalMoments,
    DirectVariance,
    FrechetMean,
    GeometricMedian,
    Moments,
    Recentred,
    RefinedMean,
    Rows,
    Statistic,
    TangentMean,
    TangentRegression,
    Value,
    Weighted,
    answer,
    counted,
    outline,
    weighted,
)
from riemdp.statistics._records import record_coordinates

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
ONE = Fraction(2**40)
FREE_SQUARE = Moment(1).norm - 1

#: Queries, by their place, with the square of the norm that is proved of their rows, in steps.
SUMS = {
    "tangent mean": (TangentMean(), 0, ONE**2),
    "first step": (RefinedMean(2), 0, ONE**2 * (1 + FREE_SQUARE)),
    "step of a median": (GeometricMedian(3), 1, ONE**2),
    "moments": (Moments(), 0, ONE**2 * (1 + FREE_SQUARE)),
    "matrix": (Moments("matrix"), 0, ONE**2 * Fraction(3, 2)),
    "classes": (ClassMoments(("a", "b")), 0, ONE**2 * 2),
    "classes, matrix": (ClassMoments(("a", "b"), "matrix"), 0, ONE**2 * 2),
    "line": (TangentRegression(0.0, 1.0), 0, ONE**2 * 5),
    "directions": (DirectionalMoments(1), 0, ONE**2),
    "scatter": (DirectionalMoments(2), 0, ONE**2),
    "second round": (Recentred(Moments()), 1, ONE**2 * (1 + FREE_SQUARE)),
    "variance": (DirectVariance(), 0, ONE**2 * 2),
    "counted mean": (Counted(TangentMean(), 0.75), 0, ONE**2),
    "counted moments": (Counted(Moments(), 0.75), 0, ONE**2 * (1 + FREE_SQUARE)),
}


def query_of(name):
    statistic, place, _ = SUMS[name]
    return outline(statistic, BALL).queries[place]


def a_row(query):
    extras = {"labels": np.array(["a"], dtype=object), "covariates": np.array([0.5])}
    records = Records(BALL.center[None], **{name: extras[name] for name in query.takes})
    return np.zeros_like(
        query.rows(BALL, query.prepare(BALL, records if query.takes else records.points))
    )


@pytest.mark.parametrize("name", SUMS)
def test_rows_are_as_long_as_is_proved_and_no_longer(name, monkeypatch):
    query, (*_, square) = query_of(name), SUMS[name]
    row = a_row(query)
    # weights are rounded down by as much
    row[0, 0] = math.isqrt(math.floor(square * (1 - Fraction(1, 10**8))))
    kept = query.added(BALL, row)
    assert kept.total[0] == row[0, 0]
    row[0, 0] = math.isqrt(math.floor(square * (1 + Fraction(1, 10**8)))) + 1
    lost = query.added(BALL, row)
    assert lost.total[0] == 0
    assert lost.count == kept.count == 1
    monkeypatch.setattr(_sums, "guarded", lambda rows, *_: rows)
    assert query.added(BALL, row).total[0] == row[0, 0]  # the control


def test_a_record_that_is_lost_is_counted():
    for name in ("counted mean", "counted moments"):
        query = query_of(name)
        row = a_row(query)
        row[:] = 2**62
        *rest, number = query.finish(BALL, query.added(BALL, row), 0.0)
        assert set(rest) == {0}
        assert number == answer(query, BALL, BALL.center[None], 0.0)[-1] > 0


@pytest.mark.parametrize(
    "statistic",
    [Weighted(TangentMean(), 0.5), weighted(TangentMean(), BALL)],
    ids=["public", "private"],
)
def test_weights_multiply_what_is_no_longer_than_the_radius(statistic):
    (query,) = outline(statistic, BALL).queries
    rows = np.array([[2**40, 0], [2**40 + 1, 0]])
    whole = np.array([2**39, 2**40])
    assert query.added(BALL, (rows, whole)).total == (2**79, 0)


def test_a_flat_factor_of_a_product_is_guarded():
    space = Product(Sphere(2), Euclidean(1))
    ball = Ball(space, space.origin, 0.7)
    mean = next(FrechetMean().queries(ball))
    points, whole = mean.rows(ball, ball.point(np.zeros((1, 3))))
    assert mean.added(ball, (points, whole + 2**41))[1].total == (0,)
    assert mean.added(ball, (points, whole + 2**39))[1].total == (2**39,)


# Functions of other packages.

MEMORY = np.zeros((1, 2))


def raises(ball, coordinates):
    if (coordinates[:, 1] < -0.5).any():
        raise ValueError("a secret")
    return coordinates / ball.reach


def looks_around(ball, coordinates):
    place = np.arange(len(coordinates))[:, None]
    return 0.5 * (coordinates + coordinates.mean(axis=0) + place) / ball.reach


def writes_to_one_memory(ball, coordinates):
    MEMORY[:] = coordinates / ball.reach
    return MEMORY


def has_another_shape(ball, coordinates):
    return coordinates[:, : 1 + (coordinates[0, 0] > 0.0)] / ball.reach


def shortest(ball, seen):
    """Return what was seen, in units of twice the radius."""
    return 0.5 * seen


HOSTILE = {
    "too long": lambda ball, coordinates: coordinates * 1e9,
    "not finite": lambda ball, coordinates: np.where(coordinates > 0.0, np.nan, np.inf),
    "raises": raises,
    "looks around": looks_around,
    "writes to one memory": writes_to_one_memory,
    "another shape": has_another_shape,
    "more rows": lambda ball, coordinates: np.repeat(coordinates, 3, axis=0),
    "clears its input": lambda ball, coordinates: np.multiply(coordinates, 0.0, out=coordinates),
}
POINTS = BALL.point(
    np.array([[0.3, 0.0], [0.0, 0.3], [0.0, -0.6], [-0.3, -0.1], [0.0, 0.0], [0.2, 0.5]])
)


@dataclass(frozen=True)
class Hostile(Statistic):
    """A statistic of another package whose functions break every rule."""

    name = "tests.Hostile"
    vectors: str
    clipped: bool = False

    def queries(self, ball):
        function = HOSTILE[self.vectors]
        if self.clipped:
            clipped = lambda ball, points: function(ball, record_coordinates(ball, points))  # noqa: E731
            rows = Rows(Vector(2), ball.reach, shortest, clipped=clipped)
        else:
            rows = Rows(Vector(2), ball.reach, function)
        answer = yield rows
        return Value(ball.point(ball.shorten(answer.point)), ball)


@pytest.mark.parametrize("vectors", HOSTILE)
@pytest.mark.parametrize("clipped", [False, True], ids=["vectors", "clipped"])
@pytest.mark.parametrize("form", [counted, weighted], ids=["counted", "weighted"])
def test_a_hostile_function_moves_no_sum_farther_than_is_stated(vectors, clipped, form):
    (query,) = outline(form(Hostile(vectors, clipped), BALL), BALL).queries
    extras = {"weights": np.ones(len(POINTS))} if query.takes else {}
    records = Records(POINTS, **extras)
    alone = [answer(query, BALL, records.at(slice(i, i + 1)), 0.0) for i in range(len(POINTS))]
    bound = Fraction(query.add_remove(BALL, "coordinates")) ** 2
    assert all(sum(x * x for x in sums) <= bound for sums in alone)
    if form is counted:  # where a function raises, weights are lost
        assert len({sums[-1] for sums in alone} - {0}) == 1
    # nor does a record change what becomes of another one
    for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1], [2, 2, 4]):
        given = {name: np.asarray(values)[order] for name, values in extras.items()}
        found = answer(query, BALL, Records(POINTS[order], **given), 0.0)
        assert found == tuple(map(sum, zip(*(alone[i] for i in order), strict=True)))


def test_what_fails_for_every_record_fails_alike_for_any_data(monkeypatch):
    monkeypatch.setitem(HOSTILE, "no array", lambda ball, coordinates: "a secret")
    (query,) = outline(Hostile("no array"), BALL).queries
    said = set()
    for n in (1, 4):
        with pytest.raises(RiemdpError) as error:
            answer(query, BALL, POINTS[:n], 0.0)
        said.add(str(error.value))
    assert len(said) == 1
    assert "secret" not in said.pop()


def test_what_would_look_around_sees_one_record():
    """The control: the same code as the kernel would run it if it were of this library."""
    (query,) = outline(Hostile("looks around"), BALL).queries
    rows = query.rows(BALL, query.prepare(BALL, POINTS))
    alone = [query.rows(BALL, query.prepare(BALL, point[None]))[0] for point in POINTS]
    assert not np.array_equal(rows, alone)
    total = query.added(BALL, np.array(alone))
    assert answer(query, BALL, POINTS, 0.0) == query.finish(BALL, total, 0.0)


def test_hostile_vectors_and_extras_move_no_sum_farther():
    """No clip, no number, far too long: what a shape is given is checked again."""

    class Beside(TangentRegression):
        name = "tests.HostileVectors"

        @property
        def beside(self):
            return lambda records: np.where(np.asarray(records.covariates) > 0.5, 1e9, np.nan)

    line = Beside(0.0, 1.0).query(BALL)
    records = Records(POINTS[:4], covariates=np.array([0.1, 0.9, 0.2, 0.8]))
    own = {field: getattr(line, field) for field in line.__dataclass_fields__}
    wild = Rows(**own | {"vectors": lambda *_: np.array([[np.nan, 0], [9, 9], [0, 0.5], [1, 0]])})
    rows = wild.rows(BALL, wild.prepare(BALL, records)).astype(object)
    assert np.sum(rows**2, axis=1).max() <= wild.shape.longest
    assert not rows[:2, :2].any()
    assert rows[2:, :2].any(axis=1).all()


class Shapeless:
    norm, move, size, longest = Fraction(1), Fraction(0), 2, 2**80


class Unmoved(Vector):
    move = Fraction(0)


class Unguarded(Rows):
    def guarded(self, ball, rows):
        return rows + 2**41


def of_this_library(kind, module):
    """Return a subclass that says that it is of this library."""
    return type(kind.__name__, (kind,), {"__module__": f"riemdp.{module}"})


@dataclass(frozen=True)
class Asks(Statistic):
    name = "tests.Asks"
    query: object

    def queries(self, ball):
        answer = yield self.query
        return Value(ball.point(ball.shorten(answer.point)), ball)


FOREIGN = {
    "rows": Unguarded(Vector(2), 1.0, record_coordinates),
    "shape": Rows(Unmoved(2), 1.0, record_coordinates),
    "no shape": Rows(Shapeless(), 1.0, record_coordinates),
    "rows by another name": of_this_library(Unguarded, "statistics._rows")(
        Vector(2), 1.0, record_coordinates
    ),
    "shape by another name": Rows(
        of_this_library(Unmoved, "kernel._shapes")(2), 1.0, record_coordinates
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_queries_and_shapes_are_those_of_this_library(name):
    assert outline(Asks(Rows(Vector(2), 1.0, record_coordinates)), BALL).queries
    with pytest.raises(InvalidParameterError, match=r"Rows of a shape of riemdp\.kernel"):
        outline(Asks(FOREIGN[name]), BALL)
    for form in (Counted(Asks(FOREIGN[name]), 1.0), Weighted(Asks(FOREIGN[name]), 0.5)):
        with pytest.raises(RiemdpError, match=r"Rows of a shape|no function of sums|is no mean"):
            outline(form, BALL)


def test_what_is_no_mean_of_rows_is_neither_counted_nor_weighed():
    for form in (counted, weighted):
        with pytest.raises(UnsupportedError, match="no function of sums"):
            form(DirectVariance(), BALL)
    with pytest.raises(UnsupportedError, match="no mean, which weights could have"):
        outline(Weighted(DirectVariance(), 0.5), BALL)
