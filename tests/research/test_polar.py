from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp._errors import UnsupportedBallError
from riemdp.research._polar import (
    Geometry,
    direction_about,
    leading_axes,
    normal_coordinates,
    split,
    uniform_directions,
)
from riemdp.spaces import (
    Ball,
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDLogEuclidean,
    Sphere,
)

MANIFOLDS = [
    Euclidean(1),
    Euclidean(4),
    Sphere(1, 4.0),
    Sphere(2),
    Sphere(5, 0.5),
    Hyperbolic(1),
    Hyperbolic(3, -2.0),
    SPDLogEuclidean(2),
]


def _center(manifold: Manifold, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if isinstance(manifold, Sphere):
        x = rng.standard_normal(manifold.dim + 1)
        return x / np.linalg.norm(x) / math.sqrt(manifold.curvature)
    if isinstance(manifold, Hyperbolic):
        x = rng.standard_normal(manifold.dim)
        return manifold.exp(manifold.origin, np.concatenate([[0.0], x]))
    if isinstance(manifold, SPDLogEuclidean):
        return manifold.from_chart(rng.standard_normal(manifold.dim))
    return rng.standard_normal(manifold.dim)


def _triangle(geometry: Geometry, t, r, cosine):
    t, r, cosine = (np.asarray(v, dtype=float) for v in (t, r, cosine))
    sine = np.sqrt(1.0 - cosine**2)
    return geometry.third_side(t, r, sine, 0.5 * (1.0 + cosine), 0.5 * (1.0 - cosine))


@given(
    st.sampled_from([Euclidean(2), Sphere(2), Sphere(2, 4.0), Hyperbolic(2), Hyperbolic(2, -0.25)]),
    st.floats(0.01, 3.0),
    st.floats(0.01, 3.0),
    st.floats(0.01, 3.13),
)
def test_triangles_are_those_of_the_manifold(manifold, t, r, angle):
    geometry = Geometry.of(manifold)
    center = _center(manifold)
    unit = geometry.unit
    foot = manifold.exp(center, manifold.tangent_vector(center, [t * unit, 0.0]))
    toward = manifold.tangent_coordinates(foot, manifold.log(foot, center)) / (t * unit)
    across = np.array([-toward[1], toward[0]])
    step = r * unit * (math.cos(angle) * toward + math.sin(angle) * across)
    point = manifold.exp(foot, manifold.tangent_vector(foot, step))
    side, along, sine = _triangle(geometry, t, r, math.cos(angle))
    assert unit * side == pytest.approx(float(manifold.dist(center, point)), abs=1e-9)
    assert along**2 + sine**2 == pytest.approx(1.0)
    if 1e-3 < side < 3.13:
        direction = manifold.tangent_coordinates(center, manifold.log(center, point))
        assert along == pytest.approx(direction[0] / np.linalg.norm(direction), abs=1e-6)


@pytest.mark.parametrize(("t", "r"), [(8.0, 8.0), (8.0, 56.0), (0.1, 56.0), (6.0, 1e-3)])
@pytest.mark.parametrize("angle", [1e-5, 1e-2, 1.0, 3.0])
def test_far_hyperbolic_triangles_keep_their_digits(t: float, r: float, angle: float):
    with mpmath.workdps(60):
        a = mpmath.mpf(angle)
        cosh = mpmath.cosh(t) * mpmath.cosh(r) - mpmath.sinh(t) * mpmath.sinh(r) * mpmath.cos(a)
        side = mpmath.acosh(cosh)
        along = (mpmath.cosh(t) * cosh - mpmath.cosh(r)) / (mpmath.sinh(t) * mpmath.sinh(side))
        away = float(mpmath.sin(a / 2) ** 2)
        got = Geometry(-1, 1.0).third_side(
            np.array(t), np.array(r), np.array(math.sin(angle)), np.array(1 - away), np.array(away)
        )
        assert float(got[0]) == pytest.approx(float(side), rel=1e-12)
        assert float(got[1]) == pytest.approx(float(along), abs=1e-12)


def test_degenerate_triangles():
    for sign in (-1, 0, 1):
        side, along, across = _triangle(Geometry(sign, 1.0), [0.0, 0.5], [0.0, 0.5], [1.0, 1.0])
        np.testing.assert_allclose(side, 0.0, atol=1e-15)
        np.testing.assert_array_equal(along, 1.0)
        np.testing.assert_array_equal(across, 0.0)
    side, _, _ = _triangle(Geometry(1, 1.0), [1.0], [math.pi - 1.0], [-1.0])
    np.testing.assert_allclose(side, math.pi, rtol=1e-7)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_directions_are_unit_vectors_at_the_angle_to_their_axis(dim):
    rng = np.random.default_rng(1)
    axis = np.concatenate([uniform_directions((50,), dim, rng), np.eye(dim), -np.eye(dim)])
    local = uniform_directions((len(axis),), dim, rng)
    direction = direction_about(axis, local[:, 0], local[:, 1:])
    assert direction.shape == axis.shape
    np.testing.assert_allclose(np.linalg.norm(direction, axis=-1), 1.0, rtol=1e-14)
    along = np.einsum("ij,ij->i", direction, axis)
    np.testing.assert_allclose(along, local[:, 0], atol=1e-14)


def test_uniform_directions_about_an_axis_stay_uniform():
    rng = np.random.default_rng(2)
    axis = np.broadcast_to(np.array([0.6, 0.0, -0.8]), (50_000, 3))
    local = uniform_directions((50_000,), 3, rng)
    points = direction_about(axis, local[:, 0], local[:, 1:])
    assert np.all(np.abs(points.mean(axis=0)) < 5 / math.sqrt(3 * 50_000))
    np.testing.assert_allclose(points.T @ points / 50_000, np.eye(3) / 3, atol=0.01)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
def test_footpoints_have_to_lie_in_the_ball(manifold: Manifold):
    center = _center(manifold)
    step = np.zeros(manifold.dim)
    step[0] = 0.5
    foot = manifold.exp(center, manifold.tangent_vector(center, step))
    inside = normal_coordinates(Ball(manifold, center, 0.6), foot)
    np.testing.assert_allclose(np.linalg.norm(inside), 0.5, rtol=1e-8)
    normal_coordinates(Ball(manifold, center, float(manifold.dist(center, foot))), foot)
    with pytest.raises(UnsupportedBallError, match=r"ball\.project"):
        normal_coordinates(Ball(manifold, center, 0.49), foot)


def test_split():
    length, axis = split(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(length, [5.0, 0.0])
    np.testing.assert_allclose(axis, [[0.6, 0.8], [1.0, 0.0]])


def test_directions():
    rng = np.random.default_rng(3)
    assert uniform_directions((4, 2), 0, rng).shape == (4, 2, 0)
    assert set(uniform_directions((100,), 1, rng).ravel()) == {-1.0, 1.0}
    np.testing.assert_allclose(np.linalg.norm(uniform_directions((9,), 5, rng), axis=-1), 1.0)


def test_leading_axes():
    assert leading_axes(None) == ()
    assert leading_axes(3) == (3,)
    assert leading_axes(np.int64(3)) == (3,)
    assert leading_axes((2, 3)) == (2, 3)
