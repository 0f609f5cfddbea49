"""Sums of records in chunks: the same integers, whatever the chunks and their order."""

from __future__ import annotations

import logging
import pickle
import random
import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from riemdp import (
    Ball,
    Chunks,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    RiemdpError,
    Sphere,
    UnsupportedError,
)
from riemdp.kernel import Sum
from riemdp.statistics import (
    Answer,
    ClassMoments,
    DirectionalMoments,
    DirectVariance,
    FrechetMean,
    GeometricMedian,
    HuberMean,
    MeanRotation,
    Moments,
    PointStatistic,
    Prepared,
    ProcrustesMean,
    Query,
    Recentred,
    Records,
    RefinedMean,
    Streamed,
    TangentMean,
    TangentRegression,
    Variance,
    Weighted,
    _stream,
    answer,
    counted,
    through,
    weighted,
)
from riemdp.statistics._stream import Outcome, Summarise

CAP = Ball(Sphere(2), [0.0, 0.6, 0.8], 0.7)
PLANE = Ball(Euclidean(2), [1.0, -2.0], 1.5)
N = 13

STATISTICS = [
    (FrechetMean(), PLANE),
    (TangentMean(), CAP),
    (RefinedMean(2), CAP),
    (RefinedMean(1), PLANE),
    (GeometricMedian(3), CAP),
    (HuberMean(2), PLANE),
    (Moments(), CAP),
    (Moments("matrix"), PLANE),
    (Recentred(Moments("matrix"), 0.2, 2.0), CAP),
    (Variance("recentred"), CAP),
    (Variance("public"), PLANE),
    (ClassMoments(("a", "b")), CAP),
    (TangentRegression(-1.0, 1.0), PLANE),
    (Recentred(ClassMoments(("a", "b")), 0.2, 2.0), CAP),
    (weighted(TangentMean(), CAP), CAP),
    (weighted(ClassMoments(("a", "b")), CAP), CAP),
    (weighted(Recentred(Moments()), CAP), CAP),
    (Weighted(TangentMean(), 0.5), CAP),
    (Weighted(FrechetMean(), 0.3), PLANE),
    (Weighted(Recentred(Moments()), 0.3), CAP),
    (DirectVariance(), CAP),
    (DirectionalMoments((1, 2)), Ball.whole(Sphere(2))),
    (MeanRotation(), Ball.whole(Sphere(3))),
    (ProcrustesMean(), Ball.whole(Sphere(5))),
]


def records_of(statistic, ball, n=N):
    """Return records inside and outside the ball, with what the statistic takes."""
    source = np.random.default_rng(n)
    if ball.is_whole:
        points = source.normal(size=(n, *ball.manifold.point_shape))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    else:
        points = ball.manifold.point(ball.center, 0.6 * source.normal(size=(n, ball.manifold.dim)))
    extras = statistic.typical_extras(n, source)
    return Records(points, **extras).validated(ball.manifold)


def queries(statistic, ball):
    """What is asked first and second, after answers that are no mean."""
    found = []

    def answered(query):
        found.append(query)
        answers = query.answers(ball)
        noisy = np.full(answers.manifold.dim, 0.01)
        noisy[-1] = 0.5
        return Answer(answers.point(noisy), 0.0)

    through(statistic, ball, answered)
    return found[:2]


def cut(records, ends):
    return [
        records.at(slice(*each)) for each in zip([0, *ends], [*ends, len(records)], strict=True)
    ]


def permuted(records, order):
    names = ("points", *records.extras)
    return Records(**{name: np.asarray(getattr(records, name))[order] for name in names})


