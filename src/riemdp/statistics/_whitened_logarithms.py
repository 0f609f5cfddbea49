"""Logarithms of SPD matrices as seen from a point, without eigenvectors where that is faster."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds import _logarithms, _points, _symmetric, raise_first
from riemdp.statistics._affine_invariant_mean import pieces
from riemdp.statistics._flat_mean import condition_numbers, sum_of_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray

#: Multiplications in one product; see ``pieces``.
_PRODUCT = 2**18


@dataclass(frozen=True, eq=False)
class WhitenedLogarithms:
    """Logarithms of n matrices k x k."""

    k: int
    entries: FloatArray  # (n, d), in the order of :func:`packed`, or all ``k^2``
    condition: FloatArray  # (n,), at least the matrices' condition numbers, but for rounding

    def total(self, shares: FloatArray | float) -> FloatArray:
        """``sum_i shares_i L_i``, shape ``(k, k)``."""
        if isinstance(shares, float):
            total = _sum(self.entries) * shares
        else:
            total = _sum(self.entries * shares[:, None])
        if len(total) == self.k**2:
            return _symmetric.symmetrise(total.reshape(self.k, self.k))
        matrix = np.empty((self.k, self.k))
        rows, columns = packed(self.k)
        matrix[rows, columns] = matrix[columns, rows] = total
        return matrix

    def square(self, shares: FloatArray | float) -> float:
        """``sum_i shares_i |L_i|^2``, Frobenius norms."""
        scaled = self.entries if isinstance(shares, float) else self.entries * shares[:, None]
        if self.entries.flags.f_contiguous:  # which einsum is slow at
            pairs = zip(scaled.T, self.entries.T, strict=True)
            columns = np.array([left @ right for left, right in pairs])
        else:
            columns = np.einsum("ij,ij->j", scaled, self.entries)
        if len(columns) != self.k**2:  # what is above the diagonal counts twice
            columns[self.k :] *= 2.0
        return float(columns.sum()) * (shares if isinstance(shares, float) else 1.0)

    def half(self) -> FloatArray:
        """Entries ``(n, k (k + 1) / 2)`` in the order of :func:`packed`."""
        if self.entries.shape[-1] != self.k**2:
            return self.entries
        rows, columns = packed(self.k)
        return np.asarray(self.entries[:, rows * self.k + columns])


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
    inverse: FloatArray, data: FloatArray, rows: slice, *, compiled: bool
) -> WhitenedLogarithms:
    """Logarithms of ``L^-1 X L^-T``, X the matrices in some rows of the data ``(n, k, k)``.

    ``compiled`` is that of ``is_worthwhile`` of :mod:`riemdp.manifolds._logarithms`. Raises
    ``NotOnManifoldError`` if rounding makes one indefinite; it names the first of these rows.
    """
    found = None
    if len(inverse) == 3:
        found = _of_3x3(inverse, data[rows], compiled=compiled)
    elif compiled:
        found = _of_larger(inverse, data, rows)
    return _decomposed(inverse, data, rows) if found is None else found


def _of_3x3(
    inverse: FloatArray, matrices: FloatArray, *, compiled: bool
) -> WhitenedLogarithms | None:
    """Logarithms at public poles; None if these do not cover a matrix."""
    found = _logarithms.whitened_logarithms_of_3x3(inverse, matrices) if compiled else None
    if found is None:
        seen = _whitened_3x3(inverse, matrices)
        found = _logarithms.logarithms_of_3x3(seen, compiled=False)
    if found.outside.any():
        return None
    return WhitenedLogarithms(3, found.entries.T, found.condition)


def _whitened_3x3(inverse: FloatArray, matrices: FloatArray) -> FloatArray:
    """Return ``L^-1 X L^-T`` in one product for many matrices."""
    twice = (inverse[:, None, :, None] * inverse[None, :, None, :]).reshape(9, 9).T
    flat = matrices.reshape(-1, 9)
    seen = np.empty(flat.shape)
    step = _PRODUCT // 81
    for start in range(0, len(flat), step):
        few = slice(start, start + step)
        np.matmul(flat[few], twice, out=seen[few])
    return seen.reshape(-1, 3, 3)


def _of_larger(inverse: FloatArray, data: FloatArray, rows: slice) -> WhitenedLogarithms | None:
    """Do what :func:`_of_3x3` does."""
    k = len(inverse)
    whitened = np.concatenate([_whitened(inverse, data[few]) for few in pieces(rows, k)])
    logs, condition, outside = _logarithms.logarithms(whitened)
    if outside.any():
        return None
    return WhitenedLogarithms(k, logs, condition)


def _decomposed(inverse: FloatArray, data: FloatArray, rows: slice) -> WhitenedLogarithms:
    k = len(inverse)
    whitened = np.concatenate([_whitened(inverse, data[few]) for few in pieces(rows, k)])
    values, vectors = np.linalg.eigh(whitened)
    raise_first(values[:, 0] <= 0.0, _points.NOT_POSITIVE_DEFINITE, rows.start)
    condition = condition_numbers(values)
    logs = np.log(values, out=values)
    matrices = (vectors * logs[:, None, :]) @ np.swapaxes(vectors, -1, -2)
    return WhitenedLogarithms(k, matrices.reshape(-1, k * k), condition)


def _whitened(inverse: FloatArray, matrices: FloatArray) -> FloatArray:
    """``L^-1 X L^-T``, symmetric but for rounding: a decomposition reads one half of it."""
    k = len(inverse)
    half = matrices.reshape(-1, k) @ inverse.T
    return np.asarray(inverse @ half.reshape(matrices.shape))


def _sum(rows: FloatArray) -> FloatArray:
    """Sum over the first axis by pairs, of groups where memory is not contiguous along it."""
    if rows.flags.f_contiguous:
        return np.asarray(rows.sum(axis=0))
    return sum_of_rows(rows)
