"""Weights as the private mean takes them: which statistic, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    Sphere,
    UnsupportedNeighboursError,
    private_mean,
    private_moments,
    verify,
)
from riemdp.statistics import (
    AddRemoveUser,
    FrechetMean,
    Records,
    RefinedMean,
    ReplaceUser,
    TangentMean,
    Weighted,
)

BALL = Ball(Euclidean(2), [0.0, 0.0], 1.0)
POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(4, 2))
WEIGHTS = [4.0, 2.0, 0.0, 2.0]
USERS = [1, 1, 2, 3]


def test_public_weights_are_divided_by_the_largest():
    for scale in (1.0, 1e-300, 1e300):
        found = private_mean(POINTS, BALL, GDP(1.0), weights=np.array(WEIGHTS) * scale)
        assert found.statistic == Weighted(FrechetMean(), 0.5)
        assert found.sensitivity == pytest.approx(1.0)
    cap = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    options = {"weights": WEIGHTS, "mechanism": "tangent-gaussian"}
    found = private_mean(cap.point(POINTS), cap, GDP(1.0), **options)
    assert found.statistic == Weighted(TangentMean(), 0.5)


def test_public_weights_go_with_rounds():
    found = private_mean(POINTS, BALL, GDP(1.0), weights=WEIGHTS, method="refined")
    assert found.statistic == Weighted(RefinedMean(), 0.5)
    assert found.sensitivity == pytest.approx(1.0)
    assert [scale**-2 for scale in found.scales] == pytest.approx([0.2, 0.8])
    assert verify(found.to_json()).passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": WEIGHTS, "users": USERS}, "do not say what people weigh"),
        ({"weights": WEIGHTS, "method": "adaptive"}, "on a public ball"),
        ({"weights": WEIGHTS, "private_weights": True, "method": "adaptive"}, "leave out method"),
        ({"weights": WEIGHTS[1:]}, "one for each point"),
        ({"weights": 1.0}, "one for each point"),
        ({"weights": [0.0] * 4}, "not all be 0"),
        ({"private_weights": True}, "give weights"),
        ({"weights": WEIGHTS, "private_weights": 1}, "true or false"),
        ({"contribution": 3}, "users="),
        ({"contribution": 3, "users": USERS, "method": "adaptive"}, "more records than one"),
        ({"contribution": 0, "users": USERS}, "contribution"),
        ({"contribution": 3, "users": USERS, "adjacency": AddRemoveUser(2)}, "contribution once"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        private_mean(POINTS, BALL, GDP(1.0), **options)


@pytest.mark.parametrize(
    ("wrong", "message"), [(-1.0, "row 2: its weight is negative"), (np.nan, "row 2: .*finite")]
)
def test_weights_are_checked_by_row(wrong, message):
    with pytest.raises(NotOnManifoldError, match=message):
        private_mean(POINTS, BALL, GDP(1.0), weights=[1.0, 1.0, wrong, 1.0])


def test_negative_weights_are_not_the_same_ones_turned():
    with pytest.raises(NotOnManifoldError, match="row 0: its weight is negative"):
        private_mean(POINTS, BALL, GDP(1.0), weights=[-1.0, -2.0, -3.0, -4.0])


def test_weights_are_given_once_and_by_name():
    records = Records(POINTS, weights=WEIGHTS)
    with pytest.raises(InvalidParameterError, match="weights once"):
        private_mean(records, BALL, GDP(1.0), weights=WEIGHTS)
    with pytest.raises(InvalidParameterError, match="give public ones as an argument"):
        private_mean(records, BALL, GDP(1.0))
    with pytest.raises(InvalidParameterError, match="takes no weights"):
        private_moments(records, BALL, GDP(1.0))


def test_public_weights_need_places():
    with pytest.raises(UnsupportedNeighboursError, match="private_weights=True"):
        private_mean(POINTS, BALL, GDP(1.0), weights=WEIGHTS, adjacency="add-remove")


def test_a_relation_may_say_the_contribution_itself():
    people = len(np.unique(USERS))
    options = {"users": USERS, "people": people, "adjacency": ReplaceUser(contribution=2)}
    found = private_mean(POINTS, BALL, GDP(1.0), **options)
    same = private_mean(POINTS, BALL, GDP(1.0), users=USERS, people=people, contribution=2)
    assert found.statistic == same.statistic
    assert found.neighbours == same.neighbours
