from __future__ import annotations

import gzip
import tracemalloc
import zipfile

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp_papers import _image_files as module
from riemdp_papers._image_files import read_archive, read_cifar, read_idx

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 4, 3), dtype=np.uint8)
LABELS = np.array([3, 1, 3, 0, 255], np.uint8)


def idx(array, shape=None, magic=None):
    """Bytes of an IDX file, which may declare another shape."""
    shape = array.shape if shape is None else shape
    head = bytes([0, 0, 8, array.ndim]) if magic is None else magic
    return head + np.array(shape, ">u4").tobytes() + array.tobytes()


@pytest.fixture
def pair(tmp_path):
    """Paths of a valid pair of IDX files, the images packed."""
    images, labels = tmp_path / "images.gz", tmp_path / "labels"
    images.write_bytes(gzip.compress(idx(IMAGES)))
    labels.write_bytes(idx(LABELS))
    return images, labels


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_idx_files_come_back_as_they_were(pair, pack):
    pair[0].write_bytes(pack(idx(IMAGES)))  # whatever the name says
    pair[1].write_bytes(pack(idx(LABELS)))
    images, labels = read_idx(*pair)
    np.testing.assert_array_equal(images, IMAGES)
    np.testing.assert_array_equal(labels, LABELS)
    assert images.dtype == labels.dtype == np.uint8


PACKED = gzip.compress(idx(IMAGES))
DAMAGED_IMAGES = {
    "empty": (b"", "IDX file of unsigned bytes with 3 axes .magic number 2051."),
    "labels": (idx(LABELS), "IDX file of unsigned bytes with 3 axes"),
    "floats": (idx(IMAGES, magic=b"\0\0\x0d\x03"), "IDX file of unsigned bytes"),
    "no header": (idx(IMAGES)[:9], "is cut off"),
    "short": (idx(IMAGES)[:-1], "is cut off"),
    "packed short": (gzip.compress(idx(IMAGES)[:-1]), "is cut off"),
    "packed half": (PACKED[:-20], "is cut off"),
    "packed, no checksum": (PACKED[:-8], "is cut off"),
    "long": (idx(IMAGES) + b"x", "goes on after the 5 items"),
    "bomb": (gzip.compress(idx(IMAGES) + bytes(10**7)), "goes on after the 5 items"),
    "checksum": (PACKED[:-8] + bytes(4) + PACKED[-4:], "is a damaged gzip file"),
    "garbage": (PACKED[:10] + b"\xff" * 30 + PACKED[40:], "is a damaged gzip file"),
    "no gzip": (b"\x1f\x8b" + idx(IMAGES), "is a damaged gzip file"),
    "24 TB": (idx(IMAGES, (2**32 - 1, 75, 75)), r"at most 536870912 bytes .* take a part"),
    "no image": (idx(IMAGES[:0]), "at least one pixel"),
    "no pixel": (idx(IMAGES, (5, 0, 3)), "at least one pixel"),
    "fewer": (idx(IMAGES[:4]), "got 4 images in .*images.gz and 5 labels in .*labels"),
}


@pytest.mark.parametrize("name", DAMAGED_IMAGES)
def test_damaged_images(pair, name):
    content, match = DAMAGED_IMAGES[name]
    pair[0].write_bytes(content)
    with pytest.raises(InvalidParameterError, match=match) as caught:
        read_idx(*pair)
    assert str(pair[0]) in str(caught.value)


def test_damaged_labels(pair):
    for content, match in (
        (idx(LABELS[:3]), "got 5 images in .* 3 labels"),
        (idx(IMAGES), "unsigned bytes with 1 axis .magic number 2049."),
        (idx(LABELS, (2**32 - 1,)), "at most 536870912 bytes"),
        (idx(LABELS)[:-2], "is cut off"),
    ):
        pair[1].write_bytes(content)
        with pytest.raises(InvalidParameterError, match=match) as caught:
            read_idx(*pair)
        assert str(pair[1]) in str(caught.value)


