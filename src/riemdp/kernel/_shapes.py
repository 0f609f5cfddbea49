"""Shapes: integers that a record stands for, made of checked ones, with their norm and move.

A record is a vector of norm at most 1, rounded towards zero to multiples of ``2^-40``: a row of
integers, which is checked. What stands beside it is computed of these integers, in integers. So
whatever a function of records returns, norm and move below are those of what is added.

*Towards zero*: let a shape round the coordinates of a real function T of the checked row, each
towards zero and by less than k steps. None gets longer, so that the norm is at most that of T. The
difference of two coordinates of one sign grows by less than k, and that of two of different signs
does not grow: so that the move is at most that of T and ``k sqrt(m)`` steps, m coordinates being
rounded. How far T moves: docs/proofs/joint-sensitivities.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._errors import InvalidParameterError
from riemdp.kernel._guard import guarded, surely_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

#: What a coordinate of 1 is written as.
BITS = 40
UNIT = 1 << BITS
#: Bits of the lower half of a coordinate.
_LOW = 20
_MASK = (1 << _LOW) - 1
#: Beside a vector of norm at most 1, so many times its square costs no noise: under the root of
#: phi^5 / 4 = 2.7725424859..., phi the golden ratio. Times 2^10.
_FREE = 1705
#: So many times its products do: under the root of 1/2. And the root of 2, as low. Times 2^22.
_ROOT_HALF, _ROOT_TWO, _WHOLE = 2965820, 5931641, 1 << 22

Second = Literal["none", "scalar", "matrix"]


class Shape(ABC):
    """Rows of integers, of which one record has one. Zero is a row of every shape.

    Attributes
    ----------
    size : int
        Number of coordinates.
    norm, move : Fraction
        Square of the largest norm of a row, and of the largest distance of two, in squares of
        ``UNIT``. Docstrings of shapes state the roots.
    counts : tuple of (int, int, int), or None
        Coordinates whose sum says how many rows there are: the first, one after the last, and what
        a row adds to one of them.
    """

    counts: tuple[int, int, int] | None = None

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    @abstractmethod
    def norm(self) -> Fraction: ...

    @property
    @abstractmethod
    def move(self) -> Fraction: ...

    @property
    def longest(self) -> int:
        """Largest sum of squares of a row: :attr:`norm`."""
        return math.floor(self.norm * UNIT**2)

    @abstractmethod
    def rows(self, vectors: NDArray[np.float64], beside: NDArray[Any] | None = None) -> Integers:
        """Return the rows of records.

        Parameters
        ----------
        vectors : ndarray of float, shape (n, dim)
            One longer than 1, or none, counts as zero.
        beside : ndarray, shape (n,), optional
            What a record has beside it, where the shape takes that.

        Returns
        -------
        ndarray of int64, shape (n, size)
        """


@dataclass(frozen=True)
class Vector(Shape):
    """The vector itself: norm 1, move 2."""

    norm, move = Fraction(1), Fraction(4)

    dim: int

    @property
    def size(self) -> int:
        return self.dim

    def rows(self, vectors: NDArray[np.float64], beside: NDArray[Any] | None = None) -> Integers:  # noqa: ARG002
        return on_grid(vectors)


@dataclass(frozen=True)
class Moment(Shape):
    """A vector v with ``scalar / 2^10 |v|^2`` or ``v v^T / sqrt(2)``: they move no farther, by 2.

    Rounding takes nothing of the former. Let ``a >= b`` be norms of two rows, in steps, and ``D =
    a^2 - b^2``, an integer. If D = 0 the last coordinates are equal. Else the squares of the moves
    add up to at most ``4 N^2 - 2 D - (a - b)^2 + (L D / N + k)^2``, with N = UNIT, L = 1705/1024
    and k = 1.002, which is at most ``4 N^2``: see docs/proofs/noisy-steps.md.
    """

    dim: int
    second: Second = "scalar"
    #: What ``|v|^2`` is multiplied by, times 2^10: at most so much.
    scalar: int = _FREE

    def __post_init__(self) -> None:
        _check(self.scalar, _FREE, "scalar")

    @property
    def size(self) -> int:
        return self.dim + _second_size(self.dim, self.second)

    @property
    def norm(self) -> Fraction:
        scalar = Fraction(self.scalar, 1 << 10)
        return 1 + (scalar**2 if self.second == "scalar" else Fraction(1, 2))

    @property
    def move(self) -> Fraction:
        if self.second == "scalar":
            return Fraction(4)
        return _rounded(Fraction(4), self.size - self.dim)

    def rows(self, vectors: NDArray[np.float64], beside: NDArray[Any] | None = None) -> Integers:  # noqa: ARG002
        own = on_grid(vectors)
        return np.concatenate([own, _second(own, self.second, self.scalar)], axis=1)

    @property
    def weights(self) -> tuple[float, float]:
        """What a square is multiplied by, and the product of two different coordinates."""
        return second_weights(self.second, self.scalar)


@dataclass(frozen=True)
class Products(Shape):
    """``v v^T`` alone, or ``z z*`` of a complex vector, real parts first: norm 1, move sqrt(2).

    The diagonal, then sqrt(2) times what is above it; imaginary parts come last.
    """

    norm = Fraction(1)

    dim: int
    hermitian: bool = False

    @property
    def weights(self) -> tuple[float, float]:
        """See :attr:`Moment.weights`."""
        return 1.0, _ROOT_TWO / _WHOLE

    @property
    def size(self) -> int:
        return (self.dim // 2) ** 2 if self.hermitian else self.dim * (self.dim + 1) // 2

    @property
    def move(self) -> Fraction:
        return _rounded(Fraction(2), self.size)

    def rows(self, vectors: NDArray[np.float64], beside: NDArray[Any] | None = None) -> Integers:  # noqa: ARG002
        own = on_grid(vectors)
        if not self.hermitian:
            return _outer(own, _WHOLE, _ROOT_TWO)
        half = self.dim // 2
        real, imaginary = own[:, :half], own[:, half:]
        i, j = np.triu_indices(half, 1)
        cosine = _products((real[:, i], real[:, j]), (imaginary[:, i], imaginary[:, j]))
        sine = _products((imaginary[:, i], real[:, j]), (-real[:, i], imaginary[:, j]))
        squares = _products((real, real), (imaginary, imaginary))
        above = np.concatenate([cosine, sine], axis=1)
        return np.concatenate([squares, _times(above, _ROOT_TWO)], axis=1)


@dataclass(frozen=True)
class Classes(Shape):
    """``(v (x) e_y, a e_y, b |v|^2 or b v v^T)``, y the class of a record: move 2.

    ``a`` is 1, or ``1 / sqrt(2)`` beside a matrix, and 0 where sizes of classes are public; ``b``
    is 1, or ``1 / sqrt(2)``. Of no class are records whose y is under 0.
    """

    dim: int
    classes: int
    second: Second = "none"
    shares: bool = True

    @property
    def size(self) -> int:
        each = self.dim + (1 if self.shares else 0)
        return self.classes * each + _second_size(self.dim, self.second)

    @property
    def norm(self) -> Fraction:
        weight = Fraction(1, 2) if self.second == "matrix" else Fraction(1)
        return 1 + weight * ((1 if self.shares else 0) + (0 if self.second == "none" else 1))

    @property
    def move(self) -> Fraction:
        return _rounded(Fraction(4), _second_size(self.dim, self.second))

    @property
    def counts(self) -> tuple[int, int, int] | None:  # type: ignore[override]
        """Sizes of classes; see :attr:`Shape.counts`."""
        first = self.classes * self.dim
        return (first, first + self.classes, self.share) if self.shares else None

    @property
    def share(self) -> int:
        """What a record adds to the size of its class."""
        return math.isqrt(UNIT**2 // 2) if self.second == "matrix" else UNIT

    @property
    def weights(self) -> tuple[float, float]:
        """See :attr:`Moment.weights`."""
        return second_weights(self.second, 1 << 10)

    def rows(self, vectors: NDArray[np.float64], beside: NDArray[Any] | None = None) -> Integers:
        own = on_grid(vectors)
        codes = np.asarray(beside)
        is_in = (codes[:, None] == np.arange(self.classes)).astype(np.int64)
        sums = (is_in[:, :, None] * own[:, None, :]).reshape(len(own), self.classes * self.dim)
        found = [sums, is_in * self.share] if self.shares else [sums]
        return np.concatenate([*found, _second(own, self.second, 1 << 10)], axis=1)


@dataclass(frozen=True)
class Line(Shape):
    """``(v, t v, t, sqrt(2) t^2)`` of a covariate t from -1 to 1: norm sqrt(5), move sqrt(8)."""

    norm = Fraction(5)

    dim: int

    @property
    def weight(self) -> float:
        """What the square of the covariate is multiplied by."""
        return _ROOT_TWO / _WHOLE

    @property
    def size(self) -> int:
        return 2 * self.dim + 2

    @property
    def move(self) -> Fraction:
        return _rounded(Fraction(8), self.dim + 1)

    def rows(self, vectors: NDArray[np.float64], beside: NDArray[Any] | None = None) -> Integers:
        own = on_grid(vectors)
        number = on_grid(np.asarray(beside, dtype=np.float64)[:, None])
        square = _times(_products((number, number)), _ROOT_TWO)
        return np.concatenate([own, _products((number, own)), number, square], axis=1)


def on_grid(vectors: NDArray[np.float64]) -> Integers:
    """Round vectors towards zero, to steps of ``2^-40``; those longer than 1 count as zero.

    Parameters
    ----------
    vectors : ndarray of float, shape (n, m)

    Returns
    -------
    ndarray of int64, shape (n, m)
        Sums of squares are at most ``2^80``.
    """
    with np.errstate(all="ignore"):  # what is no number is no row
        numbers = np.asarray(vectors, dtype=np.float64) * 2.0**BITS  # a copy
        whole = numbers.astype(np.int64)
        # rounding towards zero makes none longer
        return whole if surely_within(numbers, UNIT**2).all() else guarded(whole, UNIT**2)


def _check(value: object, most: int, name: str) -> None:
    if type(value) is not int or not 0 <= value <= most:
        raise InvalidParameterError(f"{name} must be an integer from 0 to {most}, got {value!r}")


def second_weights(second: Second, scalar: int) -> tuple[float, float]:
    """Return what squares are multiplied by, and products of two different coordinates."""
    if second == "matrix":
        return _ROOT_HALF / _WHOLE, 1.0
    return scalar / 1024.0, 0.0


def _rounded(move: Fraction, coordinates: int) -> Fraction:
    """Square of a move by so many coordinates that are rounded by less than 5/2 steps.

    ``(M + e)^2 <= M^2 + 7 e`` for ``M <= 3`` and ``e <= 1``.
    """
    root = math.isqrt(coordinates - 1) + 1 if coordinates else 0
    return move + Fraction(35 * root, 2 * UNIT)


def _second_size(dim: int, second: Second) -> int:
    return {"none": 0, "scalar": 1, "matrix": dim * (dim + 1) // 2}[second]


def _second(rows: Integers, second: Second, scalar: int) -> Integers:
    """Return ``scalar / 2^10`` times the square of rows, or their products over ``sqrt(2)``."""
    if second == "none":
        return np.empty((len(rows), 0), dtype=np.int64)
    if second == "matrix":
        return _outer(rows, _ROOT_HALF, _WHOLE)
    high, low = rows >> _LOW, rows & _MASK
    middle = 2 * (high * low).sum(axis=1) + ((low * low).sum(axis=1) >> _LOW)
    square = ((high * high).sum(axis=1) << 10) + (middle >> 10)  # of the row, over 2^30
    return np.asarray(scalar * square[:, None] >> 20)


def _outer(rows: Integers, on: int, above: int) -> Integers:
    """Return the diagonal of ``v v^T`` times ``on``, and what is above it times ``above``."""
    squares = _times(_products((rows, rows)), on)
    parts = [_products((rows[:, i, None], rows[:, i + 1 :])) for i in range(rows.shape[1])]
    return np.concatenate([squares, *(_times(part, above) for part in parts)], axis=1)


def _times(whole: Integers, weight: int) -> Integers:
    """Multiply integers of at most ``2^40`` in size by ``weight / 2^22``, towards zero."""
    if weight == _WHOLE:
        return whole
    return np.asarray(np.sign(whole) * (np.abs(whole) * weight >> 22))


def _products(*pairs: Sequence[Integers]) -> Integers:
    """Add products of two integers, and divide by ``UNIT`` towards zero.

    Of at most two pairs of at most ``UNIT`` in size.
    """
    high = low = np.zeros((), dtype=np.int64)
    for first, second in pairs:
        high = high + (first >> _LOW) * second
        low = low + (first & _MASK) * second
    middle = high + (low >> _LOW)  # over 2^20, rounded down
    up = np.where(middle < 0, _MASK + ((low & _MASK) != 0), 0)
    return np.asarray((middle + up) >> _LOW)
