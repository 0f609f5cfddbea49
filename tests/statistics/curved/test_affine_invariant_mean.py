"""Affine-invariant means: the certificate is true, congruence moves them along."""

from __future__ import annotations

import itertools
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import (
    Ball,
    ConvergenceError,
    NotOnManifoldError,
    SPDAffineInvariant,
    frechet_mean,
)
from riemdp.spaces import _symmetric
from riemdp.spaces._points import clip_norm
from riemdp.statistics.curved import _affine_invariant_mean

seeds = st.integers(0, 2**32 - 1)


def function_of(matrix, function):
    values, vectors = mpmath.eigsy(matrix)
    return vectors * mpmath.diag([function(x) for x in values]) * vectors.T


def exact_error(value, data, weights, step=1.0):
    """Distance from ``value`` to the mean of float matrices, by 40-digit gradient descent."""
    with mpmath.workdps(40):
        rows = [mpmath.matrix(x.tolist()) for x in data]
        shares = [mpmath.mpf(float(w)) for w in weights]
        shares = [w / mpmath.fsum(shares) for w in shares]
        start = mean = mpmath.matrix(value.tolist())
        for _ in range(200):
            factor = mpmath.cholesky(mean)
            inverse = mpmath.inverse(factor)
            total = mpmath.zeros(len(value))
            for row, share in zip(rows, shares, strict=True):
                total += share * function_of(inverse * row * inverse.T, mpmath.log)
            mean = factor * function_of(step * (total + total.T) / 2, mpmath.exp) * factor.T
            mean = (mean + mean.T) / 2
            if mpmath.norm(total) < mpmath.mpf(10) ** -20:
                break
        else:
            raise AssertionError("the reference did not converge")
        inverse = mpmath.inverse(mpmath.cholesky(mean))
        inside = inverse * start * inverse.T
        values = mpmath.eigsy((inside + inside.T) / 2, eigvals_only=True)
        return float(mpmath.sqrt(mpmath.fsum(mpmath.log(x) ** 2 for x in values)))


def exact_gradient_norm(value, data, weights):
    """Norm of the gradient of float matrices at ``value``, what a certificate bounds; 40 digits."""
    with mpmath.workdps(40):
        inverse = mpmath.inverse(mpmath.cholesky(mpmath.matrix(value.tolist())))
        total = mpmath.zeros(len(value))
        for matrix, weight in zip(data, weights, strict=True):
            inside = inverse * mpmath.matrix(matrix.tolist()) * inverse.T
            total += weight * function_of((inside + inside.T) / 2, mpmath.log)
        return float(mpmath.sqrt(mpmath.fsum(x**2 for x in total)) / sum(weights))


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("spread", [1e-6, 1.0, 4.0])
@pytest.mark.parametrize("tol", [1e-10, 1e-4])
def test_the_certificate_is_true(k, spread, tol, random_points):
    rng = np.random.default_rng(k)
    space = SPDAffineInvariant(k)
    data = random_points(space, rng, 4, spread)
    weights = rng.uniform(size=4) ** 2
    for share in (None, weights):
        mean = frechet_mean(space, data, share, tol=tol)
        error = exact_error(mean.value, data, np.ones(4) if share is None else share)
        assert error <= mean.error_bound <= tol


@pytest.mark.fast("0")
@pytest.mark.parametrize("seed", range(4))
def test_the_certificate_is_true_for_ill_conditioned_data(seed, random_rotation):
    rng = np.random.default_rng(seed)
    space = SPDAffineInvariant(3)
    data = []
    for _ in range(3):
        rotation = random_rotation(rng, 3)
        matrix = rotation * [1.0, 1e-2, 1e-5] @ rotation.T
        data.append(0.5 * (matrix + matrix.T))
    data = np.array(data)
    mean = frechet_mean(space, data, tol=1e-3)
    assert exact_error(mean.value, data, np.ones(3), step=0.3) <= mean.error_bound


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_how_much_of_the_allowance_is_used(k, random_rotation, closest_mean):
    # Long runs of equal matrices: rounding in sums adds up, and the exact gradient is soon known.
    rng = np.random.default_rng(k)
    shares = []
    for digits in (0.5, 2.0, 4.0):
        few = []
        for _ in range(3):
            rotation = random_rotation(rng, k)
            matrix = rotation * 10.0 ** (digits * np.linspace(-0.5, 0.5, k)) @ rotation.T
            few.append(0.5 * (matrix + matrix.T))
        for counts in ([1, 1, 1], [2_000, 900, 400]):
            data = np.repeat(few, counts, axis=0)
            mean = closest_mean(SPDAffineInvariant(k), data)
            shares.append(exact_gradient_norm(mean.value, few, counts) / mean.error_bound)
    print(f"used share of the allowance, affine-invariant mean, k = {k}", max(shares))
    assert 1e-5 < max(shares) <= 0.5


