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
    ReleaseFailedError,
    UnsupportedError,
    UnsupportedNeighboursError,
)
from riemdp.privacy import GDP
from riemdp.release import private_mean, private_moments, private_statistic
from riemdp.spaces import Ball, Sphere
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    Groups,
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
        (GDP(0.5), {"users": USERS}, AddRemoveUser(), None),
        (GDP(0.5), {"users": USERS, "people": 10}, ReplaceUser(), 10),
        (GDP(0.5), {"users": USERS, "people": 12}, ReplaceUser(), 12),
        (GDP(0.5), {"users": USERS, "people": 10, "adjacency": ReplaceUser()}, ReplaceUser(), 10),
        (GDP(0.5), {"users": USERS, "people": 10, "adjacency": "replace-user"}, ReplaceUser(), 10),
        (GDP(0.5), {"users": USERS, "adjacency": "add-remove-user"}, AddRemoveUser(), None),
        (GDP(0.5), {"adjacency": "replace-point"}, ReplacePoint(), 40),
        (GDP(0.5, adjacency="replace-user"), {"users": USERS, "people": 10}, ReplaceUser(), 10),
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
        (GDP(0.5), {"adjacency": "replace-user", "people": 10}, "users"),
        (GDP(0.5, adjacency="add-remove"), {"adjacency": ReplaceOne()}, "one relation"),
        (GDP(0.5, adjacency="add-remove"), {"adjacency": "replace-one"}, "one relation"),
        (GDP(0.5, adjacency="add-remove"), {"users": USERS}, "one relation"),
        (GDP(0.5, adjacency="replace-user"), {}, "one relation"),
        (GDP(0.5), {"adjacency": ReplaceUser()}, "users"),
        (GDP(0.5), {"adjacency": ReplaceUser(), "people": 10}, "users"),
        (GDP(0.5), {"users": USERS, "adjacency": "replace-one"}, "people=.* ask for add-remove"),
        (GDP(0.5), {"users": USERS, "adjacency": ReplaceUser()}, "people=.* ask for add-remove"),
        (GDP(0.5, adjacency="replace-user"), {"users": USERS}, "people=.* ask for add-remove"),
        (GDP(0.5), {"people": 10}, "users="),
        (GDP(0.5), {"people": 10, "adjacency": AddRemove()}, "users="),
        (GDP(0.5), {"users": USERS, "people": 10, "adjacency": "add-remove"}, "private"),
        (GDP(0.5, adjacency="add-remove-user"), {"users": USERS, "people": 10}, "private"),
        (GDP(0.5), {"users": USERS, "people": 10, "adjacency": AddRemoveUser()}, "private"),
        (GDP(0.5), {"users": USERS, "n": 10}, "leave out n, .*people="),
        (GDP(0.5), {"users": USERS, "n": 10, "people": 10}, "leave out n"),
        (GDP(0.5), {"users": USERS, "people": 0}, "people, .* must be"),
        (GDP(0.5), {"users": USERS, "people": 10.0}, "people, .* must be"),
        (GDP(0.5), {"users": USERS, "people": []}, "people, .* must be"),
        (GDP(0.5), {"users": USERS, "people": "0123456789"}, "people, .* must be"),
        (GDP(0.5), {"users": USERS, "people": dict.fromkeys(range(10))}, "people, .* must be"),
        (GDP(0.5), {"users": USERS, "people": np.ones((2, 5), dtype=int)}, "people, .* must be"),
        (GDP(0.5), {"users": USERS, "people": [*range(10), 3]}, "an id twice"),
        (GDP(0.5), {"users": USERS, "people": [*range(10), 0.5]}, "integers or texts"),
        (GDP(0.5), {"people": range(10)}, "users="),
        (GDP(0.5), {"users": USERS[1:]}, "one for each point"),
    ],
)
def test_contradictions_are_refused_before_anything_is_spent(budget, options, said):
    about_people = "replace-user" if "people" in options else "add-remove-user"
    accountant = Accountant(GDP(1.0), adjacency=about_people if options else None)
    with pytest.raises((InvalidParameterError, UnsupportedNeighboursError), match=said):
        mean(budget, accountant=accountant, **options)
    assert accountant.spent is None


