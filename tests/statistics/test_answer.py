"""Answers: records are clipped once, in chunks or whole, and nothing is told of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import riemdp
from riemdp import Ball, Euclidean, Sphere
from riemdp.statistics import ClassMoments, Prepared, Query, Records, answer

SPHERE = Sphere(2)
BALL = Ball(SPHERE, [0.0, 0.0, 1.0], 0.5)


class Farthest(Query):
    """Largest distance from the centre, which clipping bounds."""

    def answers(self, ball):
        return Ball(Euclidean(1), [0.5 * ball.radius], 0.5 * ball.radius)

    def added(self, ball, rows):
        return ball.manifold.dist(ball.center, rows).max(keepdims=True)

    def merge(self, first, second):
        return np.maximum(first, second)

    def finish(self, ball, partial, tol):
        return partial - 0.5 * ball.radius


class Plain(Query):
    def finish(self, ball, partial, tol):
        return ball.coordinates(partial).mean(axis=0)


def spread(n, length, seed=0):
    tangent = np.random.default_rng(seed).normal(size=(n, 2))
    tangent *= length / np.linalg.norm(tangent, axis=1, keepdims=True)
    return SPHERE.exp(BALL.center, SPHERE.tangent_vector(BALL.center, tangent))


def test_records_are_clipped_before_a_statistic_sees_them():
    found = answer(Farthest(), BALL, spread(5, 2.0), 1e-9)
    assert found == pytest.approx([0.25], abs=1e-12)
    # negative control: without the clip the value lies outside the range
    assert Farthest().finish(BALL, Farthest().added(BALL, spread(5, 2.0)), 1e-9) > 1.0


def test_one_that_clips_by_itself_is_given_the_records_as_they_are():
    class Own(Farthest):
        clips = True

    assert answer(Own(), BALL, spread(5, 2.0), 1e-9) == pytest.approx([1.75])


@pytest.mark.parametrize("query", [Farthest(), Plain()], ids=["own", "by default"])
def test_chunks_make_the_whole(query):
    points = np.concatenate([spread(6, 0.2), spread(5, 0.4, 1)])
    whole = query.finish(BALL, query.added(BALL, points), 1e-9)
    chunks = [query.added(BALL, part) for part in (points[:3], points[3:9], points[9:])]
    merged = query.merge(query.merge(chunks[0], chunks[1]), chunks[2])
    np.testing.assert_allclose(query.finish(BALL, merged, 1e-9), whole, atol=1e-15)


def test_what_is_not_finite_becomes_the_centre():
    class Broken(Plain):
        def finish(self, ball, partial, tol):
            return np.array([np.nan, 1.0])

    np.testing.assert_array_equal(answer(Broken(), BALL, spread(3, 0.1), 1e-9), [0.0, 0.0])


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ((Fraction(1, 3), Fraction(2)), [Fraction(1, 3), 2]),
        ((Fraction(10) ** 400, Fraction(1)), [0, 0]),
        (np.array([np.nan, 1.0]), [0, 0]),
        (np.array([0.5, 0.25]), [Fraction(1, 2), Fraction(1, 4)]),
    ],
)
def test_an_answer_is_rational_and_finite(found, wanted):
    """What is not may tell of the data: it must not get as far as the draw."""

    class Claims(Plain):
        def finish(self, ball, partial, tol):
            return found

    assert list(answer(Claims(), BALL, spread(3, 0.1), 1e-9)) == wanted


@pytest.mark.parametrize("found", [7.0, (1j, 7.0), np.full((7, 3), 0.5), np.array(["7"])], ids=str)
def test_what_is_found_is_not_told(found):
    """Of a wrong answer neither shape nor kind: both may depend on the records."""

    class Wrong(Plain):
        def finish(self, ball, partial, tol):
            return found

    with pytest.raises(riemdp.RiemdpError, match=r"^Wrong failed with [A-Za-z]+; ") as caught:
        answer(Wrong(), BALL, spread(3, 0.1), 1e-9)
    assert "7" not in str(caught.value)


@pytest.mark.parametrize("stage", ["finish", "added", "rows", "prepare"])
def test_an_error_of_a_query_says_its_class_alone(stage):
    class Talks(Plain):
        pass

    def talk(*_):
        raise ValueError("patient 7")

    setattr(Talks, stage, talk)
    with pytest.raises(riemdp.RiemdpError, match=r"^Talks failed with ValueError; ") as caught:
        answer(Talks(), BALL, spread(3, 0.1), 1e-9)
    assert "patient" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.filterwarnings("always")
def test_a_query_does_not_warn(recwarn):
    class Warns(Plain):
        def finish(self, ball, partial, tol):
            warnings.warn(f"{partial[0]}", stacklevel=1)
            return np.array([1e300, 1.0]) ** 10

    assert answer(Warns(), BALL, spread(3, 0.1), 1e-9) == (0, 0)
    assert list(recwarn) == []


@pytest.mark.parametrize("own", [True, False])
def test_no_query_changes_the_records_of_the_caller(own):
    class Writes(Plain):
        clips = own

        def rows(self, ball, records):
            records[:] = 0.0
            return records

        def finish(self, ball, partial, tol):
            return np.zeros(2)

    points = spread(5, 0.2)
    before = points.copy()
    try:
        answer(Writes(), BALL, points, 1e-9)
    except riemdp.RiemdpError as error:
        assert "ValueError" in str(error)  # noqa: PT017 -- a copy of the ball may be written to
    np.testing.assert_array_equal(points, before)
    assert points.flags.writeable


@pytest.mark.parametrize("own", [True, False])
def test_another_package_is_given_copies_of_one_record_at_a_time(own):
    class Keeps(Plain):
        clips = own
        seen = ()

        def rows(self, ball, records):
            self.seen += (records,)
            return records

        def finish(self, ball, partial, tol):
            return np.zeros(2)

    points, query = spread(5, 0.2), Keeps()
    answer(query, BALL, points, 1e-9)
    public = BALL.center[None]  # what stands for a record that raises
    np.testing.assert_array_equal(np.concatenate(query.seen), np.concatenate([public, points]))
    assert {rows.shape for rows in query.seen} == {(1, 3)}
    assert not any(np.shares_memory(rows, points) for rows in query.seen)


class Number(Query):
    """How many records there are, where those to the left of the centre raise."""

    def adds(self, ball):
        return True

    def rows(self, ball, records):
        if (records[:, 0] < 0.0).any():
            raise ValueError("a secret")
        return records

    def added(self, ball, rows):
        return np.array([len(rows), rows.sum()])

    def merge(self, first, second):
        return first + second

    def finish(self, ball, partial, tol):
        return partial


@pytest.mark.parametrize("rows", [[], [1.0], [1.0, -2.0, 4.0, -8.0]])
def test_a_record_that_raises_in_another_package_counts_as_the_centre(rows):
    line = Ball(Euclidean(1), [0.5], 9.0)
    found = answer(Number(), line, np.array(rows).reshape(-1, 1), 0.0)
    assert found == (len(rows), sum(x if x > 0.0 else 0.5 for x in rows))


class Places(Query):
    """Rows of points, of which there are none left of the centre; how long were the tiles?"""

    clips = True
    seen = frozenset()

    def rows(self, ball, records):
        self.seen |= {len(records)}
        return records[:0] if records[0, 0] < 0.0 else records

    def finish(self, ball, partial, tol):
        return np.array([len(partial), partial.sum()])


def test_a_record_without_a_row_in_another_package_counts_as_the_centre():
    line = Ball(Euclidean(1), [0.5], 9.0)
    assert answer(Places(), line, np.array([[1.0], [-2.0], [4.0]]), 0.0) == (3, 5.5)


@dataclass(frozen=True, eq=False)
class Wraps(Query):
    """Any other query in a form of our own."""

    query: Query
    clips = True

    def rows(self, ball, records):
        return self.query.rows(ball, records)

    def finish(self, ball, partial, tol):
        return self.query.finish(ball, partial, tol)


def test_a_query_of_another_package_inside_our_own_is_given_one_record_at_a_time(monkeypatch):
    monkeypatch.setattr(Wraps, "__module__", "riemdp.statistics")
    monkeypatch.setattr(Own, "__module__", "riemdp.statistics")
    line = Ball(Euclidean(1), [0.5], 9.0)
    alone, other = Prepared(line, np.ones((5, 1))), Places()
    for query in (Own(), other):  # as a statistic asks one after the other
        assert answer(Wraps(query), line, alone, 0.0) == (5, 5.0)
    assert other.seen == {1}


@pytest.mark.parametrize("place", ["vectors", "beside", "clipped"])
def test_a_function_of_another_package_in_rows_of_our_own_is_given_one_record_at_a_time(place):
    line, seen = Ball(Euclidean(1), [0.0], 1.0), set()

    def foreign(function):
        def seeing(*given):
            seen.add(len(given[-1]))
            return function(*given)

        return seeing

    own = next(ClassMoments((0, 1)).queries(line))
    records = Records(np.full((70, 1), 0.5), labels=[0, 1] * 35).validated(line.manifold)
    expected = answer(own, line, Prepared(line, records), 0.0)
    assert seen == set()
    other = replace(own, **{place: foreign(getattr(own, place))})
    assert answer(other, line, Prepared(line, records), 0.0) == expected
    assert seen == {1}


class Own(Query):
    clips = True

    def finish(self, ball, partial, tol):
        return np.array([len(partial), partial.sum()])


@dataclass(frozen=True, eq=False)
class Asking(Query):
    """A query that takes labels, or not: of one class, as of steps of one statistic."""

    labelled: bool

    clips = True

    @property
    def takes(self):
        return ("labels",) if self.labelled else ()

    def rows(self, ball, records):
        return np.array([[x] for x in records.labels]) if self.labelled else records

    def finish(self, ball, partial, tol):
        return partial.astype(float).sum(axis=0)


def test_records_come_with_what_each_query_takes():
    line = Ball(Euclidean(1), [0.0], 9.0)
    records = riemdp.Records([[1.0], [2.0], [4.0]], labels=[1, 10, 100]).validated(line.manifold)
    alone = Prepared(line, records)
    for labelled, expected in ((False, 7.0), (True, 111.0), (False, 7.0)):
        assert answer(Asking(labelled), line, alone, 0.0) == (expected,)


class Reuses(Query):
    """The sum of points, all of which are written to the same memory."""

    clips = True

    def __init__(self, where):
        self.where, self.memory = where, np.zeros((1, 3))

    def adds(self, ball):
        return True

    def kept(self, where, records):
        if where != self.where:
            return records
        self.memory[:] = records
        return self.memory

    def prepare(self, ball, records):
        return self.kept("prepare", records)

    def rows(self, ball, records):
        return self.kept("rows", records)

    def finish(self, ball, partial, tol):
        return partial.sum(axis=0)


@pytest.mark.parametrize("query", [Reuses("prepare"), Reuses("rows")])
def test_a_record_counts_once_where_all_are_written_to_the_same_memory(query):
    points = spread(5, 0.2)
    data = Prepared(BALL, points)
    for _ in range(2):  # the second time of what was prepared
        found = np.array(answer(query, BALL, data, 1e-9), dtype=float)
        np.testing.assert_allclose(found, points.sum(axis=0))
