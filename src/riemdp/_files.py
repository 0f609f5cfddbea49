"""Files: arrays and texts read up to a limit, outputs written whole or not at all.

Messages never repeat what a file holds.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import secrets
import shutil
import stat
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import kind_of
from riemdp._discreet import silence
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

#: Most numbers in one array, 512 MiB in float64: a small archive may declare terabytes.
MOST_NUMBERS = 2**26
#: Numbers that every compressed file may become, 128 MiB in float64, and numbers for each of its
#: bytes, where that is more: 200 times the file.
MOST_OF_FILE, MOST_OF_BYTE = 2**24, 25
#: Way out of a limit, for a caller in Python.
ADVICE = "if you trust the file and memory allows, give a larger one: most=..."
#: Most bytes of a text that describes something: a release, a specification.
MOST_TEXT = 2**26
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
#: The compressions that NumPy writes. Others could ask for any amount of memory.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Bytes of the widest number, and of a header with room to spare.
_WIDEST = 16
_LONGEST_HEADER = 2**16
_PIECE = 2**20
_MOST_NAMES = 20


def path_of(path: object, name: str = "path") -> Path:
    """Return what a caller names a file by as a path.

    Parameters
    ----------
    path : str or Path
    name : str
        Of the argument, for the message.

    Returns
    -------
    Path

    Raises
    ------
    InvalidParameterError
        If it is something else, or empty.
    """
    if isinstance(path, (str, Path)) and str(path):
        return Path(path)
    raise InvalidParameterError(
        f"{name} must be that of a file, a str or pathlib.Path, got {kind_of(path)}"
    )


def most_numbers(most: int | None, stored: int) -> int:
    """Return how many numbers may be decoded of so many bytes: as the caller says, or as it has.

    Parameters
    ----------
    most : int or None
        What the caller allows, however large the file is.
    stored : int
        Bytes that are compressed.
    """
    if most is not None:
        return most
    return min(MOST_NUMBERS, max(MOST_OF_FILE, MOST_OF_BYTE * stored))


def numbers_of(shape: Iterable[int]) -> int:
    """Return how many numbers an array takes; an axis of length 0 counts as one of length 1.

    Billions of records without a number take memory as well.
    """
    return math.prod(max(1, int(length)) for length in shape)


def read_npy(path: Path, most: int | None = None, advice: str = ADVICE) -> NDArray[Any]:
    """Read the array of real numbers in an ``.npy`` file.

    What the file declares is checked against ``most`` numbers before it is read; ``advice`` is the
    way out, for the message about too many. A file that is damaged, or holds other things, raises
    :class:`InvalidParameterError`, one that cannot be opened ``OSError``.
    """
    with opened(path) as file, _damage(path):
        return _read_array(file, path, MOST_NUMBERS if most is None else most, advice)


def map_npy(path: Path) -> NDArray[Any]:
    """Return the array of real numbers in an ``.npy`` file as a map, of which nothing is read yet.

    Errors are those of :func:`read_npy`.
    """
    with opened(path) as file, _damage(path):
        shape, _, dtype = _read_header(file, path)
        _check_real(dtype, path)
        if file.tell() + math.prod(shape) * dtype.itemsize > path.stat().st_size:
            raise _not_plain(path, "cut off")
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return found


def read_npz(
    path: Path, key: str | None = None, most: int | None = None, advice: str = ADVICE
) -> NDArray[Any]:
    """Read one array of real numbers from an ``.npz`` archive.

    Parameters
    ----------
    path : Path
    key : str, optional
        Name of the array, needed when there are several. The others are not read.
    most, advice
        As in :func:`read_npy`; by default :func:`most_numbers` of the file.

    Raises
    ------
    InvalidParameterError
        As in :func:`read_npy`, and if there is no such array.
    OSError
        If the file cannot be opened.
    """
    with opened(path) as file, _damage(path), zipfile.ZipFile(file) as archive:
        members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        if key is None and len(members) == 1:
            (key,) = members
        if key is None or key not in members:
            names = list(members)[:_MOST_NAMES]
            more = f" and {len(members) - len(names)} more" if len(members) > len(names) else ""
            raise InvalidParameterError(
                f"name one array of {path.name} with --key: {', '.join(names)}{more}"
            )
        limit = most_numbers(most, path.stat().st_size)
        with archive.open(_checked(members[key], path, limit, advice)) as stream:
            return _read_array(stream, path, limit, advice)


def npz_arrays(content: bytes, path: Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of real numbers in an ``.npz`` archive that was read already.

    :func:`most_numbers` of the archive is the limit of all of them together; errors are those of
    :func:`read_npy`. Two arrays of one name are refused.
    """
    found: dict[str, NDArray[Any]] = {}
    left = most_numbers(None, len(content))
    with _damage(path), zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if name in found:
                raise _not_plain(path, "two arrays of one name")
            with archive.open(_checked(entry, path, left, "")) as stream:
                found[name] = _read_array(stream, path, left, "")
            left -= numbers_of(found[name].shape)
    return found


