"""Whom a release protects: what calls say of it, and what contradicts itself."""

from __future__ import annotations

import dataclasses
import functools
import json

import numpy as np
import pytest

import riemdp
from riemdp import Accountant, verify
from riemdp._errors import (
    InvalidParameterError,
    NotOnManifoldError,
    UnsupportedError,
    UnsupportedNeighboursError,
)
from riemdp.manifolds import Ball, Sphere
from riemdp.privacy import GDP
from riemdp.release import private_mean, private_moments, private_statistic
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    Groups,
    Prepared,
    Records,
    ReplaceOne,
    ReplacePoint,
    ReplaceUser,
    TangentMean,
)

SPHERE = Sphere(2)
BALL = Ball(SPHERE, SPHERE.origin, 0.5)
POINTS = BALL.point(np.random.default_rng(0).normal(scale=0.15, size=(40, 2)))
USERS = np.arange(40) // 4

mean = functools.partial(private_mean, POINTS, BALL)


@pytest.mark.parametrize(
    ("budget", "options", "relation", "n"),
    [
        (GDP(0.5), {}, ReplaceOne(), 40),
        (GDP(0.5), {"adjacency": "replace-one"}, ReplaceOne(), 40),
        (GDP(0.5), {"adjacency": "add-remove"}, AddRemove(), None),
        (GDP(0.5, adjacency="add-remove"), {}, AddRemove(), None),
        (GDP(0.5), {"users": USERS}, ReplaceUser(), 10),
        (GDP(0.5, adjacency="replace-user"), {"users": USERS}, ReplaceUser(), 10),
        (GDP(0.5), {"users": USERS, "adjacency": "add-remove"}, AddRemoveUser(), None),
        (GDP(0.5, adjacency="add-remove-user"), {"users": USERS}, AddRemoveUser(), None),
    ],
)
def test_a_call_or_its_budget_says_whom_the_guarantee_protects(budget, options, relation, n):
    release = mean(budget, **options)
    assert (release.neighbours, release.n) == (relation, n)
    assert release.guarantee == GDP(0.5, adjacency=relation.adjacency)
    assert verify(release).passed
    again = riemdp.Release.from_json(release.to_json())
    assert (again.neighbours, again.n, again.guarantee) == (relation, n, release.guarantee)


@pytest.mark.parametrize(
    ("budget", "options", "said"),
    [
        (GDP(0.5), {"adjacency": "add"}, "adjacency must be"),
        (GDP(0.5), {"adjacency": "add-remove", "neighbours": AddRemove()}, "not both"),
        (GDP(0.5, adjacency="add-remove"), {"neighbours": ReplaceOne()}, "one relation"),
        (GDP(0.5, adjacency="add-remove"), {"adjacency": "replace-one"}, "one relation"),
        (GDP(0.5, adjacency="add-remove"), {"users": USERS}, "one relation"),
        (GDP(0.5, adjacency="replace-user"), {}, "one relation"),
        (GDP(0.5), {"users": USERS, "neighbours": ReplaceOne()}, "users"),
        (GDP(0.5), {"neighbours": ReplaceUser()}, "users"),
        (GDP(0.5), {"users": USERS[1:]}, "one for each point"),
        (GDP(0.5), {"users": np.full(40, np.nan)}, "integers or texts"),
        (GDP(0.5), {"users": [True, *USERS[1:].tolist()]}, "integers or texts"),
        (GDP(0.5), {"users": [None] * 40}, "integers or texts"),
    ],
)
def test_contradictions_are_refused_before_anything_is_spent(budget, options, said):
    accountant = Accountant(GDP(1.0))
    with pytest.raises((InvalidParameterError, UnsupportedNeighboursError), match=said):
        mean(budget, accountant=accountant, **options)
    assert accountant.spent is None


@pytest.mark.parametrize(
    ("budget", "options"),
    [
        (GDP(0.5), {"adjacency": "add-remove"}),
        (GDP(0.5, adjacency="add-remove"), {}),
        (GDP(0.5), {"users": USERS}),
    ],
)
def test_a_search_for_a_ball_is_for_one_record_that_is_replaced(budget, options):
    accountant = Accountant(GDP(1.0))
    with pytest.raises(UnsupportedNeighboursError, match="search"):
        mean(budget, adapt=True, accountant=accountant, **options)
    assert accountant.spent is None
    found = riemdp.private_ball(POINTS, BALL, GDP(0.5))
    with pytest.raises(UnsupportedNeighboursError, match="search"):
        private_mean(POINTS, found, budget, **options)
    assert found.left == GDP(0.5)


