"""Logarithms of SPD matrices as seen from a point, without eigenvectors where that is faster."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds import _logarithms, _symmetric, raise_first
from riemdp.statistics._affine_invariant_mean import pieces
from riemdp.statistics._flat_mean import GROUP, pairwise_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Multiplications in one product; see ``pieces``.
_PRODUCT = 2**18


@dataclass(frozen=True, eq=False)
class WhitenedLogarithms:
    """Logarithms of n matrices k x k.

    Attributes
    ----------
    entries : ndarray, shape (n, d)
        In the order of :func:`packed`, or all ``k^2``.
    condition : ndarray, shape (n,)
        At least the condition numbers of the matrices, but for rounding.
    squares : ndarray, shape (n,)
        Squared Frobenius norms of the logarithms.
    """

    k: int
    entries: FloatArray
    condition: FloatArray
    squares: FloatArray

    @property
    def errors(self) -> FloatArray:
        """What a logarithm is wrong by, Frobenius norms ``(n,)`` in units of eps.

        Eigenvalues are known to eps times the largest one; fractions do better.
        """
        return 3.0 * math.sqrt(self.k) * self.condition + 4.0 * np.sqrt(self.squares)

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

    def half(self) -> FloatArray:
        """Entries ``(n, k (k + 1) / 2)`` in the order of :func:`packed`."""
        if self.entries.shape[-1] != self.k**2:
            return self.entries
        rows, columns = packed(self.k)
        return np.asarray(self.entries[:, rows * self.k + columns])


def packed(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the diagonal, then of what is above it, row by row."""
    rows, columns = _symmetric.above_diagonal(k)
    diagonal = np.arange(k)
    return np.concatenate([diagonal, rows]), np.concatenate([diagonal, columns])


def whitened_logarithms(
    inverse: FloatArray, data: FloatArray, rows: slice, *, compiled: bool
) -> WhitenedLogarithms:
    """Logarithms of ``L^-1 X L^-T``.

    Parameters
    ----------
    inverse : ndarray, shape (k, k)
        ``L^-1``.
    data : ndarray, shape (n, k, k)
    rows : slice
        Of the data, the matrices that are meant.
    compiled : bool
        Of ``is_worthwhile`` of :mod:`riemdp.manifolds._logarithms`.

    Raises
    ------
    NotOnManifoldError
        If rounding makes one indefinite; it names the first of these rows.
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
    twice = np.kron(inverse, inverse)
    flat = matrices.reshape(-1, 9)
    seen = np.empty((9, len(flat)))
    step = _PRODUCT // 81
    for start in range(0, len(flat), step):
        few = slice(start, start + step)
        np.matmul(twice, flat[few].T, out=seen[:, few])
    found = _logarithms.logarithms_of_3x3(
        np.moveaxis(seen.reshape(3, 3, -1), -1, 0), compiled=compiled
    )
    if found.outside.any():
        return None
    diagonal, off = np.square(found.entries[:3]), np.square(found.entries[3:])
    squares = diagonal.sum(axis=0) + 2.0 * off.sum(axis=0)
    return WhitenedLogarithms(3, found.entries.T, found.condition, squares)


def _of_larger(inverse: FloatArray, data: FloatArray, rows: slice) -> WhitenedLogarithms | None:
    """Do what :func:`_of_3x3` does."""
    k = len(inverse)
    whitened = np.concatenate([_whitened(inverse, data[few]) for few in pieces(rows, k)])
    logs, condition, outside = _logarithms.logarithms(whitened)
    if outside.any():
        return None
    entries = logs.reshape(-1, k * k)
    return WhitenedLogarithms(k, entries, condition, np.einsum("ij,ij->i", entries, entries))


def _decomposed(inverse: FloatArray, data: FloatArray, rows: slice) -> WhitenedLogarithms:
    k = len(inverse)
    whitened = np.concatenate([_whitened(inverse, data[few]) for few in pieces(rows, k)])
    values, vectors = np.linalg.eigh(whitened)
    raise_first(values[:, 0] <= 0.0, _symmetric.NOT_POSITIVE_DEFINITE, rows.start)
    condition = values[:, -1] / values[:, 0]
    logs = np.log(values, out=values)
    matrices = (vectors * logs[:, None, :]) @ np.swapaxes(vectors, -1, -2)
    squares = np.einsum("ij,ij->i", logs, logs)
    return WhitenedLogarithms(k, matrices.reshape(-1, k * k), condition, squares)


def _whitened(inverse: FloatArray, matrices: FloatArray) -> FloatArray:
    """``L^-1 X L^-T``, symmetric but for rounding: a decomposition reads one half of it."""
    k = len(inverse)
    half = matrices.reshape(-1, k) @ inverse.T
    return np.asarray(inverse @ half.reshape(matrices.shape))


def _sum(rows: FloatArray) -> FloatArray:
    """Sum over the first axis by pairs, of groups where memory is not contiguous along it."""
    if rows.flags.f_contiguous:
        return np.asarray(rows.sum(axis=0))
    whole = len(rows) - len(rows) % GROUP
    groups = rows[:whole].reshape(-1, GROUP, rows.shape[-1]).sum(axis=1)
    return pairwise_sum(np.concatenate([groups, rows[whole:]]))
