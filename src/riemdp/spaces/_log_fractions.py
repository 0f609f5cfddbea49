"""Logarithms of symmetric matrices by partial fractions, and their public poles."""

from __future__ import annotations

import bisect
import functools
import json
import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray

    pass


# Poles and weights of the logarithm, and which of them a matrix is held against.

#: By how much the bounds of a spectrum are widened, which covers the rounding of what they are
#: computed from as long as the product of the traces is under 1e13.
WIDER, FURTHER = 1.02, 1.1


@dataclass(frozen=True)
class Fraction:
    """``log x = (x - 1) sum_j w_j / (x + s_j)`` on an interval, all numbers positive.

    Attributes
    ----------
    spread : float
        The interval is ``[top / spread, top]``.
    top : float
    error : float
        Proved bound of the relative error on the interval.
    shifts, weights : tuple of float
        The numbers ``s_j``, ascending, and ``w_j``.

    References
    ----------
    docs/proofs/matrix-logarithms.md
    """

    spread: float
    top: float
    error: float
    shifts: tuple[float, ...]
    weights: tuple[float, ...]


@functools.cache
def fractions() -> tuple[Fraction, ...]:
    """Return the fractions in the package, spreads increasing."""
    from importlib import resources

    path = resources.files("riemdp.spaces").joinpath("data/log_poles.json")
    table = json.loads(path.read_text("ascii"))
    return tuple(
        Fraction(
            row["spread"], table["top"], row["error"], tuple(row["poles"]), tuple(row["weights"])
        )
        for row in table["classes"]
    )


