from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.auditing._neighbours import check_neighbours, same_records
from riemdp.statistics import Records


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


POINTS = np.arange(12.0).reshape(6, 2)
USERS = np.array(["a", "a", "b", "b", "b", "c"])


def without(row):
    return np.delete(POINTS, row, axis=0)


@pytest.mark.parametrize("row", range(6))
def test_one_record_more_at_any_place(row):
    check_neighbours(POINTS, without(row), "add-remove")
    check_neighbours(without(row), POINTS, "add-remove")
    check_neighbours(["x", None, 3], ["x", 3], "add-remove")
    check_neighbours([1.0, 1.0, 2.0], [1.0, 2.0], "add-remove")
    check_neighbours([np.nan, 1.0, 2.0], [np.nan, 2.0], "add-remove")
    check_neighbours([np.zeros(2), np.zeros(3)], [np.zeros(2)], "add-remove")
    check_neighbours(POINTS[:1], POINTS[:0], "add-remove")
    with pytest.raises(InvalidParameterError, match='claim under "add-remove"'):
        check_neighbours(POINTS, without(row))


@pytest.mark.parametrize(
    ("first", "second", "match"),
    [
        (POINTS, POINTS, "exactly one record more"),
        (POINTS, POINTS[:4], "exactly one record more"),
        (1.0, 1.0, "exactly one record more"),
        (POINTS, without(2)[::-1], "in the same order"),
        (POINTS, without(2) + np.eye(5, 2), "in the same order"),
        (POINTS, np.vstack([without(5)[:4], POINTS[5:] + 1.0]), "in the same order"),
        (POINTS, without(1)[:, :1], "in the same order"),
        ([1, 2, 3], [3, 1], "in the same order"),
    ],
)
def test_not_one_record_more(first, second, match):
    for pair in ((first, second), (second, first)):
        with pytest.raises(InvalidParameterError, match=match) as error:
            check_neighbours(*pair, "add-remove")
    assert "11" not in str(error.value)


def test_what_differs_in_the_records_of_one_person():
    moved = POINTS.copy()
    moved[USERS == "b"] += 1.0
    check_neighbours(POINTS, moved, "replace-user", USERS, USERS)
    check_neighbours(POINTS, POINTS, "replace-user", USERS, USERS)
    fewer = (np.delete(moved, 3, axis=0), np.delete(USERS, 3))
    check_neighbours(POINTS, fewer[0], "replace-user", USERS, fewer[1])
    another = np.where(USERS == "b", "d", USERS)
    check_neighbours(POINTS, moved, "replace-user", USERS, another)
    left = USERS != "b"
    check_neighbours(POINTS, POINTS[left], "add-remove-user", USERS, USERS[left])
    check_neighbours(POINTS[left], POINTS, "add-remove-user", USERS[left], list(USERS))
    check_neighbours(POINTS[:1], POINTS[:0], "add-remove-user", USERS[:1], USERS[:0])


@pytest.mark.parametrize(
    ("first", "second", "adjacency", "match"),
    [
        ((POINTS, USERS), (POINTS + 1.0, USERS), "replace-user", "records of 3 people"),
        ((POINTS, USERS), (POINTS, USERS[::-1]), "replace-user", "records of 3 people"),
        ((POINTS, USERS), (POINTS, list("xyzzzc")), "replace-user", "got 3 and 4"),
        ((POINTS, USERS), (POINTS, list("aaxxxy")), "replace-user", "records of 2 people"),
        ((POINTS, USERS), (POINTS[:5], USERS[:5]), "replace-user", 'under "add-remove-user"'),
        ((POINTS, USERS), (POINTS[2:], USERS[2:]), "replace-user", "got 3 and 2"),
        ((POINTS[:4], list("abab")), (POINTS[[1, 0, 3, 2]], list("baba")), "replace-user", "order"),
        ((POINTS, USERS), (POINTS, USERS), "add-remove-user", "exactly one more"),
        ((POINTS, USERS), (POINTS[:2], USERS[:2]), "add-remove-user", "exactly one more"),
        ((POINTS, USERS), (POINTS[1:], USERS[1:]), "add-remove-user", "got 3 and 3"),
        (
            (POINTS, USERS),
            (POINTS[:5] + 1.0, USERS[:5]),
            "add-remove-user",
            "more than the records",
        ),
        ((POINTS, USERS), (POINTS[:5], list("bbaaa")), "add-remove-user", "more than the records"),
        ((POINTS, USERS), (POINTS[:2], ["a", "x"]), "add-remove-user", "of whom both have 1"),
        ((POINTS, None), (POINTS, USERS), "replace-user", "whose it is"),
        ((POINTS, USERS), (POINTS, None), "add-remove-user", "needs neighbour_users"),
        ((POINTS, USERS[:5]), (POINTS, USERS), "replace-user", "one entry for each"),
        ((POINTS, USERS), (POINTS, np.zeros((6, 2))), "replace-user", "one entry for each"),
        ((POINTS, USERS), (POINTS, USERS), "replace-one", "leave users out"),
        ((POINTS, None), (POINTS, USERS), "add-remove", "leave users out"),
        ((POINTS, USERS), (POINTS, USERS), "tests.Near", "leave users out"),
    ],
)
def test_what_does_not(first, second, adjacency, match):
    with pytest.raises(InvalidParameterError, match=match) as error:
        check_neighbours(first[0], second[0], adjacency, first[1], second[1])
    assert not any(text in str(error.value) for text in ("11", "'a'", "'b'", "'c'"))


def test_records_of_people():
    """Labels and weights are parts of a record; whose it is they say themselves."""
    records = Records(POINTS, labels=np.arange(6), users=USERS)
    check_neighbours(records, replace(records, labels=[0, 1, 2, 3, 4, 9]), "replace-user")
    with pytest.raises(InvalidParameterError, match="records of 2 people"):
        check_neighbours(records, replace(records, labels=[0, 9, 2, 3, 4, 9]), "replace-user")
    check_neighbours(
        records, Records(POINTS[:5], labels=np.arange(5), users=USERS[:5]), "add-remove-user"
    )
    with pytest.raises(InvalidParameterError, match="more than the records"):
        check_neighbours(records, Records(POINTS[:5], users=USERS[:5]), "add-remove-user")
    with pytest.raises(InvalidParameterError, match="whose it is"):
        check_neighbours(Records(POINTS), records, "replace-user")


def test_unknown_pairs_are_taken_as_they_are_under_every_relation():
    for adjacency in ("replace-one", "add-remove", "replace-user", "add-remove-user"):
        check_neighbours({"a": 1}, {"b": 2}, adjacency)
    check_neighbours(POINTS, POINTS + 1.0, "tests.Near")
