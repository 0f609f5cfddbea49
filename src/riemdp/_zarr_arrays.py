"""Arrays of Zarr: known codecs alone decode them, and no chunk becomes more than it declares."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Codecs that run no code of a file, and whose output is bounded before memory is taken for it.
_CODECS = {
    2: ("blosc", "gzip", "lz4", "shuffle", "zlib", "zstd"),
    3: (
        "blosc",
        "bytes",
        "crc32c",
        "gzip",
        "sharding_indexed",
        "transpose",
        "vlen-utf8",
        "zstd",
    ),
}
#: Most numbers in one chunk, 128 MiB in float64.
MOST_IN_CHUNK = 2**24
#: Most bytes of a block of Zstandard.
_BLOCK = 2**17


def is_zarr(values: object) -> bool:
    """Return True for an array of Zarr, which is never imported to find out."""
    kinds = type(values).__mro__
    is_one = any(kind.__module__.partition(".")[0] == "zarr" for kind in kinds)
    return is_one and hasattr(values, "shape") and hasattr(values, "metadata")


def check_codecs(array: Any, name: str) -> None:
    """Raise ``InvalidParameterError`` if an unknown codec would decode a chunk; none is read."""
    known = _CODECS[array.metadata.zarr_format]
    for codec in _names(array.metadata):
        if codec not in known:
            raise InvalidParameterError(
                f"{name} has the codec {ascii(codec)[:40]}, and only {', '.join(known)} are read: "
                "another codec may run code. Copy the numbers to an array with one of these"
            )
    if array.dtype.kind == "O":
        raise InvalidParameterError(
            f"{name} holds Python objects, and only numbers and texts are read"
        )


def whole(array: Any, name: str, most: int = MOST_IN_CHUNK) -> NDArray[Any]:
    """Read all of an array, whose chunks have to be there; see :func:`bounded`."""
    safe = bounded(array, name, most)
    check_written(array, name)
    return np.asarray(safe[...])


def bounded(array: Any, name: str, most: int = MOST_IN_CHUNK) -> Any:
    """Return an array that reads the same, and raises where a chunk becomes more than it declares.

    Parameters
    ----------
    array : zarr.Array
    name : str
        Of the array, for messages.
    most : int
        Most numbers in one chunk, and in the index of one shard.

    Returns
    -------
    zarr.Array

    Raises
    ------
    InvalidParameterError
        If a codec is not known, or a chunk declares too much; before any chunk is read.
    """
    check_codecs(array, name)
    width: int = array.dtype.itemsize
    inner = math.prod(array.chunks)
    index = 2 * math.prod(array.shards or array.chunks) // max(inner, 1)
    if max(inner * max(width / 8, 1), index) > most:
        raise InvalidParameterError(
            f"{name} has chunks of more than {most} numbers, the limit; write it with smaller ones"
        )
    # how long texts are is not declared: all chunks share the limit
    share = 8 * most // max(array.nchunks, 1) if array.dtype.kind == "T" else None

    def limit(shape: tuple[int, ...]) -> int:
        return math.prod(shape) * width + _BLOCK if share is None else share

    metadata = array.metadata
    if metadata.zarr_format == 2:
        of_chunk = limit(metadata.chunks)
        *filters, last = (
            each
            if each is None or each.codec_id == "shuffle"
            else _classes()[0](each, of_chunk, name)
            for each in (*(metadata.filters or ()), metadata.compressor)
        )
        metadata = dataclasses.replace(metadata, filters=filters or None, compressor=last)
    else:
        codecs = _bounded_codecs(metadata.codecs, limit, name)
        metadata = dataclasses.replace(metadata, codecs=codecs)
    zarr = importlib.import_module("zarr")
    return zarr.Array(zarr.AsyncArray(metadata=metadata, store_path=array.store_path))


def check_written(array: Any, name: str) -> None:
    """Refuse a Zarr array of which chunks are not there: they would be read as one number.

    Parameters
    ----------
    array : object
    name : str
        What the error calls it.

    Raises
    ------
    InvalidParameterError
    """
    if 0 not in array.shape and array.nchunks_initialized < array.nchunks:
        raise InvalidParameterError(
            f"{name} has chunks that nobody wrote, which would be read as records of one number; "
            "if they are meant, write them with write_empty_chunks"
        )


def _names(metadata: Any) -> list[str]:
    """Return the names of all codecs, those inside of shards too."""
    if metadata.zarr_format == 2:
        given = (*(metadata.filters or ()), metadata.compressor)
        return [each.codec_id for each in given if each is not None]
    names, left = [], list(metadata.codecs)
    while left:
        codec = left.pop()
        names.append(codec.to_dict()["name"])
        left += [*getattr(codec, "codecs", ()), *getattr(codec, "index_codecs", ())]
    return names


def _bounded_codecs(
    codecs: tuple[Any, ...], limit: Callable[[tuple[int, ...]], int], name: str
) -> tuple[Any, ...]:
    found = []
    for codec in codecs:
        kind = codec.to_dict()["name"]
        if kind == "sharding_indexed":
            inner = _bounded_codecs(codec.codecs, limit, name)
            found.append(dataclasses.replace(codec, codecs=inner))
        else:
            compresses = kind in ("blosc", "gzip", "zstd")
            found.append(_classes()[1](codec, kind, limit, name) if compresses else codec)
    return tuple(found)


@functools.cache
def _classes() -> tuple[Any, Any]:
    """Return codecs of both formats that look at their input before another codec decodes it."""
    of_v2: Any = importlib.import_module("numcodecs.abc").Codec
    of_v3: Any = importlib.import_module("zarr.abc.codec").BytesBytesCodec

    class OfV2(of_v2):  # type: ignore[misc]
        codec_id = "bounded"

        def __init__(self, inner: Any, limit: int, name: str) -> None:
            self._inner, self._limit, self._name = inner, limit, name

        def decode(self, buf: Any, out: Any = None) -> Any:
            given = bytes(buf)
            found = _decoded(self._inner.codec_id, given, self._limit, self._name)
            return self._inner.decode(given, out) if found is None else found

        def encode(self, buf: Any) -> Any:
            return self._inner.encode(buf)

        def get_config(self) -> Any:
            return self._inner.get_config()

    @dataclasses.dataclass(frozen=True)
    class OfV3(of_v3):  # type: ignore[misc]
        inner: Any
        kind: str
        limit: Callable[[tuple[int, ...]], int]
        name: str
        is_fixed_size = False

        async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
            limit = self.limit(chunk_spec.shape)
            found = _decoded(self.kind, chunk_bytes.to_bytes(), limit, self.name)
            if found is not None:
                return chunk_spec.prototype.buffer.from_bytes(found)
            return await self.inner._decode_single(chunk_bytes, chunk_spec)

        def to_dict(self) -> Any:
            return self.inner.to_dict()

        def compute_encoded_size(self, input_byte_length: int, chunk_spec: Any) -> int:
            raise NotImplementedError

    return OfV2, OfV3


def _decoded(kind: str, given: bytes, most: int, name: str) -> bytes | None:
    """Return what a codec of unknown output makes of bytes; None where it says how much it is.

    ``InvalidParameterError`` if that is more than so many bytes, which are never in memory.
    """
    found = None
    if kind in ("gzip", "zlib"):
        found = _inflated(given, most)
        size = len(found)
    elif kind == "zstd":
        size = _size_of_zstd(given, most)
    else:
        size = _integer(given, {"blosc": 4, "lz4": 0}[kind], 4)
    if size > most:
        raise InvalidParameterError(f"{name} has a chunk that is larger than the array declares")
    return found


def _inflated(given: bytes, most: int) -> bytes:
    """Return what was deflated by gzip or zlib, or a byte more than the limit of it."""
    stream = zlib.decompressobj(wbits=47)
    found = stream.decompress(given, most + 1)
    if len(found) <= most and (not stream.eof or stream.unused_data):
        raise ValueError("not one whole stream")
    return found


def _size_of_zstd(given: bytes, most: int) -> int:
    """Return how many bytes frames of Zstandard hold at most (RFC 8878, section 3.1).

    It may be any number over the limit where they hold more than that.
    """
    total = place = 0
    while place < len(given) and total <= most:
        magic, flags = _integer(given, place, 4), _integer(given, place + 4, 1)
        if magic & ~15 == 0x184D2A50:  # to be skipped
            place += 8 + _integer(given, place + 4, 4)
            continue
        if magic != 0xFD2FB528:
            raise ValueError("no frame")
        single = flags >> 5 & 1
        length = (single, 2, 4, 8)[flags >> 6]
        place += 6 - single + (0, 1, 2, 4)[flags & 3]
        declared = _integer(given, place, length) + (256 if length == 2 else 0)
        place += length
        blocks = last = 0
        while not last:
            header = _integer(given, place, 3)
            last, is_run = header & 1, header >> 1 & 3 == 1
            place += 3 + (1 if is_run else header >> 3)
            blocks += 1
        place += flags & 4  # of a checksum
        total += declared if length else blocks * _BLOCK
    return total


def _integer(given: bytes, start: int, length: int) -> int:
    if start + length > len(given):
        raise ValueError("cut off")
    return int.from_bytes(given[start : start + length], "little")
