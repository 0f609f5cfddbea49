"""Means in exact arithmetic: sums of integers, of records that a public grid rounds one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp.kernel import UNIT, Sum, added, added_with_weights, on_grid
from riemdp.statistics._records import in_units, mean_of, record_coordinates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._descent import Descent
    from riemdp.statistics._query import Partial


class ExactMean(ABC):
    """How a mean is computed so that its tolerance is proved, with no allowance for rounding.

    ``proof`` says where. Balls are public; coordinates ``(m, dim)`` are normal ones about their
    centre. Weights ``(m,)`` are integers, at least 0 and at most ``2^40``; None where all count
    alike.
    """

    proof: ClassVar[str]

    @property
    def adds(self) -> bool:
        """Whether chunks are sums of integers, so that no record is kept; by default not."""
        return False

    @abstractmethod
    def floor(self, ball: Ball) -> float:
        """Least public tolerance, a geodesic distance, that every data set can be certified to.

        Zero where nothing is rounded but the records.
        """

    def rows_of(self, ball: Ball, data: FloatArray) -> Partial:
        """Return :meth:`rows` of valid points, inside or outside, each of its own point alone."""
        return self.rows(ball, shortened(ball, data))

    def rows(self, ball: Ball, coordinates: FloatArray) -> Partial:  # noqa: ARG002
        """Say what is needed of each record, by coordinates of exact norm at most ``ball.reach``.

        Arrays, alone or in nested tuples, each with the records along its first axis; by default
        the coordinates.
        """
        return coordinates

    def summed(self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None) -> Partial:  # noqa: ARG002
        """Add rows, times weights, where :attr:`adds`; by default all of them are needed."""
        return rows

    @abstractmethod
    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Return normal coordinates of a point that is proved to lie within ``tol`` of the mean.

        Weights are positive, and belong to :meth:`rows`; without them it is given what
        :meth:`summed` returned. Raises ``ConvergenceError`` if that cannot be proved.
        """

    def descent(self, ball: Ball, tol: float) -> Descent | None:  # noqa: ARG002
        """Return steps that end within ``tol`` of the mean of any records in a ball.

        None, by default, where nobody has proved that any public number of them is enough.
        """
        return None


def shortened(ball: Ball, data: FloatArray) -> FloatArray:
    """Coordinates ``(n, dim)`` of records that lie in the ball as real numbers, not up to rounding.

    Points near the boundary or beyond it are shortened to the radius less ``2^-40`` of it, or less
    ``(dim + 8) 2^-52`` if that is more, which is what rounding takes from a norm and a quotient.
    """
    coordinates = np.ascontiguousarray(record_coordinates(ball, data))
    margin = max(2.0**-40, (coordinates.shape[-1] + 8.0) * 2.0**-52)
    return ball.shorten(coordinates, 1.0 - margin)


class ExactSum(ExactMean):
    """Average of coordinates: each record is rounded to a public grid, and integers are added.

    So the sum is exact and the order of the records does not count, and the vectors that are added
    have norm at most the radius: the average moves by at most ``2 radius / n``, exactly. See
    docs/proofs/exact-draws.md, "Sums".
    """

    proof = "docs/proofs/exact-draws.md"
    adds = True

    def floor(self, ball: Ball) -> float:  # noqa: ARG002
        """Zero."""
        return 0.0

    def rows_of(self, ball: Ball, data: FloatArray) -> NDArray[np.int64]:
        """Clip, and round towards zero; see :meth:`ExactMean.rows_of`."""
        return self.rows(ball, ball.shorten(record_coordinates(ball, data)))

    def rows(self, ball: Ball, coordinates: FloatArray) -> NDArray[np.int64]:
        """Round each record towards zero, in units of the radius; see :meth:`ExactMean.rows`."""
        return on_grid(in_units(coordinates, ball.reach))

    def summed(
        self,
        ball: Ball,  # noqa: ARG002
        rows: NDArray[np.int64],
        whole: NDArray[np.int64] | None,
    ) -> Sum:
        """Add rows, or products and weights; see :meth:`ExactMean.summed`."""
        if whole is None:
            return added(rows, UNIT**2)
        return added_with_weights(rows, whole, UNIT**2)

    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Divide, as rational numbers; see :meth:`ExactMean.weighted`."""
        del tol
        return mean_of(rows if whole is None else self.summed(ball, rows, whole), ball.reach)