@pytest.mark.parametrize("k", [2, 3, 5])
def test_condition_1e12_is_an_error_with_advice_not_a_wrong_certificate(k, random_rotation):
    rng = np.random.default_rng(k)
    data = []
    for _ in range(4):
        rotation = random_rotation(rng, k)
        matrix = rotation * 10.0 ** np.linspace(0, -12, k) @ rotation.T
        data.append(0.5 * (matrix + matrix.T))
    with pytest.raises(ConvergenceError, match="larger tol"):
        frechet_mean(SPDAffineInvariant(k), data)


@pytest.mark.parametrize("n", [100, 1000])  # by Newton's method, and by passes
def test_a_record_whose_least_eigenvalue_is_rounding_alone_is_not_certified(n):
    """Decompositions take it for larger by many decades, so that its logarithm is off by 10 or 20.

    Which of these are taken for definite depends on the processor: on each some are.
    """
    correlation = np.array([[1.0, 0.9, 0.8], [0.9, 1.0, 0.9], [0.8, 0.9, 1.0]])
    data, weights = np.tile(np.eye(3), (n, 1, 1)), np.full(n, 1e12)
    manifold, weights[0] = SPDAffineInvariant(3), 1.0
    for low, high in itertools.product(range(4, 9), repeat=2):
        scale = np.array([1.0, 10.0**-low, 10.0**high])
        data[0] = correlation * scale[:, None] * scale
        with pytest.raises((ConvergenceError, NotOnManifoldError)):
            frechet_mean(manifold, data, weights, tol=2e-11)
    data[0] = correlation  # the control
    assert frechet_mean(manifold, data, weights, tol=2e-11).error_bound <= 2e-11


def test_units_of_the_coordinates_do_not_matter(random_points):
    # D X D with a wild D: the condition number is large, what matters is not.
    space = SPDAffineInvariant(4)
    data = random_points(space, np.random.default_rng(0), 20, 1.5)
    grade = 10.0 ** np.array([3.0, 0.0, -3.0, 5.0])
    graded = grade[:, None] * data * grade
    plain, scaled = frechet_mean(space, data), frechet_mean(space, graded)
    expected = grade[:, None] * plain.value * grade
    assert space.dist(scaled.value, expected) <= 1e-9


@given(seed=seeds, k=st.integers(1, 5))
def test_congruence_and_inversion_move_the_mean_along(seed, k, random_points):
    rng = np.random.default_rng(seed)
    space = SPDAffineInvariant(k)
    data = random_points(space, rng, 9, 2.0)
    mean = frechet_mean(space, data).value
    motion = rng.normal(size=(k, k)) + 3.0 * np.eye(k)
    moved = frechet_mean(space, motion @ data @ motion.T, tol=1e-8).value
    assert space.dist(moved, motion @ mean @ motion.T) <= 2e-8
    inverse = np.linalg.inv(data)
    inverse = 0.5 * (inverse + np.swapaxes(inverse, -1, -2))
    assert space.dist(frechet_mean(space, inverse).value, np.linalg.inv(mean)) <= 1e-9


def test_commuting_matrices_have_the_geometric_mean():
    values = np.exp(np.random.default_rng(1).normal(size=(12, 3)))
    data = np.array([np.diag(x) for x in values])
    mean = frechet_mean(SPDAffineInvariant(3), data).value
    np.testing.assert_allclose(mean, np.diag(np.exp(np.log(values).mean(axis=0))), atol=1e-10)


