"""Noisy steps: means and medians whose noise follows the spread of the records, not the radius."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp._checks import count
from riemdp._errors import InvalidParameterError
from riemdp.kernel import Moment
from riemdp.manifolds import clip_norm
from riemdp.statistics._counted import Sums
from riemdp.statistics._exact_mean import ExactSum
from riemdp.statistics._feature_sums import root_up
from riemdp.statistics._seen import (
    JOINT_REACH,
    Seen,
    SeenFromCentre,
    answer_shape,
    seen_from,
    steps_ball,
    vector_ball,
)
from riemdp.statistics._sensitivity import tangent_mean_sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Question
    from riemdp.statistics._statistic import Metric

#: Most steps of one release.
_MOST = 10_000
#: What the second moment is multiplied by.
_SCALAR = Moment(1).weights[0]
#: Least length that is clipped to, as a share of the ball's radius.
LEAST = 2.0**-40
#: Share of the last length under which the next one never falls: a spread is known no better.
_FLOOR = 0.125
#: What a forecast of the error leaves out.
BIAS = (
    "expected_distance is that of the noise of one answer, were the records spread over the whole "
    "ball; how far clipping or stopping moved the value is not bounded"
)


@dataclass(frozen=True, eq=False)
class Place:
    """Where steps have come to: a function of public numbers and of releases."""

    point: FloatArray  # in the ball of steps
    unit: float  # length that the radius of an answer stands for, in the step that comes next
    trail: tuple[FloatArray, ...] = ()  # points that the value is an average of


@dataclass(frozen=True)
class NoisySteps(Sums):
    """Steps from a released point to the next, each along a noisy mean of bounded vectors.

    An answer is a mean over the records, in the tangent space at a released point, of vectors whose
    norm is at most the ball's radius r: ``2r/n`` is its sensitivity, on every space, for every
    radius and wherever the point lies. Lengths that depend on releases only scale it. The first
    answer is the tangent mean at the centre of the ball with the mean squared distance to it, which
    costs no noise; the others are seen from where the steps have come to. See
    docs/proofs/noisy-steps.md.
    """

    #: What is asked for after the first answer.
    _asked: ClassVar[type[Seen]] = Seen

    @property
    @abstractmethod
    def shares_of_steps(self) -> tuple[float, ...]:
        """Share of every answer, of sum 1: squares of the weights."""

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Number of answers."""
        return len(self.shares_of_steps)

    def answer_weight(self, step: int) -> float:
        """Root of the share; see :meth:`Statistic.answer_weight`."""
        return math.sqrt(self.shares_of_steps[step])

    def has_moment(self, step: int) -> bool:
        """Whether an answer has the second moment in it; the first one, by default."""
        return step == 0

    def answer_norm(self, dim: int, step: int) -> float:
        """See :meth:`Sums.answer_norm`."""
        return root_up(answer_shape(dim, moment=self.has_moment(step)).norm)

    def answer_move(self, dim: int, step: int) -> float:
        """See :meth:`Sums.answer_move`."""
        return root_up(answer_shape(dim, moment=self.has_moment(step)).move)

    def answers(self, ball: Ball) -> Ball:
        """Tangent vectors with one more coordinate; see :meth:`Statistic.answers`."""
        return vector_ball(ball.manifold.dim + 1, JOINT_REACH * ball.reach)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``2r/n``, in both metrics; see :meth:`Statistic.replace_one`."""
        return tangent_mean_sensitivity(ball, n)

    def tolerance(self, ball: Ball, sensitivity: float) -> float:  # noqa: ARG002
        """Zero: integers are added; see :meth:`Statistic.tolerance`."""
        return 0.0

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the proof of the steps, and that of the sums."""
        return {**super().proofs_on(ball), "exact mean": ExactSum.proof}

    def start(self, ball: Ball) -> Place:
        """Return the centre; see :meth:`Statistic.start`."""
        return Place(steps_ball(ball).center, ball.reach)

    def ask(self, ball: Ball, point: Place, step: int) -> Question:  # noqa: ARG002
        """Ask for the mean and the second moment first; see :meth:`Statistic.ask`."""
        kind = self._asked if step else SeenFromCentre
        weight, moment = self.answer_weight(step), self.has_moment(step)
        return kind(point.point, point.unit, weight, moment=moment)

    def move(
        self, ball: Ball, point: Place, noisy: FloatArray, step: int, noise: Callable[[], float]
    ) -> Place:
        """Make a step along a noisy mean; see :meth:`Statistic.move`."""
        weight, reach = self.answer_weight(step), ball.reach
        vector, moment = noisy[:-1] / weight, noisy[-1] / weight / _SCALAR
        # Both in units of the radius of answers, which stands for point.unit.
        vector, moment = clip_norm(vector, reach) / reach, moment / reach
        spread = _spread(vector, moment, noise() / weight / reach) * point.unit
        return self._moved(ball, point, vector, spread, step)

    @abstractmethod
    def _moved(
        self, ball: Ball, place: Place, vector: FloatArray, spread: float, step: int
    ) -> Place:
        """Return the next place, from a noisy mean in units of ``place.unit``."""

    def value_at(self, ball: Ball, point: Place) -> FloatArray:
        """Average the trail, as seen from where it ends; see :meth:`Statistic.value_at`."""
        seen = steps_ball(ball)
        value = point.point
        if point.trail:
            others = seen_from(seen.manifold, value, np.array(point.trail))
            value = stepped(ball, value, others.mean(axis=0))
        return value if seen is ball else ball.point(value)


def _spread(vector: FloatArray, moment: float, noise: float) -> float:
    """Root mean square distance of records to the point that a noisy mean leads to, estimated.

    ``moment - |vector|^2`` is less than the variance of the records by the mean square of the
    noise of the vector, on average; that is added, and once more as the square distance between
    the mean and where the noise leads.
    """
    dim = len(vector)
    # Of a Gaussian the squared mean length in dim + 1 dimensions is that many less 1/2, nearly.
    square = noise * noise * dim / (dim + 0.5)  # a product overflows to infinity, a power raises
    return math.sqrt(max(moment - float(vector @ vector) + square, 0.0) + square)


def stepped(ball: Ball, base: FloatArray, coordinates: FloatArray) -> FloatArray:
    """End of a step from a point, projected onto the ball of steps, where both lie.

    ``ball`` is that of the records, ``coordinates`` ``(dim,)`` are normal ones about the base.
    """
    seen = steps_ball(ball)
    return seen.project(seen.manifold.point(base, coordinates))


class StepsToMeans(NoisySteps):
    """Steps to the noisy mean, about which records are clipped to ``alpha`` times their spread.

    That length is raised to an eighth of what was clipped to, and lowered to the radius.
    """

    alpha: float

    def _moved(
        self, ball: Ball, place: Place, vector: FloatArray, spread: float, step: int
    ) -> Place:
        del step
        length = max(self.alpha * spread, _FLOOR * place.unit, LEAST * ball.reach)
        point = stepped(ball, place.point, vector * place.unit)
        return replace(place, point=point, unit=min(ball.reach, length))


def step_count(value: object, name: str) -> int:
    """Return a number of steps, at most as many as one release may have."""
    number = count(value, name)
    if number > _MOST:
        raise InvalidParameterError(f"{name} must be at most {_MOST}, got {number}")
    return number
