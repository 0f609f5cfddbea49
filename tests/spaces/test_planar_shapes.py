"""Kendall's planar shapes: against the complex projective space, entry by entry."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    InvalidParameterError,
    NotOnManifoldError,
    PlanarShapes,
    PureDP,
    Release,
    Sphere,
    UnsupportedBallError,
    private_mean,
    tangent_mean,
    verify,
)
from riemdp.testing import check_part

SIZES = pytest.mark.parametrize("k", [3, 4, 6, 25])


def configurations(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) + 1j * rng.normal(size=(n, k))


def unit(points):
    centred = points - points.mean(axis=-1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=-1, keepdims=True)


def angle(one, other):
    """Angle of complex lines, accurate at both ends."""
    one, other = unit(one), unit(other)
    product = np.sum(one.conj() * other, axis=-1, keepdims=True)
    across = other - one * product
    return np.arctan2(np.linalg.norm(across, axis=-1), np.abs(product)[..., 0])


def similar(points, seed=1):
    """The same shapes at other places, sizes and turns."""
    rng = np.random.default_rng(seed)
    factor = np.exp(rng.normal(size=(len(points), 1)) + 1j * rng.uniform(-4, 4, (len(points), 1)))
    return points * factor + rng.normal(size=(len(points), 1))


def directions(space, n, length, seed=2):
    vectors = np.random.default_rng(seed).normal(size=(n, space.dim))
    return length * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.fast("3", "6")
@SIZES
def test_the_library_s_checks_hold(k):
    check_part(PlanarShapes(k))


@SIZES
def test_distances_are_angles_of_complex_lines(k):
    space, one, other = PlanarShapes(k), configurations(200, k), configurations(200, k, 9)
    found = space.dist(one, other)
    np.testing.assert_allclose(found, angle(one, other), atol=1e-13)
    plain = np.abs(np.sum(unit(one).conj() * unit(other), axis=1))
    np.testing.assert_allclose(found, np.arccos(np.minimum(plain, 1.0)), atol=1e-7)
    assert np.all(space.dist(one, one) == 0.0)
    for step in (1e-12, 1e-6):
        near = unit(one) + step * configurations(200, k, 3)
        np.testing.assert_allclose(space.dist(unit(one), near), angle(one, near), atol=2e-15)
    far = np.zeros((2, k), complex)
    far[0, :2], far[1, :3] = [1.0, -1.0], [1.0, 1.0, -2.0]
    assert space.dist(*far) == pytest.approx(0.5 * math.pi, abs=1e-15)
    assert space.diameter >= space.dist(*far)


def test_real_parts_alone_are_another_distance():
    """The control: without turning, distances are longer."""
    space, one, other = PlanarShapes(5), configurations(50, 5), configurations(50, 5, 9)
    turned = np.arccos(np.sum(unit(one).conj() * unit(other), axis=1).real)
    assert np.all(turned - space.dist(one, other) > 0.0)
    assert np.max(turned - space.dist(one, other)) > 0.5


@SIZES
def test_nothing_depends_on_place_size_and_turn(k):
    space, points, others = PlanarShapes(k), configurations(100, k), configurations(100, k, 9)
    moved, again = similar(points), similar(others, 4)
    tol = 1e-12
    np.testing.assert_allclose(space.dist(moved, again), space.dist(points, others), atol=tol)
    np.testing.assert_allclose(space.validate(moved), space.validate(points), atol=tol)
    np.testing.assert_allclose(space.log(moved, again), space.log(points, others), atol=tol)
    center = space.validate(points[0])
    np.testing.assert_allclose(
        space.coordinates(center, moved), space.coordinates(center, points), atol=tol
    )
    ball, wide = Ball(space, points[0], 0.6), Ball(space, moved[0], 0.6)
    np.testing.assert_allclose(wide.center, ball.center, atol=tol)
    np.testing.assert_allclose(wide.coordinates(again), ball.coordinates(others), atol=tol)
    np.testing.assert_allclose(tangent_mean(wide, again), tangent_mean(ball, others), atol=tol)


def test_reflected_shapes_are_others():
    points = configurations(5, 4)
    assert np.all(PlanarShapes(4).dist(points, points.conj()) > 1e-3)


@SIZES
def test_canonical_representatives(k):
    space, points = PlanarShapes(k), configurations(500, k)
    points[3, 0] = points[3, 1:].mean()  # a first landmark at the centre
    found = space.validate(points)
    shown = space.present(found)
    assert found.shape == (500, k, 2)
    assert shown.shape == (500, k)
    np.testing.assert_allclose(shown.sum(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(shown, axis=1), 1.0, atol=1e-14)
    leading = np.delete(shown[:, 0], 3)
    assert np.all(leading.imag == 0.0)
    assert np.all(leading.real > 0.0)
    assert shown[3, 1].imag == 0.0
    assert shown[3, 1].real > 0.0
    assert np.max(space.dist(points, found)) < 1e-14
    # once is enough: documents give back the very same bits
    assert space.validate(found).tobytes() == found.tobytes()
    assert space.validate(shown).tobytes() == found.tobytes()
    drawn = space.point(found[0], directions(space, 300, 0.7))
    assert space.validate(drawn).tobytes() == drawn.tobytes()


@pytest.mark.parametrize("length", [1e-12, 1e-6, 0.1, 1.0, 0.5 * math.pi - 1e-3])
@SIZES
def test_points_and_coordinates_are_inverse(k, length):
    space = PlanarShapes(k)
    center = space.validate(configurations(1, k)[0])
    wanted = directions(space, 100, length)
    points = space.point(center, wanted)
    # next to pi/2 a direction is that of what is left of the product
    tol = 2e-15 / math.cos(length) ** 1
    np.testing.assert_allclose(space.coordinates(center, points), wanted, atol=tol)
    np.testing.assert_allclose(space.dist(center, points), length, atol=3e-15)
    vectors = space.log(center, points)
    np.testing.assert_allclose(vectors, space.tangent_vector(center, wanted), atol=2 * tol)
    assert np.max(space.dist(space.exp(center, vectors), points)) < 3e-15


@SIZES
def test_frames_are_orthonormal_and_horizontal(k):
    space = PlanarShapes(k)
    center = space.validate(configurations(1, k)[0])
    frame = space.tangent_vector(center, np.eye(space.dim))
    z = space.lift(center)
    np.testing.assert_allclose(frame @ frame.T, np.eye(space.dim), atol=1e-14)
    turned = np.concatenate([-z[k - 1 :], z[: k - 1]])
    np.testing.assert_allclose(frame @ np.stack([z, turned]).T, 0.0, atol=1e-14)
    # the second half of the coordinates is i times the first
    times_i = np.concatenate([-frame[: k - 2, k - 1 :], frame[: k - 2, : k - 1]], axis=1)
    np.testing.assert_allclose(frame[k - 2 :], times_i, atol=1e-15)


def test_right_angles_have_a_fixed_logarithm():
    space = PlanarShapes(4)
    center = space.validate(np.array([1.0, -1.0, 0.0, 0.0], complex))
    across = np.array([[1.0, 1.0, -2.0, 0.0], [1.0, 1.0, 1.0, -3.0]], complex)
    found = space.coordinates(center, across)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 0.5 * math.pi, rtol=1e-15)
    again = space.coordinates(center, similar(across))
    np.testing.assert_allclose(again, found, atol=1e-12)
    assert np.max(space.dist(space.point(center, found), across)) < 1e-15


@SIZES
def test_curvature_is_that_of_the_submersion(k, curvature):
    space, generator = PlanarShapes(k), np.random.default_rng(0)
    center = space.validate(configurations(1, k)[0])
    for _ in range(10):
        u, v = np.linalg.qr(generator.normal(size=(space.dim, 2)))[0].T
        for w in (v, np.concatenate([-u[k - 2 :], u[: k - 2]])):
            turned = np.concatenate([-w[k - 2 :], w[: k - 2]])
            wanted = 1.0 + 3.0 * (u @ turned) ** 2
            assert curvature(space, center, u, w) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "least"), [(3, 4.0), (4, 1.0), (6, 1.0)])
def test_curvature_lies_where_it_is_said_to(k, least, curvature_range):
    space = PlanarShapes(k)
    center = space.validate(configurations(1, k)[0])
    assert curvature_range(space, center) == pytest.approx((least, 4.0), abs=1e-4)
    assert (space.curvature_bound, space.curvature_floor) == (4.0, least)
    assert space.constant_curvature == (4.0 if k == 3 else None)


def test_three_landmarks_are_a_sphere_of_radius_one_half():
    space, sphere = PlanarShapes(3), Sphere(2, 4.0)
    z = space.lift(configurations(60, 3)).reshape(60, 2, 2)
    z = z[:, 0] + 1j * z[:, 1]
    product = z[:, 0] * z[:, 1].conj()
    height = np.abs(z[:, 0]) ** 2 - np.abs(z[:, 1]) ** 2
    hopf = 0.5 * np.stack([2.0 * product.real, 2.0 * product.imag, height], axis=1)
    points = configurations(60, 3)
    np.testing.assert_allclose(
        space.dist(points[:30], points[30:]), sphere.dist(hopf[:30], hopf[30:]), atol=1e-13
    )


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_a_record_is_treated_by_itself_in_any_company(size):
    space = PlanarShapes(5)
    ball = Ball(space, configurations(1, 5, 5)[0], 0.5)
    points = configurations(size, 5)
    for function in (space.validate, space.lift, ball.project, ball.coordinates):
        together = function(points)
        alone = np.concatenate([function(points[i : i + 1]) for i in range(size)])
        assert together.tobytes() == alone.tobytes()
        strided = np.repeat(points[:, None], 3, axis=1)[:, 1]
        assert function(strided).tobytes() == together.tobytes()
    center, feet = ball.center, ball.coordinates(points)
    alone = np.concatenate([space.point(center, feet[i : i + 1]) for i in range(size)])
    assert space.point(center, feet).tobytes() == alone.tobytes()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([2.0 + 1j] * 4, "row 2 has all its landmarks at one place"),
        ([1e8 + 1e-9j, 1e8, 1e8, 1e8], "row 2 has all its landmarks at one place"),
        ([1.0, 2.0, np.nan, 0.0], "row 2 has entries that are NaN or infinite"),
        ([1.0, 2.0, np.inf * 1j, 0.0], "row 2 has entries that are NaN or infinite"),
    ],
)
def test_what_has_no_shape_is_named(row, message):
    points = configurations(5, 4)
    points[2] = row
    with pytest.raises(NotOnManifoldError, match=message):
        PlanarShapes(4).validate(points)


def test_other_arrays_and_numbers_are_refused():
    space = PlanarShapes(4)
    for bad in (np.zeros((3, 5), complex), np.ones((3, 4)), np.ones((4, 3)), [["a"] * 4]):
        with pytest.raises(NotOnManifoldError):
            space.validate(bad)
    with pytest.raises(NotOnManifoldError, match=r"complex numbers, .* real ones"):
        space.validate(np.ones(4))
    for k in (2, 0, 3.0, True):
        with pytest.raises(InvalidParameterError):
            PlanarShapes(k)
    with pytest.raises(UnsupportedBallError, match="injectivity radius"):
        Ball(space, space.origin, 1.6)
    assert Ball.whole(space).reach == space.diameter


@pytest.mark.parametrize("method", ["push", "tangent_vector", "tangent_coordinates", "point"])
def test_vectors_and_coordinates_are_real(method):
    space = PlanarShapes(4)
    size = {"push": 6, "tangent_coordinates": 6}.get(method, space.dim)
    base = () if method == "push" else (space.origin,)
    values = np.linspace(-0.3, 0.4, size)
    getattr(space, method)(*base, values)
    for bad in (values + 0.1j, np.ma.masked_array(values, values > 0.0), values.astype(str)):
        with pytest.raises(NotOnManifoldError, match="must"):
            getattr(space, method)(*base, bad)


def test_releases_come_back_as_complex_landmarks():
    space = PlanarShapes(4)
    template = np.array([1.0, 2.0j, -1.5, -1.0j])
    records = similar(template + 0.2 * configurations(300, 4))
    ball = Ball(space, template, 0.7)
    release = private_mean(records, ball, GDP(2.0), mechanism="tangent-gaussian")
    assert release.value.dtype == np.complex128
    assert release.value.shape == (4,)
    assert not release.value.flags.writeable
    assert release.raw.shape == (4, 2)
    assert space.dist(release.value, template) < 0.3
    assert ball.contains(release.value)
    again = Release.from_json(release.to_json())
    assert again.value.tobytes() == release.value.tobytes()
    assert verify(again).passed
    assert release.proven
    assert release.shrink().value.dtype == np.complex128


def test_a_release_is_the_same_whatever_stands_for_the_records():
    space = PlanarShapes(4)
    records = np.array([1.0, 2.0j, -1.5, -1.0j]) + 0.2 * configurations(50, 4)
    ball = Ball(space, records[0], 0.7)
    found = [
        private_mean(rows, ball, PureDP(1.0), generator=np.random.default_rng(3)).value
        for rows in (records, similar(records), space.validate(records))
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)
    np.testing.assert_allclose(found[2], found[0], atol=1e-12)


def enclosed(numbers):
    from flint import arb

    return [arb(x) for x in numbers]


@pytest.mark.parametrize("length", [1e-9, 0.3, 1.2, 2.0, 3.0])
@pytest.mark.parametrize("k", [3, 5])
def test_folded_ends_are_coordinates_of_the_class(k, length):
    pytest.importorskip("flint")
    space = PlanarShapes(k)
    center = space.validate(configurations(1, k)[0])
    start, generator = space.lift(center), np.random.default_rng(1)
    turned = np.concatenate([-start[k - 1 :], start[: k - 1]])
    frame = np.concatenate([turned[None], space.tangent_vector(center, np.eye(space.dim))])
    gaps = []
    for _ in range(5):
        ends = generator.normal(size=space.dim + 1)
        ends *= length / np.linalg.norm(ends)
        point = space.push(space.cover.exp(start, ends @ frame))
        wanted = space.coordinates(center, point)
        found = [float(x.mid()) for x in space.folded(enclosed(ends))]
        np.testing.assert_allclose(found, wanted, atol=1e-13)
        # the control: another frame of the cover has other classes
        other = [float(x.mid()) for x in space.folded(enclosed(ends[::-1]))]
        gaps.append(np.max(np.abs(np.array(other) - wanted)))
    assert max(gaps) > 0.02 * length


def test_raised_and_folded_are_inverse_and_totally_open_ends_are_left_open():
    arb = pytest.importorskip("flint").arb
    space = PlanarShapes(4)
    coordinates = [Fraction(1, 3), Fraction(-1, 7), Fraction(1, 5), Fraction(2, 9)]
    raised = space.raised(coordinates)
    assert raised == [0, *coordinates]
    ends = [arb(x.numerator) / x.denominator for x in raised]
    for found, wanted in zip(space.folded(ends), ends[1:], strict=True):
        assert found.overlaps(wanted)
        assert found.rad() < 1e-12
    assert space.folded([arb(0)] * 5) is None
    assert space.folded([arb(1), *[arb(0, 0.1)] * 4]) is None
    right = [arb(0), arb.pi() / 2, *[arb(0)] * 3]
    assert space.folded(right) is None