@pytest.mark.parametrize("counts", [False, True], ids=["replace-one", "add-remove"])
@pytest.mark.parametrize(("statistic", "ball"), STATISTICS, ids=lambda x: getattr(x, "name", ""))
def test_integers_are_those_of_the_whole(statistic, ball, counts):
    if counts and (statistic.by_place or isinstance(statistic, DirectVariance)):
        pytest.skip("it is no function of sums")
    form = counted(statistic, ball) if counts else statistic
    records = records_of(statistic, ball)
    n = None if counts else N
    order = np.random.default_rng(1).permutation(N)
    streams = [
        Chunks(cut(records, [1, 2, 7]), n=n),
        Chunks(cut(permuted(records, order), [5, 9]), n=n),
        Chunks(cut(records, [1, 2, 7])[::-1], n=n, mapper=backwards),
        Chunks(cut(records, [10]), sizes=10, n=N),
    ]
    for query in queries(form, ball):
        whole = Prepared(ball, records).summary(query)
        assert query.adds(ball)
        for chunks in streams:
            found = Streamed(ball, chunks, form, n, keeps_places=not counts).summary(query)
            assert found == whole
        assert isinstance(whole, Sum)
        # control: one record less is another sum
        fewer = Prepared(ball, records.at(slice(0, N - 1))).summary(query)
        assert fewer != whole


def backwards(function, tasks):
    return [function(task) for task in reversed(list(tasks))]


class Floats(Query):
    """A sum in float64 that says that it is exact."""

    def adds(self, ball):
        return True

    def added(self, ball, rows):
        return ball.coordinates(rows).sum(axis=0)

    def merge(self, first, second):
        return first + second

    def finish(self, ball, partial, tol):
        return partial


def test_floats_that_are_added_depend_on_the_order():
    # the control of the test above
    line = Ball(Euclidean(1), [0.0], 1.0)
    parts = [np.array([[x]]) for x in (0.1, 0.2, 0.3)]
    found = [
        Streamed(line, Chunks(parts, n=3, mapper=mapper), TangentMean(), 3, keeps_places=True)
        for mapper in (map, backwards)
    ]
    assert np.diff([each.summary(Floats())[0] for each in found]) != 0.0


@pytest.mark.parametrize(
    ("statistic", "ball"),
    [
        (FrechetMean(), CAP),
        (Weighted(FrechetMean(), 0.5), CAP),
        (PointStatistic(1.0, N, "nowhere", np.mean), PLANE),
    ],
)
def test_what_needs_all_records_says_so(statistic, ball):
    query = next(statistic.queries(ball))
    assert not query.adds(ball)
    with pytest.raises(UnsupportedError, match="all records at once"):
        Streamed(ball, Chunks([], n=3), statistic, 3, keeps_places=True).summary(query)


def streamed(parts, statistic=None, ball=CAP, n=N, keeps_places=True, **options):
    statistic = statistic or TangentMean()
    chunks = Chunks(parts, n=n, **options)
    query = next(statistic.queries(ball))
    return Streamed(ball, chunks, statistic, n, keeps_places=keeps_places).summary(query)


def whole_of(records):
    """What the tangent mean needs of all records."""
    return Prepared(CAP, records).summary(next(TangentMean().queries(CAP)))


def test_the_centre_stands_for_records_that_do_not_come():
    records = records_of(TangentMean(), CAP)
    for missing in (1, 5, N - 1):
        points = np.asarray(records.points)[missing:]
        filled = np.concatenate([points, np.repeat(CAP.center[None], missing, axis=0)])
        whole = whole_of(filled)
        assert streamed([points[:3], points[3:]]) == whole
        assert streamed([points], n=N + 1) != whole
    # seen from a released point the centre is not zero
    statistic = RefinedMean(2)
    _, second = queries(statistic, CAP)
    chunks = Chunks([np.asarray(records.points)[1:]], n=N)
    found = Streamed(CAP, chunks, statistic, N, keeps_places=True).summary(second)
    filled = np.concatenate([CAP.center[None], np.asarray(records.points)[1:]])
    assert found == Prepared(CAP, filled).summary(second)
    assert found.total != Prepared(CAP, filled[1:]).summary(second).total
    labelled = records_of(ClassMoments(("a", "b")), CAP)
    with pytest.raises(InvalidParameterError, match="nobody knows the labels"):
        streamed([labelled.at(slice(0, 4))], ClassMoments(("a", "b")))


