"""Affine-invariant SPD matrices: congruence invariance, accuracy at large condition numbers."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from riemdp import Ball, NotOnManifoldError, SPDAffineInvariant

EPS = float(np.finfo(np.float64).eps)

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)


def exact_dist(a, b):
    """Distance between two float matrices, 60 digits."""
    with mpmath.workdps(60):
        a, b = mpmath.matrix(a.tolist()), mpmath.matrix(b.tolist())
        inverse = mpmath.inverse(mpmath.cholesky(a))
        values = mpmath.eigsy(inverse * b * inverse.T, eigvals_only=True)
        return float(mpmath.sqrt(sum(mpmath.log(x) ** 2 for x in values)))


@given(seed=seeds, k=sizes)
def test_congruences_and_inversion_are_isometries(seed, k, random_points):
    rng = np.random.default_rng(seed)
    space = SPDAffineInvariant(k)
    a, b = random_points(space, rng, (2, 6), 2.0)
    dist = space.dist(a, b)
    motion = rng.normal(size=(k, k)) + 2.0 * np.eye(k)
    tolerance = 1e-13 * np.linalg.cond(motion) ** 2 + 1e-11
    moved_a, moved_b = (motion @ x @ motion.T for x in (a, b))
    np.testing.assert_allclose(space.dist(moved_a, moved_b), dist, atol=tolerance)
    np.testing.assert_allclose(space.dist(np.linalg.inv(a), np.linalg.inv(b)), dist, atol=1e-11)
    log = space.log(moved_a, moved_b)
    expected = motion @ space.log(a, b) @ motion.T
    np.testing.assert_allclose(log, expected, atol=10 * tolerance * np.abs(expected).max())


@given(seed=seeds, k=sizes)
def test_metric_is_the_trace_formula(seed, k, random_points):
    rng = np.random.default_rng(seed)
    space = SPDAffineInvariant(k)
    p = random_points(space, rng, (), 2.0)
    u, v = (x + x.T for x in rng.normal(size=(2, k, k)))
    inverse = np.linalg.inv(p)
    assert space.inner(p, u, v) == pytest.approx(np.trace(inverse @ u @ inverse @ v), rel=1e-9)


@given(seed=seeds, k=sizes)
def test_formulas_by_matrix_square_roots(seed, k, random_points):
    a, b = random_points(SPDAffineInvariant(k), np.random.default_rng(seed), 2, 2.0)
    root = np.real(scipy.linalg.sqrtm(a))
    inverse = np.linalg.inv(root)
    inside = scipy.linalg.logm(inverse @ b @ inverse)
    space = SPDAffineInvariant(k)
    assert space.dist(a, b) == pytest.approx(np.linalg.norm(inside), rel=1e-9)
    np.testing.assert_allclose(space.log(a, b), root @ inside @ root, atol=1e-10)


def test_distance_from_the_identity():
    values = np.array([1e-6, 1.0, 1e3])
    expected = np.linalg.norm(np.log(values))
    assert SPDAffineInvariant(3).dist(np.eye(3), np.diag(values)) == pytest.approx(expected)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_dense_matrices_of_condition_1e12(k, seed, random_rotation):
    rng = np.random.default_rng(seed)
    rotation = random_rotation(rng, k)
    values = 10.0 ** np.linspace(0, -12, k)
    dense = rotation * values @ rotation.T
    dense = 0.5 * (dense + dense.T)
    space = SPDAffineInvariant(k)
    true = np.linalg.norm(np.log(values))
    for dist in (space.dist(np.eye(k), dense), space.dist(dense, np.eye(k))):
        assert abs(dist - true) < 1e-3
        assert abs(dist - exact_dist(np.eye(k), dense)) < 1e-3
    near = dense + 1e-3 * np.diag(rng.uniform(size=k))
    assert abs(space.dist(dense, near) - exact_dist(dense, near)) < 1e-3


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_graded_matrices_of_condition_1e12_keep_their_digits(k, seed, random_points):
    rng = np.random.default_rng(seed)
    space = SPDAffineInvariant(k)
    first, second = random_points(space, rng, 2, 1.0)
    grade = rng.permutation(10.0 ** np.linspace(0, -6, k))
    a, b = (grade[:, None] * x * grade for x in (first, second))
    a, b = 0.5 * (a + a.T), 0.5 * (b + b.T)
    assert np.linalg.cond(a) > 1e11
    identity = np.eye(k)
    assert abs(space.dist(identity, a) - exact_dist(identity, a)) < 1e-10
    assert abs(space.dist(a, identity) - exact_dist(identity, a)) < 1e-10
    # Scaling by the grade is an isometry.
    assert abs(space.dist(a, b) - exact_dist(first, second)) < 1e-10
    assert abs(space.dist(a, b) - space.dist(b, a)) < 1e-10
    assert space.dist(a, a) < 1e-10


@pytest.mark.parametrize("grades", [(0, 0, -6), (0, -2, -8), (4, 0, -4), (0, -6, -6)])
def test_graded_matrices_in_a_batch(grades, random_points):
    rng = np.random.default_rng(11)
    space = SPDAffineInvariant(3)
    core = random_points(space, rng, 5, 1.0)
    grade = 10.0 ** np.array(grades, dtype=float)
    graded = grade[:, None] * core * grade
    graded = 0.5 * (graded + np.swapaxes(graded, -1, -2))
    mixed = np.concatenate([core, graded])
    dist = space.dist(np.eye(3), mixed)
    exact = [exact_dist(np.eye(3), x) for x in mixed]
    np.testing.assert_allclose(dist, exact, atol=1e-10)
    table = space.dist(mixed[:, None], mixed)
    np.testing.assert_allclose(table, table.T, atol=1e-9)


def test_nearby_matrices():
    space = SPDAffineInvariant(3)
    p = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 0.5]])
    v = np.array([[1.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 3.0]])
    q = p + 1e-9 * v
    assert space.dist(p, q) == pytest.approx(1e-9 * math.sqrt(space.inner(p, v, v)), rel=1e-6)


def test_determinants_move_along_the_flat_direction(random_points):
    # P -> exp(t) P is a geodesic of speed sqrt(k).
    space = SPDAffineInvariant(4)
    p = random_points(space, np.random.default_rng(0), 3)
    np.testing.assert_allclose(space.dist(p, math.exp(1.5) * p), 3.0, rtol=1e-13)
    # In the metric: an entry may be small by cancellation, and how it rounds is the kernel's
    # choice. The products of the exponential round by 4 eps each, magnified by the condition
    # number of p.
    moved = space.exp(p, 1.5 * p)
    lost = 64.0 * EPS * np.linalg.cond(p)
    assert (space.dist(moved, math.exp(1.5) * p) <= lost).all()
    # The control: a step of another length by 1e-12.
    assert (space.dist(moved, math.exp(1.5 + 1e-12) * p) > lost).all()


def test_curvature_is_not_positive(random_points):
    # Triangles are thin: the median is at most that of the flat triangle.
    rng = np.random.default_rng(1)
    space = SPDAffineInvariant(3)
    a, b, c = random_points(space, rng, (3, 50), 3.0)
    middle = space.exp(a, 0.5 * space.log(a, b))
    flat = 0.5 * (space.dist(a, c) ** 2 + space.dist(b, c) ** 2) - 0.25 * space.dist(a, b) ** 2
    assert (space.dist(middle, c) ** 2 <= flat + 1e-10).all()


def test_indefinite_bases_are_refused():
    space = SPDAffineInvariant(2)
    with pytest.raises(NotOnManifoldError, match="positive definite"):
        space.log([[1.0, 2.0], [2.0, 1.0]], np.eye(2))
    with pytest.raises(NotOnManifoldError, match="positive definite"):
        space.log(np.eye(2), [[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize("shape", [(), (1,), (2,), (7,), (3, 4)])
def test_every_valid_record_is_clipped(shape):
    """Also what is not positive definite in float64 once it is seen from the centre."""
    manifold = SPDAffineInvariant(2)
    ball = Ball(manifold, np.array([[2.0, 0.5], [0.5, 1.0]]), 0.5)
    random = np.random.default_rng(0)
    points = ball.point(0.6 * random.normal(size=(*shape, 3)))
    plain = ball.project(points)
    points.reshape(-1, 2, 2)[0] = np.diag([5e-324, 1e308])
    found = ball.project(manifold.validate(points))
    assert np.array_equal(found.reshape(-1, 2, 2)[0], ball.center)
    assert found.reshape(-1, 2, 2)[1:].tobytes() == plain.reshape(-1, 2, 2)[1:].tobytes()