def test_users_come_with_the_records_or_by_themselves():
    draw = functools.partial(private_statistic, TangentMean(), ball=BALL, budget=GDP(0.5))
    first = draw(points=Records(POINTS, users=USERS), generator=np.random.default_rng(3))
    second = draw(points=POINTS, users=USERS, generator=np.random.default_rng(3))
    assert first.neighbours == second.neighbours == AddRemoveUser()
    np.testing.assert_array_equal(first.value, second.value)
    with pytest.raises(InvalidParameterError, match="once"):
        draw(points=Records(POINTS, users=USERS), users=USERS)


@pytest.mark.parametrize("listed", [range(12), np.arange(12), {*range(12)}, [*range(12), "3"]])
def test_people_may_be_a_public_list_of_whom_some_have_no_record(listed):
    release = mean(GDP(0.5), users=USERS, people=listed, generator=np.random.default_rng(3))
    stated = mean(GDP(0.5), users=USERS, people=len(listed), generator=np.random.default_rng(3))
    assert (release.neighbours, release.n) == (ReplaceUser(), len(listed))
    np.testing.assert_array_equal(release.value, stated.value)
    assert verify(release).passed


def test_a_record_of_nobody_on_the_list_is_an_error_about_the_data():
    users = USERS.tolist()
    users[17] = "4"  # not the integer, which is on the list
    for people in (range(10), [*range(4), *range(5, 20)]):
        with pytest.raises(InvalidParameterError, match=r"^row 1[67]: it is of nobody on the"):
            mean(GDP(0.5), users=users, people=people)
        with pytest.raises(InvalidParameterError, match=r"^row 1[67]: "):
            riemdp.check(POINTS, BALL, users=users, people=people)
        account = Accountant(GDP(1.0), adjacency="replace-user")
        with pytest.raises(ReleaseFailedError):
            mean(GDP(0.5), users=users, people=people, accountant=account)
        assert account.spent == GDP(0.5, adjacency="replace-user")
    assert mean(GDP(0.5), users=users, people=[*range(10), "4"]).n == 11


def test_lists_are_for_directions_and_plans_and_groups_too():
    people = [*range(10), "nobody"]
    summary = functools.partial(riemdp.private_directional_summary, POINTS, GDP(0.5), users=USERS)
    assert summary(people=people).n == 11
    with pytest.raises(InvalidParameterError, match=r"^row 0: it is of nobody"):
        summary(people=people[1:])
    found = riemdp.plan(SPHERE, 0.5, None, GDP(0.5), users=True, people=people)
    assert found.n == 11
    groups, users = {"a": POINTS[:20], "b": POINTS[20:]}, {"a": USERS[:20], "b": USERS[20:]}
    means = functools.partial(riemdp.private_means, groups, BALL, GDP(0.5), users=users)
    listed = {"a": [*range(5), "nobody"], "b": range(5, 10)}
    assert [each.n for each in means(people=listed).releases.values()] == [6, 5]
    with pytest.raises(InvalidParameterError, match=r"^group 'a': row 16: it is of nobody"):
        means(people={**listed, "a": range(4)})
    account = Accountant(GDP(1.0), adjacency="replace-user")
    with pytest.raises(InvalidParameterError, match="on the lists of people of groups 'a' and 'b'"):
        means(people={**listed, "a": range(6)}, accountant=account)
    assert account.spent is None
    # somebody who is on one list and has no record there, and has records in another group
    with pytest.raises(InvalidParameterError, match="row 0 of group 'b' is of somebody on"):
        means(people={"a": range(6), "b": 5})


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
        ({"users": USERS, "people": 10}, "replace-user"),
        ({"users": USERS}, "add-remove-user"),
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


def with_header(document, **given):
    return {**document, "header": {**document["header"], **given}}


def read(document):
    return riemdp.Release.from_json(json.dumps(document))


def failed(document):
    return {check.name for check in verify(read(document)).checks if not check.passed}


def test_a_document_says_its_relation_and_no_private_number():
    document = document_of(adjacency="add-remove")
    assert document["header"]["n"] is None
    assert "add-remove" in json.dumps(document["header"]["neighbours"])
    assert failed(document) == set()
    for n in (40, 0, -1, 40.0, True, "40"):
        with pytest.raises(InvalidParameterError, match="n must be null"):
            read(with_header(document, n=n))
    public = document_of()
    with pytest.raises(InvalidParameterError, match="n"):
        read(with_header(public, n=None))


