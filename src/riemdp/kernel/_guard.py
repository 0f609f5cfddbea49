"""The guard: integer rows that are longer than is stated do not count as they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Bits of coordinates; and of their lower halves, of whose products int64 adds ``_SEGMENT``.
_BITS, _LOW = 42, 21
_SEGMENT = 2**20


def guarded(
    rows: NDArray[np.int64], most: int, fallback: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """Return a copy of integer rows in which those that are too long are replaced.

    The copy is checked: the caller may change the rows meanwhile.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, m)
    most : int
        Public: largest sum of squares of a row. No coordinate is over ``2^42`` either.
    fallback : sequence of int, length m, optional
        What a longer row counts as, a public row; zero by default.

    Returns
    -------
    ndarray of int64, shape (n, m)
        In C order.
    """
    own = np.array(rows, dtype=np.int64, order="C")
    inside = within(own, most)
    if not inside.all():
        own[~inside] = 0 if fallback is None else np.array(fallback, dtype=np.int64)
    return own


def within(rows: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Say of integer rows, exactly, which have a sum of squares of at most ``most``.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, m)
    most : int
        At least 0.

    Returns
    -------
    ndarray of bool, shape (n,)
        False, too, where a coordinate is over ``2^42``.
    """
    largest = min(math.isqrt(most), 2**_BITS)
    # without abs: that of -2^63 is itself
    if -largest <= rows.min(initial=0) and rows.max(initial=0) <= largest:
        found = np.ones(len(rows), dtype=bool)
    else:
        found = np.asarray(((rows >= -largest) & (rows <= largest)).all(axis=-1))
    known = np.flatnonzero(found)
    short = rows if len(known) == len(rows) else rows[known]
    found[known[~surely_within(short, most)]] = False
    rest = known[~found[known]]
    if len(rest):
        found[rest] = [square <= most for square in _squares(rows[rest])]
    return found


def surely_within(rows: NDArray[np.int64] | NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Say of rows, of integers under ``2^53`` or of floats, which a sum in float64 proves within.

    It errs by a share of at most m 2^-53, to first order. What is no number is not within.
    """
    numbers = np.asarray(rows, dtype=np.float64)
    limit = float(most) * (1.0 - (rows.shape[-1] + 4.0) * 2.0**-52)
    return np.asarray(np.einsum("ij,ij->i", numbers, numbers) <= limit)


def _squares(rows: NDArray[np.int64]) -> list[int]:
    """Add up squares of coordinates of at most ``2^42`` in size."""
    found = [0] * len(rows)
    for start in range(0, rows.shape[-1], _SEGMENT):
        some = rows[:, start : start + _SEGMENT]
        # x = high 2^21 + low, |high| <= 2^21 and 0 <= low < 2^21: 2^20 products add up to 2^62
        high, low = some >> _LOW, some & (2**_LOW - 1)
        words = ((a * b).sum(axis=-1).tolist() for a, b in ((high, high), (high, low), (low, low)))
        found = [
            known + (squares << 2 * _LOW) + (mixed << _LOW + 1) + rest
            for known, squares, mixed, rest in zip(found, *words, strict=True)
        ]
    return found
