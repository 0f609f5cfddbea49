"""One release a fit, one account for all clones, and nothing else of the data."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import riemdp
from riemdp import GDP, Accountant, BudgetExceededError, InvalidParameterError, PureDP
from riemdp.estimators import HashedFold, PrivateFrechetMean, PrivateMDM, PrivateTangentSpace
from riemdp.estimators._base import AccountLeftBehind, generator_of, is_recentred


def fitted(estimator):
    return {name for name in vars(estimator) if name.endswith("_")}


def test_a_fit_is_one_release(make, fit, plane, budget):
    account = Accountant(GDP(2.0))
    estimator = fit(make(plane, budget, accountant=account))
    assert [entry.guarantee for entry in account.ledger] == [budget]
    assert estimator.guarantee_ == estimator.release_.guarantee == budget
    assert estimator.private_
    assert estimator.release_.private
    assert estimator.release_.proven
    assert estimator.release_.n == 240
    assert riemdp.verify(estimator.release_)
    assert estimator.n_features_in_ in (1, 2)


def test_attributes_come_of_the_release_alone(make, fit, plane, budget, monkeypatch):
    """The same release, of other records: the same attributes."""
    first = fit(make(plane, budget))
    module = __import__(type(first).__module__, fromlist=["x"])
    names = ["private_mean", "private_median", "private_statistic"]
    places = [
        (each, name)
        for each in (module, riemdp.estimators._classifiers)
        for name in names
        if hasattr(each, name)
    ]
    for each, name in places:
        monkeypatch.setattr(each, name, lambda *_, **__: first.release_)
    other = make(plane, budget)
    points = np.random.default_rng(5).normal(size=(240, 2))
    labels = np.repeat(["a", "b"], [10, 230])
    values = (points[:, 0], points) if "Regression" in type(first).__name__ else (points, labels)
    other.fit(*values)
    assert fitted(other) == fitted(first)
    for name in fitted(first) - {"release_"}:
        np.testing.assert_array_equal(getattr(other, name), getattr(first, name))


def test_a_fit_that_fails_leaves_nothing(make, fit, plane, budget):
    account = Accountant(GDP(1.0))
    estimator = make(plane, budget, accountant=account)
    before = dict(vars(fit(estimator)))
    with pytest.raises(BudgetExceededError):
        fit(estimator)
    assert vars(estimator) == before  # of the release that was paid for
    unfitted = clone(estimator)
    with pytest.raises(BudgetExceededError):
        fit(unfitted)
    assert fitted(unfitted) == set()
    # negative control: without the account it fits
    assert fitted(fit(unfitted.set_params(accountant=None)))


def test_clones_share_the_account(make, fit, plane, budget):
    account = Accountant(GDP(5.0))
    estimator = fit(make(plane, budget, accountant=account))
    other = clone(estimator)
    assert other.accountant is account
    assert other.get_params().keys() == estimator.get_params().keys()
    assert fitted(other) == set()
    assert other.budget == budget
    assert clone([estimator])[0].accountant is account
    with pytest.raises(TypeError):
        copy.deepcopy(account)  # what clone does of any other parameter


def test_clones_share_a_ball_that_was_found(blobs, plane):
    points, _ = blobs
    found = riemdp.private_ball(points, plane, GDP(1.0))
    mean = PrivateFrechetMean(found, None)
    other = clone(mean)
    assert other.ball is found
    assert mean.plan(240).budget == found.left
    mean.fit(points)
    assert found.left is None
    with pytest.raises(BudgetExceededError):
        other.fit(points)
    again = pickle.loads(pickle.dumps(mean))
    assert again.ball == found.ball
    np.testing.assert_array_equal(again.mean_, mean.mean_)
    with pytest.raises(BudgetExceededError, match="pickled"):
        again.set_params(budget=GDP(1.0)).fit(points)


def test_clones_keep_the_form_of_output(plane, budget, blobs):
    space = PrivateTangentSpace(plane, budget).set_output(transform="pandas")
    assert isinstance(clone(space).fit_transform(blobs[0]), pd.DataFrame)


def test_cross_validation_is_charged_fold_by_fold(blobs, plane):
    account = Accountant(GDP(2.0))  # four folds of GDP(1)
    mdm = PrivateMDM(plane, GDP(1.0), ["a", "b"], accountant=account)
    with pytest.raises(BudgetExceededError):
        cross_val_score(mdm, *blobs, cv=KFold(5), error_score="raise")
    assert account.remaining is None
    assert len(account.ledger) == 4
    # negative control: each fold has a budget of its own
    assert len(cross_val_score(mdm.set_params(accountant=None), *blobs, cv=KFold(5))) == 5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_folds_beyond_the_budget_have_no_attributes(blobs, plane):
    account = Accountant(GDP(2.0))
    mdm = PrivateMDM(plane, GDP(1.0), ["a", "b"], accountant=account)
    found = cross_validate(mdm, *blobs, cv=KFold(6), error_score=np.nan, return_estimator=True)
    assert np.isfinite(found["test_score"]).tolist() == [True] * 4 + [False] * 2
    assert [bool(fitted(each)) for each in found["estimator"]] == [True] * 4 + [False] * 2
    with pytest.raises(NotFittedError):
        found["estimator"][-1].predict(blobs[0])


def test_a_search_is_charged_for_every_fit(blobs, plane):
    account = Accountant(GDP(10.0))
    mdm = PrivateMDM(plane, GDP(1.0), ["a", "b"], accountant=account)
    search = GridSearchCV(mdm, {"alpha": [1.5, 2.0], "budget": [GDP(0.5), GDP(1.0)]}, cv=KFold(3))
    search.fit(*blobs)
    assert len(account.ledger) == 13
    assert search.best_estimator_.accountant is account


def test_what_is_pickled_pays_no_more(make, fit, plane, budget, blobs):
    account = Accountant(GDP(5.0))
    estimator = fit(make(plane, budget, accountant=account))
    again = pickle.loads(pickle.dumps(estimator))
    assert fitted(again) == fitted(estimator)
    np.testing.assert_array_equal(again.release_.raw, estimator.release_.raw)
    for method in ("transform", "predict"):
        if hasattr(estimator, method):
            X = blobs[0][:5, : estimator.n_features_in_]
            expected = getattr(estimator, method)(X)
            np.testing.assert_array_equal(getattr(again, method)(X), expected)
    with pytest.raises(BudgetExceededError, match="set_params"):
        fit(again)
    assert isinstance(again.accountant, AccountLeftBehind)
    assert repr(again.accountant) == "AccountLeftBehind()"
    assert isinstance(copy.copy(estimator).accountant, AccountLeftBehind)
    assert estimator.accountant is account
    fit(again.set_params(accountant=account))
    assert len(account.ledger) == 2
    free = pickle.loads(pickle.dumps(make(plane, budget)))
    assert free.accountant is None  # there was none to be left behind


@pytest.mark.slow  # it starts processes
def test_workers_have_no_account(blobs, plane):
    account = Accountant(GDP(9.0))
    mdm = PrivateMDM(plane, GDP(1.0), ["a", "b"], accountant=account)
    with pytest.raises(BudgetExceededError, match="set_params"):
        cross_val_score(mdm, *blobs, cv=KFold(3), n_jobs=2, error_score="raise")
    assert account.spent is None


@pytest.mark.slow  # it starts processes
def test_workers_share_a_ledger_with_a_key(blobs, plane, tmp_path, monkeypatch):
    pytest.importorskip("sqlalchemy")
    from riemdp.ledger import Ledger

    (tmp_path / "key").write_bytes(b"k" * 32)
    ledger = Ledger(tmp_path / "ledger.db", key=b"k" * 32)
    account = ledger.register("folds", GDP(2.0), unit="record", adjacency="replace-one")
    mdm = PrivateMDM(plane, GDP(1.0), ["a", "b"], accountant=account)
    assert b"kkkk" not in pickle.dumps(mdm)
    monkeypatch.delenv("RIEMDP_LEDGER_KEY", raising=False)
    with pytest.raises(InvalidParameterError, match="RIEMDP_LEDGER_KEY"):
        pickle.loads(pickle.dumps(mdm)).fit(*blobs)
    assert account.spent is None
    monkeypatch.setenv("RIEMDP_LEDGER_KEY", str(tmp_path / "key"))
    cross_val_score(mdm, *blobs, cv=4, n_jobs=2, error_score="raise")
    assert account.remaining is None
    assert len(account.entries()) == 4


def test_seeded_fits_are_not_private(make, fit, plane, budget):
    one, two = (fit(make(plane, budget, random_state=3)) for _ in range(2))
    np.testing.assert_array_equal(one.release_.raw, two.release_.raw)
    assert not one.private_
    assert one.release_.warnings
    source = np.random.default_rng(3)
    three = fit(make(plane, budget, random_state=source))
    np.testing.assert_array_equal(three.release_.raw, one.release_.raw)
    assert clone(three).random_state is source
    fresh = fit(make(plane, budget))
    assert not np.array_equal(fresh.release_.raw, one.release_.raw)
    secure = riemdp.secure_generator()
    private = fit(make(plane, budget, random_state=secure))
    assert private.private_
    assert clone(private).random_state is secure
    assert pickle.loads(pickle.dumps(private)).random_state is None


def test_generators():
    assert generator_of(None) is None
    old = [generator_of(np.random.RandomState(1)).random() for _ in range(2)]
    assert old[0] == old[1]
    assert generator_of(np.int64(4)).random() == np.random.default_rng(4).random()
    state = np.random.RandomState(1)
    assert generator_of(state).random() != generator_of(state).random()
    for wrong in (True, -1, 1.5, "one", np.random, [1]):
        with pytest.raises(InvalidParameterError, match="random_state"):
            generator_of(wrong)


def test_a_plan_is_of_public_numbers(make, fit, plane, budget):
    estimator = make(plane, budget, mechanism="tangent-gaussian")
    plan = estimator.plan(240)
    assert fitted(estimator) == set()
    row = plan["tangent-gaussian"]
    release = fit(estimator).release_
    assert (row.sigma, row.summary) == (release.sigma, release.statistic.name)
    assert len(plan) == 1
    assert estimator.plan(240, target_error=0.1)[row.mechanism].required_n is not None
    # and of all mechanisms where none is named, the one that a fit takes
    auto = make(plane, budget)
    assert auto.plan(240).best.mechanism == fit(auto).release_.mechanism.name


@pytest.mark.parametrize("n", [0, 2.5, True])
def test_a_plan_is_of_a_number_of_records(plane, budget, n):
    with pytest.raises(InvalidParameterError, match="n, the number of points, must be"):
        PrivateFrechetMean(plane, budget).plan(n)


def test_bases():
    assert is_recentred("recentred")
    assert not is_recentred("public")
    for wrong in ("centre", None, np.zeros(2)):
        with pytest.raises(InvalidParameterError, match="base must be"):
            is_recentred(wrong)


def test_parameters_are_checked_by_fit(make, fit, plane):
    for wrong in (make("ball", GDP(1.0)), make(plane, None), make(plane, 1.0)):
        with pytest.raises(InvalidParameterError):
            fit(wrong)
        assert fitted(wrong) == set()
        assert repr(wrong)
        dir(wrong)


def test_other_definitions(make, fit, plane):
    estimator = fit(make(plane, PureDP(2.0)))
    assert estimator.guarantee_ == PureDP(2.0)


def test_errors_hold_no_coordinates(make, plane, budget, blobs):
    points, labels = blobs
    points = points.copy()
    points[7] = [0.123456, np.nan]
    estimator = make(plane, budget)
    regression = "Regression" in type(estimator).__name__
    given = (np.arange(240.0), points) if regression else (points, labels)
    with pytest.raises(riemdp.NotOnManifoldError, match="row 7") as caught:
        estimator.fit(*given)
    assert "123456" not in str(caught.value)
    assert fitted(estimator) == set()


@pytest.mark.fast(3)
def test_people_are_protected_where_it_is_said_whose_each_record_is(make, blobs, plane, budget):
    """In every estimator: none may take users and forget them."""
    points, labels = blobs
    order = np.argsort(labels, kind="stable")
    points, labels, users = points[order], labels[order], np.arange(240) // 4
    estimator = make(plane, budget, random_state=0)
    regression = type(estimator).__name__ == "PrivateTangentRegression"
    data = (points[:, 0], points) if regression else (points, labels)
    fitted = estimator.fit(*data, users=users, people=60)
    assert fitted.release_.n == 60
    assert fitted.guarantee_ == GDP(1.0, adjacency="replace-user")
    assert riemdp.verify(fitted.release_).passed
    assert estimator.plan(users=True, people=60).budget == fitted.guarantee_
    fitted = estimator.fit(*data, users=users)
    assert fitted.release_.n is None
    assert fitted.guarantee_ == GDP(1.0, adjacency="add-remove-user")
    assert riemdp.verify(fitted.release_).passed
    assert estimator.plan(60, users=True).budget == fitted.guarantee_
    with pytest.raises(InvalidParameterError, match="one for each point"):
        estimator.fit(*data, users=users[1:])


def test_folds_tell_no_number_of_people(blobs, plane, budget):
    """Person 0 has 3 records or 30, and no public number of any fit of a cross-validation moves."""
    points, labels = blobs
    order = np.argsort(labels, kind="stable")
    points, labels = points[order][:146], labels[order][:146]
    public = []
    for own in (3, 30):
        users = np.concatenate([[0] * own, 1 + np.arange(146 - own) % 39])
        found = cross_validate(
            PrivateFrechetMean(plane, budget),
            points,
            labels,
            groups=users,
            cv=GroupKFold(5),
            params={"users": users},
            return_estimator=True,
            scoring=lambda *_: 0.0,
        )["estimator"]
        public.append([(fit.release_.n, fit.release_.sigma) for fit in found])
    assert public[0] == public[1]
    assert {n for n, _ in public[0]} == {None}


@pytest.mark.fast(3)
def test_the_number_of_records_may_be_private(make, fit, plane, budget):
    estimator = make(plane, budget, adjacency="add-remove", random_state=0)
    fitted = fit(estimator)
    assert fitted.release_.n is None
    assert fitted.guarantee_ == GDP(1.0, adjacency="add-remove")
    assert riemdp.verify(fitted.release_).passed
    if hasattr(fitted, "counts_"):
        np.testing.assert_allclose(fitted.counts_, [120, 120], atol=25.0)
    assert fitted.get_params()["adjacency"] == clone(fitted).adjacency == "add-remove"
    assert "supposed" in str(estimator.plan(240))


@pytest.mark.parametrize("listed", [False, True])
def test_nobody_learns_that_there_are_no_records(make, fit, plane, budget, listed):
    """Where their number is private, none are fitted like any others."""
    estimator = make(plane, budget, adjacency="add-remove", random_state=0)
    regression, labelled = hasattr(estimator, "low"), hasattr(estimator, "classes")
    rows = [] if listed else np.empty((0, 2))
    nothing = [] if listed else np.array([])
    if regression:
        fitted = estimator.fit(nothing, rows)
    else:
        fitted = estimator.fit(rows, nothing) if labelled else estimator.fit(rows)
    assert fitted.release_.n is None
    assert riemdp.verify(fitted.release_).passed


def test_users_go_through_pipelines_and_folds(blobs, plane, budget):
    points, labels = blobs
    order = np.argsort(labels, kind="stable")
    points, labels, users = points[order], labels[order], np.arange(240) // 4
    model = PrivateMDM(plane, budget, ["a", "b"])
    pipeline = make_pipeline(FunctionTransformer(), clone(model))
    pipeline.fit(points, labels, privatemdm__users=users, privatemdm__people=60)
    assert pipeline[-1].guarantee_.adjacency == "replace-user"
    account = Accountant(GDP(1.5))
    with pytest.raises(riemdp.UnsupportedError):  # an account of records
        model.set_params(accountant=account).fit(points, labels, users=users)
    assert account.spent is None
    account = Accountant(GDP(2.0), adjacency="add-remove-user")
    model.set_params(accountant=account, random_state=0)
    folds = {"groups": users, "cv": HashedFold(3), "params": {"users": users}}
    scores = cross_val_score(model, points, labels, error_score="raise", **folds)
    assert scores.min() > 0.8
    assert len(model.accountant.ledger) == 3
