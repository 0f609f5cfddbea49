"""Sums over a private number of records, or with private weights, and that number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import kind_of, real, shown
from riemdp._combinations import LABELS_HAVE_PLACES, NO_SUM, WEIGHTS_HAVE_PLACES
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedNeighboursError
from riemdp._part import register
from riemdp.kernel import UNIT, Sum, added_products, sum_of
from riemdp.statistics._data import check_extras
from riemdp.statistics._query import Answer, Query, Value
from riemdp.statistics._records import whole_weights
from riemdp.statistics._rows import Rows, quotient_of, root_up, vector_ball
from riemdp.statistics._statistic import Around, Statistic, check_query, outline

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._query import Metric, Partial, Queries

#: More records than any data set has.
MOST_RECORDS = 2.0**63
#: Range of the weight of a count; the former is the least sum of weights that is divided by, too.
_LEAST, _GREATEST = 2.0**-20, 4.0


@dataclass(frozen=True, eq=False)
class Total(Query):
    """Sum of the rows of a query over the records, and how many these are.

    Rows are multiplied by :attr:`scale`, which makes what a record adds at most ``rows.unit`` long.

    Attributes
    ----------
    inner : Rows
    weight : float
        What a record adds to one more coordinate, before scaling; 0 where the shape counts
        records, or an answer before did.
    weighs : bool
        Whether a record has a private weight, that all it adds is multiplied by.
    """

    projects: ClassVar[bool] = False  # type: ignore[misc]
    sums: ClassVar[bool] = True

    inner: Rows
    weight: float
    weighs: bool

    @property
    def share(self) -> float:  # type: ignore[override]
        """That of the query."""
        return self.inner.share

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the query takes, and weights where there are any."""
        return (*self.inner.takes, *(("weights",) if self.weighs else ()))

    @property
    def functions(self) -> tuple[object, ...]:
        """Those of the query; see :attr:`Query.functions`."""
        return self.inner.functions

    @property
    def form(self) -> Hashable:
        """That of the query; see :attr:`Query.form`."""
        return type(self), self.weighs, self.inner.form

    @property
    def norm(self) -> float:
        """Largest norm of what a record adds, before scaling; rounded up."""
        return root_up(self.inner.shape.norm + Fraction(self.weight) ** 2)

    @property
    def scale(self) -> float:
        """One over the norm, rounded down."""
        found = 1.0 / self.norm
        return found if Fraction(found) * Fraction(self.norm) <= 1 else math.nextafter(found, 0.0)

    @property
    def one(self) -> Fraction:
        """What a record adds to the last coordinate."""
        return Fraction(self.scale) * Fraction(self.weight) * Fraction(self.inner.unit)

    def number_of(self, answer: Answer) -> tuple[float, float]:
        """Return how many records, or how much weight, and its deviation over that of the noise."""
        if self.weight:
            one = float(self.one)
            return float(answer.point[-1]) / one, 1.0 / one
        assert self.inner.shape.counts is not None  # else there is a weight
        first, stop, share = self.inner.shape.counts
        one = share / UNIT * self.scale * self.inner.unit
        return float(answer.point[first:stop].sum()) / one, math.sqrt(stop - first) / one

    def mean_of(self, ball: Ball, answer: Answer, number: float, relative: float) -> Answer:
        """Return what the query would have been answered with, over so many records."""
        factor = 1.0 / (self.scale * number)
        found = answer.point[: self.inner.shape.size] * factor
        if self.inner.points:
            found = ball.point(ball.shorten(found))
        return Answer(found, answer.deviation * factor, relative)

    def answers(self, ball: Ball) -> Ball:  # noqa: ARG002
        """Return sums over however many records there are; see :meth:`Query.answers`."""
        size = self.inner.shape.size + (1 if self.weight else 0)
        return vector_ball(size, MOST_RECORDS * self.inner.unit)

    def typical(self, ball: Ball, length: float, n: float) -> FloatArray:
        """Return so many times a typical mean, and the number; see :meth:`Query.typical`."""
        mean = self.inner.typical(ball, length, n)
        if self.inner.points:
            mean = ball.manifold.coordinates(ball.center, mean)
        total = n * self.scale * mean
        if self.inner.shape.counts is not None:
            first, stop, one = self.inner.shape.counts
            total[first:stop] = n * self.scale * self.inner.unit * one / UNIT / (stop - first)
        return np.append(total, n * float(self.one)) if self.weight else total

    def add_remove(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """Return the unit; see :meth:`Query.add_remove`."""
        return self.inner.unit

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return how far the sums move, whatever n is; see :meth:`Query.replace_one`.

        With a weight that is replaced too, a row may come or go as well.
        """
        far = self.replace_point(ball, n, metric)
        return max(far, self._scaled(self.norm)) if self.weighs else far

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return how far they move whatever weights are; see :meth:`Query.replace_point`."""
        return self._scaled(root_up(self.inner.shape.move))

    def _scaled(self, move: float) -> float:
        return quotient_of(Fraction(self.scale) * Fraction(move) * Fraction(self.inner.unit), 1)

    def adds(self, ball: Ball) -> bool:  # noqa: ARG002
        """Integers are added; see :meth:`Query.adds`."""
        return True

    def prepare(self, ball: Ball, records: Any) -> Any:
        """Clip, and round weights; see :meth:`Query.prepare`."""
        if not self.weighs:
            return self.inner.prepare(ball, records)
        # clipped to [0, 1]: records may be unchecked
        weights = np.fmin(np.fmax(np.asarray(records.weights), 0.0), 1.0)
        inner = records if self.inner.takes else np.asarray(records.points)
        return self.inner.prepare(ball, inner), whole_weights(weights)

    def rows(self, ball: Ball, records: Any) -> Partial:
        """Rows of the query, with weights as integers; see :meth:`Query.rows`."""
        if not self.weighs:
            return self.inner.rows(ball, records)
        inner, whole = records
        return self.inner.rows(ball, inner), whole

    def guarded(self, ball: Ball, rows: Partial) -> NDArray[np.int64]:
        """Guard rows; see :meth:`Query.guarded`."""
        return self.inner.guarded(ball, rows)

    def added(self, ball: Ball, rows: Partial) -> Sum:
        """Add rows, times weights; see :meth:`Query.added`."""
        if not self.weighs:
            return self.inner.added(ball, rows)
        inner, whole = rows
        return Sum(added_products(self.inner.guarded(ball, inner), whole), sum_of(whole))

    def finish(self, ball: Ball, partial: Sum, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Scale, as rational numbers; see :meth:`Query.finish`."""
        unit = Fraction(1, UNIT**2 if self.weighs else UNIT)
        factor = Fraction(self.scale) * Fraction(self.inner.unit) * unit
        number = Fraction(partial.count, UNIT if self.weighs else 1)
        last = (number * self.one,) if self.weight else ()
        return (*(factor * x for x in partial.total), *last)


def counted(statistic: Statistic, ball: Ball) -> Counted:
    """Return the form of a statistic for a private number of records, weighed or not.

    Parameters
    ----------
    statistic : Statistic
    ball : Ball

    Returns
    -------
    Counted
        With the weight of the count that suits the first query.

    Raises
    ------
    UnsupportedNeighboursError
        If it asks for anything but means of rows, or has public labels, covariates or weights.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import TangentMean, counted
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> round(counted(TangentMean(), ball).weight, 4)
    0.8409
    """
    weighs = False
    if isinstance(statistic, Counted):
        weighs, statistic = statistic.weighs, statistic.statistic
    if statistic.by_place:
        row = WEIGHTS_HAVE_PLACES if "weights" in statistic.by_place else LABELS_HAVE_PLACES
        raise UnsupportedNeighboursError(str(row))
    query = _of_rows(outline(statistic, ball).queries[0], statistic)
    return Counted(statistic, _count_weight(query, ball), weighs)


def weighted(statistic: Statistic, ball: Ball) -> Counted:
    """Return the form for private weights of a public number of records.

    The sum of weights is multiplied by the largest number that costs nothing, ``sqrt(move^2 -
    norm^2)``, or by that of :func:`counted`, if that is more.

    Parameters
    ----------
    statistic : Statistic
    ball : Ball

    Returns
    -------
    Counted

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import TangentMean, weighted
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> round(weighted(TangentMean(), ball).weight, 4)
    1.7321
    """
    query = _of_rows(outline(statistic, ball).queries[0], statistic)
    if query.shape.counts is not None:
        return Counted(statistic, 0.0, weighs=True)
    move, norm = root_up(query.shape.move), root_up(query.shape.norm)
    free = max(Fraction(move) ** 2 - Fraction(norm) ** 2, Fraction(0))
    found = math.sqrt(free)
    while Fraction(found) ** 2 > free:
        found = math.nextafter(found, 0.0)
    return Counted(statistic, max(found, _count_weight(query, ball)), weighs=True)


def _count_weight(query: Rows, ball: Ball) -> float:
    """Return the weight of the count with the least error of a value at the boundary.

    Noise follows ``sqrt(norm^2 + weight^2)``, and the squared error of m numbers of length f that
    are divided by the count ``m + f^2 / weight^2`` times its square: least at ``weight^4 = f^2
    norm^2 / m``. Features are as long as their norm, a mean is 1.
    """
    if query.shape.counts is not None:
        return 0.0
    norm = root_up(query.shape.norm)
    if query.features:
        return norm * math.pow(query.shape.size, -0.25)
    return math.sqrt(norm / math.sqrt(ball.manifold.dim))


def _of_rows(query: Query, statistic: Statistic) -> Rows:
    check_query(statistic, query)  # elsewhere only the sum around it is checked
    if type(query) is not Rows:  # a subclass may answer, or guard its rows, otherwise
        raise UnsupportedNeighboursError(f"the {statistic.title} is not released so: {NO_SUM}")
    return query


@final
@register
@dataclass(frozen=True)
class Counted(Around):
    """Sums over a private number of records, or with private weights, and that number, with noise.

    Answers are sums over the records of the rows whose means the inner statistic asks for, with
    ``weight`` for every record as one more coordinate of the first answer. Each is divided by the
    largest norm of what a record adds, so that an answer moves by the unit of its query when a
    record is added or removed.

    The inner statistic then gets the sums divided by the number that was released, by one record at
    least. How long its noise is taken to be follows that number too. Where class sizes are among
    the features, these say how many records there are: nothing is added, and the weight is 0.

    With ``weighs`` every record has a weight in [0, 1], as private as the record, that its row
    is multiplied by, and the sum of weights takes the place of the number of records: what the
    inner statistic gets is a weighted mean. A record may be replaced with its weight, so that an
    answer moves by the larger of its move and its norm, ``weight`` among it. A sum of weights under
    the standard deviation of its noise is taken for that.

    Parameters
    ----------
    statistic : Statistic
        A sum over the records, such as :class:`TangentMean`, :class:`Moments`, :class:`Recentred`,
        :class:`RefinedMean`, :class:`Variance` or :class:`GeometricMedian`.
    weight : float
        Of the count, in units of the rows: from 2^-20 to 4; 0 where features count records.
    weighs : bool, default False
        Whether records have private weights: :attr:`riemdp.statistics.Records.weights`.

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
    >>> from riemdp.statistics import AddRemove, Counted, Moments
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points, sums = np.full((500, 2), 0.3), Counted(Moments(), 0.5)
    >>> release = riemdp.private_statistic(
    ...     sums, points, ball, riemdp.GDP(1.0), adjacency=AddRemove()
    ... )
    >>> release.value["mean"].shape, abs(release.count - 500) < 50
    ((2,), True)
    >>> weighted = Counted(Moments(), 0.5, weighs=True)
    >>> records = riemdp.Records(points, weights=np.linspace(0.5, 1.0, 500))
    >>> release = riemdp.private_statistic(weighted, records, ball, riemdp.GDP(1.0))
    >>> release.n, abs(release.value["weight"] - 375) < 50
    (500, True)
    """

    name: ClassVar[str] = "counted"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"

    statistic: Statistic
    weight: float
    weighs: bool = False

    def __post_init__(self) -> None:
        given: Any = self.statistic
        if not isinstance(given, Statistic) or isinstance(given, Counted):
            raise InvalidParameterError(
                f"statistic must be a sum over the records, such as Moments(), got {kind_of(given)}"
            )
        weight = real(self.weight, "weight")
        if weight != 0.0 and not _LEAST <= weight <= _GREATEST:
            raise InvalidParameterError(
                f"weight, of the count, must lie between {_LEAST:g} and {_GREATEST:g}, or be 0 "
                f"where features count records, got {weight}"
            )
        object.__setattr__(self, "weight", weight)
        if not isinstance(self.weighs, bool):
            raise InvalidParameterError(f"weighs must be true or false, got {shown(self.weighs)}")

    @property
    def title(self) -> str:
        """With that of the inner statistic; see :attr:`Statistic.title`."""
        return f"{'weighted' if self.weighs else self.name} {self.statistic.title}"

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the inner statistic takes, and weights where there are any."""
        return (*self.statistic.takes, *(("weights",) if self.weighs else ()))

    @property
    def of(self) -> Literal["points", "rows"]:
        """That of the inner statistic; but people who weigh have one point each."""
        return "points" if self.weighs else self.statistic.of

    @property
    def caveat(self) -> str:  # type: ignore[override]
        """That of the inner statistic, and what the number of records adds."""
        number = "sum of weights" if self.weighs else "number of records"
        inner = self.statistic.caveat or "expected_distance is that of the noise"
        return f"{inner}; the noise of the {number} is in it to first order"

    def queries(self, ball: Ball) -> Queries:
        """Ask for sums in place of means, the number first; see :meth:`Statistic.queries`."""
        queries = self.statistic.queries(ball)
        query, weight = _of_rows(next(queries), self.statistic), self.weight
        if (query.shape.counts is None) != (weight > 0.0):
            raise InvalidParameterError(
                "weight must be 0 where features count records, and positive elsewhere, got "
                f"{weight}"
            )
        first, number, relative = True, 1.0, 0.0
        while True:
            total = Total(query, weight, self.weighs)
            noisy = yield total
            if first:
                found, per = total.number_of(noisy)
                number = max(found, self._least(noisy.deviation * per))
                relative = noisy.deviation * per / number
            first, weight = False, 0.0
            answer = total.mean_of(ball, noisy, number, relative)
            try:
                query = _of_rows(queries.send(answer), self.statistic)
            except StopIteration as end:
                value: Value = end.value
                break
        # noise of the sums, and to first order of the number, along the last mean
        size = value.size or total.inner.shape.size
        far = math.hypot(*noisy.point[: total.inner.shape.size]) / (total.scale * number)
        ratio = relative / noisy.deviation if noisy.deviation > 0.0 else per / number
        gain = value.gain * math.hypot(1.0 / (total.scale * number), far * ratio / math.sqrt(size))
        count = None if self.weighs else found
        if value.parts is None:
            return replace(value, gain=gain, size=size, count=count, total=found)
        name = "weight" if self.weighs else "count"
        named = {name: found, f"{name}_sd": relative * number}
        return Value(
            np.append(value.raw, found),
            vector_ball(len(value.raw) + 1, MOST_RECORDS * (1.0 + value.ball.reach)),
            gain,
            size,
            {**value.parts, **named},
            count,
            found,
        )

    def _least(self, deviation: float) -> float:
        """Return the least number that is divided by, a public one, for a noise of the number."""
        if not self.weighs:
            return 1.0
        return _LEAST if math.isnan(deviation) else max(_LEAST, deviation)

    def check_chunk(self, records: Records) -> Any:
        """Require weights in [0, 1], where there are any; see :meth:`Statistic.check_chunk`."""
        if not self.weighs:
            return self.statistic.check_chunk(records)
        check_extras(records, self.takes, self.title)
        if len(wrong := np.flatnonzero(np.asarray(records.weights) > 1.0)):
            raise NotOnManifoldError(
                f"row {wrong[0]}: its weight is more than 1; scale weights by a public bound"
            )
        return self.statistic.check_chunk(replace(records, weights=None))

    def absent(self) -> Mapping[str, object]:
        """Return that of the inner statistic, and a weight of 0; see :meth:`Statistic.absent`."""
        return {**self.statistic.absent(), **({"weights": 0.0} if self.weighs else {})}

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Return those of the inner statistic, and weights of all sizes.

        See :meth:`Statistic.typical_extras`.
        """
        found = self.statistic.typical_extras(size, generator)
        if not self.weighs:
            return found
        weights = generator.uniform(size=size)
        weights[:2] = (0.0, 1.0)[: len(weights[:2])]
        return {**found, "weights": weights}
