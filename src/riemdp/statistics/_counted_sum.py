"""Sums of features over a private number of records, with that number among them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import kind_of, real
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._part import register
from riemdp.kernel import UNIT, Counted
from riemdp.statistics._around import Around
from riemdp.statistics._data import as_records
from riemdp.statistics._feature_sums import FeatureSum, root_up, steps_of, total_features
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._seen import vector_ball, view_from_centre
from riemdp.statistics._statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from riemdp.kernel import Shape
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial
    from riemdp.statistics._released_moments import ReleasedMoments
    from riemdp.statistics._statistic import Metric
    from riemdp.statistics._sums import SumStatistic

#: More records than any data set has.
MOST_RECORDS = 2.0**63
#: Range of the weight of a count: integers of a feature have 42 bits, and enough of them.
_LEAST, _GREATEST = 2.0**-20, 4.0


class WithoutInference(Statistic):
    """Sums over a private number of records, from which nothing is inferred."""

    def released_moments(
        self, ball: Ball, value: FloatArray, deviation: float, n: int
    ) -> ReleasedMoments:
        """See :meth:`Statistic.released_moments`: refused; regions and tests take a public n."""
        del ball, value, deviation, n
        raise UnsupportedError(
            "regions and tests are known for a public number of records; release under "
            "ReplaceOne(), where that may be public"
        )


@final
@register
@dataclass(frozen=True)
class CountedSum(WithoutInference, Around, FeatureSum):  # type: ignore[override]
    """A sum of features over a number of records that is private, and that number, both with noise.

    Released are the sum of ``(T, weight)`` over the records, T the features of the inner
    statistic, in its unit. One record more or less moves that by the norm of one such vector, at
    most ``sqrt(sup|T|^2 + weight^2)``, whatever the others are and however many. What features
    stand for is computed of the sum divided by the number as it was drawn, by one record at least.

    Where the number is a linear function of the features, as it is of class sizes, nothing is added
    to them, and the weight is 0.

    Parameters
    ----------
    statistic : SumStatistic
        Such as :class:`Moments`, :class:`ClassMoments`, :class:`DirectionalMoments` or
        :class:`TangentRegression`.
    weight : float
        Of the count, in units of features: from 2^-20 to 4; 0 where features count records.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import AddRemove, CountedSum, Moments
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points, sums = np.full((500, 2), 0.3), CountedSum(Moments(), 0.5)
    >>> release = riemdp.private_statistic(
    ...     sums, points, ball, riemdp.GDP(1.0), neighbours=AddRemove()
    ... )
    >>> release.value["mean"].shape, abs(release.count - 500) < 50
    ((2,), True)
    """

    name: ClassVar[str] = "counted-sum"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    caveat: ClassVar[str] = (
        "expected_distance is that of the noise of all features together, to first order, for "
        "records at the boundary of the ball and as many as were released"
    )
    projects: ClassVar[bool] = False
    totals: ClassVar[bool] = True

    statistic: SumStatistic
    weight: float

    def __post_init__(self) -> None:
        counts = getattr(self.statistic, "counts_records", None)
        if counts is None:
            raise InvalidParameterError(
                "statistic must be a sum over the records, such as Moments(), got "
                f"{kind_of(self.statistic)}"
            )
        object.__setattr__(self, "weight", checked_weight(self.weight, free=counts))

    def dim(self, ball: Ball) -> int:
        """See :meth:`FeatureSum.dim`."""
        return self.statistic.dim(ball)

    def vectors(self, ball: Ball, points: FloatArray) -> FloatArray:
        """See :meth:`FeatureSum.vectors`."""
        return self.statistic.vectors(ball, points)

    def shape(self, dim: int) -> Shape:
        """Return that of the inner statistic, and the count; see :meth:`FeatureSum.shape`."""
        inner = self.statistic.shape(dim)
        return Counted(inner, steps_of(self.weight)) if self.weight else inner

    def prepare(self, ball: Ball, records: Any) -> Any:  # noqa: ARG002
        """Return records: vectors depend on the inner statistic, not on the class alone."""
        return records

    def rows(self, ball: Ball, records: Any) -> NDArray[np.int64]:
        """Those of the inner statistic, and the count; see :meth:`Question.rows`."""
        given = as_records(records)
        vectors = self.vectors(ball, np.asarray(given.points))
        found = self.statistic.rows(ball, given.with_points(vectors))
        shape = self.shape(self.dim(ball))
        return shape.counted(found) if isinstance(shape, Counted) else found

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Return the sums; see :meth:`Question.finish`."""
        return total_features(partial, self.statistic.unit(ball))

    def counted(self, ball: Ball) -> CountedSum:  # noqa: ARG002
        """Return itself; see :meth:`Statistic.counted`."""
        return self

    def answers(self, ball: Ball) -> Ball:
        """Return sums over however many records there are; see :meth:`Statistic.answers`."""
        inner = self.statistic.answers(ball)
        reach = MOST_RECORDS * (inner.reach + self.weight * self.statistic.unit(ball))
        return vector_ball(self.shape(self.dim(ball)).size, reach)

    def range(self, ball: Ball) -> Ball:
        """Return the ball of answers; see :meth:`Statistic.range`."""
        return self.answers(ball)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return how far the sums move, whatever n is; see :meth:`Statistic.replace_one`."""
        return self.statistic.replace_one(ball, 1, metric)

    def add_remove(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """Norm of features and weight together; see :meth:`Statistic.add_remove`."""
        unit = Fraction(self.statistic.unit(ball))
        return root_up(unit**2 * self.shape(self.dim(ball)).norm)

    def _count_form(self, dim: int) -> FloatArray:
        """Return the linear function of the features here that is 1 for every record."""
        if not self.weight:
            return self.statistic.count_form(dim)
        return np.append(np.zeros(self.statistic.shape(dim).size), UNIT / steps_of(self.weight))

    def noise_in_value(self, ball: Ball) -> float:
        """Of the sums, and of the count at the boundary; see :meth:`Statistic.noise_in_value`."""
        dim = self.dim(ball)
        inner, form = self.statistic.shape(dim), self._count_form(dim)
        return math.sqrt((inner.size + float(inner.norm) * float(form @ form)) / len(form))

    def released_count(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:
        """See :meth:`Statistic.released_count`."""
        return self._number(ball, answers[0])

    def _number(self, ball: Ball, noisy: FloatArray) -> float:
        form = self._count_form(self.dim(ball))
        return float(form @ noisy) / self.statistic.unit(ball)

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> NamedValues:
        """Return the parts of the inner statistic, and the number; see :meth:`Statistic.present`.

        ``count`` is the number of records as it was drawn, ``count_sd`` the standard deviation of
        its noise. Other standard deviations are to first order in the noise, and take that of the
        number in as far as :meth:`SumStatistic.with_count` says.
        """
        dim, unit = self.dim(ball), self.statistic.unit(ball)
        sd = deviation() / unit
        number = self._number(ball, value)
        features = value[: self.statistic.shape(dim).size] / unit
        count_sd = sd * float(np.linalg.norm(self._count_form(dim)))
        at_least = max(number, 1.0)
        parts = self.statistic.parts(view_from_centre(ball), features / at_least, sd / at_least)
        found = self.statistic.with_count(parts, count_sd / at_least)
        return NamedValues(value, {**found, "count": number, "count_sd": count_sd})


def checked_weight(weight: object, *, free: bool) -> float:
    """Return the weight of a count: 0 where features count records (``free``), else in its range.

    Raises ``InvalidParameterError`` for any other.
    """
    found = real(weight, "weight")
    if free and found != 0.0:
        raise InvalidParameterError(
            f"weight must be 0 where features count records already, got {found}"
        )
    if not free and not _LEAST <= found <= _GREATEST:
        raise InvalidParameterError(
            f"weight, of the count, must lie between {_LEAST:g} and {_GREATEST:g}, got {found}"
        )
    return found


def count_weight(statistic: SumStatistic, dim: int) -> float:
    """Return the weight of the count with the least mean square error at the boundary.

    With noise of standard deviation s in each coordinate the error of D features that are divided
    by the number is s^2 (D + a^2 / weight^2) / N^2 to first order, for features of norm a, and s
    follows sqrt(a^2 + weight^2): least at ``weight^2 = a^2 / sqrt(D)``. 0 where features count
    records.
    """
    if statistic.counts_records:
        return 0.0
    shape = statistic.shape(dim)
    return root_up(shape.norm) * math.pow(shape.size, -0.25)
