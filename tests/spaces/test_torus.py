"""Angles: differences the shorter way round, whole turns taken off exactly, and means."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from riemdp import (
    Ball,
    InvalidParameterError,
    NotOnManifoldError,
    Sphere,
    Torus,
    UnsupportedBallError,
    UnsupportedManifoldError,
    frechet_mean,
    frechet_mean_sensitivity,
)
from riemdp.spaces import _torus
from riemdp.testing import check_part

TURN = 2.0 * math.pi


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_it_keeps_what_spaces_promise(dim):
    check_part(Torus(dim))


def test_distances_are_those_the_shorter_way_round():
    space, random = Torus(3), np.random.default_rng(0)
    first, second = random.uniform(-math.pi, math.pi, size=(2, 500, 3))
    turns = TURN * np.array([-1.0, 0.0, 1.0])
    each = np.min(np.abs((first - second)[..., None] + turns), axis=-1)
    np.testing.assert_allclose(space.dist(first, second), np.linalg.norm(each, axis=1), atol=2e-15)
    assert np.any(np.linalg.norm(first - second, axis=1) > space.diameter)  # the control
    assert space.dist(np.zeros(3), np.full(3, math.pi)) <= space.diameter
    assert math.pi * math.sqrt(3.0) <= space.diameter <= math.pi * math.sqrt(3.0) * (1.0 + 1e-14)
    circle = Sphere(1)
    on_circle = [np.stack([np.cos(x[:, 0]), np.sin(x[:, 0])], axis=1) for x in (first, second)]
    found = Torus(1).dist(first[:, :1], second[:, :1])
    np.testing.assert_allclose(found, circle.dist(*on_circle), atol=2e-15)


def reduction_error(angles):
    """Largest error, in units of what float64 has of an angle and of pi."""
    found = Torus(1).validate(np.asarray(angles)[:, None])[:, 0]
    worst = 0.0
    with mpmath.workdps(400):
        for given, one in zip(angles, found, strict=True):
            rest = mpmath.mpf(float(given)) - mpmath.mpf(float(one))
            gap = rest - 2 * mpmath.pi * mpmath.nint(rest / (2 * mpmath.pi))
            worst = max(worst, abs(float(gap)))
    assert np.all((found > -math.pi) & (found <= math.pi))
    return worst


def test_whole_turns_are_taken_off_exactly(monkeypatch):
    random = np.random.default_rng(1)
    sizes = np.array([4.0, 10.0, 1e3, 9.9e6, 1.1e7, 1e12, 1e30, 1e300])
    angles = (random.uniform(-1.0, 1.0, size=(60, 8)) * sizes).ravel()
    assert reduction_error(angles) < 1e-15
    near_turns = np.rint(random.uniform(1, 1e6, size=100)) * TURN
    assert reduction_error(np.concatenate([near_turns, near_turns + math.pi])) < 1e-15
    # the control: 2 pi as one float64
    monkeypatch.setattr(_torus, "_TURN", (TURN, 0.0, 0.0))
    assert reduction_error(near_turns) > 1e-11


def test_the_turn_is_two_pi():
    with mpmath.workdps(60):
        assert abs(sum(map(mpmath.mpf, _torus._TURN)) - 2 * mpmath.pi) < 1e-33
    for part in _torus._TURN[:2]:
        assert math.frexp(part)[0] * 2**30 % 1 == 0  # 30 bits


def test_angles_in_the_interval_stay_as_they_are():
    space = Torus(2)
    inside = np.array([[0.3, -3.1], [math.pi, 1e-300], [-0.0, math.nextafter(-math.pi, 0.0)]])
    assert space.validate(inside).tobytes() == inside.tobytes()
    mixed = np.concatenate([inside, [[100.0, 1e20]]])
    assert space.validate(mixed)[:3].tobytes() == inside.tobytes()
    np.testing.assert_array_equal(space.validate([-math.pi, math.pi]), [math.pi, math.pi])
    np.testing.assert_array_equal(space.validate(space.validate(mixed)), space.validate(mixed))
    alone = [space.validate(row) for row in mixed]
    assert np.stack(alone).tobytes() == space.validate(mixed).tobytes()
    assert np.isnan(space.push([np.inf, 0.0])[0])


def test_what_is_no_angle_is_refused():
    with pytest.raises(NotOnManifoldError, match="row 1 has entries that are NaN or infinite"):
        Torus(2).validate([[0.0, 1.0], [np.inf, 0.0]])
    with pytest.raises(NotOnManifoldError, match="shape"):
        Torus(2).validate([0.0])
    with pytest.raises(InvalidParameterError, match="dim"):
        Torus(0)
    with pytest.raises(UnsupportedManifoldError, match="all representatives"):
        Torus(2).orbit([0.0, 0.0])


def test_the_mean_is_the_minimiser():
    space, random = Torus(1), np.random.default_rng(2)
    grid = np.linspace(-math.pi, math.pi, 20_001)
    ball = Ball(space, [3.0], 1.55)
    for _ in range(30):
        points = space.push(3.0 + random.uniform(-1.55, 1.55, size=(5, 1)))
        gap = np.abs(grid[:, None] - points[:, 0])
        cost = np.sum(np.minimum(gap, TURN - gap) ** 2, axis=1)
        value = frechet_mean(space, points, ball=ball).value
        assert space.dist(value, grid[[np.argmin(cost)]]) < 4e-4
    assert frechet_mean_sensitivity(ball, 10) == pytest.approx(0.31, rel=1e-12)
    with pytest.raises(UnsupportedBallError, match=r"must stay under 1\.57079633.*choose a sm"):
        frechet_mean_sensitivity(Ball(space, [3.0], 1.58), 10)


def test_means_of_many_angles_are_averages_the_shorter_way():
    space = Torus(3)
    ball = Ball(space, [3.0, -3.0, 0.0], 1.5)
    offsets = np.random.default_rng(3).normal(size=(50, 3)) * 0.4
    points = space.push(ball.center + offsets)
    value = frechet_mean(space, points, ball=ball).value
    assert space.dist(value, space.push(ball.center + offsets.mean(axis=0))) < 1e-13
    plain = points.mean(axis=0)  # the control
    assert space.dist(value, plain) > 0.5


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1.0, math.pi - 1e-9, math.pi - 1e-12])
def test_log_and_exp_up_to_half_a_turn(angle):
    space, start = Torus(2), np.random.default_rng(4).uniform(-3.0, 3.0, size=(100, 2))
    ends = space.push(start + np.array([angle, 0.0]))
    np.testing.assert_allclose(space.dist(start, ends), angle, atol=1e-15)
    tangent = space.log(start, ends)
    np.testing.assert_allclose(tangent, np.broadcast_to([angle, 0.0], (100, 2)), atol=2e-15)
    assert np.max(space.dist(space.exp(start, tangent), ends)) < 2e-15
