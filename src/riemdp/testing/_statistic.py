"""What must hold of a statistic, on a ball."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import math
import pickle
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from riemdp import InvalidParameterError, UnsupportedError
from riemdp.kernel import UNIT, on_grid, within
from riemdp.statistics import (
    Answer,
    FrechetMean,
    Metric,
    Prepared,
    Records,
    Rows,
    TangentMean,
    Value,
    answer,
    counted,
    outline,
    through,
)
from riemdp.testing._contents import contents, state
from riemdp.testing._tools import ROUNDING, available, coordinates_in_ball, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics import Neighbours, Query, Statistic

_SIZES = (1, 2, 12)
#: How far noise takes answers, in radii, and queries that are looked at, of several.
_NOISE, _QUERIES = (0.0, 0.3, 1e3), 2


def _answered(
    statistic: Statistic, ball: Ball, noise: float, see: Callable[[Query], object]
) -> Value:
    """Go through a statistic with noisy answers; show each query."""
    random = np.random.default_rng(0)

    def noisy(query: Query) -> Answer:
        see(query)
        answers = query.answers(ball)
        typical = query.typical(ball, ball.reach, max(_SIZES))
        start = answers.manifold.coordinates(answers.center, typical)
        far = noise * ball.reach * random.normal(size=len(start))
        return Answer(answers.point(start + far), 0.1 * ball.reach)

    return through(statistic, ball, noisy)


def _queries(statistic: Statistic, ball: Ball) -> Iterator[Query]:
    """Yield the first queries, wherever some noise leads in between."""
    for noise in _NOISE:
        found: list[Query] = []
        _answered(statistic, ball, noise, found.append)
        yield from found[1 if noise else 0 : _QUERIES]  # the first one follows on no answer


def _moves(query: Query, ball: Ball, n: int) -> dict[Metric, float]:
    """Return the sensitivities that are known, by metric."""
    found = {}
    for metric in get_args(Metric):
        with contextlib.suppress(UnsupportedError, InvalidParameterError):  # of another n
            found[metric] = query.replace_one(ball, n, metric)
    return found


def _tolerance(query: Query, ball: Ball, n: int) -> float:
    """Return the largest public tolerance of a release of so many records."""
    return max(query.tolerance(ball, each) for each in (0.0, *_moves(query, ball, n).values()))


def _records(ball: Ball, size: int, seed: int = 0) -> FloatArray:
    return ball.point(coordinates_in_ball(ball.manifold, size, ball.reach, seed))


def _given(statistic: Statistic, points: FloatArray, *, changed: bool = False) -> Records:
    """Return points with what the statistic takes beside them; of the last one something else.

    What belongs to places stays.
    """
    n = len(points)
    extras = statistic.typical_extras(n + 1, np.random.default_rng(n))
    rows = [*range(n - 1), n if changed else n - 1] if n else []
    given: dict[str, Any] = {
        name: np.asarray(extras[name])[[*range(n)] if name in statistic.by_place else rows]
        for name in statistic.takes
    }
    return Records(points, **given)


def _found(query: Query, ball: Ball, data: Records, tol: float) -> FloatArray:
    return np.array(answer(query, ball, data, tol), dtype=np.float64)


def _twice(ball: Ball) -> Ball:
    """Return a ball of twice the radius; the same where there is no room for it."""
    try:
        return dataclasses.replace(ball, radius=2.0 * ball.radius)
    except (TypeError, UnsupportedError):
        return ball


def public_numbers_follow_from_no_answer(statistic: Statistic, ball: Ball) -> None:
    """Check that shares, balls of answers and moves are the same for any answers."""

    def numbers(query: Query) -> object:
        own = query.share, query.answers(ball), query.takes, query.projects, query.sums
        moves = [_moves(query, ball, n) for n in _SIZES]
        return *own, moves, query.tolerance(ball, 0.0), query.rounding(ball)

    planned = outline(statistic, ball).queries
    shares = [query.share for query in planned]
    require(min(shares) > 0.0, "a share is positive")
    require(math.fsum(shares) <= 1.0 + 1e-9, f"shares add up to at most 1: {math.fsum(shares)!r}")
    for query in planned:
        require(set(query.takes) <= set(statistic.takes), "a query takes what its statistic takes")
    wanted = [numbers(query) for query in planned]
    for noise in _NOISE:
        found: list[Query] = []
        _answered(statistic, ball, noise, found.append)
        require(
            [numbers(query) for query in found] == wanted,
            "how many queries there are, and their public numbers, follow from no answer",
        )


def values_lie_in_their_ball(statistic: Statistic, ball: Ball) -> None:
    """Check that values are finite, and in the ball that they state, for any answers."""
    wanted = outline(statistic, ball).value.ball
    for noise in _NOISE:
        value = _answered(statistic, ball, noise, lambda _: None)
        require(value.ball == wanted, "the ball of the value follows from no answer")
        require(np.isfinite(value.raw), "a value is finite")
        require(0.0 < value.gain < math.inf, "a gain is positive and finite")
        if value.parts is None and noise == 0.0:
            far = float(value.ball.manifold.dist(value.ball.center, value.raw))
            limit = value.ball.reach * (1.0 + ROUNDING)
            require(far <= limit, f"a value lies in {value.ball}")


def rows_are_as_short_as_is_stated(statistic: Statistic, ball: Ball) -> None:
    """Check that the vector of every record counts: those longer than 1, or not finite, do not."""
    for query in _queries(statistic, ball):
        if not isinstance(query, Rows) or "weights" in query.takes:
            continue
        for wide in (ball, _twice(ball)):
            given = _given(statistic, _records(wide, _SIZES[-1]))
            seen: Any = given if query.takes else given.points
            seen = query.prepare(ball, seen)
            vectors = np.asarray(query.vectors(ball, seen.points if query.takes else seen))
            large = ~(np.abs(vectors) < 1.0 / UNIT).all(axis=-1)  # or none
            require(
                on_grid(vectors)[large].any(axis=-1),
                "vectors are no longer than 1, by rounding too: see shortened",
            )
            rows = query.rows(ball, seen)
            wanted = (len(vectors), query.shape.size)
            require(rows.shape == wanted, f"rows have shape {wanted}, not {rows.shape}")
            require(within(rows, query.shape.longest), "rows are no longer than their shape says")


def company_does_not_count(statistic: Statistic, ball: Ball) -> None:
    """Check that records in another order, in chunks or one by one, give the same answer."""
    n = max(_SIZES)
    records = _given(statistic, ball.project(_records(ball, n)))
    for query in _queries(statistic, ball):
        tol = _tolerance(query, ball, n)

        def finished(*parts: slice, query: Query = query, tol: float = tol) -> Any:
            each = (Prepared(ball, records.at(part)).summary(query) for part in parts)
            return query.finish(ball, functools.reduce(query.merge, each), tol)

        alone = [slice(i, i + 1) for i in range(n)]
        whole = finished(slice(0, n))
        several: list[tuple[slice, ...]] = [
            (slice(0, 1), slice(1, n)),
            (slice(0, 4), slice(4, 8), slice(8, n)),
            (*alone,),
            (*alone[::-1],),
            (slice(n, None, -1),),
        ]
        for parts in several:
            found = finished(*parts)
            gap = np.linalg.norm(np.array(found, dtype=float) - np.array(whole, dtype=float))
            limit = 2.0 * tol + 1e-12 * query.answers(ball).reach
            require(gap <= limit, f"company or order counts: {gap:.3g}")
            same = not query.adds(ball) or tuple(found) == tuple(whole)
            require(same, "what adds gives the same in any order, exactly")


def neighbours_are_close(statistic: Statistic, ball: Ball) -> None:
    """Check moves against random neighbours and those that extremes are made of."""
    for query in _queries(statistic, ball):
        known = [_check_moves(query, statistic, ball, n) for n in _SIZES]
        require(any(known), "a sensitivity is known")


def _check_moves(query: Query, statistic: Statistic, ball: Ball, n: int) -> bool:
    """Check one query for n records; return whether anything is stated of it."""
    stated = _moves(query, ball, n)
    tol = _tolerance(query, ball, n)
    units = np.concatenate(
        [
            ball.reach * (1.0 - 1e-12) * np.eye(ball.manifold.dim)[:3],
            np.zeros((1, ball.manifold.dim)),
            coordinates_in_ball(ball.manifold, 4, ball.reach),
        ]
    )
    units = np.concatenate([units, -units])
    far = stated.get("coordinates", math.inf)
    slack = 2.0 * tol * query.stretch(ball, "coordinates") + 1e-12 * query.answers(ball).reach

    def found(other: int, last: int, *, changed: bool) -> FloatArray:
        points = ball.point(np.vstack([*[units[other]] * (n - 1), units[last]]))
        return _found(query, ball, _given(statistic, points, changed=changed), tol)

    for other in (0, 3, 4) if n > 1 else (0,):  # a record alone has no others
        start = found(other, 0, changed=False)
        for one in range(len(units)):
            gap = float(np.linalg.norm(start - found(other, one, changed=True)))
            said = f"replace_one = {far:.6g}, but neighbours are {gap:.6g} apart"
            require(gap <= far + slack, said)
    return bool(stated)


def counted_form_is_bounded(statistic: Statistic, ball: Ball) -> None:
    """Check the form for a private number of records, where there is one, and add records to it."""
    try:
        form = counted(statistic, ball)
    except UnsupportedError:
        return
    n = max(_SIZES)
    records = _given(form, _records(ball, n))
    for query in _queries(form, ball):
        require(query.sums, "the answers of a counted form are sums")
        bound = min(query.add_remove(ball, metric) for metric in get_args(Metric))
        for i in range(n):
            without, all_ = (_sums(query, ball, records.at(slice(0, k))) for k in (i, i + 1))
            alone = _sums(query, ball, records.at(slice(i, i + 1)))
            far = math.sqrt(sum(x * x for x in alone))
            said = f"add_remove = {bound:.6g}, but a record moves an answer by {far:.6g}"
            require(far <= bound * (1.0 + 1e-12), said)
            moved = tuple(x - y for x, y in zip(all_, without, strict=True))
            require(moved == alone, "what a record adds does not depend on the others")
    for size in (0, *_SIZES):
        kept = Prepared(ball, records.at(slice(0, size)))

        def exactly(query: Query, kept: Prepared = kept) -> Answer:
            found = np.array(answer(query, ball, kept, 0.0), dtype=np.float64)
            return Answer(query.answers(ball).point(found), 0.0)

        count = through(form, ball, exactly).count
        said = f"the number of records is among the answers: {count} in place of {size}"
        require(count is None or abs(count - size) <= 1e-9 * (size + 1.0), said)


def _sums(query: Query, ball: Ball, records: Records) -> tuple[Fraction, ...]:
    return answer(query, ball, records, 0.0)


def extras_are_stated(statistic: Statistic, ball: Ball) -> None:  # noqa: ARG001
    """Check that what stands beside records, and beside nobody's, has the names that are taken."""
    extras = statistic.typical_extras(_SIZES[-1], np.random.default_rng(0))
    require(set(extras) == set(statistic.takes), "typical_extras has the names in takes")
    require(set(statistic.by_place) <= set(statistic.takes), "by_place names what is taken")
    with available():
        require(set(statistic.absent()) == set(statistic.takes), "absent has the names in takes")


