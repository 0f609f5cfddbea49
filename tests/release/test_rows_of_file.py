"""Rows of an array in a file, and whether it is still that file."""

from __future__ import annotations

import io
import os
import sys

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Ball,
    Euclidean,
    InvalidParameterError,
    ReleaseFailedError,
    private_mean,
)
from riemdp.release import chunks_of
from riemdp.release._streams import StateOfFile, _is_mapped_from

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
ROWS = 0.8 * np.random.default_rng(0).normal(size=(40, 2))


def test_a_file_that_is_not_the_same_any_more_is_refused(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, ROWS)
    points = np.load(path, mmap_mode="r")
    chunks, seen = chunks_of(points), path.stat()
    private_mean(chunks, PLANE, GDP(1.0))
    match = "was replaced or written to"

    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1))  # written to
    with pytest.raises(InvalidParameterError, match=match):
        private_mean(chunks, PLANE, GDP(1.0))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    private_mean(chunks, PLANE, GDP(1.0))

    np.save(tmp_path / "other.npy", -ROWS)  # as large, and as old
    os.utime(tmp_path / "other.npy", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    os.replace(tmp_path / "other.npy", path)
    with pytest.raises(InvalidParameterError, match=match) as caught:
        private_mean(chunks, PLANE, GDP(1.0))
    assert str(path) not in str(caught.value)
    with pytest.raises(ReleaseFailedError):
        private_mean(chunks, PLANE, GDP(1.0), accountant=Accountant(GDP(1.0)))
    private_mean(np.load(path, mmap_mode="r"), PLANE, GDP(1.0))

    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(InvalidParameterError, match=match):
        private_mean(chunks, PLANE, GDP(1.0))


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say what is mapped")
@pytest.mark.parametrize("how", ["replaced", "put aside", "removed"])
def test_a_file_that_is_not_the_one_that_is_mapped_is_refused(tmp_path, how):
    path, other = tmp_path / "the points.npy", tmp_path / "other.npy"
    np.save(path, ROWS)
    np.save(other, -ROWS)
    points = np.load(path, mmap_mode="r")
    (tmp_path / "link.npy").symlink_to(path)
    for same in (points, points[3:30:2], np.load(tmp_path / "link.npy", mmap_mode="r")):
        private_mean(same, PLANE, GDP(1.0))
    if how == "removed":
        path.unlink()
    else:
        if how == "put aside":
            path.rename(tmp_path / "old.npy")
        other.replace(path)
    account = Accountant(GDP(1.0))
    with pytest.raises(InvalidParameterError, match="after its array was opened") as caught:
        private_mean(points, PLANE, GDP(1.0), accountant=account)
    assert str(path) not in str(caught.value)
    assert account.ledger == ()
    with pytest.raises(InvalidParameterError, match="after its array was opened"):
        private_mean(points[3:30:2], PLANE, GDP(1.0))


def test_where_the_system_says_nothing_the_file_is_taken(tmp_path, monkeypatch):
    np.save(tmp_path / "points.npy", ROWS)
    points = np.load(tmp_path / "points.npy", mmap_mode="r")
    path = str(tmp_path / "points.npy")
    for text in ("", "7f00-7f10 r--s 0 fe:00 1 \n", "0-ffffffffffffffff r--s 0 0:0 0 [heap]\n"):
        with monkeypatch.context() as patch:
            patch.setattr("builtins.open", lambda *_, text=text, **__: io.StringIO(text))
            assert _is_mapped_from(points.ctypes.data, path)
    # a name that this process cannot see, as of a disk that is mounted elsewhere
    with monkeypatch.context() as patch:
        line = "0-ffffffffffffffff r--s 0 fe:00 1    /nowhere/points.npy"
        patch.setattr("builtins.open", lambda *_, **__: io.StringIO(line))
        assert _is_mapped_from(points.ctypes.data, path)
        line += " (deleted)\n"
        assert not _is_mapped_from(points.ctypes.data, path)


def test_what_was_written_through_a_map_is_written_before_the_file_is_looked_at(
    tmp_path, monkeypatch
):
    path, seen = tmp_path / "points.npy", []
    points = np.lib.format.open_memmap(path, mode="w+", dtype=float, shape=ROWS.shape)
    points[:] = ROWS
    flush, of = np.memmap.flush, StateOfFile.of
    monkeypatch.setattr(np.memmap, "flush", lambda array: (seen.append("flush"), flush(array)))
    monkeypatch.setattr(StateOfFile, "of", lambda found: (seen.append("of"), of(found))[1])
    private_mean(points[3:], PLANE, GDP(1.0))
    assert seen[:2] == ["flush", "of"]


def test_another_machine_may_have_another_number_for_a_file():
    """Of a shared disk; size and time are those of the disk."""
    here = StateOfFile(100, 5, "one", (1, 2))
    assert here.is_still(StateOfFile(100, 5, "other", (3, 4)))
    for other in (
        StateOfFile(100, 5, "one", (1, 3)),
        StateOfFile(100, 6, "other", (1, 2)),
        StateOfFile(101, 5, "other", (1, 2)),
    ):
        assert not here.is_still(other)
