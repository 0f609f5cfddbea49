"""Sums of features of records: integers that are added exactly."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.kernel import added, guarded
from riemdp.manifolds import clip_norm, unvecd
from riemdp.statistics._data import Records, as_records
from riemdp.statistics._records import in_units, record_coordinates
from riemdp.statistics._statistic import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.kernel import Shape, Sum
    from riemdp.manifolds import Ball, FloatArray

#: Squares between them have all digits in float64.
_FEW, _MANY = Fraction(1, 2**1000), 2**1000


@dataclass(frozen=True)
class FeatureSum(Summary):
    """A function of the sum over the records of features of each.

    A record is first a vector in the unit ball: its normal coordinates about the centre, clipped to
    the radius r and divided by it. *Features* of that are integers, as its :meth:`shape` makes
    them, and integers are added, so that the sum is exact: records at other places in the data are
    not touched by a record that is replaced. See docs/proofs/joint-sensitivities.md.
    """

    clips = True

    @abstractmethod
    def shape(self, dim: int) -> Shape:
        """Return what becomes of a vector: integers, with their largest norm and move.

        Parameters
        ----------
        dim : int
            Of the vectors.

        Returns
        -------
        Shape
        """

    def beside(self, records: Records) -> NDArray[Any] | None:  # noqa: ARG002
        """Return what the shape takes beside vectors, by default nothing.

        Parameters
        ----------
        records : Records
            With what belongs to each of them.

        Returns
        -------
        ndarray, shape (m,), or None
        """
        return None

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
        """Shorten vectors to norm 1, and return their rows; see :meth:`Question.rows`."""
        inside = in_units(clip_norm(np.asarray(records.points), 1.0), 1.0)
        return self.shape(self.dim(ball)).rows(inside, self.beside(records))

    def guarded(self, ball: Ball, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Guard rows; see :meth:`Question.guarded`."""
        return guarded(rows, self.shape(self.dim(ball)).longest)

    def added(self, ball: Ball, rows: NDArray[np.int64]) -> Sum:
        """Add rows, none of which is longer than is stated; see :meth:`Question.added`."""
        return added(rows, self.shape(self.dim(ball)).longest)

    def merge(self, first: Sum, second: Sum) -> Sum:
        """Add sums; see :meth:`Question.merge`."""
        return first + second


def symmetric_of(products: FloatArray, dim: int, weights: tuple[float, float]) -> FloatArray:
    """Return a symmetric matrix of the weighted products of coordinates, the diagonal first.

    ``weights`` are what squares were multiplied by, and what is above the diagonal.
    """
    square, above = weights
    return unvecd(np.append(products[:dim] / square, products[dim:] * math.sqrt(2.0) / above), dim)


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
