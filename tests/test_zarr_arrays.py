"""Zarr arrays: known codecs alone, chunks as large as they say, wherever an array comes in."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import tomllib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Accountant,
    Ball,
    Chunks,
    Euclidean,
    InvalidParameterError,
    Records,
    _zarr_arrays,
)
from riemdp._zarr_arrays import MOST_IN_CHUNK, _size_of_zstd, bounded, whole
from riemdp.io import read_records

zarr = pytest.importorskip("zarr", minversion="3")
numcodecs = pytest.importorskip("numcodecs")

ROWS = np.random.default_rng(0).normal(size=(100, 4)).round(2)
PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)


def v2(place, codec=None, filters=None, **options):
    given = {"shape": ROWS.shape, "chunks": (30, 4), "dtype": "f8", "zarr_format": 2} | options
    array = zarr.create_array(str(place), compressors=codec, filters=filters, **given)
    array[...] = ROWS[tuple(map(slice, array.shape))]
    return zarr.open_array(str(place), mode="r")


def v3(place, *codecs, **options):
    given = {"shape": ROWS.shape, "chunks": (30, 4), "dtype": "f8"} | options
    array = zarr.create_array(str(place), compressors=codecs, **given)
    array[...] = ROWS[tuple(map(slice, array.shape))]
    return zarr.open_array(str(place), mode="r")


@pytest.mark.parametrize("filters", [None, [numcodecs.Shuffle(8)]], ids=["", "shuffle"])
@pytest.mark.parametrize("name", [None, "zlib", "gzip", "zstd", "blosc", "lz4"])
@pytest.mark.fast(8)
def test_known_codecs_of_version_2(tmp_path, name, filters):
    codec = None if name is None else numcodecs.get_codec({"id": name})
    array = v2(tmp_path / "a.zarr", codec, filters)
    np.testing.assert_array_equal(whole(array, "a"), ROWS)
    np.testing.assert_array_equal(bounded(array, "a")[10:35], ROWS[10:35])


@pytest.mark.parametrize("shards", [None, (60, 4)], ids=["", "shards"])
@pytest.mark.parametrize("names", ["", "gzip", "zstd", "blosc", "gzip crc32c", "zstd gzip"])
@pytest.mark.fast(8)
def test_known_codecs_of_version_3(tmp_path, names, shards):
    kinds = {
        "gzip": zarr.codecs.GzipCodec,
        "zstd": zarr.codecs.ZstdCodec,
        "blosc": zarr.codecs.BloscCodec,
        "crc32c": zarr.codecs.Crc32cCodec,
    }
    array = v3(tmp_path / "a.zarr", *(kinds[name]() for name in names.split()), shards=shards)
    np.testing.assert_array_equal(whole(array, "a"), ROWS)
    np.testing.assert_array_equal(bounded(array, "a")[10:35], ROWS[10:35])


class Runs:
    """Makes a folder when it is unpickled: a shell command would do as well."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def pickled(folder, touched, place="filters"):
    """Write an array of version 2 whose chunks are decoded by pickle, and numbers beside it."""
    group = zarr.open_group(str(folder), mode="w", zarr_format=2)
    group.create_array("x", data=np.full((40, 2), 0.5))
    texts, codec = {"id": "vlen-utf8"}, {"id": "pickle", "protocol": 4}
    metadata = {
        "zarr_format": 2, "shape": [40], "chunks": [40], "dtype": "|O", "fill_value": "",
        "order": "C", "filters": [texts, codec] if place == "filters" else [texts],
        "compressor": codec if place == "compressor" else None,
    }  # fmt: skip
    (folder / "who").mkdir()
    (folder / "who" / ".zarray").write_text(json.dumps(metadata))
    (folder / "who" / "0").write_bytes(pickle.dumps(Runs(touched)))
    return folder


@pytest.fixture
def unpickled(monkeypatch):
    """Let pickles be read, as before numcodecs 0.16.6 and zarr 3.4, and where somebody asks."""
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True)
    with zarr.config.set({"array.allow_unsafe_pickle_decode": True}):
        yield


