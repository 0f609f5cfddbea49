"""Hyperbolic space: boosts, accuracy against the radius, validation."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import Hyperbolic, NotOnManifoldError
from riemdp._errors import InvalidParameterError

seeds = st.integers(0, 2**32 - 1)
dims = st.integers(1, 6)
curvatures = st.sampled_from([-1.0, -4.0, -0.09])


def boost(direction, rapidity):
    """Lorentz boost, written down from its definition."""
    n = direction
    top = [[math.cosh(rapidity)], math.sinh(rapidity) * n]
    block = np.eye(len(n)) + (math.cosh(rapidity) - 1.0) * np.outer(n, n)
    return np.block([[np.array(top[0])[None], top[1][None]], [top[1][:, None], block]])


@given(seed=seeds, dim=dims, curvature=curvatures)
def test_boosts_and_rotations_are_isometries(seed, dim, curvature, random_points, random_rotation):
    rng = np.random.default_rng(seed)
    space = Hyperbolic(dim, curvature)
    k = math.sqrt(-curvature)
    a, b = random_points(space, rng, (2, 8), 2.0)
    direction = random_rotation(rng, dim)[0]
    motion = boost(direction, rng.uniform(-2.0, 2.0))
    motion[:, 1:] = motion[:, 1:] @ random_rotation(rng, dim)
    moved = a @ motion.T, b @ motion.T
    np.testing.assert_allclose(k * space.dist(*moved), k * space.dist(a, b), atol=1e-11)
    np.testing.assert_allclose(space.log(*moved), space.log(a, b) @ motion.T, atol=1e-10 / k)


@given(seed=seeds, dim=dims, curvature=curvatures)
def test_tangent_vectors_are_minkowski_orthogonal(seed, dim, curvature, random_points):
    rng = np.random.default_rng(seed)
    space = Hyperbolic(dim, curvature)
    p = random_points(space, rng, 5, 2.0)
    u, v = space.tangent_vector(p, rng.normal(size=(2, 5, dim)))
    metric = np.diag([-1.0, *np.ones(dim)])
    scale = math.sqrt(-curvature)
    assert (np.abs(np.einsum("ni,ij,nj->n", p, metric, u)) * scale <= 1e-12).all()
    np.testing.assert_allclose(
        space.inner(p, u, v), np.einsum("ni,ij,nj->n", u, metric, v), atol=1e-11
    )


def test_distance_from_the_origin_is_the_polar_radius():
    radius = np.array([1e-15, 1e-9, 1e-3, 1.0, 8.0, 20.0, 300.0])
    points = np.stack([np.cosh(radius), np.sinh(radius), np.zeros(7)], axis=-1)
    space = Hyperbolic(2)
    np.testing.assert_allclose(space.dist(space.origin, points), radius, rtol=1e-13)
    assert np.isfinite(space.log(space.origin, points)).all()


@pytest.mark.parametrize(
    ("radius", "table"), [(3.0, 1e-13), (6.0, 4e-11), (9.0, 9e-9), (12.0, 5e-6)]
)
@pytest.mark.parametrize("curvature", [-1.0, -4.0])
def test_distance_error_against_the_radius(radius, table, curvature):
    """Polar points known to 50 digits, rounded to float64 coordinates."""
    rng = np.random.default_rng(int(radius))
    space = Hyperbolic(2, curvature)
    k = math.sqrt(-curvature)
    worst = 0.0
    with mpmath.workdps(50):
        for _ in range(60):
            first, second = radius * rng.uniform(0.8, 1.0, size=2)
            angle = math.pi * 10.0 ** rng.uniform(-6, 0)
            start = rng.uniform(0, 2 * math.pi)
            polar = [(first, start), (second, start + angle)]
            rows = []
            for polar_radius, polar_angle in polar:
                rho, phi = mpmath.mpf(float(polar_radius)), mpmath.mpf(float(polar_angle))
                across = mpmath.sinh(rho)
                rows.append([mpmath.cosh(rho), across * mpmath.cos(phi), across * mpmath.sin(phi)])
            p, q = rows
            exact = mpmath.acosh(p[0] * q[0] - p[1] * q[1] - p[2] * q[2])
            a, b = (np.array([float(x / k) for x in row]) for row in rows)
            worst = max(worst, abs(k * float(space.dist(a, b)) - float(exact)))
    assert worst <= 3.0 * table


@pytest.mark.parametrize("gap", [1e-9, 1e-12])
def test_nearby_points_away_from_the_origin(gap):
    space = Hyperbolic(2)
    p = np.array([math.cosh(2.0), math.sinh(2.0), 0.0])
    q = p + np.array([0.0, 0.0, gap])  # off the hyperboloid by gap^2
    assert space.dist(p, q) == pytest.approx(gap, rel=1e-6)
    assert np.linalg.norm(space.log(p, q) - [0.0, 0.0, gap]) <= 1e-6 * gap


@given(seed=seeds, curvature=curvatures)
def test_half_plane_distance_agrees(seed, curvature, random_points):
    # Poincare ball: an independent formula for the same distance.
    rng = np.random.default_rng(seed)
    space = Hyperbolic(3, curvature)
    k = math.sqrt(-curvature)
    a, b = random_points(space, rng, (2, 10), 3.0)
    u, v = (x[:, 1:] * k / (1.0 + k * x[:, :1]) for x in (a, b))
    size = [1.0 - (x**2).sum(axis=-1) for x in (u, v)]
    expected = np.arccosh(1.0 + 2.0 * ((u - v) ** 2).sum(axis=-1) / (size[0] * size[1])) / k
    np.testing.assert_allclose(space.dist(a, b), expected, rtol=1e-8)


def test_one_dimension_is_a_line():
    line = Hyperbolic(1, -4.0)
    t = np.array([-2.0, 0.3, 1.7])
    points = np.stack([np.cosh(2 * t), np.sinh(2 * t)], axis=-1) / 2
    np.testing.assert_allclose(
        line.dist(points[:, None], points), np.abs(t[:, None] - t), atol=1e-13
    )
    assert line.curvature_bound == 0.0


def test_origin():
    space = Hyperbolic(3, -4.0)
    np.testing.assert_array_equal(space.origin, [0.5, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(space.validate(space.origin), space.origin)


@pytest.mark.parametrize("curvature", [-1.0, -4.0])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_validate_recomputes_a_time_coordinate_that_is_nearly_right(
    curvature, dtype, random_points
):
    inside, beyond = 2e-5, 3e-4
    space = Hyperbolic(3, curvature)
    points = random_points(space, np.random.default_rng(0), 5, 2.0)
    near = points.copy()
    near[:, 0] *= 1.0 + inside
    mended = space.validate(near.astype(dtype))
    gap = -curvature * (mended[:, 0] ** 2 - (mended[:, 1:] ** 2).sum(axis=-1)) - 1.0
    assert np.abs(gap).max() <= 1e-13
    np.testing.assert_allclose(mended, points, rtol=1e-14 if dtype is float else 1e-6, atol=1e-14)
    for factor in (1.0 + beyond, 1.0 - beyond):
        bad = points.copy()
        bad[2, 0] *= factor
        with pytest.raises(NotOnManifoldError, match="row 2 does not satisfy"):
            space.validate(bad.astype(dtype))


def test_validate_refuses_the_other_sheet():
    space = Hyperbolic(2)
    points = np.tile(space.origin, (3, 1))
    points[1] *= -1.0
    with pytest.raises(NotOnManifoldError, match="row 1 has a time coordinate"):
        space.validate(points)
    with pytest.raises(NotOnManifoldError, match="time coordinate"):
        space.validate([0.0, 0.0, 0.0])


@pytest.mark.parametrize("size", [1e155, 1e200, 1e300])
def test_validate_refuses_points_whose_squares_overflow(size):
    points = np.array([[1.0, 0.0, 0.0], [size, size, 0.0]])
    with pytest.raises(NotOnManifoldError, match="row 1"):
        Hyperbolic(2).validate(points)


def test_very_far_points_stay_finite():
    space = Hyperbolic(2)
    far = space.validate([[1e150, 1e150, 0.0], [1e150, 0.0, 1e150]])
    assert np.isfinite(space.dist(space.origin, far)).all()
    assert np.isfinite(space.dist(far[0], far[1]))
    assert np.isfinite(space.log(space.origin, far)).all()


@pytest.mark.parametrize("curvature", [0.0, 1.0, math.nan, -math.inf, "x", None, [-1.0]])
def test_curvature_has_to_be_negative(curvature):
    with pytest.raises(InvalidParameterError, match="curvature"):
        Hyperbolic(2, curvature)
