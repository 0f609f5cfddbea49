"""Splitters are refused where one record could move others; the account pays for all fits."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as splitters
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import riemdp
from riemdp import GDP, Accountant, BudgetExceededError, InvalidParameterError
from riemdp.estimators import (
    HashedFold,
    PrivateFrechetMean,
    PrivateMDM,
    PrivateTangentRegression,
    PrivateTangentSpace,
    RecordLevelWarning,
    make_private_pipeline,
    private_cross_validate,
)

BY_NUMBER = [
    splitters.KFold(3),
    splitters.KFold(3, shuffle=True, random_state=0),
    splitters.RepeatedKFold(n_splits=2, n_repeats=2),
    splitters.ShuffleSplit(2),
    splitters.TimeSeriesSplit(2),
]
SCARCE = [splitters.LeaveOneOut(), splitters.LeavePOut(2)]
BY_MORE = [
    splitters.StratifiedKFold(3),
    splitters.RepeatedStratifiedKFold(n_splits=2, n_repeats=2),
    splitters.StratifiedShuffleSplit(2),
    splitters.GroupKFold(3),
    splitters.GroupShuffleSplit(2),
    splitters.StratifiedGroupKFold(3),
    splitters.LeaveOneGroupOut(),
    splitters.LeavePGroupsOut(2),
    splitters.PredefinedSplit([0] * 120 + [1] * 120),
    [(np.arange(100), np.arange(100, 240))],
    5,
    None,
    splitters.KFold,
    type("Mine", (splitters.KFold,), {})(3),
    type("Mine", (HashedFold,), {})(3),
]
IDS = [f"scan {i}" for i in range(240)]
RECORDS, PEOPLE = "add-remove", "add-remove-user"


def named(splitter):
    return type(splitter).__name__


def mdm(plane, relation="replace-one", total=9.0, **options):
    account = Accountant(GDP(total), adjacency=relation)
    adjacency = "add-remove" if relation.startswith("add-remove") else None
    given = {"adjacency": adjacency, "accountant": account, **options}
    return PrivateMDM(plane, GDP(1.0), ["a", "b"], **given)


def whose(labels):
    """Four records a person, all of one label."""
    order = np.argsort(labels, kind="stable")
    users = np.empty(len(labels), dtype=int)
    users[order] = np.arange(len(labels)) // 4
    return users


@pytest.mark.parametrize("cv", BY_NUMBER, ids=named)
def test_places_are_public_under_replace_one(blobs, plane, cv):
    model = mdm(plane)
    found = private_cross_validate(model, *blobs, cv=cv)
    assert found["test_score"].min() > 0.8
    assert len(model.accountant.ledger) == len(found["estimator"]) == cv.get_n_splits()
    assert {each.release_.n for each in found["estimator"]} == {
        len(train) for train, _ in cv.split(blobs[0])
    }


@pytest.mark.parametrize("cv", SCARCE, ids=named)
def test_many_fits_have_to_be_paid_for(blobs, plane, cv):
    points, labels = blobs[0][:20], blobs[1][:20]
    model = mdm(plane, total=3.0)
    with pytest.raises(BudgetExceededError, match=f"{cv.get_n_splits(points)} folds need"):
        private_cross_validate(model, points, labels, cv=cv)
    assert model.accountant.spent is None


@pytest.mark.fast(8)
@pytest.mark.parametrize("cv", [*BY_MORE, HashedFold(3), HashedFold(3, ids=IDS)], ids=named)
def test_what_looks_at_more_than_the_number_is_refused(blobs, plane, cv):
    model = mdm(plane)
    with pytest.raises(InvalidParameterError, match="cv must divide records by their public num"):
        private_cross_validate(model, *blobs, cv=cv, ids=IDS)
    assert model.accountant.spent is None
    private_cross_validate(  # as the message says
        model, *blobs, cv=splitters.KFold(5, shuffle=True, random_state=0)
    )


@pytest.mark.parametrize("cv", [*BY_NUMBER, *SCARCE, *BY_MORE], ids=named)
def test_what_looks_at_the_number_is_refused_where_that_is_private(blobs, plane, cv):
    model = mdm(plane, RECORDS)
    with pytest.raises(InvalidParameterError, match="cv must be a HashedFold, got"):
        private_cross_validate(model, *blobs, cv=cv, ids=IDS)
    model_of_people = mdm(plane, PEOPLE)
    with pytest.raises(InvalidParameterError, match=r"one person more .* with users="):
        private_cross_validate(model_of_people, *blobs, cv=cv, users=whose(blobs[1]))
    assert model.accountant.spent is model_of_people.accountant.spent is None


@pytest.mark.parametrize("cv", [HashedFold(4), HashedFold(4, ids=IDS)])
def test_folds_by_the_ids_of_records(blobs, plane, cv):
    model = mdm(plane, RECORDS, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = private_cross_validate(model, *blobs, cv=cv, ids=IDS)
    assert model.accountant.remaining is None  # four fits of GDP(1)
    assert [each.guarantee_ for each in found["estimator"]] == [GDP(1.0, adjacency=RECORDS)] * 4
    assert [each.release_.n for each in found["estimator"]] == [None] * 4
    assert found["test_score"].min() > 0.8
    assert set(found) == {"estimator", "test_score"}  # times tell how many records there are


@pytest.mark.parametrize("container", [np.array, list, pd.Series])
def test_folds_by_people(blobs, plane, container):
    points, labels = blobs
    users = whose(labels)
    model = mdm(plane, PEOPLE)
    found = private_cross_validate(
        model, list(points), container(labels), cv=HashedFold(3), users=container(users)
    )
    guarantees = {each.guarantee_ for each in found["estimator"]}
    assert guarantees == {GDP(1.0, adjacency=PEOPLE)}
    assert len(model.accountant.ledger) == 3
    folds = HashedFold(3).split(points, groups=users)
    for fit, score, (train, test) in zip(
        found["estimator"], found["test_score"], folds, strict=True
    ):
        assert not set(users[train]) & set(users[test])
        assert score == fit.score(points[test], labels[test])


def test_a_public_list_of_people_makes_their_number_public(blobs, plane):
    model, users = mdm(plane, "replace-user"), whose(blobs[1])
    found = private_cross_validate(model, *blobs, cv=HashedFold(4, ids=range(60)), users=users)
    assert [each.release_.n for each in found["estimator"]] == [45] * 4
    guarantees = {each.guarantee_ for each in found["estimator"]}
    assert guarantees == {GDP(1.0, adjacency="replace-user")}
    assert found["test_score"].min() > 0.8
    folds = HashedFold(4, ids=range(60))  # even folds, of a number that stays private
    kept = private_cross_validate(mdm(plane, PEOPLE), *blobs, cv=folds, users=users)
    assert [each.release_.n for each in kept["estimator"]] == [None] * 4


def test_numbers_are_those_of_the_list_whoever_is_in_the_data(blobs, plane):
    points, users = blobs[0], whose(blobs[1])
    cv = HashedFold(3, ids=[*range(60), "nobody", "no one"])
    mean, score = PrivateFrechetMean(plane, GDP(1.0)), {"scoring": lambda *_: 0.0}
    for there in (users >= 0, users != 7, users > 30):
        given = {"cv": cv, "users": users[there], **score}
        found = private_cross_validate(mean, points[there], **given)
        assert [each.release_.n for each in found["estimator"]] == [62 - size for size in cv.sizes]
        given = {"cv": cv, "users": users[there]}  # nor do classes need a record of everybody
        found = private_cross_validate(
            mdm(plane, "replace-user"), points[there], blobs[1][there], **given
        )
        assert [each.release_.n for each in found["estimator"]] == [62 - size for size in cv.sizes]


def test_people_without_a_list_are_a_private_number(blobs, plane):
    account = Accountant(GDP(2.0), adjacency=PEOPLE)
    model = PrivateMDM(plane, GDP(1.0), ["a", "b"], accountant=account)  # no adjacency stated
    found = private_cross_validate(model, *blobs, cv=HashedFold(3), users=whose(blobs[1]))
    assert [each.release_.n for each in found["estimator"]] == [None] * 3
    assert {each.guarantee_.adjacency for each in found["estimator"]} == {PEOPLE}


def test_a_number_of_people_comes_of_a_list(blobs, plane):
    """What the message about a public number says leads to a list."""
    model, given = mdm(plane, "replace-user"), {"users": whose(blobs[1]), "cv": HashedFold(3)}
    model.set_params(adjacency="replace-one")
    with pytest.raises(InvalidParameterError, match=r"give people=..."):
        private_cross_validate(model, *blobs, **given)
    with pytest.raises(TypeError, match=r"cv=HashedFold\(5, ids=everybody\)"):
        private_cross_validate(model, *blobs, people=60, **given)
    given["cv"] = HashedFold(5, ids=range(60))
    assert len(private_cross_validate(model, *blobs, **given)["estimator"]) == 5


def test_who_is_not_on_the_list_is_an_error_before_the_charge(blobs, plane):
    model = mdm(plane, RECORDS)
    with pytest.raises(InvalidParameterError, match="row 239: its id is not in"):
        private_cross_validate(model, *blobs, cv=HashedFold(3, ids=IDS[:-1]), ids=IDS)
    with pytest.raises(InvalidParameterError, match=r"HashedFold needs an id .* ids=... or users"):
        private_cross_validate(model, *blobs, cv=HashedFold(3))
    assert model.accountant.spent is None


def test_groups_alone_protect_records_and_warn(blobs, plane):
    users = whose(blobs[1])
    model = mdm(plane, RECORDS)
    with pytest.warns(RecordLevelWarning, match="users=... to protect people") as caught:
        found = private_cross_validate(model, *blobs, cv=HashedFold(3), groups=users)
    assert Path(caught[0].filename).name == "test_cross_validate.py"
    assert found["estimator"][0].guarantee_.adjacency == RECORDS
    with pytest.warns(RecordLevelWarning), pytest.raises(InvalidParameterError):
        private_cross_validate(mdm(plane), *blobs, cv=splitters.GroupKFold(3), groups=users)
    with pytest.raises(InvalidParameterError, match="one of users, ids and groups"):
        private_cross_validate(model, *blobs, cv=HashedFold(3), groups=users, users=users)


def test_a_fit_takes_no_groups(make, plane, budget, blobs):
    """A keyword of that name would say nothing about whom the fit protects."""
    estimator = make(plane, budget)
    with pytest.raises(TypeError, match="groups"):
        estimator.fit(*blobs, groups=blobs[1])
    with pytest.raises(TypeError, match="groups"):
        make_pipeline(estimator).fit(*blobs, **{f"{type(estimator).__name__.lower()}__groups": 1})


def test_a_pipeline_tells_every_private_step(blobs, plane):
    account = Accountant(GDP(3.0), adjacency=PEOPLE)
    options = {"adjacency": "add-remove", "accountant": account}
    space = PrivateTangentSpace(plane, GDP(0.5), **options)
    inner = make_private_pipeline(Normalizer(), mdm(plane, **options))
    model = make_private_pipeline(space, inner)
    found = private_cross_validate(model, *blobs, cv=HashedFold(3), users=whose(blobs[1]))
    assert len(account.ledger) == 6
    for each in found["estimator"]:
        assert each[0].guarantee_ == GDP(0.5, adjacency=PEOPLE)
        assert each[1][1].guarantee_ == GDP(1.0, adjacency=PEOPLE)
    with pytest.raises(BudgetExceededError, match="3 folds need 3 times"):
        private_cross_validate(
            clone(model).set_params(
                **{"privatetangentspace__budget": GDP(2.0), "pipeline__privatemdm__budget": GDP(1)}
            ),
            *blobs,
            cv=HashedFold(3),
            users=whose(blobs[1]),
        )
    assert len(account.ledger) == 6


def test_a_pipeline_is_checked(blobs, plane):
    model = mdm(plane)
    learns = make_pipeline(StandardScaler(), model)
    with pytest.raises(InvalidParameterError, match="may learn"):
        private_cross_validate(learns, *blobs, cv=splitters.KFold(3))
    with pytest.raises(InvalidParameterError, match="must be a sklearn"):
        private_cross_validate(StandardScaler(), *blobs, cv=splitters.KFold(3))
    assert model.accountant.spent is None
    mine = make_pipeline(FunctionTransformer(), model)
    found = private_cross_validate(
        mine, *blobs, cv=splitters.KFold(3), per_record=[FunctionTransformer]
    )
    assert len(found["estimator"]) == len(model.accountant.ledger) == 3


def test_nothing_is_charged_for_what_all_fits_cannot_have(blobs, plane):
    model = mdm(plane, total=2.0)
    with pytest.raises(BudgetExceededError, match=r"5 folds need 5 times GDP\(mu=1.0\)"):
        private_cross_validate(model, *blobs, cv=splitters.KFold(5))
    assert model.accountant.spent is None
    assert len(private_cross_validate(model, *blobs, cv=splitters.KFold(4))["estimator"]) == 4
    assert model.accountant.remaining is None
    with pytest.raises(BudgetExceededError):
        private_cross_validate(model, *blobs, cv=splitters.KFold(2))
    with pytest.raises(riemdp.UnsupportedError):  # an account of records
        private_cross_validate(
            mdm(plane).set_params(adjacency="add-remove"), *blobs, cv=HashedFold(2), ids=IDS
        )


def test_what_has_no_score_is_refused_before_the_charge(blobs, plane):
    account = Accountant(GDP(2.0))
    mean = PrivateFrechetMean(plane, GDP(1.0), accountant=account)
    with pytest.raises(TypeError, match="score"):
        private_cross_validate(mean, *blobs, cv=splitters.KFold(2))
    assert account.spent is None
    found = private_cross_validate(
        mean, blobs[0], cv=splitters.KFold(2), scoring=lambda fit, X: -np.abs(X - fit.mean_).max()
    )
    assert found["test_score"].max() < 0.0


def test_covariates_and_points_are_divided_alike(blobs, plane):
    points, _ = blobs
    line = PrivateTangentRegression(plane, GDP(1.0), -1.0, 1.0)
    found = private_cross_validate(line, points[:, 0], points, cv=splitters.KFold(3))
    assert found["test_score"].max() <= 0.0


def test_folds_without_records_have_no_score(plane):
    """Where numbers are private, nothing fails for want of records."""
    model = PrivateMDM(plane, GDP(1.0), ["a", "b"], adjacency="add-remove")
    found = private_cross_validate(model, np.zeros((1, 2)), ["a"], cv=HashedFold(2), ids=[3])
    assert sorted(np.isnan(found["test_score"])) == [False, True]
    assert len(found["estimator"]) == 2