def queries_go_to_other_processes(statistic: Statistic, ball: Ball) -> None:
    """Check that queries of rows can be pickled, and answer as before."""
    records = _given(statistic, _records(ball, _SIZES[-1]))
    for query in _queries(statistic, ball):
        if isinstance(query, Rows):
            again = pickle.loads(pickle.dumps(query))
            found = [answer(each, ball, records, 0.0) for each in (query, again)]
            require(found[0] == found[1], "a query answers the same after pickle")


def nothing_is_carried(statistic: Statistic, ball: Ball) -> None:
    """Check that no record gets past the noise: what was answered leaves nothing behind.

    Later queries, and the value, may use what is released, and the public numbers of the statistic,
    which are its attributes.
    """
    n = max(_SIZES)
    told = []
    for seed in (None, 1, 2):
        seen: list[Any] = []
        fresh = copy.deepcopy(statistic)

        def see(
            query: Query, fresh: Statistic = fresh, seed: int | None = seed, seen: list[Any] = seen
        ) -> None:
            tol, before = _tolerance(query, ball, n), [state(fresh), state(query)]
            # the same records first: what other ones left behind would show
            for each in (0,) if seed is None else (0, seed):
                found = answer(query, ball, _given(fresh, _records(ball, n, each)), tol)
                if each == 0:
                    seen.append(found)
            require(
                [state(fresh), state(query)] == before,
                "an answer changes no attribute of the statistic, of its query or of a class",
            )

        value = _answered(fresh, ball, 0.3, see)
        told.append((seen, contents([value.raw, value.gain, value.count, value.total])))
    require(
        all(each == told[0] for each in told),
        "queries and the value depend on what is released alone, not on what was answered before",
    )


CHECKS = (
    public_numbers_follow_from_no_answer,
    values_lie_in_their_ball,
    rows_are_as_short_as_is_stated,
    company_does_not_count,
    neighbours_are_close,
    counted_form_is_bounded,
    extras_are_stated,
    queries_go_to_other_processes,
    nothing_is_carried,
)


def relation_is_measured(neighbours: Neighbours, ball: Ball) -> None:
    """Check that a relation between data sets has a sensitivity, or refuses by name."""
    for statistic in (FrechetMean(), TangentMean()):
        with available():
            query = outline(neighbours.form(statistic, ball), ball).queries[0]
            for metric in get_args(Metric):
                for n in _SIZES if neighbours.size_is_public else (None,):
                    with available():
                        found = neighbours.sensitivity(query, ball, n, metric)
                        require(0.0 < found < math.inf, "a sensitivity is positive and finite")


RELATION_CHECKS = (relation_is_measured,)
