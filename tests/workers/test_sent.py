"""What may be sent to workers: descriptions by their type, and nothing that may hold records."""

from __future__ import annotations

import array
import sys
import types
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from riemdp import GDP, Ball, Chunks, Euclidean, InvalidParameterError
from riemdp.release import chunks_of
from riemdp.statistics import Records
from riemdp.workers import private_mean, spread
from riemdp.workers._sent import is_description

ROWS = 0.1 * np.random.default_rng(0).normal(size=(20, 2))
BALL = Ball(Euclidean(2), [0.0, 0.0], 1.0)


def given(value=None, *, other=None):
    return np.load(value)


class Given:
    def __init__(self, value):
        self.value = value

    def __call__(self):
        return self.value

    def method(self):
        return self.value

    @staticmethod
    def opened():
        return ROWS


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    return np.load(tmp_path / "a.npy", mmap_mode="r")


def test_functions_of_short_plain_arguments():
    for values in ((), ("a.npy",), (Path("a.npy"), 3, 0.5, True, None), ((1, 2), "b")):
        assert is_description(partial(given, *values))
    assert is_description(partial(given, other=3))
    assert is_description(partial(np.load, "a.npy"))
    assert is_description(partial(np.loadtxt, "a.csv", delimiter=","))
    assert is_description(partial(np.memmap, "a.npy", dtype="f8", shape=(20, 2), mode="r"))
    assert is_description(given)
    assert is_description(Given.opened)


LONG = (["a"], b"a", array.array("d", [1.0]), {"a": 1}, ((1, 2), (3, 4)), ([1.0],), {1})


@pytest.mark.parametrize(
    "value",
    [
        *LONG,
        ROWS,
        ROWS[::2, :1],
        Records(ROWS),
        memoryview(b"a"),
        bytearray(b"a"),
        range(3),
        "a" * 5000,
        tuple(range(17)),
        2**65,
        np.float64(0.5),
        type("Text", (str,), {})("a"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_may_hold_records_is_refused(value):
    assert not is_description(partial(given, value))
    assert not is_description(partial(given, other=value))
    assert not is_description(value)
    assert not is_description(Given(value))
    assert not is_description(Given(value).method)
    assert not is_description(lambda: value)


@pytest.mark.parametrize("records", [ROWS.tolist(), ROWS.tobytes(), array.array("d", ROWS.flat)])
def test_records_of_no_array_stay_here(records):
    """A list, bytes and an array of the standard library of records went to the workers."""
    for part in (partial(np.reshape, records, (-1, 2)), Given(records), lambda: records):
        with pytest.raises(InvalidParameterError, match="may hold records"):
            private_mean(Chunks([part], 20), BALL, GDP(1.0), client=map)


def test_the_way_out_of_the_message_works(file):
    parts = [partial(given, file.filename)]
    assert private_mean(Chunks(parts, 20), BALL, GDP(1.0), client=map).n == 20


def test_what_makes_points_is_sent_too(file):
    parts = [partial(given, file.filename)]
    assert spread(Chunks(parts, 20, read=given), map).read is given
    for read in (lambda points: points + ROWS, partial(np.add, ROWS)):
        with pytest.raises(InvalidParameterError, match="may hold records"):
            spread(Chunks(parts, 20, read=read), map)


def test_partial_may_have_attributes_of_its_own():
    part = partial(given, "a.npy")
    assert is_description(part)
    part.rows = ROWS
    assert not is_description(part)


def test_paths_and_rows_of_files(file):
    assert is_description(chunks_of(file).parts[0])
    assert is_description(chunks_of([Path(file.filename)], 20).parts[0])
    for labels in (["a", 1] * 10, np.arange(20)):
        assert not is_description(chunks_of(Records(file, labels=labels)).parts[0])


def test_zarr_arrays_are_in_files(tmp_path):
    zarr = pytest.importorskip("zarr")
    stored = zarr.open(str(tmp_path / "a.zarr"), mode="w", shape=ROWS.shape, dtype="f8")
    in_memory = zarr.open({}, mode="w", shape=ROWS.shape, chunks=(5, 2), dtype="f8")
    for each in (stored, in_memory):
        each[...] = ROWS
    assert is_description(chunks_of(stored).parts[0])
    assert not is_description(chunks_of(in_memory).parts[0])


PROGRAM = """
import numpy as np
from functools import partial
from pathlib import Path

FOLDER, RECORDS, NAMES = Path("data"), np.ones((3, 2)), ["a", "b"]

def fine(name): return inner(name)
def inner(name): return [np.load(FOLDER / each) for each in (name,)]
def refers(): return RECORDS
def refers_later(): return [RECORDS for _ in range(1)]
def names(): return NAMES
def calls(): return refers()
def default(rows=RECORDS): return rows
def itself(n): return itself(n - 1)
def attribute(): return 1
attribute.rows = RECORDS
class Class: rows = RECORDS
"""


def test_functions_of_the_program_are_sent_with_what_they_refer_to(monkeypatch):
    """By value: cloudpickle sends what their names stand for as well."""
    program = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", program)
    exec(PROGRAM, vars(program))
    assert is_description(partial(program.fine, "a.npy"))
    assert is_description(partial(program.itself, 3))
    for name in ("refers", "refers_later", "names", "calls", "default", "attribute", "Class"):
        assert not is_description(getattr(program, name)), name
    program.fine.__module__ = "elsewhere"  # which is not there
    assert not is_description(program.fine)
