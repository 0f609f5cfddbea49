"""Arrays in Zarr, by its library."""

from __future__ import annotations

import itertools
import os
import stat
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._files import most_numbers, numbers_of, too_many
from riemdp._zarr_arrays import check_codecs, whole
from riemdp.io._optional import library, said_plainly
from riemdp.io._table import TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def read_zarr(
    path: Path, columns: Mapping[str, Sequence[str]], most: int | None, advice: str
) -> dict[str, Any]:
    """Read arrays of a Zarr group in a local folder, or the one array there, for fields of records.

    A folder that is an array has no names for its points. Several arrays of points have shape (n,)
    and are the columns of records. Codecs and what the arrays declare are checked before they are
    read. Errors are those of :func:`riemdp.io.read_records`; refused are also chunks that
    nobody wrote, and codecs that are not known.
    """
    zarr = library("zarr", path)
    if not path.is_dir():
        path.stat()  # which says that it is not there
        raise InvalidParameterError(f"{path.name} must be a folder in which Zarr wrote arrays")
    limit = most_numbers(most, _stored(path))
    found: dict[str, Any] = {}
    with said_plainly(path):
        node = zarr.open(str(path), mode="r")
        arrays = {
            field: [_array(node, name, path) for name in names] or [node]
            for field, names in columns.items()
        }
        if any(not hasattr(array, "shape") for each in arrays.values() for array in each):
            raise InvalidParameterError(f"name the arrays of {path.name}: it is a group of them")
        for array in itertools.chain.from_iterable(arrays.values()):
            check_codecs(array, path.name)
        if sum(_declared(array) for each in arrays.values() for array in each) > limit:
            raise too_many(path, limit, advice)
        for field, each in arrays.items():
            read = [_numbers(array, path, limit, is_points=field == "points") for array in each]
            if field in TEXTS:
                found[field] = read[0].tolist()
            elif len(read) > 1 or field != "points":
                if any(column.ndim != 1 or len(column) != len(read[0]) for column in read):
                    raise InvalidParameterError(
                        f"arrays of {path.name} that are columns must have the shape (n,), all of "
                        "one length"
                    )
                found[field] = np.stack(read, axis=1)
            else:
                found[field] = read[0]
    return found


def _array(node: Any, name: str, path: Path) -> Any:
    try:
        return node[name]
    except (KeyError, IndexError, TypeError, ValueError):
        raise InvalidParameterError(f"{path.name} has no array {shown(name)}") from None


def _stored(path: Path) -> int:
    """Return how many bytes the files of a folder have, of which none is a pipe or a device."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            found = os.stat(os.path.join(folder, name))
            if not stat.S_ISREG(found.st_mode):
                raise InvalidParameterError(f"{path.name} holds a pipe or a device")
            total += found.st_size
    return total


def _declared(array: Any) -> float:
    """Return how many numbers an array takes in memory; of wider texts as many as are as wide."""
    width: int = array.dtype.itemsize
    return numbers_of(array.shape) * max(1.0, width / 8)


def _numbers(array: Any, path: Path, limit: int, *, is_points: bool) -> NDArray[Any]:
    if array.dtype.kind not in ("fiu" if is_points else "fiuUT"):
        raise InvalidParameterError(f"{path.name} must hold real numbers in its arrays of points")
    return whole(array, path.name, limit)
