"""Sums seen from a mean that is released first, and clipped to the spread there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import kind_of, positive, real
from riemdp._errors import InvalidParameterError, UnsupportedBallError, UnsupportedError
from riemdp._part import register
from riemdp.manifolds import clip_norm
from riemdp.statistics._around import Around
from riemdp.statistics._data import as_records
from riemdp.statistics._feature_sums import quotient_of, root_up
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._question import Question, Rewritten
from riemdp.statistics._records import mean_of, record_coordinates
from riemdp.statistics._seen import (
    JOINT_REACH,
    SeenFromCentre,
    View,
    seen_from,
    steps_ball,
    vector_ball,
)
from riemdp.statistics._steps import Place, StepsToMeans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial
    from riemdp.statistics._released_moments import ReleasedMoments
    from riemdp.statistics._statistic import Metric, Statistic
    from riemdp.statistics._sums import SumStatistic


#: Least share of either round.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class _Padded(Rewritten):
    """An answer times a weight, with zeros after it: all answers are of one length."""

    question: Question
    weight: Fraction
    size: int

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        found = map(Fraction, self.question.finish(ball, partial, tol))
        weighted = [self.weight * x for x in found]
        return (*weighted, *(Fraction(0),) * (self.size - len(weighted)))


@dataclass(frozen=True, eq=False)
class _Shortened(Rewritten):
    """Features of records as they are seen from a released point, shortened to a released length.

    That length is scaled to the radius r of the ball, so that whatever was released features are
    those of vectors in the unit ball, times r.
    """

    question: SumStatistic
    place: Place

    def rows(self, ball: Ball, records: Any) -> Partial:
        given, seen = as_records(records), steps_ball(ball)
        points = np.asarray(given.points)
        inside = ball.project(points) if seen is ball else record_coordinates(ball, points)
        found = np.ascontiguousarray(seen_from(seen.manifold, self.place.point, inside))
        vectors = clip_norm(found, self.place.unit) / self.place.unit
        return self.question.rows(ball, given.with_points(vectors))

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        return mean_of(partial, ball.reach)


@final
@register
@dataclass(frozen=True)
class Recentred(Around, StepsToMeans):
    """Sums in two rounds: the second is seen from the mean that the first one released.

    The first round is the tangent mean at the centre, clipped to the ball, with the second moment
    that costs nothing. The second one asks the inner statistic of the same records, seen from that
    mean and shortened to ``alpha`` times the spread that was released (at least an eighth of the
    radius, at most the radius): its noise follows the spread of the records, not the radius.

    Parameters
    ----------
    statistic : SumStatistic
        Of normal coordinates: :class:`Moments`, :class:`ClassMoments` or
        :class:`TangentRegression`.
    share : float, default 0.2
        Share of the first round of the squared budget (of mu^2 for Gaussian noise).
    alpha : float, default 2.0
        Positive and finite. Smaller values clip more, and need less noise.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain, or the statistic is none that can be seen from a
        released point.

    References
    ----------
    docs/proofs/joint-sensitivities.md, docs/proofs/noisy-steps.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import Moments, Recentred
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_statistic(Recentred(Moments()), points, ball, riemdp.GDP(1.0))
    >>> release.statistic.steps, release.value.mean.shape
    (2, (2,))
    """

    name: ClassVar[str] = "recentred"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"
    caveat: ClassVar[str] = (
        "expected_distance is that of the noise of all features of the second round together, "
        "were they clipped to the radius; how far clipping moved the value is not bounded"
    )
    projects: ClassVar[bool] = False
    in_parts: ClassVar[bool] = True

    statistic: SumStatistic
    share: float = 0.2
    alpha: float = 2.0

    def __post_init__(self) -> None:
        if not getattr(self.statistic, "recentres", False):
            raise InvalidParameterError(
                "statistic must be a sum of normal coordinates, such as Moments(), got "
                f"{kind_of(self.statistic)}"
            )
        share = real(self.share, "share")
        if not _LEAST_SHARE <= share <= 1.0 - _LEAST_SHARE:
            raise InvalidParameterError(
                f"share must be over 0 and under 1, by at least {_LEAST_SHARE:g}, got {share}"
            )
        object.__setattr__(self, "share", share)
        object.__setattr__(self, "alpha", positive(self.alpha, "alpha"))

    @property
    def shares_of_steps(self) -> tuple[float, ...]:
        """The share of the first round, and the rest."""
        return (self.share, 1.0 - self.share)

    def noise_in_value(self, ball: Ball) -> float:  # noqa: ARG002
        """As long as in the second answer, were it clipped to the radius."""
        return 1.0 / self.answer_weight(1)

    def answers(self, ball: Ball) -> Ball:
        """Features of the second round times r; see :meth:`Statistic.answers`."""
        dim = ball.manifold.dim
        shape = self.statistic.shape(dim)
        longest = max(root_up(shape.norm), 0.5 * root_up(shape.move) * JOINT_REACH)
        return vector_ball(self._size(dim), longest * ball.reach)

    def _size(self, dim: int) -> int:
        return max(dim + 1, self.statistic.shape(dim).size)

    def _move(self, dim: int) -> float:
        return root_up(self.statistic.shape(dim).move)

    def answer_norm(self, dim: int, step: int) -> float:
        """See :meth:`NoisySteps.answer_norm`; in the second round that of the features."""
        return super().answer_norm(dim, 0) if step == 0 else root_up(self.statistic.shape(dim).norm)

    def answer_move(self, dim: int, step: int) -> float:
        """See :meth:`NoisySteps.answer_move`; in the second round that of the features."""
        return 2.0 if step == 0 else self._move(dim)

    def answer_factor(self, dim: int, step: int) -> Fraction:
        """See :meth:`NoisySteps.answer_factor`; the first moves as far as the second."""
        weight = super().answer_factor(dim, step)
        return weight if step else weight * Fraction(self._move(dim)) / 2

    def with_count(self, parts: Mapping[str, Any], relative: float) -> Mapping[str, Any]:
        """See :meth:`Sums.with_count`."""
        return self.statistic.with_count(parts, relative)

    def counted(self, ball: Ball) -> Statistic:
        """See :meth:`Sums.counted`; refused where the inner statistic has no such form."""
        self.statistic.counted(ball)
        return super().counted(ball)

    def range(self, ball: Ball) -> Ball:
        """Return the base, the length and the features, one after the other.

        See :meth:`Statistic.range`.
        """
        answers = self.answers(ball)
        reach = 2.0 * ball.reach + answers.reach / self.answer_weight(1)
        return vector_ball(ball.manifold.dim + 1 + answers.manifold.dim, reach)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return that of the inner statistic, of normal coordinates in units of the radius.

        See :meth:`Statistic.replace_one`.
        """
        return max(self._first_round(ball, n), self.statistic.replace_one(ball, n, metric))

    def _first_round(self, ball: Ball, n: int) -> float:
        """Return how far the first answer moves, in units of its weight."""
        inner = self.statistic
        if inner.unit(ball) != ball.reach or inner.dim(ball) != ball.manifold.dim:
            raise UnsupportedError(
                f"the {inner.name} is no sum of normal coordinates in units of the radius, as the "
                "second round needs it; release it without a first round"
            )
        return quotient_of(Fraction(self._move(ball.manifold.dim)) * Fraction(ball.reach), n)

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return that of the inner statistic; see :meth:`Statistic.replace_point`.

        The first round moves as far when a point is replaced as when a record is.
        """
        return max(self._first_round(ball, n), self.statistic.replace_point(ball, n, metric))

    def ask(self, ball: Ball, point: Any, step: int) -> Question:
        """Ask for the mean and the second moment first; see :meth:`Statistic.ask`."""
        dim = ball.manifold.dim
        question: Question = _Shortened(self.statistic, point)
        if step == 0:
            question = SeenFromCentre(point.point, ball.reach, 1.0, moment=True)
        return _Padded(question, self.answer_factor(dim, step), self._size(dim))

    def move(
        self, ball: Ball, point: Any, noisy: FloatArray, step: int, noise: Callable[[], float]
    ) -> Any:
        """Go to the released mean; see :meth:`Statistic.move`."""
        if step == 0:
            dim = ball.manifold.dim
            # as it would be had the move of the features been 2
            scale = 0.5 * self._move(dim)
            # of the mean length of noise, the part of so many coordinates
            part = math.sqrt((dim + 0.5) / (self._size(dim) - 0.5)) / scale
            first = noisy[: dim + 1] / scale
            return super().move(ball, point, first, step, lambda: noise() * part)
        return point, noisy / self.answer_weight(step)

    def value_at(self, ball: Ball, point: Any) -> FloatArray:
        """Return base, length and features; see :meth:`range`."""
        place, noisy = point
        seen = steps_ball(ball)
        base = seen.manifold.coordinates(seen.center, place.point)
        return np.concatenate([base, [place.unit], noisy])

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> NamedValues:
        """Return the parts of the inner statistic, at the released mean.

        With ``base_sd``, the standard deviation of the noise of a coordinate of ``base``.
        """
        sd = deviation()
        parts = self.statistic.parts(*self._read(ball, value, sd))
        base_sd = sd / float(self.answer_factor(ball.manifold.dim, 0))
        return NamedValues(value, {**parts, "base_sd": base_sd})

    def released_moments(
        self, ball: Ball, value: FloatArray, deviation: float, n: int
    ) -> ReleasedMoments:
        """Return those of the inner statistic; see :meth:`Statistic.released_moments`.

        Refused where records may lie at cut points of the base, where coordinates jump: for a base
        that was released from them no region is proved there.
        """
        check_inference(ball)
        read = self._read(ball, value, deviation)
        return self.statistic.moments_in(*read, n, released_base=True)

    def _read(
        self, ball: Ball, value: FloatArray, deviation: float
    ) -> tuple[View, FloatArray, float]:
        """Return where records were seen from, their features, and the noise of one."""
        dim, scale = ball.manifold.dim, self.answer_weight(1) * ball.reach
        view = View(ball, steps_ball(ball).point(value[:dim]), float(value[dim]))
        noisy = value[dim + 1 :][: self.statistic.shape(dim).size]
        return view, noisy / ball.reach, deviation / scale


def check_inference(ball: Ball) -> None:
    """Refuse inference about a base that was released from records of too large a ball.

    Parameters
    ----------
    ball : Ball
        Public ball, before any other was released.

    Raises
    ------
    UnsupportedBallError
        If its reach is half the injectivity radius or more, so that coordinates about a base in it
        may jump.

    References
    ----------
    docs/proofs/confidence-regions.md, When the assumptions hold
    """
    if 2.0 * ball.reach >= ball.manifold.injectivity_radius:
        raise UnsupportedBallError(
            "inference about a base that was released needs a public ball of less than half the "
            f"injectivity radius, {0.5 * ball.manifold.injectivity_radius:.6g}, got "
            f"{ball.reach:.6g}; take a smaller one, or a public base"
        )
