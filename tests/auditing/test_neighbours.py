from __future__ import annotations

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.auditing._neighbours import check_neighbours, same_records


def test_neighbours_pass():
    points = np.arange(12.0).reshape(4, 3)
    moved = points.copy()
    moved[2] = -1.0
    check_neighbours(points, moved)
    check_neighbours(points, points)
    check_neighbours([1, 2, 3], [1, 5, 3])
    check_neighbours(["a", "b"], ["a", "c"])
    check_neighbours([[1], [2, 3]], [[1], [2, 4]])
    check_neighbours(0.0, 1.0)
    check_neighbours([np.nan, 1.0], [np.nan, 2.0])


@pytest.mark.parametrize(
    ("first", "second", "match"),
    [
        (np.zeros((3, 2)), np.ones((3, 2)), "3 records"),
        (np.zeros(3), np.zeros(4), "same number of records"),
        ([1, 2], [2, 1], "2 records"),
        (["a", "b"], ["c", "d"], "2 records"),
        (np.array([np.nan, np.nan]), np.array([1.0, 2.0]), "2 records"),
        (1.0, [1.0], "same number"),
    ],
)
def test_others_do_not(first, second, match):
    with pytest.raises(InvalidParameterError, match=match):
        check_neighbours(first, second)


def test_unknown_data_sets_are_taken_as_they_are():
    check_neighbours({"a": 1}, {"b": 2})
    check_neighbours(object(), None)


def test_the_message_has_no_records_in_it():
    with pytest.raises(InvalidParameterError) as error:
        check_neighbours([123.25, 456.5], [789.75, 321.125])
    assert not any(text in str(error.value) for text in ("123", "456", "789", "321"))


def test_records_of_different_shapes():
    short, long, other = np.array([0.0, np.nan]), np.zeros(3), np.ones(3)
    check_neighbours([short, long], [short.copy(), other])
    with pytest.raises(InvalidParameterError, match="2 records"):
        check_neighbours([short, long], [short + 1.0, other])
    check_neighbours([{"a": 1}, {"b": 1}], [{"a": 1}, {"b": 2}])
    with pytest.raises(InvalidParameterError, match="no records"):
        check_neighbours([], [])


def test_same_records():
    ragged = [np.array([0.0, np.nan]), np.zeros(3)]
    assert same_records(ragged, [record.copy() for record in ragged])
    assert not same_records(ragged, ragged[::-1])
    assert not same_records([1.0, 2.0], [1.0])
    assert not same_records([1.0, 2.0], [2.0, 1.0])
    assert same_records(np.empty((0, 2)), np.empty((0, 2)))