def test_no_memory_is_taken_for_what_is_refused(pair, tmp_path):
    bomb = gzip.compress(idx(IMAGES) + bytes(2 * 10**7))
    pair[0].write_bytes(bomb)
    archive = tmp_path / "a.npz"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        head = str({"descr": "|u1", "fortran_order": False, "shape": (10**7, 1000, 1000)}).encode()
        start = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
        opened.writestr("x.npy", start + bytes(10**7))
        opened.writestr("y.npy", b"")
    for read, match in (
        (lambda: read_idx(*pair), "goes on after"),
        (lambda: read_archive(archive), "plain numbers"),  # of y
    ):
        tracemalloc.start()
        try:
            with pytest.raises(InvalidParameterError, match=match):
                read()
            assert tracemalloc.get_traced_memory()[1] < 2_000_000
        finally:
            tracemalloc.stop()


def test_files_that_are_none(pair, tmp_path):
    with pytest.raises(IsADirectoryError):
        read_idx(tmp_path, pair[1])
    with pytest.raises(FileNotFoundError):
        read_cifar([tmp_path / "nowhere"])


def records(n, label=0):
    content = np.random.default_rng(1).integers(0, 256, (n, 3073), dtype=np.uint8)
    content[:, 0] = label
    return content


def test_planes_of_cifar_10_become_channels(tmp_path):
    one, two = records(2, 9), records(1, 4)
    one[0, 1:1025] = 7  # red
    one[0, 1025 + 32] = 8  # green: first of the second row
    one[0, 3072] = 9  # blue: the last
    for name, content in (("one", one), ("two", two)):
        (tmp_path / name).write_bytes(content.tobytes())
    images, labels = read_cifar([tmp_path / "one", tmp_path / "two"])
    assert images.shape == (3, 32, 32, 3)
    assert np.all(images[0, ..., 0] == 7)
    assert (images[0, 1, 0, 1], images[0, 31, 31, 2]) == (8, 9)
    np.testing.assert_array_equal(images[2], two[0, 1:].reshape(3, 32, 32).transpose(1, 2, 0))
    np.testing.assert_array_equal(labels, [9, 9, 4])


def test_damaged_binaries(tmp_path, monkeypatch):
    path = tmp_path / "test_batch.bin"
    for content, match in (
        (b"", "records of 3073 bytes, .* got 0 bytes"),
        (records(2).tobytes()[:-1], "got 6145 bytes"),
        (records(2).tobytes() + b"\n", "got 6147 bytes"),
        (records(1, 10).tobytes(), "labels from 0 to 9"),
    ):
        path.write_bytes(content)
        with pytest.raises(InvalidParameterError, match=match) as caught:
            read_cifar([path])
        assert str(path) in str(caught.value)
    monkeypatch.setattr(module, "MOST_BYTES", 3073)
    for n in (1, 2):
        path.write_bytes(records(n).tobytes())
        if n == 1:
            assert len(read_cifar([path])[0]) == 1
    with pytest.raises(InvalidParameterError, match=r"at most 3073 bytes .* take a part"):
        read_cifar([path])


TRAIN = {"train_images": IMAGES, "train_labels": LABELS[:, None]}
TEST = {"test_images": IMAGES[:2], "test_labels": LABELS[:2, None]}


def read(path, **arrays):
    np.savez_compressed(path, **arrays)
    return read_archive(path)


@pytest.mark.parametrize("dtype", ["u1", "f4", ">f8", "f2"])
@pytest.mark.parametrize("colour", [(), (3,)])
@pytest.mark.parametrize("keys", [("x", "y"), ("x_train", "y_train")])
def test_archives_come_back_as_they_were(tmp_path, dtype, colour, keys):
    rng = np.random.default_rng(2)
    images = rng.integers(0, 2, (4, 3, 5, *colour)).astype(dtype)
    labels = np.array([-1, 2, 2, 70000])
    found = read(tmp_path / "a.npz", **dict(zip(keys, (images, labels), strict=True)))
    np.testing.assert_array_equal(found[0], images)
    np.testing.assert_array_equal(found[1], labels)
    assert found[0].dtype == images.dtype


