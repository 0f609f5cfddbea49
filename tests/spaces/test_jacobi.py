"""One-sided Jacobi rotations: digits of graded matrices, one matrix at a time."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp.spaces._symmetric import graded_svd, orthogonal_rows


def graded_factors(rng, n, k, decades):
    scale = 10.0 ** rng.uniform(-decades, decades, (n, k))
    return scale[:, :, None] * np.tril(rng.normal(size=(n, k, k)) + 3.0 * np.eye(k))


@pytest.mark.parametrize("decades", [0, 8, 100])
def test_singular_values_keep_their_digits(decades):
    matrices = graded_factors(np.random.default_rng(decades), 5, 3, decades)
    lengths, left = graded_svd(matrices)
    rows, right = orthogonal_rows(matrices)
    np.testing.assert_array_equal(lengths, rows)
    with mpmath.workdps(450):
        for matrix, found in zip(matrices, np.sort(lengths, axis=-1), strict=True):
            values = sorted(mpmath.svd_r(mpmath.matrix(matrix.tolist()), compute_uv=False))
            for value, length in zip(values, found, strict=True):
                assert abs(value / length - 1) < 1e-13
    eye = np.eye(3)
    assert np.abs(np.swapaxes(left, 1, 2) @ left - eye).max() < 1e-14
    assert np.abs(right @ np.swapaxes(right, 1, 2) - eye).max() < 1e-13
    back = left @ (lengths[..., None] * right)
    scale = np.linalg.norm(matrices, axis=-1, keepdims=True)
    assert np.abs((back - matrices) / scale).max() < 1e-12 or decades > 0
    assert (
        np.abs((back - matrices) / np.abs(matrices).max(axis=(1, 2), keepdims=True)).max() < 1e-14
    )


def test_plain_singular_values_would_lose_them():
    matrices = graded_factors(np.random.default_rng(8), 5, 3, 8)
    plain = np.linalg.svd(matrices, compute_uv=False)[:, -1]
    lengths = graded_svd(matrices)[0].min(axis=-1)
    assert np.abs(plain / lengths - 1.0).max() > 1e-9


def test_each_matrix_stops_by_itself():
    """A hard matrix in the batch, which takes more sweeps, changes no bit of the others."""
    rng = np.random.default_rng(1)
    easy = graded_factors(rng, 40, 4, 1)
    hard = easy.copy()
    hard[17] = graded_factors(rng, 1, 4, 120)[0]
    others = np.arange(40) != 17
    for function in (graded_svd, orthogonal_rows):
        for was, now in zip(function(easy), function(hard), strict=True):
            assert was[others].tobytes() == now[others].tobytes()


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1.0, 1e160, 1e200])
def test_squares_may_leave_float64(scale):
    matrices = graded_factors(np.random.default_rng(2), 6, 3, 1)
    np.testing.assert_allclose(
        np.sort(graded_svd(scale * matrices)[0] / scale),
        np.sort(graded_svd(matrices)[0]),
        rtol=1e-13,
    )
