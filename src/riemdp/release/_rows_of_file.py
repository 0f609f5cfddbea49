"""Rows of an array in a file, which are read from there when they are needed."""

from __future__ import annotations

import mmap
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True)
class StateOfFile:
    """Which file it is that a path leads to, and when it was last written to.

    Size in bytes, time in nanoseconds, the name of the machine that has seen it, and device and
    number of the file, which mean something on that machine alone.
    """

    size: int
    written: int
    node: str
    place: tuple[int, int]

    @classmethod
    def of(cls, found: os.stat_result) -> StateOfFile:
        """Return that of a file with these properties."""
        place = found.st_dev, found.st_ino
        return cls(found.st_size, found.st_mtime_ns, platform.node(), place)

    def is_still(self, other: StateOfFile) -> bool:
        """Whether it is the same file, and nobody has written to it; as far as can be seen.

        The other one was seen later, perhaps on another machine.
        """
        same = (self.size, self.written) == (other.size, other.written)
        return same and (self.node != other.node or self.place == other.place)


@dataclass(frozen=True)
class RowsOfFile:
    """Some rows of an array in a file, as a description that can be sent anywhere.

    ``offset`` is that of the first row, in bytes; ``state`` that of the file when the array was
    given: another one is refused.
    """

    path: str
    dtype: np.dtype[Any]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    state: StateOfFile | None = None
    #: Whether they only say where records are, and hold none.
    elsewhere: ClassVar[bool] = True

    def __call__(self) -> NDArray[Any]:
        """Read them; the file is not kept open, nor in memory."""
        ends = [(size - 1) * step for size, step in zip(self.shape, self.strides, strict=True)]
        first = self.offset + sum(min(end, 0) for end in ends)
        last = self.offset + sum(max(end, 0) for end in ends) + self.dtype.itemsize
        with open(self.path, "rb") as file:
            now = StateOfFile.of(os.fstat(file.fileno()))
            if self.state is not None and not self.state.is_still(now):
                raise _another("was replaced or written to after its array was given")
            file.seek(first)
            found = file.read(last - first)
        if len(found) != last - first:
            raise InvalidParameterError("the file is shorter than the array that it was to hold")
        return np.ndarray(
            self.shape, self.dtype, found, offset=self.offset - first, strides=self.strides
        )


def rows_of_map(points: Any) -> Callable[[Any, int, int], RowsOfFile]:
    """Return what describes some rows of a map of a file, or of a view of one, as the file is now.

    A function of the map, and of the first row and the one after the last.

    ``InvalidParameterError`` if another file has its name by now, as far as the system tells.
    """
    path = str(Path(points.filename).absolute())
    root = root_of(points)
    root.flush()  # what was written through the map is in the file, and in its time
    if not _is_mapped_from(root.ctypes.data, path):
        raise _another("was replaced or removed after its array was opened")
    try:
        with open(path, "rb") as file:
            state = StateOfFile.of(os.fstat(file.fileno()))
    except OSError:  # whoever reads it will say so
        state = None

    def some(points: Any, start: int, stop: int) -> RowsOfFile:
        root = root_of(points)
        place = points.ctypes.data - root.ctypes.data + root.offset + start * points.strides[0]
        shape = (stop - start, *points.shape[1:])
        return RowsOfFile(path, points.dtype, place, shape, points.strides, state)

    return some


def _is_mapped_from(address: int, path: str) -> bool:
    """Whether what is mapped at an address can be the file at a path; Linux alone says what is."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            found = next((line for line in maps if _holds(line, address)), "")
    except OSError:
        return True
    name = found.rstrip("\n").split(maxsplit=5)[5:]  # which may have spaces
    if not name or not name[0].startswith("/"):
        return True
    try:
        return os.path.samefile(name[0], path)
    except OSError:  # where it was is nothing now, or nothing that this process can see
        return not name[0].endswith(" (deleted)")


def _holds(line: str, address: int) -> bool:
    """Whether a line of /proc/self/maps is about an address."""
    first, _, last = line.partition(" ")[0].partition("-")
    return int(first, 16) <= address < int(last, 16)


def _another(what: str) -> InvalidParameterError:
    return InvalidParameterError(f"the file {what}; open it anew")


def root_of(array: Any) -> Any:
    """Return the whole array of a map that this one is a view of; None of another one."""
    base = getattr(array, "base", None)
    return array if base is None or isinstance(base, mmap.mmap) else root_of(base)
