"""What would be sent to workers with a part."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest

from riemdp.distributed._sent import holds_arrays
from riemdp.release import chunks_of
from riemdp.statistics import Records

ROWS = np.random.default_rng(0).normal(size=(20, 2))


def given(value):
    return value


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    return np.load(tmp_path / "a.npy", mmap_mode="r")


def test_functions_hold_what_they_were_given(file):
    for held in (ROWS, ROWS[::2, :1], file, [{"a": ROWS}], Records(ROWS), np.array(["Ann"])):
        assert holds_arrays(partial(given, held))
    for held in (file.filename, 3, np.float64(3.0), "a.npy", [1, 2], np.load):
        assert not holds_arrays(partial(given, held))


def test_paths_and_rows_hold_none_and_labels_beside_them_do(file):
    assert not holds_arrays(chunks_of(file).parts[0])
    for labels in (["a", 1] * 10, np.arange(20)):
        assert holds_arrays(chunks_of(Records(file, labels=labels)).parts[0])


def test_zarr_arrays_hold_what_is_not_in_files(tmp_path):
    zarr = pytest.importorskip("zarr")
    stored = zarr.open(str(tmp_path / "a.zarr"), mode="w", shape=ROWS.shape, dtype="f8")
    in_memory = zarr.open({}, mode="w", shape=ROWS.shape, chunks=(5, 2), dtype="f8")
    for array in (stored, in_memory):
        array[...] = ROWS
    assert not holds_arrays(chunks_of(stored).parts[0])
    assert holds_arrays(chunks_of(in_memory).parts[0])


def test_lambdas_are_sent_by_clusters():
    pytest.importorskip("cloudpickle")
    rows = ROWS[:3]
    assert holds_arrays(lambda: rows)
    assert not holds_arrays(lambda: np.zeros(3))


def test_what_cannot_be_sent_is_not(monkeypatch):
    lock = threading.Lock()
    assert not holds_arrays(lambda: lock)
    monkeypatch.setitem(__import__("sys").modules, "cloudpickle", None)
    assert not holds_arrays(lambda: ROWS)
