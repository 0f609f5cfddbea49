"""Batches of symmetric matrices: logarithms, exponentials and charts, on any number of cores."""

from __future__ import annotations

import threading

import mpmath
import numpy as np
import pytest
import scipy.linalg

from riemdp import NotOnManifoldError, SPDAffineInvariant, SPDLogEuclidean
from riemdp.spaces import _symmetric

EPS = np.finfo(float).eps
both_metrics = pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_logm_and_expm_are_inverse_and_agree_with_scipy(k, random_points):
    points = random_points(SPDLogEuclidean(k), np.random.default_rng(k), (2, 3), 3.0)
    logs = _symmetric.logm(points)
    assert logs.shape == points.shape
    # In norm: an eigenvalue is known to eps times the largest one, its logarithm to the condition
    # number times eps, and the exponential gives that back relative to the norm.
    lost = 8.0 * k * EPS * np.linalg.cond(points)
    size = np.linalg.norm(points, axis=(-2, -1))
    assert (np.linalg.norm(_symmetric.expm(logs) - points, axis=(-2, -1)) <= lost * size).all()
    for log, point in zip(logs.reshape(-1, k, k), points.reshape(-1, k, k), strict=True):
        np.testing.assert_allclose(log, scipy.linalg.logm(point), atol=1e-12)
        gap = np.linalg.norm(point - scipy.linalg.expm(log))
        assert gap <= 8.0 * k * EPS * np.linalg.cond(point) * np.linalg.norm(point)


@pytest.mark.parametrize("k", [2, 3])
def test_logm_names_the_matrix_that_is_not_positive_definite(k):
    matrices = np.tile(np.eye(k), (4, 1, 1))
    matrices[2, 0, 0] = 0.0
    with pytest.raises(NotOnManifoldError, match="row 2 is not positive definite"):
        _symmetric.logm(matrices)
    matrices[2] = -np.eye(k)  # positive determinant for k = 2
    with pytest.raises(NotOnManifoldError, match="row 2 is not positive definite"):
        _symmetric.logm(matrices)


def test_expm_overflows_quietly():
    assert not np.isfinite(_symmetric.expm(1000.0 * np.eye(3))).all()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_vecd_keeps_the_frobenius_inner_product(k):
    rng = np.random.default_rng(k)
    a, b = _symmetric.symmetrise(rng.normal(size=(2, 5, k, k)))
    first, second = _symmetric.vecd(a), _symmetric.vecd(b)
    assert first.shape == (5, k * (k + 1) // 2)
    np.testing.assert_allclose(
        (first * second).sum(axis=-1), np.einsum("nij,nij->n", a, b), atol=1e-13
    )
    np.testing.assert_allclose(_symmetric.unvecd(first, k), a, rtol=1e-15)
    np.testing.assert_array_equal(_symmetric.vecd(a)[:, :k], np.einsum("nii->ni", a))


@pytest.mark.parametrize("n", [0, 1, 8000])
def test_batched_eigenvalues_agree_with_numpys(n):
    rng = np.random.default_rng(n)
    matrices = _symmetric.symmetrise(rng.normal(size=(n, 3, 3)))
    values, vectors = _symmetric.eigh(matrices)
    # To eps times the norm, which is under 8: a kernel may round a row by its place in memory.
    lost = 32.0 * EPS * 8.0
    np.testing.assert_allclose(values, np.linalg.eigh(matrices)[0], rtol=0, atol=lost)
    np.testing.assert_allclose(_symmetric.eigvalsh(matrices), values, rtol=0, atol=lost)
    np.testing.assert_allclose(
        np.swapaxes(vectors, -1, -2) @ vectors, np.broadcast_to(np.eye(3), (n, 3, 3)), atol=lost
    )
    np.testing.assert_allclose(_symmetric.compose(values, vectors), matrices, atol=lost)


@pytest.mark.parametrize("cores", [1, 3])
def test_chunks_cover_the_rows_in_order_whatever_the_cores(cores, monkeypatch):
    monkeypatch.setattr(_symmetric, "_available_cores", lambda: cores)
    names = set()

    def note(rows):
        names.add(threading.current_thread().name)
        return rows

    chunks = list(_symmetric.map_chunks(note, 20_000, 4))
    assert [i for rows in chunks for i in range(rows.start, rows.stop)] == list(range(20_000))
    assert len(chunks) > 1
    assert (threading.current_thread().name in names) == (cores == 1)


def test_chunks_do_not_depend_on_the_cores(monkeypatch):
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(_symmetric, "_available_cores", lambda cores=cores: cores)
        found.append(list(_symmetric.map_chunks(lambda rows: rows, 12_345, 9)))
    assert found[0] == found[1] == found[2]


def test_divided_differences():
    logs = np.array([-30.0, 0.0, 1e-9, 2.0, 300.0])
    with mpmath.workdps(50):
        exact = [
            [
                float(
                    (mpmath.exp(a) - mpmath.exp(b)) / (mpmath.mpf(a) - b)
                    if a != b
                    else mpmath.exp(a)
                )
                for b in logs.tolist()
            ]
            for a in logs.tolist()
        ]
    np.testing.assert_allclose(_symmetric.divided_difference_exp(logs), exact, rtol=1e-13)
    np.testing.assert_allclose(
        _symmetric.divided_difference_log(logs), 1 / np.array(exact), rtol=1e-13
    )
