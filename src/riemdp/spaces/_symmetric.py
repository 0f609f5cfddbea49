"""Symmetric matrices: eigenvalues, functions of them, and checks."""

from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from riemdp import _compiled
from riemdp.spaces._log_2x2 import logm_2x2
from riemdp.spaces._log_fractions import PLACES
from riemdp.spaces._logarithms import contiguous, logarithms
from riemdp.spaces._points import (
    NOT_POSITIVE_DEFINITE,
    VALIDATION_TOLERANCE,
    check_finite,
    check_shape,
    raise_first,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from riemdp._compiled import Kernel
    from riemdp.spaces._points import FloatArray

    T = TypeVar("T")


# Singular values by one-sided Jacobi rotations, which keep the digits of graded matrices.


def orthogonal_rows(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lengths ``(n, k)`` and directions ``(n, k, k)`` of rows that rotations made orthogonal.

    They are the singular values and right singular vectors, unsorted. One-sided Jacobi (Demmel and
    Veselić, SIAM J. Matrix Anal. Appl. 13(4), 1992): relative errors are governed by the condition
    number after the rows are scaled to one length, however different those lengths are. Each
    matrix stops by itself, so that no other one changes its result.
    """
    rows = _rotated(np.array(matrices))
    with np.errstate(all="ignore"):
        lengths = _length(rows)
        return lengths, rows / lengths[..., None]


def graded_svd(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Singular values ``(n, k)``, unsorted, and left singular vectors ``(n, k, k)``, as columns.

    As accurate as :func:`orthogonal_rows`, whose rotations they are.
    """
    k = matrices.shape[-1]
    frames = np.broadcast_to(np.eye(k), matrices.shape)
    rows = _rotated(np.concatenate([matrices, frames], axis=-1))
    return _length(rows[..., :k]), np.swapaxes(rows[..., k:], -1, -2)


def _rotated(rows: FloatArray) -> FloatArray:
    """Rotate rows, in place, until their first k entries are orthogonal, k the number of rows."""
    n, k = rows.shape[:2]
    active = np.ones(n, dtype=bool)
    with np.errstate(all="ignore"):
        for _ in range(30):
            largest = np.zeros(n)
            for i in range(k - 1):
                for j in range(i + 1, k):
                    np.maximum(largest, _rotate(rows, i, j, active), out=largest)
            active &= largest > 4.0 * np.finfo(np.float64).eps * k
            if not active.any():
                break
    return rows


def _rotate(rows: FloatArray, i: int, j: int, active: NDArray[np.bool_]) -> FloatArray:
    """Make rows i and j orthogonal in place; return the cosine that each matrix had."""
    k = rows.shape[1]
    first, second = rows[:, i].copy(), rows[:, j].copy()
    alpha, beta = _length(first[:, :k]), _length(second[:, :k])
    cosine = np.einsum("ni,ni->n", first[:, :k] / alpha[:, None], second[:, :k] / beta[:, None])
    turned = active & (np.abs(cosine) > np.finfo(np.float64).eps)
    # tan of the rotation: the smaller root of t^2 + 2 zeta t - 1 = 0.
    zeta = 0.5 * (beta / alpha - alpha / beta) / np.where(turned, cosine, 1.0)
    tangent = np.where(turned, np.copysign(1.0, zeta) / (np.abs(zeta) + np.hypot(1.0, zeta)), 0.0)
    cos = (1.0 / np.hypot(1.0, tangent))[:, None]
    sin = cos * tangent[:, None]
    rows[:, i] = cos * first - sin * second
    rows[:, j] = sin * first + cos * second
    return np.where(turned, np.abs(cosine), 0.0)


def _length(rows: FloatArray) -> FloatArray:
    """Norm over the last axis, also where squares overflow or underflow: by powers of two."""
    exponent = np.frexp(np.abs(rows).max(axis=-1))[1]
    scaled = np.ldexp(rows, -exponent[..., None])
    return np.asarray(np.ldexp(np.linalg.norm(scaled, axis=-1), exponent))


# Batches of symmetric matrices: eigenvalues over the available cores, logarithms, charts.

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
    if matrices.shape[-1] == 1:
        return compose(*log_eigh(matrices))
    entries = _log_entries(matrices)
    return full(entries, matrices.shape[-1]).reshape(matrices.shape)


def log_charts(matrices: FloatArray) -> FloatArray:
    """Return what :func:`vecd` makes of :func:`logm`, a row for each coordinate.

    Parameters
    ----------
    matrices : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray, shape (k (k + 1) / 2, n)
    """
    k = matrices.shape[-1]
    if k < 3:
        return np.ascontiguousarray(vecd(logm(matrices)).reshape(-1, k * (k + 1) // 2).T)
    entries = _log_entries(matrices)
    entries[k:] *= math.sqrt(2.0)
    return entries


def _log_entries(matrices: FloatArray) -> FloatArray:
    """Logarithms of k x k matrices, k > 2, without eigenvalues where public poles cover them.

    Parameters
    ----------
    matrices : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray, shape (k (k + 1) / 2, n)
        In the order of :class:`riemdp.spaces._log_fractions.Logarithms`.
    """
    k = matrices.shape[-1]
    flat = matrices.reshape(-1, k, k)
    entries = np.empty((k * (k + 1) // 2, len(flat)))
    outside = np.empty(len(flat), dtype=bool)

    def part(rows: slice) -> None:
        found = logarithms(flat[rows])
        entries[:, rows], outside[rows] = found.entries, found.outside

    for _ in map_chunks(part, len(flat), k):
        continue
    if outside.any():
        values, vectors, singular = log_eigh_or_not(flat[outside])
        bad = np.zeros(len(flat), dtype=bool)
        bad[outside] = singular
        raise_first(bad.reshape(matrices.shape[:-2]), NOT_POSITIVE_DEFINITE)
        rows, columns = above_diagonal(k)
        logs = compose(values, vectors)
        entries[:k, outside] = np.einsum("nii->in", logs)
        entries[k:, outside] = logs[:, rows, columns].T
    return entries


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


def full(entries: FloatArray, k: int) -> FloatArray:
    """Matrices ``(n, k, k)`` of what is on and above their diagonals.

    Parameters
    ----------
    entries : ndarray, shape (k (k + 1) / 2, n)
        In the order of :class:`riemdp.spaces._log_fractions.Logarithms`.
    k : int

    Returns
    -------
    ndarray, shape (n, k, k)
    """
    whole = np.empty((entries.shape[1], k, k))
    rows, columns = above_diagonal(k)
    for row, i, j in zip(entries, [*range(k), *rows], [*range(k), *columns], strict=True):
        whole[:, i, j] = whole[:, j, i] = row
    return whole


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


# Whether batches of matrices are symmetric, and positive definite beyond doubt.

#: Smallest eigenvalue of a record's correlation matrix, in units of k eps: what rounding leaves of
#: a matrix without full rank lies well under it.
_CONDITIONING = 32.0
#: Sizes and diagonal entries for which one Cholesky factorisation settles what is plain.
_SMALL, _SMALLEST, _LARGEST = 31, 1e-250, 1e250


def check_symmetric(points: ArrayLike, k: int) -> FloatArray:
    """Check shape, finiteness and symmetry of ``(..., k, k)`` matrices; return them symmetrised.

    The asymmetry may be 1e-4 of the geometric mean of the two diagonal entries, which is what
    rescaling the coordinates leaves invariant.
    """
    array = check_shape(points, (k, k))
    flat = array.reshape(-1, k, k)
    if all(_is_plainly_symmetric(flat[rows]) for rows in _blocks(len(flat), k)):
        return array
    check_finite(array, 2)
    diagonal = np.einsum("...ii->...i", array)
    raise_first((diagonal <= 0.0).any(axis=-1), "has a diagonal entry that is not positive")
    with np.errstate(all="ignore"):
        gap = np.abs(array - np.swapaxes(array, -1, -2))
        root = np.sqrt(diagonal)
        off = gap > VALIDATION_TOLERANCE * (root[..., :, None] * root[..., None, :])
    raise_first(
        off.any(axis=(-1, -2)), f"is not symmetric (relative tolerance {VALIDATION_TOLERANCE:g})"
    )
    mirrored = (gap == 0.0).all(axis=(-1, -2))  # halving would cost these a subnormal digit
    return np.where(mirrored[..., None, None], array, symmetrise(array))


def check_mirrored(points: ArrayLike, k: int) -> FloatArray:
    """Check shape and symmetry of k x k matrices, k < 4.

    Entries that are not finite and diagonals that are not positive are left to those who compute
    logarithms in closed form, which shows them.
    """
    array = check_shape(points, (k, k))
    if all((array[..., i, j] == array[..., j, i]).all() for i in range(k) for j in range(i)):
        return array
    return check_symmetric(points, k)


def _blocks(n: int, k: int) -> list[slice]:
    """Rows of parts of n matrices k x k that a cache holds."""
    step = max(1, CHUNK_ENTRIES // k**2)
    return [slice(start, start + step) for start in range(0, n, step)]


def _is_plainly_symmetric(matrices: FloatArray) -> bool:
    """Whether all are finite and exactly symmetric and have positive diagonals."""
    k = matrices.shape[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(matrices.sum()):
            return False
    if k > 3:
        diagonal = matrices.reshape(-1, k * k)[:, :: k + 1]
        return bool(diagonal.min() > 0.0) and np.array_equal(
            matrices, np.swapaxes(matrices, -1, -2)
        )
    # NumPy is slow along short axes: entry by entry instead.
    return all(matrices[:, i, i].min() > 0.0 for i in range(k)) and all(
        np.array_equal(matrices[:, i, j], matrices[:, j, i]) for i in range(k) for j in range(i)
    )


def check_positive_definite(matrices: FloatArray) -> FloatArray:
    """Return the Cholesky factors ``(..., k, k)`` or raise ``NotOnManifoldError`` for a row."""
    try:
        return np.asarray(np.linalg.cholesky(matrices))
    except np.linalg.LinAlgError:
        raise_first(without_factor(matrices), NOT_POSITIVE_DEFINITE)
        raise


def check_definite(points: ArrayLike, k: int) -> FloatArray:
    """Do :func:`check_symmetric`, and require matrices that are positive definite beyond doubt.

    The smallest eigenvalue of the correlation matrix, which rescaling the coordinates leaves
    alone, has to exceed ``32 k eps``, with ``eps`` of float64, in whatever precision points come.
    Otherwise rounding would decide whether a matrix without full rank passes.

    Raises
    ------
    NotOnManifoldError
        If that of a matrix does not; the message names the limit and the remedies.
    """
    array = check_shape(points, (k, k))
    limit = _limit(k)
    if k == 3 and array.size > 9 * _FEW:
        flat = array.reshape(-1, 3, 3)
        sure = (
            _surely_definite_3x3(flat[rows], limit, mirrored=True) for rows in _blocks(len(flat), 3)
        )
        if all(part.all() for part in sure):
            return array
    array = check_symmetric(points, k)
    raise_first(
        _nearly_singular(array, limit),
        "is not positive definite by what float64 can carry: the smallest eigenvalue of "
        f"its correlation matrix has to exceed {limit:.2g} = 32 k eps. Matrices without full "
        "rank need a remedy that is fixed before the data are seen: add a multiple of the "
        "identity, use fewer channels, or shrink each one towards a multiple of the identity",
    )
    return array


def is_held(matrices: FloatArray) -> NDArray[np.bool_]:
    """Whether :func:`check_definite` passes symmetric float64 matrices of positive diagonals.

    Parameters
    ----------
    matrices : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray of bool, shape (...)
    """
    return ~_nearly_singular(matrices, _limit(matrices.shape[-1]))


def _limit(k: int) -> float:
    return _CONDITIONING * k * 2.0**-52


def _nearly_singular(matrices: FloatArray, limit: float) -> NDArray[np.bool_]:
    """Whether correlation matrices have an eigenvalue under the limit."""
    k = matrices.shape[-1]
    flat = matrices.reshape(-1, k, k)
    found = np.zeros(len(flat), dtype=bool)
    for rows in _blocks(len(flat), k):
        block = flat[rows]
        if k == 3 and len(block) > _FEW:
            open_ = ~_surely_definite_3x3(block, limit)
        else:
            open_ = np.full(len(block), not _is_plainly_definite(block, 2.0 * limit))
        if not open_.any():
            continue
        correlation, _ = correlations(block[open_])
        index = np.arange(k)
        correlation[..., index, index] = 1.0 - limit
        found[rows][open_] = without_factor(correlation)
    return found.reshape(matrices.shape[:-2])


#: Up to so many matrices LAPACK is faster than closed forms in NumPy.
_FEW = 8
#: Diagonal entries of matrices whose products of entries float64 holds.
_LEAST, _MOST = 1e-90, 1e90
#: Least determinant, and least 2 x 2 minors, of correlation matrices that closed forms decide.
_PLAIN = 2.0**-20


def _surely_definite_3x3(
    matrices: FloatArray, limit: float, *, mirrored: bool = False
) -> NDArray[np.bool_]:
    """Mark matrices ``(m, 3, 3)`` whose correlation matrix has a Cholesky factor less the limit.

    A cheap condition that suffices, so that LAPACK need not be asked. With r the squares of the
    three correlations and t their product, a matrix of ones on the diagonal has the minors
    ``1 - r`` and the determinant ``1 - r_1 - r_2 - r_3 + 2 t``. Where all are positive it is
    positive definite, of trace 3: the product of the two larger eigenvalues is at most 9/4, and the
    least one at least 4/9 of the determinant. That this is 4 limits, and 2^-20 at the least, leaves
    1.8e-7 beyond the limit. Minors are multiplied by two of the diagonal entries and the
    determinant by all three before they are compared: no term is larger than the product of these
    entries, so rounding here is about 1e-15 of that product, as it is in LAPACK.

    With ``mirrored`` only those are marked whose upper triangle is the lower one.
    """
    room = np.empty((9, len(matrices)))  # NumPy is slow along memory that is not contiguous
    for row, (i, j) in zip(room, PLACES, strict=False):
        row[:] = matrices[:, j, i]
    (a, b, c, d, e, f), (pair, whole, square) = room[:6], room[6:]
    share = 1.0 - max(4.0 * limit, _PLAIN)
    with np.errstate(all="ignore"):
        sure = np.ones(len(matrices), dtype=bool)
        for entry in (a, b, c):
            sure &= entry > _LEAST  # not of NaN
            sure &= entry < _MOST
        if mirrored:
            for entry, (i, j) in zip((d, e, f), PLACES[3:], strict=True):
                sure &= entry == matrices[:, i, j]
        np.multiply(a, b, out=whole)
        whole *= c
        whole *= share
        for entry, left, right, other in ((d, a, b, c), (e, a, c, b), (f, b, c, a)):
            np.multiply(left, right, out=pair)
            pair *= share
            np.multiply(entry, entry, out=square)
            sure &= square < pair
            square *= other
            whole -= square
        np.multiply(d, e, out=pair)
        pair *= f
        pair *= 2.0
        whole += pair
        sure &= whole > 0.0
    return sure


def _is_plainly_definite(matrices: FloatArray, limit: float) -> bool:
    """Whether no correlation matrix has an eigenvalue under a limit, without forming any.

    Scaling rows and columns alike changes no pivot's sign. Cholesky's method is wrong by less than
    ``k (k + 1) eps / 2`` of a correlation matrix, less than half of a limit here for so small k:
    what passes with twice a limit passes with it. So is elimination without square roots, which is
    compiled: by Cauchy and Schwarz the terms of both are as large.
    """
    k = matrices.shape[-1]
    if k > _SMALL or limit >= 1.0:
        return False
    diagonal = matrices.reshape(len(matrices), -1)[:, :: k + 1]
    if not (diagonal.min() > _SMALLEST and diagonal.max() < _LARGEST):
        return False
    run = _compiled.kernel("definite", _knows_definite)
    found = None if run is None else _have_pivots(run, matrices, 1.0 - limit)
    if found is not None:
        return bool(found.all())
    shrunk = matrices.copy()
    index = np.arange(k)
    shrunk[:, index, index] *= 1.0 - limit
    return has_factor(shrunk)


def _have_pivots(run: Kernel, matrices: FloatArray, share: float) -> NDArray[np.bool_] | None:
    """Whether pivots of matrices ``(n, k, k)`` are positive, their diagonals times a share."""
    n, k = matrices.shape[:2]
    work, found = np.empty(_compiled.LANES * (2 * k * k + 1)), np.empty(n, dtype=bool)
    return found if run(contiguous(matrices), np.array([share]), work, found) else None


def _knows_definite(run: Kernel) -> bool:
    """Whether a kernel knows which matrices ``(1 - r) I + r 1 1^T`` are definite."""
    r = np.arange(-160.5, 459.5, 4.0) / 400.0
    matrices = np.ones((5, 5)) * r[:, None, None]
    matrices[:, range(5), range(5)] = 2.0
    found = _have_pivots(run, matrices, 0.5)
    return found is not None and np.array_equal(found, (r > -0.25) & (r < 1.0))
