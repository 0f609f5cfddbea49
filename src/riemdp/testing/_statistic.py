"""What must hold of a statistic, on a ball."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from riemdp import UnsupportedError
from riemdp.kernel import within
from riemdp.statistics import (
    FrechetMean,
    Metric,
    Prepared,
    Records,
    TangentMean,
    answer,
    as_records,
)
from riemdp.testing._contents import contents, state
from riemdp.testing._tools import ROUNDING, available, coordinates_in_ball, require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics import Neighbours, Question, Statistic

_SIZES = (1, 2, 12)
#: Answers that are looked at, of several.
_STEPS = 2


def _question(statistic: Statistic, ball: Ball) -> Question:
    return statistic.ask(ball, statistic.start(ball), 0)


def _questions(statistic: Statistic, ball: Ball) -> Iterator[tuple[float, Question]]:
    """Yield the first questions, wherever some noise leads in between, with their weights."""
    answers = statistic.answers(ball)
    signs = np.where(np.arange(answers.manifold.dim) % 2, -1.0, 1.0)
    noisy = answers.point(0.3 * answers.reach / math.sqrt(len(signs)) * signs)
    point = statistic.start(ball)
    for step in range(min(statistic.steps, _STEPS)):
        if step > 0:
            point = statistic.move(ball, point, noisy, step - 1, float)
        yield statistic.answer_weight(step), statistic.ask(ball, point, step)


def _answered(question: Question, ball: Ball, data: Any, tol: float) -> FloatArray:
    return np.array(answer(question, ball, data, tol), dtype=np.float64)


def _records(ball: Ball, size: int, seed: int = 0) -> FloatArray:
    return ball.point(coordinates_in_ball(ball.manifold, size, ball.radius, seed))


def _given(
    statistic: Statistic, points: FloatArray, *, changed: bool = False
) -> FloatArray | Records:
    """Return points with what the statistic takes beside them; of the last one something else.

    What belongs to places stays.
    """
    if not statistic.takes:
        return points
    n = len(points)
    extras = statistic.typical_extras(n + 1, np.random.default_rng(n))
    rows = [*range(n - 1), n if changed else n - 1]
    given: dict[str, Any] = {
        name: np.asarray(all_)[[*range(n)] if name in statistic.by_place else rows]
        for name, all_ in extras.items()
    }
    return Records(points, **given)


def _at(records: FloatArray | Records, rows: slice) -> FloatArray | Records:
    return records.at(rows) if isinstance(records, Records) else records[rows]


def _twice(ball: Ball) -> Ball:
    """Return a ball of twice the radius; the same where there is no room for it."""
    try:
        return dataclasses.replace(ball, radius=2.0 * ball.radius)
    except UnsupportedError:
        return ball


def _tolerance(statistic: Statistic, ball: Ball, n: int) -> float:
    """Return the largest public tolerance of a release of so many records."""
    exact = _sensitivities(statistic, ball, n).values()
    return max(statistic.tolerance(ball, each) for each in (0.0, *exact))


def answers_lie_in_their_ball(statistic: Statistic, ball: Ball) -> None:
    """Check that answers are coordinates in the ball of answers, for any records."""
    answers = statistic.answers(ball)
    for n in _SIZES:
        tol = _tolerance(statistic, ball, n)
        for seed in range(4):
            for _, question in _questions(statistic, ball):
                records = _given(statistic, _records(ball, n, seed))
                found = _answered(question, ball, records, tol)
                wanted = (answers.manifold.dim,)
                require(found.shape == wanted, f"an answer has shape {wanted}, not {found.shape}")
                require(
                    np.linalg.norm(found) <= answers.radius * (1.0 + ROUNDING) + tol,
                    f"an answer lies in {answers}, {n} records",
                )


def order_does_not_count(statistic: Statistic, ball: Ball) -> None:
    """Check that records in another order give the same answer, up to the tolerance."""
    n = max(_SIZES)
    tol = _tolerance(statistic, ball, n)
    records = _given(statistic, _records(ball, n))
    question = _question(statistic, ball)
    turned = _at(records, slice(None, None, -1))
    one, other = (_answered(question, ball, rows, tol) for rows in (records, turned))
    gap = np.linalg.norm(one - other)
    require(gap <= 2.0 * tol * (1.0 + ROUNDING), f"the order of records counts: {gap:.3g}")


def records_are_clipped(statistic: Statistic, ball: Ball) -> None:
    """Check that a record outside counts as what the ball makes of it."""
    n = max(_SIZES)
    tol = _tolerance(statistic, ball, n)
    records = _records(_twice(ball), n)
    question = _question(statistic, ball)
    ends = [
        _answered(question, ball, _given(statistic, rows), tol)
        for rows in (records, ball.project(records))
    ]
    gap = np.linalg.norm(ends[0] - ends[1])
    require(gap <= 2.0 * tol + 1e-9 * ball.radius, f"records are clipped to the ball: {gap:.3g}")


def chunks_make_the_whole(statistic: Statistic, ball: Ball) -> None:
    """Check that summaries of chunks, merged, give the answer of all records."""
    n = max(_SIZES)
    tol = _tolerance(statistic, ball, n)
    records = _given(statistic, ball.project(_records(ball, n)))
    question = _question(statistic, ball)

    def summary(rows: Any) -> object:
        rows = rows if question.takes else as_records(rows).points
        return question.summarise(ball, question.prepare(ball, rows))

    whole = np.array(question.finish(ball, summary(records), tol), dtype=np.float64)
    for cuts in ([1], [n // 2], [n // 3, 2 * n // 3]):
        ends = zip([0, *cuts], [*cuts, n], strict=True)
        parts = [summary(_at(records, slice(*each))) for each in ends]
        partial = parts[0]
        for part in parts[1:]:
            partial = question.merge(partial, part)
        found = np.array(question.finish(ball, partial, tol), dtype=np.float64)
        gap = np.linalg.norm(found - whole)
        require(gap <= 2.0 * tol * (1.0 + ROUNDING), f"chunks make the whole: {gap:.3g} apart")
    if question.adds(ball):
        each = [summary(_at(records, slice(i, i + 1))) for i in range(n)]
        one, other = (
            tuple(question.finish(ball, functools.reduce(question.merge, order), tol))
            for order in (each, each[::-1])
        )
        require(one == other, "what adds gives the same in any order, exactly")


def neighbours_are_close(statistic: Statistic, ball: Ball) -> None:
    """Check the sensitivity against random neighbours and those that extremes are made of."""
    known = [
        _neighbours_of(question, weight, statistic, ball, n)
        for weight, question in _questions(statistic, ball)
        for n in _SIZES
    ]
    require(any(known), "a sensitivity is known in one of the metrics")


def _neighbours_of(
    question: Question, weight: float, statistic: Statistic, ball: Ball, n: int
) -> bool:
    """Check one question; return whether anything is claimed of it."""
    answers = statistic.answers(ball)
    stated = _sensitivities(statistic, ball, n)
    exact = {metric: weight * far for metric, far in stated.items()}
    if exact:
        require(min(exact.values()) > 0.0, "a sensitivity is positive, and a weight too")
        tol = statistic.tolerance(ball, max(stated.values()))
        worst = dict.fromkeys(exact, 0.0)
        for one, other in _neighbours(ball, n):
            ends = [
                _answered(question, ball, _given(statistic, rows, changed=changed), tol)
                for rows, changed in ((one, False), (other, True))
            ]
            gaps = {
                "distance": float(answers.manifold.dist(*map(answers.point, ends))),
                "coordinates": float(np.linalg.norm(ends[0] - ends[1])),
            }
            worst = {metric: max(far, gaps[metric]) for metric, far in worst.items()}
        # a ball that holds sums of any number of records is no measure of rounding
        slack = 1e-12 * (max(exact.values()) if statistic.totals else answers.radius)
        for metric, far in worst.items():
            require(
                far <= exact[metric] + 2.0 * tol + slack,
                f"replace_one(n={n}, {metric!r}) = {exact[metric]:.6g}, but neighbours are "
                f"{far:.6g} apart",
            )
    return bool(exact)


def _sensitivities(statistic: Statistic, ball: Ball, n: int) -> dict[Metric, float]:
    """Return those that are known."""
    found = {}
    for metric in get_args(Metric):
        with available():
            found[metric] = statistic.replace_one(ball, n, metric)
    return found


def _neighbours(ball: Ball, n: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield pairs of data sets that differ in the last record."""
    dim = ball.manifold.dim
    axes = [sign * axis for axis in np.eye(dim)[:3] for sign in (1.0, -1.0)]
    ends = ball.radius * (1.0 - 1e-12) * np.array(axes)
    places = np.concatenate([ends[1:], 0.5 * ends[:1], np.zeros((1, dim))])
    for others in (np.zeros(dim), ends[0], 0.5 * ends[0]):
        for first in (ends[0], np.zeros(dim)):
            for last in places:
                rows = np.tile(others, (n, 1))
                changed = rows.copy()
                rows[-1], changed[-1] = first, last
                yield ball.point(rows), ball.point(changed)
    half = np.where(np.arange(n)[:, None] % 2, ends[0], ends[1])
    for last in places:
        changed = half.copy()
        changed[-1] = last
        yield ball.point(half), ball.point(changed)
    for seed in range(10):
        several = coordinates_in_ball(ball.manifold, n + 1, ball.radius, seed)
        yield ball.point(several[:-1]), ball.point(np.delete(several, n - 1, axis=0))


