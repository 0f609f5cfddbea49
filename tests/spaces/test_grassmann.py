"""Subspaces: against scipy's angles, and never a matter of the basis."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.linalg import subspace_angles

from riemdp import (
    GDP,
    Ball,
    Grassmann,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Release,
    RiemannianLaplace,
    Sphere,
    UnsupportedManifoldError,
    plan,
    private_mean,
    tangent_mean,
    verify,
)
from riemdp.testing import check_part

SPACES = [Grassmann(*size) for size in [(1, 2), (1, 4), (2, 4), (3, 4), (2, 5), (3, 5), (4, 9)]]
every_space = pytest.mark.parametrize("space", SPACES, ids=str)
FEW = pytest.mark.fast("Grassmann(p=1, N=2)", "Grassmann(p=2, N=4)", "Grassmann(p=3, N=5)")


def bases(space, n, seed=0):
    normal = np.random.default_rng(seed).normal(size=(n, space.N, space.p))
    return np.linalg.qr(normal)[0]


def turned(points, seed=1):
    """Other bases of the same subspaces, reflected ones among them."""
    size = points.shape[-1]
    normal = np.random.default_rng(seed).normal(size=(len(points), size, size))
    return points @ np.linalg.qr(normal)[0]


def directions(space, n, length, seed=2):
    vectors = np.random.default_rng(seed).normal(size=(n, space.dim))
    return length * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def gap(one, other):
    """Norm of the difference of the projections."""
    first, second = (x @ np.swapaxes(x, -1, -2) for x in (one, other))
    return float(np.max(np.abs(first - second)))


@FEW
@every_space
def test_the_library_s_checks_hold(space):
    check_part(space)


@every_space
def test_distances_are_norms_of_principal_angles(space):
    one, other = bases(space, 50), bases(space, 50, 9)
    wanted = [np.linalg.norm(subspace_angles(a, b)) for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(space.dist(one, other), wanted, atol=1e-11)
    np.testing.assert_allclose(space.dist(turned(one), turned(other, 3)), wanted, atol=1e-11)
    assert np.max(space.dist(one, turned(one))) < 3e-15
    assert np.all(space.dist(one, other) <= space.diameter)
    for length in (1e-12, 1e-7):
        near = space.point(one[0], directions(space, 50, length))
        np.testing.assert_allclose(space.dist(one[0], near), length, atol=2e-15)


def test_distances_against_fifty_digits():
    space, (one, other) = Grassmann(3, 7), np.split(bases(Grassmann(3, 7), 12), 2)
    other[:3] = space.point(one[0], 1e-9 * directions(space, 3, 1.0))
    one[:3] = one[0]
    with mpmath.workdps(50):
        for a, b, found in zip(one, other, space.dist(one, other), strict=True):
            first, second = (mpmath.qr(mpmath.matrix(x.tolist()), mode="skinny")[0] for x in (a, b))
            cosines = mpmath.svd_r(first.T * second, compute_uv=False)
            wanted = mpmath.sqrt(sum(mpmath.acos(min(x, 1)) ** 2 for x in cosines))
            assert abs(found - wanted) < 2e-15


@every_space
def test_isometries(space):
    one, other = bases(space, 20), bases(space, 20, 9)
    rotation = np.linalg.qr(np.random.default_rng(4).normal(size=(space.N, space.N)))[0]
    np.testing.assert_allclose(
        space.dist(rotation @ one, rotation @ other), space.dist(one, other), atol=1e-12
    )
    assert gap(rotation @ space.exp(one, space.log(one, other)), rotation @ other) < 1e-12


@every_space
def test_points_and_coordinates_are_inverse(space):
    center = bases(space, 1)[0]
    for length in (1e-12, 1e-6, 0.1, 1.0, 0.5 * math.pi - 1e-9):
        wanted = directions(space, 40, length)
        points = space.point(center, wanted)
        np.testing.assert_allclose(space.coordinates(center, points), wanted, atol=1e-13)
        np.testing.assert_allclose(space.coordinates(center, turned(points)), wanted, atol=1e-13)
        np.testing.assert_allclose(space.dist(center, points), length, atol=5e-15)
        vectors = space.log(center, points)
        np.testing.assert_allclose(vectors, space.tangent_vector(center, wanted), atol=1e-13)
        assert gap(space.exp(center, vectors), points) < 1e-14
        assert space.validate(points).tobytes() == points.tobytes()


@every_space
def test_far_subspaces_are_reached_too(space):
    """Beyond the injectivity radius too: all principal angles are at most right ones."""
    one, other = bases(space, 60), bases(space, 60, 9)
    vectors = space.log(one, other)
    assert gap(space.exp(one, vectors), other) < 1e-13
    np.testing.assert_allclose(space.norm(one, vectors), space.dist(one, other), atol=1e-13)
    assert np.max(np.abs(np.swapaxes(one, -1, -2) @ vectors)) < 1e-13


def right_angles(space, seed=0):
    """Subspaces some of whose principal angles to the first axes are right ones, exactly."""
    generator = np.random.default_rng(seed)
    axes = [generator.permutation(space.N)[: space.p] for _ in range(30)]
    return np.eye(space.N)[:, np.array(axes)].swapaxes(0, 1)


@every_space
def test_right_angles_have_a_fixed_logarithm(space):
    points = right_angles(space)
    assert points.shape == (30, space.N, space.p)
    ball = Ball.whole(space)
    found = ball.coordinates(points)
    assert np.all(np.isfinite(found))
    assert np.max(np.linalg.norm(found, axis=1)) > 1.5
    np.testing.assert_allclose(
        np.linalg.norm(found, axis=1), space.dist(space.origin, points), atol=1e-13
    )
    # whatever basis is given
    np.testing.assert_allclose(ball.coordinates(turned(points)), found, atol=1e-12)
    assert gap(ball.point(found), points) < 1e-13


def test_the_choice_at_right_angles_is_needed():
    """The control: left to the decomposition, the logarithm is one of the basis."""
    space = Grassmann(2, 4)
    point = np.eye(4)[:, 2:]
    left, _, right = np.linalg.svd(space.origin.T @ point)
    other_left, _, other_right = np.linalg.svd(space.origin.T @ (point[:, ::-1]))
    plain = point[2:] @ right.T @ left.T
    again = point[2:, ::-1] @ other_right.T @ other_left.T
    assert np.max(np.abs(plain - again)) > 0.5
    found = space.coordinates(space.origin, np.stack([point, point[:, ::-1]]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-13)


@every_space
def test_curvature_is_that_of_wongs_formula(space, curvature):
    if space.dim == 1:
        return
    generator, center = np.random.default_rng(0), space.origin
    shape = (space.N - space.p, space.p)
    for _ in range(5):
        u, v = np.linalg.qr(generator.normal(size=(space.dim, 2)))[0].T
        x, y = u.reshape(shape), v.reshape(shape)
        wanted = 0.5 * (np.sum((x.T @ y - y.T @ x) ** 2) + np.sum((x @ y.T - y @ x.T) ** 2))
        assert curvature(space, center, u, v) == pytest.approx(wanted, abs=1e-4)


def test_curvature_is_attained(curvature):
    for space, bound in ((Grassmann(2, 4), 2.0), (Grassmann(3, 5), 2.0), (Grassmann(1, 4), 1.0)):
        x, y = np.zeros((2, space.N - space.p, space.p))
        x[0, 0] = 1.0
        y[(1, 0) if space.N - space.p > 1 else (0, 1)] = 1.0
        if bound == 2.0:
            x[1, 1], y[0, 1] = 1.0, -1.0
        u, v = (w.ravel() / np.linalg.norm(w) for w in (x, y))
        assert curvature(space, space.origin, u, v) == pytest.approx(bound, abs=1e-5)
        assert space.curvature_bound == bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "least", "largest"),
    [
        (Grassmann(2, 4), 0.0, 2.0),
        (Grassmann(2, 5), 0.0, 2.0),
        (Grassmann(3, 6), 0.0, 2.0),
        (Grassmann(1, 4), 1.0, 1.0),
        (Grassmann(3, 4), 1.0, 1.0),
    ],
    ids=str,
)
def test_no_plane_has_another_curvature(space, least, largest, curvature_range):
    found = curvature_range(space, space.origin)
    assert found == pytest.approx((least, largest), abs=1e-3)
    assert (space.curvature_floor, space.curvature_bound) == (least, largest)


def test_lines_are_points_of_projective_space():
    space, sphere = Grassmann(1, 4), Sphere(3)
    one, other = bases(space, 50), bases(space, 50, 9)
    plain = sphere.dist(one[..., 0], other[..., 0])
    np.testing.assert_allclose(
        space.dist(one, other), np.minimum(plain, math.pi - plain), atol=1e-14
    )
    assert (space.constant_curvature, Grassmann(3, 4).constant_curvature) == (1.0, 1.0)
    assert (Grassmann(1, 2).curvature_bound, Grassmann(1, 2).curvature_floor) == (0.0, 0.0)
    assert Grassmann(2, 4).constant_curvature is None


def test_geodesics_stop_being_unique_at_a_right_angle():
    space = Grassmann(2, 5)
    step = np.zeros((2, space.dim))
    step[:, 0] = [1.0, -1.0]
    for length, is_one in (
        (space.injectivity_radius, True),
        (0.999 * space.injectivity_radius, False),
    ):
        ends = space.point(space.origin, length * step)
        assert (gap(*ends) < 1e-14) == is_one


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_a_record_is_treated_by_itself_in_any_company(size):
    space = Grassmann(2, 5)
    ball = Ball(space, bases(space, 1, 5)[0], 0.8)
    points = bases(space, size)
    if size > 2:
        points[1] = np.linalg.qr(ball.center, mode="complete")[0][:, 2:4]  # right angles
        points[2] *= 1.0 + 1e-8
    for function in (space.validate, ball.project, ball.coordinates):
        together = function(points)
        alone = np.concatenate([function(points[i : i + 1]) for i in range(size)])
        assert together.tobytes() == alone.tobytes()
    feet = ball.coordinates(points)
    alone = np.concatenate([ball.point(feet[i : i + 1]) for i in range(size)])
    assert ball.point(feet).tobytes() == alone.tobytes()


@every_space
def test_bases_within_the_tolerance_are_made_orthonormal(space):
    points = bases(space, 10)
    off = points + 1e-8 * np.random.default_rng(0).normal(size=points.shape)
    off[3] = points[3]
    found = space.validate(off)
    identity = np.swapaxes(found, -1, -2) @ found
    np.testing.assert_allclose(
        identity, np.broadcast_to(np.eye(space.p), identity.shape), atol=4e-15
    )
    assert found[3].tobytes() == points[3].tobytes()
    assert space.validate(found).tobytes() == found.tobytes()
    for a, b in zip(found, off, strict=True):
        assert np.max(subspace_angles(a, b)) < 1e-14
    assert np.max(np.abs(space.validate(points.astype(np.float32)) - points)) < 1e-6


def test_what_is_no_orthonormal_basis_is_refused():
    space = Grassmann(2, 4)
    points = bases(space, 5)
    for change, message in (
        (1e-3, "row 2 has no orthonormal columns"),
        (np.nan, "row 2 has entries that are NaN"),
    ):
        bad = points.copy()
        bad[2, 0, 0] += change
        with pytest.raises(NotOnManifoldError, match=message):
            space.validate(bad)
    with pytest.raises(NotOnManifoldError, match="row 2 has no orthonormal columns"):
        space.validate(points * np.array([1.0, 1.0, 1e200, 1.0, 1.0])[:, None, None])
    for sizes in ((2, 2), (3, 2), (0, 2), (1, True), (1.0, 3)):
        with pytest.raises(InvalidParameterError):
            Grassmann(*sizes)


def test_means_and_releases_are_functions_of_the_subspaces():
    space = Grassmann(2, 5)
    ball = Ball(space, bases(space, 1)[0], 0.7)
    records = ball.point(directions(space, 200, 0.5) * np.linspace(0.1, 1.0, 200)[:, None])
    np.testing.assert_allclose(
        tangent_mean(ball, turned(records)), tangent_mean(ball, records), atol=1e-13
    )
    found = [
        private_mean(rows, ball, PureDP(1.0), generator=np.random.default_rng(3)).value
        for rows in (records, turned(records))
    ]
    # the very basis too: it is one of the centre and the coordinates
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)


def test_releases_on_subspaces_are_by_tangent_noise():
    space = Grassmann(2, 4)
    ball = Ball(space, space.origin, 0.7)
    records = ball.point(directions(space, 100, 0.4))
    release = private_mean(records, ball, GDP(1.0))
    assert release.proven
    assert release.mechanism.name in ("tangent-gaussian", "wrapped-gaussian")
    assert ball.contains(release.value)
    again = Release.from_json(release.to_json())
    assert again.value.tobytes() == release.value.tobytes()
    assert verify(again).passed


def test_no_law_of_noise_is_made_up():
    space = Grassmann(2, 4)
    with pytest.raises(UnsupportedManifoldError, match="Grassmann"):
        RiemannianLaplace(space, 0.1)
    rows = plan(space, 0.5, 100, GDP(1.0)).rows
    problems = {row.mechanism: row.problem for row in rows if row.mechanism.startswith("riem")}
    assert all(problems.values())
    assert any(row.problem is None for row in rows)
