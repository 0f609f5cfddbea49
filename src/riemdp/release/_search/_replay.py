"""Searches computed again from their receipts: what was asked follows from what was answered."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from riemdp._errors import InvalidParameterError
from riemdp.noise.exact import default_grid
from riemdp.privacy import adds_up, bounded_range, within_total
from riemdp.release._search._schedule import Centre, Choice, Outcome, schedule, walked, working_ball
from riemdp.release._search._steps import (
    CentreStep,
    ChoiceStep,
    Search,
    Step,
    centre_again,
    centre_kind,
    centre_offer,
    found_ball,
)

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.privacy import Budget

#: Relative difference that another processor's elementary functions may make of public numbers.
_SAME = 1e-9
#: The same of what privacy rests on, see ``_ELSEWHERE`` of ``verify``.
_CLOSE = 1e-12


class _MismatchError(InvalidParameterError):
    """What is stated is not what follows."""


def replay(search: Search) -> Outcome:
    """Walk through the schedule with the stated answers.

    ``RiemdpError`` if a stated number does not follow from the public ones and from the answers
    before it, an answer is none to its question, or there are more steps, or fewer.
    """
    public = working_ball(search.ball)
    steps = iter(search.steps)

    def answered(question: Choice | Centre) -> float | FloatArray:
        step = next(steps, None)
        if step is None:
            raise _MismatchError(f"the search goes on: {question.label} is missing")
        try:
            _check(question, step, search)
        except _MismatchError as error:
            raise _MismatchError(f"{question.label}: {error}") from None
        return step.value

    questions = schedule(public, search.n, search.budget, search.rounds, search.direction)
    outcome = walked(questions, answered)
    if next(steps, None) is not None:
        raise _MismatchError("the search ends before its last step")
    return outcome


def _check(question: Choice | Centre, step: Step, search: Search) -> None:
    if isinstance(question, Choice) and isinstance(step, ChoiceStep):
        _check_choice(question, step, search.ball)
    elif isinstance(question, Centre) and isinstance(step, CentreStep):
        _check_centre(question, step, search)
    else:
        raise _MismatchError("another question is due")


def _check_choice(question: Choice, step: ChoiceStep, public: Ball) -> None:
    if question.query != step.query or question.count != step.count:
        raise _MismatchError("another question is due, or another number of candidates")
    for name in ("rate", "penalty"):
        _check_same(name, getattr(step, name), getattr(question, name))
    # besides the public radius it has the distance between the centres, of a radius alone
    away = question.top - public.reach if question.query == "radius" else 0.0
    room = _rounding(public, away) if away > 0.0 else 0.0
    if not math.isclose(step.top, question.top, rel_tol=_SAME, abs_tol=room):
        raise _MismatchError(f"top is stated {step.top:.12g}, recomputed {question.top:.12g}")
    _check_guarantee(step.guarantee, bounded_range(type(step.guarantee), step.rate))
    if step.value not in replace(question, top=step.top).candidates:
        raise _MismatchError("value is not one of the candidates")


def _check_centre(question: Centre, step: CentreStep, search: Search) -> None:
    ball, public = question.ball, working_ball(search.ball)
    _check_same("radius", step.radius, ball.radius)
    if not _same_point(search.ball, public, step.center, ball.center):
        raise _MismatchError("the ball is another one")
    _check_guarantee(question.guarantee, step.guarantee)
    if step.mechanism != centre_kind(type(step.guarantee)).name:
        raise _MismatchError("the mechanism is another one")
    made = centre_offer(ball, search.n, step.guarantee)
    _check_same("sensitivity", step.sensitivity, made.sensitivity)
    _check_same("sigma", step.sigma, made.mechanism.sigma, _CLOSE)
    if step.grid != default_grid(step.sigma):
        raise _MismatchError("the grid is not that of noise of this scale")
    if not _same_point(search.ball, public, step.value, centre_again(step, ball, public)):
        raise _MismatchError("value is not that of the integers")


def _check_same(name: str, stated: float, found: float, error: float = _SAME) -> None:
    if not (stated == found or math.isclose(stated, found, rel_tol=error)):
        raise _MismatchError(f"{name} is stated {stated:.12g}, recomputed {found:.12g}")


def _check_guarantee(larger: Budget, smaller: Budget) -> None:
    """Hold two guarantees against each other: the same, but for what another processor makes."""
    same = type(larger) is type(smaller) and _close(larger, smaller, _SAME)
    if not same or smaller.price()[0] > larger.price()[0] * (1.0 + _CLOSE):
        raise _MismatchError(f"the guarantee is stated {larger}, recomputed {smaller}")


def _close(first: Budget, second: Budget, error: float) -> bool:
    """Whether two budgets of one definition are the same, to a relative error."""
    pairs = zip(first.price(), second.price(), strict=True)
    return all(x == y or math.isclose(x, y, rel_tol=error) for x, y in pairs)


def _same_point(public: Ball, searched: Ball, stated: FloatArray, found: FloatArray) -> bool:
    """Whether a point is the one that was found, in the public ball or its image in the chart.

    The chart of the public centre is rounded too, as distances from there are.
    """
    space, center = searched.manifold, searched.center
    if stated.shape != found.shape:
        return False
    if bool(space.coincide(center, stated, found, _SAME)):
        return True
    allowed = _rounding(public, float(space.dist(center, found)))
    return public.manifold.chart is not None and bool(space.dist(stated, found) <= allowed)


def _rounding(public: Ball, radius: float) -> float:
    """Difference of what two processors make of a place so far from the public centre."""
    return 4.0 * public.manifold.rounding(public.center, radius)


def search_problem(search: Search, ball: Ball, guarantee: Budget) -> str:
    """Say what is wrong with the receipt of a search; empty where nothing is.

    The ball is that of the release, the guarantee that of search and release together.
    ``RiemdpError`` if a step does not follow, see :func:`replay`.
    """
    shared = adds_up(guarantee, ball.manifold.dim)
    if type(shared) is not type(search.budget) or not _close(shared, search.budget, _CLOSE):
        return f"its budget is {search.budget}, that of the release {guarantee}"
    if search.release is None:
        return "what the release takes of its budget is missing"
    parts = [*(step.guarantee for step in search.steps), search.release]
    if not within_total(search.budget, parts):
        return f"its steps and the release take more than {search.budget}"
    found = found_ball(search.ball, replay(search))
    if not any(_same_ball(search.ball, ball, other) for other in (found, search.ball)):
        return "the ball of the release is not the one that was found"
    return ""


def _same_ball(public: Ball, first: Ball, second: Ball) -> bool:
    same = first.radius == second.radius or math.isclose(first.radius, second.radius, rel_tol=_SAME)
    return (
        first.manifold == second.manifold
        and same
        and _same_point(public, public, first.center, second.center)
    )
