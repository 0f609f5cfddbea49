"""Arrays from and to files. Messages never repeat what a file holds."""

from __future__ import annotations

import io
import math
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from riemdp import _files
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._files import MOST_NUMBERS, opened, read_npy, read_npz, too_many

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

_ADVICE = "raise it with --max-numbers if memory allows"
#: Most characters in one row of a ``.csv``.
_LONGEST_ROW = 2**26


def read_array(path: Path, key: str | None = None, most: int = MOST_NUMBERS) -> NDArray[Any]:
    """Read an array of real numbers from ``.npy``, ``.npz`` or ``.csv``.

    Parameters
    ----------
    path : Path
        The suffix decides the format. Pickled objects are refused. A ``.csv`` has numbers and
        commas only, one record in a row.
    key : str, optional
        Name of the array in an ``.npz``; needed when it holds more than one.
    most : int
        Most numbers in it. What a file declares is checked before it is read.

    Raises
    ------
    InvalidParameterError
        If the file is damaged, not of its format or too large, or the key is missing or does not
        fit.
    OSError
        If the file cannot be opened.
    """
    suffix = path.suffix.lower()
    if key is not None and suffix != ".npz":
        raise InvalidParameterError(f"--key is for .npz files, got {path.name}")
    if suffix == ".npy":
        return read_npy(path, most, _ADVICE)
    if suffix == ".npz":
        return read_npz(path, key, most, _ADVICE)
    if suffix == ".csv":
        return _load_csv(path, most)
    raise InvalidParameterError(f"a file must be .npy, .npz or .csv, got {path.name}")


def read_point(path: Path, point_shape: tuple[int, ...], most: int = MOST_NUMBERS) -> NDArray[Any]:
    """Read one point, in its shape or flattened row by row.

    Raises
    ------
    NotOnManifoldError
        If the file does not hold as many numbers as the point needs.
    """
    array = read_array(path, most=most)
    if array.size != math.prod(point_shape):
        raise NotOnManifoldError(
            f"a point has shape {point_shape}, the array in {path.name} has {array.shape}"
        )
    return array.reshape(point_shape)


def check_output(
    path: Path | None,
    suffixes: tuple[str, ...],
    inputs: Iterable[Path] = (),
    outputs: Iterable[Path | None] = (),
) -> Path | None:
    """Check that a file can be written there, before anything is drawn.

    Returns
    -------
    Path or None
        Where it is to be written, links followed; None for None.

    Raises
    ------
    InvalidParameterError
        If the suffix is not one of these, or :func:`riemdp._files.check_output` refuses.
    """
    if path is None:
        return None
    if path.suffix.lower() not in suffixes:
        raise InvalidParameterError(f"{path.name} must end in {' or '.join(suffixes)}")
    return _files.check_output(path, inputs, (other for other in outputs if other is not None))


def write_array(file: IO[bytes], point: NDArray[np.float64], suffix: str) -> None:
    """Write one point as ``.npy``, or as a single ``.csv`` row with all digits."""
    if suffix.lower() == ".npy":
        np.save(file, point, allow_pickle=False)
    else:
        np.savetxt(file, point.reshape(1, -1), delimiter=",", fmt="%.17g")


def _load_csv(path: Path, most: int) -> NDArray[Any]:
    # In latin-1 every byte is a character, and those that are no number NumPy refuses.
    with opened(path) as binary, io.TextIOWrapper(binary, encoding="latin-1") as file:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # an empty file is only warned about
                return np.loadtxt(_rows(file, path, most), delimiter=",", ndmin=2, dtype=np.float64)
        except (ValueError, UserWarning) as error:
            if isinstance(error, InvalidParameterError):
                raise
    # NumPy's own message repeats the cell it could not read.
    raise InvalidParameterError(
        f"{path.name} must have rows of equally many numbers with commas between them, "
        "without a header"
    )


def _rows(file: io.TextIOWrapper, path: Path, most: int) -> Iterator[str]:
    """Rows of a file, up to so many numbers; a row without end is too many."""
    left = most
    while row := file.readline(_LONGEST_ROW):
        left -= row.count(",") + 1
        if left < 0 or len(row) == _LONGEST_ROW:
            raise too_many(path, most, _ADVICE)
        yield row
