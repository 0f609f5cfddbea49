"""Means with public weights, which belong to places and not to records."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import real_entries
from riemdp._errors import (
    InvalidParameterError,
    NotOnManifoldError,
    UnsupportedError,
)
from riemdp._part import both_proved, register
from riemdp.kernel import added_with_weights, sum_of
from riemdp.statistics._footpoint import Footpoint, check_share
from riemdp.statistics._records import whole_weights
from riemdp.statistics._rows import Rows, quotient_of, root_up
from riemdp.statistics._sensitivity import alike
from riemdp.statistics._statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from riemdp.kernel import Sum
    from riemdp.spaces import Ball
    from riemdp.statistics._data import Records
    from riemdp.statistics._query import Metric, Partial, Queries, Value


def largest_share(weights: ArrayLike) -> float:
    """Return the largest weight over the sum of all, of the integers that are used for them.

    Parameters
    ----------
    weights : array_like, shape (n,)
        In [0, 1], public.

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    InvalidParameterError
        If all of them are 0, or one is not in [0, 1].

    References
    ----------
    docs/proofs/neighbours.md, "Weights"

    Examples
    --------
    >>> from riemdp.statistics import largest_share
    >>> largest_share([0.5, 0.5, 1.0])
    0.5
    """
    return _share(*_largest_and_sum(weights))


def _largest_and_sum(weights: ArrayLike) -> tuple[int, int]:
    """Return the largest weight and the sum of all, as integers, of weights in [0, 1]."""
    given = real_entries(weights, "weights")
    if given.ndim != 1:
        raise InvalidParameterError(
            f"weights must be a sequence of numbers, shape (n,), got shape {given.shape}"
        )
    if len(wrong := np.flatnonzero(~((given >= 0.0) & (given <= 1.0)))):
        raise InvalidParameterError(
            f"row {wrong[0]}: its weight is not in [0, 1]; divide weights by the largest"
        )
    whole = whole_weights(given)
    return int(whole.max(initial=0)), sum_of(whole)


def _share(largest: int, total: int) -> float:
    if total == 0:
        raise InvalidParameterError(
            "weights must not all be 0, nor under 2^-40, to which they are rounded"
        )
    return quotient_of(Fraction(largest), total)


@final
@register
@dataclass(frozen=True)
class Weighted(Statistic):
    """A statistic of records with public weights, which stay at their places.

    Weights are those of :attr:`riemdp.statistics.Records.weights`, in [0, 1] and rounded down to
    multiples of ``2^-40``. Neighbours have the same ones, and differ in what stands at one place. A
    record with weight 0 counts for nothing. Records may come a part at a time, each part with its
    weights: the share is that of all parts together.

    Parameters
    ----------
    statistic : Statistic
        Whose means become weighted means, such as ``FrechetMean()`` or ``Moments()``; without
        labels, covariates or weights.
    share : float
        The largest weight over the sum of all, or more: see :func:`largest_share`. In (0, 1].

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md, "Weights"; docs/proofs/frechet-mean-sensitivity.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import FrechetMean, Weighted, largest_share
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> weights = np.linspace(0.5, 1.0, 500)  # public
    >>> mean = Weighted(FrechetMean(), largest_share(weights))
    >>> records = riemdp.Records(np.full((500, 2), 0.3), weights=weights)
    >>> release = riemdp.private_statistic(mean, records, ball, riemdp.GDP(1.0))
    >>> release.value.shape, round(release.sensitivity, 5)  # the diameter, times the largest share
    ((2,), 0.00533)
    """

    name: ClassVar[str] = "weighted"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    takes: ClassVar[tuple[str, ...]] = ("weights",)
    by_place: ClassVar[tuple[str, ...]] = ("weights",)

    statistic: Statistic
    share: float

    def __post_init__(self) -> None:
        given: Any = self.statistic
        if not isinstance(given, Statistic) or given.takes:
            raise InvalidParameterError(
                "statistic must be one of points alone, without labels, covariates or weights"
            )
        alike(self.share)
        object.__setattr__(self, "share", float(self.share))

    @property
    def title(self) -> str:
        """With that of the inner statistic; see :attr:`Statistic.title`."""
        return f"weighted {self.statistic.title}"

    @property
    def caveat(self) -> str:  # type: ignore[override]
        """That of the inner statistic."""
        return self.statistic.caveat

    @property
    def inside(self) -> tuple[Statistic, ...]:
        """The inner statistic."""
        return (self.statistic,)

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Its own, and those of the inner statistic; see :meth:`Statistic.proofs_on`."""
        return both_proved(self.proofs(), self.statistic.proofs_on(ball))

    def queries(self, ball: Ball) -> Queries:
        """Ask for weighted means in place of means; see :meth:`Statistic.queries`."""
        queries = self.statistic.queries(ball)
        query = next(queries)
        while True:
            answer = yield self._weighted(query)
            try:
                query = queries.send(answer)
            except StopIteration as end:
                value: Value = end.value
                # inference is about records that weigh the same
                return replace(value, moments=None)

    def _weighted(self, query: Any) -> Rows | Footpoint:
        if type(query) is Footpoint:
            return Footpoint(self.share)
        if type(query) is not Rows:  # what a subclass does would be lost
            raise UnsupportedError(
                f"the {self.statistic.name} is no mean, which weights could have"
            )
        own: dict[str, Any] = {each.name: getattr(query, each.name) for each in fields(query)}
        return WeightedRows(**own | {"takes": ("weights",), "largest": self.share})

    def check_chunk(self, records: Records) -> tuple[int, int]:
        """Return the largest weight and the sum of some; see :meth:`Statistic.check_chunk`.

        Raises
        ------
        NotOnManifoldError
            If a weight is more than 1.
        InvalidParameterError
            If there are none.
        """
        super().check_chunk(records)
        weights = np.asarray(records.weights)
        if len(wrong := np.flatnonzero(weights > 1.0)):
            raise NotOnManifoldError(
                f"row {wrong[0]}: its weight is more than 1; divide weights by the largest"
            )
        return _largest_and_sum(weights)

    def check_chunks(self, noted: Sequence[tuple[int, int]]) -> None:
        """Require that no weight is a larger share; see :meth:`Statistic.check_chunks`.

        Raises
        ------
        InvalidParameterError
            If one is, or all weights are 0.
        """
        largest, sums = zip(*noted, strict=True)
        if (found := _share(max(largest), sum(sums))) > self.share:
            raise InvalidParameterError(
                f"the largest weight is {found:.9g} of the sum of all, more than the stated share, "
                f"{self.share:.9g}; state largest_share(weights)"
            )

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:  # noqa: ARG002
        """Return one large weight and small ones; see :meth:`Statistic.typical_extras`."""
        small = (1.0 / self.share - 1.0) / max(size - 1, 1) * (1.0 + 1e-9)
        return {"weights": np.array([1.0] + [min(small, 1.0)] * (size - 1))}


@dataclass(frozen=True, eq=False)
class WeightedRows(Rows):
    """Weighted mean of rows, of which the largest weight is so much of their sum."""

    largest: float = 1.0

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Move of the shape times the largest share; see :meth:`Query.replace_one`."""
        self.check_metric(ball, metric)
        check_share(self.largest, n)
        return root_up(self.shape.move * (Fraction(self.unit) * Fraction(self.largest)) ** 2)

    def prepare(self, ball: Ball, records: Any) -> Any:
        """Clip; see :meth:`Query.prepare`."""
        return self.clipped(ball, np.asarray(records.points)), whole_weights(records.weights)

    def rows(self, ball: Ball, records: Any) -> Any:
        """Rows of vectors, with weights as integers; see :meth:`Query.rows`."""
        points, whole = records
        return self.shape.rows(self.vectors(ball, points)), whole

    def added(self, ball: Ball, rows: Partial) -> Sum:  # noqa: ARG002
        """Add rows times weights; see :meth:`Query.added`."""
        own, whole = rows
        return added_with_weights(own, whole, self.shape.longest)
