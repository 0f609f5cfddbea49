"""Spheres and the circle: accuracy at both ends, isometries, validation."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import NotOnManifoldError, Sphere
from riemdp._errors import CutLocusError, InvalidParameterError

seeds = st.integers(0, 2**32 - 1)
dims = st.integers(1, 6)
curvatures = st.sampled_from([1.0, 4.0, 0.09, 123.0])


def exact_angle(p, q):
    """Angle between the directions of two float vectors, 50 digits."""
    with mpmath.workdps(50):
        p, q = (mpmath.matrix([mpmath.mpf(float(x)) for x in v]) for v in (p, q))
        p, q = p / mpmath.norm(p), q / mpmath.norm(q)
        return 2 * mpmath.atan2(mpmath.norm(p - q), mpmath.norm(p + q))


@given(seed=seeds, dim=dims, curvature=curvatures)
def test_rotations_are_isometries(seed, dim, curvature, random_points, random_rotation):
    rng = np.random.default_rng(seed)
    sphere = Sphere(dim, curvature)
    a, b = random_points(sphere, rng, (2, 8), 3.0)
    rotation = random_rotation(rng, dim + 1)
    moved = sphere.dist(a @ rotation.T, b @ rotation.T)
    np.testing.assert_allclose(moved, sphere.dist(a, b), atol=1e-12 / math.sqrt(curvature))
    np.testing.assert_allclose(
        sphere.log(a @ rotation.T, b @ rotation.T),
        sphere.log(a, b) @ rotation.T,
        atol=1e-10 / math.sqrt(curvature),
    )


@given(seed=seeds, dim=dims, curvature=curvatures)
def test_curvature_rescales_lengths(seed, dim, curvature, random_points):
    rng = np.random.default_rng(seed)
    k = math.sqrt(curvature)
    a, b = random_points(Sphere(dim), rng, (2, 8), 3.0)
    scaled = Sphere(dim, curvature).dist(a / k, b / k)
    np.testing.assert_allclose(scaled * k, Sphere(dim).dist(a, b), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("theta", [1e-15, 1e-9, 1e-5, 1.0, math.pi / 2])
def test_distance_is_right_from_nearby_on(theta):
    p, q = [1.0, 0.0, 0.0], [math.cos(theta), 0.6 * math.sin(theta), 0.8 * math.sin(theta)]
    assert Sphere(2).dist(p, q) == pytest.approx(theta, rel=1e-6 if theta < 1e-4 else 1e-15)


@pytest.mark.parametrize("gap", [1e-15, 1e-9, 1e-5])
def test_distance_is_right_next_to_the_antipode(gap):
    p, q = [1.0, 0.0, 0.0], [-math.cos(gap), math.sin(gap), 0.0]
    assert Sphere(2).dist(p, q) == pytest.approx(math.pi - gap, abs=5e-16)


@given(
    seed=seeds,
    dim=dims,
    angle=st.sampled_from([1e-9, 1e-4, 1.5, math.pi - 1e-4, math.pi - 1e-9]),
)
def test_distance_in_general_position_against_50_digits(seed, dim, angle, random_rotation):
    rotation = random_rotation(np.random.default_rng(seed), dim + 1)
    plane = np.zeros((2, dim + 1))
    plane[0, 0], plane[1, 0], plane[1, 1] = 1.0, math.cos(angle), math.sin(angle)
    p, q = Sphere(dim).validate(plane @ rotation)
    dist = float(Sphere(dim).dist(p, q))
    assert abs(dist - float(exact_angle(p, q))) <= 1e-15
    assert abs(dist - angle) <= 1e-6 * min(angle, math.pi - angle)


@pytest.mark.parametrize("gap", [1e-2, 1e-6, 1e-9])
def test_log_next_to_the_antipode_against_50_digits(gap, random_rotation):
    rotation = random_rotation(np.random.default_rng(0), 4)
    angle = math.pi - gap
    plane = np.array(
        [[1.0, 0, 0, 0], [math.cos(angle), 0.6 * math.sin(angle), 0.8 * math.sin(angle), 0]]
    )
    p, q = Sphere(3).validate(plane @ rotation)
    with mpmath.workdps(50):
        a, b = (mpmath.matrix([mpmath.mpf(float(x)) for x in v]) for v in (p, q))
        a, b = a / mpmath.norm(a), b / mpmath.norm(b)
        across = b - a * (a.T * b)[0]
        exact = across / mpmath.norm(across) * exact_angle(p, q)
    log = Sphere(3).log(p, q)
    # p is a unit vector to 1e-16, so the direction is known to 1e-16 / gap.
    np.testing.assert_allclose(log, np.array(exact.tolist(), dtype=float)[:, 0], atol=4e-15 / gap)
    assert abs(log @ p) <= 1e-14
    np.testing.assert_allclose(np.linalg.norm(log), angle, atol=1e-15)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_log_at_the_antipode_is_refused(dim, random_points):
    sphere = Sphere(dim, 4.0)
    points = random_points(sphere, np.random.default_rng(0), 3)
    others = random_points(sphere, np.random.default_rng(1), 3)
    others[1] = -points[1]
    with pytest.raises(CutLocusError, match="antipode"):
        sphere.log(points, others)


def test_log_where_only_rounding_tells_from_the_antipode_is_tangent_or_refused():
    rng = np.random.default_rng(5)
    sphere, refused = Sphere(2), 0
    for _ in range(300):
        p = rng.normal(size=3)
        p /= np.linalg.norm(p)
        q = np.nextafter(-p * (1.0 + rng.integers(-3, 4) * 1.1e-16), rng.normal(size=3))
        try:
            log = sphere.log(p, q)
        except CutLocusError:
            refused += 1
            continue
        assert np.linalg.norm(log) == pytest.approx(math.pi, rel=1e-14)
        assert abs(log @ p) <= 1e-13
    assert refused < 300


def test_the_circle_is_the_angle_modulo_full_turns():
    circle = Sphere(1, 0.25)
    angles = np.linspace(-math.pi, math.pi, 25)[1:-1]
    points = 2.0 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    np.testing.assert_allclose(
        circle.dist(points[0], points[-1]), 2 * (angles[0] + 2 * math.pi - angles[-1])
    )
    np.testing.assert_allclose(circle.dist([2.0, 0.0], points), 2.0 * np.abs(angles), atol=1e-15)
    coordinates = circle.tangent_coordinates([2.0, 0.0], circle.log([2.0, 0.0], points))[:, 0]
    np.testing.assert_allclose(np.abs(coordinates), 2.0 * np.abs(angles), atol=1e-14)
    assert circle.curvature_bound == 0.0
    assert circle.injectivity_radius == pytest.approx(2.0 * math.pi)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_tangent_frames_at_the_poles(sign):
    for base in (np.eye(3)[0] * sign, np.eye(3)[2] * sign):
        frame = Sphere(2).tangent_vector(base, np.eye(2))
        np.testing.assert_allclose(frame @ frame.T, np.eye(2), atol=1e-15)
        np.testing.assert_allclose(frame @ base, 0.0, atol=1e-15)


@pytest.mark.parametrize("curvature", [1.0, 4.0])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_validate_mends_small_errors_of_the_norm_only(curvature, dtype, random_points):
    inside, beyond = 0.8e-4, 1.2e-4
    sphere = Sphere(3, curvature)
    points = random_points(sphere, np.random.default_rng(0), 5)
    mended = sphere.validate((points * (1.0 + inside)).astype(dtype))
    np.testing.assert_allclose(np.linalg.norm(mended, axis=-1), curvature**-0.5, rtol=2e-15)
    np.testing.assert_allclose(mended, points, atol=1e-15 if dtype is float else 1e-7)
    for factor in (1.0 + beyond, 1.0 - beyond):
        bad = points.copy()
        bad[3] *= factor
        with pytest.raises(NotOnManifoldError, match=r"row 3 .*norm") as caught:
            sphere.validate(bad.astype(dtype))
        assert str(abs(float(bad[3, 1])))[:6] not in str(caught.value)


def test_validate_treats_every_record_by_itself(random_points):
    points = random_points(Sphere(2), np.random.default_rng(0), 6)
    dirty = points * (1.0 + 5e-7 * np.array([0, 1, 0, -1, 0, 1]))[:, None]
    together = Sphere(2).validate(dirty)
    alone = np.stack([Sphere(2).validate(row) for row in dirty])
    np.testing.assert_allclose(together, alone, rtol=0, atol=5e-16)


@pytest.mark.parametrize("bad", [np.zeros(3), np.full(3, 1e200), np.array([2.0, 0, 0])])
def test_validate_refuses_other_vectors(bad):
    with pytest.raises(NotOnManifoldError, match="the point does not have norm"):
        Sphere(2).validate(bad)
    with pytest.raises(NotOnManifoldError, match=r"row \(1, 0\) does not have norm"):
        Sphere(2).validate(np.stack([np.eye(3), np.stack([bad, *np.eye(3)[:2]])]))


@pytest.mark.parametrize("n", [3, 5000])
@pytest.mark.parametrize("curvature", [1.0, 1e10])
@pytest.mark.parametrize("size", [1e158, 1e200])
def test_validate_refuses_what_overflows_quietly(n, curvature, size):
    sphere = Sphere(2, curvature)
    points = np.tile(sphere.origin, (n, 1))
    points[2] *= size
    with pytest.raises(NotOnManifoldError, match="row 2 does not have norm"):
        sphere.validate(points)
    points[1] = np.inf
    with pytest.raises(NotOnManifoldError, match="row 1 has entries that are NaN or infinite"):
        sphere.validate(points)


def test_int_points_on_the_sphere():
    np.testing.assert_array_equal(Sphere(2).validate([[0, 0, -1]]), [[0.0, 0.0, -1.0]])


@pytest.mark.parametrize("curvature", [0.0, -1.0, math.nan, math.inf, "x", None, True, [1.0]])
def test_curvature_has_to_be_positive(curvature):
    with pytest.raises(InvalidParameterError, match="curvature"):
        Sphere(2, curvature)


def test_points_are_unit_vectors_over_the_radius():
    points = Sphere(2, 4.0).validate([[[0.0, 0.3, 0.4]], [[0.0, -0.5, 0.0]]])
    np.testing.assert_allclose(
        Sphere(2, 4.0).unit_vectors(points), [[[0.0, 0.6, 0.8]], [[0.0, -1.0, 0.0]]], rtol=1e-15
    )
    points = np.random.default_rng(0).normal(size=(5, 3))
    assert Sphere(2).unit_vectors(points).tobytes() == points.tobytes()
