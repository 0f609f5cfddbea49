"""Large releases: a certificate in JSON, and its long arrays in an ``.npz`` beside it.

The certificate is the document of the release with ``null`` in place of each long list of numbers,
and says which array of which file stands there, of which shape and type, and the SHA-256 of that
file. What is read back is the same document, number by number and bit by bit, which its digest in
the certificate confirms.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._files import npz_arrays, opened, read_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "riemdp-certificate/2"
#: Lists of at most so many numbers stay in the JSON.
SMALL = 10_000
_SUFFIX = ".npz"
#: Of floats, of integers that fit in 64 bits, and of the limbs of longer ones.
_FLOATS, _INTEGERS, _LIMBS = "<f8", "<i8", "<u8"
_MOST_BYTES = 2**30


class ContainerError(InvalidParameterError):
    """The file beside a certificate is missing, or is not what the certificate says."""


def files_of(document: dict[str, Any], path: Path, least: float) -> dict[Path, bytes]:
    """Return what the files of a release hold, in the order in which they are to be written.

    The path is that of the certificate, ``.json``; lists of more than ``least`` numbers go into its
    container, which has the same name with ``.npz``. Where no list is that long there is one file,
    in the format of small releases. ``ValueError`` if a number is not finite.
    """
    if path.suffix.lower() != ".json":
        raise InvalidParameterError(
            f"{path.name} must end in .json; long arrays go into an {_SUFFIX} of that name"
        )
    arrays: dict[str, NDArray[Any]] = {}
    rest: Any = _moved(document, "", least, arrays)
    if not arrays:
        return {path: _written(document)}
    if not all(np.all(np.isfinite(array)) for array in arrays.values()):
        raise ValueError("not finite")
    container = path.with_suffix(_SUFFIX)
    stream = io.BytesIO()
    named: dict[str, Any] = arrays  # of the keys of a document none is a parameter of NumPy's
    np.savez_compressed(stream, **named)
    content = stream.getvalue()
    certificate = {
        "format": FORMAT,
        "digest": _document.digest(document),
        "container": {
            "file": container.name,
            "sha256": hashlib.sha256(content).hexdigest(),
            "arrays": {name: _declared(array) for name, array in arrays.items()},
        },
        "release": rest,
    }
    return {container: content, path: _written(certificate)}


def read_document(path: Path) -> tuple[object, str | None]:
    """Return the document of a release from its file, and what was found of its container.

    The file is a certificate, whose arrays are put in their places, or the JSON of a small release,
    which has no container: None. ``ContainerError`` if that is missing, damaged, or another one;
    ``OSError`` if the certificate cannot be opened.
    """
    if path.suffix.lower() == _SUFFIX:
        raise InvalidParameterError(
            f"{path.name} holds the arrays of a release: name its certificate, the .json beside it"
        )
    document = _document.load(read_text(path))
    if not is_certificate(document):
        return document, None
    fields = _document.fields(document, {"format", "digest", "container", "release"})
    container = _document.fields(fields["container"], {"file", "sha256", "arrays"})
    declared = _document.fields(container["arrays"], set(), set(container["arrays"]))
    content = _content(path, container["file"])
    found = hashlib.sha256(content).hexdigest()
    if found != container["sha256"]:
        raise ContainerError(
            f"{container['file']} is not the file of this certificate: its SHA-256 is {found}"
        )
    try:
        arrays = npz_arrays(content, Path(container["file"]))
    except InvalidParameterError as error:
        raise ContainerError(str(error)) from None
    if {name: _declared(array) for name, array in arrays.items()} != declared:
        raise ContainerError(
            f"the arrays of {container['file']} are not those that the certificate names: names, "
            "shapes or types differ"
        )
    release = fields["release"]
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise ContainerError(f"array {shown(name)} holds numbers that are not finite")
        _put(release, name, array)
    if (whole := _document.digest(release)) != fields["digest"]:
        raise ContainerError(
            f"the certificate and {container['file']} make a document of the digest {whole}, and "
            f"the certificate states {shown(fields['digest'])}: take both files from one release"
        )
    return release, f"{container['file']}, {len(arrays)} arrays, SHA-256 {found}"


def is_certificate(document: object) -> bool:
    """Whether a document is a certificate, whose arrays are elsewhere."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def _written(document: dict[str, Any]) -> bytes:
    return f"{json.dumps(document, indent=2, allow_nan=False)}\n".encode()


