"""Logarithms of SPD matrices by products alone, to a few digits: for points on the way to a mean.

Eigenvectors of one matrix take as long as dozens of products with matrices of its size. What a
polynomial yields is no more than a direction to go in; a certificate takes eigenvectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Degree from which on eigenvectors are no slower.
_DEGREE = 150
#: Ratio of the ends of an interval that takes more: one record far from all others is enough.
_WIDEST = 1e16
#: By how much ends of a spectrum are moved, as few matrices show them.
_ROOM = 1.15
#: Matrix entries that are worked on at a time, and multiplications in one product: ``pieces``.
_ENTRIES, _PRODUCT = 2**14, 2**18


@dataclass(frozen=True, eq=False)
class Series:
    """``log x = sum_j q_j(t) T_j(T_m(t))``, T Chebyshev's polynomials, ``x = middle + reach t``."""

    middle: float
    reach: float
    terms: FloatArray  # (b, m), of ``q_j = sum_i terms[j, i] T_i``


def series(least: float, largest: float, error: float) -> Series | None:
    """Return a polynomial near the logarithm on an interval, a little more than what is given.

    Ends are positive, or what their exponentials under- or overflow to; ``error`` is about what it
    may be wrong by. None where its degree would be too high.
    """
    least, largest = least / _ROOM, largest * _ROOM
    if not largest < _WIDEST * least:  # also of a zero, and of what is not finite
        return None
    ratio = math.sqrt(largest / least)
    # coefficients fall like powers of this
    fall = math.log((ratio + 1.0) / (ratio - 1.0))
    degree = math.ceil(max(-math.log(error), 0.0) / fall) + 1
    if degree > _DEGREE:
        return None
    width = max(2, math.isqrt(degree))
    blocks = degree // width + 1
    middle, reach = 0.5 * (largest + least), 0.5 * (largest - least)
    angles = (np.arange(2 * _DEGREE) + 0.5) * (math.pi / (2 * _DEGREE))
    values = np.log(middle + reach * np.cos(angles))
    found = np.cos(np.arange(blocks * width)[:, None] * angles) @ values / _DEGREE
    found[0] *= 0.5
    found[degree + 1 :] = 0.0
    # 2 T_i T_(j m) = T_(j m + i) + T_(j m - i)
    terms = found.reshape(blocks, width)
    for j in range(blocks - 1, 0, -1):
        for i in range(1, width):
            found[j * width - i] -= terms[j, i]
            terms[j, i] *= 2.0
    return Series(middle, reach, terms)


def rough_logarithms(inverse: FloatArray, matrices: FloatArray, of: Series) -> FloatArray:
    """Logarithms ``(n, k^2)`` of ``L^-1 X L^-T``, whose spectra lie on the interval of the series.

    Of ``L^-1`` ``(k, k)`` and matrices X ``(n, k, k)``; symmetric but for rounding.
    """
    n, k = matrices.shape[:2]
    scaled = inverse / math.sqrt(of.reach)
    logs = np.empty((n, k * k))
    step = max(1, _ENTRIES // k**2)
    for start in range(0, n, step):
        some = matrices[start : start + step]
        half = np.empty((len(some) * k, k))
        height = max(1, _PRODUCT // k**2)
        for row in range(0, len(half), height):
            few = slice(row, row + height)
            np.matmul(some.reshape(-1, k)[few], scaled.T, out=half[few])
        logs[start : start + step] = _sum(scaled @ half.reshape(some.shape), of)
    return logs


def _sum(matrices: FloatArray, of: Series) -> FloatArray:
    """Sum the series, of matrices divided by its reach."""
    n, k = matrices.shape[:2]
    blocks, width = of.terms.shape
    powers = np.empty((width + 1, n, k, k))
    powers[0] = np.eye(k)
    powers[1] = matrices
    powers[1].reshape(n, -1)[:, :: k + 1] -= of.middle / of.reach
    double = powers[1] + powers[1]
    for i in range(2, width + 1):
        np.matmul(double, powers[i - 1], out=powers[i])
        powers[i] -= powers[i - 2]
    flat = powers[:width].reshape(width, -1)
    parts = np.empty((blocks, n * k * k))
    step = _PRODUCT // of.terms.size
    for start in range(0, n * k * k, step):
        few = slice(start, start + step)
        np.matmul(of.terms, flat[:, few], out=parts[:, few])
    parts = parts.reshape(blocks, n, k, k)
    # Clenshaw's recurrence
    here = powers[width]
    double = here + here
    for j in range(blocks - 2, 0, -1):
        parts[j] += double @ parts[j + 1]
        if j + 2 < blocks:
            parts[j] -= parts[j + 2]
    total = parts[0]
    if blocks > 1:
        total += here @ parts[1]
    if blocks > 2:
        total -= parts[2]
    return np.asarray(total.reshape(n, -1))