def test_users_come_with_the_records_or_by_themselves():
    draw = functools.partial(private_statistic, TangentMean(), ball=BALL, budget=GDP(0.5))
    first = draw(points=Records(POINTS, users=USERS), generator=np.random.default_rng(3))
    second = draw(points=POINTS, users=USERS, generator=np.random.default_rng(3))
    assert first.neighbours == second.neighbours == ReplaceUser()
    np.testing.assert_array_equal(first.value, second.value)
    with pytest.raises(InvalidParameterError, match="once"):
        draw(points=Records(POINTS, users=USERS), users=USERS)


def test_no_record_and_one_are_neighbours_where_their_number_is_private():
    for records in (POINTS[:0], POINTS[:1]):
        release = private_mean(records, BALL, GDP(0.5), adjacency="add-remove")
        assert release.n is None
        assert verify(release).passed
    nobody = private_mean(POINTS[:0], BALL, GDP(0.5), adjacency="add-remove", users=[])
    assert verify(nobody).passed
    with pytest.raises(NotOnManifoldError, match="empty"):
        private_mean(POINTS[:0], BALL, GDP(0.5))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"adjacency": "add-remove"}, "add-remove"),
        ({"users": USERS}, "replace-user"),
        ({"users": USERS, "adjacency": "add-remove"}, "add-remove-user"),
    ],
)
def test_an_account_is_charged_for_the_relation_that_it_is_about(options, name):
    account = Accountant(GDP(1.0), adjacency=name)
    release = mean(GDP(0.5), accountant=account, **options)
    assert account.spent == release.guarantee == GDP(0.5, adjacency=name)
    of_records = Accountant(GDP(1.0))
    with pytest.raises(UnsupportedNeighboursError):
        mean(GDP(0.5), accountant=of_records, **options)
    assert of_records.spent is None
    with pytest.raises(riemdp.UnsupportedError):
        mean(GDP(0.5), accountant=account)
    assert account.spent == release.guarantee


def document_of(**options):
    return json.loads(mean(GDP(0.5), **options).to_json())


def read(document):
    return riemdp.Release.from_json(json.dumps(document))


def failed(document):
    return {check.name for check in verify(read(document)).checks if not check.passed}


def test_a_document_says_its_relation_and_no_private_number():
    document = document_of(adjacency="add-remove")
    assert document["n"] is None
    assert "add-remove" in json.dumps(document["neighbours"])
    assert failed(document) == set()
    for n in (40, 0, -1, 40.0, True, "40"):
        with pytest.raises(InvalidParameterError, match="n must be null"):
            read({**document, "n": n})
    public = document_of()
    with pytest.raises(InvalidParameterError, match="n"):
        read({**public, "n": None})


def test_a_document_with_another_relation_fails():
    document = document_of(adjacency="add-remove")
    one = document_of()["neighbours"]
    with pytest.raises(InvalidParameterError, match="n"):
        read({**document, "neighbours": one})
    assert "guarantee" in failed({**document, "neighbours": one, "n": 40})
    assert "sensitivity" in failed({**document, "neighbours": one, "n": 40})
    # and the other way: a mean of n records has no sensitivity where n is private
    public = {**document_of(mechanism="tangent-gaussian"), "n": None}
    assert failed({**public, "neighbours": document["neighbours"]}) >= {"sensitivity", "guarantee"}


def test_a_document_whose_count_has_another_weight_fails():
    document = document_of(adjacency="add-remove")
    weight = document["statistic"]["weight"]
    lighter = {**document["statistic"], "weight": 0.5 * weight}
    assert "sensitivity" in failed({**document, "statistic": lighter})
    heavier = {**document["statistic"], "weight": 2.0 * weight}
    assert failed({**document, "statistic": heavier}) >= {"sensitivity", "guarantee"}


