"""Whether two data sets are neighbours: equally many records, at most one of them replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from riemdp._checks import plain_array
from riemdp._errors import InvalidParameterError


def check_neighbours(dataset: object, neighbour: object) -> None:
    """Check that data sets differ in one record at most; the first axis counts records.

    Arrays, numbers and sequences are checked, anything else is taken as it is. The same data set
    twice passes: a record may be replaced by itself.

    Raises
    ------
    InvalidParameterError
        If the shapes differ or more than one record does. The message has no records in it.
    """
    if not (_is_plain(dataset) and _is_plain(neighbour)):
        return
    first, second = _array(dataset), _array(neighbour)
    if first.shape != second.shape:
        raise InvalidParameterError(
            f"dataset and neighbour must have the same number of records of the same shape, got "
            f"{first.shape} and {second.shape}; neighbours differ by replacing one record, not by "
            "adding or removing it"
        )
    if first.size == 0:
        raise InvalidParameterError("dataset and neighbour have no records")
    changed = _changed(first, second)
    if changed > 1:
        raise InvalidParameterError(
            f"dataset and neighbour differ in {changed} records and are not neighbours: one record "
            "may be replaced; a single record that is an array needs a leading axis, x[None]"
        )


def same_records(first: object, second: object) -> bool:
    """Whether two arrays or sequences hold the same records."""
    one, other = _array(first), _array(second)
    return one.shape == other.shape and _changed(one, other) == 0


def _changed(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> int:
    """Count the records in which two arrays of one shape differ."""
    if "O" in (first.dtype.kind, second.dtype.kind) and first.ndim:
        return sum(not _equal(a, b) for a, b in zip(first, second, strict=True))
    differs = np.asarray(first != second)
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        differs &= ~(np.isnan(first) & np.isnan(second))
    rows = (
        differs.reshape(len(differs), -1).any(axis=1) if differs.size and differs.ndim else differs
    )
    return int(np.count_nonzero(rows))


def _equal(first: Any, second: Any) -> bool:
    """Whether two records are equal, arrays of different shapes among them."""
    if first is second:
        return True
    one, other = np.asarray(first), np.asarray(second)
    numbers = one.dtype.kind in "fc" and other.dtype.kind in "fc"
    return bool(np.array_equal(one, other, equal_nan=numbers))


def _is_plain(dataset: object) -> bool:
    return isinstance(dataset, (np.ndarray, np.generic, list, tuple, int, float, bool)) or hasattr(
        dataset, "__array__"
    )


def _array(dataset: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """Return a data set as an array; records of different kinds as objects."""
    array = plain_array(dataset, "a data set")
    if array is None:
        array = np.empty(len(dataset), dtype=object)
        for row, record in enumerate(dataset):
            array[row] = record
    return array
