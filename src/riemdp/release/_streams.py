"""Records that are read a part at a time: chunks, files, arrays of Zarr."""

from __future__ import annotations

import contextlib
import functools
import math
import mmap
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._checks import count, kind_of, shown
from riemdp._combinations import (
    BESIDE_CHUNKS,
    NEEDS_ALL,
    PEOPLE_IN_CHUNKS,
    READ_ONCE,
    STATED_IS_PRIVATE,
)
from riemdp._discreet import discreetly
from riemdp._errors import (
    InvalidParameterError,
    RiemdpError,
    UnsupportedError,
    UnsupportedNeighboursError,
)
from riemdp._zarr_arrays import bounded, check_written, is_zarr, whole
from riemdp.release._offer import passes
from riemdp.release._unopened import (
    Source,
    check_given,
    check_number,
    check_places,
    check_several_labels,
    shape_of,
)
from riemdp.statistics import Chunks, Neighbours, Records, Streamed, as_records, check_extras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from riemdp.release._offer import Offer
    from riemdp.release._options import Person
    from riemdp.statistics import Summaries


# Rows of a Zarr array, of which chunks that nobody wrote are no records.

#: Stores of Zarr that are not in the memory of a process.
_STORES = ("LocalStore", "ZipStore", "FsspecStore", "ObjectStore")


@dataclass(frozen=True)
class RowsOfZarr:
    """Some rows of a Zarr array, as zarr sends it anywhere.

    Attributes
    ----------
    array : object
    start, stop : int

    Raises
    ------
    InvalidParameterError
        When it is called, if rows may be of a chunk that nobody wrote, a codec is not known, or a
        chunk becomes too much.
    """

    array: Any
    start: int
    stop: int

    @property
    def elsewhere(self) -> bool:
        """Whether they only say where records are: the array is not in memory."""
        return type(self.array.store).__name__ in _STORES

    def __call__(self) -> NDArray[Any]:
        """Read them."""
        found = np.asarray(bounded(self.array, "the array")[self.start : self.stop])
        if self._may_be_absent(found):
            check_written(self.array, "the array")
        return found

    def _may_be_absent(self, found: NDArray[Any]) -> bool:
        """Whether all rows of a chunk have one number in a place: that of chunks without a file.

        Which chunks have one takes longer to find out.
        """
        number, size = self.array.fill_value, self.array.chunks[0]
        if number is None:
            return True
        is_nan = found.dtype.kind == "f" and np.isnan(number)
        equal = np.isnan(found) if is_nan else found == number
        if not equal.any():
            return False
        starts = np.r_[0, np.arange(-self.start % size or size, len(found), size)]
        return bool(np.logical_and.reduceat(equal, starts, axis=0).any())


def has_zarr_rows(points: Any) -> bool:
    """Whether an array is one of Zarr, with any rows; without it is what it is in memory.

    Parameters
    ----------
    points : object

    Returns
    -------
    bool
    """
    return is_zarr(points) and len(points.shape) > 0 and 0 not in points.shape


# Rows of an array in a file, which are read from there when they are needed.


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


# Records that are read a part at a time: what counts as such, and a release of them.

#: Numbers that are read at a time, and the fewest and most records that hold them.
_NUMBERS, _FEWEST, _MOST = 2**19, 2**8, 2**16
#: Most rows that a Zarr array may declare, as a small folder may declare any number.
_MOST_ROWS = 2**36
_NAMES = ("labels", "ids")
_ADVICE = (
    "if you trust the file and memory allows, let a function read it: "
    "Chunks([functools.partial(riemdp.io.read, path, most=...)], n=...)"
)
_EXTRAS = (*_NAMES, "covariates", "weights")


@dataclass(frozen=True)
class File:
    """A file of points, as :func:`riemdp.io.read` takes it.

    Attributes
    ----------
    path : Path
    """

    path: Path

    #: Whether it only says where records are, and holds none.
    elsewhere: ClassVar[bool] = True

    def __call__(self) -> NDArray[Any]:
        """Read it."""
        from riemdp.io import read

        return read(self.path, advice=_ADVICE)


@dataclass(frozen=True, eq=False)
class WithExtras:
    """A part, and what belongs to its points.

    Attributes
    ----------
    part : array_like, Records or callable
        Points, or records, or a function that returns either.
    extras : dict of str to ndarray

    Raises
    ------
    InvalidParameterError
        When it is called, if the records have some of it themselves.
    """

    part: Any
    extras: dict[str, Any] = field(repr=False)

    def __call__(self) -> Records:
        """Return both."""
        records = as_records(self.part() if callable(self.part) else self.part)
        if twice := [name for name in self.extras if getattr(records, name) is not None]:
            raise InvalidParameterError(f"give {' and '.join(twice)} once")
        return replace(records, **self.extras)


