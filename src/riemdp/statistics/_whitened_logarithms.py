"""Logarithms of SPD matrices as seen from a point, without eigenvectors where that is faster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces import _logarithms, _points, _symmetric, raise_first
from riemdp.statistics._flat_mean import condition_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Multiplications in one product. BLAS libraries keep one so small on the thread that asks for it;
#: threads of theirs would fight those that share out the chunks.
_PRODUCT = 2**18


def logarithm_error(k: int, condition: float, size: float) -> float:
    """Bound what a logarithm is wrong by, its Frobenius norm in units of eps.

    Of a matrix of this condition number, and a logarithm of this Frobenius norm. Eigenvalues are
    known to eps times the largest one; public poles do better.
    """
    return 3.0 * math.sqrt(k) * condition + 4.0 * size


def packed(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the diagonal, then of what is above it, row by row."""
    rows, columns = _symmetric.above_diagonal(k)
    diagonal = np.arange(k)
    return np.concatenate([diagonal, rows]), np.concatenate([diagonal, columns])


def whitened_logarithms(
    inverse: FloatArray, matrices: FloatArray, first_row: int = 0, *, compiled: bool
) -> tuple[FloatArray, FloatArray]:
    """Logarithms of ``L^-1 X L^-T``, X the matrices ``(n, k, k)``, and about condition numbers.

    Entries ``(n, d)`` in the order of :func:`packed`; the numbers ``(n,)`` are at least the true
    ones, but for rounding. ``compiled`` is that of ``is_worthwhile`` of
    :mod:`riemdp.spaces._logarithms`. Raises ``NotOnManifoldError`` if rounding makes a matrix
    indefinite; it names its row.
    """
    k = len(inverse)
    if k == 3:
        found = _logarithms.whitened_logarithms_of_3x3(inverse, matrices) if compiled else None
        if found is None:
            found = _logarithms.logarithms_of_3x3(whitened(inverse, matrices), compiled=False)
        if not found.outside.any():
            return found.entries.T, found.condition
    elif compiled:
        entries, condition, outside = _logarithms.logarithms(whitened(inverse, matrices))
        if not outside.any():
            return entries, condition
    logs, vectors, condition = decomposed(inverse, matrices, first_row)
    return compositions(logs, vectors), condition


def decomposed(
    inverse: FloatArray, matrices: FloatArray, first_row: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-eigenvalues, eigenvectors and condition numbers of what :func:`whitened` returns."""
    values, vectors = np.linalg.eigh(whitened(inverse, matrices))
    raise_first(values[:, 0] <= 0.0, _points.NOT_POSITIVE_DEFINITE, first_row)
    condition = condition_numbers(values)
    return np.log(values, out=values), vectors, condition


def compositions(logs: FloatArray, vectors: FloatArray) -> FloatArray:
    """Entries ``(n, d)`` of ``V diag(logs) V^T``, in the order of :func:`packed`."""
    product = (vectors * logs[:, None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.asarray(product[:, *packed(logs.shape[-1])])


def whitened(inverse: FloatArray, matrices: FloatArray) -> FloatArray:
    """``L^-1 X L^-T``, symmetric but for rounding: a decomposition reads one half of it."""
    k = len(inverse)
    seen = np.empty(matrices.shape)
    for few in pieces(slice(0, len(matrices)), k):
        half = matrices[few].reshape(-1, k) @ inverse.T
        np.matmul(inverse, half.reshape(-1, k, k), out=seen[few])
    return seen


def pieces(rows: slice, k: int) -> list[slice]:
    """Parts of a slice, each with so few matrices that one product with all of them is small."""
    step = max(1, _PRODUCT // k**3)
    return [slice(i, min(i + step, rows.stop)) for i in range(rows.start, rows.stop, step)]
