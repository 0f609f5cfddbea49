"""Answers in turn over a private number of records, of which the first says how many there are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError
from riemdp._part import both_proved, register
from riemdp.statistics._around import Around
from riemdp.statistics._counted_sum import MOST_RECORDS, WithoutInference, checked_weight
from riemdp.statistics._feature_sums import quotient_of, root_up
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._question import Rewritten
from riemdp.statistics._seen import vector_ball

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial, Question
    from riemdp.statistics._recentred import Recentred
    from riemdp.statistics._statistic import Metric
    from riemdp.statistics._steps import NoisySteps


@dataclass(frozen=True, eq=False)
class _Total(Rewritten):
    """The sum that an exact mean is of, times a number, and another number for every record."""

    question: Question
    factor: Fraction
    one: Fraction
    size: int

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        if partial.count == 0:
            return (Fraction(0),) * self.size
        mean = map(Fraction, self.question.finish(ball, partial, tol))
        return (*(partial.count * self.factor * x for x in mean), partial.count * self.one)


@dataclass(frozen=True, eq=False)
class _Place:
    """Where the inner steps have come to, with the number of records that was released."""

    inner: Any  # what the inner statistic moves
    noise: float  # mean length of the noise of an answer
    number: float = 1.0  # at least 1


@dataclass(frozen=True)
class CountedAnswers(Around):
    """What counted forms of several answers have in common.

    Answers are sums over the records of the vectors whose means the inner statistic asks for, with
    one more coordinate: a number for every record in the first answer, 0 afterwards. Each is
    divided by the largest norm of such a vector, so that an answer moves by its weight times r when
    a record is added or removed, and the budget is shared as the inner statistic shares it.

    The inner statistic then gets the sums divided by the number that was released, by one record at
    least. How long its noise is taken to be follows that number too. See docs/proofs/neighbours.md.
    """

    projects = False
    totals = True

    statistic: NoisySteps
    weight: float

    def __post_init__(self) -> None:
        if not hasattr(self.statistic, "answer_factor") or self.statistic.steps < 2:
            raise InvalidParameterError(
                "statistic must be one of several answers, such as GeometricMedian(), got "
                f"{kind_of(self.statistic)}; counted(ball) returns the form of any other"
            )
        object.__setattr__(self, "weight", checked_weight(self.weight, free=False))

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Number of answers."""
        return self.statistic.steps

    def tolerance(self, ball: Ball, sensitivity: float) -> float:  # noqa: ARG002
        """Zero: integers are added; see :meth:`Statistic.tolerance`."""
        return 0.0

    def counted(self, ball: Ball) -> Self:  # noqa: ARG002
        """Return itself; see :meth:`Statistic.counted`."""
        return self

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the same, and those of the sums; see :meth:`Statistic.proofs_on`."""
        return both_proved(self.proofs(), self.statistic.proofs_on(ball))

    def answer_weight(self, step: int) -> float:
        """Return that of the inner statistic; see :meth:`Statistic.answer_weight`."""
        return self.statistic.answer_weight(step)

    def answers(self, ball: Ball) -> Ball:
        """Return sums over however many records there are; see :meth:`Statistic.answers`."""
        return vector_ball(self._size(ball) + 1, MOST_RECORDS * ball.reach)

    def _size(self, ball: Ball) -> int:
        return self.statistic.answers(ball).manifold.dim

    def _scale(self, ball: Ball, step: int) -> float:
        """Return what the vectors of an answer are multiplied by: its weight over their norm.

        Rounded down, so that they are at most the weight times r long.
        """
        norm = Fraction(self.statistic.answer_norm(ball.manifold.dim, step))
        if step == 0:
            norm = Fraction(root_up(norm**2 + Fraction(self.weight) ** 2))
        weight = Fraction(self.answer_weight(step))
        found = float(weight / norm)
        return found if Fraction(found) * norm <= weight else math.nextafter(found, 0.0)

    def add_remove(self, ball: Ball, metric: Metric) -> float:
        """Return the radius; refused if the inner statistic has no sensitivity on this ball.

        See :meth:`Statistic.add_remove`.
        """
        self.statistic.replace_one(ball, 1, metric)
        return ball.reach

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return how far the sums move, whatever n is; see :meth:`Statistic.replace_one`."""
        self.statistic.replace_one(ball, 1, metric)
        dim = ball.manifold.dim
        moves = [
            Fraction(self._scale(ball, step))
            * Fraction(self.statistic.answer_move(dim, step))
            / Fraction(self.answer_weight(step))
            for step in range(self.steps)
        ]
        return quotient_of(max(moves) * Fraction(ball.reach), 1)

    def noise_in_value(self, ball: Ball) -> float:
        """Of the last answer, and of the count; see :meth:`Statistic.noise_in_value`.

        To first order, for a mean at the boundary.
        """
        last, size = self.steps - 1, self._size(ball)
        factor = self._factor(ball, last) * self.statistic.noise_in_value(ball)
        count = 1.0 / (self._scale(ball, 0) * self.weight)
        return math.sqrt((size * factor**2 + count**2) / (size + 1.0))

    def _factor(self, ball: Ball, step: int) -> float:
        """Return what makes an answer of the inner statistic of one here, over one record."""
        inner = self.statistic.answer_factor(ball.manifold.dim, step)
        return float(inner / Fraction(self._scale(ball, step)))

    def _count_unit(self, ball: Ball) -> Fraction:
        """Return what a record adds to the last coordinate of the first answer."""
        return Fraction(self._scale(ball, 0)) * Fraction(self.weight) * Fraction(ball.reach)

    def released_count(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:
        """See :meth:`Statistic.released_count`."""
        return float(answers[0][-1]) / float(self._count_unit(ball))

    def start(self, ball: Ball) -> _Place:
        """Return where the inner steps start, with no noise known; see :meth:`Statistic.start`."""
        return self.begin(ball, float)

    def begin(self, ball: Ball, noise: Callable[[], float]) -> _Place:
        """Return where the inner steps start; see :meth:`Statistic.begin`."""
        return _Place(self.statistic.start(ball), noise())

    def ask(self, ball: Ball, point: _Place, step: int) -> Question:
        """Ask for the sum that the inner mean is of; see :meth:`Statistic.ask`."""
        inner = self.statistic.answer_factor(ball.manifold.dim, step)
        return _Total(
            self.statistic.ask(ball, point.inner, step),
            Fraction(self._scale(ball, step)) / inner,
            self._count_unit(ball) if step == 0 else Fraction(0),
            self._size(ball) + 1,
        )

    def move(self, ball: Ball, point: _Place, noisy: FloatArray, step: int) -> _Place:
        """Divide by the number that was released, and move; see :meth:`Statistic.move`."""
        number = point.number
        if step == 0:
            number = max(self.released_count(ball, [noisy]) or 0.0, 1.0)
        factor, size = self._factor(ball, step) / number, self._size(ball)
        # of the mean length of noise, the part of the coordinates that the inner statistic sees
        part = math.sqrt((size - 0.5) / (size + 0.5))
        at = replace(point.inner, noise=point.noise * factor * part)
        inner = self.statistic.move(ball, at, noisy[:-1] * factor, step)
        return replace(point, inner=inner, number=number)

    def value_at(self, ball: Ball, point: _Place) -> FloatArray:
        """Return the value of the inner statistic; see :meth:`Statistic.value_at`."""
        return self.statistic.value_at(ball, point.inner)


@final
@register
@dataclass(frozen=True)
class CountedSteps(CountedAnswers):
    """Noisy steps over a number of records that is private, as the first answer says it with noise.

    Parameters
    ----------
    statistic : NoisySteps
        :class:`RefinedMean` of two rounds or more, :class:`GeometricMedian` or
        :class:`HuberMean`.
    weight : float
        Of the count in the first answer, in units of the radius: from 2^-20 to 4.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md, docs/proofs/noisy-steps.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import AddRemove, CountedSteps, RefinedMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points, steps = np.full((500, 2), 0.3), CountedSteps(RefinedMean(), 0.5)
    >>> release = riemdp.private_statistic(
    ...     steps, points, ball, riemdp.GDP(1.0), neighbours=AddRemove()
    ... )
    >>> release.value.shape, abs(release.count - 500) < 100
    ((2,), True)
    """

    name: ClassVar[str] = "counted-steps"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    caveat: ClassVar[str] = (
        "expected_distance is that of the noise of one answer and of the number of records, to "
        "first order, were the records spread over the whole ball; how far clipping or stopping "
        "moved the value is not bounded"
    )
    keeps_range: ClassVar[bool] = True


@final
@register
@dataclass(frozen=True)
class CountedRecentred(WithoutInference, CountedAnswers):
    """Sums in two rounds over a number of records that is private, as the first says it with noise.

    Parameters
    ----------
    statistic : Recentred
    weight : float
        Of the count in the first answer, in units of the radius: from 2^-20 to 4.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md, docs/proofs/joint-sensitivities.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import AddRemove, CountedRecentred, Moments, Recentred
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points, sums = np.full((500, 2), 0.3), CountedRecentred(Recentred(Moments()), 0.5)
    >>> release = riemdp.private_statistic(
    ...     sums, points, ball, riemdp.GDP(1.0), neighbours=AddRemove()
    ... )
    >>> release.value["mean"].shape, abs(release.count - 500) < 100
    ((2,), True)
    """

    name: ClassVar[str] = "counted-recentred"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    caveat: ClassVar[str] = (
        "expected_distance is that of the noise of all features of the second round together and "
        "of the number of records, to first order, were they clipped to the radius; how far "
        "clipping moved the value is not bounded"
    )

    statistic: Recentred

    def __post_init__(self) -> None:
        super().__post_init__()
        if getattr(self.statistic, "statistic", None) is None:
            raise InvalidParameterError(
                f"statistic must be Recentred, got {kind_of(self.statistic)}; CountedSteps is for "
                "steps"
            )

    def range(self, ball: Ball) -> Ball:
        """Return base, length, features and the number of records; see :meth:`Statistic.range`."""
        inner = self.statistic.range(ball)
        return vector_ball(inner.manifold.dim + 1, MOST_RECORDS * (1.0 + inner.reach))

    def value_at(self, ball: Ball, point: _Place) -> FloatArray:
        """Return base, length and features, and the number; see :meth:`range`."""
        return np.append(super().value_at(ball, point), point.number)

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> NamedValues:
        """Return the parts of the inner statistic, and the number.

        See :meth:`CountedSum.present`; the number is one at least here.
        """
        sd, number = deviation(), max(float(value[-1]), 1.0)
        count_sd = sd / float(self._count_unit(ball))
        inner = sd * self._factor(ball, 1) / number
        parts = self.statistic.present(ball, value[:-1], lambda: inner)
        found = self.statistic.statistic.with_count(dict(parts.items()), count_sd / number)
        base = {"base_sd": sd / (self._scale(ball, 0) * number)}
        return NamedValues(value, {**found, **base, "count": number, "count_sd": count_sd})


def steps_weight(norm: float, dim: int) -> float:
    """Return the weight of the count in a first answer of vectors of so large a norm.

    The error of the mean of that answer is least with it at the boundary: ``weight^4`` is the
    squared norm, in units of the radius, over the dimension.
    """
    return math.sqrt(norm / math.sqrt(dim))