def is_stream(points: object, neighbours: Neighbours | None = None) -> bool:
    """Whether points are read a part at a time: nothing of them is opened to find out.

    Parameters
    ----------
    points : object
        :class:`Chunks`, an iterator, a memory map, a Zarr array, a list of paths or of functions.
    neighbours : Neighbours, optional
        Of which some need all records at once: an array in a file is read as a whole then.

    Returns
    -------
    bool
    """
    if is_file_of_array(points):
        return neighbours is None or not _has_units(neighbours)
    if isinstance(points, (Chunks, Iterator)):
        return True
    if isinstance(points, (list, tuple)) and points:
        return all(isinstance(one, Path) for one in points) or all(map(callable, points))
    return False


def is_file_of_array(points: object) -> bool:
    """Whether points are one array in a file: they are read in chunks, or all at once.

    Parameters
    ----------
    points : object

    Returns
    -------
    bool
    """
    return _is_mapped(points) or has_zarr_rows(points)


def _has_units(neighbours: Neighbours) -> bool:
    """Whether a relation makes something of records that several of them are needed for."""
    return type(neighbours).units is not Neighbours.units


def _is_mapped(points: Any) -> bool:
    """Whether an array is that of a file, and what is written to it is."""
    return (
        isinstance(points, np.memmap)
        and points.ndim > 0
        and points.size > 0
        and points.filename is not None
        and points.mode != "c"
        and not points.dtype.hasobject
        and isinstance(root_of(points), np.memmap)
    )


def chunks_of(points: Any, n: int | None = None, rows: int | None = None) -> Chunks:
    """Return records that are read a part at a time, as such.

    Parameters
    ----------
    points : Chunks, iterator, memmap, Zarr array, sequence of Path or of callables
        Or :class:`Records` with such points, where it is public how many each part holds: what
        belongs to them are arrays then, with an entry for each record of all parts.
    n : int, optional
        Public number of records; of arrays the length, by default.
    rows : int, optional
        Records of a chunk of an array in a file; by default some megabytes of them.

    Returns
    -------
    Chunks

    Raises
    ------
    InvalidParameterError
        If it is something else, or ``n`` contradicts it.
    """
    records = points if isinstance(points, Records) else Records(points)
    given: Any = records.points
    extras = {name: getattr(records, name) for name in _EXTRAS}
    extras = {name: values for name, values in extras.items() if values is not None}
    if isinstance(given, Chunks):
        found = given if n is None else _with_n(given, count(n, "n"))
        found = replace(found, parts=_with_files(found))
    elif _is_mapped(given):
        found = _cut(given, n, rows, rows_of_map(given))
    elif has_zarr_rows(given):
        bounded(given, "the array")  # refused before anything is charged or read
        if given.shape[0] > _MOST_ROWS:
            raise InvalidParameterError(
                f"a Zarr array may have at most {_MOST_ROWS} rows; of more give functions that "
                "return some of them: Chunks(functions, n=...)"
            )
        found = _cut(given, n, rows, RowsOfZarr)
    elif not is_stream(given):
        shape = f" of shape {given.shape}" if hasattr(given, "shape") else ""
        raise InvalidParameterError(
            "chunks are an iterator, a numpy.memmap or a Zarr array with rows, a list of paths or "
            f"of functions, or riemdp.Chunks, got {kind_of(given)}{shape}"
        )
    else:
        found = Chunks(given, n)
        found = replace(found, parts=_with_files(found))
    return _beside(found, extras) if extras else found


def _with_files(chunks: Chunks) -> Any:
    """Return parts of which those that are paths are read as files."""
    parts: Any = chunks.parts
    if isinstance(parts, Sequence):
        return list(map(_read, parts))
    if not chunks.rereadable:
        parts.check()
    return functools.partial(_reading, parts) if chunks.rereadable else _reading(parts)


def _read(part: Any) -> Any:
    return File(part) if isinstance(part, Path) else part