def test_determinants_average_geometrically(random_points):
    space = SPDAffineInvariant(5)
    data = random_points(space, np.random.default_rng(2), 30, 3.0)
    mean = frechet_mean(space, data).value
    expected = np.linalg.slogdet(data)[1].mean()
    assert np.linalg.slogdet(mean)[1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
def test_the_mean_scales_with_the_data(scale, random_points):
    space = SPDAffineInvariant(3)
    data = random_points(space, np.random.default_rng(3), 10)
    plain = frechet_mean(space, data).value
    np.testing.assert_allclose(
        frechet_mean(space, scale * data).value / scale, plain, rtol=1e-9, atol=1e-9
    )


def test_outliers_do_not_stop_the_solver(random_points):
    space = SPDAffineInvariant(3)
    data = random_points(space, np.random.default_rng(4), 50, 0.5)
    data[0] = np.diag([1e3, 1.0, 1e-3])
    data[1] = np.diag([1e-3, 1e3, 1.0])
    mean = frechet_mean(space, data, tol=1e-8)
    gradient = space.log(mean.value, data).mean(axis=0)
    assert space.norm(mean.value, gradient) <= 1e-8


def test_few_passes_are_enough(random_points):
    space = SPDAffineInvariant(4)
    data = random_points(space, np.random.default_rng(5), 500, 1.0)
    assert frechet_mean(space, data, tol=1e-8).passes <= 4


@pytest.mark.parametrize("seed", [12, 84, 90, 117])
def test_steps_are_not_halved_for_what_is_rounding_in_the_objective(seed):
    """Of condition numbers up to a million it is wrong by more than the last steps gain."""
    rng, k = np.random.default_rng(seed), 8
    frames = np.linalg.qr(rng.normal(size=(50, k, k)))[0]
    data = _symmetric.compose(10.0 ** rng.uniform(-3.0, 3.0, (50, k)), frames)
    assert frechet_mean(SPDAffineInvariant(k), data, tol=1e-8).passes <= 6


def test_a_row_that_rounding_makes_indefinite_as_seen_from_the_mean_is_named():
    """Each is positive definite beyond doubt, but not from where the others are."""
    data = np.tile(np.diag([1e-15, 1.0, 1.0]), (4000, 1, 1))
    turn = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    data[3500] = turn @ np.diag([1.0, 1e-9, 1.0]) @ turn.T
    data[3500] = 0.5 * (data[3500] + data[3500].T)
    with pytest.raises((NotOnManifoldError, ConvergenceError)):
        frechet_mean(SPDAffineInvariant(3), data)


def test_records_seen_from_the_centre_are_the_projected_ones(random_points):
    rng = np.random.default_rng(7)
    space = SPDAffineInvariant(3)
    ball = Ball(space, random_points(space, rng, (), 2.0), 0.6)
    data = random_points(space, rng, 30, 2.0)
    coordinates = space.coordinates(ball.center, data)
    size = np.linalg.norm(coordinates, axis=-1)
    np.testing.assert_allclose(size, space.dist(ball.center, data), atol=1e-12)
    back = ball.point(clip_norm(coordinates, ball.radius))
    assert space.dist(back, ball.project(data)).max() <= 1e-12


def test_the_newton_equation_needs_one_more_array_of_the_size_of_the_data(monkeypatch):
    monkeypatch.setattr(_symmetric, "_available_cores", lambda: 2)
    rng = np.random.default_rng(8)
    factors = rng.normal(size=(50_000, 3, 6))
    data = _symmetric.symmetrise(factors @ np.swapaxes(factors, 1, 2) / 6)
    at = _affine_invariant_mean.Dense(data, None).evaluate(np.eye(3))
    tracemalloc.start()
    try:
        _affine_invariant_mean._newton_direction(at)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    work = 2 * 8 * 8 * _symmetric.CHUNK_ENTRIES  # of two threads
    assert data.nbytes < peak < data.nbytes + work < 4 * data.nbytes


@pytest.mark.parametrize("k", [1, 3, 9, 22, 70])
def test_products_stay_under_what_blas_shares_out(k):
    rows = slice(100, 1100)
    pieces = _affine_invariant_mean.pieces(rows, k)
    covered = np.concatenate([np.arange(piece.start, piece.stop) for piece in pieces])
    np.testing.assert_array_equal(covered, np.arange(100, 1100))
    most = max(piece.stop - piece.start for piece in pieces)
    assert most == 1 or most * k**3 <= 2**18


@pytest.mark.parametrize(
    ("manifold", "radius"),
    [(SPDAffineInvariant(2), 4.0), (SPDAffineInvariant(3), 8.0), (SPDAffineInvariant(5), 5.0)],
)
def test_newtons_method_needs_few_passes(manifold, radius):
    random = np.random.default_rng(3)
    ball = Ball(manifold, manifold.origin, radius)
    passes = []
    for power in (0.2, 1.0 / manifold.dim) * 4:
        directions = random.normal(size=(30, manifold.dim))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        points = ball.point(radius * random.random((30, 1)) ** power * directions)
        passes.append(frechet_mean(manifold, points, ball=ball, tol=1e-7).passes)
    assert np.median(passes) <= 5.5
