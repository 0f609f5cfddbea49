"""The tangent mean of a private number of records: a sum and that number, both with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._part import register
from riemdp.statistics._sum_and_weight import SumAndWeight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._statistic import Metric


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

    def features(self, vectors: FloatArray, records: Records) -> FloatArray:  # noqa: ARG002
        """``(v, weight)``; see :meth:`FeatureSum.features`."""
        return self.with_weights(vectors, np.ones(len(vectors)))

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
