"""What a search computes of the records: distances, each of one record or of one pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp._discreet import discreetly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, FloatArray

#: Numbers that are worked on at once.
_CHUNK = 16384
_WHO = "the search for a ball"


class Records:
    r"""Private records, clipped to the public ball on the space of the search one by one.

    Every number that is computed of a record, or of a pair, depends on that and on public points
    alone, in every bit: one that has none in float64 counts as infinite. The points, shape (n,
    \*point_shape), are valid, inside or outside.
    """

    def __init__(self, ball: Ball, points: FloatArray) -> None:
        self._ball = ball
        self._points = discreetly(
            _WHO, lambda: np.concatenate([ball.project(rows) for (rows,) in in_chunks(points)])
        )

    def __len__(self) -> int:
        return len(self._points)

    @property
    def points(self) -> FloatArray:
        r"""Clipped records, shape (n, \*point_shape)."""
        return self._points

    def pairs(self, order: NDArray[np.int64]) -> FloatArray:
        """Distances within disjoint pairs, shape (n // 2,), which a public order of records makes.

        It is a permutation that does not depend on them.
        """
        half = len(order) // 2
        first, second = self._points[order[:half]], self._points[order[half : 2 * half]]
        return _each(self._apart, first, second)

    def distances(self, center: FloatArray) -> FloatArray:
        """Distances from a released point, shape (n,)."""
        return _each(lambda points: self._apart(center, points), self._points)

    def _apart(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances; on flat spaces the records are in the chart."""
        if self._ball.manifold.chart is None:
            return self._ball.manifold.dist(first, second)
        gap = second - first
        return np.asarray(np.sqrt(np.einsum("...i,...i->...", gap, gap)))

    def places(self, axis: FloatArray) -> FloatArray:
        """Coordinates along an axis, shape (dim,), through the public centre, shape (n,)."""
        return _each(lambda points: (self._ball.coordinates(points) * axis).sum(-1), self._points)


def _each(compute: Callable[..., FloatArray], *arrays: FloatArray) -> FloatArray:
    """Compute for each row; what fails, or is no number, is infinite."""

    def computed(*rows: FloatArray) -> FloatArray:
        try:
            return np.asarray(compute(*rows), dtype=np.float64)
        except Exception:  # of one row; which one is found by halves
            if len(rows[0]) <= 1:
                return np.full(len(rows[0]), np.inf)
        middle = len(rows[0]) // 2
        halves = [tuple(x[part] for x in rows) for part in (slice(middle), slice(middle, None))]
        return np.concatenate([computed(*half) for half in halves])

    found = discreetly(
        _WHO, lambda: np.concatenate([computed(*rows) for rows in in_chunks(*arrays)])
    )
    return np.where(np.isfinite(found), found, np.inf)


def in_chunks(*arrays: FloatArray) -> Iterator[tuple[FloatArray, ...]]:
    """Rows of arrays of one length, so many at a time that what is computed stays in the cache.

    Where they are cut depends on public numbers alone.
    """
    count = len(arrays[0])
    step = max(1, _CHUNK * count // max(arrays[0].size, 1))
    for start in range(0, max(count, 1), step):
        yield tuple(array[start : start + step] for array in arrays)


def beyond(values: FloatArray, thresholds: FloatArray) -> list[int]:
    """Numbers of values above each threshold."""
    above = len(values) - np.searchsorted(np.sort(values), thresholds, side="right")
    return [int(x) for x in above]


def below(values: FloatArray, thresholds: FloatArray) -> list[int]:
    """Numbers of values under each threshold; see :func:`beyond`."""
    return [int(x) for x in np.searchsorted(np.sort(values), thresholds, side="left")]
