"""Batches of symmetric matrices: eigenvalues over the available cores, logarithms, charts."""

from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from riemdp.spaces._jacobi import graded_svd
from riemdp.spaces._log_2x2 import logm_2x2
from riemdp.spaces._log_fractions import full
from riemdp.spaces._logarithms import is_worthwhile, logarithms_of_3x3
from riemdp.spaces._points import NOT_POSITIVE_DEFINITE, raise_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray

    T = TypeVar("T")

#: Matrix entries per chunk: small enough for the cache, large enough to amortise a NumPy call.
CHUNK_ENTRIES = 65536
#: Ratio of eigenvalues under which the plain decomposition has lost too many digits of the least.
GRADED = 1e-10


def map_chunks(
    function: Callable[[slice], T], n: int, matrix_size: int, *, threads: bool = True
) -> Iterator[T]:
    """Apply ``function`` to slices of ``range(n)``, over the available cores, results in order.

    NumPy releases the interpreter lock inside its linear algebra, so threads suffice; without them
    where many short operations would wait for the lock more than they gain. The chunks depend on
    ``n`` and ``matrix_size`` alone, never on the number of cores: sums over chunks are the same on
    every machine.
    """
    step = max(1, CHUNK_ENTRIES // matrix_size**2)
    chunks = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    workers = min(_available_cores(), len(chunks)) if threads and len(chunks) > 1 else 1
    if workers < 2:
        yield from map(function, chunks)
        return

    # How NumPy treats overflow belongs to a thread: what the caller silenced stays silent here.
    state = np.geterr()

    def quiet(rows: slice) -> T:
        with np.errstate(**state):
            return function(rows)

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(quiet, chunks)


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def eigh(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues ``(..., k)`` ascending and eigenvectors ``(..., k, k)`` of symmetric matrices."""
    k = matrices.shape[-1]
    if matrices.size <= CHUNK_ENTRIES:
        few = np.linalg.eigh(matrices)
        return few.eigenvalues, few.eigenvectors
    flat = matrices.reshape(-1, k, k)
    values = np.empty(flat.shape[:-1])
    vectors = np.empty(flat.shape)

    def decompose(rows: slice) -> None:
        values[rows], vectors[rows] = np.linalg.eigh(flat[rows])

    for _ in map_chunks(decompose, len(flat), k):
        continue
    return values.reshape(matrices.shape[:-1]), vectors.reshape(matrices.shape)


def eigvalsh(matrices: FloatArray) -> FloatArray:
    """Eigenvalues ``(..., k)`` of symmetric matrices, ascending."""
    k = matrices.shape[-1]
    flat = matrices.reshape(-1, k, k)
    values = np.empty(flat.shape[:-1])

    def decompose(rows: slice) -> None:
        values[rows] = np.linalg.eigvalsh(flat[rows])

    for _ in map_chunks(decompose, len(flat), k):
        continue
    return values.reshape(matrices.shape[:-1])


def compose(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return ``V diag(values) V^T``, exactly symmetric.

    Parameters
    ----------
    values : ndarray, shape (..., k)
    vectors : ndarray, shape (..., k, k)
        V, whose columns go with the values.

    Returns
    -------
    ndarray, shape (..., k, k)
    """
    product = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return symmetrise(product)


def congruent(factor: FloatArray, matrices: FloatArray) -> FloatArray:
    """``L X L^T``, exactly symmetric."""
    return symmetrise(factor @ matrices @ np.swapaxes(factor, -1, -2))


def symmetrise(matrices: FloatArray) -> FloatArray:
    """``X/2 + X^T/2``, which does not overflow."""
    half = 0.5 * matrices
    return np.asarray(half + np.swapaxes(half, -1, -2))


def logm(matrices: FloatArray) -> FloatArray:
    """Logarithm of symmetric positive definite matrices ``(..., k, k)``.

    ``NotOnManifoldError`` if a matrix has an eigenvalue that is not positive in float64.
    """
    if matrices.shape[-1] == 2:
        return logm_2x2(matrices)
    if matrices.shape[-1] == 3:
        return _logm_3x3(matrices)
    return compose(*log_eigh(matrices))


def _logm_3x3(matrices: FloatArray) -> FloatArray:
    """Compute :func:`logm` of 3x3 matrices, without eigenvalues where public poles cover them."""
    flat = matrices.reshape(-1, 3, 3)
    logs = np.empty(flat.shape)
    outside = np.empty(len(flat), dtype=bool)

    compiled = is_worthwhile(len(flat), 3)  # the bits are the same

    def part(rows: slice) -> None:
        found = logarithms_of_3x3(flat[rows], compiled=compiled)
        logs[rows], outside[rows] = full(found.entries), found.outside

    for _ in map_chunks(part, len(flat), 3):
        continue
    if outside.any():
        values, vectors, singular = log_eigh_or_not(flat[outside])
        bad = np.zeros(len(flat), dtype=bool)
        bad[outside] = singular
        raise_first(bad.reshape(matrices.shape[:-2]), NOT_POSITIVE_DEFINITE)
        logs[outside] = compose(values, vectors)
    return logs.reshape(matrices.shape)


def log_eigh(matrices: FloatArray, *, total: bool = False) -> tuple[FloatArray, FloatArray]:
    """Logarithms of the eigenvalues ``(..., k)``, unsorted, and eigenvectors ``(..., k, k)``.

    Of positive definite matrices, record by record. An eigenvalue of a matrix X is known to about
    ``eps |X|``; where that is too little, singular values of the Cholesky factor keep the digits
    that the grading of the entries holds. A matrix that is not positive definite in float64 is a
    ``NotOnManifoldError``; with ``total`` it, or one that is not finite, counts as the identity.
    """
    if total:
        finite = np.isfinite(matrices).all(axis=(-1, -2), keepdims=True)
        matrices = np.where(finite, matrices, np.eye(matrices.shape[-1]))
    logs, vectors, singular = log_eigh_or_not(matrices)
    if not total:
        raise_first(singular, NOT_POSITIVE_DEFINITE)
    return logs, vectors


def log_eigh_or_not(matrices: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Do what :func:`log_eigh` does, and mark the matrices that count as the identity ``(...)``."""
    values, vectors, graded = _graded_eigh(matrices)
    if not graded.any():
        return np.log(values, out=values), vectors, graded
    logs = np.log(np.where(graded[..., None], 1.0, values))
    correlation, scale = correlations(matrices[graded])
    singular = without_factor(correlation)
    bad = np.zeros(graded.shape, dtype=bool)
    bad[graded] = singular
    correlation[singular], scale[singular] = np.eye(matrices.shape[-1]), 1.0
    top = scale.max(axis=-1)
    factors = (scale / top[:, None])[:, :, None] * np.linalg.cholesky(correlation)
    lengths, vectors[graded] = graded_svd(factors)
    logs[graded] = 2.0 * (np.log(lengths) + np.log(top)[:, None])
    return logs, vectors, bad


def _graded_eigh(matrices: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Decompose matrices, and mark those of which that is no use: its results mean nothing.

    Over hundreds of decades LAPACK may not converge, which ends the whole batch. The diagonal of a
    positive definite matrix shows its decades beforehand; where it does not converge all the same,
    each matrix is tried by itself.
    """
    diagonal = np.einsum("...ii->...i", matrices)
    wide = ~(diagonal.min(axis=-1) > GRADED * diagonal.max(axis=-1))
    if wide.any():
        matrices = np.where(wide[..., None, None], np.eye(matrices.shape[-1]), matrices)
    try:
        values, vectors = eigh(matrices)
    except np.linalg.LinAlgError:
        flat = matrices.reshape(-1, *matrices.shape[-2:])
        failed = np.array([not _converges(matrix) for matrix in flat], dtype=bool)
        wide = wide | failed.reshape(wide.shape)
        matrices = np.where(wide[..., None, None], np.eye(matrices.shape[-1]), matrices)
        values, vectors = eigh(matrices)
    return values, vectors, wide | ~(values[..., 0] > GRADED * values[..., -1])


def _converges(matrix: FloatArray) -> bool:
    try:
        np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def correlations(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Matrices scaled to a diagonal of ones, and the scales ``(..., k)``."""
    with np.errstate(all="ignore"):
        scale = np.sqrt(np.einsum("...ii->...i", matrices))
        return matrices / scale[..., :, None] / scale[..., None, :], scale


def expm(matrices: FloatArray) -> FloatArray:
    """Exponential of symmetric matrices ``(..., k, k)``; not finite, quietly, on overflow."""
    values, vectors = eigh(matrices)
    with np.errstate(over="ignore", invalid="ignore"):
        return compose(np.exp(values), vectors)


def expm_within(
    matrices: FloatArray, middle: FloatArray | float, reach: FloatArray | float
) -> FloatArray:
    """Exponential of symmetric matrices with eigenvalues moved into ``middle ± reach``.

    These broadcast against ``(..., k)``.
    """
    values, vectors = eigh(matrices)
    return compose(np.exp(np.clip(values, middle - reach, middle + reach)), vectors)


def vecd(matrices: FloatArray) -> FloatArray:
    """``[diagonal, sqrt(2) * strict upper triangle]``: Frobenius-isometric, shape ``(..., d)``."""
    k = matrices.shape[-1]
    rows, columns = above_diagonal(k)
    diagonal = np.einsum("...ii->...i", matrices)
    return np.concatenate([diagonal, math.sqrt(2.0) * matrices[..., rows, columns]], axis=-1)


def unvecd(coordinates: FloatArray, k: int) -> FloatArray:
    """Symmetric matrices of vectors that hold their diagonal, then root 2 times the rest.

    Parameters
    ----------
    coordinates : ndarray, shape (..., k (k + 1) / 2)
    k : int

    Returns
    -------
    ndarray, shape (..., k, k)
        Of Frobenius norm that of the vectors.
    """
    rows, columns = above_diagonal(k)
    matrices = np.zeros((*coordinates.shape[:-1], k, k))
    index = np.arange(k)
    matrices[..., index, index] = coordinates[..., :k]
    off = coordinates[..., k:] / math.sqrt(2.0)
    matrices[..., rows, columns] = off
    matrices[..., columns, rows] = off
    return matrices


@functools.lru_cache(maxsize=16)
def above_diagonal(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column indices above the diagonal, read-only.

    NumPy takes longer for them than a small chart does.

    Parameters
    ----------
    k : int

    Returns
    -------
    tuple of two ndarray of int, shape (k (k - 1) / 2,)
    """
    rows, columns = np.triu_indices(k, 1)
    rows.setflags(write=False)
    columns.setflags(write=False)
    return rows, columns


def without_factor(matrices: FloatArray) -> NDArray[np.bool_]:
    """Whether matrices ``(..., k, k)`` have no Cholesky factor, shape ``(...)``."""
    if has_factor(matrices):
        return np.zeros(matrices.shape[:-2], dtype=bool)
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    bad = np.array([not has_factor(matrix) for matrix in flat], dtype=bool)
    return bad.reshape(matrices.shape[:-2])


def has_factor(matrices: FloatArray) -> bool:
    """Whether all matrices ``(..., k, k)`` have a Cholesky factor."""
    try:
        factors = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(factors).all())  # LAPACK may take NaN for a factor


def divided_difference_exp(logs: FloatArray) -> FloatArray:
    """``(e^a - e^b)/(a - b)`` for all pairs of the last axis, shape ``(..., k, k)``."""
    a, b = logs[..., :, None], logs[..., None, :]
    high, gap = np.maximum(a, b), np.abs(a - b)
    safe = np.where(gap > 0.0, gap, 1.0)
    return np.asarray(np.exp(high) * np.where(gap > 0.0, -np.expm1(-safe) / safe, 1.0))


def divided_difference_log(logs: FloatArray) -> FloatArray:
    """``(log x - log y)/(x - y)`` for all pairs, given ``logs = log x``, shape ``(..., k, k)``."""
    return np.asarray(1.0 / divided_difference_exp(logs))
