"""The table of formats: a file's extension decides who reads it."""

from __future__ import annotations

import functools
import importlib.metadata
from typing import TYPE_CHECKING, Any

from riemdp._checks import real_array
from riemdp._discreet import unheard
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._files import ADVICE, MOST_NUMBERS, path_of, read_npy, read_npz, too_many
from riemdp.io._csv import read_csv

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: Entry points under which other packages read files: ``".ext" = "module:function"``.
GROUP = "riemdp.io"
_OWN = {".npy": read_npy, ".csv": read_csv}
_ARCHIVE = ".npz"  # of several arrays, so it alone takes a key


def extensions() -> list[str]:
    """Return the extensions that can be read, those of this library first.

    Examples
    --------
    >>> from riemdp.io import extensions
    >>> ".csv" in extensions()
    True
    """
    own = [".npy", _ARCHIVE, ".csv"]
    return [*own, *sorted(set(_installed()).difference(own))]


def read(
    path: Path | str, key: str | None = None, most: int | None = None, advice: str = ADVICE
) -> NDArray[Any]:
    r"""Read an array of real numbers; the extension of the file, in any case, decides the format.

    Parameters
    ----------
    path : Path or str
        ``.npy``, ``.npz`` or ``.csv``, or what an installed package reads. Pickled objects are
        refused.
    key : str, optional
        Name of the array in an ``.npz``; needed when it holds more than one.
    most : int, optional
        Most numbers in it: by default 2**26, and of a compressed file no more than 2**24, or 25 for
        each of its bytes where that is more. What a file of this library's formats declares is
        checked before it is read; what another package returns, afterwards.
    advice : str
        Way out, for the message about too many numbers.

    Returns
    -------
    ndarray, shape (n, \*shape of a record)

    Raises
    ------
    InvalidParameterError
        If the file is damaged, not of its format or too large, the key is missing or does not
        fit, or nothing that is installed reads the extension.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from riemdp.io import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "points.npy"), np.eye(3))
    ...     rows = read(Path(folder, "points.npy"))
    >>> rows.shape
    (3, 3)
    """
    path = path_of(path)
    suffix = path.suffix.lower()
    if suffix == _ARCHIVE:
        return read_npz(path, key, most, advice)
    if key is not None:
        raise InvalidParameterError(f"--key is for {_ARCHIVE} files, got {path.name}")
    if suffix in _OWN:
        return _OWN[suffix](path, most, advice)
    if suffix in _installed():
        return _read_foreign(_installed()[suffix], path, most, advice)
    *others, last = extensions()
    raise InvalidParameterError(
        f"a file must be {', '.join(others)} or {last}, got {path.name}; packages can read other "
        f'formats, by an entry point of the group "{GROUP}"'
    )


def _read_foreign(
    point: importlib.metadata.EntryPoint, path: Path, most: int | None, advice: str
) -> NDArray[Any]:
    most = MOST_NUMBERS if most is None else most
    try:
        with unheard():
            found = real_array(point.load()(path), f"the records of {path.name}")
    except (OSError, RiemdpError):
        raise
    except Exception as error:  # its text may hold data
        raise InvalidParameterError(
            f"{path.name} cannot be read: {type(error).__name__} in {point.value}"
        ) from None
    if found.size > most:
        raise too_many(path, most, advice)
    return found


@functools.cache
def _installed() -> dict[str, importlib.metadata.EntryPoint]:
    """Return what installed packages read, by extension."""
    return {point.name.lower(): point for point in importlib.metadata.entry_points(group=GROUP)}
