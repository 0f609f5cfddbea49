"""The tangent mean with weights that are as private as the records."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._errors import NotOnManifoldError
from riemdp._part import register
from riemdp.kernel import UNIT, Weighted
from riemdp.statistics._counted import MOST_RECORDS, checked_weight
from riemdp.statistics._feature_sums import FeatureSum, root_up, steps_of, total_features
from riemdp.statistics._seen import vector_ball

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._question import Partial
    from riemdp.statistics._statistic import Metric, Statistic

#: The square root of 3, rounded down.
ROOT_3 = 1.7320508075688772
#: Least sum of weights that is divided by, whatever the noise.
_LEAST = 2.0**-20


@final
@register
@dataclass(frozen=True)
class WeightedMean(FeatureSum):
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
    projects: ClassVar[bool] = False
    keeps_range: ClassVar[bool] = True
    totals: ClassVar[bool] = True
    weighs: ClassVar[bool] = True

    weight: float = field(default=ROOT_3)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", checked_weight(self.weight, free=False))

    def shape(self, dim: int) -> Weighted:
        """``(w v, weight w)``; see :meth:`FeatureSum.shape`."""
        return Weighted(dim, steps_of(self.weight))

    def beside(self, records: Records) -> FloatArray:
        """Weights; see :meth:`FeatureSum.beside`."""
        return np.asarray(records.weights, dtype=np.float64)

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

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``r max(2, sqrt(1 + weight^2))``, for any n; see :meth:`Statistic.replace_one`."""
        return root_up(Fraction(ball.reach) ** 2 * self.shape(self.dim(ball)).move)

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``2 r``, where weights are public; see :meth:`Statistic.replace_point`."""
        return root_up(Fraction(ball.reach) ** 2 * Weighted(self.dim(ball), 0).move)

    def counted(self, ball: Ball) -> Statistic:
        """Return the same with the weight that suits it; see :meth:`Statistic.counted`."""
        return WeightedMean(ball.manifold.dim**-0.25)

    def released_total(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:
        """W; see :meth:`Statistic.released_total`."""
        return float(answers[0][-1]) / (steps_of(self.weight) / UNIT * ball.reach)

    def move(
        self,
        ball: Ball,
        point: Any,  # noqa: ARG002
        noisy: FloatArray,
        step: int,  # noqa: ARG002
        noise: Callable[[], float],
    ) -> FloatArray:
        """Divide, by about the standard deviation of the noise at least.

        See :meth:`Statistic.move`.
        """
        one = noise() / math.sqrt(len(noisy))
        least = max(one / (self.weight * ball.reach), _LEAST)
        number = max(self.released_total(ball, [noisy]) or 0.0, least)
        return ball.point(ball.shorten(noisy[:-1] / number))

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
