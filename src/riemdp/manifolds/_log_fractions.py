"""Logarithms of 3 x 3 matrices without eigenvalues: sums of inverses at public poles.

``log A = (A - I) sum_j w_j (A + s_j I)^-1`` up to a proved error. Only elementwise additions,
multiplications and divisions touch the entries, in one order: the logarithm of a matrix is the same
to the last bit whatever lies beside it in memory, on every processor.
"""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds._log_poles import Fraction, classes, fractions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds._points import FloatArray

#: Traces beyond these leave the range of float64 when they are cubed.
LEAST_TRACE, LARGEST_TRACE = 1e-70, 1e70
LOG_2 = math.log(2.0)
#: Matrices that are worked on at a time, so that what is kept of them fits the cache: sorted into
#: classes, and summed over poles.
CHUNK, _PART = 8192, 5000
#: By so much T exceeds the condition number, at least: sqrt(T) >= sqrt(c) + 1/sqrt(c) + 1 >= 3.
_EXCESS = 7.0
#: Up to so many matrices Python is faster than NumPy.
_VERY_FEW = 3
#: Up to so many matrices all poles are worked on at a time.
_FEW = 64
#: Rows and columns of the entries of a symmetric matrix, in the order they are kept in.
_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Logarithms:
    """Logarithms of n matrices, an array for each entry.

    Attributes
    ----------
    entries : ndarray, shape (6, n)
        Of rows and columns (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2); zeros for the matrices
        outside.
    condition : ndarray, shape (n,)
        At least the condition number, up to rounding; 0 for those outside.
    outside : ndarray of bool, shape (n,)
        Matrices without a logarithm, or of a range that the poles do not cover.
    """

    entries: FloatArray
    condition: FloatArray
    outside: NDArray[np.bool_]


def logarithms_3x3(matrices: FloatArray) -> Logarithms:
    """Logarithms of symmetric 3 x 3 matrices, of which the lower triangles are read.

    Parameters
    ----------
    matrices : ndarray, shape (n, 3, 3)
        In any layout, and possibly not finite or not positive definite: such ones are outside.

    Returns
    -------
    Logarithms

    References
    ----------
    docs/proofs/matrix-logarithms.md
    """
    n = len(matrices)
    found = Logarithms(np.zeros((6, n)), np.zeros(n), np.empty(n, dtype=bool))
    if n <= _VERY_FEW:
        for i, matrix in enumerate(matrices.tolist()):
            one = _of_one(matrix)
            found.outside[i] = one is None
            if one is not None:
                found.entries[:, i], found.condition[i] = one
        return found
    # kept for all chunks: memory that is asked for again comes in new pages
    kept, taken = np.empty((15, min(n, CHUNK))), np.empty((21, min(n, _PART)))
    for start in range(0, n, CHUNK):
        rows = slice(start, min(start + CHUNK, n))
        part = Logarithms(found.entries[:, rows], found.condition[rows], found.outside[rows])
        _fill(matrices[rows], part, kept[:, : rows.stop - start], taken)
    return found


