"""Records in a public ball, in the forms that means are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import UnsupportedBallError

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial


@dataclass(frozen=True)
class IntegerSum:
    """Sum of so many records, or of so much weight of them, in steps of a grid."""

    total: tuple[int, ...]  # one for each coordinate
    count: int

    def __add__(self, other: IntegerSum) -> IntegerSum:
        total = tuple(a + b for a, b in zip(self.total, other.total, strict=True))
        return IntegerSum(total, self.count + other.count)


def joined(first: Partial, second: Partial) -> Partial:
    """Join two chunks, in the form that a solver works with: sums are added."""
    if isinstance(first, IntegerSum):
        return first + second
    if isinstance(first, tuple):
        return tuple(joined(*pair) for pair in zip(first, second, strict=True))
    return np.concatenate([first, second])


def record_coordinates(ball: Ball, data: FloatArray) -> FloatArray:
    """Clipped coordinates ``(n, dim)``; of a record beyond the range of float64 the centre's."""
    with np.errstate(all="ignore"):
        coordinates = ball.coordinates(data)
    finite = np.isfinite(coordinates).all(axis=-1, keepdims=True)
    return np.where(finite, coordinates, 0.0)


def check_inside(ball: Ball, data: FloatArray) -> None:
    """Require data in a ball; ``UnsupportedBallError`` names the first row that is outside."""
    outside = ~ball.contains(data)
    if outside.any():
        raise UnsupportedBallError(
            f"row {int(np.argmax(outside))} lies outside the ball; clip the data first with "
            "ball.project(points), or choose a larger ball"
        )
