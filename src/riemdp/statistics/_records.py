"""Records in a public ball, in the forms that means are computed from."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import UnsupportedBallError
from riemdp.kernel import UNIT

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.kernel import Sum
    from riemdp.spaces import Ball, FloatArray


def joined(first: Any, second: Any) -> Any:
    """Join two chunks: arrays, alone or in nested tuples, one after the other; sums are added."""
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    if isinstance(first, tuple):
        return tuple(joined(*pair) for pair in zip(first, second, strict=True))
    return first + second


def record_coordinates(ball: Ball, data: FloatArray) -> FloatArray:
    """Clipped coordinates ``(n, dim)``; of a record beyond the range of float64 the centre's.

    See :meth:`riemdp.spaces.Ball.coordinates`.
    """
    with np.errstate(all="ignore"):
        coordinates = ball.coordinates(data)
    finite = np.isfinite(coordinates)
    if finite.all():  # along rows it takes several times as long
        return coordinates
    return np.where(finite.all(axis=-1, keepdims=True), coordinates, 0.0)


def whole_weights(weights: ArrayLike) -> NDArray[np.int64]:
    """Return weights in units of ``1 / UNIT``, rounded down, each by itself.

    Parameters
    ----------
    weights : array_like, shape (n,)
        In [0, 1].

    Returns
    -------
    ndarray of int, shape (n,)
    """
    # a power of two rounds nothing
    return (np.asarray(weights, dtype=np.float64) * UNIT).astype(np.int64)


def mean_of(total: Sum, length: float | Fraction) -> tuple[Fraction, ...]:
    """Return the mean of rows, as rational numbers, in units of which one is so long."""
    each = Fraction(length) / (total.count * UNIT)
    above, below = each.numerator, each.denominator  # to reduce fractions once
    return tuple(Fraction(whole * above, below) for whole in total.total)


def check_inside(ball: Ball, data: FloatArray) -> None:
    """Require data in a ball; ``UnsupportedBallError`` names the first row that is outside."""
    outside = ~ball.contains(data)
    if outside.any():
        raise UnsupportedBallError(
            f"row {int(np.argmax(outside))} lies outside the ball; clip the data first with "
            "ball.project(points), or choose a larger ball"
        )