def _of_one(matrix: list[list[float]]) -> tuple[list[float], float] | None:
    """Do to the numbers of a matrix what :func:`_fill` does, operation by operation.

    NumPy takes as long for one matrix as for dozens, and records are often worked on one by one.

    Returns
    -------
    entries : list of float
    condition : float
        None of both where the matrix is outside.
    """
    (a, _, _), (d, b, _), (e, f, c) = matrix
    trace = a + b + c
    if not (a > 0.0 and LEAST_TRACE < trace < LARGEST_TRACE):
        return None
    adjoint = [
        b * c - f * f,
        a * c - e * e,
        a * b - d * d,
        e * f - d * c,
        d * f - e * b,
        d * e - f * a,
    ]
    minors = adjoint[0] + adjoint[1] + adjoint[2]
    left, below = d / a, e / a
    second = b - left * d
    across = f - left * e
    third = c - below * e
    if not second > 0.0:
        return None
    third -= across * across / second
    det = a * second * third
    limits = classes(3).limits
    if not (third > 0.0 and det > 0.0 and trace * minors / det <= limits[-1]):
        return None
    product = trace * minors / det
    which = bisect.bisect_left(limits, product)
    exponent = math.frexp(trace * classes(3).levels[which])[1]
    scale = math.ldexp(1.0, -exponent)
    square = scale * scale
    t, m, constant = trace * scale, minors * square, det * square * scale
    zeroth = first = last = 0.0
    fraction = fractions()[which]
    for s, w in zip(fraction.shifts, fraction.weights, strict=True):
        term = w / (((t + s) * s + m) * s + constant)
        zeroth += term
        term *= s
        first += term
        last += term * s
    zeroth *= square
    first *= scale
    others = (b + c, a + c, a + b)
    inverse = [zeroth * x + other * first + last for x, other in zip(adjoint, others, strict=False)]
    inverse += [zeroth * x - y * first for x, y in zip(adjoint[3:], (d, e, f), strict=True)]
    scaled = (a * scale - 1.0, b * scale - 1.0, c * scale - 1.0, d * scale, e * scale, f * scale)
    rows = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
    entries = []
    for i, j in _PLACES:
        (p, q, r), (u, v, w_) = rows[i], rows[j]
        entries.append(scaled[p] * inverse[u] + scaled[q] * inverse[v] + scaled[r] * inverse[w_])
    for i in range(3):
        entries[i] += exponent * LOG_2
    return entries, product - _EXCESS