def test_a_document_about_people_is_not_one_about_as_many_records():
    """Its number is that of the people: with that of their records it fails."""
    document = document_of(users=USERS)
    assert document["n"] == 10
    records = {**document, "neighbours": document_of()["neighbours"], "n": 40}
    assert "sensitivity" in failed(records)
    assert read(document).guarantee == GDP(0.5, adjacency="replace-user")
    assert not GDP(0.5).follows_from(read(document).guarantee)


def test_what_is_said_of_a_private_number_does_not_depend_on_it():
    few, many = (private_mean(POINTS[:n], BALL, GDP(0.5), adjacency="add-remove") for n in (3, 40))
    assert few.reason == many.reason
    assert "/ n)" in few.reason
    assert "/ n" not in mean(GDP(0.5)).reason
    for one in ("sigma", "sensitivity", "tol", "statistic", "mechanism"):
        assert getattr(few, one) == getattr(many, one)
    assert any("n private" in check.detail for check in verify(few).checks)


@pytest.mark.parametrize("wrong", [np.zeros((17, 4)), np.zeros((17, 2, 3)), np.zeros(17)])
def test_errors_do_not_say_how_many_records_there_are(wrong):
    with pytest.raises(NotOnManifoldError) as caught:
        private_mean(wrong, BALL, GDP(0.5), adjacency="add-remove")
    assert "17" not in str(caught.value)
    with pytest.raises(NotOnManifoldError, match="row 16"):
        private_mean(
            np.vstack([POINTS[:16], [[2.0, 0.0, 0.0]]]), BALL, GDP(0.5), adjacency="add-remove"
        )


@pytest.mark.parametrize(
    ("options", "by_themselves"),
    [
        ({}, False),
        ({"neighbours": Groups(3)}, False),
        ({"adjacency": "add-remove"}, True),
        ({"users": USERS}, True),
        ({"users": USERS, "adjacency": "add-remove"}, True),
    ],
)
def test_records_are_worked_on_by_themselves_where_neighbours_keep_no_places(
    monkeypatch, options, by_themselves
):
    """Every release, twice: where rows are validated, and where the statistic sees them."""
    seen = []

    class Watched(Prepared):
        def __init__(self, *arguments, one_by_one=False):
            seen.append(one_by_one)
            super().__init__(*arguments, one_by_one=one_by_one)

    def watched(self, manifold, *, one_by_one=False):
        seen.append(one_by_one)
        return validated(self, manifold, one_by_one=one_by_one)

    validated = Records.validated
    monkeypatch.setattr("riemdp.release._run.Prepared", Watched)
    monkeypatch.setattr(Records, "validated", watched)
    release = mean(GDP(0.5), mechanism="tangent-gaussian", **options)
    assert seen == [by_themselves] * 2
    assert release.neighbours.keeps_places is not by_themselves


def test_an_account_that_names_no_relation_is_one_of_replaced_records():
    """Of another package: it would add up whatever it is given."""

    class Sum:
        charged = ()

        def spend(self, guarantee, label):
            self.charged += (guarantee,)

    account = Sum()
    for options in ({"adjacency": "add-remove"}, {"users": USERS}, {"neighbours": ReplacePoint()}):
        with pytest.raises(UnsupportedNeighboursError, match="replace-one data sets"):
            mean(GDP(0.5), accountant=account, **options)
    assert account.charged == ()
    mean(GDP(0.5), accountant=account)
    assert account.charged == (GDP(0.5),)


def test_a_public_number_of_records_is_part_of_a_release():
    release = mean(GDP(0.5))
    with pytest.raises(InvalidParameterError, match="n must be an integer, got None"):
        dataclasses.replace(release, n=None)


@pytest.mark.parametrize("relation", [ReplaceOne(), Groups(4), AddRemove()], ids=str)
def test_users_are_for_relations_between_people(relation):
    said = f"does not count under {relation.name}; leave users out"
    with pytest.raises(InvalidParameterError, match=said):
        mean(GDP(0.5), neighbours=relation, users=USERS)


def test_no_inference_is_made_from_a_number_that_is_private():
    generator = np.random.default_rng(0)
    public, private = (
        private_moments(
            POINTS, BALL, GDP(2.0), second="matrix", adjacency=name, generator=generator
        )
        for name in ("replace-one", "add-remove")
    )
    assert public.confidence_region(0.95) is not None
    with pytest.raises(UnsupportedError, match="that of this release is private"):
        private.confidence_region(0.95)