@pytest.mark.usefixtures("unpickled")
@pytest.mark.parametrize("place", ["filters", "compressor"])
def test_a_codec_that_runs_code_is_refused_before_a_chunk_is_read(tmp_path, place):
    touched = tmp_path / "touched"
    folder = pickled(tmp_path / "a.zarr", touched, place)
    array = zarr.open_array(str(folder / "who"), mode="r")
    account = Accountant(GDP(9.0))

    def mean(points, **options):
        return riemdp.private_mean(points, PLANE, GDP(1.0), **options)

    fine = np.zeros((40, 2))
    for read in (
        lambda: read_records(folder, ["x"], users="who"),
        lambda: read_records(folder, ["who"], unit="person"),
        lambda: mean(array),
        lambda: mean(riemdp.release.chunks_of(array)),
        lambda: mean(Records(array)),
        lambda: mean(Records(array, users=range(40))),
        lambda: Records(fine, weights=array),
        lambda: mean(fine, weights=array),
        lambda: riemdp.private_means({"a": array, "b": fine}, PLANE, GDP(1.0)),
        lambda: Euclidean(2).validate(array),
        lambda: PLANE.project(array),
        lambda: riemdp.io.points_of(array, None),
    ):
        with pytest.raises(InvalidParameterError, match=r"codec '(pickle|vlen-utf8)'"):
            read()
    for late in (lambda: array, lambda: Records(array)):
        with pytest.raises(riemdp.ReleaseFailedError):
            mean(late, n=40, accountant=account)
        with pytest.raises(InvalidParameterError, match=r"codec '(pickle|vlen-utf8)'"):
            riemdp.private_mean(Chunks([late], n=40), PLANE, GDP(1.0))
    assert not touched.exists()
    with pytest.raises(Exception, match=r".*"):  # control: it is code
        np.asarray(array[...])
    assert touched.exists()


def test_codecs_inside_of_shards_are_seen(tmp_path, monkeypatch):
    array = v3(tmp_path / "a.zarr", zarr.codecs.GzipCodec(), shards=(60, 4))
    assert whole(array, "a").shape == ROWS.shape
    for gone in ("gzip", "crc32c"):  # of the chunks, and of the index
        known = tuple(name for name in _zarr_arrays._CODECS[3] if name != gone)
        monkeypatch.setitem(_zarr_arrays._CODECS, 3, known)
        with pytest.raises(InvalidParameterError, match=f"codec '{gone}'"):
            read_records(tmp_path / "a.zarr", unit="person")
        monkeypatch.undo()


@pytest.mark.parametrize("codec", [numcodecs.BZ2(), numcodecs.LZMA(), numcodecs.Delta("f8")])
def test_other_codecs_are_refused(tmp_path, codec):
    is_filter = isinstance(codec, numcodecs.Delta)
    array = v2(tmp_path / "a.zarr", None if is_filter else codec, [codec] if is_filter else None)
    with pytest.raises(InvalidParameterError, match=r"only blosc, .* are read: another"):
        whole(array, "a")
    copied = zarr.create_array(str(tmp_path / "b.zarr"), data=array[...])  # the way out
    np.testing.assert_array_equal(whole(copied, "b"), array[...])


def test_python_objects_are_refused(tmp_path):
    folder = pickled(tmp_path / "a.zarr", tmp_path / "touched")
    path = folder / "who" / ".zarray"
    metadata = json.loads(path.read_text())
    for codec in ("pickle", "vlen-utf8", "json2"):
        path.write_text(json.dumps(metadata | {"filters": [{"id": codec}]}))
        with pytest.raises(InvalidParameterError, match=r"codec|no array 'who'"):
            read_records(folder, ["x"], users="who")
    assert not (tmp_path / "touched").exists()


ZEROS = bytes(2**24)


@pytest.mark.parametrize("name", ["gzip", "zlib", "zstd", "blosc"])
def test_a_chunk_that_is_larger_than_it_declares(tmp_path, name):
    codec = numcodecs.get_codec({"id": name})
    array = v2(tmp_path / "a.zarr", codec)
    (tmp_path / "a.zarr" / "0.0").write_bytes(bytes(codec.encode(ZEROS)))
    for read in (lambda: whole(array, "a"), lambda: bounded(array, "a")[:3]):
        with pytest.raises(InvalidParameterError, match="larger than the array declares"):
            read()
    np.testing.assert_array_equal(bounded(array, "a")[30:], ROWS[30:])  # the others are fine


