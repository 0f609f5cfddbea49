"""Products of entries as vectors of the same norm, real and Hermitian."""

from __future__ import annotations

import numpy as np

from riemdp.manifolds import above_diagonal, unvecd
from riemdp.statistics._half_vectors import half_vectors, hermitian_half_vectors, hermitian_of


def test_half_vectors_keep_the_norm():
    vectors = np.random.default_rng(2).normal(size=(4, 5))
    half = half_vectors(vectors, 0.7)
    matrices = 0.7 * vectors[:, :, None] * vectors[:, None, :]
    np.testing.assert_allclose(np.linalg.norm(half, axis=-1), np.linalg.norm(matrices, axis=(1, 2)))
    np.testing.assert_allclose(unvecd(half, 5), matrices, atol=1e-15)


def test_hermitian_half_vectors_keep_the_norm():
    parts = np.random.default_rng(3).normal(size=(4, 6))
    z = parts[:, :3] + 1j * parts[:, 3:]
    half = hermitian_half_vectors(parts)
    matrices = z[:, :, None] * z[:, None, :].conj()
    np.testing.assert_allclose(np.linalg.norm(half, axis=-1), np.linalg.norm(matrices, axis=(1, 2)))
    np.testing.assert_allclose(hermitian_of(half, 3), matrices, atol=1e-14)


def test_indices_are_those_above_the_diagonal():
    for k in (1, 2, 5):
        np.testing.assert_array_equal(above_diagonal(k), np.triu_indices(k, 1))
