"""Tables of numbers. Messages never repeat what a file holds."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import InvalidParameterError
from riemdp._files import ADVICE, MOST_NUMBERS, opened, too_many

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

#: Most characters in one row.
_LONGEST_ROW = 2**26


def read_csv(path: Path, most: int | None = None, advice: str = ADVICE) -> NDArray[Any]:
    """Read rows of numbers with commas between them, without a header.

    Parameters
    ----------
    path : Path
    most : int, optional
        Most numbers in it.
    advice : str
        Way out, for the message about too many numbers.

    Returns
    -------
    ndarray, shape (rows, columns)

    Raises
    ------
    InvalidParameterError
        If the file is no such table, or too large.
    OSError
        If the file cannot be opened.
    """
    # In latin-1 every byte is a character, and those that are no number NumPy refuses.
    with opened(path) as binary, io.TextIOWrapper(binary, encoding="latin-1") as file:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # an empty file is only warned about
                rows = lines(file, path, most, advice)
                return np.loadtxt(rows, delimiter=",", ndmin=2, dtype=np.float64, comments=None)
        except (ValueError, UserWarning) as error:
            if isinstance(error, InvalidParameterError):
                raise
    # NumPy's own message repeats the cell it could not read.
    raise InvalidParameterError(
        f"{path.name} must have rows of equally many numbers with commas between them, "
        "without a header"
    )


def lines(file: io.TextIOWrapper, path: Path, most: int | None, advice: str) -> Iterator[str]:
    """Yield the rows of a file, up to so many numbers; a row without end is too many."""
    most = MOST_NUMBERS if most is None else most
    left = most
    while row := file.readline(_LONGEST_ROW):
        left -= row.count(",") + 1
        if left < 0 or len(row) == _LONGEST_ROW:
            raise too_many(path, most, advice)
        yield row
