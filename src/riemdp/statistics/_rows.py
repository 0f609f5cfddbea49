"""Means of one row a record: integers that are added exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import positive
from riemdp._errors import UnsupportedError, UnsupportedManifoldError
from riemdp.kernel import Moment, added, guarded
from riemdp.spaces import Ball, Euclidean, clip_norm, in_units
from riemdp.statistics._query import Query
from riemdp.statistics._records import mean_of, record_coordinates

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from riemdp.kernel import Shape, Sum
    from riemdp.spaces import FloatArray
    from riemdp.statistics._query import Metric

#: Squares between them have all digits in float64.
_FEW, _MANY = Fraction(1, 2**1000), 2**1000
#: Most coordinates of an answer.
_MOST = 2**22


@dataclass(frozen=True, eq=False)
class Rows(Query):
    """Mean over the records of one row each, as a shape makes it of a vector.

    The vector is a function of the record, the ball and earlier answers. The kernel rounds and
    checks it, and one that is too long counts as zero: so the answer moves by no more than the
    shape says, whatever the function returns.

    Attributes
    ----------
    shape : Shape
        One of :mod:`riemdp.kernel`.
    unit : float
        Length in an answer that 1 stands for, public.
    vectors : callable
        Of the ball and of clipped points returns vectors, shape (m, d), of norm at most 1: see
        :func:`shortened`. Fit for pickle.
    beside : callable, optional
        Returns what the shape takes beside vectors, shape (m,) or (m, k), of the
        :class:`riemdp.statistics.Records` that :attr:`takes` names parts of, and without such
        names of clipped points.
    clipped : callable
        Of the ball and of points, shape (m, *point_shape), inside or outside, returns what vectors
        are made of; by default coordinates about the centre. Queries with one such function share
        what it returns.
    points : bool
        Whether answers are normal coordinates about the centre of the ball, and not features.
    features : bool
        Whether the answer is the value itself. It sets the weight of a private number of records.
    length : float
        Distance of records from a released point that 1 stands for; 0 where they are seen from the
        centre. It says what answers are typical, and nothing else.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import Moments
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> query = next(Moments().queries(ball))
    >>> query.shape.size, query.replace_one(ball, 100, "coordinates")
    (3, 0.02)
    """

    shape: Shape
    unit: float
    vectors: Callable[[Ball, Any], FloatArray]
    beside: Callable[[Any], NDArray[Any]] | None = None
    clipped: Callable[[Ball, FloatArray], FloatArray] = record_coordinates
    share: float = 1.0
    takes: tuple[str, ...] = ()
    projects: bool = False
    points: bool = False
    features: bool = False
    length: float = 0.0

    def __post_init__(self) -> None:
        positive(self.unit, "unit, what 1 stands for in an answer,")

    def answers(self, ball: Ball) -> Ball:
        """Vectors of so many coordinates; see :meth:`Query.answers`."""
        if self.points:
            return ball
        if self.shape.size > _MOST:
            raise UnsupportedError(
                f"{self.shape.size} numbers are asked for at once, and at most {_MOST} are "
                'released together; ask for less, such as second="scalar"'
            )
        return vector_ball(self.shape.size, root_up(self.shape.norm * Fraction(self.unit) ** 2))

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Move of the shape times ``unit / n``; see :meth:`Query.replace_one`."""
        self.check_metric(ball, metric)
        return root_up(self.shape.move * (Fraction(self.unit) / n) ** 2)

    def check_metric(self, ball: Ball, metric: Metric) -> None:
        """Refuse distances of points off flat spaces; see :meth:`replace_one`."""
        if not self.points or metric == "coordinates" or ball.manifold.dim == 1:
            return  # on a line distances are at most differences of coordinates
        if ball.manifold.chart is None:
            raise UnsupportedManifoldError(
                "how far the tangent mean moves is known in coordinates, not as a distance; use a "
                "tangent mechanism, or the Fréchet mean"
            )

    def typical(self, ball: Ball, length: float, n: float) -> FloatArray:  # noqa: ARG002
        """Mean at the boundary, or at the point that was released; see :meth:`Query.typical`."""
        answers = self.answers(ball)  # first: a row may be longer than any that is released
        row, part = np.zeros(self.shape.size), min(1.0, length / (self.length or self.unit))
        row[0] = 0.0 if self.length else 1.0
        if isinstance(self.shape, Moment) and self.shape.second == "scalar":
            row[-1] = self.shape.weights[0] * (row[0] + part**2)
        return answers.point(row * self.unit)

    @property
    def functions(self) -> tuple[object, ...]:
        """Those of vectors and of what stands beside; see :attr:`Query.functions`."""
        return self.vectors, self.beside, self.clipped

    @property
    def form(self) -> Hashable:
        """With the function that clips; see :attr:`Query.form`."""
        return type(self), self.clipped

    def adds(self, ball: Ball) -> bool:  # noqa: ARG002
        """Integers are added; see :meth:`Query.adds`."""
        return True

    def prepare(self, ball: Ball, records: Any) -> Any:
        """Clip; see :meth:`Query.prepare`."""
        if not self.takes:
            return self.clipped(ball, np.asarray(records))
        return records.with_points(self.clipped(ball, np.asarray(records.points)))

    def rows(self, ball: Ball, records: Any) -> NDArray[np.int64]:
        """Rows of vectors; see :meth:`Query.rows`."""
        points = records.points if self.takes else records
        beside = None if self.beside is None else self.beside(records)
        return self.shape.rows(self.vectors(ball, points), beside)

    def guarded(self, ball: Ball, rows: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG002
        """Guard rows; see :meth:`Query.guarded`."""
        return guarded(rows, self.shape.longest)

    def added(self, ball: Ball, rows: NDArray[np.int64]) -> Sum:  # noqa: ARG002
        """Add rows, none of which is longer than is stated; see :meth:`Query.added`."""
        return added(rows, self.shape.longest)

    def finish(self, ball: Ball, partial: Sum, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Divide, as rational numbers; see :meth:`Query.finish`."""
        return mean_of(partial, self.unit)


def shortened(vectors: FloatArray, length: float) -> FloatArray:
    """Return vectors over a length, those that are longer shortened to it.

    A little shorter yet, so that rounding makes none longer than 1, which would not count.

    Parameters
    ----------
    vectors : ndarray, shape (m, d)
    length : float
        Positive.

    Returns
    -------
    ndarray, shape (m, d)

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.statistics import shortened
    >>> np.round(shortened(np.array([[3.0, 4.0], [0.5, 0.0]]), 1.0), 6)
    array([[0.6, 0.8],
           [0.5, 0. ]])
    """
    return in_units(clip_norm(np.ascontiguousarray(vectors), length), length)


def vector_ball(dim: int, reach: float) -> Ball:
    """Ball of the vectors of so many entries that are no longer than ``reach``."""
    space = Euclidean(dim)
    return Ball(space, space.origin, reach)


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
