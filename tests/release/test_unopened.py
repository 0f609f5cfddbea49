from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    Records,
    RiemdpError,
    TangentGaussian,
)
from riemdp.release import offer
from riemdp.release._unopened import (
    Unopened,
    check_given,
    check_shapes,
    opened,
    public_size,
    with_absent,
)
from riemdp.statistics import AddRemove, ClassMoments, FrechetMean, ReplaceOne, ReplaceUser

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)


class Shaped:
    """An array of which nothing but the shape may be read."""

    shape = (7, 2)

    def __array__(self, *_arguments, **_options):
        pytest.fail("it was opened")

    def __iter__(self):
        pytest.fail("it was counted")


def test_the_size_is_read_off_a_shape_or_a_length():
    every = ReplaceOne()
    assert public_size(Records(Shaped()), every, None) == 7
    assert public_size(Records([["x"], None]), every, None) == 2
    assert public_size(Records(pytest.fail), every, 5) == 5
    assert public_size(Records(Shaped()), every, 5) == 5
    assert public_size(Records(pytest.fail, users=pytest.fail), ReplaceUser(), 3) == 3  # people
    assert public_size(Records(pytest.fail), AddRemove(), None) is None


@pytest.mark.parametrize(
    ("records", "neighbours", "n"),
    [
        (Records(pytest.fail), ReplaceOne(), None),
        (Records(iter(())), ReplaceOne(), None),
        (Records(np.float64(1.0)), ReplaceOne(), None),
        (Records([]), ReplaceOne(), None),
        (Records(Shaped(), users=[1] * 7), ReplaceUser(), None),
        (Records(Shaped()), ReplaceOne(), 0),
        (Records(Shaped()), ReplaceOne(), 7.0),
        (Records(Shaped()), AddRemove(), 7),
    ],
)
def test_what_is_not_known_has_to_be_said(records, neighbours, n):
    with pytest.raises((InvalidParameterError, NotOnManifoldError)):
        public_size(records, neighbours, n)


@pytest.mark.parametrize("n", [None, 5])
@pytest.mark.parametrize("points", ["a.npy", Path("a.npy"), b"a", None, {}, ["a.npy"], ("a", b"b")])
def test_what_holds_no_records_is_refused_by_its_kind(points, n):
    for neighbours in (ReplaceOne(), AddRemove()):
        with pytest.raises(NotOnManifoldError, match="points must hold real numbers"):
            public_size(Records(points), neighbours, n)
    assert public_size(Records(["a.npy", [0.0, 1.0]]), ReplaceOne(), n) == (n or 2)


def test_functions_are_called_where_records_are_opened():
    rows, users = np.zeros((3, 2)), [1, 2, 3]
    given = Records(rows, users=users)
    assert opened(given) is given
    found = opened(Records(lambda: rows, users=lambda: users))
    assert found.points is rows
    assert found.users is users
    both = opened(Records(lambda: Records(rows, labels=users), users=users))
    assert both.extras == ("labels", "users")
    with pytest.raises(InvalidParameterError, match="users once"):
        opened(Records(lambda: given, users=users))


def test_names_are_checked_without_a_look():
    plane = PLANE.manifold
    check_given(Records(pytest.fail), ReplaceOne(), FrechetMean(), plane, 7)
    check_given(Records(pytest.fail, users=pytest.fail), ReplaceUser(), FrechetMean(), plane, 7)
    for records, neighbours, statistic in (
        (Records(pytest.fail, labels=pytest.fail), ReplaceOne(), FrechetMean()),
        (Records(pytest.fail), ReplaceOne(), ClassMoments(("a", "b"))),
        (Records(pytest.fail), ReplaceUser(), FrechetMean()),
        (Records(pytest.fail, users=pytest.fail), ReplaceOne(), FrechetMean()),
    ):
        with pytest.raises(InvalidParameterError):
            check_given(records, neighbours, statistic, plane, 7)


class Blank(Shaped):
    """An array of so many rows, of which nothing but the shape may be read."""

    def __init__(self, *shape):
        self.shape = shape


#: What shapes alone rule out, and the words for it.
WRONG = {
    "another shape": (Records(Blank(7, 3)), r"\(\.\.\., 2\), got \(1, 3\)"),
    "an axis more": (Records(Blank(7, 4, 2)), r"got rows of shape \(4, 2\)"),
    "one record alone": (Records(Blank(2)), r"points\[None\]"),
    "a number": (Records(np.float64(1.0)), r"got \(1,\)"),
    "no axis": (Records(np.array(1.0)), r"got \(1,\)"),
    "another number": (Records(Blank(6, 2)), "n = 7 was given, and there are 6"),
    "a list too short": (Records([[0.0, 0.0]] * 6), "n = 7 was given, and there are 6"),
    "users too few": (Records(Blank(7, 2), users=[1] * 6), "users must be one for each"),
    "weights too many": (Records(pytest.fail, weights=np.ones(8)), "weights must be one for each"),
    "weights in rows": (Records(Blank(7, 2), weights=np.ones((7, 1))), "one for each"),
    "ids too few": (Records(Blank(7, 2), ids=range(6)), "ids must be one for each"),
}


@pytest.mark.parametrize("name", WRONG)
def test_shapes_are_checked_without_a_look(name):
    records, text = WRONG[name]
    with pytest.raises(RiemdpError, match=text):
        check_shapes(records, PLANE.manifold, 7)


def test_what_has_the_right_shape_passes_whatever_it_holds():
    extras = {"labels": np.ones(7), "weights": np.full(7, np.nan), "ids": [1] * 7}
    ragged = np.empty(7, dtype=object)
    for points in (np.full((7, 2), np.nan), np.full((7, 2), "x"), ragged):  # up to one record
        check_shapes(Records(points, **extras), PLANE.manifold, 7)
    check_shapes(Records(np.zeros((7, 9)), **extras), None, 7)  # to be made points of
    check_shapes(Records(np.empty((0, 2)), labels=np.empty(0)), PLANE.manifold, None)
    check_shapes(Records(pytest.fail, users=pytest.fail), PLANE.manifold, 7)


def test_records_are_checked_once_and_kept():
    calls = []

    def points():
        calls.append(1)
        return np.zeros((3, 2))

    made = offer(FrechetMean(), TangentGaussian, PLANE, 3, GDP(1.0))
    later = Unopened(Records(points), PLANE.manifold, PLANE, ReplaceOne())
    assert later.size(3) == 3
    later.check(made)
    assert calls == []
    assert later.opened(made) is later.opened(made)
    assert calls == [1]
    wrong = Unopened(Records([[np.nan, 0]]), PLANE.manifold, PLANE, ReplaceOne())
    with pytest.raises(NotOnManifoldError):
        wrong.opened(made)


def test_the_centre_stands_for_who_has_no_record():
    data = Records(np.full((2, 2), 0.5))
    np.testing.assert_array_equal(
        with_absent(data, 2, PLANE, {}).points, [[0.5, 0.5], [0.5, 0.5], [0.0, 0.0], [0.0, 0.0]]
    )
    nobody = with_absent(Records(np.empty((0, 2))), 3, PLANE, {})
    np.testing.assert_array_equal(nobody.points, np.zeros((3, 2)))
    labels, extras = np.array(["a", 7], dtype=object), {"labels": None, "weights": 0.0}
    beside = with_absent(
        Records(data.points, labels=labels, weights=np.array([0.5, 1.0])), 1, PLANE, extras
    )
    assert beside.labels.tolist() == ["a", 7, None]
    assert beside.weights.tolist() == [0.5, 1.0, 0.0]