def test_without_a_public_number_there_may_be_none():
    for statistic in (Moments(), ClassMoments(("a", "b"))):
        form = counted(statistic, CAP)
        query = next(form.queries(CAP))
        none = Streamed(CAP, Chunks([]), form, None, keeps_places=False)
        assert set(answer(query, CAP, none, 0.0)) == {0}


def test_errors_name_the_chunk_and_the_row_and_no_value():
    points = np.array(records_of(TangentMean(), CAP).points)
    points[7] *= 3.14159
    for options, where in (({}, "chunk 1: row 2 "), ({"sizes": 5}, "chunk 1, from row 5: row 2 ")):
        with pytest.raises(NotOnManifoldError) as caught:
            streamed([points[i : i + 5] for i in range(0, N, 5)], **options)
        assert str(caught.value).startswith(where)
        assert caught.value.__context__ is None


def leaking():
    raise ValueError("Ann has 3.14159")


def test_an_error_of_a_part_is_a_value_that_tells_nothing():
    found = Summarise(None, TangentMean(), CAP, False, b"k")((4, leaking))
    assert found.failure[0] == "RiemdpError"
    assert "ValueError" in found.failure[1]
    assert "Ann" not in repr(found)
    with pytest.raises(RiemdpError, match="chunk 0: a chunk failed with ValueError") as caught:
        streamed([leaking])
    assert caught.value.__context__ is None


def logging_part():
    logging.getLogger("a.library").critical("Ann has 3.14159")
    warnings.warn("Ann has 3.14159", stacklevel=1)
    return records_of(TangentMean(), CAP).points


def test_what_a_part_logs_while_it_is_opened_is_dropped(caplog):
    """Also what is logged by an iterator, on its way to the next part."""
    streamed([logging_part])
    streamed(logging_part() for _ in range(1))
    assert caplog.text == ""
    with pytest.warns(UserWarning, match="Ann"):  # control
        logging_part()
    assert "Ann" in caplog.text


class Gone(BaseException):
    """Such as SystemExit, which is no Exception."""


def ending(error):
    raise error("Ann has 3.14159")


def test_a_part_that_ends_its_process_is_a_value_too():
    for error in (SystemExit, Gone):  # a worker would write it down, and be lost, again and again
        found = Summarise(None, TangentMean(), CAP, False, b"k")((4, partial(ending, error)))
        assert found.failure == ("RiemdpError", found.failure[1])
        assert error.__name__ in found.failure[1]
        assert "Ann" not in repr(found)
    with pytest.raises(KeyboardInterrupt):  # which comes from outside
        streamed([partial(ending, KeyboardInterrupt)])


def test_a_check_finds_that_records_are_missing_whose_labels_nobody_knows():
    classes = ClassMoments(("a", "b"))
    given = Records(np.repeat(CAP.center[None], N - 1, axis=0), labels=["a"] * (N - 1))
    for statistic, records, fails in (
        (classes, given, True),
        (TangentMean(), given.points, False),
    ):
        chunks = Streamed(CAP, Chunks([records], n=N), statistic, N, keeps_places=True)
        if fails:
            with pytest.raises(InvalidParameterError, match="nobody knows the labels"):
                chunks.check()
        else:
            chunks.check()


@pytest.mark.parametrize(
    ("parts", "options", "text"),
    [
        ([10, 4], {}, "more records than n"),
        ([], {}, "no chunks at all"),
        ([6, 7], {"sizes": [7, 6]}, "not the 7 that was stated"),
        ([5, 5], {"sizes": 5}, "not 3 chunks"),
    ],
)
def test_numbers_that_are_not_as_stated_are_errors(parts, options, text):
    given = [np.repeat(CAP.center[None], size, axis=0) for size in parts]
    with pytest.raises(InvalidParameterError, match=text):
        streamed(lambda: iter(given), **options)


