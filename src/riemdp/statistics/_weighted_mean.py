"""The tangent mean with weights that are as private as the records."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._errors import NotOnManifoldError
from riemdp._part import register
from riemdp.kernel import Weighted
from riemdp.statistics._feature_sums import root_up, steps_of
from riemdp.statistics._sum_and_weight import SumAndWeight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._statistic import Metric, Statistic

#: The square root of 3, rounded down.
ROOT_3 = 1.7320508075688772
#: Least sum of weights that is divided by, whatever the noise.
_LEAST = 2.0**-20


@final
@register
@dataclass(frozen=True)
class WeightedMean(SumAndWeight):
    """Tangent mean with weights that are as private as the records: two sums, both with noise.

    Released are ``(S, weight r W)`` with S the sum of ``w v``, v the normal coordinates of a record
    about the centre of the ball of radius r and w in [0, 1] its weight, and W the sum of the
    weights. Another record with another weight moves that by at most ``2 r``, as if all weights
    were 1, up to ``weight = sqrt(3)``. The value is S / W, shortened to the ball. A sum of weights
    under the standard deviation of its noise is taken for that.

    Parameters
    ----------
    weight : float, default sqrt(3)
        Of the sum of the weights: from 2^-20 to 4.

    Raises
    ------
    InvalidParameterError
        If ``weight`` is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md, "Weights"

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import WeightedMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> records = riemdp.Records(np.full((500, 2), 0.3), weights=np.linspace(0.5, 1.0, 500))
    >>> riemdp.private_statistic(WeightedMean(), records, ball, riemdp.GDP(1.0)).value.shape
    (2,)
    """

    name: ClassVar[str] = "weighted-mean"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    caveat: ClassVar[str] = (
        "expected_distance is to first order, for a mean at the boundary of the ball and the sum "
        "of weights that was released"
    )
    takes: ClassVar[tuple[str, ...]] = ("weights",)
    weighs: ClassVar[bool] = True

    weight: float = field(default=ROOT_3)

    def shape(self, dim: int) -> Weighted:
        """``(w v, weight w)``; see :meth:`FeatureSum.shape`."""
        return Weighted(dim, steps_of(self.weight))

    def beside(self, records: Records) -> FloatArray:
        """Weights; see :meth:`FeatureSum.beside`."""
        return np.asarray(records.weights, dtype=np.float64)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``r max(2, sqrt(1 + weight^2))``, for any n; see :meth:`Statistic.replace_one`."""
        return root_up(Fraction(ball.reach) ** 2 * self.shape(self.dim(ball)).move)

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``2 r``, where weights are public; see :meth:`Statistic.replace_point`."""
        return root_up(Fraction(ball.reach) ** 2 * Weighted(self.dim(ball), 0).move)

    def counted(self, ball: Ball) -> Statistic:
        """Return the same with the weight that suits it; see :meth:`Statistic.counted`."""
        return WeightedMean(ball.manifold.dim**-0.25)

    def start(self, ball: Ball) -> Any:  # noqa: ARG002
        """Return that no noise is known; see :meth:`begin`."""
        return 0.0

    def begin(self, ball: Ball, noise: Callable[[], float]) -> Any:  # noqa: ARG002
        """Return the mean length of the noise, which :meth:`least` is made of."""
        return noise()

    def least(self, ball: Ball, point: Any) -> float:
        """See :meth:`SumAndWeight.least`: about the standard deviation of the noise."""
        one = float(point) / math.sqrt(self.dim(ball) + 1)
        return max(one / (self.weight * ball.reach), _LEAST)

    def check_records(self, records: Records) -> None:
        """Require weights in [0, 1]; see :meth:`Statistic.check_records`."""
        super().check_records(records)
        if len(wrong := np.flatnonzero(np.asarray(records.weights) > 1.0)):
            raise NotOnManifoldError(
                f"row {wrong[0]}: its weight is more than 1; scale weights by a public bound"
            )

    def absent(self) -> Mapping[str, object]:
        """Return a weight of 0; see :meth:`Statistic.absent`."""
        return {"weights": 0.0}

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Return weights of all sizes; see :meth:`Statistic.typical_extras`."""
        found = generator.uniform(size=size)
        found[:2] = (0.0, 1.0)[: len(found[:2])]
        return {"weights": found}