def _declared(array: NDArray[Any]) -> dict[str, Any]:
    return {"shape": list(array.shape), "type": array.dtype.str}


def _moved(value: object, name: str, least: float, arrays: dict[str, NDArray[Any]]) -> object:
    """Return a part of a document without its long lists, which are put under their places."""
    if isinstance(value, dict):
        return {
            key: each
            if "." in key
            else _moved(each, f"{name}.{key}" if name else key, least, arrays)
            for key, each in value.items()
        }
    if not isinstance(value, list):
        return value
    if (array := _as_array(value, least)) is not None:
        arrays[name] = array
        return None
    return [_moved(each, f"{name}.{i}", least, arrays) for i, each in enumerate(value)]


def _as_array(values: list[Any], least: float) -> NDArray[Any] | None:
    """Return a long list of floats or of integers as an array; None for what is none."""
    shape, flat = [len(values)], values
    while flat and all(type(each) is list for each in flat):
        length = len(flat[0])
        if any(len(each) != length for each in flat):
            return None
        shape.append(length)
        flat = [number for each in flat for number in each]
    kinds = set(map(type, flat))
    if len(flat) <= least or len(kinds) != 1:
        return None
    if kinds == {float}:
        return np.array(flat, dtype=_FLOATS).reshape(shape)
    if kinds != {int} or len(shape) != 1:
        return None
    longest = max(number.bit_length() for number in flat)
    if longest < 64:
        return np.array(flat, dtype=_INTEGERS)
    limbs = longest // 64 + 1  # one bit more for the sign
    parts = b"".join(number.to_bytes(8 * limbs, "little", signed=True) for number in flat)
    return np.frombuffer(parts, dtype=_LIMBS).reshape(len(flat), limbs)


def _numbers(array: NDArray[Any]) -> list[Any]:
    """Return the list that :func:`_as_array` made an array of."""
    if array.dtype.str != _LIMBS:
        found: list[Any] = array.tolist()
        return found
    if array.ndim != 2:
        raise ContainerError("an array of limbs must have a row for each integer")
    return [int.from_bytes(row.tobytes(), "little", signed=True) for row in array]


def _put(release: object, name: str, array: NDArray[Any]) -> None:
    """Put an array in its place, where the certificate has null."""
    if array.dtype.str not in (_FLOATS, _INTEGERS, _LIMBS) or array.ndim == 0:
        raise ContainerError(f"array {shown(name)} must be of {_FLOATS}, {_INTEGERS} or {_LIMBS}")
    *way, last = name.split(".")
    part: Any = release
    try:
        for step in way:
            part = part[_step(part, step)]
        place = _step(part, last)
        free = part[place] is None
    except (LookupError, TypeError, ValueError):
        free = False
    if not free:
        raise ContainerError(f"the certificate has no place for the array {shown(name)}")
    part[place] = _numbers(array)


def _step(part: object, step: str) -> str | int:
    return int(step) if isinstance(part, list) else step


def _content(path: Path, name: object) -> bytes:
    """Read the file that a certificate names, which has to lie beside it."""
    if (
        not isinstance(name, str)
        or any(sign in name for sign in "/\\:\0")
        or Path(name).suffix.lower() != _SUFFIX
        or name == _SUFFIX
    ):
        raise ContainerError(
            f"a certificate may name an {_SUFFIX} in its own folder only, got {shown(name)}"
        )
    beside = Path(os.path.realpath(path)).parent / name
    if beside.is_symlink():
        raise ContainerError(f"{name} is a link: put the file itself beside the certificate")
    try:
        with opened(beside) as file:
            content = file.read(_MOST_BYTES + 1)
    except InvalidParameterError as error:
        raise ContainerError(str(error)) from None
    except OSError as error:
        raise ContainerError(
            f"{name} cannot be read ({type(error).__name__}): it belongs beside the certificate"
        ) from None
    if len(content) > _MOST_BYTES:
        raise ContainerError(f"{name} has more than {_MOST_BYTES} bytes, the limit")
    return content
