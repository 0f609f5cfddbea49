"""Variances: from a mean and a second moment that are released together, or directly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, final

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import both_proved, register
from riemdp.kernel import UNIT, Moment
from riemdp.spaces import Ball, Euclidean
from riemdp.statistics._moments import Moments
from riemdp.statistics._query import Value
from riemdp.statistics._recentred import Recentred
from riemdp.statistics._records import mean_of
from riemdp.statistics._rows import Rows, quotient_of
from riemdp.statistics._seen import from_centre
from riemdp.statistics._statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.kernel import Sum
    from riemdp.spaces import FloatArray
    from riemdp.statistics._query import Metric, Queries


@final
@register
@dataclass(frozen=True)
class Variance(Statistic):
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
    >>> len(release.rounded), release.value.shape
    (6, (1,))
    """

    name: ClassVar[str] = "variance"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"
    caveat: ClassVar[str] = (
        "how far clipping moved the variance is not bounded, and not in expected_distance"
    )

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

    def proofs(self) -> Mapping[str, str | None]:
        """Its own, and those of the moments."""
        return both_proved({self.name: self.proof}, self._moments.proofs())

    def queries(self, ball: Ball) -> Queries:
        """Ask for the moments; see :meth:`Statistic.queries`."""
        value = yield from self._moments.queries(ball)
        parts = value.parts
        assert parts is not None  # moments have some
        found = min(parts["variance"], ball.reach**2)
        # to first order, of the second moment less the square of the mean
        weight = Moment(ball.manifold.dim).weights[0]
        slope = math.hypot(
            parts["clip"] / weight, 2.0 * float(np.linalg.norm(parts["coordinates"]))
        )
        return Value(np.array([found]), variances(ball), gain=slope * value.gain, size=1)


@final
@register
@dataclass(frozen=True)
class DirectVariance(Statistic):
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

    def queries(self, ball: Ball) -> Queries:
        """Ask for the variance itself; see :meth:`Statistic.queries`."""
        shape = Moment(ball.manifold.dim, scalar=1 << 10)
        answer = yield _OwnVariance(shape, ball.reach, from_centre, projects=True)
        return Value(answer.point, variances(ball))


class _OwnVariance(Rows):
    """Second moment less the squared mean, of ``(v, |v|^2)``."""

    def answers(self, ball: Ball) -> Ball:
        """Numbers from 0 to the squared radius; see :meth:`Query.answers`."""
        return variances(ball)

    def typical(self, ball: Ball, length: float, n: float) -> FloatArray:  # noqa: ARG002
        """Return the middle; see :meth:`Query.typical`."""
        return variances(ball).center

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``min(r^2, 4 r^2 (n - 1) / n^2)``; see :meth:`Query.replace_one`.

        A square is rounded down, by less than one step: its mean moves by a step over n more.
        """
        move = Fraction(4 * max(n - 1, 1), n * n) + Fraction(1, n * UNIT)
        return quotient_of(min(Fraction(1), move) * Fraction(ball.reach) ** 2, 1)

    def finish(self, ball: Ball, partial: Sum, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Subtract, as rational numbers; see :meth:`Query.finish`."""
        *mean, second = mean_of(partial, 1.0)
        square = Fraction(ball.reach) ** 2
        variance = (second - sum(x * x for x in mean)) * square
        return (min(max(variance, Fraction(0)), square) - square / 2,)


def variances(ball: Ball) -> Ball:
    """Return the numbers from 0 to the squared radius, as a ball about their middle."""
    half = 0.5 * ball.reach**2
    return Ball(Euclidean(1), np.array([half]), half)
