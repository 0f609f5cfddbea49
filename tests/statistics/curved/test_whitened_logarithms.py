"""Whitened logarithms: their stated errors against 50 digits, and what is not covered."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp import NotOnManifoldError
from riemdp.spaces import _symmetric
from riemdp.statistics.curved._affine_invariant_mean import (
    logarithm_error,
    packed,
    whitened_logarithms,
)

EPS = 2.0**-52


def matrices(k, digits, n=3, seed=0):
    rng = np.random.default_rng(seed + k)
    frames = np.linalg.qr(rng.normal(size=(n, k, k)))[0]
    logs = np.log(10.0) * digits * np.linspace(-0.5, 0.5, k) + rng.normal(size=(n, 1))
    return _symmetric.compose(np.exp(logs), frames)


def exact_log(matrix):
    with mpmath.workdps(50):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        log = vectors * mpmath.diag([mpmath.log(x) for x in values]) * vectors.T
        return log, float(max(values) / min(values))


def distance(log, found):
    with mpmath.workdps(50):
        return float(mpmath.norm(mpmath.matrix(found.tolist()) - log))


@pytest.mark.parametrize(("k", "digits"), [(2, 1.0), (3, 0.0), (3, 1.0), (3, 8.0), (5, 2.0)])
def test_stated_errors_cover_the_real_ones_and_wrong_logarithms_are_seen(k, digits):
    data = matrices(k, digits)
    entries, conditions = whitened_logarithms(np.eye(k), data)
    rows, columns = packed(k)
    for i, matrix in enumerate(data):
        log, condition = exact_log(matrix)
        seen = np.empty((k, k))
        seen[rows, columns] = seen[columns, rows] = entries[i]
        error = EPS * logarithm_error(k, conditions[i], np.linalg.norm(seen))
        assert distance(log, seen) <= error
        assert condition * (1.0 - 1e-6) <= conditions[i] <= 2.0 * k * condition
        seen[0, 0] += 2.0 * error
        assert distance(log, seen) > error


@pytest.mark.parametrize("k", [2, 3, 4])
def test_matrices_are_whitened(k):
    data = matrices(k, 1.0, n=70)
    inverse = np.linalg.inv(np.linalg.cholesky(matrices(k, 0.5, n=1, seed=9)[0]))
    expected = _symmetric.logm(inverse @ data @ inverse.T)
    found, _ = whitened_logarithms(inverse, data)
    np.testing.assert_allclose(found, expected[:, *packed(k)], atol=1e-12)


@pytest.mark.parametrize("k", [3, 4])
def test_what_fractions_do_not_cover_is_decomposed_and_what_is_indefinite_named(k):
    data = matrices(k, 1.0, n=5)
    data[2] = np.diag([1e-14, *np.ones(k - 1)])
    entries, _ = whitened_logarithms(np.eye(k), data)
    np.testing.assert_allclose(entries, _symmetric.logm(data)[:, *packed(k)], atol=1e-12)
    data[4] = np.diag([-1.0, *np.ones(k - 1)])
    with pytest.raises(NotOnManifoldError, match="row 4"):
        whitened_logarithms(np.eye(k), data[3:], 3)
