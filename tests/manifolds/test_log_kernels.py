"""The loops that a compiler takes, as plain Python: slow, and the same arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp.manifolds import _log_kernels, _symmetric
from riemdp.manifolds._log_fractions import logarithms_3x3
from riemdp.manifolds._logarithms import _run_3x3, _tables

EPS = 2.0**-52


def definite(rng, n, k, digits):
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    values = 10.0 ** (-digits * rng.uniform(size=(n, k)))
    values[:, 0] = 1.0
    values[:, 1] = 10.0**-digits
    whole = (frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2)
    return _symmetric.symmetrise(whole * rng.uniform(0.01, 100.0, (n, 1, 1)))


def run(matrices):
    n = len(matrices)
    logs, condition = np.empty(matrices.shape), np.empty(n)
    outside = np.empty(n, dtype=bool)
    tables = _tables(matrices.shape[-1])
    with np.errstate(all="ignore"):
        _log_kernels.kernel(matrices, *tables, logs, condition, outside)
    return logs, condition, outside


def exact_log(matrix):
    with mpmath.workdps(50):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        logs = mpmath.diag([mpmath.log(x) for x in values])
        return np.array((vectors * logs * vectors.T).tolist(), dtype=float)


def some_of_size_3():
    rng = np.random.default_rng(2)
    data = np.concatenate([definite(rng, 3, 3, digits) for digits in (0.0, 1.0, 5.0, 14.0)])
    data = data[rng.permutation(len(data))]
    data[4], data[7] = -np.eye(3), np.nan
    return data


def test_loops_over_3x3_have_the_bits_of_numpy():
    data = some_of_size_3()
    expected = logarithms_3x3(data)
    with np.errstate(all="ignore"):
        found = _run_3x3(_log_kernels.kernel_3x3, data)
    np.testing.assert_array_equal(found.entries, expected.entries)
    np.testing.assert_array_equal(found.condition, expected.condition)
    np.testing.assert_array_equal(found.outside, expected.outside)
    assert 2 <= expected.outside.sum() < 6


@pytest.mark.fast(4)
@pytest.mark.parametrize("digits", [0.0, 6.0, 12.0])
@pytest.mark.parametrize("k", [4, 9])
def test_logarithms_of_larger_matrices_against_forty_digits(k, digits):
    data = definite(np.random.default_rng(k), 2, k, digits)
    logs, condition, outside = run(data)
    assert not outside.any()
    np.testing.assert_array_equal(logs, np.swapaxes(logs, -1, -2))
    exact = np.array([exact_log(matrix) for matrix in data])
    error = np.linalg.norm(logs - exact, axis=(-2, -1))
    size = np.linalg.norm(exact, axis=(-2, -1))
    print(f"k = {k}, cond 1e{digits:g}", (error / (EPS * (size + 10.0**digits))).max())
    assert (error <= EPS * (4.0 * size + 1.5 * np.sqrt(k) * 10.0**digits)).all()
    assert (condition >= 10.0**digits * (1.0 - 1e-3)).all()


def test_lanes_of_larger_matrices_do_not_look_at_each_other():
    rng = np.random.default_rng(6)
    data = np.concatenate([definite(rng, 3, 4, digits) for digits in (0.0, 2.0, 6.0)])
    data = data[rng.permutation(len(data))]
    data[2], data[5] = np.nan, np.diag([1.0, 1.0, 1.0, -1.0])
    logs, condition, outside = run(data)
    assert outside.tolist() == [i in {2, 5} for i in range(len(data))]
    assert not logs[outside].any()
    for i in (0, 3, 8):
        alone = run(data[i : i + 1])
        np.testing.assert_array_equal(alone[0][0], logs[i])
        assert alone[1][0] == condition[i]


def test_matrices_that_are_tridiagonal_or_diagonal_already():
    data = np.stack(
        [
            np.eye(5),
            np.diag([1.0, 2.0, 3.0, 4.0, 1e-5]),
            np.diag(np.full(5, 2.0)) + np.diag(np.full(4, 0.9), 1) + np.diag(np.full(4, 0.9), -1),
        ]
    )
    logs, _, outside = run(data)
    assert not outside.any()
    for log, matrix in zip(logs, data, strict=True):
        np.testing.assert_allclose(log, exact_log(matrix), atol=1e-14)