def features_are_as_short_as_is_stated(statistic: Any, ball: Ball) -> None:
    """Check that the features of every record count: longer ones do not."""
    if not hasattr(statistic, "shape"):  # no sum of features
        return
    shape = statistic.shape(statistic.dim(ball))
    for wide in (ball, _twice(ball)):
        given = _given(statistic, _records(wide, _SIZES[-1]))
        rows = statistic.rows(ball, statistic.prepare(ball, given))
        require(
            within(rows, shape.longest).all(),
            f"features are no longer than those of their shape, {float(shape.norm) ** 0.5:.6g}; a "
            "record with longer ones counts as none",
        )


def counted_form_is_bounded(statistic: Statistic, ball: Ball) -> None:
    """Check the form for a private number of records, where there is one, and add records to it."""
    try:
        form = statistic.counted(ball)
    except UnsupportedError:
        return
    require(form.totals, "the answers of a counted form are totals")
    stated = []
    for metric in get_args(Metric):
        with available():
            stated.append(form.add_remove(ball, metric))
    require(stated, "add_remove is known in one of the metrics")
    tol = form.tolerance(ball, max(stated))
    for weight, question in _questions(form, ball):
        bound = weight * min(stated) * (1.0 + 1e-12) + 2.0 * tol
        for rows in _new_records(ball):
            moved = _moved(question, ball, _several(form, rows, len(rows)), tol)
            far = max(math.sqrt(sum(x * x for x in move)) for move in moved)
            require(
                far <= bound,
                f"add_remove = {min(stated):.6g}, times {weight:.3g}, but a record moves an answer "
                f"by {far:.6g}",
            )
            gap = max(abs(x - y) for move in moved for x, y in zip(move, moved[0], strict=True))
            require(gap <= 4.0 * tol, "what a record adds does not depend on the others")
    for n in (0, *_SIZES):
        records = _several(form, _records(ball, n + 1), n)
        kept = Prepared(ball, records)
        answers = [_answered(question, ball, kept, tol) for _, question in _questions(form, ball)]
        count = form.released_count(ball, answers)
        require(
            count is None or abs(count - n) <= 1e-9 * (n + 1.0),
            f"the number of records is among the answers: {count} in place of {n}",
        )


