"""Axes: angles between lines, signs that do not count, the plane's axes as a circle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from riemdp import (
    Ball,
    InvalidParameterError,
    NotOnManifoldError,
    ProjectiveSpace,
    UnsupportedBallError,
    frechet_mean,
    frechet_mean_sensitivity,
)
from riemdp.testing import check_part

DIMS = (1, 2, 5)


def vectors(dim, n, seed=0):
    found = np.random.default_rng(seed).normal(size=(n, dim + 1))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("dim", DIMS)
def test_it_keeps_what_spaces_promise(dim):
    check_part(ProjectiveSpace(dim))


@pytest.mark.parametrize("dim", DIMS)
def test_distances_are_angles_between_lines(dim):
    space, first, second = ProjectiveSpace(dim), vectors(dim, 400), vectors(dim, 400, 1)
    products = np.abs(np.sum(first * second, axis=1))
    found = space.dist(first, second)
    np.testing.assert_allclose(np.cos(found), products, atol=4e-15)
    np.testing.assert_array_equal(space.dist(-first, second), found)
    assert found.max() <= space.diameter
    # the control: those of the sphere are others
    assert np.max(space.cover.dist(first, second)) > space.diameter + 0.5


@pytest.mark.parametrize("dim", DIMS)
def test_a_vector_and_its_opposite_are_one_point(dim):
    space, points = ProjectiveSpace(dim), vectors(dim, 100)
    canonical = space.validate(points)
    np.testing.assert_array_equal(space.validate(-points), canonical)
    np.testing.assert_array_equal(space.validate(canonical), canonical)
    assert np.all(canonical[:, 0] > 0.0)
    assert np.any(points[:, 0] < 0.0)
    ball = Ball(space, points[0], 0.7)
    np.testing.assert_array_equal(ball.coordinates(points), ball.coordinates(-points))
    np.testing.assert_array_equal(ball.project(canonical), ball.project(space.validate(-points)))
    assert Ball(space, -points[0], 0.7) == ball


def test_the_first_entry_that_is_not_zero_is_positive():
    space = ProjectiveSpace(2)
    given = np.array([[0.0, -1.0, 0.0], [-0.0, 0.6, -0.8], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
    wanted = [[0.0, 1.0, 0.0], [0.0, 0.6, -0.8], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    found = space.validate(given)
    np.testing.assert_array_equal(found, wanted)
    assert not np.any(np.signbit(found) & (found == 0.0))


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 0.7, 0.5 * math.pi - 1e-9, 0.5 * math.pi - 1e-12])
def test_log_and_exp_up_to_a_right_angle(angle):
    space, base = ProjectiveSpace(3), vectors(3, 100)
    across = vectors(3, 100, 1)
    across -= np.sum(across * base, axis=1, keepdims=True) * base
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    ends = space.push(math.cos(angle) * base + math.sin(angle) * across)
    start = space.push(base)
    np.testing.assert_allclose(space.dist(start, ends), angle, rtol=1e-15, atol=1e-15)
    tangent = space.log(start, ends)
    np.testing.assert_allclose(space.norm(start, tangent), angle, rtol=1e-15, atol=1e-15)
    assert np.max(space.dist(space.exp(start, tangent), ends)) < 2e-15


def test_the_mean_is_the_minimiser():
    space = ProjectiveSpace(2)
    ball = Ball(space, [0.1, -0.7, 0.7] / np.sqrt(0.99), 0.7)
    points = ball.project(ball.point(np.random.default_rng(3).normal(size=(40, 2)) * 0.4))
    signs = np.random.default_rng(4).choice([-1.0, 1.0], size=(40, 1))
    value = frechet_mean(space, signs * points, ball=ball).value

    def cost(coordinates):
        return np.sum(np.arccos(np.abs(points @ ball.point(coordinates))) ** 2)

    best = minimize(cost, np.zeros(2), tol=1e-12)
    assert space.dist(value, ball.point(best.x)) < 1e-6


def test_axes_of_the_plane_are_a_circle():
    space, random = ProjectiveSpace(1), np.random.default_rng(5)
    ball = Ball(space, [1.0, 0.0], 0.78)
    angles = random.uniform(-0.78, 0.78, size=20)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points *= random.choice([-1.0, 1.0], size=(20, 1))
    value = frechet_mean(space, points, ball=ball).value
    np.testing.assert_allclose(value, [np.cos(angles.mean()), np.sin(angles.mean())], atol=1e-12)
    assert frechet_mean_sensitivity(ball, 20) == pytest.approx(2.0 * 0.78 / 20, rel=1e-12)
    # where the mean of the circle of length pi is the average still, and where it is not
    grid = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 20_001)

    def minimiser(angles):
        gap = np.abs(grid[:, None] - angles)
        return grid[np.argmin(np.sum(np.minimum(gap, math.pi - gap) ** 2, axis=1))]

    for _ in range(50):
        angles = random.uniform(-0.78, 0.78, size=5)
        assert minimiser(angles) == pytest.approx(angles.mean(), abs=2e-4)
    wide = np.array([-1.0, -1.0, 1.0])
    assert abs(minimiser(wide) - wide.mean()) > 0.5
    with pytest.raises(UnsupportedBallError, match=r"0\.785398"):
        frechet_mean_sensitivity(Ball(space, [1.0, 0.0], 0.786), 20)


def test_what_is_no_axis_is_refused():
    with pytest.raises(NotOnManifoldError, match="row 1 does not have norm"):
        ProjectiveSpace(2).validate([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0]])
    with pytest.raises(InvalidParameterError, match="dim"):
        ProjectiveSpace(0)
    with pytest.raises(UnsupportedBallError, match=r"1\.5708.*injectivity"):
        Ball(ProjectiveSpace(2), [1.0, 0.0, 0.0], 0.5 * math.pi)
