"""Rotations of space: distances against SciPy, half turns, quaternions, means by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from riemdp import Ball, NotOnManifoldError, Rotations, UnsupportedBallError, frechet_mean
from riemdp.testing import check_part

SPACE = Rotations()


def turns(n, seed=0):
    return Rotation.random(n, random_state=seed)


def about(vectors):
    return Rotation.from_rotvec(vectors).as_matrix()


def axes(n, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_it_keeps_what_spaces_promise():
    check_part(SPACE)


def test_distances_are_angles():
    first, second = turns(500), turns(500, 1)
    found = SPACE.dist(first.as_matrix(), second.as_matrix())
    angles = (first.inv() * second).magnitude()
    np.testing.assert_allclose(found, angles, atol=2e-14)
    assert found.max() <= SPACE.diameter
    # the control: as points of the sphere some are farther
    lifted = SPACE.cover.dist(SPACE.lift(first.as_matrix()), SPACE.lift(second.as_matrix()))
    assert np.max(np.abs(lifted - angles)) > 1.0


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1.0, math.pi - 1e-9, math.pi - 1e-12, math.pi])
def test_log_and_exp_up_to_half_a_turn(angle):
    base = turns(200, 2)
    ends = (base * Rotation.from_rotvec(angle * axes(200))).as_matrix()
    start = base.as_matrix()
    np.testing.assert_allclose(SPACE.dist(start, ends), angle, rtol=1e-15, atol=2e-15)
    tangent = SPACE.log(start, ends)
    np.testing.assert_allclose(SPACE.norm(start, tangent), angle, rtol=1e-15, atol=2e-15)
    np.testing.assert_allclose(SPACE.exp(start, tangent), ends, atol=4e-15)
    ball = Ball(SPACE, start[0], 3.14)
    seen = ball.coordinates(ends)
    assert np.all(np.linalg.norm(seen, axis=1) <= 3.14 * (1.0 + 1e-15))


def test_lifts_keep_all_digits_and_depend_on_the_rotation_alone():
    quaternions = turns(1000, 3).as_quat()
    exact = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    lifted = SPACE.lift(SPACE.push(exact))
    np.testing.assert_allclose(lifted, 2.0 * SPACE.nearest(lifted, exact), atol=1e-15)
    assert np.all(lifted.max(axis=1) >= -lifted.min(axis=1))
    for row in (0, 500):
        assert SPACE.lift(SPACE.push(exact)[row]).tobytes() == lifted[row].tobytes()
    halves = np.array([np.diag(d) for d in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1])], float)
    np.testing.assert_array_equal(SPACE.lift(halves), 2.0 * np.eye(4)[:3])


def test_matrices_and_quaternions_are_validated():
    rotations = turns(100, 4)
    matrices, quaternions = rotations.as_matrix(), rotations.as_quat()
    validated = SPACE.validate(matrices)
    np.testing.assert_array_equal(validated, matrices)  # to the last bit
    found = SPACE.validate(quaternions)
    np.testing.assert_allclose(found, matrices, atol=4e-16 * 4)
    np.testing.assert_array_equal(SPACE.validate(found), found)
    np.testing.assert_array_equal(SPACE.validate(-quaternions), found)
    assert SPACE.validate(quaternions[0]).shape == (3, 3)
    assert SPACE.validate(quaternions.reshape(10, 10, 4)).shape == (10, 10, 3, 3)
    rough = SPACE.validate(matrices.astype(np.float32))
    np.testing.assert_allclose(rough, matrices, atol=1e-6)
    assert np.abs(rough @ rough.swapaxes(-1, -2) - np.eye(3)).max() < 4e-15
    np.testing.assert_allclose(SPACE.validate(quaternions * (1.0 + 9e-7)), matrices, atol=1e-14)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.as_matrix() * 1.001, "row 0 is not a rotation: its columns are not ortho"),
        (lambda r: r.as_matrix() * [1, 1, -1], "row 0 is not a rotation: its determinant is -1"),
        (lambda r: 0.0 * r.as_matrix(), "row 0 is not a rotation"),
        (lambda r: r.as_matrix() * 1e200, "row 0 is not a rotation"),
        (lambda r: r.as_quat() * 1.001, "row 0 is not a unit quaternion: its norm is not 1"),
        (lambda r: r.as_quat() * 0.0, "row 0 is not a unit quaternion"),
        (lambda r: r.as_quat() * 1e200, "row 0 is not a unit quaternion"),
        (lambda r: r.as_quat() * np.nan, "row 0 has entries that are NaN"),
        (lambda r: r.as_matrix() * np.inf, "row 0 has entries that are NaN"),
        (lambda r: r.as_rotvec()[:2], r"\(\.\.\., 3, 3\), rotation matrices, or \(\.\.\., 4\)"),
        (lambda r: r.as_matrix()[:, :2], "must have shape"),
        (lambda _: 1.0, "must have shape"),
        (lambda _: "rotation", "real numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_rotation_is_refused(change, message):
    with pytest.raises(NotOnManifoldError, match=message):
        SPACE.validate(change(turns(3)))


def test_a_ball_takes_a_quaternion_as_its_centre():
    rotation = turns(1, 5)[0]
    ball = Ball(SPACE, rotation.as_quat(), 1.0)
    assert ball.center.shape == (3, 3)
    np.testing.assert_allclose(ball.center, rotation.as_matrix(), atol=1e-15)
    assert Ball(SPACE, ball.center, 1.0) == ball


def test_means_are_near_those_of_the_chordal_distance():
    """They differ by the third power of the spread."""
    center, vectors = turns(1, 6)[0], np.random.default_rng(7).exponential(size=(60, 3)) - 0.7
    gaps = []
    for spread in (0.2, 0.1, 0.05):
        points = (center * Rotation.from_rotvec(spread * vectors / 3.0)).as_matrix()
        ball = Ball(SPACE, center.as_matrix(), 1.0)
        chordal = Rotation.from_matrix(points).mean().as_matrix()
        gaps.append(float(SPACE.dist(frechet_mean(SPACE, points, ball=ball).value, chordal)))
    assert 1e-9 < gaps[2] < 1e-4
    np.testing.assert_allclose(np.divide(gaps[:-1], gaps[1:]), 8.0, rtol=0.1)


def test_the_mean_is_the_minimiser():
    center = turns(1, 8)[0]
    ball = Ball(SPACE, center.as_matrix(), 1.5)
    points = ball.point(np.random.default_rng(9).normal(size=(30, 3)) * 0.6)
    points = ball.project(points)
    value = frechet_mean(SPACE, points, ball=ball).value

    def cost(vector):
        turned = center * Rotation.from_rotvec(vector)
        return np.sum((turned.inv() * Rotation.from_matrix(points)).magnitude() ** 2)

    best = minimize(cost, np.zeros(3), tol=1e-12)
    brute = (center * Rotation.from_rotvec(best.x)).as_matrix()
    assert SPACE.dist(value, brute) < 1e-5


def test_balls_at_their_limits():
    # the limits are rounded down, and the diameter up
    assert math.sin(SPACE.injectivity_radius) > 0.0 > math.sin(SPACE.diameter)
    with pytest.raises(UnsupportedBallError, match=r"radius 3\.14159 must stay under.*smaller"):
        Ball(SPACE, np.eye(3), math.pi)
    points = np.eye(3)[None]
    for radius in (0.5 * math.pi, 0.4995 * math.pi):
        with pytest.raises(UnsupportedBallError, match=r"radius 1\.5.* 1\.57.*choose a smaller"):
            frechet_mean_in(Ball(SPACE, np.eye(3), radius), points)
    whole = Ball.whole(SPACE)
    np.testing.assert_array_equal(whole.project(turns(5).as_matrix()), turns(5).as_matrix())


def frechet_mean_in(ball, points):
    from riemdp import PureDP, private_mean

    return private_mean(points, ball, PureDP(1.0), mechanism="riemannian-laplace")


def test_quaternions_are_taken_wherever_points_are():
    one = Rotation.random(5, random_state=3)
    other = Rotation.random(5, random_state=4)
    pairs = [(one.as_quat(), other.as_matrix()), (one.as_matrix(), -other.as_quat())]
    wanted = (one.inv() * other).magnitude()
    for first, second in pairs:
        np.testing.assert_allclose(SPACE.dist(first, second), wanted, rtol=1e-12)
        found = SPACE.exp(first, SPACE.log(first, second))
        np.testing.assert_allclose(found, other.as_matrix(), atol=1e-12)
    ball = Ball(SPACE, np.eye(3), 1.0)
    np.testing.assert_array_equal(
        ball.project(one.as_quat()), ball.project(SPACE.read(one.as_quat()))
    )
    assert ball.contains(one.as_quat()).tolist() == (one.magnitude() <= 1.0).tolist()