def npz_headers(
    path: Path, keys: Iterable[str]
) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Read the headers of arrays in an ``.npz`` archive: the shape and type that each declares.

    Parameters
    ----------
    path : Path
    keys : iterable of str
        Names of arrays; those that are not there are left out of the answer.

    Raises
    ------
    InvalidParameterError
        If the file is damaged.
    OSError
        If the file cannot be opened.
    """
    found = {}
    with opened(path) as file, _damage(path), zipfile.ZipFile(file) as archive:
        members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        for key in members.keys() & set(keys):
            with archive.open(_checked(members[key], path, None, "")) as stream:
                start = io.BytesIO(stream.read(_LONGEST_HEADER))
            shape, _, dtype = _read_header(start, path)
            found[key] = shape, dtype
    return found


def _checked(entry: zipfile.ZipInfo, path: Path, most: int | None, advice: str) -> zipfile.ZipInfo:
    """Check that a member of an archive is one that NumPy may have written, of so many numbers."""
    if entry.flag_bits & 1:
        raise InvalidParameterError(f"{path.name} is encrypted: write it without a password")
    if entry.compress_type not in _COMPRESSIONS:
        raise InvalidParameterError(
            f"{path.name} has a compression that numpy.savez does not write; save it anew"
        )
    if most is not None and entry.file_size > _WIDEST * most + _LONGEST_HEADER:
        raise too_many(path, most, advice)
    return entry


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read; whatever its name is, it raises what the functions here say.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InvalidParameterError
        If it is a pipe or a device, whose end nobody knows, or its name has a null character.
    OSError
        If the file cannot be opened.
    """
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise InvalidParameterError("the name of a file must have no null character") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a folder raises OSError when opened
        raise InvalidParameterError(
            f"{path.name} is a pipe or a device, whose end nobody knows; write it to a file first"
        )
    with path.open("rb") as file:
        yield file


