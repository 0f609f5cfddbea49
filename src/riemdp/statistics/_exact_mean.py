"""Means in exact arithmetic: sums of integers, of records that a public grid rounds one by one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp._errors import UnsupportedError
from riemdp.kernel import guarded
from riemdp.statistics._records import IntegerSum, record_coordinates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._descent import Descent
    from riemdp.statistics._question import Partial

#: Share of the radius that records keep from the boundary, so that none rounds over it.
_MARGIN = 2.0**-40
#: Records have coordinates of about this many bits.
_BITS = 40
#: Integers of 42 bits that int64 adds.
_ROWS = 2**20


class ExactMean(ABC):
    """How a mean is computed so that its tolerance is proved, with no allowance for rounding.

    ``proof`` says where. Balls are public; coordinates ``(m, dim)`` are normal ones about their
    centre.
    """

    proof: ClassVar[str]

    @property
    def adds(self) -> bool:
        """Whether chunks are sums of integers, so that no record is kept; by default not."""
        return False

    @property
    def weighs(self) -> bool:
        """Whether it computes weighted means too: :meth:`weighted`; by default not."""
        return False

    @abstractmethod
    def floor(self, ball: Ball) -> float:
        """Least public tolerance, a geodesic distance, that every data set can be certified to.

        Zero where nothing is rounded but the records.
        """

    def rows_of(self, ball: Ball, data: FloatArray) -> Partial:
        """Return :meth:`rows` of valid points, inside or outside, each of its own point alone."""
        return self.rows(ball, shortened(ball, data))

    @abstractmethod
    def rows(self, ball: Ball, coordinates: FloatArray) -> Partial:
        """Say what is needed of each record, by coordinates of exact norm at most ``ball.reach``.

        Arrays, alone or in nested tuples, each with the records along its first axis.
        """

    def added(self, ball: Ball, rows: Partial) -> Partial:  # noqa: ARG002
        """Say of rows what :meth:`mean` needs of them: by default all."""
        return rows

    @abstractmethod
    def mean(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Return normal coordinates of a point that is proved to lie within ``tol`` of the mean.

        Raises ``ConvergenceError`` if that cannot be proved.
        """

    def descent(self, ball: Ball, tol: float) -> Descent | None:  # noqa: ARG002
        """Return steps that end within ``tol`` of the mean of any records in a ball.

        None, by default, where nobody has proved that any public number of them is enough.
        """
        return None

    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64], tol: float
    ) -> tuple[Fraction, ...]:
        """Return what :meth:`mean` does, of the weighted mean of :meth:`rows`.

        Weights ``(n,)`` are positive and at most ``2^40``. Raises ``ConvergenceError`` as
        :meth:`mean` does, and ``UnsupportedError`` by default, where :attr:`weighs` is false.
        """
        del ball, rows, whole, tol
        raise self._no_weights()

    def summed(self, ball: Ball, rows: Partial, whole: NDArray[np.int64]) -> Partial:
        """Say of some records with weights what :meth:`mean` needs, in sums as of any others.

        Weights ``(m,)`` are at least 0 and at most ``2^40``. Raises ``UnsupportedError`` by
        default, where :attr:`adds` or :attr:`weighs` is false.
        """
        del ball, rows, whole
        raise self._no_weights()

    def _no_weights(self) -> UnsupportedError:
        return UnsupportedError("no exact arithmetic is known of this mean with weights")


