"""Sums over the records with what they are divided by, both with noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

from riemdp._part import register
from riemdp.kernel import UNIT, Counted, Vector
from riemdp.statistics._counted_sum import MOST_RECORDS, checked_weight
from riemdp.statistics._feature_sums import FeatureSum, root_up, steps_of, total_features
from riemdp.statistics._seen import vector_ball

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial
    from riemdp.statistics._statistic import Metric


@dataclass(frozen=True)
class SumAndWeight(FeatureSum):
    """Sum of vectors and of the weights that they have in it, divided after noise was added.

    Released are ``(S, weight r W)`` with S the sum of the normal coordinates about the centre of
    the ball of radius r, each times a weight in [0, 1], and W the sum of these weights. The value
    is S / W, shortened to the ball. ``weight`` lies from 2^-20 to 4, so that integers have 42 bits
    and their sums stay exact. See docs/proofs/neighbours.md.
    """

    projects: ClassVar[bool] = False
    keeps_range: ClassVar[bool] = True
    totals: ClassVar[bool] = True

    weight: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", checked_weight(self.weight, free=False))

    @abstractmethod
    def least(self, ball: Ball, point: Any) -> float:
        """Return what the sum of weights, if released as less, is taken for: a positive number.

        ``point`` is what :meth:`Statistic.begin` returned.
        """

    def answers(self, ball: Ball) -> Ball:
        """Return sums over however many records there are; see :meth:`Statistic.answers`."""
        reach = MOST_RECORDS * (1.0 + self.weight) * ball.reach
        return vector_ball(self.dim(ball) + 1, reach)

    def add_remove(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """``r sqrt(1 + weight^2)``; see :meth:`Statistic.add_remove`."""
        return root_up(Fraction(ball.reach) ** 2 * self.shape(self.dim(ball)).norm)

    def noise_in_value(self, ball: Ball) -> float:
        """Of the sum, and of the weights at the boundary; see :meth:`Statistic.noise_in_value`."""
        dim = ball.manifold.dim
        return math.sqrt((dim + self.weight**-2) / (dim + 1.0))

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Return the sums; see :meth:`Question.finish`."""
        return total_features(partial, ball.reach)

    def sum_of_weights(self, ball: Ball, noisy: FloatArray) -> float:
        """Return W as it was released, of any sign, of noisy coordinates ``(dim + 1,)``."""
        return float(noisy[-1]) / (steps_of(self.weight) / UNIT * ball.reach)

    def move(self, ball: Ball, point: Any, noisy: FloatArray, step: int) -> FloatArray:  # noqa: ARG002
        """Divide, by :meth:`least` at least; see :meth:`Statistic.move`."""
        number = max(self.sum_of_weights(ball, noisy), self.least(ball, point))
        return ball.point(ball.shorten(noisy[:-1] / number))

    def released_total(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:
        """W; see :meth:`Statistic.released_total`."""
        return self.sum_of_weights(ball, answers[0])


@final
@register
@dataclass(frozen=True)
class CountedMean(SumAndWeight):
    """Tangent mean of a number of records that is private: of a sum and a count, both with noise.

    Released are ``(S, weight r N)`` with S the sum of the normal coordinates about the centre of
    the ball of radius r, and N the number of records. One record more or less moves that by at most
    ``r sqrt(1 + weight^2)``. The value is S / N, shortened to the ball.

    Parameters
    ----------
    weight : float
        Of the count: from 2^-20 to 4, so that integers have 42 bits and their sums stay exact. With
        Gaussian noise the error is least, where the mean lies at the boundary, at ``dim ** -0.25``.

    Raises
    ------
    InvalidParameterError
        If ``weight`` is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import AddRemove, CountedMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> release = riemdp.private_statistic(
    ...     CountedMean(0.8), np.full((500, 2), 0.3), ball, riemdp.GDP(1.0), neighbours=AddRemove()
    ... )
    >>> release.value.shape, abs(release.count - 500) < 50
    ((2,), True)
    """

    name: ClassVar[str] = "counted-mean"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    caveat: ClassVar[str] = (
        "expected_distance is to first order, for a mean at the boundary of the ball and as many "
        "records as were released"
    )

    def shape(self, dim: int) -> Counted:
        """``(v, weight)``; see :meth:`FeatureSum.shape`."""
        return Counted(Vector(dim), steps_of(self.weight))

    def counted(self, ball: Ball) -> CountedMean:  # noqa: ARG002
        """Return itself; see :meth:`Statistic.counted`."""
        return self

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``2 r``, for any number of records; see :meth:`Statistic.replace_one`."""
        return 2.0 * ball.reach

    def released_count(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:
        """See :meth:`Statistic.released_count`."""
        return self.sum_of_weights(ball, answers[0])

    def least(self, ball: Ball, point: Any) -> float:  # noqa: ARG002
        """See :meth:`SumAndWeight.least`: one record."""
        return 1.0