def _reading(parts: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Open a stream when its first part is asked for."""
    yield from map(_read, parts())


def _with_n(chunks: Chunks, n: int) -> Chunks:
    if chunks.n not in (None, n):
        raise InvalidParameterError(f"n = {shown(n)} was given, and the chunks say {chunks.n}")
    return chunks if chunks.n == n else replace(chunks, n=n)


def _cut(points: Any, n: int | None, rows: int | None, rows_of: Any) -> Chunks:
    shape = tuple(map(int, points.shape))
    check_number(n, shape[0])
    numbers = max(1, math.prod(shape[1:]), abs(getattr(points, "strides", (0,))[0]) // 8)
    step = _whole(min(max(_FEWEST, _NUMBERS // numbers), _MOST), getattr(points, "chunks", None))
    step = step if rows is None else count(rows, "rows")
    starts = range(0, shape[0], step)
    parts = [rows_of(points, start, min(start + step, shape[0])) for start in starts]
    return Chunks(parts, shape[0], sizes=step, shape=shape[1:])


def _whole(step: int, chunks: tuple[int, ...] | None) -> int:
    """Round a number of rows to whole chunks of a Zarr array, which are read as a whole."""
    size = chunks[0] if chunks else 1
    return max(size, step // size * size) if size <= 4 * step else step


def _beside(chunks: Chunks, extras: dict[str, Any]) -> Chunks:
    """Cut what belongs to points as the points are."""
    if chunks.rows(0) is None:
        raise InvalidParameterError(
            f"{' and '.join(extras)}: {BESIDE_CHUNKS}; or give them with each chunk, as "
            f"Records(points, {next(iter(extras))}=...)"
        )
    whole = {name: _column(name, values) for name, values in extras.items()}
    if any(values.ndim != 1 or len(values) != chunks.n for values in whole.values()):
        raise InvalidParameterError(
            f"{' and '.join(extras)} must be one for each point, a sequence of that length"
        )
    beside = functools.partial(_cut_beside, chunks, whole)
    if isinstance(chunks.parts, Sequence):
        return replace(chunks, parts=list(beside()))
    return replace(chunks, parts=beside if chunks.rereadable else beside())


def _cut_beside(chunks: Chunks, whole: dict[str, NDArray[Any]]) -> Iterator[WithExtras]:
    """Open a stream when its first part is asked for, and put beside each what belongs to it."""
    for number, part in chunks.tasks():
        rows = slice(*chunks.rows(number))  # type: ignore[misc]
        yield WithExtras(part, {name: values[rows] for name, values in whole.items()})


@contextlib.contextmanager
def _of_chunk(number: int) -> Iterator[None]:
    """Let errors name the chunk."""
    try:
        yield
    except RiemdpError as error:
        error.args = (f"chunk {number}: {error}",)
        raise


def _at_hand(part: Any) -> Records | None:
    """Return a part that is not opened by a function, with what was put beside it."""
    if isinstance(part, WithExtras):
        return None if _at_hand(part.part) is None else part()
    return None if callable(part) else as_records(part)


def _beside_part(part: Any) -> set[str]:
    """Return names of what was put beside a part, once or more often."""
    return {*part.extras} | _beside_part(part.part) if isinstance(part, WithExtras) else set()


def _column(name: str, values: Any) -> NDArray[Any]:
    """Return what belongs to points as an array; names in a sequence stay what they are.

    NumPy would make texts of all of them where one is a text, and floats of large integers.
    """
    if name in _NAMES and isinstance(values, (list, tuple)):
        return np.fromiter(values, dtype=object, count=len(values))
    return whole(values, name) if is_zarr(values) else np.asanyarray(values)


def no_stream(points: object, what: str) -> None:
    """Refuse chunks where all records are needed at once.

    An array in a file is read as a whole there.

    Parameters
    ----------
    points : object
    what : str
        What needs them.

    Raises
    ------
    UnsupportedError
    """
    if is_stream(points) and not is_file_of_array(points):
        raise UnsupportedError(f"{what}: {NEEDS_ALL}")


class Stream(Source):
    """Chunks that nothing was read of yet.

    Parameters
    ----------
    records : Records
        Whose points :func:`is_stream` is true of.
    neighbours : Neighbours
    listed : frozenset of (type, int or str), optional
        Ids of all people, where these are public.
    """

    def __init__(
        self, records: Records, neighbours: Neighbours, listed: frozenset[Person] | None = None
    ) -> None:
        by_person = getattr(records.points, "by_person", False)
        if records.users is not None or (_has_units(neighbours) and not by_person):
            raise UnsupportedNeighboursError(str(PEOPLE_IN_CHUNKS))
        if by_person and "users" not in neighbours.takes:
            raise InvalidParameterError(
                f"whose record each is does not count under {neighbours.name}; leave out "
                "by_person, and users, or ask for a guarantee about people"
            )
        self._records, self._neighbours, self._listed = records, neighbours, listed
        self._chunks = chunks_of(records)

    def size(self, n: int | None) -> int | None:
        """Return the public number of records; see :meth:`Source.size`."""
        if not self._neighbours.size_is_public:
            if n is not None or self._chunks.manifest is not None:
                raise InvalidParameterError(
                    f"{STATED_IS_PRIVATE.why} under {self._neighbours.title}: leave out "
                    + ("the manifest" if n is None else "n")
                )
            return None
        if self._chunks.by_person:  # people, and as many as was stated
            return n
        if n is not None:
            self._chunks = _with_n(self._chunks, count(n, "n"))
        if self._chunks.n is None:
            raise InvalidParameterError(
                "nobody counts records in chunks before they are read: give the public number of "
                "records, n=..."
            )
        return self._chunks.n

    def check(self, made: Offer) -> None:
        """Refuse more passes than can be made; see :meth:`Source.check`."""
        self._check_sent(made)
        self._check_at_hand(made)
        check_places(self._records, made)
        if self._chunks.by_person and made.n is not None:
            made.statistic.absent()
        number = sum(passes(each, made.ball) or 1 for each in made.asked)
        if number > 1:
            one = len(made.asked) == 1
            advice = "; or take the tangent mean, which needs one pass" if one else ""
            self._check_rereadable(f"the {made.statistic.name} takes {number} passes", advice)

    def opened(self, made: Offer) -> None:
        """Read all chunks once, to check them; see :meth:`Source.opened`."""
        self._check_rereadable("a check is a pass of its own")
        discreetly(made.statistic.name, self._streamed(made).check)

    def _check_rereadable(self, what: str, advice: str = "") -> None:
        if not self._chunks.rereadable:
            raise UnsupportedError(f"{what}: {READ_ONCE}{advice}")

    def _check_at_hand(self, made: Offer) -> None:
        """Refuse by names and shapes, of parts that are at hand too; none is opened."""
        statistic, manifold = made.statistic, made.ball.manifold
        if is_file_of_array(self._records.points):
            check_given(self._records, self._neighbours, statistic, manifold, made.n)
            return
        beside: dict[str, Any] = dict.fromkeys({*self._records.extras, *statistic.takes}, ())
        check_extras(Records((), **beside), statistic.takes, statistic.name)
        check_several_labels(self._neighbours, statistic)
        if isinstance(self._chunks.parts, Sequence):
            self._check_parts(made, list(map(_at_hand, self._chunks.parts)))

    def _check_parts(self, made: Offer, parts: list[Records | None]) -> None:
        """Refuse what parts that are at hand, None of the others, cannot be computed of."""
        came, manifest = 0, self._chunks.manifest
        n = None if self._chunks.by_person else made.n
        for number, records in enumerate(parts):
            if records is None:
                continue
            rows = None if n is None else self._chunks.rows(number)
            manifold = None if self._chunks.read else made.ball.manifold
            with _of_chunk(number):
                if records.users is not None and not self._chunks.by_person:
                    raise UnsupportedNeighboursError(str(PEOPLE_IN_CHUNKS))
                if self._chunks.by_person and records.ids is not None:
                    raise InvalidParameterError("with by_person chunks have no ids: leave them out")
                if manifest is not None and records.ids is None:
                    raise InvalidParameterError("with a manifest all records have ids")
                found = shape_of(records.points) or (None,)
                if rows is not None and found[0] not in (None, rows[1] - rows[0]):
                    raise InvalidParameterError(
                        f"its size is not the {rows[1] - rows[0]} that was stated; leave out sizes "
                        "where records may be missing"
                    )
                if found[0] != 0:  # of no records nothing is read
                    check_given(records, self._neighbours, made.statistic, manifold, None)
                came += found[0] or 0
        if n is None:
            return
        if came > n or not parts:
            what = "there are more records than" if parts else "there are no chunks, and"
            raise InvalidParameterError(f"{what} n = {n}")
        if came < n and made.statistic.takes and None not in parts:
            raise InvalidParameterError(
                f"there are fewer records than n = {n}, and nobody knows the "
                f"{' or '.join(made.statistic.takes)} of those that are missing"
            )

    def _check_sent(self, made: Offer) -> None:
        """Refuse private values that are at hand, where a mapper sends public ones only."""
        if not getattr(self._chunks.mapper, "public_only", False):
            return
        parts: Any = self._chunks.parts
        if private := sorted(set().union(*map(_beside_part, parts)) - {*made.statistic.by_place}):
            raise InvalidParameterError(
                f"{' and '.join(private)} would be sent to workers, and private values are not: "
                f"give them with each chunk, as Records(points, {private[0]}=...) that a function "
                "returns, and name the statistic that takes them, private_statistic(...)"
            )

    def seen(self, made: Offer) -> Summaries:
        """Return what reads them; see :meth:`Source.seen`."""
        return self._streamed(made)

    def _streamed(self, made: Offer) -> Streamed:
        listed = None if self._listed is None else [one for _, one in self._listed]
        return Streamed(
            made.ball,
            self._chunks,
            made.statistic,
            made.n,
            keeps_places=self._neighbours.keeps_places,
            people=self._neighbours if self._chunks.by_person else None,
            listed=listed,
        )
