"""Arrays from and to files. Messages never repeat what a file holds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from riemdp import _files, readers
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._files import MOST_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_ADVICE = "raise it with --max-numbers if memory allows"


def read_array(path: Path, key: str | None = None, most: int = MOST_NUMBERS) -> NDArray[Any]:
    """Read an array of real numbers.

    Parameters
    ----------
    path : Path
        The suffix decides the format: see :func:`riemdp.readers.read`.
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
    return readers.read(path, key, most, _ADVICE)


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
