"""Sums of integer rows, which are checked here and added without overflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.kernel._guard import guarded

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Integers of 42 bits that int64 adds.
_ROWS = 2**20
#: Bits of the lower parts of coordinates and weights, whose products int64 adds.
_COORDINATE, _WEIGHT = 21, 20


@dataclass(frozen=True)
class Sum:
    """Sum of the rows of so many records, or of so much weight of them."""

    total: tuple[int, ...]  # one for each coordinate
    count: int

    def __add__(self, other: Sum) -> Sum:
        total = tuple(a + b for a, b in zip(self.total, other.total, strict=True))
        return Sum(total, self.count + other.count)


def added(rows: NDArray[np.int64], most: int) -> Sum:
    """Add rows of integers; those that are too long count as zero.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, m)
    most : int
        See :func:`guarded`.

    Returns
    -------
    Sum
    """
    inside = guarded(rows, most)
    total = np.zeros(inside.shape[1], dtype=object)  # Python's integers
    for start in range(0, len(inside), _ROWS):
        total = total + inside[start : start + _ROWS].sum(axis=0).astype(object)
    return Sum(tuple(total.tolist()), len(inside))


def added_with_weights(rows: NDArray[np.int64], whole: NDArray[np.int64], most: int) -> Sum:
    """Add rows of integers times weights; those that are too long count as zero.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, m)
    whole : ndarray of int64, shape (n,)
        Weights, at least 0 and at most ``2^40``.
    most : int
        See :func:`guarded`.

    Returns
    -------
    Sum
        Its count is the sum of the weights.
    """
    return Sum(added_products(guarded(rows, most), whole), sum_of(whole))


def sum_of(whole: NDArray[np.int64]) -> int:
    """Add integers ``(n,)`` of at most ``2^42`` in size."""
    return sum(int(whole[i : i + _ROWS].sum()) for i in range(0, len(whole), _ROWS))


def added_products(rows: NDArray[np.int64], whole: NDArray[np.int64]) -> tuple[int, ...]:
    """Add rows ``(n, m)`` of integers of at most ``2^42`` in size, times weights ``(n,)``.

    Weights are at least 0, at most ``2^40``.
    """
    total = np.zeros(rows.shape[1], dtype=object)  # Python's integers
    for start in range(0, len(rows), _ROWS):
        some, each = rows[start : start + _ROWS], whole[start : start + _ROWS]
        # x = high 2^21 + low with 0 <= low < 2^21, so that |products| <= 2^41, 2^20 of them 2^61
        for left, up in ((some >> _COORDINATE, _COORDINATE), (some & (2**_COORDINATE - 1), 0)):
            for right, further in ((each >> _WEIGHT, _WEIGHT), (each & (2**_WEIGHT - 1), 0)):
                total = total + ((right @ left).astype(object) << (up + further))
    return tuple(total.tolist())
