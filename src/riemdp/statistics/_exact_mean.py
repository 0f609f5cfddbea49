"""Means in exact arithmetic: sums of integers, of records that a public grid rounds one by one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp.statistics._records import IntegerSum, record_coordinates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball
    from riemdp.statistics._question import Partial

    FloatArray = NDArray[np.float64]

#: Share of the radius that records keep from the boundary, so that none rounds over it.
_MARGIN = 2.0**-40
#: Records have coordinates of about this many bits.
_BITS = 40
#: Integers of 42 bits that int64 adds.
_ROWS = 2**20


class ExactMean(ABC):
    """How a mean is computed so that its tolerance is proved, with no allowance for rounding.

    Attributes
    ----------
    proof : str
        Where it is proved.
    """

    proof: ClassVar[str]

    @abstractmethod
    def floor(self, ball: Ball) -> float:
        """Least public tolerance that every data set in a ball can be certified to.

        Zero where nothing is rounded but the records.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
            In units of geodesic distance.
        """

    def records(self, ball: Ball, data: FloatArray) -> Partial:
        r"""Say of a chunk what :meth:`mean` needs of it.

        Parameters
        ----------
        ball : Ball
        data : ndarray, shape (m, \*point_shape)
            Valid points, inside or outside.

        Returns
        -------
        object
        """
        return self.of_coordinates(ball, shortened(ball, data))

    @abstractmethod
    def of_coordinates(self, ball: Ball, coordinates: FloatArray) -> Partial:
        """Say the same of records that are given by coordinates, which are exact.

        Parameters
        ----------
        ball : Ball
        coordinates : ndarray, shape (m, dim)
            About the centre, of exact norm at most ``ball.reach``.
        """

    @abstractmethod
    def mean(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Return normal coordinates of a point that is proved to lie within ``tol`` of the mean.

        Raises
        ------
        ConvergenceError
            If that cannot be proved.
        """


def shortened(ball: Ball, data: FloatArray) -> FloatArray:
    r"""Coordinates of records that lie in the ball as real numbers, not only up to rounding.

    Those near the boundary or beyond it are shortened to the radius less ``2^-40`` of it, or less
    ``(dim + 8) 2^-52`` if that is more, which is what rounding takes from a norm and a quotient.

    Parameters
    ----------
    ball : Ball
    data : ndarray, shape (n, \*point_shape)
        Valid points, inside or outside.

    Returns
    -------
    ndarray, shape (n, dim)
        Of exact Euclidean norm at most ``ball.reach``.
    """
    coordinates = np.ascontiguousarray(record_coordinates(ball, data))
    return ball.shorten(coordinates, 1.0 - margin_of(coordinates.shape[-1]))


def margin_of(dim: int) -> float:
    """Share of the radius by which records are shortened, so that rounding takes none over it."""
    return max(_MARGIN, (dim + 8.0) * 2.0**-52)


class ExactSum(ExactMean):
    """Average of coordinates: each record is rounded to a public grid, and integers are added.

    So the sum is exact and the order of the records does not count, and the vectors that are added
    have norm at most the radius: the average moves by at most ``2 radius / n``, exactly.

    References
    ----------
    docs/proofs/exact-draws.md, "Sums"
    """

    proof = "docs/proofs/exact-draws.md"

    def floor(self, ball: Ball) -> float:  # noqa: ARG002
        """Zero."""
        return 0.0

    def of_coordinates(self, ball: Ball, coordinates: FloatArray) -> IntegerSum:
        """Round each record towards zero, and add; see :meth:`ExactMean.of_coordinates`."""
        # a power of two rounds nothing
        return added((coordinates * 2.0 ** grid_of(ball)).astype(np.int64))

    def mean(self, ball: Ball, partial: IntegerSum, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Divide, as rational numbers."""
        unit = Fraction(2) ** -grid_of(ball) / partial.count
        return tuple(total * unit for total in partial.total)


def added(whole: NDArray[np.int64]) -> IntegerSum:
    """Sum of rows ``(m, d)`` of integers under ``2^42``, without overflow."""
    parts = [whole[i : i + _ROWS].sum(axis=0).tolist() for i in range(0, len(whole), _ROWS)]
    return IntegerSum(tuple(map(sum, zip(*parts, strict=True))), len(whole))


def grid_of(ball: Ball) -> int:
    """Minus the binary logarithm of the grid's step, from the radius alone."""
    return _BITS + 1 - math.frexp(ball.reach)[1]
