"""One record more or less moves no other; splitters by number, labels or sizes are the controls."""

from __future__ import annotations

import hashlib
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate

from riemdp import GDP, InvalidParameterError
from riemdp.estimators import HashedFold, PrivateMDM

KFOLD = KFold(5, shuffle=True, random_state=0)
PEOPLE = [f"person {i}" for i in range(40)]


def folds_of(splitter, ids):
    """The fold of each record."""
    found = np.full(len(ids), -1)
    groups = None if splitter is KFOLD else ids  # which warns that it ignores them
    for fold, (train, test) in enumerate(splitter.split(np.zeros((len(ids), 1)), groups=groups)):
        assert sorted([*train, *test]) == list(range(len(ids)))
        found[test] = fold
    return found


def of_people(splitter, ids):
    """The fold of each person, who has one only, and how many people each training set has."""
    ids, folds = np.array(ids), folds_of(splitter, ids)
    own = {one: set(folds[ids == one]) for one in PEOPLE}
    assert all(len(each) == 1 for each in own.values())
    numbers = [len(set(ids[folds != fold])) for fold in range(5)]
    return {one: each.pop() for one, each in own.items()}, numbers


def records(first):
    """Ids of 40 people: the first has so many records, all others have two."""
    return [PEOPLE[0]] * first + [one for one in PEOPLE[1:] for _ in range(2)]


@pytest.mark.parametrize(("splitter", "moved"), [(HashedFold(5), 0), (KFOLD, 210)])
def test_one_record_more_moves_no_other(splitter, moved):
    ids = [f"scan {i}" for i in range(601)]
    more, less = folds_of(splitter, ids), folds_of(splitter, ids[:600])
    assert (more[:600] != less).sum() == moved  # with KFold, the negative control, a third


