"""Arrays in Zarr, by its library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._files import check_written, too_many
from riemdp.readers._optional import library, said_plainly
from riemdp.readers._table import TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def read_zarr(
    path: Path, columns: Mapping[str, Sequence[str]], most: int, advice: str
) -> dict[str, Any]:
    """Read arrays of a Zarr group in a local folder, or the one array there, for fields of records.

    A folder that is an array has no names for its points. Several arrays of points have shape (n,)
    and are the columns of records. What the arrays declare is checked before they are read. Errors
    are those of :func:`riemdp.readers.read_records`; refused are also chunks that nobody wrote.
    """
    zarr = library("zarr", path)
    if not path.is_dir():
        path.stat()  # which says that it is not there
        raise InvalidParameterError(f"{path.name} must be a folder in which Zarr wrote arrays")
    found: dict[str, Any] = {}
    with said_plainly(path):
        node = zarr.open(str(path), mode="r")
        arrays = {
            field: [_array(node, name, path) for name in names] or [node]
            for field, names in columns.items()
        }
        if any(not hasattr(array, "shape") for each in arrays.values() for array in each):
            raise InvalidParameterError(f"name the arrays of {path.name}: it is a group of them")
        if sum(math.prod(array.shape) for each in arrays.values() for array in each) > most:
            raise too_many(path, most, advice)
        for field, each in arrays.items():
            read = [_numbers(array, path, is_points=field == "points") for array in each]
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


def _numbers(array: Any, path: Path, *, is_points: bool) -> NDArray[Any]:
    if is_points:
        check_written(array, path.name)
    kind = array.dtype.kind
    if kind not in ("fiu" if is_points else "fiuUT"):
        raise InvalidParameterError(f"{path.name} must hold real numbers in its arrays of points")
    return np.asarray(array[...])