def test_a_stream_without_end_is_left_when_it_is_longer_than_stated():
    opened = []

    def endless(rows):
        while len(opened) < 1000:
            opened.append(rows)
            yield np.repeat(CAP.center[None], 5 if len(opened) <= 2 else rows, axis=0)

    for options, rows, text in (
        ({"sizes": 5}, 0, "not 2 chunks"),
        ({"sizes": 5}, 5, "not 2 chunks"),
        ({}, 5, "more records than n"),
    ):
        opened.clear()
        with pytest.raises(InvalidParameterError, match=text):
            streamed(endless(rows), n=10, **options)
        assert len(opened) == 3


def with_ids(*ids):
    return [Records(np.repeat(CAP.center[None], len(each), axis=0), ids=each) for each in ids]


def test_ids_are_counted_once_and_known():
    streamed(with_ids([1, 2], ["1", 3]), n=4)
    streamed(with_ids([1, 2], [3]), n=4, manifest=range(4))
    for parts, options, text in (
        (with_ids([1, 2], [3, 1]), {}, "comes twice"),
        (with_ids([1, 2], [4]), {"manifest": range(4)}, "not in the manifest"),
        ([*with_ids([1, 2]), CAP.center[None]], {}, "or none"),
        ([CAP.center[None]], {"manifest": range(4)}, "with a manifest all"),
        (with_ids([1, 1]), {}, "row 1: its id"),
    ):
        with pytest.raises(InvalidParameterError, match=text):
            streamed(parts, n=4, **options)


def test_people_are_refused_where_they_come_in_chunks():
    with pytest.raises(InvalidParameterError, match="no users"):
        streamed([Records(CAP.center[None], users=["Ann"])])


def test_a_task_that_was_counted_twice_or_lost_is_an_error():
    # sums as side effects of tasks that are tried again: 145 records in place of 120
    parts, tried = [np.repeat(CAP.center[None], 5, axis=0)] * 24, random.Random(1)
    count = 0

    def with_side_effects(function, tasks):
        nonlocal count
        for task in tasks:
            found = function(task)
            count += found.count
            if tried.random() < 0.2:  # the engine thinks it has failed
                count += function(task).count
            yield found

    assert streamed(parts, n=120, mapper=with_side_effects).count == 120
    assert count > 120

    def twice(function, tasks):
        return [found for task in tasks for found in (function(task),) * (2 if task[0] == 3 else 1)]

    def lost(function, tasks):
        return [function(task) for task in tasks if task[0] != 3]

    def lazy(function, tasks):
        yield function(next(tasks))

    def futures(function, tasks):
        return [object() for _ in tasks]

    kept = []

    def of_before(function, tasks):
        found = list(map(function, tasks))
        kept.append(found[3])
        return [*found[:3], kept[0], *found[4:]]

    assert streamed(parts, n=120, mapper=of_before).count == 120
    for mapper, text in (
        (of_before, "counted for another pass"),
        (futures, "got object"),
        (twice, "counted twice"),
        (lost, "not all"),
        (lazy, "not all"),
    ):
        with pytest.raises(RiemdpError, match=text):
            streamed(parts, n=200, mapper=mapper)


def test_no_text_of_a_stream_holds_a_number():
    chunks = Chunks([np.array([[0.125]])], n=1, manifest=["Ann"])
    outcome = Outcome(3, 7, Sum((125,), 7), np.zeros(7, "V16"))
    for text in (repr(chunks), repr(outcome)):
        assert not {"125", "Ann", "7"} & set(re.findall(r"\w+", text))
    assert "number=3" in repr(outcome)