def test_a_document_with_another_relation_fails():
    document = document_of(adjacency="add-remove")
    one = document_of()["header"]["neighbours"]
    with pytest.raises(InvalidParameterError, match="n"):
        read(with_header(document, neighbours=one))
    assert "guarantee" in failed(with_header(document, neighbours=one, n=40))
    assert "sensitivity" in failed(with_header(document, neighbours=one, n=40))
    # and the other way: a mean of n records has no sensitivity where n is private
    public = with_header(document_of(mechanism="tangent-gaussian"), n=None)
    assert failed(with_header(public, neighbours=document["header"]["neighbours"])) >= {
        "sensitivity",
        "guarantee",
    }


def test_a_document_whose_count_has_another_weight_fails():
    document = document_of(adjacency="add-remove")
    weight = document["header"]["statistic"]["weight"]
    for factor in (0.5, 2.0):  # by which records count otherwise, and move no farther
        other = {**document["header"]["statistic"], "weight": factor * weight}
        assert failed(with_header(document, statistic=other)) == {"arithmetic"}


def test_a_document_about_people_is_not_one_about_as_many_records():
    """Its number is that of the people: with that of their records it fails."""
    document = document_of(users=USERS, people=10)
    assert document["header"]["n"] == 10
    records = with_header(document, neighbours=document_of()["header"]["neighbours"], n=40)
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
    ("options", "told"),
    [
        ({}, True),
        ({"adjacency": Groups(3)}, True),
        ({"adjacency": "add-remove"}, False),
        ({"users": USERS, "people": 10}, False),
        ({"users": USERS}, False),
    ],
)
def test_errors_tell_how_many_records_there_are_where_that_is_public(monkeypatch, options, told):
    seen = []

    def watched(self, manifold, *, tells_number=True):
        seen.append(tells_number)
        return validated(self, manifold, tells_number=tells_number)

    validated = Records.validated
    monkeypatch.setattr(Records, "validated", watched)
    release = mean(GDP(0.5), mechanism="tangent-gaussian", **options)
    assert seen == [told]
    assert release.neighbours.keeps_places is told


def test_an_account_that_names_no_relation_is_one_of_replaced_records():
    """Of another package: it would add up whatever it is given."""

    class Sum:
        charged = ()

        def spend(self, guarantee, label):
            self.charged += (guarantee,)

    account = Sum()
    for options in ({"adjacency": "add-remove"}, {"users": USERS}, {"adjacency": ReplacePoint()}):
        with pytest.raises(UnsupportedNeighboursError, match="replace-one data sets"):
            mean(GDP(0.5), accountant=account, **options)
    assert account.charged == ()
    mean(GDP(0.5), accountant=account)
    assert account.charged == (GDP(0.5),)


@pytest.mark.parametrize("users", [np.full(40, np.nan), [True, *range(39)], [None] * 40], ids=len)
def test_ids_are_integers_or_texts(users):
    with pytest.raises(InvalidParameterError, match="integers or texts"):
        mean(GDP(0.5), users=users)


def test_a_public_number_of_records_is_part_of_a_release():
    release = mean(GDP(0.5))
    with pytest.raises(InvalidParameterError, match="n must be an integer, got None"):
        dataclasses.replace(release, n=None)


# The number of people is public only if it is stated

#: Data sets that differ in one person: more records, one who moves, one person more, or fewer.
CROWDS = (
    (POINTS, USERS),
    (POINTS, np.minimum(USERS, 8)),
    (POINTS, np.where(np.arange(40) == 0, 99, USERS)),
    (POINTS[4:], USERS[4:]),
    (POINTS[:1], USERS[:1]),
)
ENTRY_POINTS = {
    "mean": functools.partial(private_mean, ball=BALL),
    "refined": functools.partial(private_mean, ball=BALL, method="refined"),
    "contribution": functools.partial(private_mean, ball=BALL, contribution=3),
    "statistic": functools.partial(private_statistic, TangentMean(), ball=BALL),
    "moments": functools.partial(private_moments, ball=BALL),
    "variance": functools.partial(riemdp.private_variance, ball=BALL),
    "median": functools.partial(
        riemdp.private_statistic, riemdp.statistics.GeometricMedian(steps=2), ball=BALL
    ),
    "huber": functools.partial(
        riemdp.private_statistic, riemdp.statistics.HuberMean(steps=2), ball=BALL
    ),
    "directions": riemdp.private_directional_summary,
    "axes": functools.partial(riemdp.private_directional_summary, axial=True),
}
DRAWN = {"value", "rounded"}
#: Of a private number, a sum of weights, or a length that was clipped to: as it was released.
OF_COUNT = {"expected_distance", "error_quantile_95"}


