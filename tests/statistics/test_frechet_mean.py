"""The Fréchet mean on every manifold: certificates, invariances, sensitivity, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from riemdp import (
    Ball,
    ConvergenceError,
    Euclidean,
    Hyperbolic,
    NotOnManifoldError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedBallError,
    frechet_mean,
    frechet_mean_sensitivity,
    tangent_mean,
)
from riemdp._errors import InvalidParameterError
from riemdp.statistics import FrechetMean, answer
from riemdp.statistics._frechet_mean import _shares_of


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    query = next(FrechetMean().queries(ball))
    return np.array(answer(query, ball, data, tol), dtype=float)


MANIFOLDS = [
    Euclidean(3),
    Sphere(1),
    Sphere(1, 4.0),
    Sphere(2),
    Sphere(3, 4.0),
    Sphere(10),
    Hyperbolic(1),
    Hyperbolic(2),
    Hyperbolic(4, -4.0),
    Hyperbolic(11),
    SPDLogEuclidean(1),
    SPDLogEuclidean(2),
    SPDLogEuclidean(3),
    SPDAffineInvariant(1),
    SPDAffineInvariant(2),
    SPDAffineInvariant(3),
]
every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
NORTH = np.array([0.0, 0.0, 1.0])


def natural_center(manifold):
    """Where ``random_points`` are spread around."""
    if isinstance(manifold, Euclidean):
        return np.zeros(manifold.dim)
    if isinstance(manifold, (Sphere, Hyperbolic)):
        return np.eye(manifold.dim + 1)[0] / math.sqrt(abs(manifold.curvature))
    return np.eye(manifold.k)


@pytest.fixture(scope="session")
def make_data(random_points):
    """``make_data(manifold, rng, n)``: a ball and points inside it."""

    def make(manifold, rng, n, share=0.8):
        scale = math.sqrt(abs(manifold.constant_curvature or 0.0)) or 1.0
        if isinstance(manifold, Sphere):
            scale = math.sqrt(manifold.curvature)
        ball = Ball(manifold, natural_center(manifold), share * 0.5 * math.pi / scale)
        return ball, ball.project(random_points(manifold, rng, n, share * 0.5 * math.pi))

    return make


def mean_square(manifold, data, weights):
    """The objective, with distances spelt out here."""

    def objective(point):
        if isinstance(manifold, Euclidean):
            square = ((data - point) ** 2).sum(axis=-1)
        elif isinstance(manifold, Sphere):
            cosine = np.clip(manifold.curvature * data @ point, -1.0, 1.0)
            square = np.arccos(cosine) ** 2 / manifold.curvature
        elif isinstance(manifold, Hyperbolic):
            product = data[:, 0] * point[0] - data[:, 1:] @ point[1:]
            cosine = np.maximum(-manifold.curvature * product, 1.0)
            square = np.arccosh(cosine) ** 2 / -manifold.curvature
        elif isinstance(manifold, SPDLogEuclidean):
            values, vectors = np.linalg.eigh(np.concatenate([data, point[None]]))
            logs = (vectors * np.log(values)[:, None, :]) @ np.swapaxes(vectors, -1, -2)
            square = ((logs[:-1] - logs[-1]) ** 2).sum(axis=(-1, -2))
        else:
            values = np.linalg.eigvals(np.linalg.inv(point) @ data)
            square = (np.log(values.real) ** 2).sum(axis=-1)
        return float(weights @ square)

    return objective


@pytest.mark.fast(6)
@every_manifold
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_a_plain_minimiser_of_the_objective(manifold, weighted, make_data):
    rng = np.random.default_rng(0)
    ball, data = make_data(manifold, rng, 12)
    weights = rng.uniform(size=12) ** 3 if weighted else np.ones(12)
    objective = mean_square(manifold, data, weights / weights.sum())
    base = data[0]

    def point(coordinates):
        return manifold.exp(base, manifold.tangent_vector(base, coordinates))

    found = scipy.optimize.minimize(
        lambda c: objective(point(c)), np.zeros(manifold.dim), method="BFGS", options={"gtol": 1e-7}
    )
    mean = frechet_mean(manifold, data, weights if weighted else None, ball=ball)
    assert manifold.dist(mean.value, point(found.x)) <= 1e-5
    assert objective(mean.value) <= found.fun + 1e-12


@pytest.mark.fast(3)
@every_manifold
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from([1, 2, 7, 60]))
def test_the_gradient_vanishes_at_the_mean(manifold, seed, n, make_data):
    rng = np.random.default_rng(seed)
    ball, data = make_data(manifold, rng, n)
    for weights in (None, rng.uniform(size=n)):
        mean = frechet_mean(manifold, data, weights, ball=ball)
        logs = manifold.tangent_coordinates(mean.value, manifold.log(mean.value, data))
        gradient = np.average(logs, axis=0, weights=weights)
        assert np.linalg.norm(gradient) <= 1e-9
        assert 0.0 <= mean.error_bound <= 1e-10
        assert mean.passes >= 1
        assert mean.value.shape == manifold.point_shape
        np.testing.assert_allclose(manifold.validate(mean.value), mean.value, atol=1e-14)


@every_manifold
def test_one_row_is_its_own_mean(manifold, make_data):
    ball, data = make_data(manifold, np.random.default_rng(1), 1)
    for rows in (data, np.repeat(data, 9, axis=0)):
        mean = frechet_mean(manifold, rows, ball=ball)
        assert manifold.dist(mean.value, data[0]) <= max(mean.error_bound, 1e-13)


@every_manifold
def test_the_mean_of_two_rows_is_their_midpoint(manifold, make_data):
    ball, (a, b) = make_data(manifold, np.random.default_rng(2), 2)
    middle = manifold.exp(a, 0.5 * manifold.log(a, b))
    assert manifold.dist(frechet_mean(manifold, [a, b], ball=ball).value, middle) <= 1e-10
    third = manifold.exp(a, 0.25 * manifold.log(a, b))
    weighted = frechet_mean(manifold, [a, b], [3.0, 1.0], ball=ball).value
    assert manifold.dist(weighted, third) <= 1e-10


@every_manifold
def test_integer_weights_are_repeated_rows_and_zero_weights_absent_ones(manifold, make_data):
    rng = np.random.default_rng(3)
    ball, data = make_data(manifold, rng, 8)
    weights = np.array([0, 3, 1, 0, 2, 5, 1, 1])
    weighted = frechet_mean(manifold, data, weights, ball=ball)
    repeated = frechet_mean(manifold, np.repeat(data, weights, axis=0), ball=ball)
    absent = frechet_mean(manifold, data[weights > 0], weights[weights > 0], ball=ball)
    assert manifold.dist(weighted.value, repeated.value) <= 2e-10
    assert manifold.dist(weighted.value, absent.value) <= 2e-10
    # Only proportions count.
    for factor in (1e-307, 1e-250, 3e307):
        scaled = frechet_mean(manifold, data, factor * weights, ball=ball)
        assert manifold.dist(weighted.value, scaled.value) <= 2e-10


@pytest.mark.fast(6)
@every_manifold
@pytest.mark.parametrize("n", [10, 3000])
def test_row_order_does_not_matter(manifold, n, make_data):
    rng = np.random.default_rng(4)
    ball, data = make_data(manifold, rng, n)
    weights = rng.uniform(size=n)
    orders = [rng.permutation(n), np.argsort(data.reshape(n, -1)[:, 0]), np.arange(n)[::-1]]
    plain = frechet_mean(manifold, data, ball=ball).value
    weighted = frechet_mean(manifold, data, weights, ball=ball).value
    for order in orders:
        again = frechet_mean(manifold, data[order], ball=ball).value
        assert manifold.dist(plain, again) < 1e-9
        again = frechet_mean(manifold, data[order], weights[order], ball=ball).value
        assert manifold.dist(weighted, again) < 1e-9


@every_manifold
@pytest.mark.parametrize("n", [1, 2, 50])
def test_input_is_not_changed_and_not_shared(manifold, n, make_data):
    rng = np.random.default_rng(5)
    ball, data = make_data(manifold, rng, n)
    weights = rng.uniform(size=n)
    kept = data.copy(), weights.copy(), ball.center.copy()
    mean = frechet_mean(manifold, data, weights, ball=ball)
    other = frechet_mean(manifold, data, ball=ball)
    certified(ball, data, 1e-10)
    tangent_mean(ball, data)
    for result in (mean, other):
        assert not np.shares_memory(result.value, data)
        assert not np.shares_memory(result.value, ball.center)
    for before, after in zip(kept, (data, weights, ball.center), strict=True):
        np.testing.assert_array_equal(before, after)


@every_manifold
def test_a_looser_tolerance_is_kept_too(manifold, make_data):
    ball, data = make_data(manifold, np.random.default_rng(6), 30)
    exact = frechet_mean(manifold, data, ball=ball, tol=1e-12).value
    for tol in (1e-3, 1e-6):
        mean = frechet_mean(manifold, data, ball=ball, tol=tol)
        assert mean.error_bound <= tol
        assert manifold.dist(mean.value, exact) <= mean.error_bound + 1e-12


@every_manifold
@pytest.mark.parametrize("n", [1, 20])
def test_a_tolerance_under_rounding_is_an_error_with_advice(manifold, n, make_data):
    ball, data = make_data(manifold, np.random.default_rng(7), n)
    with pytest.raises(ConvergenceError, match=r"larger tol"):
        frechet_mean(manifold, data, ball=ball, tol=1e-18)


@every_manifold
def test_bad_data_are_refused(manifold, make_data):
    ball, data = make_data(manifold, np.random.default_rng(8), 5)
    with pytest.raises(NotOnManifoldError, match="empty"):
        frechet_mean(manifold, data[:0], ball=ball)
    with pytest.raises(NotOnManifoldError, match="shape"):
        frechet_mean(manifold, data[0], ball=ball)
    with pytest.raises(NotOnManifoldError, match="shape"):
        frechet_mean(manifold, data[None], ball=ball)
    bad = data.copy()
    bad.reshape(5, -1)[3, 0] = np.nan
    with pytest.raises(NotOnManifoldError, match="row 3"):
        frechet_mean(manifold, bad, ball=ball)
    for mean in (lambda rows: tangent_mean(ball, rows),):
        with pytest.raises(NotOnManifoldError, match="empty"):
            mean(data[:0])
        with pytest.raises(NotOnManifoldError, match="shape"):
            mean(data[0])
        with pytest.raises(NotOnManifoldError, match="row 3"):
            mean(bad)


@pytest.mark.parametrize(
    "weights",
    [
        [1.0, 1.0],
        [1.0, 1.0, 1.0, 1.0],
        [[1.0, 1.0, 1.0]],
        1.0,
        [1.0, -1e-9, 1.0],
        [1.0, np.nan, 1.0],
        [1.0, np.inf, 1.0],
        [0.0, 0.0, 0.0],
        ["a", "b", "c"],
        [1j, 1j, 1j],
        [[1.0], [1.0, 2.0], []],
    ],
    ids=str,
)
@pytest.mark.parametrize("manifold", [Euclidean(3), Sphere(2), SPDAffineInvariant(2)], ids=str)
def test_bad_weights_are_refused(manifold, weights, make_data):
    ball, data = make_data(manifold, np.random.default_rng(9), 3)
    with pytest.raises(InvalidParameterError, match="weights"):
        frechet_mean(manifold, data, weights, ball=ball)


@pytest.mark.parametrize("tol", [0.0, -1e-9, math.nan, math.inf])
def test_bad_tolerances_are_refused(tol):
    with pytest.raises(InvalidParameterError, match="tol"):
        frechet_mean(Euclidean(1), [[1.0]], tol=tol)


@pytest.mark.parametrize("sphere", [Sphere(1), Sphere(2), Sphere(4, 4.0)], ids=str)
def test_spheres_need_a_ball_that_holds_the_data(sphere, make_data):
    ball, data = make_data(sphere, np.random.default_rng(10), 6)
    with pytest.raises(UnsupportedBallError, match="ball="):
        frechet_mean(sphere, data)
    other = Sphere(sphere.dim, 0.5 * sphere.curvature)
    with pytest.raises(UnsupportedBallError, match="ball="):
        frechet_mean(sphere, data, ball=Ball(other, natural_center(other), 0.5))
    half = 0.5 * sphere.injectivity_radius
    for radius in (half, 1.5 * half):
        with pytest.raises(UnsupportedBallError, match="smaller ball"):
            frechet_mean(sphere, data, ball=Ball(sphere, ball.center, radius))
    stray = data.copy()
    stray[4] = -ball.center
    with pytest.raises(UnsupportedBallError, match="row 4") as caught:
        frechet_mean(sphere, stray, ball=ball)
    assert "project" in str(caught.value)
    barely = ball.center * math.cos(1.01 * ball.radius * math.sqrt(sphere.curvature))
    barely[1] += math.sin(1.01 * ball.radius * math.sqrt(sphere.curvature)) / sphere.curvature**0.5
    stray[4] = barely
    with pytest.raises(UnsupportedBallError, match="row 4"):
        frechet_mean(sphere, stray, ball=ball)


@every_manifold
def test_points_on_the_boundary_are_in_the_ball(manifold, random_points):
    rng = np.random.default_rng(11)
    radius = 0.35 * min(manifold.injectivity_radius, 4.0)
    ball = Ball(manifold, natural_center(manifold), radius)
    data = ball.project(random_points(manifold, rng, 40, 3.0))
    distances = manifold.dist(ball.center, data)
    assert (distances > 0.999 * radius).any()
    mean = frechet_mean(manifold, data, ball=ball)
    assert manifold.dist(ball.center, mean.value) < radius


# Replacing row 0 moves the mean by at most the sensitivity.

SENSITIVE = [
    (Sphere(2), 0.4),
    (Sphere(2), 1.2),
    (SPDAffineInvariant(3), 1.0),
    (Hyperbolic(2), 1.5),
]
sensitive = pytest.mark.parametrize(
    ("manifold", "radius"), SENSITIVE, ids=[f"{m}, {r}" for m, r in SENSITIVE]
)


def boundary(ball, directions):
    """Boundary points (or inner ones, for short directions) in directions of R^dim."""
    tangent = ball.manifold.tangent_vector(ball.center, ball.radius * np.asarray(directions))
    return ball.project(ball.manifold.exp(ball.center, tangent))


def neighbours(ball, n, rng, choices):
    """Data sets and candidates for their row 0; the first are the worst ones known."""
    dim = ball.manifold.dim
    axis = np.eye(dim)
    plus, minus, side = boundary(ball, [axis[0], -axis[0], axis[1]])
    counter = boundary(ball, [-axis[1]])[0]
    half = (n - 1) // 2
    rest = np.stack([plus] * half + [minus] * half + [ball.center] * (n - 1 - 2 * half))
    yield rest, np.stack([side, counter])
    extremes = boundary(ball, np.concatenate([axis, -axis]))
    random = rng.normal(size=(choices, dim))
    random /= np.linalg.norm(random, axis=-1, keepdims=True)
    candidates = np.concatenate([extremes, boundary(ball, random)])[: 2 * dim + choices]
    yield np.repeat(plus[None], n - 1, axis=0), candidates
    yield np.repeat(ball.center[None], n - 1, axis=0), candidates
    fill = rng.normal(size=(n - 1, dim))
    fill *= rng.uniform(size=(n - 1, 1)) / np.linalg.norm(fill, axis=-1, keepdims=True)
    yield boundary(ball, fill), candidates


def largest_move(ball, n, rng, choices):
    largest = 0.0
    for rest, candidates in neighbours(ball, n, rng, choices):
        means = np.stack(
            [
                frechet_mean(ball.manifold, np.concatenate([[row], rest]), ball=ball).value
                for row in candidates
            ]
        )
        largest = max(largest, float(ball.manifold.dist(means[:, None], means).max()))
    return largest


@sensitive
def test_replacing_a_row_moves_the_mean_by_at_most_the_sensitivity(manifold, radius):
    ball = Ball(manifold, natural_center(manifold), radius)
    move = largest_move(ball, 10, np.random.default_rng(0), 12)
    sensitivity = frechet_mean_sensitivity(ball, 10)
    assert move <= sensitivity + 2e-10
    # Negative control: half of it would be a false claim.
    assert move > 0.5 * sensitivity


@pytest.mark.fast(
    "Sphere(dim=2, curvature=1.0), 0.4",
    "Sphere(dim=2, curvature=1.0), 1.2",
    "Hyperbolic(dim=2, curvature=-1.0), 1.5",
)
@sensitive
def test_replacing_one_of_many_rows(manifold, radius):
    ball = Ball(manifold, natural_center(manifold), radius)
    sensitivity = frechet_mean_sensitivity(ball, 10_000)
    move = largest_move(ball, 10_000, np.random.default_rng(1), 1)
    assert move <= sensitivity + 2e-10
    assert move > 0.5 * sensitivity


@sensitive
def test_the_same_for_what_is_computed_from_unclipped_records(manifold, radius, random_points):
    # Rows anywhere in the space, clipped on the way.
    rng = np.random.default_rng(2)
    ball = Ball(manifold, natural_center(manifold), radius)
    tol = 1e-9
    data = random_points(manifold, rng, 10, 3.0)
    others = random_points(manifold, rng, 15, 3.1)
    means = []
    for row in others:
        means.append(ball.point(certified(ball, np.concatenate([[row], data[1:]]), tol)))
    move = manifold.dist(np.stack(means)[:, None], np.stack(means)).max()
    assert 0.0 < move <= frechet_mean_sensitivity(ball, 10) + 2 * tol


# The two summaries of records that are clipped first.


@every_manifold
@pytest.mark.parametrize("n", [1, 25])
def test_clipped_mean_is_the_mean_of_the_projected_records(manifold, n, random_points):
    rng = np.random.default_rng(12)
    radius = 0.3 * min(manifold.injectivity_radius, 4.0)
    center = random_points(manifold, rng)
    ball = Ball(manifold, center, radius)
    data = random_points(manifold, rng, n, 3.0)
    if n > 1:
        assert not ball.contains(data).all()
    value = ball.point(certified(ball, data, 1e-9))
    mean = frechet_mean(manifold, ball.project(data), ball=ball).value
    assert manifold.dist(value, mean) <= 2e-9
    assert ball.contains(value)


@every_manifold
@pytest.mark.parametrize("n", [1, 25])
def test_tangent_mean_is_the_mean_of_the_clipped_logarithms(manifold, n, random_points):
    rng = np.random.default_rng(13)
    ball = Ball(manifold, random_points(manifold, rng), 0.3 * min(manifold.injectivity_radius, 4.0))
    data = random_points(manifold, rng, n, 3.0)
    value = tangent_mean(ball, data)
    logs = manifold.log(ball.center, ball.project(data))
    np.testing.assert_allclose(value, logs.mean(axis=0), atol=1e-11)
    assert manifold.norm(ball.center, value) <= ball.radius * (1 + 1e-9)
    if n > 1:
        # It is not the mean of the unclipped ones.
        plain = manifold.log(ball.center, data).mean(axis=0)
        assert manifold.norm(ball.center, value - plain) > 1e-3


@every_manifold
def test_clipping_takes_any_record_there_is(manifold, random_points):
    rng = np.random.default_rng(14)
    ball = Ball(manifold, natural_center(manifold), 0.5)
    data = random_points(manifold, rng, 6)
    if isinstance(manifold, Sphere):
        data[:2] = -ball.center, -ball.center * (1 - 2e-16)
    elif isinstance(manifold, Hyperbolic):
        data[0, :2] = 1e150, -1e150
        data[0, 2:] = 0.0
    elif isinstance(manifold, Euclidean):
        data[0] = 1e300, -1e300, 0.0
    else:
        data[:2] = 1e-120 * np.eye(manifold.k), 1e120 * np.eye(manifold.k)
    data = manifold.validate(data)
    assert ball.contains(ball.point(certified(ball, data, 1e-8)))
    assert manifold.norm(ball.center, tangent_mean(ball, data)) <= ball.radius * (1 + 1e-12)


@pytest.mark.parametrize(
    "manifold", [Euclidean(3), SPDLogEuclidean(2), SPDLogEuclidean(3), Hyperbolic(1)], ids=str
)
def test_tangent_and_frechet_mean_agree_on_flat_spaces(manifold, make_data):
    ball, data = make_data(manifold, np.random.default_rng(15), 20)
    end = manifold.exp(ball.center, tangent_mean(ball, data))
    assert manifold.dist(end, frechet_mean(manifold, data).value) <= 1e-10


def test_tangent_mean_takes_balls_beyond_the_hemisphere():
    ball = Ball(Sphere(2), NORTH, 3.0)
    value = tangent_mean(ball, np.concatenate([np.eye(3), -np.eye(3)]))
    assert np.linalg.norm(value) <= 3.0
    np.testing.assert_allclose(value[2], 0.0, atol=1e-15)


def test_the_ball_is_not_needed_and_not_used_elsewhere(make_data):
    space = Hyperbolic(2)
    _, data = make_data(space, np.random.default_rng(16), 9)
    tiny = Ball(space, space.origin, 1e-3)
    np.testing.assert_array_equal(
        frechet_mean(space, data).value, frechet_mean(space, data, ball=tiny).value
    )


def test_lists_and_single_precision_are_data():
    assert frechet_mean(Euclidean(2), [[0, 0], [2, 4]]).value.tolist() == [1.0, 2.0]
    points = np.array([[0, 0.6, 0.8], [0, -0.6, 0.8]], dtype=np.float32)
    mean = frechet_mean(Sphere(2), points, ball=Ball(Sphere(2), NORTH, 1.0))
    np.testing.assert_allclose(mean.value, NORTH, atol=1e-7)


@pytest.mark.slow
def test_ill_conditioned_records_move_the_computed_mean_by_no_more_than_the_sensitivity():
    """The mean stays in coordinates: as a matrix it would move by several times as much."""
    space = SPDLogEuclidean(3)
    ball = Ball(space, np.eye(3), 20.7)
    tol = 1e-9
    limit = frechet_mean_sensitivity(ball, 200_000) + 2 * tol
    moved = []
    for seed in range(4):  # how far rounding goes depends on directions and on the library
        rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
        record = (rotation * np.exp([14.5, 0.0, -14.5])) @ rotation.T
        first = np.repeat([0.5 * (record + record.T)], 200_000, axis=0)
        second = first.copy()
        second[0] = 0.5 * (np.linalg.inv(record) + np.linalg.inv(record).T)
        means = [certified(ball, space.validate(data), tol) for data in (first, second)]
        assert 0.4 * limit < np.linalg.norm(means[0] - means[1]) <= limit
        for logarithm in (space.to_chart, logarithm_by_eigenvalues):
            as_points = [logarithm(ball.point(mean)) for mean in means]
            moved.append(np.linalg.norm(as_points[0] - as_points[1]))
    assert max(moved) > limit  # the control


def logarithm_by_eigenvalues(point):
    values, vectors = np.linalg.eigh(point)
    return (vectors * np.log(values)) @ vectors.T


def test_far_centre_on_the_line_keeps_the_sensitivity():
    ball = Ball(Euclidean(1), [1e8], 1e-6)
    first = np.full((1000, 1), 1e8)
    second = first.copy()
    second[0] += 1e-6
    means = [certified(ball, data, 1e-15) for data in (first, second)]
    assert abs(means[0] - means[1]) <= frechet_mean_sensitivity(ball, 1000) + 2e-15


def test_sums_beyond_float64_are_an_error_not_a_warning():
    with pytest.raises(ConvergenceError):
        frechet_mean(Euclidean(2), np.full((3, 2), 1e308))
    matrices = np.repeat([1e308 * np.eye(2)], 5, axis=0)
    value = frechet_mean(SPDAffineInvariant(2), matrices).value
    np.testing.assert_allclose(value, matrices[0], rtol=1e-12)


def test_masked_weights_are_refused():
    weights = np.ma.masked_array([1.0, 1.0], mask=[False, True])
    with pytest.raises(InvalidParameterError):
        frechet_mean(Euclidean(1), [[0.0], [1.0]], weights)


def test_records_outside_the_ball_are_found_on_flat_spheres():
    sphere = Sphere(2, 0.25)
    ball = Ball(sphere, sphere.origin, 0.7)
    points = sphere.exp(ball.center, [[0.2, 0.0, 0.0], [0.9, 0.0, 0.0]])
    with pytest.raises(UnsupportedBallError, match="row 1 lies outside the ball"):
        frechet_mean(sphere, points, ball=ball)
    assert frechet_mean(sphere, points[:1], ball=ball).value == pytest.approx(points[0])


@pytest.mark.parametrize("manifold", [Euclidean(2), SPDLogEuclidean(2), Sphere(1)], ids=str)
def test_a_closed_form_takes_one_pass(manifold):
    ball = Ball(manifold, manifold.origin, 0.5)
    points = ball.point(np.random.default_rng(0).uniform(-0.2, 0.2, (9, manifold.dim)))
    assert frechet_mean(manifold, points, ball=ball).passes == 1


def test_shares_add_up_to_one_however_large_the_weights():
    shares = _shares_of([1e308, 1e308, 0.0, 1e308 / 2], 4)
    np.testing.assert_allclose(shares, [0.4, 0.4, 0.0, 0.2], rtol=1e-15)


def test_shares_of_booleans_are_equal():
    np.testing.assert_array_equal(_shares_of([True, False, True], 3), [0.5, 0.0, 0.5])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, 2.0], "shape"),
        ([1.0, -1.0, 2.0], "row 1"),
        ([1.0, 2.0, np.nan], "row 2"),
        ([np.inf, 2.0, 1.0], "row 0"),
        ([0.0, 0.0, 0.0], "all are zero"),
        (["a", "b", "c"], "weights"),
    ],
)
def test_what_is_no_weight_is_refused(weights, said):
    with pytest.raises(InvalidParameterError, match=said):
        _shares_of(weights, 3)
