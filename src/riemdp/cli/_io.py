"""Arrays from and to files. Messages never repeat what a file holds."""

from __future__ import annotations

import math
import os
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from riemdp import _files, io
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp.statistics import Records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Formats whose rows are whatever somebody says that they are.
_WITH_UNIT = (".parquet", ".zarr", ".nii", ".gz")
_ADVICE = "if you trust the file and memory allows, raise it with --max-numbers"


def read_array(path: Path, key: str | None = None, most: int | None = None) -> NDArray[Any]:
    """Read an array of real numbers; see :func:`riemdp.io.read` for formats and errors.

    ``key`` names the array in an ``.npz``; what a file declares is checked against ``most`` numbers
    before it is read.
    """
    return io.read(path, key, most, _ADVICE)


@dataclass(frozen=True)
class DataOptions:
    """What the command line says of a file of records, before it is opened.

    ``key`` and ``most`` are as :func:`read_array` takes them, ``columns`` has names with commas
    between them, and the others are as :func:`riemdp.io.read_records` takes them. What a row
    is may be left out for one array in a ``.npy``, ``.npz`` or ``.csv``, as it stands there.
    """

    path: Path
    key: str | None
    most: int | None
    _: KW_ONLY
    columns: str | None = None
    layout: str | None = None
    unit: str | None = None
    mask: Path | None = None
    labels: str | None = None
    covariates: str | None = None
    weights: str | None = None
    users: str | None = None

    def check(self) -> None:
        """Raise ``InvalidParameterError`` for options that do not go together; no file is read."""
        if not all(self._names()):
            raise InvalidParameterError("--points must be names with commas between them")
        if self.key is not None and self.columns is not None:
            raise InvalidParameterError("--key and --points name the same: give one of them")
        if self.layout is not None and self.layout not in io.layouts():
            raise InvalidParameterError(f"--layout must be one of {', '.join(io.layouts())}")
        names = self._names() if self.key is None else [self.key]
        if not self._plain():
            io.check_names(
                self.path,
                names,
                has_extras=bool(self._extras()),
                has_mask=self.mask is not None,
            )
        if not self._plain() and self.unit is None and self.users is None:
            raise InvalidParameterError(
                f"say what a row of {self.path.name} is, --unit person for one person each, or "
                "name the column of users whose rows they are"
            )

    def row(self) -> NDArray[Any] | None:
        """Return what a row would be, all zeros; None where the options do not say how long it is.

        ``InvalidParameterError`` if the layout takes another number of columns.
        """
        if self.columns is None or self.path.suffix.lower() != ".csv":
            return None
        return io.points_of(np.zeros((1, len(self._names()))), self.layout, self.path)

    def records(self) -> Records:
        """Read the records with what belongs to them, as :func:`riemdp.io.read_records`."""
        if self._plain():
            rows = read_array(self.path, self.key, self.most)
            points = io.points_of(rows, self.layout, self.path) if self.layout else rows
            return Records(points, unit=self.unit)
        return io.read_records(
            self.path,
            self._names() if self.key is None else [self.key],
            unit=self.unit,
            layout=self.layout,
            mask=self.mask,
            most=self.most,
            advice=_ADVICE,
            **self._extras(),
        )

    def _names(self) -> list[str]:
        return [] if self.columns is None else [each.strip() for each in self.columns.split(",")]

    def _extras(self) -> dict[str, Any]:
        names = ("labels", "covariates", "weights", "users")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def _plain(self) -> bool:
        """Whether one array is read as the library always did."""
        named = self.columns is not None or self._extras() or self.mask is not None
        return not named and self.path.suffix.lower() not in _WITH_UNIT


def read_point(path: Path, point_shape: tuple[int, ...], most: int | None = None) -> NDArray[Any]:
    """Read one point, in its shape or flattened row by row."""
    array = read_array(path, most=most)
    if array.size != math.prod(point_shape):
        raise NotOnManifoldError(
            f"a point has shape {point_shape}, the array in {path.name} has {array.shape}"
        )
    return array.reshape(point_shape)


def read_users(path: Path, most: int | None = None) -> list[int] | list[str]:
    """Read whose record each is: integers from an array, or texts from the lines of a ``.txt``."""
    if path.suffix.lower() == ".txt":
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        ids = [line.strip() for line in lines]
        if "" in ids:
            raise InvalidParameterError(
                f"line {ids.index('') + 1} of {path.name} is blank: it must say whose each record "
                "is; leave out records of which nobody knows"
            )
        return ids
    try:
        found = read_array(path, most=most)
    except InvalidParameterError as error:
        raise InvalidParameterError(
            f"{error}; ids that are texts are read from a .txt, one in each line"
        ) from None
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or not np.array_equal(found, np.round(found)):
        raise InvalidParameterError(
            f"{path.name} must hold an integer for each record, or be a .txt with an id in each "
            "line"
        )
    return [int(each) for each in found]


def check_readable(*paths: Path | None) -> None:
    """Refuse files that are not there, before anything is charged; none is opened."""
    for path in paths:
        if path is None:
            continue
        is_there = path.is_dir() if path.suffix.lower() == ".zarr" else path.is_file()
        if not (is_there and os.access(path, os.R_OK)):
            raise InvalidParameterError(f"{path.name} is no file that can be read")


def check_output(
    path: Path | None,
    suffixes: tuple[str, ...],
    inputs: Iterable[Path] = (),
    outputs: Iterable[Path | None] = (),
    *,
    new: bool = False,
) -> Path | None:
    """Check that a file can be written there, before anything is drawn.

    Returns where it is to be written, links followed; None for None. Refused is another suffix, and
    what :func:`riemdp._files.check_output` refuses; with ``new`` a file that is there, too.
    """
    if path is None:
        return None
    if path.suffix.lower() not in suffixes:
        raise InvalidParameterError(f"{path.name} must end in {' or '.join(suffixes)}")
    target = _files.check_output(path, inputs, (other for other in outputs if other is not None))
    if new and target.exists():
        raise InvalidParameterError(
            f"{path.name} is there already, and what is paid for is never overwritten: name "
            "another file"
        )
    return target


def write_array(file: IO[bytes], point: FloatArray, suffix: str) -> None:
    """Write one point: ``.npy``, ``value`` of an ``.npz``, or a row of ``.csv`` with all digits."""
    if suffix.lower() == ".npy":
        np.save(file, point, allow_pickle=False)
    elif suffix.lower() == ".npz":
        np.savez_compressed(file, value=point)
    else:
        np.savetxt(file, point.reshape(1, -1), delimiter=",", fmt="%.17g")
