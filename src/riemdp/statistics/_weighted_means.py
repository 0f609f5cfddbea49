"""The two means with public weights, which belong to places and not to records."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import is_one_of, real_entries
from riemdp._combinations import WEIGHTS_HAVE_PLACES
from riemdp._errors import (
    InvalidParameterError,
    NotOnManifoldError,
    UnsupportedManifoldError,
    UnsupportedNeighboursError,
)
from riemdp._part import register
from riemdp.kernel import sum_of
from riemdp.statistics._feature_sums import quotient_of
from riemdp.statistics._means import AverageMean, IntrinsicMean, Mean, check_certifiable
from riemdp.statistics._records import whole_weights
from riemdp.statistics._sensitivity import (
    alike,
    weighted_frechet_mean_sensitivity,
    weighted_tangent_mean_sensitivity,
)
from riemdp.statistics._solver_of_space import average

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds import Ball, Manifold
    from riemdp.statistics._data import Records
    from riemdp.statistics._exact_mean import ExactMean
    from riemdp.statistics._question import Partial
    from riemdp.statistics._statistic import Metric, Statistic


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


@dataclass(frozen=True)
class WeightedMeanOfPlaces(Mean):
    """What the means with public weights share.

    Weights are those of :attr:`riemdp.statistics.Records.weights`, in [0, 1] and rounded down to
    multiples of ``2^-40``. They belong to places: neighbours have the same ones, and differ in what
    stands at one place. A record with weight 0 counts for nothing. Records may come a part at a
    time, each part with its weights: the share is that of all parts together.

    Parameters
    ----------
    share : float
        The largest weight over the sum of all, or more: see :func:`largest_share`. In (0, 1].

    Raises
    ------
    InvalidParameterError
        If ``share`` is outside its domain.
    """

    takes = ("weights",)
    by_place = ("weights",)

    share: float

    def __post_init__(self) -> None:
        alike(self.share)
        object.__setattr__(self, "share", float(self.share))

    @abstractmethod
    def _move(self, ball: Ball, metric: Metric) -> float:
        """Return the sensitivity, for any number of records."""

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return how far the largest weight moves the mean; see :meth:`Statistic.replace_one`.

        Raises
        ------
        InvalidParameterError
            If no n weights have so small a largest share.
        UnsupportedError
            Where nothing is known of the mean.
        """
        if n * Fraction(self.share) < 1:
            raise InvalidParameterError(
                f"share = {self.share:.6g} is under 1/n, and the largest of n = {n} weights is at "
                "least that much of their sum"
            )
        return self._move(ball, metric)

    def counted(self, ball: Ball) -> Statistic:  # noqa: ARG002
        """Refuse; see :meth:`Statistic.counted`.

        Raises
        ------
        UnsupportedNeighboursError
            Always.
        """
        raise UnsupportedNeighboursError(str(WEIGHTS_HAVE_PLACES))

    def check_records(self, records: Records) -> None:
        """Require weights in [0, 1] of which none is a larger share than is stated.

        Raises
        ------
        NotOnManifoldError
            If a weight is more than 1.
        InvalidParameterError
            If a weight is a larger share, or there are none.
        """
        self.check_chunks([self.check_chunk(records)])

    def check_chunk(self, records: Records) -> tuple[int, int]:
        """Return the largest weight and the sum of some; see :meth:`Statistic.check_chunk`.

        Raises
        ------
        NotOnManifoldError
            If a weight is more than 1.
        InvalidParameterError
            If there are none.
        """
        super().check_records(records)
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

    def _exact(self, ball: Ball) -> ExactMean:
        found = super()._exact(ball)
        if not found.weighs:
            raise UnsupportedManifoldError(
                f"no certified mean with weights is known for {ball.manifold}; take the tangent "
                'mean (mechanism="tangent-gaussian")'
            )
        return found

    def rows(self, ball: Ball, records: Any) -> tuple[Partial, NDArray[np.int64]]:
        """Clip, with weights as integers; see :meth:`Question.rows`."""
        points, whole = np.asarray(records.points), whole_weights(records.weights)
        return self._exact(ball).rows_of(ball, points), whole

    def added(self, ball: Ball, rows: Partial) -> Partial:
        """Add, where that is all that is needed; see :meth:`Question.added`."""
        exact = self._exact(ball)
        return exact.summed(ball, *rows) if exact.adds else rows

    def terms(self, ball: Ball, rows: Any) -> tuple[Partial, NDArray[np.int64]]:  # noqa: ARG002
        """Return those that count; see :meth:`Mean.terms`."""
        return _that_count(*rows)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Certify the mean; see :meth:`Question.finish`."""
        exact = self._exact(ball)
        if exact.adds:
            return exact.mean(ball, partial, tol)
        return exact.weighted(ball, *_that_count(*partial), tol)


def _that_count(rows: Partial, whole: NDArray[np.int64]) -> tuple[Partial, NDArray[np.int64]]:
    """Leave out records of weight 0: where they are is public, and nothing else of them counts."""
    kept = whole > 0
    return _rows_of(rows, kept), whole[kept]


def _rows_of(rows: Partial, kept: NDArray[np.bool_]) -> Partial:
    if isinstance(rows, tuple):
        return tuple(_rows_of(part, kept) for part in rows)
    return rows[kept]


@final
@register
@dataclass(frozen=True)
class WeightedFrechetMean(IntrinsicMean, WeightedMeanOfPlaces):
    """The point with the least weighted mean of squared distances to the records.

    Weights are those of :attr:`riemdp.statistics.Records.weights`, public and in [0, 1], rounded
    down to multiples of ``2^-40``. They belong to places: neighbours have the same ones.

    Parameters
    ----------
    share : float
        The largest weight over the sum of all, or more: in (0, 1].

    Raises
    ------
    InvalidParameterError
        If ``share`` is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md, "Weights"; docs/proofs/frechet-mean-sensitivity.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import WeightedFrechetMean, largest_share
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> weights = np.linspace(0.5, 1.0, 500)  # public
    >>> mean = WeightedFrechetMean(largest_share(weights))
    >>> records = riemdp.Records(np.full((500, 2), 0.3), weights=weights)
    >>> release = riemdp.private_statistic(mean, records, ball, riemdp.GDP(1.0))
    >>> release.value.shape, round(release.sensitivity, 5)  # the diameter, times the largest share
    ((2,), 0.00533)
    """

    name: ClassVar[str] = "weighted-frechet-mean"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"

    def _move(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        self._exact(ball)
        exact = weighted_frechet_mean_sensitivity(ball, self.share)
        check_certifiable(ball)
        return exact


@final
@register
@dataclass(frozen=True)
class WeightedTangentMean(AverageMean, WeightedMeanOfPlaces):
    """The weighted average of the normal coordinates about the ball's centre.

    Weights are those of :attr:`riemdp.statistics.Records.weights`, public and in [0, 1], rounded
    down to multiples of ``2^-40``. They belong to places: neighbours have the same ones.

    Parameters
    ----------
    share : float
        The largest weight over the sum of all, or more: in (0, 1].

    Raises
    ------
    InvalidParameterError
        If ``share`` is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md, "Weights"

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import WeightedTangentMean, largest_share
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> weights = np.linspace(0.5, 1.0, 500)  # public
    >>> mean = WeightedTangentMean(largest_share(weights))
    >>> records = riemdp.Records(np.full((500, 2), 0.3), weights=weights)
    >>> riemdp.private_statistic(mean, records, ball, riemdp.GDP(1.0)).value.shape
    (2,)
    """

    name: ClassVar[str] = "weighted-tangent-mean"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"

    def _move(self, ball: Ball, metric: Metric) -> float:
        self._check_metric(ball, metric)
        return weighted_tangent_mean_sensitivity(ball, self.share)


def weighted_mean_for(
    share: float, manifold: Manifold, metric: Metric, intrinsic: bool | None = None
) -> WeightedMeanOfPlaces:
    """Return the mean with public weights that is released with noise of a metric.

    Parameters
    ----------
    share : float
        The largest weight over the sum of all.
    manifold, metric, intrinsic
        See :func:`riemdp.statistics.mean_for`.

    Returns
    -------
    WeightedFrechetMean or WeightedTangentMean
        The Fréchet mean on flat spaces, where the two are one.
    """
    if intrinsic is True or is_one_of(metric, ("distance",)) or average(manifold).isometric:
        return WeightedFrechetMean(share)
    return WeightedTangentMean(share)
