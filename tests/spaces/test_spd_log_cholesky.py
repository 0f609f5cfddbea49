"""Log-Cholesky matrices: direct formulas, many digits, what float64 does not hold, releases."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from riemdp import (
    GDP,
    Ball,
    NotOnManifoldError,
    PureDP,
    Release,
    SPDLogCholesky,
    UnsupportedBallError,
    frechet_mean,
    frechet_mean_sensitivity,
    private_mean,
    verify,
)
from riemdp.statistics.curved._solver_of_space import mean_solver

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)
GRADES = 10.0 ** np.array([-3.0, 1.0, 3.0, -1.0])


def wishart(rng, n, k):
    factors = rng.normal(size=(n, k, 3 * k))
    products = factors @ factors.swapaxes(1, 2) / (3 * k)
    return 0.5 * (products + products.swapaxes(1, 2))


def squared(a, b):
    """Square of the distance, by LAPACK's factors."""
    first, second = (scipy.linalg.cholesky(x, lower=True) for x in (a, b))
    under = np.sum(np.square(np.tril(first, -1) - np.tril(second, -1)))
    return under + np.sum(np.square(np.log(np.diag(first)) - np.log(np.diag(second))))


@given(seed=seeds, k=sizes)
def test_distance_is_that_of_the_factors(seed, k, random_points):
    space = SPDLogCholesky(k)
    a, b = random_points(space, np.random.default_rng(seed), 2, 2.0)
    assert space.dist(a, b) == pytest.approx(math.sqrt(squared(a, b)), rel=1e-10)
    # a factor of the diagonal in place of its logarithm would be seen
    assert space.dist(a, 4.0 * a) ** 2 == pytest.approx(
        k * math.log(2.0) ** 2 + np.sum(np.square(np.tril(scipy.linalg.cholesky(a).T, -1))),
        rel=1e-9,
    )


@given(seed=seeds, k=sizes)
def test_exp_and_log_are_inverse_to_rounding(seed, k, random_points):
    space = SPDLogCholesky(k)
    p, q = random_points(space, np.random.default_rng(seed), (2, 6), 2.0)
    found = space.exp(p, space.log(p, q))
    size = q.max() * max(1.0, np.linalg.cond(p).max())
    np.testing.assert_allclose(found, q, rtol=0, atol=4e-15 * size)
    np.testing.assert_array_equal(found, found.swapaxes(-1, -2))
    np.testing.assert_allclose(space.from_chart(space.to_chart(p)), p, rtol=0, atol=1e-14 * p.max())


def test_the_chart_keeps_the_digits_of_graded_matrices():
    space, k = SPDLogCholesky(4), 4
    correlation = np.full((k, k), 0.3) + 0.7 * np.eye(k)
    matrix = GRADES[:, None] * correlation * GRADES
    assert np.linalg.cond(matrix) > 1e12
    chart = space.to_chart(space.validate(matrix))
    with mpmath.workdps(60):
        factor = mpmath.cholesky(mpmath.matrix(matrix.tolist()))
        logs = [float(mpmath.log(factor[i, i])) for i in range(k)]
        under = [float(factor[i, j]) for j in range(k) for i in range(j + 1, k)]
    np.testing.assert_allclose(chart[:k], logs, rtol=0, atol=4e-15)
    np.testing.assert_allclose(chart[k:], under, rtol=1e-14)
    np.testing.assert_allclose(space.from_chart(chart), matrix, rtol=1e-14)
    # through the logarithm of the matrix they would be lost
    values, vectors = np.linalg.eigh(matrix)
    again = (vectors * values) @ vectors.T
    assert np.abs(again / matrix - 1.0).max() > 1e-12
    ball = Ball(space, matrix, 0.5)
    release = private_mean(np.tile(matrix, (50, 1, 1)), ball, PureDP(1.0))
    assert verify(release).passed


def test_the_metric_depends_on_the_order_of_the_rows_and_not_on_a_sign():
    space = SPDLogCholesky(2)
    a, b = np.array([[2.0, 0.8], [0.8, 1.0]]), np.array([[1.0, -0.3], [-0.3, 3.0]])
    order, sign = [1, 0], np.diag([1.0, -1.0])
    before = space.dist(a, b)
    assert abs(space.dist(a[np.ix_(order, order)], b[np.ix_(order, order)]) - before) > 0.05
    assert space.dist(sign @ a @ sign, sign @ b @ sign) == pytest.approx(before, rel=1e-14)
    # translations of the group of factors are isometries, and a common unit is none
    assert abs(space.dist(9.0 * a, 9.0 * b) - before) > 0.05


def test_the_mean_is_the_average_of_the_factors_and_does_not_swell():
    rng = np.random.default_rng(0)
    space, data = SPDLogCholesky(3), wishart(rng, 40, 3)
    factors = np.linalg.cholesky(data)
    wanted = factors.mean(axis=0)
    np.fill_diagonal(wanted, np.exp(np.log(np.einsum("nii->ni", factors)).mean(axis=0)))
    mean = frechet_mean(space, data).value
    np.testing.assert_allclose(mean, wanted @ wanted.T, rtol=1e-13)
    swelling = np.log(np.linalg.det(mean)) - np.log(np.linalg.det(data)).mean()
    assert abs(swelling) < 1e-12
    # that of the arithmetic mean does
    assert np.log(np.linalg.det(data.mean(axis=0))) - np.log(np.linalg.det(data)).mean() > 0.3