@pytest.mark.parametrize("splitter", [HashedFold(5), KFOLD])
def test_one_record_more_moves_each_training_sum_by_one_radius(splitter):
    """The noise of each fit is for one record, of a radius of at most one."""
    points = np.random.default_rng(0).normal(size=(601, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    ids = np.arange(601) + 1000
    more, less = folds_of(splitter, ids), folds_of(splitter, ids[:600])
    moves = [
        np.linalg.norm(points[more != fold].sum(0) - points[:600][less != fold].sum(0))
        for fold in range(5)
    ]
    if splitter is KFOLD:  # negative control
        assert min(moves) > 3.0
    else:
        assert sorted(np.round(moves, 9)) == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_numbers_of_people_are_public_with_a_list():
    """However many records a person has; GroupKFold tells by the sizes of its folds."""
    for splitter in (HashedFold(5, ids=PEOPLE), HashedFold(5, key=3, ids=PEOPLE)):
        assert splitter.sizes == (8,) * 5
        assert [of_people(splitter, records(m))[1] for m in (3, 30)] == [[32] * 5] * 2
    # negative control
    found = [of_people(GroupKFold(5), records(m))[1] for m in (3, 30)]
    assert found == [[32] * 5, [39, 30, 30, 30, 31]]


@pytest.mark.parametrize("splitter", [HashedFold(5), HashedFold(5, ids=PEOPLE), GroupKFold(5)])
def test_one_record_more_of_a_person_moves_nobody_else(splitter):
    more, less = (of_people(splitter, records(m))[0] for m in (3, 2))
    moved = sum(more[one] != less[one] for one in PEOPLE[1:])
    if isinstance(splitter, GroupKFold):  # negative control: 39, and 34 with scikit-learn 1.4
        assert moved > 30
    else:
        assert moved == 0


@pytest.mark.parametrize("splitter", [HashedFold(5), HashedFold(5, ids=PEOPLE), GroupKFold(5)])
def test_a_record_more_of_a_person_moves_sums_of_people_by_that_person(splitter):
    """Each fit adds one point for each person, of a radius of at most one."""
    points = np.random.default_rng(0).normal(size=(81, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)  # the first record comes later

    def sums(ids, points):
        folds, ids = folds_of(splitter, ids), np.array(ids)
        means = {one: points[ids == one].mean(axis=0) for one in PEOPLE}
        return [sum(means[one] for one in sorted(set(ids[folds != k]))) for k in range(5)]

    pairs = zip(sums(records(3), points), sums(records(2), points[1:]), strict=True)
    moves = [np.linalg.norm(more - less) for more, less in pairs]
    if isinstance(splitter, GroupKFold):  # negative control
        assert max(moves) > 4.0
    else:
        own = np.linalg.norm(points[:3].mean(axis=0) - points[1:3].mean(axis=0))
        assert 0.0 < own < 2.0
        np.testing.assert_allclose(sorted(moves), [0.0, own, own, own, own], atol=1e-12)


@pytest.mark.parametrize("splitter", [HashedFold(5), HashedFold(5, ids=PEOPLE)])
def test_one_person_more_moves_nobody_else(splitter):
    ids = records(4)
    more, less = folds_of(splitter, ids)[4:], folds_of(splitter, ids[4:])
    np.testing.assert_array_equal(more, less)


def test_folds_are_those_of_the_hash():
    """By another route than the code's: they are the same everywhere, and in every version."""
    ids = ["a", "b", 7, "é"]
    for key in (0, 12):
        expected = [
            int(hashlib.blake2b(f"{one}".encode(), digest_size=8, key=b"%d" % key).hexdigest(), 16)
            for one in ids
        ]
        assert folds_of(HashedFold(3, key=key), ids).tolist() == [each % 3 for each in expected]
        dealt = np.argsort(np.argsort(np.array(expected, dtype=np.uint64))) % 3
        assert folds_of(HashedFold(3, key=key, ids=ids), ids).tolist() == dealt.tolist()


@pytest.mark.parametrize("key", range(3))
def test_folds_are_about_equal(key):
    counts = np.bincount(folds_of(HashedFold(5, key=key), list(range(10_000))), minlength=5)
    assert np.sum(np.square(counts - 2000)) / 2000 < 23.5  # chi-square of 4: p > 1e-4
    other = folds_of(HashedFold(5, key=key + 1), list(range(10_000)))
    same = np.mean(folds_of(HashedFold(5, key=key), list(range(10_000))) == other)
    assert abs(same - 0.2) < 0.016  # independent of those of another key


@pytest.mark.parametrize("number", [5, 6, 8, 9, 101])
def test_a_list_is_dealt_evenly(number):
    sizes = HashedFold(5, ids=list(range(number))).sizes
    assert sum(sizes) == number
    assert max(sizes) - min(sizes) <= 1


def test_a_fold_is_of_the_id_alone():
    """Not of its place, nor of what else is in the array: a text makes texts of all integers."""
    numbers = list(range(50))
    plain = folds_of(HashedFold(5), numbers)
    given = [numbers, np.array(numbers, dtype=np.uint8), np.array([str(i) for i in numbers])]
    given += [np.array([*numbers, "x"])[:50], np.array(numbers, dtype=object), pd.Series(numbers)]
    for ids in given:
        np.testing.assert_array_equal(folds_of(HashedFold(5), ids), plain)
    order = np.random.default_rng(0).permutation(50)
    np.testing.assert_array_equal(folds_of(HashedFold(5), np.array(numbers)[order]), plain[order])
    listed = folds_of(HashedFold(5, ids=numbers), numbers)
    again = folds_of(HashedFold(5, ids=order), numbers)  # the order of a list does not matter
    np.testing.assert_array_equal(again, listed)


def test_errors_name_rows_and_parameters():
    for wrong in (1, 0, 2.0, "5", True):
        with pytest.raises(InvalidParameterError, match="n_splits"):
            HashedFold(wrong)
    for wrong in (-1, 1.0, "a", None, True, 2**63):
        with pytest.raises(InvalidParameterError, match="key must be"):
            HashedFold(key=wrong)
    for wrong, text in [
        (["a", "b", "a"], "each id once"),
        ([1, "1", 2], "each id once"),
        ([1, 2], "fewer folds"),
        ([1.0, 2.0, 3.0], "integers or texts"),
        ({"a", "b", "c"}, "ids must be"),
        (7, "ids must be"),
    ]:
        with pytest.raises(InvalidParameterError, match=text):
            HashedFold(3, ids=wrong)
    with pytest.raises(InvalidParameterError, match="row 1: its id is not in") as caught:
        folds_of(HashedFold(2, ids=["a", "b"]), ["a", "secret"])
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidParameterError, match="needs an id"):
        next(HashedFold().split(np.zeros((4, 1))))
    with pytest.raises(InvalidParameterError, match="row 2: groups must be integers or texts"):
        folds_of(HashedFold(), [1, 2, 2.5])


def test_it_is_a_splitter_of_scikit_learn(plane, blobs):
    points, labels = blobs
    cv = HashedFold(3, key=1)
    assert cv.get_n_splits() == cv.get_n_splits(points, labels, points) == 3
    assert repr(cv) == "HashedFold(ids=None, key=1, n_splits=3)"
    model = PrivateMDM(plane, GDP(1.0), ["a", "b"], adjacency="add-remove")
    ids = [f"scan {i}" for i in range(240)]
    np.testing.assert_array_equal(folds_of(pickle.loads(pickle.dumps(cv)), ids), folds_of(cv, ids))
    found = cross_validate(model, points, labels, groups=ids, cv=cv, error_score="raise")
    assert found["test_score"].min() > 0.8
    search = GridSearchCV(model, {"alpha": [1.5, 2.0]}, cv=cv, error_score="raise")
    assert search.fit(points, labels, groups=ids).n_splits_ == 3
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(model, points, labels, cv=cv, params={"groups": ids})
        assert found["test_score"].min() > 0.8
    assert next(cv.split([], groups=[]))[0].tolist() == []
