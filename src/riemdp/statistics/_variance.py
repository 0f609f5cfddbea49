"""Variances: from a mean and a second moment that are released together, or directly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import both_proved, register
from riemdp.kernel import UNIT, Moment
from riemdp.manifolds import Ball, Euclidean
from riemdp.statistics._counted import Sums
from riemdp.statistics._feature_sums import FeatureSum, quotient_of
from riemdp.statistics._moments import Moments
from riemdp.statistics._recentred import Recentred
from riemdp.statistics._records import mean_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.manifolds import FloatArray
    from riemdp.statistics._question import Partial, Question
    from riemdp.statistics._statistic import Metric


@final
@register
@dataclass(frozen=True)
class Variance(Sums):
    """Mean squared distance to the mean, of the mean and the second moment that are released.

    In the tangent space at the centre of the ball, or at a mean that is released first; on flat
    spaces that is the Fréchet variance. The value is at least 0 and at most the squared radius.

    Parameters
    ----------
    base : {"recentred", "public"}, default "recentred"
        Whether records are seen from a mean that is released first and clipped to the spread
        there, see :class:`Recentred`, or from the centre.
    share : float, default 0.2
        See :class:`Recentred`.
    alpha : float, default 2.0
        See :class:`Recentred`. Records beyond that length count as nearer, so that the variance
        of heavy tails comes out too small; 3 clips fewer.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/joint-sensitivities.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import Variance
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_statistic(Variance(), points, ball, riemdp.GDP(1.0))
    >>> release.statistic.steps, release.value.shape
    (2, (1,))
    """

    name: ClassVar[str] = "variance"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"
    caveat: ClassVar[str] = (
        "expected_distance is that of the noise of mean and second moment together; how far "
        "clipping moved the variance is not bounded"
    )
    projects: ClassVar[bool] = False
    keeps_range: ClassVar[bool] = True

    base: Literal["recentred", "public"] = "recentred"
    share: float = 0.2
    alpha: float = 2.0

    def __post_init__(self) -> None:
        if not is_one_of(self.base, ("recentred", "public")):
            raise InvalidParameterError(
                f'base must be "recentred" or "public", got {shown(self.base)}'
            )
        self._moments  # noqa: B018 -- checks the numbers

    @property
    def _moments(self) -> Moments | Recentred:
        both = Recentred(Moments(), self.share, self.alpha)
        return both if self.base == "recentred" else Moments()

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Two where a mean is released first, else one."""
        return self._moments.steps

    def answer_weight(self, step: int) -> float:
        """See :meth:`Statistic.answer_weight`."""
        return self._moments.answer_weight(step)

    def noise_in_value(self, ball: Ball) -> float:
        """At most, to first order: noise moves the second moment, and the mean at its farthest."""
        return 2.1 * ball.reach * self._moments.noise_in_value(ball)

    def proofs(self) -> Mapping[str, str | None]:
        """Its own, and those of the moments."""
        return both_proved({self.name: self.proof}, self._moments.proofs())

    def range(self, ball: Ball) -> Ball:
        """Numbers from 0 to the squared radius; see :meth:`Statistic.range`."""
        return variances(ball)

    def answers(self, ball: Ball) -> Ball:
        """Return those of the moments; see :meth:`Statistic.answers`."""
        return self._moments.answers(ball)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return that of the moments; see :meth:`Statistic.replace_one`."""
        return self._moments.replace_one(ball, n, metric)

    def tolerance(self, ball: Ball, sensitivity: float) -> float:
        """Zero: integers are added; see :meth:`Statistic.tolerance`."""
        return self._moments.tolerance(ball, sensitivity)

    def start(self, ball: Ball) -> Any:
        """Return where the moments start, with no noise yet; see :meth:`Statistic.start`."""
        return self._moments.start(ball), 0.0

    def ask(self, ball: Ball, point: Any, step: int) -> Question:
        """Return what the moments ask; see :meth:`Statistic.ask`."""
        return self._moments.ask(ball, point[0], step)

    def move(
        self, ball: Ball, point: Any, noisy: FloatArray, step: int, noise: Callable[[], float]
    ) -> Any:
        """Go where the moments go, with the noise; see :meth:`Statistic.move`."""
        return self._moments.move(ball, point[0], noisy, step, noise), noise()

    def value_at(self, ball: Ball, point: Any) -> FloatArray:
        """Return the variance, shape (1,); see :meth:`Statistic.value_at`."""
        at, noise = point
        # of a Gaussian the squared mean length in so many dimensions is that many less 1/2, nearly
        sd = noise / math.sqrt(self.answers(ball).manifold.dim - 0.5)
        found = self._moments.present(ball, self._moments.value_at(ball, at), lambda: sd)
        return np.array([min(found.variance, ball.reach**2)])

    def answer_norm(self, dim: int, step: int) -> float:
        """Return that of the moments; see :meth:`Sums.answer_norm`."""
        return self._moments.answer_norm(dim, step)

    def answer_move(self, dim: int, step: int) -> float:
        """Return that of the moments; see :meth:`Sums.answer_move`."""
        return self._moments.answer_move(dim, step)

    def answer_factor(self, dim: int, step: int) -> Fraction:
        """Return that of the moments; see :meth:`Sums.answer_factor`."""
        return self._moments.answer_factor(dim, step)

    def count_weight(self, dim: int) -> float:
        """Return that of the moments; see :meth:`Sums.count_weight`."""
        return self._moments.count_weight(dim)

    def farthest(self, ball: Ball) -> float:
        """At most, to first order; see :meth:`noise_in_value`."""
        return 2.1 * ball.reach * self._moments.farthest(ball)


@final
@register
@dataclass(frozen=True)
class DirectVariance(FeatureSum):
    """Mean squared distance to the mean, with noise added to that number alone.

    In the tangent space at the centre of the ball; on flat spaces that is the Fréchet variance. It
    moves by ``4 r^2 (n - 1) / n^2``, which is far more than what a mean and a second moment cost
    together under Gaussian noise. Under a pure epsilon, where nothing is free, it is the better way
    from some twenty dimensions on.

    References
    ----------
    docs/proofs/joint-sensitivities.md
    """

    name: ClassVar[str] = "direct-variance"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"

    def shape(self, dim: int) -> Moment:
        """``(v, |v|^2)``; see :meth:`FeatureSum.shape`."""
        return Moment(dim, scalar=1 << 10)

    def range(self, ball: Ball) -> Ball:
        """Numbers from 0 to the squared radius; see :meth:`Statistic.answers`."""
        return variances(ball)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``min(r^2, 4 r^2 (n - 1) / n^2)``; see :meth:`Statistic.replace_one`.

        A square is rounded down, by less than one step: its mean moves by a step over n more.
        """
        move = Fraction(4 * max(n - 1, 1), n * n) + Fraction(1, n * UNIT)
        return quotient_of(min(Fraction(1), move) * Fraction(ball.reach) ** 2, 1)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Second moment less the squared mean; see :meth:`Question.finish`."""
        *mean, second = mean_of(partial, 1.0)
        square = Fraction(ball.reach) ** 2
        variance = (second - sum(x * x for x in mean)) * square
        return (min(max(variance, Fraction(0)), square) - square / 2,)


def variances(ball: Ball) -> Ball:
    """Return the numbers from 0 to the squared radius, as a ball about their middle."""
    half = 0.5 * ball.reach**2
    return Ball(Euclidean(1), np.array([half]), half)
