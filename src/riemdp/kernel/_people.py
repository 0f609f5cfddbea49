"""People: one integer row each, of the rows of all own records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

#: Bits of the lower halves of entries, which are added apart from the upper ones.
_LOW = 21


def means_of_owners(
    parts: Iterable[NDArray[np.int64]], owners: NDArray[np.intp]
) -> Iterator[NDArray[np.int64]]:
    """Yield the mean of the rows of each owner, every entry rounded towards zero.

    Exactly, so that the order of an owner's rows does not count, and no other owner's rows do. A
    mean is no longer than the longest of its rows, and means of two owners are at most
    ``sqrt(d)`` farther apart than two of their rows may be: docs/proofs/neighbours.md, claim 6.

    Parameters
    ----------
    parts : iterable of ndarray of int64, shape (m, d)
        Rows, one part after the other, with entries of at most ``2^42`` in size, as
        :func:`guarded` returns them.
    owners : ndarray of int, shape (n,)
        Whose each row is, from 0; in rising order. One owner has fewer than ``2^41`` rows.

    Yields
    ------
    ndarray of int64, shape (k, d)
        Of the owners in order; how many come at a time says nothing.
    """
    start, carried, last = 0, None, owners[:0]
    for rows in parts:
        each = np.ones((len(rows), 1), dtype=np.int64)
        words = np.concatenate([rows >> _LOW, rows & (2**_LOW - 1), each], axis=1)
        whose = np.append(last, owners[start : start + len(rows)])
        start += len(rows)
        if carried is not None:  # sums of the rows so far of who may have more
            words = np.concatenate([carried, words])
        first = np.flatnonzero(np.diff(whose, prepend=-1))
        sums = np.add.reduceat(words, first, axis=0) if len(first) else words
        yield _quotients(sums[:-1])
        carried, last = sums[-1:], whose[-1:]
    if carried is not None:
        yield _quotients(carried)


def _quotients(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Divide sums of upper and lower halves of k rows by k, the last entry, towards zero."""
    number = sums[:, -1:]
    high, low = np.split(sums[:, :-1], 2, axis=1)
    whole, rest = np.divmod(high, number)
    # rest < k and low < k 2^21: both terms are under 2^62
    part, rest = np.divmod((rest << _LOW) + low, number)
    floor = (whole << _LOW) + part
    return floor + np.where(floor < 0, np.sign(rest), 0)  # a rest is at least 0