def read_text(path: Path, most: int = MOST_TEXT) -> str:
    """Read a text in UTF-8 of at most so many bytes, or raise :class:`InvalidParameterError`."""
    with opened(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise InvalidParameterError(
            f"{path.name} has more than {most} bytes, the limit of a text; arrays belong into .npy"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidParameterError(f"{path.name} is not a text in UTF-8") from None


def too_many(path: Path, most: int, advice: str) -> InvalidParameterError:
    """Return the error about a file with more numbers than the limit."""
    end = f"; {advice}" if advice else ""
    return InvalidParameterError(f"{path.name} holds more than {most} numbers, the limit{end}")


def check_output(path: Path, inputs: Iterable[Path] = (), outputs: Iterable[Path] = ()) -> Path:
    """Check that a file can be written there, and return where that is: links are followed.

    Parameters
    ----------
    path : Path
    inputs : iterable of Path
        Files that are read, under whatever name, and must stay.
    outputs : iterable of Path
        Other files that will be written.

    Returns
    -------
    Path

    Raises
    ------
    InvalidParameterError
        If the folder does not exist or may not be written, or the path is a folder, a device, a
        link to nothing, one of the inputs or of the other outputs under whatever name, or may not
        be written.
    """
    if not path.parent.is_dir():
        raise InvalidParameterError(f"the folder {path.parent} does not exist; create it first")
    if path.is_symlink() and not path.exists():
        raise InvalidParameterError(f"{path} is a link to nothing; name the file itself")
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder; name a file")
    if path.exists() and not path.is_file():
        raise InvalidParameterError(f"{path} is not a plain file; name one")
    if any(_same(path, source) for source in inputs):
        raise InvalidParameterError(f"{path.name} is an input and would be overwritten")
    if any(_same(path, other) for other in outputs):
        raise InvalidParameterError(f"{path.name} is named for two outputs; name two files")
    target = Path(os.path.realpath(path))
    # The folder as well: the file is made under another name and then takes this one.
    if not all(os.access(place, os.W_OK) for place in {target.parent, target} if place.exists()):
        raise InvalidParameterError(f"{path} may not be written")
    return target


def write_files(
    contents: Mapping[Path, Callable[[IO[bytes]], object]], *, new: bool = False
) -> None:
    """Write files: each is there whole or as it was.

    All are written out before the first takes its name: a full disk leaves all as they were.

    Parameters
    ----------
    contents : mapping of Path to callable
        Paths as :func:`check_output` returned them, and what writes each to an open file. An
        existing file is replaced and its mode kept; other names of it (hard links) keep what they
        had, and a link that has come there since is replaced itself.
    new : bool, default False
        Whether no file may be replaced.

    Raises
    ------
    FileExistsError
        If one is there, with ``new``; nothing is written then.
    OSError
        If a file cannot be written.
    """
    drafts: dict[Path, Path] = {}
    try:
        for path, write in contents.items():
            draft = path.with_name(f".riemdp-{secrets.token_hex(8)}.tmp")
            with draft.open("xb") as file:
                drafts[draft] = path
                if path.is_file():
                    shutil.copymode(path, draft)
                write(file)
                file.flush()
                os.fsync(file.fileno())
        if new:
            _claim(drafts.values())
        for draft, path in drafts.items():
            draft.replace(path)
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


def _claim(paths: Iterable[Path]) -> None:
    """Make empty files, all or none, where no file is."""
    made: list[Path] = []
    try:
        for path in paths:
            path.open("xb").close()
            made.append(path)
    except OSError:
        for path in made:
            path.unlink()
        raise


def _same(path: Path, other: Path) -> bool:
    """Whether two paths name one file, by links of either kind, or would."""
    try:
        return path.samefile(other)
    except OSError:  # one of them is not there
        return os.path.realpath(path) == os.path.realpath(other)


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Say that a file is damaged, in whichever way its decoders fail on bytes like these."""
    try:
        with silence():  # about oddities of the header
            yield
    except (InvalidParameterError, MemoryError):
        raise
    except Exception as error:
        kind = type(error)
        why = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        raise _not_plain(path, why) from None


def _not_plain(path: Path, why: str) -> InvalidParameterError:
    suffix = path.suffix.lower()
    return InvalidParameterError(f"{path.name} is not an {suffix} file of plain numbers ({why})")


def _read_header(stream: IO[bytes], path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, order and type of an array of the ``.npy`` format."""
    start: Any = _Start(stream)
    header = _READERS[np.lib.format.read_magic(start)](start)
    if any(length < 0 for length in header[0]):
        raise _not_plain(path, "a negative length")
    return header


class _Start:
    """The start of a stream: a header of more bytes is refused before it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, _LONGEST_HEADER

    def read(self, size: int) -> bytes:
        if size > self._left:
            raise ValueError("a header without end")
        self._left -= size
        return self._stream.read(size)


def _read_array(stream: IO[bytes], path: Path, most: int, advice: str) -> NDArray[Any]:
    """Read an array of the ``.npy`` format to the end of the stream, and no byte beyond."""
    shape, by_columns, dtype = _read_header(stream, path)
    _check_real(dtype, path)
    if numbers_of(shape) > most:
        raise too_many(path, most, advice)
    size = math.prod(int(length) for length in shape)
    array: NDArray[Any] = np.empty(size, dtype)
    place = array.view(np.uint8).data
    done = 0
    while done < len(place):
        piece = stream.read(min(_PIECE, len(place) - done))
        if not piece:
            raise _not_plain(path, "cut off")
        place[done : done + len(piece)] = piece
        done += len(piece)
    if stream.read(1):  # also where an archive compares its checksum
        raise _not_plain(path, "more than one array")
    return array.reshape(shape[::-1]).T if by_columns else array.reshape(shape)


def _check_real(dtype: np.dtype[Any], path: Path) -> None:
    if dtype.hasobject:
        raise _not_plain(path, "it holds Python objects")
    if dtype.kind not in "fiu":
        what = "several fields" if dtype.kind == "V" else str(dtype)
        pairs = "; write real and imaginary parts as one more axis of length 2"
        way_out = pairs if dtype.kind == "c" else ""
        raise InvalidParameterError(f"{path.name} must hold real numbers, got {what}{way_out}")
