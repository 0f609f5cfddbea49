"""Tiles: records in arrays of one shape, so that what becomes of one depends on that alone.

The arrays that a function of records is given have one shape, one order in memory and one type of
numbers, whatever the data are, and what is not filled by records is filled by a public one: of all
that can choose another way through NumPy and BLAS, a record's place and its neighbours are left.
That neither counts is plain of elementwise code; of stacked products and decompositions it is
believed, tested by the laws, and of places at the start of each question: :func:`places_are_alike`.
"""

from __future__ import annotations

import copy
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

#: Entries of points in a tile at most, but for longer points, of which each has one; and rows.
_ENTRIES, _ROWS = 2**16, 1024


def rows_for(shape: Sequence[int]) -> int:
    """Return how many rows a tile of points of a shape has.

    Parameters
    ----------
    shape : sequence of int
        Public.

    Returns
    -------
    int
        A power of two.
    """
    fits = max(1, _ENTRIES // max(1, math.prod(shape)))
    return min(_ROWS, 1 << fits.bit_length() - 1)


def tiles(
    arrays: Sequence[NDArray[Any]], fill: Sequence[Any], rows: int
) -> Iterator[tuple[tuple[NDArray[Any], ...], int]]:
    r"""Yield records in tiles, each a copy, with their number.

    Parameters
    ----------
    arrays : sequence of ndarray, shape (n, ...)
        Of any order in memory; numbers become float64 or complex128, anything else stays.
    fill : sequence of array_like, shape (...)
        A public record.
    rows : int
        Of a tile.

    Yields
    ------
    tile : tuple of ndarray, shape (rows, ...)
        Read-only.
    number : int
        How many of these rows are records: of no records one tile without any.
    """
    (count,) = {len(each) for each in arrays}
    for start in range(0, max(1, count), rows):
        number = min(rows, count - start)
        yield (
            tuple(
                _copied(each[start : start + number], one, rows)
                for each, one in zip(arrays, fill, strict=True)
            ),
            number,
        )


def _copied(some: NDArray[Any], one: Any, rows: int) -> NDArray[Any]:
    kind = {"c": np.complex128, "O": object}.get(some.dtype.kind, np.float64)
    tile = np.empty((rows, *some.shape[1:]), dtype=kind)
    with np.errstate(over="ignore"):  # a longer float beyond float64 is infinite
        tile[: len(some)] = some
    tile[len(some) :] = one
    tile.flags.writeable = False
    return tile


def in_tiles(
    function: Callable[..., Any],
    arrays: Sequence[NDArray[Any]],
    fill: Sequence[Any],
    rows: int,
) -> tuple[Any, NDArray[np.bool_]]:
    """Return what a function makes of records, tile by tile.

    Parameters
    ----------
    function : callable
        Of the arrays of a tile; returns arrays, alone or in nested tuples, each with the records
        along its first axis.
    arrays, fill, rows
        See :func:`tiles`.

    Returns
    -------
    found : ndarray, or nested tuples of them, shape (n, ...)
    lost : ndarray of bool, shape (n,)
        For which records it raises, or returns something of another form (:func:`has_form`): there
        stands what it makes of the public one.
    """
    found, lost = [], []
    public = public_row(function, arrays, fill, rows)
    for tile, number in tiles(arrays, fill, rows):
        made, raised = computed(function, tile, fill)
        if not has_form(made, public):
            made, raised = public, np.ones(number, dtype=bool)
        found.append(taken(made, slice(number)))
        lost.append(raised[:number])
    return joined(found), np.concatenate(lost)


def public_row(
    function: Callable[..., Any],
    arrays: Sequence[NDArray[Any]],
    fill: Sequence[Any],
    rows: int,
) -> Any:
    """Return what a function makes of the public record, if it is given one record at a time.

    Parameters
    ----------
    function, arrays, fill, rows
        See :func:`in_tiles`.

    Returns
    -------
    ndarray, or nested tuples of them, or None
        None of larger tiles, and where it raises.
    """
    if rows > 1:
        return None
    tile, _ = next(tiles([each[:0] for each in arrays], fill, rows))
    try:
        return copy.deepcopy(function(*tile))
    except Exception:
        return None


def has_form(found: Any, public: Any) -> bool:
    """Whether what was made of a record has the shape and the kind of entries of the public row.

    If not, it would decide how many rows there are, or what becomes of the others' numbers.

    Parameters
    ----------
    found : object
    public : object
        Of :func:`public_row`; of None anything has the form.

    Returns
    -------
    bool
    """
    if public is None:
        return True
    if isinstance(public, tuple) or isinstance(found, tuple):
        both = isinstance(public, tuple) and isinstance(found, tuple)
        return both and len(found) == len(public) and all(map(has_form, found, public))
    try:
        own, other = np.asarray(found), np.asarray(public)
    except Exception:  # of lists of several lengths
        return False
    numbers = set("biuf").issuperset((own.dtype.kind, other.dtype.kind))
    return own.shape == other.shape and (numbers or own.dtype == other.dtype)


def computed(
    function: Callable[..., Any], tile: Sequence[NDArray[Any]], fill: Sequence[Any]
) -> tuple[Any, NDArray[np.bool_]]:
    """Return what a function makes of a tile, and for which rows it raises: see :func:`in_tiles`.

    If it raises, each record is worked on in a tile of public ones, at its place.

    Raises
    ------
    Exception
        That of the function, if it raises for the public record too.
    """
    (rows,) = {len(each) for each in tile}
    lost = np.zeros(rows, dtype=bool)
    try:
        return function(*tile), lost
    except Exception:
        empty = tuple(_copied(each[:0], one, rows) for each, one in zip(tile, fill, strict=True))
        public = copy.deepcopy(function(*empty))
    alone = []
    for i in range(rows):
        row = slice(i, i + 1)
        try:
            own = map(_with_row, empty, tile, itertools.repeat(row))
            alone.append(taken(function(*own), row))
        except Exception:
            alone.append(taken(public, row))
            lost[i] = True
    return joined(alone), lost


def _with_row(empty: NDArray[Any], tile: NDArray[Any], row: slice) -> NDArray[Any]:
    own = np.array(empty)
    own[row] = tile[row]
    own.flags.writeable = False
    return own


def places_are_alike(function: Callable[..., Any], record: Sequence[Any], rows: int) -> bool:
    """Whether a function makes the same of one public record at every place of a tile.

    Parameters
    ----------
    function : callable
        See :func:`in_tiles`.
    record : sequence of array_like
        Its arrays, as ``fill`` of :func:`tiles`.
    rows : int
        Of a tile.

    Returns
    -------
    bool
        False, too, if it raises; of one row a tile it is not called.
    """
    if rows == 1:
        return True
    tile = [_copied(np.asarray(one)[None], one, rows) for one in record]
    try:
        found = function(*tile)
    except Exception:
        return False
    return _rows_are_alike(found)


def _rows_are_alike(found: Any) -> bool:
    if isinstance(found, tuple):
        return all(map(_rows_are_alike, found))
    rows = np.ascontiguousarray(found)
    return rows.tobytes() == np.repeat(rows[:1], len(rows), axis=0).tobytes()


def taken(found: Any, rows: slice | NDArray[np.bool_]) -> Any:
    """Return a copy of some rows of arrays, alone or in nested tuples.

    What made them may write what comes next to the same memory.
    """
    if isinstance(found, tuple):
        return tuple(taken(part, rows) for part in found)
    return np.array(found[rows])


def joined(parts: Sequence[Any]) -> Any:
    """Return rows, alone or in nested tuples, one after the other.

    Parameters
    ----------
    parts : sequence of ndarray, or of nested tuples of them

    Returns
    -------
    ndarray, or nested tuples of them
    """
    if all(isinstance(part, tuple) for part in parts):
        return tuple(joined(part) for part in zip(*parts, strict=True))
    return np.concatenate(parts)