def header(release):
    is_public = release.n is not None and not release.neighbours.adds and len(release.scales) == 1
    left_out = DRAWN if is_public else DRAWN | OF_COUNT
    document = json.loads(release.to_json())
    del document["header"]["nonce"]  # of which each release has its own
    return {name: value for name, value in document.items() if name not in left_out}


@pytest.mark.parametrize("people", [None, 12], ids=["private", "stated"])
@pytest.mark.parametrize("release_of", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
def test_no_public_number_follows_the_ids(release_of, people):
    """Header, noise, sensitivity and stated error are the same for all data sets."""
    first, *others = (
        release_of(points=points, budget=GDP(0.5), users=users, people=people)
        for points, users in CROWDS
    )
    assert first.n == people
    assert first.adjacency == ("add-remove-user" if people is None else "replace-user")
    assert verify(first).passed
    for other in others:
        assert header(other) == header(first)
        for one in ("n", "sigma", "sensitivity", "guarantee", "reason"):
            assert getattr(other, one) == getattr(first, one), one
    more = release_of(points=POINTS, budget=GDP(0.5), users=USERS, people=people and 24)
    is_sum = people is None or bool(first.neighbours.adds)  # whose noise follows no number
    assert (more.sigma == first.sigma) == is_sum


def tangent_mean(points, users, people, **options):
    """The released tangent mean of people, with next to no noise, in coordinates."""
    options = {"budget": GDP(1e7), "mechanism": "tangent-gaussian", **options}
    release = private_mean(points, BALL, users=users, people=people, **options)
    assert release.n == people
    return BALL.coordinates(release.value)


def test_who_has_no_record_counts_as_the_centre():
    own = BALL.coordinates(POINTS).reshape(10, 4, 2).mean(axis=1)
    np.testing.assert_allclose(tangent_mean(POINTS, USERS, 10), own.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(tangent_mean(POINTS, USERS, 25), own.sum(axis=0) / 25, atol=1e-5)
    np.testing.assert_allclose(tangent_mean(POINTS[:0], [], 3), 0.0, atol=1e-5)
    # where people count for as many records as they have, who has none counts for none
    weighted = tangent_mean(POINTS, USERS, 25, contribution=4)
    np.testing.assert_allclose(weighted, own.mean(axis=0), atol=1e-4)


def test_a_person_who_takes_all_records_away_moves_the_mean_by_no_more_than_is_stated():
    """Control: divided by how many people there are, it moves by more."""
    ends = BALL.point(np.array([[-0.5, 0.0], [0.5, 0.0]]))
    release = mean(GDP(1.0), users=USERS, people=10, mechanism="tangent-gaussian")
    moved = tangent_mean(ends, ["a", "b"], 10) - tangent_mean(ends[:1], ["a"], 10)
    assert np.linalg.norm(moved) == pytest.approx(0.5 / 10, rel=1e-4)
    assert np.linalg.norm(moved) <= release.sensitivity
    counted = tangent_mean(ends, ["a", "b"], 2) - tangent_mean(ends[:1], ["a"], 1)
    assert np.linalg.norm(counted) > release.sensitivity


def test_who_has_no_direction_counts_as_a_public_one():
    value = riemdp.private_directional_summary(POINTS, GDP(1e4), users=USERS, people=25).value
    own = POINTS.reshape(10, 4, 3).sum(axis=1)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    expected = (own.sum(axis=0) + 15 * Ball.whole(SPHERE).center) / 25
    np.testing.assert_allclose(value["length"] * value["direction"], expected, atol=1e-2)


@pytest.mark.parametrize("release_of", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
def test_more_people_than_were_stated_are_an_error_of_the_data(release_of):
    account = Accountant(GDP(2.0), adjacency="replace-user")
    draw = functools.partial(release_of, points=POINTS, budget=GDP(0.5), users=USERS, people=9)
    with pytest.raises(InvalidParameterError, match="more people among the records than people"):
        draw()
    with pytest.raises(riemdp.ReleaseFailedError):
        draw(accountant=account)
    assert account.spent == GDP(0.5, adjacency="replace-user")


LABELS = np.repeat(["a", "b"], [8, 32])


def test_who_has_no_record_is_in_no_class():
    records = Records(POINTS, labels=LABELS, users=USERS)
    classes = riemdp.statistics.ClassMoments(("a", "b"), second="scalar")
    draw = functools.partial(private_statistic, classes, records, BALL, GDP(1e6))
    value, all_there = draw(people=20).value, draw(people=10).value
    np.testing.assert_allclose(value.shares, [0.1, 0.4], atol=1e-4)
    np.testing.assert_allclose(value.coordinates, all_there.coordinates, atol=1e-3)
    assert draw().n is None


def test_who_has_no_record_is_in_the_middle_of_a_range():
    ages = 20.0 + np.repeat(np.arange(10.0), 4)
    line = riemdp.statistics.TangentRegression(20.0, 40.0)
    draw = functools.partial(private_statistic, line, ball=BALL, budget=GDP(1e6))
    value = draw(Records(POINTS, covariates=ages, users=USERS), people=12).value
    more = np.concatenate([POINTS, [BALL.center] * 2])
    same = Records(more, covariates=[*ages, 30.0, 30.0], users=[*USERS, 98, 99])
    expected = draw(same, people=12).value
    np.testing.assert_allclose(value.coefficients, expected.coefficients, atol=1e-3)


def test_a_statistic_that_does_not_know_who_is_absent_is_for_a_private_number(monkeypatch):
    """By public facts, and so also where everybody has a record."""
    classes, account = (
        riemdp.statistics.ClassMoments,
        Accountant(GDP(2.0, adjacency="replace-user")),
    )
    monkeypatch.setattr(classes, "absent", riemdp.statistics.Statistic.absent)
    records = Records(POINTS, labels=LABELS, users=USERS)
    draw = functools.partial(private_statistic, classes(("a", "b")), records, BALL, GDP(0.5))
    for people in (10, 11):
        with pytest.raises(UnsupportedError, match="leave out people"):
            draw(people=people, accountant=account)
    assert account.spent is None
    assert draw().n is None


@pytest.mark.parametrize("people", [None, 40])
def test_people_on_a_whole_space_are_refused_by_public_facts(people):
    """Not by whether anybody has two records."""
    whole = Ball.whole(SPHERE)
    adjacency = "add-remove-user" if people is None else "replace-user"
    account = Accountant(GDP(2.0), adjacency=adjacency)
    said = []
    for users in (np.arange(40), USERS):
        for statistic in (TangentMean(), riemdp.statistics.DirectionalMoments(1)):
            with pytest.raises(UnsupportedError) as caught:
                private_statistic(
                    statistic,
                    POINTS,
                    whole,
                    GDP(0.5),
                    users=users,
                    people=people,
                    accountant=account,
                )
            said.append((type(caught.value), str(caught.value)))
    assert len(set(said)) == 1
    assert "private_directional_summary" in said[0][1]
    assert account.spent is None
    release = riemdp.private_directional_summary(
        POINTS, GDP(0.5), users=USERS, people=people, accountant=account
    )
    assert release.n == people
    assert verify(release).passed


@pytest.mark.parametrize("name", ["riemannian-gaussian", "wrapped-gaussian", "riemannian-laplace"])
def test_a_mechanism_for_frechet_means_needs_a_stated_number_of_people(name):
    with pytest.raises(UnsupportedError, match="people="):
        mean(GDP(0.5), users=USERS, mechanism=name)
    release = mean(GDP(0.5), users=USERS, people=10, mechanism=name)
    assert (release.statistic.name, release.n) == ("frechet-mean", 10)
    assert mean(GDP(0.5), users=USERS).statistic.name == "counted"


def test_a_contribution_is_not_for_directions():
    with pytest.raises(UnsupportedError, match="leave out contribution"):
        riemdp.private_directional_summary(
            POINTS, GDP(0.5), users=USERS, people=10, adjacency=ReplaceUser(contribution=3)
        )
    for options in ({"adjacency": AddRemoveUser()}, {"adjacency": ReplaceUser(), "people": 10}):
        with pytest.raises(InvalidParameterError, match=r"takes users|people="):
            riemdp.private_directional_summary(POINTS, GDP(0.5), **options)
