"""What a search computes of the records: distances, each of one record or of one pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp._discreet import discreetly
from riemdp._part import is_own_throughout
from riemdp.kernel import in_tiles, places_are_alike, rows_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray

_WHO = "the search for a ball"


class Records:
    r"""Private records, clipped to the public ball on the space of the search one by one.

    Every number that is computed of a record, or of a pair, depends on that and on public points
    alone, in every bit: one that has none in float64 counts as infinite. The points, shape (n,
    \*point_shape), are valid, inside or outside; :attr:`points` are clipped.
    """

    def __init__(self, ball: Ball, points: FloatArray) -> None:
        self._ball = ball
        self.points, _ = made_of(ball, ball.project, points)

    def __len__(self) -> int:
        return len(self.points)

    def pairs(self, order: NDArray[np.int64]) -> FloatArray:
        """Distances within disjoint pairs, shape (n // 2,), which a public order of records makes.

        It is a permutation that does not depend on them.
        """
        half = len(order) // 2
        first, second = self.points[order[:half]], self.points[order[half : 2 * half]]
        return self._each(self._apart, first, second)

    def distances(self, center: FloatArray) -> FloatArray:
        """Distances from a released point, shape (n,)."""
        return self._each(lambda points: self._apart(center, points), self.points)

    def _apart(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances; on flat spaces the records are in the chart."""
        if self._ball.manifold.chart is None:
            return self._ball.manifold.dist(first, second)
        gap = second - first
        return np.asarray(np.sqrt(np.einsum("...i,...i->...", gap, gap)))

    def places(self, axis: FloatArray) -> FloatArray:
        """Coordinates along an axis, shape (dim,), through the public centre, shape (n,)."""
        return self._each(
            lambda points: (self._ball.coordinates(points) * axis).sum(-1), self.points
        )

    def _each(self, compute: Callable[..., FloatArray], *arrays: FloatArray) -> FloatArray:
        """Compute for each row; what fails, or is no number, is infinite."""
        found, lost = made_of(self._ball, compute, *arrays)
        return np.where(np.isfinite(found) & ~lost, found, np.inf)


def made_of(
    ball: Ball, compute: Callable[..., FloatArray], *arrays: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return what a function makes of each row of points, and for which it raises."""
    rows = rows_for(ball.manifold.point_shape) if is_own_throughout(ball) else 1
    fill = [ball.center] * len(arrays)
    if not places_are_alike(compute, fill, rows):
        rows = 1
    return discreetly(_WHO, lambda: in_tiles(compute, arrays, fill, rows))


def beyond(values: FloatArray, thresholds: FloatArray) -> list[int]:
    """Numbers of values above each threshold."""
    above = len(values) - np.searchsorted(np.sort(values), thresholds, side="right")
    return [int(x) for x in above]


def below(values: FloatArray, thresholds: FloatArray) -> list[int]:
    """Numbers of values under each threshold; see :func:`beyond`."""
    return [int(x) for x in np.searchsorted(np.sort(values), thresholds, side="left")]
