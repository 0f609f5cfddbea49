"""Descriptions of records in chunks."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Chunks, InvalidParameterError, UnsupportedError

HALVES = [np.zeros((3, 2)), np.ones((2, 2))]


def test_n_is_what_sizes_or_a_manifest_say():
    assert Chunks(HALVES).n is None
    assert Chunks(HALVES, sizes=[3, 2]).n == 5
    assert Chunks(HALVES, sizes=np.array([3, 2])).n == 5
    assert Chunks(HALVES, manifest=["a", "b"]).n == 2
    assert Chunks(HALVES, manifest=range(5), sizes=3).number == 2
    assert Chunks(HALVES, n=5, sizes=3).number == 2
    assert Chunks(HALVES, n=5, sizes=np.array(3)).number == 2
    assert Chunks(HALVES, n=5).number is None


@pytest.mark.parametrize(
    "given",
    [
        {"n": 0},
        {"n": 2.0},
        {"n": 4, "sizes": [3, 2]},
        {"sizes": 3},
        {"sizes": [3]},
        {"sizes": [3, -2]},
        {"sizes": 0, "n": 5},
        {"manifest": [1, 2, 1]},
        {"manifest": [1.5]},
        {"manifest": [1, 2], "n": 3},
        {"mapper": 3},
        {"read": "points"},
        {"shape": (0,)},
        {"shape": 3},
        {"sizes": np.array([[3, 2]])},
        {"sizes": [[3], [2]]},
        {"sizes": 3, "manifest": [1, 2, 3, 4, 5], "n": 4},
    ],
)
def test_what_contradicts_itself_is_refused(given):
    with pytest.raises(InvalidParameterError):
        Chunks(HALVES, **given)


@pytest.mark.parametrize("parts", [None, 3, "ab"])
def test_parts_are_a_sequence_an_iterator_or_a_function(parts):
    with pytest.raises(InvalidParameterError, match="parts must be"):
        Chunks(parts)


@pytest.mark.parametrize("sizes", [{"sizes": [3, 0, 2]}, {"sizes": 2, "n": 5}])
def test_rows_of_all_parts_follow_each_other(sizes):
    chunks = Chunks(lambda: iter(()), **sizes)
    rows = [chunks.rows(number) for number in range(chunks.number + 2)]
    assert [start for start, _ in rows[1:]] == [stop for _, stop in rows[:-1]]
    assert rows[0][0] == 0
    assert rows[-1] == (5, 5)
    assert Chunks(HALVES, n=5).rows(1) is None


def test_an_iterator_can_be_read_once():
    once = Chunks(iter(HALVES))
    assert not once.rereadable
    assert [number for number, _ in once.tasks()] == [0, 1]
    for again in (once, once.mapped(map)):
        with pytest.raises(UnsupportedError, match="read once, and were"):
            again.tasks()
    for often in (Chunks(HALVES), Chunks(lambda: iter(HALVES))):
        assert often.rereadable
        assert len(list(often.tasks())) == len(list(often.tasks())) == 2


@pytest.mark.parametrize("given", [{1, "1", 2}, dict.fromkeys([1, "1", 2]), [1, "1", 2]])
def test_a_manifest_is_any_collection(given):
    assert Chunks([], manifest=given).n == 3
    assert Chunks([], manifest=(each for each in given)).n == 3
    for other in (given | {2.5} if isinstance(given, set) else [*given, 2.5], "ab", b"ab", 3):
        with pytest.raises(InvalidParameterError, match="manifest"):
            Chunks([], manifest=other)
