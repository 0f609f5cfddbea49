"""The guard: integer rows that are longer than is stated do not count as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: No coordinate of a row that counts is larger in size.
_LARGEST = 2**42


def guarded(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return a copy of integer rows in which those that are too long are zero.

    The copy is checked: the caller may change the rows meanwhile.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, m)
    most : int
        Public: largest sum of squares of a row. No coordinate is over ``2^42`` either.

    Returns
    -------
    ndarray of int64, shape (n, m)
        In C order.
    """
    own = np.array(rows, dtype=np.int64, order="C")
    own[~within(own, most)] = 0
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
    found = surely_within(rows, min(most, _LARGEST**2))
    rest = np.flatnonzero(~found)
    # without abs: that of -2^63 is itself
    rest = rest[(np.clip(rows[rest], -_LARGEST, _LARGEST) == rows[rest]).all(axis=1)]
    found[rest] = [sum(x * x for x in row) <= most for row in rows[rest].tolist()]
    return found


def surely_within(rows: NDArray[np.int64] | NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Say of rows, of integers or of floats, which a sum in float64 proves within.

    It errs by a share of at most m 2^-53, to first order, of integers under ``2^53``; larger ones
    have a square over any limit up to ``2^105``. What is no number is not within.
    """
    numbers = np.asarray(rows, dtype=np.float64)
    limit = float(most) * (1.0 - (rows.shape[1] + 4.0) * 2.0**-52)
    return np.asarray(np.einsum("ij,ij->i", numbers, numbers) <= limit)
