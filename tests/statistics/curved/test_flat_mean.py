"""Closed-form means against exact arithmetic; their error bounds are true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import (
    Ball,
    ConvergenceError,
    Euclidean,
    NotOnManifoldError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    frechet_mean,
)
from riemdp.spaces import _logarithms, _symmetric
from riemdp.statistics.curved import _flat_mean

seeds = st.integers(0, 2**32 - 1)
EPS = float(np.finfo(np.float64).eps)


def exact_mean(rows, weights=None):
    """Weighted mean in rational arithmetic, rounded once."""
    weights = [1] * len(rows) if weights is None else [Fraction(float(w)) for w in weights]
    columns = []
    for column in rows.T:
        total = sum(w * Fraction(float(x)) for w, x in zip(weights, column, strict=True))
        columns.append(float(total / sum(weights)))
    return np.array(columns)


@given(seed=seeds, n=st.integers(1, 400), dim=st.integers(1, 4))
def test_euclidean_bound_is_true(seed, n, dim):
    rng = np.random.default_rng(seed)
    # Digits cancel: entries of both signs and of very different size.
    data = rng.normal(size=(n, dim)) * 10.0 ** rng.uniform(-6, 6, size=(n, 1))
    for weights in (None, rng.uniform(size=n) ** 6):
        mean = frechet_mean(Euclidean(dim), data, weights, tol=1.0)
        error = np.linalg.norm(mean.value - exact_mean(data, weights))
        assert error <= mean.error_bound
        assert mean.error_bound <= 1e-14 * np.abs(data).max() * math.sqrt(dim)
        assert mean.passes == 1


def test_euclidean_bound_is_true_for_many_equal_rows():
    # A running sum would lose a fixed amount with every row.
    data = np.full((1_000_000, 1), 0.1)
    data[0] = 1e6
    mean = frechet_mean(Euclidean(1), data, tol=1e-12)
    exact = float((Fraction(0.1) * 999_999 + 10**6) / 10**6)
    assert abs(mean.value[0] - exact) <= mean.error_bound


def test_how_much_of_the_euclidean_allowance_is_used():
    rng = np.random.default_rng(0)
    shares = []
    for n in (1, 10, 127, 1000, 100_000):
        first = np.r_[1e6, np.full(n - 1, 0.1)]  # what is added is lost in part, every time
        mixed = rng.normal(size=n) * 10.0 ** rng.uniform(-6, 6, size=n)
        for data in (np.full(n, 0.1), first, mixed, np.sort(mixed), rng.exponential(size=n)):
            mean = frechet_mean(Euclidean(1), data[:, None], tol=1e300)
            shares.append(abs(mean.value[0] - math.fsum(data) / n) / mean.error_bound)
            if n <= 1000:
                weights = rng.uniform(size=n) ** 6
                mean = frechet_mean(Euclidean(1), data[:, None], weights, tol=1e300)
                exact = exact_mean(data[:, None], weights)[0]
                shares.append(abs(mean.value[0] - exact) / mean.error_bound)
    print("used share of the allowance, Euclidean mean", max(shares))
    assert 0.001 < max(shares) <= 0.5


def test_euclidean_scale_decides_what_tol_can_be():
    data = np.array([[1e9], [3e9]])
    with pytest.raises(ConvergenceError, match="scale the data"):
        frechet_mean(Euclidean(1), data)
    assert frechet_mean(Euclidean(1), data, tol=1e-4).value == 2e9
    tiny = frechet_mean(Euclidean(1), [[1e-200], [3e-200]], tol=1e-210)
    assert tiny.value[0] == pytest.approx(2e-200)


def test_stable_mean_of_rows():
    rows = np.array([[1.0, 10.0], [3.0, 30.0]])
    np.testing.assert_array_equal(_flat_mean.stable_mean(rows, None), [2.0, 20.0])
    weights = np.array([0.25, 0.75])
    np.testing.assert_array_equal(_flat_mean.stable_mean(rows, weights), [2.5, 25.0])


@given(seed=seeds, curvature=st.sampled_from([1.0, 4.0, 0.09]), share=st.floats(0.05, 0.99))
def test_the_circle_averages_angles(seed, curvature, share):
    rng = np.random.default_rng(seed)
    circle, k = Sphere(1, curvature), math.sqrt(curvature)
    middle = rng.uniform(-math.pi, math.pi)
    half = share * math.pi / 2
    angles = rng.uniform(-half, half, size=30)

    def at(angle):
        angle = middle + np.asarray(angle)
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1) / k

    # Wider than the data by more than rounding, still under the half circle.
    ball = Ball(circle, at(0.0), (half + 1e-9) / k)
    weights = rng.uniform(size=30)
    for share_of in (None, weights):
        mean = frechet_mean(circle, at(angles), share_of, ball=ball)
        expected = np.average(angles, weights=share_of)
        assert circle.dist(mean.value, at(expected)) <= mean.error_bound + 1e-15 / k
        assert mean.error_bound <= 1e-13 / k


def exact_log_mean(data, weights=None):
    weights = np.ones(len(data)) if weights is None else weights
    with mpmath.workdps(50):
        total = mpmath.zeros(data.shape[-1])
        for matrix, weight in zip(data, weights, strict=True):
            values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
            logs = mpmath.diag([mpmath.log(x) for x in values])
            total += mpmath.mpf(float(weight)) * vectors * logs * vectors.T
        return total / mpmath.fsum(mpmath.mpf(float(w)) for w in weights)


def log_euclidean_error(value, log_mean):
    """Distance from a float matrix to the matrix with this logarithm, 50 digits."""
    with mpmath.workdps(50):
        values, vectors = mpmath.eigsy(mpmath.matrix(value.tolist()))
        gap = vectors * mpmath.diag([mpmath.log(x) for x in values]) * vectors.T - log_mean
        return float(mpmath.sqrt(sum(x**2 for x in gap)))


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("digits", [0.5, 4.0, 9.0])
@pytest.mark.parametrize("n", [1, 6])
def test_log_euclidean_bound_is_true(k, digits, n, random_rotation):
    rng = np.random.default_rng(k)
    data = []
    for _ in range(n):
        rotation = random_rotation(rng, k)
        values = 10.0 ** rng.uniform(-digits, 0.0, size=k)
        matrix = rotation * values @ rotation.T
        data.append(0.5 * (matrix + matrix.T))
    data = np.array(data)
    for weights in (None, rng.uniform(size=n) ** 4):
        mean = frechet_mean(SPDLogEuclidean(k), data, weights, tol=1e-3)
        error = log_euclidean_error(mean.value, exact_log_mean(data, weights))
        assert error <= mean.error_bound
        assert mean.passes == 1


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [4, 6, 9])
@pytest.mark.parametrize("digits", [4, 7, 10])
def test_log_euclidean_bound_is_true_for_one_small_eigenvalue(k, digits, random_rotation):
    # The worst case of a single row: its rounding is not averaged with that of others.
    rng = np.random.default_rng(k)
    values = np.r_[np.ones(k - 1), 10.0**-digits]
    for _ in range(8):
        rotation = random_rotation(rng, k)
        matrix = rotation * values @ rotation.T * rng.uniform(0.01, 100.0)
        matrix = 0.5 * (matrix + matrix.T)
        mean = frechet_mean(SPDLogEuclidean(k), matrix[None], tol=1.0)
        assert log_euclidean_error(mean.value, exact_log_mean(matrix[None])) <= mean.error_bound


@pytest.mark.parametrize(("n", "tol"), [(1, 1e3), (100, 1e-10), (200, 1e-10)])
def test_a_record_whose_least_eigenvalue_is_rounding_alone_is_not_certified(n, tol):
    """It is 1e-13, beside 1e12, and decompositions say 1e-4: its logarithm would be off by 20."""
    correlation, scale = 0.9 * np.ones((3, 3)) + 0.1 * np.eye(3), np.array([1.0, 1e-6, 1e6])
    correlation[0, 2] = correlation[2, 0] = 0.8
    data, weights = np.tile(np.eye(3), (n, 1, 1)), np.full(n, 1e12)
    data[0], weights[0] = correlation * scale[:, None] * scale, 1.0 if n > 1 else 1e12
    manifold = SPDLogEuclidean(3)
    assert np.array_equal(manifold.validate(data), data)
    with pytest.raises(ConvergenceError):
        frechet_mean(manifold, data, weights, tol=tol)
    weights[0] = 0.0  # of no weight it is no matter
    if n > 1:
        assert frechet_mean(manifold, data, weights, tol=tol).error_bound < 1e-12


@pytest.mark.parametrize(("before", "n"), [(0, 1), (0, 200), (999, 1), (0, 20_000)])
def test_a_record_that_rounding_makes_definite_is_refused_however_many_there_are(before, n):
    """All its pivots are positive, and so was a bound of its condition number, taken away."""
    lost = np.outer([0.1, 0.3, 2.1], [0.1, 0.3, 2.1])
    data = np.concatenate([np.tile(np.eye(3), (before, 1, 1)), np.tile(lost, (n, 1, 1))])
    with pytest.raises(NotOnManifoldError, match=f"row {before} is not positive definite"):
        frechet_mean(SPDLogEuclidean(3), data)


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_how_much_of_the_log_euclidean_allowance_is_used(k, random_rotation):
    # Long runs of equal matrices: rounding in sums adds up, and the exact mean is quickly known.
    rng = np.random.default_rng(k)
    shares = []
    for digits in (0.5, 3.0, 6.0, 9.0):
        few = []
        for _ in range(3):
            rotation = random_rotation(rng, k)
            matrix = rotation * 10.0 ** (digits * np.linspace(-0.5, 0.5, k)) @ rotation.T
            few.append(0.5 * (matrix + matrix.T))
        for counts in ([1, 0, 0], [5_000, 1, 300]):
            data = np.repeat(few, counts, axis=0)
            mean = frechet_mean(SPDLogEuclidean(k), data, tol=1e300)
            error = log_euclidean_error(mean.value, exact_log_mean(np.array(few), counts))
            shares.append(error / mean.error_bound)
    print(f"used share of the allowance, log-Euclidean mean, k = {k}", max(shares))
    assert 0.001 < max(shares) <= 0.5


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_log_euclidean_mean_scales_with_the_data(k, scale, random_points):
    space = SPDLogEuclidean(k)
    data = random_points(space, np.random.default_rng(0), 7)
    plain = frechet_mean(space, data).value
    scaled = frechet_mean(space, scale * data, tol=1e-9).value
    np.testing.assert_allclose(scaled / scale, plain, rtol=1e-11)


@pytest.mark.parametrize("k", [2, 3])
def test_condition_1e12_cannot_be_certified_to_the_default(k, random_rotation):
    rotation = random_rotation(np.random.default_rng(0), k)
    matrix = rotation * (10.0 ** np.linspace(0, -12, k)) @ rotation.T
    data = np.array([np.eye(k), 0.5 * (matrix + matrix.T)])
    with pytest.raises(ConvergenceError, match="larger tol"):
        frechet_mean(SPDLogEuclidean(k), data)
    assert frechet_mean(SPDLogEuclidean(k), data, tol=1e-2).error_bound > 1e-10


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3, 9])
def test_an_indefinite_row_is_named_in_large_data(k, weighted):
    data = np.tile(np.eye(k), (40_000 if k == 2 else 2000, 1, 1))
    row = len(data) - 7
    data[row] = np.eye(k)
    data[row, :2, :2] = [[1.0, 2.0], [2.0, 1.0]]
    weights = np.ones(len(data)) if weighted else None
    with pytest.raises(NotOnManifoldError, match=f"row {row} is not positive definite"):
        frechet_mean(SPDLogEuclidean(k), data, weights)


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [2, 4])
def test_many_matrices_in_chunks(k, random_points):
    space = SPDLogEuclidean(k)
    rng = np.random.default_rng(3)
    data = random_points(space, rng, 20_000)
    weights = rng.uniform(size=len(data))
    for share in (None, weights):
        charts = np.average(space.to_chart(data), axis=0, weights=share)
        mean = frechet_mean(space, data, share).value
        np.testing.assert_allclose(space.to_chart(mean), charts, atol=1e-13)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    ("bad", "condition"),
    [(math.nan, "NaN"), (math.inf, "NaN or infinite"), (-1.0, "not positive")],
)
def test_bad_small_rows_are_named_beyond_the_first_chunk(bad, condition, k):
    data = np.repeat([np.eye(k)], 40_000, axis=0)
    data[33_333, 1, 1] = bad
    with pytest.raises(NotOnManifoldError, match=f"row 33333 .*{condition}"):
        frechet_mean(SPDLogEuclidean(k), data)
    if bad == -1.0:
        return
    data[33_333, 1, 1] = 1.0
    data[33_333, 0, 1] = data[33_333, 1, 0] = bad
    with pytest.raises(NotOnManifoldError, match=f"row 33333 .*{condition}"):
        frechet_mean(SPDLogEuclidean(k), data)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_bad_3x3_rows_are_named_in_small_data(bad):
    data = np.repeat([np.eye(3)], 20, axis=0)
    data[13, 1, 1] = bad
    with pytest.raises(NotOnManifoldError, match="row 13 has"):
        frechet_mean(SPDLogEuclidean(3), data)


def conditioned(rng, n, k, digits, random_rotation):
    found = []
    for _ in range(n):
        rotation = random_rotation(rng, k)
        values = np.r_[1.0, 10.0**-digits, 10.0 ** (-digits * rng.uniform(size=k - 2))]
        found.append(_symmetric.symmetrise(rotation * values @ rotation.T))
    return np.array(found)


@pytest.mark.parametrize("digits", [0.0, 6.0, 11.0, 12.5])
def test_bound_of_many_3x3_matrices_is_true(digits, random_rotation):
    # few are different, so that their mean is quickly known to 50 digits
    rng = np.random.default_rng(4)
    few = conditioned(rng, 3, 3, digits, random_rotation)
    counts = [100, 1, 60]
    data = np.repeat(few, counts, axis=0)
    for weights in (None, np.ones(len(data))):
        mean = frechet_mean(SPDLogEuclidean(3), data, weights, tol=1e300)
        error = log_euclidean_error(mean.value, exact_log_mean(few, counts))
        assert error <= 0.5 * mean.error_bound
    # the allowance is what it was with eigenvalues, but for a condition that is known less well
    value, condition, square = _flat_mean._mean(data, None, many=1000)
    new = _flat_mean._mean(data, None)
    assert condition * (1.0 - 1e-3) <= new[1] <= 2.0 * condition + 2.0
    assert new[2] == pytest.approx(square, rel=1e-3, abs=1e-12)
    np.testing.assert_allclose(new[0], value, atol=4e-14 * condition)


@pytest.mark.parametrize("weighted", [False, True])
def test_3x3_matrices_that_no_pole_covers_are_averaged_too(weighted, random_rotation):
    data = conditioned(np.random.default_rng(8), 150, 3, 2.0, random_rotation)
    data[17] *= 1e-200
    data[140] *= 1e150
    fractions = _logarithms.logarithms_of_3x3(data)
    assert np.flatnonzero(fractions.outside).tolist() == [17, 140]
    share = np.full(150, 1 / 150) if weighted else None
    value, condition, square = _flat_mean._mean(data, share)
    expected = _flat_mean._mean(data, share, many=1000)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    assert expected[1] <= condition <= 2.0 * expected[1] + 2.0
    assert square == pytest.approx(expected[2])


@pytest.mark.parametrize("k", [3, 4, 9])
@pytest.mark.parametrize("weighted", [False, True])
def test_means_without_eigenvalues_agree_with_those(k, weighted, random_rotation):
    data = conditioned(np.random.default_rng(k), 150, k, 5.0, random_rotation)
    data[7] *= 1e-120
    share = np.random.default_rng(0).uniform(size=150) if weighted else np.ones(150)
    share /= share.sum()
    mean = _flat_mean._mean(data, share)
    for mine, theirs in zip(mean, _flat_mean._mean(data, share, many=1000), strict=True):
        assert np.all(np.abs(mine - theirs) <= 1e-9 * np.abs(theirs).max() + k * np.abs(theirs))
    data[9] = np.eye(k)
    data[9, 0, 1] = data[9, 1, 0] = 2.0
    with pytest.raises(NotOnManifoldError, match="row 9 is not positive definite"):
        frechet_mean(SPDLogEuclidean(k), data, share)


def test_subnormal_2x2_matrices_have_their_mean():
    value = frechet_mean(SPDLogEuclidean(2), np.repeat([np.diag([1e-300, 1e-300])], 4, axis=0))
    np.testing.assert_allclose(value.value, np.diag([1e-300, 1e-300]), rtol=1e-10)


def test_exponential_2x2_keeps_small_entries():
    for s in ([[3.0, 0.5], [0.5, -40.0]], [[-300.0, 1e-3], [1e-3, 2.0]], [[1.0, 0.0], [0.0, 1.0]]):
        with mpmath.workdps(60):
            exact = mpmath.expm(mpmath.matrix(s))
            reference = np.array([[float(exact[i, j]) for j in range(2)] for i in range(2)])
        middle = 0.5 * (s[0][0] + s[1][1])
        ours = _flat_mean._expm_2x2(middle, 0.5 * (s[0][0] - s[1][1]), s[0][1])
        np.testing.assert_allclose(np.diag(ours), np.diag(reference), rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("n", [1, 33, 5000])
def test_allowance_of_a_sum_of_compositions_is_proportional(k, n):
    # groups of matrices are one product of length group times k, and then summed
    group = _flat_mean.GROUP * k * EPS
    for size in (0.3, 20.0):
        found = _flat_mean.composition_allowance(n, k, size)
        assert found == pytest.approx(
            group * size + _flat_mean.summation_allowance(n, size), rel=1e-14, abs=0.0
        )


@pytest.mark.parametrize("k", [2, 3])
def test_what_the_allowance_of_a_log_euclidean_mean_is_made_of(k):
    rng = np.random.default_rng(5)
    frames = np.linalg.qr(rng.normal(size=(40, k, k)))[0]
    values = np.exp(rng.uniform(-9.0, 9.0, size=(40, k)))
    data = (frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2)
    data = 0.5 * (data + np.swapaxes(data, -1, -2))
    allowance = _flat_mean.log_euclidean(data, None)[1]
    condition = float(np.mean(values.max(axis=1) / values.min(axis=1)))
    size = math.sqrt(float(np.mean((np.log(values) ** 2).sum(axis=1)))) + 1.0
    least = 3.0 * math.sqrt(k) * EPS * condition + _flat_mean.composition_allowance(40, k, size)
    assert 0.999 * least <= allowance <= 1.5 * least


@pytest.mark.parametrize("zero", [np.diag([0.0, 1.0, 2.0]), np.zeros((3, 3))])
def test_an_eigenvalue_of_zero_has_no_logarithm(zero):
    with pytest.raises(NotOnManifoldError, match="row 1"):
        _flat_mean.log_euclidean(np.stack([np.eye(3), zero]), None)


@pytest.mark.parametrize("spread", [0.1, 2.0, 8.0])
def test_the_mean_square_of_logarithms_is_bounded(spread):
    logs = spread * np.random.default_rng(0).uniform(-1.0, 1.0, (500, 3))
    data = SPDLogEuclidean(2).from_chart(logs)
    _, _, square = _flat_mean._mean_2x2(data, None)
    mean = np.mean(np.sum(SPDLogEuclidean(2).to_chart(data) ** 2, axis=1))
    assert mean <= square <= 8.0 * mean + 1.0


def test_the_condition_of_equal_matrices_is_one():
    for scale in (1e-100, 1.0, 1e100):
        _, condition, _ = _flat_mean._mean_2x2(np.tile(scale * np.eye(2), (7, 1, 1)), None)
        assert condition == pytest.approx(1.0)


def test_exponential_2x2_beyond_float64_is_not_finite():
    for middle in (math.log(np.finfo(np.float64).max) + 1e-9, 800.0, 1e300):
        assert np.isinf(_flat_mean._expm_2x2(middle, 0.0, 0.0)).any()


@pytest.mark.parametrize("doublings", [1, 10, 20, 30])
def test_the_allowance_of_a_sum_has_a_rounding_for_every_doubling(doublings):
    """Pairwise sums of blocks of 128 terms, eight of them side by side."""
    least = (doublings + 9.0) * np.finfo(np.float64).eps
    assert 3.0 * least <= _flat_mean.summation_allowance(2**doublings, 3.0) <= 6.0 * least


@pytest.mark.parametrize("k", [3, 4])
def test_conditions_beyond_float64_give_no_warning(k):
    data = np.repeat(np.eye(k)[None], 600, axis=0)
    data[5] = np.diag([1e-200] * (k - 1) + [1e200])
    data[599] = data[5]
    for space in (SPDLogEuclidean(k), SPDAffineInvariant(k)):
        with pytest.raises((ConvergenceError, NotOnManifoldError)):
            frechet_mean(space, data)


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 4097])
def test_no_term_takes_part_in_more_additions_than_digits(n):
    terms = np.array([Term(1, 0) for _ in range(n)], dtype=object)
    found = _flat_mean.sum_by_halves(terms).item()
    assert found.count == n
    assert found.depth <= n.bit_length()
    assert n == 1 or found.depth > 0


@dataclass
class Term:
    """How many numbers were added up to this one, and in how many rounds."""

    count: int
    depth: int

    def __add__(self, other):
        return Term(self.count + other.count, max(self.depth, other.depth) + 1)
