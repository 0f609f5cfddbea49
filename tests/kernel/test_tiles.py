"""Tiles: arrays of one shape, of which nothing but records is kept."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp.kernel import (
    computed,
    has_form,
    in_tiles,
    joined,
    places_are_alike,
    public_row,
    rows_for,
    taken,
    tiles,
)

FILL = np.array([7.0, 8.0])


def records(n):
    return np.arange(2.0 * n).reshape(n, 2)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 8, 9])
def test_records_stand_first_and_the_public_one_after_them(n):
    assert len(list(tiles([records(n)], [FILL], 1))) == max(n, 1)
    found = list(tiles([records(n)], [FILL], 4))
    assert len(found) == max(-(-n // 4), 1)
    assert {tile.shape for (tile,), _ in found} == {(4, 2)}
    assert sum(number for _, number in found) == n
    kept = np.concatenate([tile[:number] for (tile,), number in found])
    np.testing.assert_array_equal(kept, records(n))
    for (tile,), number in found:
        np.testing.assert_array_equal(tile[number:], np.tile(FILL, (4 - number, 1)))


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        lambda rows: rows[::-1].copy()[::-1],
        lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
        lambda rows: rows.astype(">f8"),
        lambda rows: rows.astype(np.longdouble),
        lambda rows: rows.astype(np.float32),
        lambda rows: rows.astype(np.int32),
    ],
)
def test_order_in_memory_and_type_do_not_count(make):
    ((tile,), number), *_ = tiles([make(records(5))], [FILL], 8)
    assert (tile.dtype, tile.flags.c_contiguous, number) == (np.float64, True, 5)
    assert tile.tobytes() == next(tiles([records(5)], [FILL], 8))[0][0].tobytes()


def test_a_tile_is_a_copy_that_nobody_writes_to():
    rows = records(8)
    (tile,), _ = next(tiles([rows], [FILL], 8))
    assert not np.shares_memory(tile, rows)
    with pytest.raises(ValueError, match="read-only"):
        tile[0] = 0.0


def test_labels_stay_what_they_are():
    (points, labels), _ = next(tiles([records(2), np.array(["a", 1], dtype=object)], [FILL, 0], 3))
    assert labels.tolist() == ["a", 1, 0]
    assert points.shape == (3, 2)
    (z,), _ = next(tiles([np.array([1j])], [2.0], 2))
    assert z.tolist() == [1j, 2.0]


def test_numbers_beyond_float64_are_infinite():
    (tile,), _ = next(tiles([np.array([np.longdouble("1e400")])], [0.0], 2))
    assert tile.tolist() == [np.inf, 0.0]


def test_what_a_function_makes_of_the_filling_is_left_out():
    def twice(tile):
        assert tile.shape == (4, 2)
        return 2.0 * tile, (tile.sum(axis=1),)

    (double, (total,)), lost = in_tiles(twice, [records(9)], [FILL], 4)
    np.testing.assert_array_equal(double, 2.0 * records(9))
    np.testing.assert_array_equal(total, records(9).sum(axis=1))
    assert not lost.any()
    (double, (total,)), lost = in_tiles(twice, [records(0)], [FILL], 4)
    assert (double.shape, total.shape, lost.shape) == ((0, 2), (0,), (0,))


def hostile(tile):
    """Raises for some records, also for two that come together."""
    if (tile[:, 0] < 0.0).any() or (tile[:, 0] == 3.0).sum() > 1:
        raise ValueError("a secret")
    return tile.sum(axis=1)


def test_a_record_that_raises_counts_as_the_public_one_and_spoils_no_other():
    rows = np.array([[1.0, 2.0], [-1.0, 0.0], [3.0, 4.0], [3.0, 5.0], [6.0, 7.0]])
    found, lost = in_tiles(hostile, [rows], [FILL], 4)
    assert found.tolist() == [3.0, 15.0, 7.0, 8.0, 13.0]
    assert lost.tolist() == [False, True, False, False, False]


def test_what_is_given_a_record_alone_may_not_write_to_it_either():
    seen = []

    def watching(tile):
        seen.append(tile.flags.writeable)
        return hostile(tile)

    in_tiles(watching, [np.array([[-1.0, 0.0], [1.0, 2.0]])], [FILL], 4)
    assert seen == [False] * 6  # all, public ones, and one at each place


def test_what_raises_for_the_public_record_raises():
    tile = next(tiles([-records(4)], [-FILL], 4))[0]
    with pytest.raises(ValueError, match="secret"):
        computed(hostile, tile, [-FILL])


@pytest.mark.parametrize(
    "other",
    [
        lambda tile: tile[:0],
        lambda tile: np.repeat(tile, 2, axis=0),
        lambda tile: tile[0],
        lambda tile: tile[:, :1],
        lambda tile: (tile, tile),
        lambda tile: tile.astype(str),
        lambda tile: tile + 1j,
        lambda tile: [[1.0], [2.0, 3.0]],
        lambda tile: None,
    ],
)
def test_a_row_of_another_form_counts_as_the_public_one_and_moves_no_other(other):
    def of_many_forms(tile):
        return other(tile) if tile[0, 0] == 2.0 else tile

    found, lost = in_tiles(of_many_forms, [records(4)], [FILL], 1)
    assert found.tolist() == [[0.0, 1.0], FILL.tolist(), [4.0, 5.0], [6.0, 7.0]]
    assert lost.tolist() == [False, True, False, False]


def test_the_form_of_rows_is_that_of_the_public_one():
    assert public_row(lambda tile: tile, [records(2)], [FILL], 1).tolist() == [FILL.tolist()]
    assert public_row(lambda tile: tile, [records(2)], [FILL], 2) is None
    assert public_row(hostile, [records(2)], [-FILL], 1) is None
    one = np.ones((1, 2))
    assert has_form("anything", None)
    assert has_form((one, (one,)), (one.astype(int), (one,)))
    assert not has_form((one, one), (one, (one,)))
    assert not has_form((one,), (one, one))
    assert not has_form((one, one), (one,))
    assert not has_form((one[0],), one)  # an array of tuples has the shape
    assert not has_form(one, (one[0],))
    assert has_form(np.array(["ab"]), np.array(["cd"]))
    assert not has_form(np.array(["ab"]), np.array(["abc"]))


def test_a_function_that_looks_at_places_is_noticed():
    assert places_are_alike(lambda tile: (tile, tile.sum(axis=1)), [FILL], 8)
    assert not places_are_alike(lambda tile: tile + np.arange(len(tile))[:, None], [FILL], 8)
    assert not places_are_alike(lambda tile: (tile, np.cumsum(tile[:, 0])), [FILL], 8)
    one_bit = np.zeros((8, 2))
    one_bit[-1] = 2.0**-52
    assert not places_are_alike(lambda tile: tile * (1.0 + one_bit), [FILL], 8)
    assert not places_are_alike(lambda tile: np.where(one_bit > 0, -0.0, 0.0) * tile, [FILL], 8)
    assert not places_are_alike(lambda tile: np.where(one_bit > 0, 0.0, tile), [FILL], 8)
    assert not places_are_alike(hostile, [-FILL], 8)
    assert places_are_alike(hostile, [-FILL], 1)  # it is not called


def test_arrays_have_one_row_a_record_each():
    with pytest.raises(ValueError, match="unpack"):
        next(tiles([records(2), np.zeros(3)], [FILL, 0], 4))
    with pytest.raises(ValueError, match="shorter"):
        next(tiles([records(2), np.zeros(2)], [FILL], 4))
    with pytest.raises(ValueError, match="shorter"):
        computed(hostile, [-records(2)], [])
    with pytest.raises(ValueError, match="shorter"):
        joined([(np.ones(1), np.ones(1)), (np.ones(1),)])


def test_rows_are_taken_and_joined_in_nested_tuples():
    parts = [(np.arange(3), (np.ones((3, 2)),)), (np.arange(2), (np.zeros((2, 2)),))]
    first, (second,) = joined([taken(part, slice(2)) for part in parts])
    assert first.tolist() == [0, 1, 0, 1]
    assert second[:, 0].tolist() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("shape", "rows"),
    [((), 1024), ((0, 3), 1024), ((3, 3), 1024), ((5, 5), 1024), ((22, 22), 128), ((10**6,), 1)],
)
def test_a_tile_has_as_many_rows_as_stay_in_the_cache(shape, rows):
    assert rows_for(shape) == rows


def test_a_function_may_write_every_row_to_the_same_memory():
    memory = np.zeros((1, 2))

    def function(points):
        memory[:] = points
        return memory if points[0, 0] < 3.0 else memory[:, :1]

    points = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    found, lost = in_tiles(function, [points], [np.zeros(2)], 1)
    np.testing.assert_array_equal(found, [[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(lost, [False, False, True])