def test_what_the_archive_holds_decides(tmp_path):
    path = tmp_path / "a.npz"
    both = [np.concatenate([IMAGES, IMAGES[:2]]), np.concatenate([LABELS, LABELS[:2]])]
    other = {"val_images": IMAGES[:1], "val_labels": LABELS[:1], "z": np.array([None])}
    for arrays, (images, labels) in (
        (TRAIN, (IMAGES, LABELS)),
        (TEST, (IMAGES[:2], LABELS[:2])),
        ({**TRAIN, **TEST, **other}, both),
        ({**TRAIN, "x": IMAGES[:1], "y": LABELS[:1]}, (IMAGES[:1], LABELS[:1])),
        ({"x_train": IMAGES, "y_train": LABELS, "x_test": 1}, (IMAGES, LABELS)),
    ):
        found = read(path, **arrays)
        np.testing.assert_array_equal(found[0], images)
        np.testing.assert_array_equal(found[1], labels)


FLOATS = IMAGES / 255.0
BROKEN = {
    "nothing": ({"val_images": IMAGES}, "arrays of images and labels, named x and y; x_train and"),
    "no labels": ({"x": IMAGES}, "must have both x and y, got one"),
    "no images": ({**TRAIN, "test_labels": LABELS}, "both test_images and test_labels"),
    "objects": ({"x": IMAGES.astype(object), "y": LABELS}, "uint8 or floats .* got object"),
    "integers": ({"x": IMAGES.astype("i8"), "y": LABELS}, "got int64; convert it"),
    "flags": ({"x": IMAGES > 9, "y": LABELS}, "got bool"),
    "flat": ({"x": IMAGES.reshape(5, 12), "y": LABELS}, r"\(n, H, W\) .* got \(5, 12\)"),
    "four": ({"x": np.zeros((5, 2, 2, 4)), "y": LABELS}, r"got \(5, 2, 2, 4\)"),
    "no image": ({"x": IMAGES[:0], "y": LABELS[:0]}, "at least one pixel"),
    "no pixel": ({"x": IMAGES[:, :0], "y": LABELS}, "at least one pixel"),
    "float labels": ({"x": IMAGES, "y": LABELS * 1.0}, "integers in y, got float64; number"),
    "text": ({"x": IMAGES, "y": np.array(list("abcde"))}, "integers in y, got <U1"),
    "object labels": ({"x": IMAGES, "y": LABELS.astype(object)}, "integers in y, got object"),
    "many labels": ({"x": IMAGES, "y": np.zeros((5, 14), int)}, r"one label .* got \(5, 14\)"),
    "no label": ({"x": IMAGES, "y": np.array(3)}, r"one label .* got \(\)"),
    "fewer": ({"x": IMAGES, "y": LABELS[:4]}, "got 5 images in x of .* and 4 labels in y"),
    "NaN": ({"x": np.where(FLOATS < 0.1, np.nan, FLOATS), "y": LABELS}, "row . of x has pixel"),
    "large": ({"x": np.concatenate([FLOATS[:3], IMAGES[3:] * 1.0]), "y": LABELS}, "row 3 of x"),
    "negative": ({"x": -FLOATS, "y": LABELS}, "NaN or outside .0, 1.; divide"),
    "sizes": (
        {**TRAIN, "test_images": IMAGES[:2, 1:], "test_labels": LABELS[:2]},
        r"of one size and type, got \(4, 3\) uint8 and \(3, 3\) uint8",
    ),
    "types": ({**TRAIN, **TEST, "test_images": FLOATS[:2]}, "uint8 and .* float64; keep"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_archives(tmp_path, name):
    arrays, match = BROKEN[name]
    with pytest.raises(InvalidParameterError, match=match) as caught:
        read(tmp_path / "a.npz", **arrays)
    assert str(tmp_path / "a.npz") in str(caught.value)


def test_the_limit_counts_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 60)
    assert len(read(tmp_path / "a.npz", x=IMAGES, y=LABELS)[0]) == 5
    for images in (np.repeat(IMAGES, 2, axis=0), FLOATS.astype("f2")):
        with pytest.raises(InvalidParameterError, match=r"at most 60 bytes .* take a part"):
            read(tmp_path / "a.npz", x=images, y=np.arange(len(images)))
