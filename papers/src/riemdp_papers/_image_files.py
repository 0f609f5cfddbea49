"""Labelled images from files in the formats in which others publish them.

Nothing is unpickled, what a file declares is checked before memory is taken for it, and messages
never repeat what it holds.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import math
import zlib
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from riemdp import InvalidParameterError
from riemdp.cli import npz_headers, opened, read_npz

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    #: Images, shape (n, H, W) or (n, H, W, 3), and labels, shape (n,).
    Labelled = tuple[NDArray[Any], NDArray[Any]]

#: Most bytes of the pixels in one array, 512 MiB. The largest one, PathMNIST's, has 212 MB.
MOST_BYTES = 2**29
#: Names of images and labels in an archive; of several layouts the first one that is there counts.
_ARRAYS = (
    (("x", "y"),),
    (("x_train", "y_train"),),
    (("train_images", "train_labels"), ("test_images", "test_labels")),
)
_LAYOUTS = "; ".join(" and ".join(pairs[0]) for pairs in _ARRAYS)
#: Side and bytes of an image of CIFAR-10, after its label.
_SIDE = 32
_RECORD = 1 + 3 * _SIDE**2
_CLASSES = 10
_GZIP = b"\x1f\x8b"
_ANEW = "download it anew"


def read_idx(images: Path, labels: Path) -> Labelled:
    """Read a pair of IDX files of unsigned bytes, compressed by gzip or not.

    The images, of three axes, have the magic number 2051, the labels, of one axis, 2049. Returns
    both as ``uint8``, shapes (n, H, W) and (n,), or raises :class:`InvalidParameterError`.
    """
    pixels, classes = _read_idx(images, axes=3), _read_idx(labels, axes=1)
    _check_numbers(len(pixels), images, len(classes), labels)
    return pixels, classes


def read_cifar(paths: Sequence[Path]) -> Labelled:
    """Read files of the binary version of CIFAR-10, of records of 3,073 bytes.

    A record is a label, and 32 by 32 pixels in red, green and blue. Returns images and labels as
    ``uint8``, shapes (n, 32, 32, 3) and (n,), or raises :class:`InvalidParameterError`.
    """
    parts = [_read_records(path) for path in paths]
    images = [records[:, 1:].reshape(-1, 3, _SIDE, _SIDE) for records in parts]
    pixels = np.ascontiguousarray(np.moveaxis(np.concatenate(images), 1, -1))
    return pixels, np.concatenate([records[:, 0] for records in parts])


def read_archive(path: Path) -> Labelled:
    """Read an ``.npz`` archive: images (n, H, W) or (n, H, W, 3), and labels of integers (n,).

    Its arrays are ``x`` and ``y``, or ``x_train`` and ``y_train``, or, as MedMNIST has them,
    ``train_images``, ``train_labels``, ``test_images`` and ``test_labels``; the first of these that
    are there are read, and no others. Images are ``uint8``, or floats in [0, 1]; anything else, or
    too much of it, is an :class:`InvalidParameterError`.
    """
    names = [name for pairs in _ARRAYS for pair in pairs for name in pair]
    headers = npz_headers(path, names)
    layouts = ([pair for pair in pairs if headers.keys() & set(pair)] for pairs in _ARRAYS)
    there = next((pairs for pairs in layouts if pairs), [])
    if not there:
        raise InvalidParameterError(
            f"{path} must have arrays of images and labels, named {_LAYOUTS}"
        )
    for pair in there:
        _check_pair(path, pair, headers)
    return join([_read_pair(path, pair, headers) for pair in there], path)


def join(parts: Sequence[Labelled], place: Path) -> Labelled:
    """Put parts of a data set, training and test images, one after another.

    The message about images that differ in size or type names ``place``.
    """
    if len(parts) == 1:
        return parts[0]
    images, labels = zip(*parts, strict=True)
    if len({(part.shape[1:], part.dtype) for part in images}) > 1:
        kinds = " and ".join(f"{part.shape[1:]} {part.dtype}" for part in images)
        raise InvalidParameterError(
            f"{place} must have training and test images of one size and type, got {kinds}; keep "
            "those of one data set there"
        )
    return np.concatenate(images), np.concatenate(labels)


def _read_idx(path: Path, axes: int) -> NDArray[np.uint8]:
    """Read an array of unsigned bytes with so many axes, of length 1 or more."""
    with opened(path) as file, _unpacked(file) as stream, _damage(path):
        head = stream.read(4 * (1 + axes))
        if head[:4] != bytes([0, 0, 8, axes]):
            raise InvalidParameterError(
                f"{path} must be an IDX file of unsigned bytes with {axes} "
                f"{'axis' if axes == 1 else 'axes'} (magic number {0x800 + axes}); {_ANEW}"
            )
        if len(head) < 4 * (1 + axes):
            raise EOFError
        shape = tuple(int(length) for length in np.frombuffer(head[4:], ">u4"))
        _check_size(path, "it", shape, 1)
        array = np.empty(shape, np.uint8)
        _fill(stream, array)
        if stream.read(1):  # also where gzip compares its checksum
            raise InvalidParameterError(
                f"{path} goes on after the {len(array)} items that it declares; {_ANEW}"
            )
    return array


def _read_records(path: Path) -> NDArray[np.uint8]:
    """Read the records of CIFAR-10 in a file, shape (n, 3073)."""
    with opened(path) as file, _damage(path):
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        if not size or size % _RECORD:
            raise InvalidParameterError(
                f"{path} must be made of records of {_RECORD} bytes, as the binary version of "
                f"CIFAR-10 is, got {size} bytes; {_ANEW}"
            )
        shape = (size // _RECORD, _RECORD)
        _check_size(path, "it", shape, 1)
        records = np.empty(shape, np.uint8)
        _fill(file, records)
    if np.any(records[:, 0] >= _CLASSES):
        raise InvalidParameterError(
            f"{path} must have labels from 0 to {_CLASSES - 1} at the start of its records, as the "
            f"binary version of CIFAR-10 has (CIFAR-100 has others); {_ANEW}"
        )
    return records


def _check_pair(
    path: Path, pair: tuple[str, str], headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
) -> None:
    """Check what images and labels declare."""
    for name in pair:
        if name not in headers:
            raise InvalidParameterError(f"{path} must have both {' and '.join(pair)}, got one")
    (shape, dtype), (numbers, integers) = (headers[name] for name in pair)
    images, labels = pair
    if dtype != np.uint8 and dtype.kind != "f":
        raise InvalidParameterError(
            f"{path} must have uint8 or floats in [0, 1] in {images}, got {dtype}; convert it, to "
            "uint8 if pixels go from 0 to 255"
        )
    if len(shape) != 3 and (len(shape) != 4 or shape[3] != 3):
        raise InvalidParameterError(
            f"{path} must have images of shape (n, H, W) (grey) or (n, H, W, 3) (colour) in "
            f"{images}, got {shape}"
        )
    _check_size(path, images, shape, dtype.itemsize)
    if integers.kind not in "iu":
        raise InvalidParameterError(
            f"{path} must have integers in {labels}, got {integers}; number the classes"
        )
    if len(numbers) not in (1, 2) or numbers[1:] not in ((), (1,)):
        raise InvalidParameterError(
            f"{path} must have one label for each image, shape (n,) or (n, 1), in {labels}, got "
            f"{numbers}"
        )
    _check_numbers(shape[0], f"{images} of {path}", numbers[0], labels)


def _read_pair(
    path: Path, pair: tuple[str, str], headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
) -> Labelled:
    """Read what was checked."""
    images, labels = (read_npz(path, name, math.prod(headers[name][0])) for name in pair)
    if images.dtype.kind == "f":
        within = tuple(range(1, images.ndim))
        # False if there is a NaN
        inside = (images.min(axis=within) >= 0.0) & (images.max(axis=within) <= 1.0)
        if not np.all(inside):
            raise InvalidParameterError(
                f"{path}: row {int(np.argmin(inside))} of {pair[0]} has pixel values that are NaN "
                "or outside [0, 1]; divide by the largest value of the format, or save uint8"
            )
    return images, labels.ravel()


def _check_size(path: Path, what: str, shape: tuple[int, ...], itemsize: int) -> None:
    """Check that an array of this shape has something in it, and not too much."""
    if 0 in shape:
        raise InvalidParameterError(f"{path} must have at least one pixel, got shape {shape}")
    if math.prod(shape) * itemsize > MOST_BYTES:
        raise InvalidParameterError(
            f"{path} must have at most {MOST_BYTES} bytes in one array, got shape {shape} in "
            f"{what}; take a part of the data"
        )


def _check_numbers(n: int, images: object, labelled: int, labels: object) -> None:
    if n != labelled:
        raise InvalidParameterError(
            f"there must be a label for each image, got {n} images in {images} and {labelled} "
            f"labels in {labels}"
        )


@contextlib.contextmanager
def _unpacked(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Undo gzip if the file starts like one, whatever its name is."""
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    if not packed:
        yield file
        return
    with gzip.GzipFile(fileobj=file) as stream:
        yield stream  # type: ignore[misc]  # reads like a file


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Say that a file is damaged, where it ends too early or gzip's decoder fails."""
    try:
        yield
    except EOFError:
        raise InvalidParameterError(f"{path} is cut off; {_ANEW}") from None
    except (gzip.BadGzipFile, zlib.error):
        raise InvalidParameterError(f"{path} is a damaged gzip file; {_ANEW}") from None


def _fill(stream: IO[bytes], array: NDArray[np.uint8]) -> None:
    """Read an array from a stream, of which it takes no byte beyond."""
    if stream.readinto(array.reshape(-1).data) < array.size:  # type: ignore[attr-defined]
        raise EOFError
