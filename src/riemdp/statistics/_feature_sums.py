"""Sums of features of records: integers that are added exactly."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.kernel import added, guarded
from riemdp.manifolds import clip_norm
from riemdp.statistics._data import Records, as_records
from riemdp.statistics._records import joined, record_coordinates
from riemdp.statistics._statistic import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from riemdp.kernel import Sum
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial

#: Minus the binary logarithm of the step of the grid that features are rounded to.
_GRID = 40
#: Squares between them have all digits in float64.
_FEW, _MANY = Fraction(1, 2**1000), 2**1000


@dataclass(frozen=True)
class FeatureSum(Summary):
    """A function of the sum over the records of features of each.

    A record is first a vector in the unit ball: its normal coordinates about the centre, clipped to
    the radius r and divided by it. *Features* of that are rounded to a public grid, and integers
    are added, so that the sum is exact: records at other places in the data are not touched by a
    record that is replaced. See docs/proofs/joint-sensitivities.md.
    """

    clips = True

    @abstractmethod
    def size(self, dim: int) -> int:
        """Return the number of features.

        Parameters
        ----------
        dim : int
            Dimension of the vectors.

        Returns
        -------
        int
        """

    @abstractmethod
    def features(self, vectors: FloatArray, records: Records) -> FloatArray:
        """Return the features of records, each of its own record alone.

        Public weights times products of at most two coordinates, and sums of at most ``dim`` of
        these: what rounding is allowed for; see docs/proofs/joint-sensitivities.md. Features that
        do not shrink with the vector are multiplied by :meth:`whole`.

        Parameters
        ----------
        vectors : ndarray, shape (m, dim)
            In the unit ball.
        records : Records
            With what belongs to each of them; its points are the same vectors.

        Returns
        -------
        ndarray, shape (m, size)
        """

    def whole(self, dim: int) -> float:
        """Return what a feature of 1 is written as: vectors are shortened by as much.

        A little under 1.
        """
        return 1.0 - features_margin(dim, self.size(dim))

    def dim(self, ball: Ball) -> int:
        """Return the dimension of the vectors: that of the space, by default.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        int
        """
        return ball.manifold.dim

    def vectors(self, ball: Ball, points: FloatArray) -> FloatArray:
        r"""Return the vectors of records, before they are shortened to the unit ball.

        Parameters
        ----------
        ball : Ball
        points : ndarray, shape (m, \*point_shape)
            Inside or outside.

        Returns
        -------
        ndarray, shape (m, dim)
            Finite.
        """
        return np.ascontiguousarray(record_coordinates(ball, points)) / ball.reach

    def tolerance(self, ball: Ball, sensitivity: float) -> float:  # noqa: ARG002
        """Zero: integers are added; see :meth:`Statistic.tolerance`."""
        return 0.0

    def adds(self, ball: Ball) -> bool:  # noqa: ARG002
        """Integers are added; see :meth:`Question.adds`."""
        return True

    def prepare(self, ball: Ball, records: Any) -> Records:
        """Return vectors; see :meth:`Question.prepare`."""
        given = as_records(records)
        return given.with_points(self.vectors(ball, np.asarray(given.points)))

    def rows(self, ball: Ball, records: Any) -> NDArray[np.int64]:
        """Shorten, and return features on the grid; see :meth:`Question.rows`."""
        return self.integers(self.dim(ball), records)

    def integers(self, dim: int, records: Records) -> NDArray[np.int64]:
        """Return features on the grid, shape (m, size).

        Points of the records are finite vectors, shape (m, dim), which are shortened first.
        """
        inside = records.with_points(clip_norm(np.asarray(records.points), self.whole(dim)))
        found = self.features(np.asarray(inside.points), inside)
        with np.errstate(invalid="ignore"):  # what is no number, or too large, is no row
            # towards zero; a power of two rounds nothing
            return (found * 2.0**_GRID).astype(np.int64)

    @abstractmethod
    def square(self, dim: int) -> Fraction:
        """Return a bound of the squared norm of the features of a record.

        Parameters
        ----------
        dim : int

        Returns
        -------
        Fraction
        """

    def longest(self, dim: int) -> int:
        """Return the largest sum of squares of integers of a record, those of :meth:`square`.

        Parameters
        ----------
        dim : int

        Returns
        -------
        int
        """
        return math.floor(self.square(dim) * (1 << 2 * _GRID))

    def fallback(self, dim: int) -> Sequence[int] | None:  # noqa: ARG002
        """Return what a longer row counts as, on the grid; by default zero.

        Parameters
        ----------
        dim : int

        Returns
        -------
        sequence of int, length size, or None
        """
        return None

    def guarded(self, ball: Ball, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Guard features on the grid; see :meth:`Question.guarded`."""
        dim = self.dim(ball)
        return guarded(rows, self.longest(dim), self.fallback(dim))

    def added(self, ball: Ball, rows: NDArray[np.int64]) -> Sum:
        """Add; see :meth:`Question.added`."""
        return self.total(self.dim(ball), rows)

    def total(self, dim: int, rows: NDArray[np.int64]) -> Sum:
        """Return the sum of features on the grid, none of which is longer than is stated."""
        return added(rows, self.longest(dim), self.fallback(dim))

    def merge(self, first: Partial, second: Partial) -> Partial:
        """Put chunks together; see :meth:`Question.merge`."""
        return joined(first, second)


def mean_features(total: Sum, unit: float) -> tuple[Fraction, ...]:
    """Return the mean of features on the grid, times a length."""
    each = Fraction(unit) / (total.count << _GRID)
    return tuple(whole * each for whole in total.total)


def total_features(total: Sum, unit: float) -> tuple[Fraction, ...]:
    """Return the sum of features on the grid, times a length; of no records zeros."""
    each = Fraction(unit) / (1 << _GRID)
    return tuple(whole * each for whole in total.total)


def on_grid(feature: float) -> float:
    """Return what is added for a feature, from 0 to 4, that is the same for all records."""
    return steps_of(feature) * 2.0**-_GRID


def steps_of(feature: float) -> int:
    """Return the same in steps of the grid."""
    return math.trunc(feature * 2.0**_GRID)


def features_margin(dim: int, size: int) -> float:
    """Share of the radius by which vectors are shortened, so that no rounding takes features over.

    See docs/proofs/joint-sensitivities.md.
    """
    return math.sqrt(size) * 2.0**-38 + (dim + 16.0) * 2.0**-49


def quotient_of(numerator: Fraction, n: int) -> float:
    """Quotient in float64, rounded up."""
    exact = numerator / n
    found = float(exact)
    return found if Fraction(found) >= exact else math.nextafter(found, math.inf)


def root_up(square: Fraction) -> float:
    """Square root in float64 of a number that is not negative, rounded up."""
    if not (square == 0 or _FEW < square < _MANY):  # it leaves float64, or has few digits there
        shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
        whole = math.ceil(square * (1 << 2 * shift))
        return quotient_of(Fraction(math.isqrt(whole - 1) + 1), 1 << shift)
    found = math.sqrt(square)
    while Fraction(found) ** 2 < square:
        found = math.nextafter(found, math.inf)
    return found
