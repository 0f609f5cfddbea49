"""Relations between data sets ask a query what it knows of itself."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    Accountant,
    Ball,
    Euclidean,
    InvalidParameterError,
    PureDP,
    Release,
    Sphere,
    UnsupportedNeighboursError,
    frechet_mean_sensitivity,
    private_mean,
    tangent_mean_sensitivity,
    verify,
)
from riemdp._part_document import decode, encode
from riemdp.statistics import (
    FrechetMean,
    Groups,
    Neighbours,
    ReplaceOne,
    ReplacePoint,
    TangentMean,
)
from riemdp.statistics._users import PerUser
from riemdp.testing import check_part

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)


def query_of(statistic, ball=BALL):
    return next(statistic.queries(ball))


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_replacing_one_record_moves_an_answer_by_what_it_says(n):
    relation = ReplaceOne()
    found = relation.sensitivity(query_of(FrechetMean()), BALL, n, "distance")
    assert found == frechet_mean_sensitivity(BALL, n)
    found = relation.sensitivity(query_of(TangentMean()), BALL, n, "coordinates")
    assert found == pytest.approx(tangent_mean_sensitivity(BALL, n), rel=1e-12)


def test_documents_name_the_relation():
    assert encode(ReplaceOne()) == {"type": "replace-one"}
    assert decode({"type": "replace-one"}, "neighbours") == ReplaceOne()


def test_a_statistic_of_points_alone_moves_as_far_when_a_point_is_replaced():
    relation = ReplacePoint()
    for statistic, metric in ((FrechetMean(), "distance"), (TangentMean(), "coordinates")):
        query = query_of(statistic)
        found = relation.sensitivity(query, BALL, 9, metric)
        assert found == query.replace_one(BALL, 9, metric)
    assert decode(encode(relation), "neighbours") == relation
    assert relation.title == "replace-point"
    check_part(relation, ball=BALL)


def test_an_account_of_records_takes_no_guarantee_for_points_alone():
    assert not ReplacePoint.implies_replace_one
    account = Accountant(PureDP(2.0))
    with pytest.raises(UnsupportedNeighboursError, match="replace-point does not promise"):
        private_mean(
            BALL.center[None], BALL, PureDP(1.0), adjacency=ReplacePoint(), accountant=account
        )
    assert not account.ledger
    release = private_mean(BALL.center[None], BALL, PureDP(1.0), adjacency=ReplacePoint())
    assert verify(Release.from_json(release.to_json())).passed


@pytest.mark.parametrize("records", [1, 2, 5, 60])
def test_groups_move_it_so_many_times_as_far_and_never_beyond_the_ball(records):
    ball, n = Ball(Euclidean(2), [0.0, 0.0], 1.0), 20
    groups = Groups(records)
    found = groups.sensitivity(query_of(FrechetMean(), ball), ball, n, "distance")
    assert found == pytest.approx(min(2.0, records * 2.0 / n), rel=1e-12)
    data = np.random.default_rng(0).uniform(-0.3, 0.3, size=(n, 2))
    data[:records], other = [1.0, 0.0], data.copy()
    other[:records] = [-1.0, 0.0]
    moved = np.linalg.norm(data.mean(axis=0) - other.mean(axis=0))
    assert moved <= found
    # negative control: the sensitivity of one record is exceeded by more than one
    one = ReplaceOne().sensitivity(query_of(FrechetMean(), ball), ball, n, "distance")
    assert (moved > one * (1.0 + 1e-9)) == (records > 1)


def test_a_release_for_groups_has_the_noise_for_them():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    data = np.zeros((50, 2))
    one = private_mean(data, ball, PureDP(1.0))
    five = private_mean(data, ball, PureDP(1.0), adjacency=Groups(5))
    assert five.sigma == pytest.approx(5.0 * one.sigma, rel=1e-7)
    again = Release.from_json(five.to_json())
    assert again.neighbours == Groups(5)
    assert again.adjacency == "groups"
    assert verify(again).passed
    claimed = five.to_json().replace('"records": 5', '"records": 6')
    assert not verify(Release.from_json(claimed)).passed


@pytest.mark.parametrize("records", [0, -1, 1.5, "2", True])
def test_a_group_has_records(records):
    with pytest.raises(InvalidParameterError, match="size of a group"):
        Groups(records)


def test_titles_say_how_strong_a_guarantee_is():
    assert ReplaceOne().title == "replace-one"
    assert Groups(7).title == "groups of 7"


def test_on_spheres_groups_move_it_no_farther_than_the_ball_is_wide():
    """There one record may move the mean by more than its share of the diameter."""
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.2)
    query = query_of(FrechetMean(), ball)
    assert 10.0 * ReplaceOne().sensitivity(query, ball, 10, "distance") > 2.5
    assert Groups(10).sensitivity(query, ball, 10, "distance") == 2.4


def test_what_a_relation_implies_is_not_inherited():
    """A subclass of another sensitivity is charged to an account as nothing."""

    class Less(ReplaceOne):
        name, proof = "tests.Less", "a paper"

        def sensitivity(self, query, ball, n, metric):
            return 1e-6

    class Same(ReplaceOne):
        implies_replace_one = True

    assert (Less.implies_replace_one, Same.implies_replace_one) == (False, True)
    assert ReplaceOne.implies_replace_one
    assert Groups.implies_replace_one
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    account = Accountant(PureDP(10.0))
    with pytest.raises(UnsupportedNeighboursError, match="does not promise"):
        private_mean(np.zeros((50, 2)), ball, PureDP(1.0), adjacency=Less(), accountant=account)
    assert account.ledger == ()


def test_a_relation_has_to_say_what_it_makes_of_a_sensitivity():
    class Silent(Neighbours):
        name = "tests.Silent"

    with pytest.raises(TypeError, match="sensitivity"):
        Silent()


def test_that_neighbours_differ_in_one_group_is_said_by_each_relation_itself():
    class Other(PerUser):
        in_one_group = True

    class Further(Other):
        pass

    assert (PerUser.in_one_group, Other.in_one_group, Further.in_one_group) == (False, True, False)
    assert not Groups(2).in_one_group
    assert ReplaceOne().in_one_group