#: How many records there are when one is added, and its place among them.
_ADDED = ((0, 0), (1, 0), (2, 1), (12, 12))


def _new_records(ball: Ball) -> Iterator[FloatArray]:
    """Yield 13 points each, of which the last one is added to some of the others."""
    dim = ball.manifold.dim
    axis = ball.radius * (1.0 - 1e-12) * np.eye(dim)[0]
    several = coordinates_in_ball(ball.manifold, 2, ball.radius)
    rows = coordinates_in_ball(ball.manifold, max(_SIZES), ball.radius, 1)
    for last in (axis, -axis, 0.0 * axis, *several):
        yield ball.point(np.concatenate([rows, last[None]]))


def _several(statistic: Statistic, points: FloatArray, n: int) -> Records:
    """Return the first n of some points, with what the statistic takes beside them."""
    extras: dict[str, Any] = {
        **statistic.typical_extras(len(points), np.random.default_rng(len(points)))
    }
    return Records(points, **extras).at(slice(0, n))


def _moved(question: Question, ball: Ball, several: Records, tol: float) -> list[list[Fraction]]:
    """Return how far the last record moves the sum over n others, put in at a place; for each n."""

    def found(rows: list[int]) -> tuple[Fraction, ...]:
        names = ("points", *several.extras)
        given: dict[str, Any] = {name: np.asarray(getattr(several, name))[rows] for name in names}
        return answer(question, ball, Records(**given), tol)

    last, moved = len(several) - 1, []
    for n, place in _ADDED:
        ends = found([*range(n)]), found([*range(place), last, *range(place, n)])
        moved.append([x - y for x, y in zip(*ends, strict=True)])
    return moved