def test_what_is_sent_can_be_pickled_and_holds_no_record():
    records = records_of(RefinedMean(2), CAP)
    statistic = RefinedMean(2)
    sent = []

    def elsewhere(function, tasks):
        sent.append(pickle.dumps(function))
        return [pickle.loads(pickle.dumps(pickle.loads(sent[-1])(task))) for task in tasks]

    for query in queries(statistic, CAP):
        chunks = Chunks(cut(records, [9]), n=N, mapper=elsewhere)
        found = Streamed(CAP, chunks, statistic, N, keeps_places=True).summary(query)
        assert found == Prepared(CAP, records).summary(query)
    assert max(map(len, sent)) < 4000
    assert len(pickle.dumps(Outcome(0, 10**9, found))) < 1000


def test_threads_may_work_on_chunks():
    records, names = records_of(TangentMean(), CAP), set()

    def watched(function, task):
        names.add(threading.current_thread().name)
        return function(task)

    with ThreadPoolExecutor(3) as pool:
        found = streamed(
            cut(records, [3, 5, 9]),
            mapper=lambda function, tasks: pool.map(partial(watched, function), tasks),
        )
    assert found == whole_of(records)
    assert threading.current_thread().name not in names


def test_points_are_made_of_what_is_read_row_by_row():
    points = np.asarray(records_of(TangentMean(), CAP).points)
    for sizes in (None, 10):
        read = streamed(np.split(3.0 * points, [10]), read=unit_rows, sizes=sizes)
        assert read == streamed(np.split(unit_rows(3.0 * points), [10]), sizes=sizes)


def test_a_reader_may_write_every_point_to_the_same_memory():
    points, memory = np.asarray(records_of(TangentMean(), CAP).points), np.zeros((1, 3))

    def read(rows):
        memory[:] = rows
        return memory

    assert streamed(np.split(points, [10]), read=read) == streamed(np.split(points, [10]))


@pytest.mark.parametrize("times", [0, 2])
def test_a_reader_makes_one_point_of_each(times):
    points = np.asarray(records_of(TangentMean(), CAP).points)
    with pytest.raises(InvalidParameterError, match="one point for each"):
        streamed(np.split(points, [10]), read=lambda rows: np.repeat(rows, times, axis=0))


def unit_rows(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_several_parts_have_one_sum_whatever_is_in_them():
    (query,) = queries(TangentMean(), CAP)
    summarise = Summarise(query, TangentMean(), CAP, False, b"k")
    points = CAP.point(np.random.default_rng(0).normal(size=(9, 2)) / 5.0)
    parts = [points[:0], points[:4], points[:0] + 1j, points[4:5], points[5:], points[:0]]
    found = summarise.of_several(enumerate(parts))
    assert [each.number for each in found] == list(range(6))
    assert [each.count for each in found] == [0, 4, 0, 1, 4, 0]
    assert [each.partial is None for each in found] == [True, True, True, True, False, True]
    assert found[4].partial == Prepared(CAP, points).summary(query)
    # negative control: the last part alone
    assert found[4].partial != summarise((4, parts[4])).partial
    assert summarise.of_several([]) == []


def test_readers_of_this_library_see_as_many_records_at_a_time_whatever_comes(monkeypatch):
    def counting(points):
        return points + 1e-9 * len(points)

    points, calls = np.random.default_rng(0).normal(size=(9, 2)), []
    given = (None, TangentMean(), PLANE)
    one_by_one = Summarise(*given, False, b"k")._made(counting, points)
    monkeypatch.setattr(_stream, "is_own_code", lambda read: calls.append(read) or True)
    few, all_ = (Summarise(*given, False, b"k")._made(counting, points[:n]) for n in (4, 9))
    np.testing.assert_array_equal(few, all_[:4])
    assert calls == [counting, counting]
    assert not np.array_equal(all_, one_by_one)
    # negative control: where sizes are public all come at once
    few, all_ = (Summarise(*given, True, b"k")._made(counting, points[:n]) for n in (4, 9))
    assert not np.array_equal(few, all_[:4])
