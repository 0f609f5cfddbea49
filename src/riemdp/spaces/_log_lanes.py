"""Logarithms of larger symmetric matrices at public poles, side by side.

Elementwise additions, subtractions, multiplications, divisions and square roots in a fixed order,
of arrays whose last axis is that of the matrices: none looks at another one, and the bits are the
same on every processor. ``native/logarithms.h`` does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces._log_fractions import (
    FURTHER,
    LARGEST_TRACE,
    LEAST_TRACE,
    LOG_2,
    WIDER,
    Logarithms,
    classes,
    fractions,
    padded_poles,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray

#: Under it the square of a column below the diagonal, of a matrix of trace 1, is as good as zero.
NOTHING = 1e-280
#: Poles that are worked on at a time.
_POLES = 8
#: Entries of the matrices that are worked on at a time.
_ENTRIES = 2**16


def bottoms() -> FloatArray:
    """Return what no eigenvalue of a class may lie under, where the largest is at most 2."""
    return np.array([FURTHER * fraction.top / fraction.spread for fraction in fractions()])


def logarithms_kxk(matrices: FloatArray) -> Logarithms:
    """Logarithms of symmetric k x k matrices, of which the lower triangles are read.

    Householder reflections make them tridiagonal, which at each pole has an inverse with one
    division a row and one multiplication an entry; the sum is reflected back.

    Parameters
    ----------
    matrices : ndarray, shape (n, k, k)
        k > 2; possibly not finite or not positive definite: such ones are outside.

    Returns
    -------
    Logarithms
        Entries ``(k (k + 1) / 2, n)``: the diagonal, then what is above it, row by row. Conditions
        are upper bounds of ``c + 1/c``, c the condition numbers: by Cauchy and Schwarz
        ``tr(A) tr(A^-1)`` is at least the square of ``sqrt(c) + 1/sqrt(c) + k - 2``.

    References
    ----------
    docs/proofs/matrix-logarithms.md
    """
    n, k = matrices.shape[:2]
    found = Logarithms(np.empty((k * (k + 1) // 2, n)), np.empty(n), np.empty(n, dtype=bool))
    step = max(1, _ENTRIES // k**2)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        part = Logarithms(found.entries[:, rows], found.condition[rows], found.outside[rows])
        with np.errstate(all="ignore"):  # of matrices that turn out to be outside
            _fill(matrices[rows], part)
    return found


def _fill(matrices: FloatArray, found: Logarithms) -> None:
    k = matrices.shape[1]
    trace = matrices[:, 0, 0].copy()
    for i in range(1, k):
        trace += matrices[:, i, i]
    found.outside[:] = ~((trace > LEAST_TRACE) & (trace < LARGEST_TRACE))
    exponent = _exponents(np.where(found.outside, 1.0, trace))
    scale = _powers(-exponent)
    x = np.empty((k, k, len(matrices)))
    for i in range(k):
        np.multiply(matrices[:, i, : i + 1].T, scale, out=x[i, : i + 1])
        x[:i, i] = x[i, :i]
    beside, reflections = _tridiagonal(x)
    diagonal = x[range(k), range(k)]
    more = _exponents(_above(diagonal, beside))
    inverse, which = _which(diagonal, beside, _powers(more))
    product = trace * scale * inverse
    inside = (which < len(fractions())) & (product <= classes(k).limits[-1])
    found.outside[~inside] = True
    which[found.outside] = 0
    base = np.sqrt(product) - (k - 2.0)
    bound = base * base - 2.0
    found.condition[:] = np.where(bound > 1.0, bound, 1.0)
    found.condition[found.outside] = 0.0
    exponent += more
    scale = _powers(-more)
    diagonal *= scale
    beside *= scale
    y = _times_fractions(diagonal, beside, which)
    _reflected(y, reflections)
    found.entries[:k] = y[range(k), range(k)] + exponent * LOG_2
    start = k
    for i in range(k - 1):
        found.entries[start : start + k - 1 - i] = y[i + 1 :, i]
        start += k - 1 - i
    found.entries[:, found.outside] = 0.0


def _exponents(values: FloatArray) -> NDArray[np.int64]:
    """Return e of numbers in ``[2^e, 2^(e + 1))``, positive and normal."""
    return (values.view(np.int64) >> 52) - 1023


def _powers(exponents: NDArray[np.int64]) -> FloatArray:
    """Powers of two, exactly."""
    return (exponents + 1023 << 52).view(np.float64)


def _in_order(terms: FloatArray) -> FloatArray:
    """Sum over the first axis, from the first on; a sum might be by pairs."""
    return np.asarray(np.add.accumulate(terms, axis=0)[-1])


def in_parts(terms: FloatArray) -> FloatArray:
    """Sum over the first axis, in four parts: of places equal mod 4, from the first on."""
    found = np.zeros((4, *terms.shape[1:]))
    for start in range(0, len(terms), 4):
        some = terms[start : start + 4]
        found[: len(some)] += some
    found[:2] += found[2:]
    return np.asarray(found[0] + found[1])


def _tridiagonal(x: FloatArray) -> tuple[FloatArray, list[tuple[FloatArray, FloatArray]]]:
    """Reflect matrices ``(k, k, n)``, in place: ``A <- (I - q u u^T) A (I - q u u^T)``.

    Returns
    -------
    beside : ndarray, shape (k - 1, n)
        Below the diagonal.
    reflections : list of (ndarray, ndarray), shapes (n,) and (m, n)
        q and u, m = k - 1 to 2: entries above them are zero.
    """
    k, _, n = x.shape
    beside, reflections = np.empty((k - 1, n)), []
    for c in range(k - 2):
        u, rest = x[c + 1 :, c].copy(), x[c + 1 :, c + 1 :]
        head, length = u[0], np.sqrt(_in_order(u * u))
        length = np.where(head > 0.0, length, -length)
        reach = length * (length + head)
        q = np.where(reach > NOTHING, 1.0 / reach, 0.0)
        beside[c] = np.where(reach > NOTHING, -length, 0.0)
        u[0] += length
        # w = q A u - q^2/2 (u^T A u) u
        w = in_parts(rest * u[:, None])
        w *= q
        w -= 0.5 * q * _in_order(w * u) * u
        change = u[:, None] * w
        change += w[:, None] * u
        rest -= change
        reflections.append((q, u))
    beside[k - 2] = x[k - 1, k - 2]
    return beside, reflections


def _above(diagonal: FloatArray, beside: FloatArray) -> FloatArray:
    """Return a bound of the spectrum, by Gershgorin's discs; 1 where there is none."""
    size = np.abs(beside)
    reach = diagonal.copy()
    reach[0] += size[0]
    reach[1:-1] += size[:-1] + size[1:]
    reach[-1] += size[-1]
    top = WIDER * np.fmax.reduce(reach)
    return np.where((top > 0.0) & (top < np.inf), top, 1.0)