def _fill(matrices: FloatArray, found: Logarithms, kept: FloatArray, taken: FloatArray) -> None:
    """Compute :func:`logarithms_3x3` of a chunk, in place, in the memory that is given."""
    limits = classes(3).limits
    with np.errstate(all="ignore"):  # of matrices that turn out to be outside
        product, definite = _invariants(matrices, kept)
        definite &= product <= limits[-1]
        product = np.where(definite, product, 0.0)
    np.subtract(product, _EXCESS, out=found.condition, where=definite)
    np.logical_not(definite, out=found.outside)
    which = np.searchsorted(limits, product)
    which[found.outside] = len(limits)
    counts = np.bincount(which, minlength=len(limits) + 1)
    for one in np.flatnonzero(counts[:-1]).tolist():
        members = None if counts[one] == len(product) else np.flatnonzero(which == one)
        parts = -(-int(counts[one]) // _PART)
        edges = np.linspace(0, counts[one], parts + 1).astype(int).tolist()
        for start, stop in itertools.pairwise(edges):
            if members is None:
                rows = slice(start, stop)
                _sum(one, kept[:, rows], found.entries[:, rows])
                continue
            few = members[start:stop]
            some = taken[:, : len(few)]
            for row, values in zip(some, kept, strict=False):
                np.take(values, few, out=row, mode="clip")
            _sum(one, some[:15], some[15:])
            for row, values in zip(found.entries, some[15:], strict=True):
                row[few] = values


def _invariants(matrices: FloatArray, found: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Write entries, adjugate and characteristic polynomial into ``found``.

    Parameters
    ----------
    matrices : ndarray, shape (n, 3, 3)
    found : ndarray, shape (15, n)
        Entries and adjugate in the order of :class:`Logarithms`, then trace, sum of the
        principal minors, determinant.

    Returns
    -------
    product : ndarray, shape (n,)
        ``tr(A) tr(A^-1)``.
    definite : ndarray of bool, shape (n,)
        Whether all pivots are positive, and the trace in range.
    """
    for entry, (i, j) in zip(found, _PLACES, strict=False):
        entry[:] = matrices[:, j, i]
    a, b, c, d, e, f = found[:6]
    trace, minors, det = found[12:]
    work = np.empty(len(matrices))
    for adjoint, (p, q, r, s) in zip(
        found[6:],
        ((b, c, f, f), (a, c, e, e), (a, b, d, d), (e, f, d, c), (d, f, e, b), (d, e, f, a)),
        strict=False,
    ):
        np.multiply(p, q, out=adjoint)
        np.multiply(r, s, out=work)
        np.subtract(adjoint, work, out=adjoint)
    np.add(a, b, out=trace)
    trace += c
    np.add(found[6], found[7], out=minors)
    minors += found[8]
    left, below = d / a, e / a
    second = b - left * d
    across = f - left * e
    third = c - below * e
    across *= across
    across /= second
    third -= across
    np.multiply(a, second, out=det)
    det *= third
    definite = (a > 0.0) & (second > 0.0) & (third > 0.0)
    definite &= (trace > LEAST_TRACE) & (trace < LARGEST_TRACE)
    return trace * minors / det, definite


def _sum(which: int, invariants: FloatArray, entries: FloatArray) -> None:
    """Write the logarithms of matrices of one class into ``entries``; overwrite the invariants."""
    fraction = fractions()[which]
    level = invariants[12] * classes(3).levels[which]
    # the exponent that frexp gives, of positive normal numbers
    exponent = (level.view(np.int64) >> 52) - 1022
    scale = ((1023 - exponent) << 52).view(np.float64)
    square = scale * scale
    matrix, adjoint = invariants[:6], invariants[6:12]
    trace, minors, det = invariants[12:]
    pole_sums = _few_sums if len(scale) <= _FEW else _many_sums
    zeroth, first, second = pole_sums(
        fraction, trace * scale, minors * square, det * square * scale
    )
    # M = P0 adj(A) + P1 (tr(A) I - A) + P2 I; powers of two round nothing wherever they multiply
    adjoint *= zeroth * square
    first *= scale
    work = np.empty((3, len(scale)))
    for row, one, other in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
        np.add(matrix[one], matrix[other], out=work[row])
    work *= first
    adjoint[:3] += work
    adjoint[:3] += second
    np.multiply(matrix[3:], first, out=work)
    adjoint[3:] -= work
    # log A = (A - I) M, and what the power of two adds
    matrix *= scale
    matrix[:3] -= 1.0
    rows = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
    for entry, (i, j) in zip(entries, _PLACES, strict=True):
        for out, p, q in zip((entry, work[0], work[1]), rows[i], rows[j], strict=True):
            np.multiply(matrix[p], adjoint[q], out=out)
        np.add(entry, work[0], out=entry)
        np.add(entry, work[1], out=entry)
    entries[:3] += exponent * LOG_2


def _many_sums(
    fraction: Fraction, trace: FloatArray, minors: FloatArray, det: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Add ``w s^i / det(A + s I)`` over the poles, i = 0, 1, 2, pole by pole."""
    zeroth, first, second = np.zeros((3, len(det)))
    work = np.empty(len(det))
    for s, w in zip(fraction.shifts, fraction.weights, strict=True):
        np.add(trace, s, out=work)
        work *= s
        work += minors
        work *= s
        work += det
        np.divide(w, work, out=work)
        zeroth += work
        work *= s
        first += work
        work *= s
        second += work
    return zeroth, first, second


def _few_sums(
    fraction: Fraction, trace: FloatArray, minors: FloatArray, det: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute :func:`_many_sums`, all poles at a time, in the same order of operations."""
    s = np.array(fraction.shifts)[:, None]
    terms = (trace + s) * s
    terms += minors
    terms *= s
    terms += det
    np.divide(np.array(fraction.weights)[:, None], terms, out=terms)
    sums = []
    for _ in range(3):
        sums.append(np.add.accumulate(terms, axis=0)[-1])  # in order; a sum might be by pairs
        terms *= s
    return sums[0], sums[1], sums[2]


def full(entries: FloatArray) -> FloatArray:
    """Matrices ``(n, 3, 3)`` of the entries ``(6, n)`` that :class:`Logarithms` holds."""
    whole = np.empty((entries.shape[1], 3, 3))
    for row, (i, j) in zip(entries, _PLACES, strict=True):
        whole[:, i, j] = whole[:, j, i] = row
    return whole