@functools.cache
def padded_poles() -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """Numbers of poles, poles and weights of all classes: as many of each, some of no weight."""
    table = fractions()
    counts = [len(fraction.shifts) for fraction in table]
    shape = (len(table), -(-max(counts) // 4) * 4)
    shifts, weights = np.ones(shape), np.zeros(shape)
    for fraction, count, s, w in zip(table, counts, shifts, weights, strict=True):
        s[:count], w[:count] = fraction.shifts, fraction.weights
    return np.array(counts, dtype=np.int64), shifts, weights


@dataclass(frozen=True)
class Classes:
    """Which fraction a k x k matrix A takes, by ``T = tr(A) tr(A^-1)`` alone.

    Attributes
    ----------
    limits : tuple of float
        A matrix is of the first class i with ``T <= limits[i]``; of none beyond the last.
    levels : tuple of float
        Divided by the power of two next above ``levels[i] tr(A)``, the spectrum of a matrix of
        class i lies on the interval of its fraction.
    """

    limits: tuple[float, ...]
    levels: tuple[float, ...]


@functools.lru_cache(maxsize=64)
def classes(k: int) -> Classes:
    """Return limits and levels of k x k matrices, public numbers.

    With ``x = (tr A - m) / m``, m an eigenvalue of A, ``T >= (1 + x)(1 + (k - 1)^2 / x)``. So no
    eigenvalue exceeds ``f tr(A)``, ``f = 1 / (1 + x)`` at the least x of that T, and by the same
    for the inverse none is under ``1 / (f tr(A^-1))``.
    """
    limits, levels = [], []
    for fraction in fractions():
        limit = _largest_product(k, fraction.spread / (2.0 * FURTHER))
        limits.append(limit)
        levels.append(_largest_share(k, limit) * WIDER / fraction.top)
    return Classes(tuple(limits), tuple(levels))


def _largest_share(k: int, product: float) -> float:
    """Largest share of the trace that an eigenvalue may have, f, where ``T <= product``."""
    others = (k - 1.0) ** 2
    half = 0.5 * (product - 1.0 - others)
    root = math.sqrt(max(half * half - others, 0.0))
    return 1.0 / (1.0 + others / (half + root)) if half > 0.0 else 1.0


def _largest_product(k: int, spread: float) -> float:
    """Largest T with ``T f(T)^2 <= spread``, rounded down; none is under ``k^2``."""
    low, high = float(k * k), 4.0 * k * k * spread
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle * _largest_share(k, middle) ** 2 <= spread:
            low = middle
        else:
            high = middle
    return low


# Logarithms of 3 x 3 matrices without eigenvalues: sums of inverses at public poles.
#
# ``log A = (A - I) sum_j w_j (A + s_j I)^-1`` up to a proved error. Only elementwise additions,
# multiplications and divisions touch the entries, in one order: the logarithm of a matrix is the
# same to the last bit whatever lies beside it in memory, on every processor.

#: Traces beyond these leave the range of float64 when they are cubed.
LEAST_TRACE, LARGEST_TRACE = 1e-70, 1e70
LOG_2 = math.log(2.0)
#: Matrices that are worked on at a time: many, as calls of NumPy cost more than a missed cache.
CHUNK = 16384
#: Pivots, as shares of the trace: less tells nothing of a matrix, and none that a class covers has
#: less.
LEAST_PIVOT = 2.0**-43
#: By so much T exceeds the condition number, at least: sqrt(T) >= sqrt(c) + 1/sqrt(c) + 1 >= 3.
_EXCESS = 7.0
#: Up to so many matrices Python is faster than NumPy.
_VERY_FEW = 3
#: Up to so many matrices all poles are worked on at a time.
_FEW = 64
#: Rows and columns of the entries of a symmetric matrix in the order they are kept in, none of them
#: below the diagonal.
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class _Room(threading.local):
    """Memory of a thread to work in: what is asked for anew comes in new pages each time.

    It stays, 5.4 MB a thread at most, with numbers of the last records in it: in the process that
    holds the records, and never sent.
    """

    def __init__(self) -> None:
        self.rows = np.empty((41, CHUNK))


_ROOM = _Room()


@dataclass(frozen=True)
class Logarithms:
    """Logarithms of n matrices, an array for each entry.

    Attributes
    ----------
    entries : ndarray, shape (k (k + 1) / 2, n)
        Those on the diagonal, then those above it, row by row; zeros for the matrices outside.
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
    found = Logarithms(np.empty((6, n)), np.empty(n), np.empty(n, dtype=bool))
    if n <= _VERY_FEW:
        for i, matrix in enumerate(matrices.tolist()):
            one = _of_one(matrix)
            found.outside[i] = one is None
            found.entries[:, i], found.condition[i] = one or (0.0, 0.0)
        return found
    size = -(-n // -(-n // CHUNK))  # chunks of one length
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        part = Logarithms(found.entries[:, rows], found.condition[rows], found.outside[rows])
        _fill(matrices[rows], part, _ROOM.rows[:, : rows.stop - start])
    return found


def congruent_3x3(factor: FloatArray, matrices: FloatArray) -> FloatArray:
    """``P X P^T``, of which the lower triangles are written, as those of X are read.

    Parameters
    ----------
    factor : ndarray, shape (3, 3)
        P, lower triangular.
    matrices : ndarray, shape (n, 3, 3)
        X.

    Returns
    -------
    ndarray, shape (n, 3, 3)
    """
    (p, _, _), (q, r, _), (x, y, z) = factor.tolist()
    a, b, c, d, e, f = (np.ascontiguousarray(matrices[:, j, i]) for i, j in PLACES)
    with np.errstate(all="ignore"):  # of matrices that turn out to be outside
        # the second and the last row of P X, as far as they are needed
        left, right = q * a + r * d, q * d + r * b
        near, far = x * a + y * d + z * e, x * d + y * b + z * f
        corner = x * e + y * f + z * c
        seen = np.zeros((len(matrices), 3, 3))
        seen[:, 0, 0], seen[:, 1, 0] = p * (p * a), p * left
        seen[:, 1, 1], seen[:, 2, 0] = q * left + r * right, p * near
        seen[:, 2, 1] = q * near + r * far
        seen[:, 2, 2] = x * near + y * far + z * corner
    return seen


def _of_one(matrix: list[list[float]]) -> tuple[list[float], float] | None:
    """Do to the numbers of a matrix what :func:`_fill` does, operation by operation.

    NumPy takes as long for one matrix as for dozens.

    Returns
    -------
    entries : list of float
    condition : float
        None of both where the matrix is outside.
    """
    (a, _, _), (d, b, _), (e, f, c) = matrix
    trace = a + b + c
    least = trace * LEAST_PIVOT
    if not (LEAST_TRACE < trace < LARGEST_TRACE and a > least):
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
    cc, ff = adjoint[2], adjoint[5]
    if not cc > least * a:
        return None
    third = c - (e * e + ff / cc * ff) / a
    if not third > least:
        return None
    det = cc * third
    limits, product = classes(3).limits, trace * minors / det
    if not 0.0 < product <= limits[-1]:
        return None
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
    beta, gamma = first + last, zeroth + first
    alpha = constant * gamma - beta + (m - t + (1.0 - constant)) * first + exponent * LOG_2
    beta, gamma = beta * scale, gamma * square
    entries = [x * beta - y * gamma for x, y in zip((a, b, c, d, e, f), adjoint, strict=True)]
    return [*(x + alpha for x in entries[:3]), *entries[3:]], product - _EXCESS


def _fill(matrices: FloatArray, found: Logarithms, room: FloatArray) -> None:
    """Compute :func:`logarithms_3x3` of a chunk, in place, in the memory that is given."""
    kept, work, taken = room[:15], room[15:20], room[20:]
    limits, product = classes(3).limits, work[0]
    with np.errstate(all="ignore"):  # of matrices that turn out to be outside
        definite = _invariants(matrices, kept, work)
        np.subtract(product, _EXCESS, out=found.condition)
        if (definite & (product <= limits[0])).all():
            found.outside[:] = False
            return _sum(0, kept, found.entries, work)
        which = np.zeros(len(matrices), dtype=np.int8)
        for limit in limits:
            which += ~(product <= limit)
        definite &= which < len(limits)
        np.logical_not(definite, out=found.outside)
        found.condition[found.outside] = 0.0
        found.entries[:, found.outside] = 0.0
        for one in range(len(limits)):
            few = np.flatnonzero((which == one) & definite)
            some = taken[:, : len(few)]
            for row, values in zip(some, kept, strict=False):
                np.take(values, few, out=row, mode="clip")
            _sum(one, some[:15], some[15:], work[:, : len(few)])
            for row, values in zip(found.entries, some[15:], strict=True):
                row[few] = values
    return None


def _invariants(matrices: FloatArray, found: FloatArray, work: FloatArray) -> NDArray[np.bool_]:
    """Write entries, adjugate and characteristic polynomial into ``found``.

    Parameters
    ----------
    matrices : ndarray, shape (n, 3, 3)
    found : ndarray, shape (15, n)
        Entries and adjugate in the order of :class:`Logarithms`, then trace, sum of the
        principal minors, determinant.
    work : ndarray, shape (5, n)
        Of which the first row is ``tr(A) tr(A^-1)`` afterwards.

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether pivots and minors tell that a matrix is positive definite, of a trace in range.
    """
    for entry, (i, j) in zip(found, PLACES, strict=False):
        entry[:] = matrices[:, j, i]
    a, b, c, d, e, f = found[:6]
    _, _, cc, _, _, ff, trace, minors, det = found[6:]
    ratio, least, third, _, _ = work
    for adjoint, (p, q, r, s, product) in zip(
        found[6:],
        (
            (b, c, f, f, ratio),
            (a, c, e, e, third),  # of which more is needed
            (a, b, d, d, ratio),
            (e, f, d, c, ratio),
            (d, f, e, b, ratio),
            (d, e, f, a, ratio),
        ),
        strict=False,
    ):
        np.multiply(p, q, out=adjoint)
        np.multiply(r, s, out=product)
        np.subtract(adjoint, product, out=adjoint)
    np.add(a, b, out=trace)
    trace += c
    np.add(found[6], found[7], out=minors)
    minors += cc
    np.divide(ff, cc, out=ratio)
    ratio *= ff
    third += ratio
    third /= a
    np.subtract(c, third, out=third)
    np.multiply(cc, third, out=det)
    np.multiply(trace, minors, out=ratio)
    ratio /= det
    np.multiply(trace, LEAST_PIVOT, out=least)
    definite: NDArray[np.bool_] = a > least
    definite &= third > least
    least *= a
    for holds in (cc > least, ratio > 0.0, trace > LEAST_TRACE, trace < LARGEST_TRACE):
        definite &= holds
    return definite


def _sum(which: int, invariants: FloatArray, entries: FloatArray, work: FloatArray) -> None:
    """Write the logarithms of matrices of one class into ``entries``; overwrite the others.

    With ``P_i = sum_j w_j s_j^i / det(A + s_j I)``, t the trace, m the sum of the principal minors:
    ``log A = (P_1 + P_2) (A - I) + (P_0 + P_1) (det A I - adj A) + P_1 (m - t + 1 - det A) I``.
    """
    fraction = fractions()[which]
    trace, minors, det = invariants[12:]
    scale, zeroth, first, second, square = work
    np.multiply(trace, classes(3).levels[which], out=scale)
    # the exponent that frexp gives, of positive normal numbers, and 1022 more
    bits, shift = scale.view(np.int64), entries[5]
    bits >>= 52
    np.copyto(shift, bits)
    np.subtract(2045, bits, out=bits)
    bits <<= 52
    np.multiply(scale, scale, out=square)
    trace *= scale
    minors *= square
    det *= square
    det *= scale
    pole_sums = _few_sums if len(scale) <= _FEW else _many_sums
    pole_sums(fraction, invariants[12:], work[1:])
    second += first
    zeroth += first
    minors -= trace
    np.subtract(1.0, det, out=square)
    minors += square
    minors *= first
    det *= zeroth
    det -= second
    det += minors
    shift -= 1022.0
    shift *= LOG_2
    det += shift
    second *= scale
    zeroth *= scale
    zeroth *= scale
    for entry, value, adjoint in zip(entries, invariants, invariants[6:], strict=False):
        np.multiply(value, second, out=entry)
        np.multiply(adjoint, zeroth, out=adjoint)
        np.subtract(entry, adjoint, out=entry)
    for entry in entries[:3]:
        np.add(entry, det, out=entry)


def _many_sums(fraction: Fraction, polynomial: FloatArray, found: FloatArray) -> None:
    """Add ``w s^i / det(A + s I)`` over the poles, i = 0, 1, 2, pole by pole.

    Parameters
    ----------
    fraction : Fraction
    polynomial : ndarray, shape (3, n)
        Trace, sum of the principal minors, determinant.
    found : ndarray, shape (4, n)
        Three rows of sums afterwards, and one to work in.
    """
    trace, minors, det = polynomial
    zeroth, first, second, term = found
    for j, (s, w) in enumerate(zip(fraction.shifts, fraction.weights, strict=True)):
        np.add(trace, s, out=term)
        term *= s
        term += minors
        term *= s
        term += det
        if j == 0:
            np.divide(w, term, out=zeroth)
            np.multiply(zeroth, s, out=first)
            np.multiply(first, s, out=second)
            continue
        np.divide(w, term, out=term)
        zeroth += term
        term *= s
        first += term
        term *= s
        second += term


def _few_sums(fraction: Fraction, polynomial: FloatArray, found: FloatArray) -> None:
    """Compute :func:`_many_sums`, all poles at a time, in the same order of operations."""
    s = np.array(fraction.shifts)[:, None]
    trace, minors, det = polynomial
    terms = (trace + s) * s
    terms += minors
    terms *= s
    terms += det
    np.divide(np.array(fraction.weights)[:, None], terms, out=terms)
    for total in found[:3]:
        # in order; a sum might be by pairs
        total[:] = np.add.accumulate(terms, axis=0)[-1]
        terms *= s
