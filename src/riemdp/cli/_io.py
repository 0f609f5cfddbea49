"""Arrays from and to files. Messages never repeat what a file holds."""

from __future__ import annotations

import math
import os
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import InvalidParameterError, NotOnManifoldError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_array(path: Path, key: str | None = None) -> NDArray[Any]:
    """Read an array of real numbers from ``.npy``, ``.npz`` or ``.csv``.

    Parameters
    ----------
    path : Path
        The suffix decides the format. Pickled objects are refused. A ``.csv`` has numbers and
        commas only, one record in a row.
    key : str, optional
        Name of the array in an ``.npz``; needed when it holds more than one.

    Raises
    ------
    InvalidParameterError
        If the file is not of its format, or the key is missing or does not fit.
    OSError
        If the file cannot be opened.
    """
    suffix = path.suffix.lower()
    if key is not None and suffix != ".npz":
        raise InvalidParameterError(f"--key is for .npz files, got {path.name}")
    if suffix in (".npy", ".npz"):
        array = _load(path, key)
    elif suffix == ".csv":
        array = _load_csv(path)
    else:
        raise InvalidParameterError(f"a file must be .npy, .npz or .csv, got {path.name}")
    if array.dtype.kind not in "fiu":
        raise InvalidParameterError(f"{path.name} must hold real numbers, got {array.dtype}")
    return array


def read_point(path: Path, point_shape: tuple[int, ...]) -> NDArray[Any]:
    """Read one point, in its shape or flattened row by row.

    Raises
    ------
    NotOnManifoldError
        If the file does not hold as many numbers as the point needs.
    """
    array = read_array(path)
    if array.size != math.prod(point_shape):
        raise NotOnManifoldError(
            f"a point has shape {point_shape}, the array in {path.name} has {array.shape}"
        )
    return array.reshape(point_shape)


def check_output(
    path: Path | None, suffixes: tuple[str, ...], inputs: tuple[Path, ...] = ()
) -> None:
    """Check that a file can be written there, before anything is drawn.

    Raises
    ------
    InvalidParameterError
        If the suffix is not one of these, the folder does not exist, the path is a folder or one
        of the inputs, or may not be written.
    """
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InvalidParameterError(f"{path.name} must end in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise InvalidParameterError(f"the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder; name a file")
    if any(path.resolve() == source.resolve() for source in inputs):
        raise InvalidParameterError(f"{path.name} is an input and would be overwritten")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InvalidParameterError(f"{path} may not be written")


def write_array(path: Path, point: NDArray[np.float64]) -> None:
    """Write one point as ``.npy``, or as a single ``.csv`` row with all digits."""
    if path.suffix.lower() == ".npy":
        np.save(path, point, allow_pickle=False)
    else:
        np.savetxt(path, point.reshape(1, -1), delimiter=",", fmt="%.17g")


def _load(path: Path, key: str | None) -> NDArray[Any]:
    """Read an ``.npy``, or one array of an ``.npz``."""
    names: list[str] | None = None
    array: Any = None
    with path.open("rb") as file:  # NumPy leaves the file open when the archive is damaged
        try:
            array = np.load(file, allow_pickle=False)
            if not isinstance(array, np.ndarray) and path.suffix.lower() == ".npz":
                names = array.files
                key = names[0] if key is None and len(names) == 1 else key
                array = array[key] if key in names else None
        except (ValueError, EOFError, zipfile.BadZipFile):
            names, array = None, None
    if isinstance(array, np.ndarray) and (names is None) == (path.suffix.lower() == ".npy"):
        return array
    if names is None or key in names:
        raise InvalidParameterError(f"{path.name} is not an {path.suffix} file of plain numbers")
    raise InvalidParameterError(f"name one array of {path.name} with --key: {', '.join(names)}")


def _load_csv(path: Path) -> NDArray[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an empty file is only warned about
            return np.loadtxt(path, delimiter=",", ndmin=2, dtype=np.float64)
    except (ValueError, UserWarning):
        # NumPy's own message repeats the cell it could not read.
        raise InvalidParameterError(
            f"{path.name} must have rows of equally many numbers with commas between them, "
            "without a header"
        ) from None
