"""How a search is run: private answers, drawn by exact arithmetic."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from riemdp.noise import resolve_generator
from riemdp.noise.exact import exact_choice
from riemdp.release._costs import check_choice
from riemdp.release._run import asked, drawn
from riemdp.release._search._numbers import place_weights, radius_weights
from riemdp.release._search._records import Records, below, beyond, made_of
from riemdp.release._search._schedule import Centre, Choice, Outcome, schedule, walked, working_ball
from riemdp.release._search._steps import CentreStep, ChoiceStep, Search, Step, centre_offer

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.privacy import Budget


def searched(
    search: Search,
    points: FloatArray,
    source: np.random.Generator | None,
    entered: Callable[[Budget, str], object],
) -> tuple[Search, Outcome]:
    r"""Search for a smaller ball; return the search with its steps, and how it ended.

    The search comes without steps, paid for; the points, shape (n, \*point_shape), are valid,
    inside or outside the public ball. ``entered`` is told the guarantee and the label of each step,
    before it is drawn. The ball of the outcome is on the space of the search.
    """
    ball, axis = working_ball(search.ball), search.direction
    along = np.zeros(ball.manifold.dim) if axis is None else axis
    found: list[Step] = []

    @functools.cache
    def records() -> Records:  # only where there is a question
        return Records(ball, _on_chart(search.ball, points))

    def answered(question: Choice | Centre) -> float | FloatArray:
        seen = records()
        entered(question.guarantee, question.label)
        step: Step
        if isinstance(question, Choice):
            step = ChoiceStep.of(question, chosen(question, seen, source, along))
        else:
            step = centre_drawn(question, ball, seen, source)
        found.append(step)
        return step.value

    outcome = walked(schedule(ball, search.n, search.budget, search.rounds, axis), answered)
    return replace(search, steps=tuple(found)), outcome


def chosen(
    choice: Choice, records: Records, source: np.random.Generator | None, axis: FloatArray
) -> float:
    """Draw the answer to a choice: one of its candidates.

    The axis, shape (dim,), has no effect where the choice is none along it.
    """
    check_choice(choice.rate, choice.guarantee)
    candidates = choice.candidates
    if choice.query == "axis":
        # A stretch as wide as the steps on either side: one holds the median, however narrow the
        # data are.
        values, step = records.places(axis), candidates[1] - candidates[0]
        sides = below(values, candidates - step), beyond(values, candidates + step)
        weights = place_weights(*sides, len(records), choice.rate)
    else:
        # What pairs there are must not depend on the records: without an order drawn from
        # elsewhere rows that were recorded together would make the data look narrow.
        values = (
            records.pairs(resolve_generator(source).permutation(len(records)))
            if choice.query == "pairs"
            else records.distances(choice.center)
        )
        weights = radius_weights(beyond(values, candidates), choice.rate, choice.penalty)
    return float(
        candidates[exact_choice(weights.losses, weights.octaves, weights.units, generator=source)]
    )


def centre_drawn(
    question: Centre, public: Ball, records: Records, source: np.random.Generator | None
) -> CentreStep:
    """Draw the answer to a question for a centre; see :class:`CentreStep`."""
    made = centre_offer(question.ball, len(records), question.guarantee)
    start = made.statistic.start(question.ball)
    first = asked(made.statistic, question.ball, start, 0)
    value, rounded = drawn(made, start, first, records.points, source, limit=question.guarantee)
    return CentreStep(
        label=question.label,
        guarantee=question.guarantee,
        center=question.ball.center,
        radius=question.ball.radius,
        mechanism=made.mechanism.name,
        sensitivity=made.sensitivity,
        sigma=made.mechanism.sigma,
        grid=rounded.grid,
        rounded=rounded.integers,
        value=public.project(value),
    )


def _on_chart(ball: Ball, points: FloatArray) -> FloatArray:
    chart = ball.manifold.chart
    if chart is None:
        return points
    return made_of(ball, chart.to_chart, points)[0]
