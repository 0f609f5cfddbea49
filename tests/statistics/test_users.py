"""One point for each person: of that person's records alone, bit by bit, and in the ball."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from riemdp import Euclidean, InvalidParameterError, Records, UnsupportedError
from riemdp.privacy import GDP
from riemdp.release import private_mean, private_statistic
from riemdp.spaces import (
    Ball,
    BoxBall,
    Grassmann,
    Hyperbolic,
    PlanarShapes,
    Product,
    ProjectiveSpace,
    Rotations,
    SPDAffineInvariant,
    Sphere,
    Torus,
)
from riemdp.statistics import AddRemoveUser, ReplaceUser, TangentMean
from riemdp.statistics._users import means_of_users, owners_of

SPACES = [
    Euclidean(3),
    Sphere(3),
    Hyperbolic(2),
    SPDAffineInvariant(3),
    Rotations(),
    ProjectiveSpace(2),
    Grassmann(2, 4),
    PlanarShapes(4),
    Torus(2),
]


def ball_on(space):
    return Ball(space, space.origin, 0.4)


def box():
    space = Product(Sphere(2), Euclidean(2))
    return BoxBall(space, space.origin, 1.4, (0.3, 1.5))


BALLS = [ball_on(space) for space in SPACES] + [box()]
NAMES = [*(str(space) for space in SPACES), "box"]


def scattered(ball, size, seed=0, far=1.3):
    """Records inside and outside the ball."""
    dim = ball.manifold.dim
    draws = np.random.default_rng(seed).normal(size=(size, dim))
    lengths = np.linspace(0.0, far, size)[:, None] / np.linalg.norm(draws, axis=-1, keepdims=True)
    return ball.manifold.validate(ball.point(draws * lengths * min(ball.reach, 1.0)))


def means(ball, points, users, **more):
    records = Records(points, users=users, **more).validated(ball.manifold)
    return means_of_users(ball, records)


@pytest.mark.parametrize("ball", BALLS, ids=NAMES)
def test_means_lie_in_the_ball_and_are_those_of_one_persons_records(ball):
    points = scattered(ball, 24)
    users = np.arange(24) % 5
    found = means(ball, points, users).points
    assert found.shape == (5, *ball.manifold.point_shape)
    assert ball.contains(found).all()
    for person in range(5):
        own = points[users == person]
        expected = ball.coordinates(own).mean(axis=0)
        np.testing.assert_allclose(ball.coordinates(found[person]), expected, atol=1e-6)
        # of that person's records alone, whatever other records there are, and in any order
        alone = means(ball, own[::-1], [0] * len(own)).points
        np.testing.assert_array_equal(alone[0], found[person])


@pytest.mark.parametrize("ball", BALLS, ids=NAMES)
def test_records_of_others_change_no_bit_of_a_persons_mean(ball):
    points = scattered(ball, 12)
    first = means(ball, points, [0, 1] * 6).points
    more = scattered(ball, 7, seed=3)
    shifted = np.concatenate([more[:3], points, more[3:]])
    second = means(ball, shifted, [1] * 3 + [0, 1] * 6 + [2] * 4).points
    np.testing.assert_array_equal(second[1], first[0])
    assert not np.array_equal(second[0], first[1])  # who has more records has another mean


@pytest.mark.parametrize("ball", BALLS, ids=NAMES)
def test_who_has_one_record_is_that_record(ball):
    points = scattered(ball, 9)
    found = means(ball, points, np.arange(9)).points
    np.testing.assert_array_equal(found, np.concatenate([ball.project(x[None]) for x in points]))
    draw = functools.partial(
        private_statistic, TangentMean(), points, ball, GDP(1.0), mechanism="tangent-gaussian"
    )
    ids = [f"{i}" for i in range(9)]
    people = draw(users=ids, people=9, generator=np.random.default_rng(1))
    records = draw(generator=np.random.default_rng(1))
    np.testing.assert_allclose(people.raw, records.raw, atol=1e-9)
    assert people.n == records.n == 9
    assert people.sigma == records.sigma


def test_points_may_come_in_the_form_in_which_users_write_them():
    ball = ball_on(PlanarShapes(4))
    points = scattered(ball, 8)
    written = ball.manifold.present(points)
    assert written.dtype.kind == "c"
    found = means(ball, written, [0, 1] * 4).points
    np.testing.assert_allclose(found, means(ball, points, [0, 1] * 4).points, atol=1e-12)
    alone = means(ball, written[1::2], [0] * 4).points
    np.testing.assert_array_equal(alone[0], found[1])


def test_the_mean_of_people_weighs_them_equally_and_costs_what_their_number_says():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    points, users = [[0.5]] * 97 + [[-0.5]] * 3, ["much"] * 97 + ["a", "b", "c"]
    release = private_mean(points, ball, GDP(1e4), users=users, people=4)
    assert release.value[0] == pytest.approx((0.5 - 1.5) / 4, abs=1e-2)
    assert release.sensitivity == pytest.approx(2.0 / 4)
    assert private_mean(points, ball, GDP(1e4)).value[0] == pytest.approx(0.47, abs=1e-2)


def test_one_person_may_be_all_there_is():
    ball = BALLS[1]
    points = scattered(ball, 6)
    for people, kind in ((1, ReplaceUser), (None, AddRemoveUser)):
        release = private_mean(points, ball, GDP(1.0), users=[7] * 6, people=people)
        assert release.n == people
        assert release.neighbours == kind()


def test_only_who_shares_an_id_counts():
    owners = owners_of(np.array([1, "1", 1, "a", "1"], dtype=object))
    assert owners.tolist() == [0, 1, 0, 2, 1]
    ball, points = BALLS[1], scattered(BALLS[1], 4)
    first = means(ball, points, [1, "1", 1, "1"]).points
    second = means(ball, points, ["x", 9, "x", 9]).points
    np.testing.assert_array_equal(first, second)
    assert len(means(ball, points, np.array(["u", "v", "u", "u"])).points) == 2


@pytest.mark.parametrize(
    ("users", "said"),
    [
        ([0, 1, True], "row 2: users must be integers or texts"),
        ([0, float("nan"), 1], "row 1: users must be integers or texts"),
        ([0.0, 1.0, 2.0], "row 0: users must be integers or texts"),
        ([None, 0, 1], "row 0: users must be integers or texts"),
        ([(1, 2), (1, 2), (3, 4)], "one for each point"),
        ([0, 1], "one for each point"),
        ([0, 1, 2, 3], "one for each point"),
        (3, "one for each point"),
    ],
)
def test_ids_are_integers_or_texts_one_a_record(users, said):
    ball = BALLS[0]
    with pytest.raises(InvalidParameterError, match=said):
        means(ball, scattered(ball, 3), users)


def test_records_of_people_have_no_weights():
    ball = BALLS[0]
    with pytest.raises(InvalidParameterError, match="weights"):
        means(ball, scattered(ball, 4), [5, 6, 5, 6], weights=np.ones(4))


def test_records_without_coordinates_count_as_the_centre():
    """The point of a sphere opposite to the centre is seen in no direction, but in a fixed one."""
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
    points = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    found = means(ball, points, [0, 0]).points
    assert ball.contains(found).all()
    assert np.isfinite(found).all()
    line = Ball(Euclidean(1), [0.0], 1.0)
    far = means(line, [[1.7e308], [-1.7e308], [0.25]], ["a", "a", "b"]).points
    np.testing.assert_allclose(far, [[0.0], [0.25]], atol=1e-12)


def test_what_looks_at_places_is_given_one_record_at_a_time(monkeypatch):
    given = Ball.unit_coordinates

    def by_place(ball, points):
        found = given(ball, points)
        return found + 2.0**-20 * np.arange(len(found))[:, None]

    monkeypatch.setattr(Ball, "unit_coordinates", by_place)
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
    points = np.tile(ball.point(np.array([0.3, 0.1])), (6, 1))
    found = np.asarray(means_of_users(ball, Records(points, users=[0, 0, 1, 1, 2, 2])).points)
    assert (found == found[0]).all()


def test_a_whole_space_has_no_centre_to_average_about():
    whole = Ball.whole(Sphere(2))
    points = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    for users in ([0, 0, 1, 1], [0, 1, 2, 3]):  # whether anybody has two records says nothing
        with pytest.raises(UnsupportedError, match="no centre"):
            means(whole, points, users)


def test_moving_all_records_of_a_person_moves_the_mean_of_people_by_its_sensitivity():
    """And no more, however many records that person has: the control is one record a person."""
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    others = scattered(ball, 8)
    answers = []
    for sign in (1.0, -1.0):
        points = np.concatenate([others, np.tile([[sign, 0.0]], (40, 1))])
        users = [0, 1, 2, 3] * 2 + [9] * 40
        found = means(ball, points, users).points
        answers.append(found.mean(axis=0))
    moved = math.dist(*answers)
    assert moved == pytest.approx(2.0 / 5, rel=1e-12)
    assert moved > 2.0 / 48  # what the number of records would allow
