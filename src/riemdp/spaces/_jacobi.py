"""Singular values by one-sided Jacobi rotations, which keep the digits of graded matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray


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
