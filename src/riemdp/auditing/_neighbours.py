"""Whether two data sets are neighbours: equally many records, at most one of them replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    differs = np.asarray(first != second)
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        differs &= ~(np.isnan(first) & np.isnan(second))
    rows = differs.reshape(len(differs), -1).any(axis=1) if differs.ndim else differs
    changed = int(np.count_nonzero(rows))
    if changed > 1:
        raise InvalidParameterError(
            f"dataset and neighbour differ in {changed} records and are not neighbours: one record "
            "may be replaced; a single record that is an array needs a leading axis, x[None]"
        )


def _is_plain(dataset: object) -> bool:
    return isinstance(dataset, (np.ndarray, np.generic, list, tuple, int, float, bool)) or hasattr(
        dataset, "__array__"
    )


def _array(dataset: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """Return a data set as an array; records of different kinds as objects."""
    try:
        return np.asarray(dataset)
    except ValueError:
        array = np.empty(len(dataset), dtype=object)
        for row, record in enumerate(dataset):
            array[row] = record
        return array