@pytest.mark.parametrize("k", [1, 3])
def test_the_sensitivity_is_attained(k):
    space, n = SPDLogCholesky(k), 5
    ball = Ball(space, wishart(np.random.default_rng(1), 1, k)[0], 1.3)
    direction = np.random.default_rng(2).normal(size=space.dim)
    direction *= ball.radius / np.linalg.norm(direction)
    ends = ball.point(np.stack([direction, -direction]))
    first, second = ends[[0] * n], ends[[1] + [0] * (n - 1)]
    moved = space.dist(*(frechet_mean(space, data).value for data in (first, second)))
    assert moved == pytest.approx(2.0 * ball.radius / n, rel=1e-12)
    assert frechet_mean_sensitivity(ball, n) == pytest.approx(moved, rel=1e-9)


def test_the_order_of_the_records_does_not_count():
    rng = np.random.default_rng(3)
    space, data = SPDLogCholesky(3), wishart(rng, 300, 3)
    ball = Ball(space, np.eye(3), 0.8)
    exact = mean_solver(space).exact(space)
    orders = (np.arange(300), rng.permutation(300))
    sums = [exact.summed(ball, exact.rows_of(ball, data[rows]), None) for rows in orders]
    found = [exact.weighted(ball, total, None, 0.0) for total in sums]
    assert found[0] == found[1]


@pytest.mark.parametrize("length", [20.0, 1e3, 1e150, 1e300])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_points_far_out_are_moved_towards_the_centre(k, length):
    space = SPDLogCholesky(k)
    center = wishart(np.random.default_rng(0), 1, k)[0]
    vectors = np.random.default_rng(1).normal(size=(30, space.dim))
    vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
    points = space.point(center, vectors)
    space.validate(points)
    assert np.all(space.dist(center, points) <= length * (1.0 + 1e-12) + 0.05)
    one_by_one = np.stack([space.point(center, vector) for vector in vectors])
    assert points.tobytes() == one_by_one.tobytes()
    space.validate(space.from_chart(vectors))
    # what is near is not moved
    near = space.point(center, vectors / length)
    np.testing.assert_allclose(space.coordinates(center, near), vectors / length, atol=1e-11)


@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize("radius", [0.1, 1.0, 4.0])
def test_rounding_explains_distances_in_the_ball(k, radius):
    space = SPDLogCholesky(k)
    rng = np.random.default_rng(k)
    ball = Ball(space, np.diag(10.0 ** rng.uniform(-2.0, 2.0, k)), radius)
    vectors = rng.normal(size=(500, space.dim))
    vectors[:250, :k] = -np.abs(vectors[:250, :k])  # where factors are nearly singular
    vectors *= radius / np.linalg.norm(vectors, axis=1, keepdims=True)
    points = ball.point(vectors)
    assert np.all(space.dist(ball.center, points) <= radius + ball.rounding)
    assert np.all(ball.contains(points))


@pytest.mark.parametrize("k", [2, 3, 9])
def test_a_point_at_the_edge_may_be_a_centre(k):
    space = SPDLogCholesky(k)
    rng = np.random.default_rng(k)
    for edge in space.point(np.eye(k), 20.0 * rng.normal(size=(4, space.dim))):
        ball = Ball(space, edge, 0.5)
        vectors = rng.normal(size=(15, space.dim))
        vectors *= 0.5 / np.linalg.norm(vectors, axis=1, keepdims=True)
        points = space.validate(ball.point(vectors))
        assert np.all(ball.contains(points))


def test_what_has_no_factor_is_refused_with_its_row():
    space = SPDLogCholesky(2)
    data = np.tile(np.eye(2), (4, 1, 1))
    data[2] = [[1.0, 2.0], [2.0, 1.0]]
    for refused in (space.validate, space.to_chart):
        with pytest.raises(NotOnManifoldError, match="row 2 is not positive definite"):
            refused(data)
    with pytest.raises(UnsupportedBallError, match="correlation matrix must be at"):
        Ball(space, [[1.0, 1.0 - 2e-14], [1.0 - 2e-14, 1.0]], 0.1)
    with pytest.raises(UnsupportedBallError, match="other units"):
        Ball(space, 1e303 * np.eye(2), 0.1)


@pytest.mark.parametrize("mechanism", ["riemannian-laplace", "tangent-gaussian"])
@pytest.mark.parametrize("k", [1, 3])
def test_releases_are_exact_proven_and_verified(k, mechanism):
    space, data = SPDLogCholesky(k), wishart(np.random.default_rng(0), 60, k)
    ball = Ball(space, np.eye(k), 1.5)
    budget = PureDP(1.0) if "laplace" in mechanism else GDP(1.0)
    release = private_mean(data, ball, budget, mechanism=mechanism)
    assert release.proven
    assert release.proofs["SPDLogCholesky"] == "docs/proofs/spaces.md"
    again = Release.from_json(release.to_json())
    assert again.value.tobytes() == release.value.tobytes()
    assert verify(again).passed
    space.validate(release.value)