def _which(
    diagonal: FloatArray, beside: FloatArray, unit: FloatArray
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the trace of the inverse, and the first class that holds the spectrum.

    By pivots, of the matrices and less the least eigenvalues of the classes, times the unit.
    """
    levels = np.array([0.0, *bottoms()])[:, None] * unit
    pivot = diagonal[0] - levels
    positive = pivot > 0.0
    inverse, slope = 1.0 / pivot[0], np.ones_like(unit)
    # minus the derivatives of pivots give the trace of the inverse
    for here, off in zip(diagonal[1:], beside, strict=True):
        ratio = off / pivot
        pivot = here - levels - off * ratio
        positive &= pivot > 0.0
        slope = 1.0 + ratio[0] * ratio[0] * slope
        inverse = inverse + slope / pivot[0]
    which = np.full(len(unit), len(bottoms()))
    for c in range(len(bottoms()) - 1, -1, -1):
        which[positive[0] & positive[c + 1]] = c
    return inverse, which


def _times_fractions(
    diagonal: FloatArray, beside: FloatArray, which: NDArray[np.int64]
) -> FloatArray:
    """Return ``(T - I) sum_j w_j (T + s_j I)^-1`` of tridiagonal T, shape (k, k, n)."""
    k, n = diagonal.shape
    counts, shifts, weights = padded_poles()
    y, most = np.zeros((k, k, n)), counts[which].max()
    for start in range(0, most, _POLES):
        some = slice(start, start + min(_POLES, -(-(most - start) // 4) * 4))
        s, w = (np.ascontiguousarray(each[which, some].T) for each in (shifts, weights))
        pivots, factors = np.empty((len(s), k, n)), np.empty((len(s), k - 1, n))
        pivot = 1.0 / (diagonal[0] + s)
        pivots[:, 0] = w * pivot
        for i, off in enumerate(beside):
            ratio = off * pivot
            factors[:, i] = -ratio
            ratio *= off
            pivot = 1.0 / (diagonal[i + 1] + s - ratio)
            np.multiply(w, pivot, out=pivots[:, i + 1])
        squares = factors * factors
        for i in range(k - 2, -1, -1):
            pivots[:, i] += squares[:, i] * pivots[:, i + 1]
        # entries of the inverses, from the diagonal to the left
        for c in range(k - 1, -1, -1):
            if c < k - 1:
                pivots[:, c + 1 :] *= factors[:, c, None]
            column = pivots[:, c:]
            sums = column[0::4] + column[2::4]
            sums += column[1::4] + column[3::4]
            for four in sums:
                y[c, c:] += four
    for i in range(k):
        y[i + 1 :, i] = y[i, i + 1 :]
    z = (diagonal - 1.0) * y
    z[:, 1:] += beside * y[:, :-1]
    z[:, :-1] += beside * y[:, 1:]
    for i in range(k):
        z[i, i + 1 :] = z[i + 1 :, i]
    return z


def _reflected(y: FloatArray, reflections: list[tuple[FloatArray, FloatArray]]) -> None:
    """Reflect matrices back, in place."""
    for q, u in reversed(reflections):
        c = len(y) - len(u)
        v = in_parts(y[c:] * u[:, None])
        v *= q
        own, above = v[c:], v[:c]
        own -= 0.5 * q * _in_order(own * u) * u
        change = u[:, None] * own
        change += own[:, None] * u
        y[c:, c:] -= change
        change = u[:, None] * above
        y[c:, :c] -= change
        y[:c, c:] -= np.swapaxes(change, 0, 1)
