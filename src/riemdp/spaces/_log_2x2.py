"""Logarithms of symmetric 2x2 matrices in closed form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces._points import NOT_POSITIVE_DEFINITE, raise_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray


def logm_2x2(matrices: FloatArray) -> FloatArray:
    """Logarithm of symmetric positive definite matrices.

    Parameters
    ----------
    matrices : ndarray, shape (..., 2, 2)

    Returns
    -------
    ndarray, shape (..., 2, 2)

    Raises
    ------
    NotOnManifoldError
        If a matrix is not finite or not positive definite in float64.
    """
    shape = matrices.shape[:-2]
    log_det, difference, off, _ = (part.reshape(shape) for part in log_parts_2x2(matrices))
    result = np.empty(matrices.shape)
    result[..., 0, 0] = 0.5 * log_det + difference
    result[..., 1, 1] = 0.5 * log_det - difference
    result[..., 0, 1] = result[..., 1, 0] = off
    return result


def log_parts_2x2(
    matrices: FloatArray, first_row: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Parts of the logarithms ``log_det / 2 I + [[p, q], [q, -p]]`` of n matrices.

    With ``d = (a - c)/2`` and ``h = sqrt(d^2 + b^2)`` the eigenvalues of ``[[a, b], [b, c]]`` are
    ``m ± h``, and ``p = s d``, ``q = s b`` where ``s = log((m + h)/(m - h)) / (2 h)``.
    ``first_row`` is the number of the first matrix, for the error.

    Returns
    -------
    log_det, p, q, excess : ndarray, shape (n,)
        ``excess`` is the condition number less one.

    Raises
    ------
    NotOnManifoldError
        If a matrix is not finite or not positive definite in float64.
    """
    shape = matrices.shape[:-2]
    flat = matrices.reshape(-1, 2, 2)
    a, b, c = flat[:, 0, 0], flat[:, 0, 1], flat[:, 1, 1]
    with np.errstate(all="ignore"):
        trace, square, det = a + c, b * b, a * c
        det -= square
        # NaN fails the comparisons, infinite entries make the determinant infinite or NaN.
        extreme = ~((det > 1e-280) & (det < 1e280) & (trace > 0.0) & (trace * trace < 1e290 * det))
        parts = _log_parts(a - c, b, trace, square, det)
    if extreme.any():  # of these records alone
        scaled = _scaled_log_parts(flat, extreme, shape, first_row)
        for part, entry in zip(parts, scaled, strict=True):
            part[extreme] = entry
    return parts


def _scaled_log_parts(
    flat: FloatArray, extreme: NDArray[np.bool_], shape: tuple[int, ...], first_row: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Compute :func:`log_parts_2x2` of the marked matrices, without a power of two.

    Their determinants may have left the range of float64.
    """
    a, b, c = (flat[extreme][:, i, j] for i, j in ((0, 0), (0, 1), (1, 1)))
    with np.errstate(all="ignore"):
        trace = a + c
        largest = np.minimum(trace, np.finfo(np.float64).max)  # the trace may have left it too
        exponent = np.where(trace > 0.0, np.frexp(largest)[1], 0)
        a, b, c = (np.ldexp(entry, -exponent) for entry in (a, b, c))
        trace, square, det = a + c, b * b, a * c
        det -= square
        bad = np.zeros(len(flat), dtype=bool)
        bad[extreme] = ~_is_definite(flat[extreme])
        raise_first(bad.reshape(shape), NOT_POSITIVE_DEFINITE, first_row)
        log_det, p, q, excess = _log_parts(a - c, b.copy(), trace.copy(), square, det.copy())
        log_det += 2.0 * math.log(2.0) * exponent
        wide = ~(det > 1e-280)  # the smaller entry is gone: its logarithm is not
        if wide.any():
            exact = flat[extreme][wide]
            half = 0.5 * trace[wide]
            h = np.hypot(0.5 * (a - c)[wide], b[wide])
            log_det[wide] = _log_determinants(exact)
            gap = 2.0 * (np.log(half + h) + math.log(2.0) * exponent[wide]) - log_det[wide]
            p[wide], q[wide] = 0.5 * gap * 0.5 * (a - c)[wide] / h, 0.5 * gap * b[wide] / h
            excess[wide] = np.expm1(gap)
    return log_det, p, q, excess


def _is_definite(matrices: FloatArray) -> NDArray[np.bool_]:
    """Whether ``(n, 2, 2)`` matrices are finite and positive definite in float64."""
    a, b, c = matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 1]
    positive = (a > 0.0) & (c > 0.0) & (a < math.inf) & (c < math.inf)
    return positive & (np.abs(b / np.sqrt(a) / np.sqrt(c)) < 1.0)


def _log_determinants(matrices: FloatArray) -> FloatArray:
    """Logarithms of the determinants of ``(n, 2, 2)`` matrices, whatever their range."""
    a, b, c = matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 1]
    correlation = b / np.sqrt(a) / np.sqrt(c)
    return np.asarray(np.log(a) + np.log(c) + np.log1p(-(correlation**2)))


def _log_parts(
    difference: FloatArray, b: FloatArray, trace: FloatArray, square: FloatArray, det: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Compute :func:`log_parts_2x2` from a - c, b, a + c, b^2 and the determinant, in place."""
    difference *= 0.5
    square += difference * difference
    h = np.sqrt(square, out=square)
    h += 1e-300  # where h vanishes any finite slope will do
    gap = h + h
    # m - h cancels where the matrix is nearly singular; det / (m + h) does not.
    excess = np.add(trace, gap, out=trace)
    excess *= h
    excess /= det
    slope = np.log1p(excess)
    slope /= gap
    difference *= slope
    slope *= b
    return np.log(det, out=det), difference, slope, excess