class WeightedExactMean(ExactMean):
    """One that is certified row by row, with weights or without: the mean is without."""

    weighs = True

    def rows(self, ball: Ball, coordinates: FloatArray) -> Partial:  # noqa: ARG002
        """By default coordinates; see :meth:`ExactMean.rows`."""
        return coordinates

    def mean(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Certify coordinates; see :meth:`ExactMean.mean`."""
        return self.weighted(ball, partial, None, tol)

    @abstractmethod
    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Certify coordinates; see :meth:`ExactMean.weighted`."""


def shortened(ball: Ball, data: FloatArray) -> FloatArray:
    """Coordinates ``(n, dim)`` of records that lie in the ball as real numbers, not up to rounding.

    Points near the boundary or beyond it are shortened to the radius less ``2^-40`` of it, or less
    ``(dim + 8) 2^-52`` if that is more, which is what rounding takes from a norm and a quotient.
    """
    coordinates = np.ascontiguousarray(record_coordinates(ball, data))
    return ball.shorten(coordinates, 1.0 - margin_of(coordinates.shape[-1]))


def margin_of(dim: int) -> float:
    """Share of the radius by which records are shortened, so that rounding takes none over it."""
    return max(_MARGIN, (dim + 8.0) * 2.0**-52)


class ExactSum(ExactMean):
    """Average of coordinates: each record is rounded to a public grid, and integers are added.

    So the sum is exact and the order of the records does not count, and the vectors that are added
    have norm at most the radius: the average moves by at most ``2 radius / n``, exactly. See
    docs/proofs/exact-draws.md, "Sums".
    """

    proof = "docs/proofs/exact-draws.md"
    adds = True
    weighs = True

    def floor(self, ball: Ball) -> float:  # noqa: ARG002
        """Zero."""
        return 0.0

    def added(self, ball: Ball, rows: NDArray[np.int64]) -> IntegerSum:
        """Add rows; see :meth:`ExactMean.added`."""
        return added(rows, square_of(ball))

    def rows(self, ball: Ball, coordinates: FloatArray) -> NDArray[np.int64]:
        """Round each record towards zero; see :meth:`ExactMean.rows`."""
        # a power of two rounds nothing
        return (coordinates * 2.0 ** grid_of(ball)).astype(np.int64)

    def weighted(
        self, ball: Ball, rows: NDArray[np.int64], whole: NDArray[np.int64], tol: float
    ) -> tuple[Fraction, ...]:
        """Add products of integers; see :meth:`ExactMean.weighted`."""
        return self.mean(ball, self.summed(ball, rows, whole), tol)

    def summed(self, ball: Ball, rows: NDArray[np.int64], whole: NDArray[np.int64]) -> IntegerSum:
        """Add products, and weights; see :meth:`ExactMean.summed`."""
        inside = guarded(rows, square_of(ball))
        return IntegerSum(added_products(inside, whole), sum_of(whole))

    def mean(self, ball: Ball, partial: IntegerSum, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Divide, as rational numbers."""
        unit = Fraction(2) ** -grid_of(ball) / partial.count
        above, below = unit.numerator, unit.denominator
        return tuple(Fraction(total * above, below) for total in partial.total)


def added(rows: NDArray[np.int64], most: int, fallback: Sequence[int] | None = None) -> IntegerSum:
    """Sum of rows ``(m, d)`` of integers, without overflow.

    Those whose squares add up to more than ``most`` count as ``fallback``, by default zero: none
    does, as long as what is proved of rounding is true.
    """
    return _sum_of_rows(guarded(rows, most, fallback))


def square_of(ball: Ball) -> int:
    """Largest square of the norm of an integer row: ``(2^g r)^2``, rounded down."""
    return math.floor((Fraction(ball.reach) * Fraction(2) ** grid_of(ball)) ** 2)


def _sum_of_rows(whole: NDArray[np.int64]) -> IntegerSum:
    """Sum of rows ``(m, d)`` of integers of at most ``2^42`` in size."""
    starts = range(0, max(1, len(whole)), _ROWS)  # of no rows the sum is 0
    parts = [whole[i : i + _ROWS].sum(axis=0).tolist() for i in starts]
    return IntegerSum(tuple(map(sum, zip(*parts, strict=True))), len(whole))


def sum_of(whole: NDArray[np.int64]) -> int:
    """Sum of integers ``(m,)`` under ``2^42``, without overflow."""
    return _sum_of_rows(whole[:, None]).total[0]


#: Bits of the lower parts of coordinates and weights, whose products int64 adds.
_COORDINATE, _WEIGHT = 21, 20


def added_products(rows: NDArray[np.int64], whole: NDArray[np.int64]) -> tuple[int, ...]:
    """Sum of rows ``(m, d)`` of integers under ``2^42`` times weights ``(m,)``, without overflow.

    Weights are at least 0, at most ``2^40``.
    """
    total = [0] * rows.shape[1]
    for start in range(0, len(rows), _ROWS):
        some, each = rows[start : start + _ROWS], whole[start : start + _ROWS]
        # x = high 2^21 + low with 0 <= low < 2^21, so that |products| <= 2^41, 2^20 of them 2^61
        for left, up in ((some >> _COORDINATE, _COORDINATE), (some & (2**_COORDINATE - 1), 0)):
            for right, further in ((each >> _WEIGHT, _WEIGHT), (each & (2**_WEIGHT - 1), 0)):
                found = (right @ left).tolist()
                total = [a + (b << (up + further)) for a, b in zip(total, found, strict=True)]
    return tuple(total)


def grid_of(ball: Ball) -> int:
    """Minus the binary logarithm of the grid's step, from the radius alone."""
    return _BITS + 1 - math.frexp(ball.reach)[1]