def noise_falls_with_records(statistic: Statistic, ball: Ball) -> None:
    """Check that more records never make a sensitivity larger."""
    for metric in get_args(Metric):
        with available():
            found = [statistic.replace_one(ball, n, metric) for n in (1, 2, 10, 1000, 10**6)]
            require(np.diff(found) <= 1e-12 * found[0], "the sensitivity falls in n")
            require(all(math.isfinite(each) for each in found), "a sensitivity is finite")


def nothing_is_carried(statistic: Statistic, ball: Ball) -> None:
    """Check that no record gets past the noise: what was answered leaves nothing behind.

    :meth:`Statistic.move` and later questions may use what is released, and the public numbers of
    the statistic, which are its attributes.
    """
    n = max(_SIZES)
    tol = _tolerance(statistic, ball, n)
    answers = statistic.answers(ball)
    noisy = answers.point(np.full(answers.manifold.dim, 0.1 * answers.radius))
    moved = []
    for seed in (None, 0, 1):
        fresh = copy.deepcopy(statistic)
        question = _question(fresh, ball)
        before = [state(fresh), state(question)]
        if seed is not None:
            answer(question, ball, _given(fresh, _records(ball, n, seed)), tol)
            require(
                [state(fresh), state(question)] == before,
                "an answer changes no attribute of the statistic, of its question or of a class",
            )
        moved.append(contents(fresh.move(ball, fresh.start(ball), noisy, 0, float)))
    require(
        all(each == moved[0] for each in moved),
        "move depends on what is released alone, not on what was answered before",
    )


CHECKS = (
    answers_lie_in_their_ball,
    order_does_not_count,
    records_are_clipped,
    chunks_make_the_whole,
    neighbours_are_close,
    features_are_as_short_as_is_stated,
    counted_form_is_bounded,
    noise_falls_with_records,
    nothing_is_carried,
)


def relation_is_measured(neighbours: Neighbours, ball: Ball) -> None:
    """Check that a relation between data sets has a sensitivity, or refuses by name."""
    for statistic in (FrechetMean(), TangentMean()):
        for metric in get_args(Metric):
            for n in _SIZES:
                with available():
                    found = neighbours.sensitivity(statistic, ball, n, metric)
                    require(0.0 < found < math.inf, "a sensitivity is positive and finite")


RELATION_CHECKS = (relation_is_measured,)
