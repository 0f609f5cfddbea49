"""Powers of matrices: direct formulas, the edge of the cone, releases that leave it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

import riemdp
from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Release,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
    TangentGaussian,
    UnsupportedBallError,
    UnsupportedManifoldError,
    frechet_mean,
    frechet_mean_sensitivity,
    private_mean,
    research,
    verify,
)
from riemdp.research import ConformalRejection, Metropolis, PublicPriorLaplace
from riemdp.spaces import FlatProduct, Power, Product, unvecd
from riemdp.spaces._spd_power import _within_ratio
from riemdp.statistics.curved._solver_of_space import mean_solver
from riemdp.testing import check_part

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)
powers = st.floats(0.05, 1.0)


def wishart(rng, n, k):
    factors = rng.normal(size=(n, k, 3 * k))
    products = factors @ factors.swapaxes(1, 2) / (3 * k)
    return 0.5 * (products + products.swapaxes(1, 2))


@given(seed=seeds, k=sizes, alpha=powers)
def test_distance_is_the_frobenius_norm_between_powers(seed, k, alpha, random_points):
    space = SPDPower(k, alpha)
    a, b = random_points(space, np.random.default_rng(seed), 2, 2.0)
    wanted = np.linalg.norm(
        scipy.linalg.fractional_matrix_power(a, alpha)
        - scipy.linalg.fractional_matrix_power(b, alpha)
    )
    assert space.dist(a, b) == pytest.approx(wanted, rel=1e-9, abs=1e-13)


@given(seed=seeds, k=sizes)
def test_half_is_the_distance_of_square_roots_and_one_is_euclidean(seed, k, random_points):
    rng = np.random.default_rng(seed)
    a, b = random_points(SPDPower(k), rng, 2, 2.0)
    roots = scipy.linalg.sqrtm(a) - scipy.linalg.sqrtm(b)
    assert SPDPower(k).dist(a, b) == pytest.approx(np.linalg.norm(roots), rel=1e-9, abs=1e-13)
    assert SPDPower(k, 1.0).dist(a, b) == pytest.approx(np.linalg.norm(a - b), rel=1e-12)
    # from the identity that of Bures and Wasserstein
    bures = math.sqrt(np.trace(a) + k - 2.0 * np.trace(scipy.linalg.sqrtm(a)))
    assert SPDPower(k).dist(np.eye(k), a) == pytest.approx(bures, rel=1e-9, abs=1e-7)


@given(seed=seeds, k=sizes)
def test_next_to_zero_it_is_alpha_times_the_log_euclidean_distance(seed, k, random_points):
    a, b = random_points(SPDPower(k), np.random.default_rng(seed), 2, 1.0)
    limit = SPDLogEuclidean(k).dist(a, b)
    assert SPDPower(k, 0.01).dist(a, b) / 0.01 == pytest.approx(limit, rel=0.02)
    assert SPDPower(k, 1.0).dist(a, a + np.eye(k)) == pytest.approx(math.sqrt(k), rel=1e-12)


@given(seed=seeds, k=sizes, alpha=powers)
def test_exp_and_log_are_inverse_to_rounding(seed, k, alpha, random_points):
    space = SPDPower(k, alpha)
    p, q = random_points(space, np.random.default_rng(seed), (2, 6), 2.0)
    tolerance = 1e-14 * k / alpha * q.max()
    np.testing.assert_allclose(space.exp(p, space.log(p, q)), q, rtol=0, atol=tolerance)


@pytest.mark.parametrize("alpha", [0.0, -0.5, 0.005, 1.5, math.nan, "half"])
def test_other_powers_are_refused(alpha):
    with pytest.raises(InvalidParameterError, match="alpha"):
        SPDPower(2, alpha)


def test_rotations_and_units_of_all_rows_keep_ratios_of_distances(random_rotation):
    rng = np.random.default_rng(0)
    space = SPDPower(3, 0.5)
    a, b = wishart(rng, 2, 3)
    rotation, grades = random_rotation(rng, 3), np.diag([1.0, 2.0, 3.0])
    before = space.dist(a, b)
    turned = [rotation @ x @ rotation.T for x in (a, b)]
    assert space.dist(*turned) == pytest.approx(before, rel=1e-12)
    assert space.dist(9.0 * a, 9.0 * b) == pytest.approx(3.0 * before, rel=1e-12)
    rescaled = space.dist(*(grades @ x @ grades for x in (a, b)))
    assert abs(rescaled / before - 2.0) > 0.1


def test_the_mean_is_the_power_of_the_average_and_swells_less_than_the_arithmetic_one():
    rng = np.random.default_rng(0)
    data = wishart(rng, 40, 3)
    mean = frechet_mean(SPDPower(3), data).value
    average = np.mean([scipy.linalg.sqrtm(x) for x in data], axis=0)
    np.testing.assert_allclose(mean, average @ average, rtol=1e-12)
    logs = [np.log(np.linalg.det(x)) for x in (mean, data.mean(axis=0))]
    assert np.log(np.linalg.det(data)).mean() + 0.05 < logs[0] < logs[1] - 0.05


@pytest.mark.parametrize(("k", "alpha"), [(1, 0.5), (3, 0.5), (3, 1.0)])
def test_the_sensitivity_is_attained(k, alpha):
    space, n = SPDPower(k, alpha), 5
    ball = Ball(space, np.eye(k), 0.7)
    direction = ball.radius * np.eye(space.dim)[-1]
    ends = ball.point(np.stack([direction, -direction]))
    first, second = ends[[0] * n], ends[[1] + [0] * (n - 1)]
    moved = space.dist(*(frechet_mean(space, data).value for data in (first, second)))
    assert moved == pytest.approx(2.0 * ball.radius / n, rel=1e-12)
    assert frechet_mean_sensitivity(ball, n) == pytest.approx(moved, rel=1e-9)


def test_the_order_of_the_records_does_not_count():
    rng = np.random.default_rng(3)
    space, data = SPDPower(3), wishart(rng, 300, 3)
    ball = Ball(space, np.eye(3), 0.4)
    exact = mean_solver(space).exact(space)
    orders = (np.arange(300), rng.permutation(300))
    sums = [exact.summed(ball, exact.rows_of(ball, data[rows]), None) for rows in orders]
    found = [exact.weighted(ball, total, None, 0.0) for total in sums]
    assert found[0] == found[1]


# The edge of the cone.


@given(seed=seeds, k=sizes, ratio=st.sampled_from([0.9, 0.3, 1e-2]))
def test_what_float64_does_not_hold_goes_to_the_nearest_matrix(seed, k, ratio):
    rng = np.random.default_rng(seed)
    values, least = np.sort(rng.normal(size=k) + rng.normal()), 10.0 ** rng.uniform(-2.0, 0.0)
    found = _within_ratio(values, np.array([least]), np.array([ratio]))
    assert found.min() >= least * (1.0 - 1e-15)
    assert found.min() >= ratio * found.max() * (1.0 - 1e-12)
    # against a search over the largest entry
    top = np.linspace(least, max(values[-1], least / ratio) + 1.0, 20001)[:, None]
    others = np.clip(values, np.maximum(least, ratio * top), top)
    held = others.min(axis=1) >= ratio * others.max(axis=1) * (1.0 - 1e-12)
    best = np.square(others[held] - values).sum(axis=1).min()
    assert np.square(found - values).sum() <= best + 1e-9


@pytest.mark.fast(2)
@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_moving_into_the_cone_makes_no_distance_longer(k, alpha):
    space = SPDPower(k, alpha)
    rng = np.random.default_rng(k)
    center = wishart(rng, 1, k)[0]
    others = space.validate(wishart(rng, 50, k))
    for length in (0.1, 3.0, 1e4):
        vectors = rng.normal(size=(50, space.dim))
        vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
        points = space.point(center, vectors)
        assert space.validate(points).tobytes() == points.tobytes()
        before = np.linalg.norm(space.coordinates(center, others) - vectors, axis=1)
        rounding = space.rounding(center, length)
        assert np.all(space.dist(others, points) <= before * (1.0 + 1e-9) + rounding)
        one_by_one = np.stack([space.point(center, vector) for vector in vectors])
        assert points.tobytes() == one_by_one.tobytes()
    near = space.point(center, 0.5 * space.room(center) * vectors / length)
    gap = space.coordinates(center, near) - 0.5 * space.room(center) * vectors / length
    assert np.abs(gap).max() <= space.rounding(center, space.room(center))


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [2, 3, 9])
def test_a_point_at_the_edge_may_be_a_centre(k, alpha):
    space = SPDPower(k, alpha)
    rng = np.random.default_rng(k)
    for edge in space.point(np.eye(k), 5.0 * rng.normal(size=(4, space.dim))):
        ball = Ball(space, edge, 0.5)
        vectors = rng.normal(size=(15, space.dim))
        vectors *= 0.5 / np.linalg.norm(vectors, axis=1, keepdims=True)
        points = space.validate(ball.point(vectors))
        assert np.all(ball.contains(points))


@pytest.mark.parametrize("length", [1e20, 1e150, 1e300])
def test_draws_far_out_are_points(length):
    space = SPDPower(3)
    vectors = np.random.default_rng(0).normal(size=(30, 6))
    vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
    for points in (space.point(np.eye(3), vectors), space.from_chart(vectors)):
        space.validate(points)


def test_noise_that_leaves_the_cone_comes_back_and_has_no_density():
    space = SPDPower(2)
    center = 0.04 * np.eye(2)
    for kind in (RiemannianGaussian, TangentGaussian, RiemannianLaplace):
        noise = kind(space, 0.3)
        draws = research.sample(noise, center, 500, np.random.default_rng(0))
        foot = space.to_chart(center)
        free = research.sample(kind(Euclidean(3), 0.3), foot, 500, np.random.default_rng(0))
        inside = np.linalg.eigvalsh(unvecd(free, 2))[:, 0] > 1e-3
        assert 0.1 < inside.mean() < 0.9
        found = space.to_chart(space.validate(draws))
        np.testing.assert_allclose(found[inside], free[inside], atol=1e-12)
        shorter = np.linalg.norm(found - foot, axis=1) - np.linalg.norm(free - foot, axis=1)
        assert shorter.max() < 1e-9
        assert shorter[~inside].mean() < -0.05
        assert np.mean(space.dist(center, draws)) < noise.expected_distance()
        with pytest.raises(UnsupportedManifoldError, match="has no density; audit with another"):
            noise.log_density(draws, center)
        with pytest.raises(InvalidParameterError, match="bound"):
            noise.distance_law(center)
        # the guarantee is that of the noise in R^d
        assert noise.privacy(0.1) == kind(Euclidean(3), 0.3).privacy(0.1)


def test_laws_that_weigh_draws_by_distances_are_refused():
    """Whether a draw that was moved is kept would not follow from where it was drawn."""
    ball = Ball(SPDPower(2), np.eye(2), 1.5)
    one = lambda points: np.ones(len(points))  # noqa: E731
    for kind in (ConformalRejection, PublicPriorLaplace):
        with pytest.raises(UnsupportedManifoldError, match="use RiemannianLaplace"):
            kind(ball, one, 1.0, 0.1, bounds=(0.5, 2.0))
        kind(Ball(SPDLogCholesky(2), np.eye(2), 1.5), one, 1.0, 0.1, bounds=(0.5, 2.0))
    with pytest.raises(UnsupportedManifoldError, match="no longer symmetric"):
        Metropolis(SPDPower(2), 0.3, "gaussian")
    Metropolis(SPDLogCholesky(2), 0.3, "gaussian")


def test_products_know_that_a_factor_has_an_edge():
    flat = FlatProduct(SPDPower(2), Euclidean(1))
    for space in (flat, Product(SPDPower(2), Sphere(2))):
        assert space.room(space.origin) == pytest.approx(1.0, rel=1e-5)
        check_part(space)
    with pytest.raises(UnsupportedManifoldError, match="no density"):
        RiemannianGaussian(flat, 0.3).log_density(flat.origin, flat.origin)
    assert FlatProduct(Euclidean(2), SPDLogEuclidean(2)).room(np.zeros(6)) == math.inf


@pytest.mark.parametrize("space", [SPDPower(2), SPDLogCholesky(2)], ids=str)
def test_copies_are_moved_each_about_its_own_centre(space):
    rng = np.random.default_rng(0)
    copies = Power(space, 3)
    centers = np.array([1.0, 1e-6, 1e6])[:, None, None] * wishart(rng, 3, 2)
    vectors = 10.0 * rng.normal(size=(40, 9))
    found = copies.point(centers, vectors)
    parts = [space.point(centers[i], vectors[:, 3 * i : 3 * i + 3]) for i in range(3)]
    np.testing.assert_array_equal(found, np.stack(parts, axis=1))
    copies.validate(found)
    assert copies.room(centers) == min(map(space.room, centers))


class Onto(SPDPower):
    name = "tests.Onto"

    def room(self, center):
        return math.inf


def test_a_space_that_denies_its_edge_is_noticed(registry):
    riemdp.register(Onto)
    with pytest.raises(AssertionError, match=r"geodesics of length 2 are shortest"):
        check_part(Onto(2))
    # its density is not that of the draws
    noise = RiemannianGaussian(Onto(1), 1.0)
    draws = research.sample(noise, [[0.04]], 4000, np.random.default_rng(0))
    weights = np.exp(noise.log_density(draws, [[0.81]]) - noise.log_density(draws, [[0.04]]))
    assert abs(weights.mean() - 1.0) > 6.0 * weights.std() / math.sqrt(4000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", [RiemannianLaplace(SPDPower(2), 0.5), TangentGaussian(SPDPower(2), 1.0)], ids=str
)
def test_mechanisms_pass_their_checks(mechanism):
    check_part(mechanism)


def test_an_audit_finds_too_little_noise():
    space = SPDPower(2)
    first, second = space.point(np.eye(2), np.array([[0.4, 0.0, 0.0], [-0.4, 0.0, 0.0]]))
    noise = RiemannianGaussian(space, 0.8)
    for budget, verdict in ((GDP(1.0), "consistent"), (GDP(0.4), "violated")):
        found = riemdp.audit(
            noise, first, second, budget, samples=20_000, generator=np.random.default_rng(0)
        )
        assert found.verdict == verdict


# Limits and releases.


def test_what_float64_does_not_hold_is_refused():
    space = SPDPower(2)
    data = np.tile(np.eye(2), (4, 1, 1))
    data[2] = [[1.0, 2.0], [2.0, 1.0]]
    with pytest.raises(NotOnManifoldError, match="row 2 is not positive definite"):
        space.validate(data)
    with pytest.raises(UnsupportedBallError, match="condition of the centre"):
        Ball(space, np.diag([1e8, 1e-8]), 1.0)
    with pytest.raises(UnsupportedBallError, match="other units"):
        Ball(space, 1e300 * np.eye(2), 1.0)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_rounding_explains_distances_in_the_ball(k, alpha):
    space = SPDPower(k, alpha)
    rng = np.random.default_rng(k)
    for center in (np.eye(k), np.diag(10.0 ** rng.uniform(-6.0, 6.0, k)), 1e-12 * np.eye(k)):
        for radius in (0.1, 3.0):
            ball = Ball(space, center, radius)
            vectors = rng.normal(size=(200, space.dim))
            vectors *= radius / np.linalg.norm(vectors, axis=1, keepdims=True)
            points = ball.point(vectors)
            assert np.all(space.dist(center, points) <= radius + ball.rounding)


@pytest.mark.parametrize("mechanism", ["riemannian-laplace", "tangent-gaussian"])
@pytest.mark.parametrize(("k", "n"), [(1, 60), (3, 60), (3, 3)])
def test_releases_are_exact_proven_and_verified(k, n, mechanism):
    space, data = SPDPower(k), wishart(np.random.default_rng(0), n, k)
    budget = PureDP(0.5) if "laplace" in mechanism else GDP(0.5)
    for radius in (1.5, 0.01):  # the draw of a small one is not projected
        ball = Ball(space, np.eye(k), radius)
        release = private_mean(data, ball, budget, mechanism=mechanism)
        assert release.proven
        assert release.proofs["SPDPower"] == "docs/proofs/spaces.md"
        again = Release.from_json(release.to_json())
        assert again.value.tobytes() == release.value.tobytes()
        assert again.ball.manifold == space
        assert verify(again).passed
        space.validate(release.value)