def test_a_chunk_of_a_shard_that_is_larger_than_it_declares(tmp_path):
    small = v3(tmp_path / "a.zarr", zarr.codecs.GzipCodec(), shards=(90, 4))
    large = zarr.create_array(
        str(tmp_path / "b.zarr"),
        shape=(2**22, 4),
        chunks=(2**22, 4),
        shards=(2**22, 4),
        dtype="u1",
        compressors=zarr.codecs.GzipCodec(),
        config={"write_empty_chunks": True},
    )
    large[...] = 0
    shard = (tmp_path / "b.zarr" / "c" / "0" / "0").read_bytes()
    # an index of three chunks, all of them the large one
    end = np.frombuffer(shard[-20:-4], "<u8")
    index = bytes(numcodecs.checksum32.CRC32C(location="end").encode(np.tile(end, 3)))
    (tmp_path / "a.zarr" / "c" / "0" / "0").write_bytes(shard[:-20] + index)
    with pytest.raises(InvalidParameterError, match="larger than the array declares"):
        whole(small, "a")


def test_chunks_that_declare_too_much(tmp_path):
    """Also for one record of it, and before anything is charged."""
    options = {"shape": (40, 2), "chunks": (2**30, 2), "dtype": "f8"}
    array = zarr.create_array(str(tmp_path / "a.zarr"), compressors=(), **options)
    assert MOST_IN_CHUNK == 2**24
    account = Accountant(GDP(1.0))
    with pytest.raises(InvalidParameterError, match="chunks of more than 16777216 numbers"):
        riemdp.private_mean(array, PLANE, GDP(1.0), accountant=account)
    with pytest.raises(InvalidParameterError, match="chunks of more than"):
        read_records(tmp_path / "a.zarr", unit="person")
    options |= {"chunks": (1, 1), "shards": (2**20, 2**20)}  # an index of 2**40 chunks
    array = zarr.create_array(str(tmp_path / "b.zarr"), compressors=(), **options)
    with pytest.raises(InvalidParameterError, match="chunks of more than"):
        riemdp.private_mean(array, PLANE, GDP(1.0), accountant=account)
    options = {"shape": (2**62, 2), "chunks": (1000, 2), "dtype": "f8"}
    array = zarr.create_array(str(tmp_path / "c.zarr"), compressors=(), **options)
    with pytest.raises(InvalidParameterError, match="at most 68719476736 rows"):
        riemdp.private_mean(array, PLANE, GDP(1.0), accountant=account)
    assert account.spent is None


def test_texts_share_the_limit(tmp_path):
    texts = np.array(["a" * 100, "b"] * 50, dtype=object)
    array = zarr.create_array(str(tmp_path / "a.zarr"), shape=(100,), chunks=(10,), dtype=str)
    if array.dtype.kind != "T":
        pytest.skip("NumPy has no type of texts")
    array[...] = texts
    assert whole(array, "a").tolist() == texts.tolist()
    with pytest.raises(InvalidParameterError, match="larger than the array declares"):
        whole(array, "a", most=500)


@pytest.mark.parametrize("length", [1, 255, 256, 300, 65791, 65792, 10**6])
def test_sizes_of_frames(length):
    content = np.random.default_rng(0).bytes(length)
    frame = bytes(numcodecs.Zstd(checksum=length % 2 == 0).encode(content))
    skipped = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    assert _size_of_zstd(frame, 10**9) == length
    assert _size_of_zstd(frame + skipped + frame, 10**9) == 2 * length
    for cut in (1, 3, 5):
        with pytest.raises(ValueError, match="cut off"):
            _size_of_zstd(frame[:cut], 10**9)
    with pytest.raises(ValueError, match="no frame"):
        _size_of_zstd(b"other" + frame, 10**9)


def test_a_frame_that_does_not_say_its_size_is_as_long_as_its_blocks():
    # a window of 1 kB, no size, a run of 5 zeros and the last block, a run of 7
    frame = b"\x28\xb5\x2f\xfd\x00\x00" + b"\x2a\x00\x00\x00" + b"\x3b\x00\x00\x00"
    assert bytes(numcodecs.Zstd().decode(frame)) == bytes(12)
    assert _size_of_zstd(frame, 10**9) == 2 * 2**17


def test_gzip_is_one_whole_stream(tmp_path):
    array = v2(tmp_path / "a.zarr", numcodecs.GZip())
    content = (tmp_path / "a.zarr" / "0.0").read_bytes()
    for other in (content[:-1], content + gzip.compress(b""), b""):
        (tmp_path / "a.zarr" / "0.0").write_bytes(other)
        with pytest.raises(ValueError, match=r"stream|reshape|buffer"):
            whole(array, "a")


def test_the_lowest_version_of_numcodecs():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    extra = tomllib.loads(text)["project"]["optional-dependencies"]["io"]
    assert "numcodecs>=0.16.6" in extra  # named, so that `make test-floors` takes that one
    assert tuple(map(int, version("numcodecs").split(".")[:3])) >= (0, 16, 6)
