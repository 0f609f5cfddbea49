"""Logarithms of larger symmetric matrices at public poles, as loops for a compiler.

Plain Python, which numba compiles on demand: :mod:`riemdp.spaces._logarithms`. The lanes of a
processor hold matrices side by side, and no lane looks at another one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._lanes import WIDE, choose, get, lanes, put, root
from riemdp.spaces._log_fractions import WIDER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray

_LOG_2 = math.log(2.0)
#: Under it the square of a column below the diagonal, of a matrix of trace 1, is as good as zero.
_NOTHING = 1e-280


def rows_of_work(k: int, poles: int) -> int:
    """Rows that :func:`kernel` works in, of k x k matrices and so many poles at most."""
    return k * (k + 1) + 9 * k + 2 * poles


def kernel(  # noqa: PLR0917
    matrices: FloatArray,
    bottoms: FloatArray,
    counts: NDArray[np.int64],
    shifts: FloatArray,
    weights: FloatArray,
    extremes: FloatArray,
    work: FloatArray,
    logs: FloatArray,
    condition: FloatArray,
    outside: NDArray[np.bool_],
) -> None:
    """Compute logarithms of n symmetric matrices, in place.

    Householder reflections make them tridiagonal, which at each pole has an inverse with one
    division a row and one multiplication an entry; the sum is reflected back.

    Parameters
    ----------
    matrices : ndarray, shape (n, k, k)
        Of which the lower triangles are read.
    bottoms : ndarray, shape (c,)
        Of the classes: no eigenvalue may lie under it, where the largest is at most 2.
    counts : ndarray of int, shape (c,)
        Numbers of poles.
    shifts, weights : ndarray, shape (c, p)
        Poles of each class, p even; weights beyond their number are zero.
    extremes : ndarray, shape (3,)
        Least and largest trace, and the largest product of the traces of a matrix and its inverse.
    work : ndarray, shape (rows_of_work(k, p), WIDE)
    logs : ndarray, shape (n, k (k + 1) / 2)
        Diagonal, then what is above it, row by row; zeros for matrices outside.
    condition : ndarray, shape (n,)
        Upper bounds of ``c + 1/c``, c the condition numbers; 0 of matrices outside. By Cauchy and
        Schwarz ``tr(A) tr(A^-1)`` is at least the square of ``sqrt(c) + 1/sqrt(c) + k - 2``, with
        equality where all other eigenvalues equal the geometric mean of the extreme ones.
    outside : ndarray of bool, shape (n,)
    """
    total, k = len(matrices), matrices.shape[1]
    count, half = len(bottoms), k * (k + 1) // 2
    # lower triangles, row by row; reflections take the place of what they make zero
    x, y, rest = work[:half], work[half : 2 * half], work[2 * half :]
    diagonal, beside, factor = rest[:k], rest[k : 2 * k], rest[2 * k : 3 * k]
    u, v = rest[3 * k : 4 * k], rest[4 * k : 5 * k]
    # of two poles: weighted entries on the diagonal, and minus factors of the row above
    one, first = rest[5 * k : 6 * k], rest[6 * k : 7 * k]
    two, second = rest[7 * k : 8 * k], rest[8 * k : 9 * k]
    s, w = rest[9 * k : 9 * k + shifts.shape[1]], rest[9 * k + shifts.shape[1] :]
    traces = np.empty(WIDE)
    taken = np.full(WIDE, -1)
    which = np.full(WIDE, 0)
    exponents = np.full(WIDE, 0)
    size = np.empty(1)
    bits = size.view(np.int64)
    zero = lanes(0.0)
    for begin in range(0, total, WIDE):
        used = min(WIDE, total - begin)
        for m in range(WIDE):
            at = begin + min(m, used - 1)
            trace = 0.0
            for i in range(k):
                trace += matrices[at, i, i]
            outside[at] = not (extremes[0] < trace < extremes[1])
            size[0] = 1.0 if outside[at] else trace
            exponents[m] = (bits[0] >> 52) - 1023
            bits[0] = (1023 - exponents[m]) << 52  # trace times it is in [1, 2)
            traces[m] = trace * size[0]
            row = 0
            for i in range(k):
                for j in range(i + 1):
                    x[row + j, m] = matrices[at, i, j] * size[0]
                row += i + 1
        # to tridiagonal form: A <- (I - q u u^T) A (I - q u u^T)
        for c in range(k - 2):
            low = (c + 1) * (c + 2) // 2  # where row c + 1 begins
            square = zero
            row = low
            for i in range(c + 1, k):
                now = get(x, row + c)
                put(u, i, now)
                square = square + now * now
                row += i + 1
            head, length = get(u, c + 1), root(square)
            length = choose(head, length, zero - length)
            reach = length * (length + head)
            q = choose(reach - _NOTHING, 1.0 / reach, zero)
            put(beside, c, choose(reach - _NOTHING, zero - length, zero))
            put(factor, c, q)
            put(u, c + 1, head + length)
            put(x, low + c, head + length)
            # w = q A u - q^2/2 (u^T A u) u
            row = low
            for i in range(c + 1, k):
                of, now = get(u, i), get(x, row + i) * get(u, i)
                for j in range(c + 1, i):
                    entry = get(x, row + j)
                    now = now + entry * get(u, j)
                    put(v, j, get(v, j) + entry * of)
                put(v, i, now)
                row += i + 1
            dot = zero
            for i in range(c + 1, k):
                now = get(v, i) * q
                put(v, i, now)
                dot = dot + now * get(u, i)
            dot = 0.5 * q * dot
            row = low
            for i in range(c + 1, k):
                of = get(u, i)
                now = get(v, i) - dot * of
                put(v, i, now)
                for j in range(c + 1, i + 1):
                    put(x, row + j, get(x, row + j) - (of * get(v, j) + now * get(u, j)))
                row += i + 1
        row = 0
        for i in range(k):
            put(diagonal, i, get(x, row + i))
            row += i + 1
        put(beside, k - 2, get(x, half - 2))
        # pivots; minus their derivatives, which give the trace of the inverse; Gershgorin's discs
        pivot, slope = get(diagonal, 0), lanes(1.0)
        least, inverse = pivot, 1.0 / pivot
        above = zero
        top = zero
        for i in range(k):
            below = zero
            if i < k - 1:
                below = get(beside, i)
                below = choose(below, below, zero - below)
            reach = get(diagonal, i) + (above + below)
            top = choose(reach - top, reach, top)
            above = below
        for i in range(1, k):
            ratio = get(beside, i - 1) / pivot
            pivot = get(diagonal, i) - get(beside, i - 1) * ratio
            slope = 1.0 + ratio * ratio * slope
            inverse = inverse + slope / pivot
            least = choose(least - pivot, pivot, least)
        put(one, 0, least)
        put(one, 1, inverse)
        put(one, 2, top)
        # the power of two above the spectrum, and the first class whose interval holds it
        for m in range(WIDE):
            size[0] = WIDER * one[2, m]
            if not 0.0 < size[0] < math.inf:
                size[0] = 1.0
            bits[0] = (bits[0] >> 52) << 52
            two[0, m] = size[0]
            exponents[m] += (bits[0] >> 52) - 1023
            which[m] = count
        unit = get(two, 0)
        for c in range(count):
            level = bottoms[c] * unit
            pivot = get(diagonal, 0) - level
            least = pivot
            for i in range(1, k):
                pivot = get(diagonal, i) - level - get(beside, i - 1) * (get(beside, i - 1) / pivot)
                least = choose(least - pivot, pivot, least)
            put(one, 3, least)
            found = 0
            for m in range(WIDE):
                if which[m] == count and one[3, m] > 0.0:
                    which[m] = c
                found += which[m] < count
            if found == WIDE:
                break
        poles = 0
        for m in range(WIDE):
            at = begin + min(m, used - 1)
            product = traces[m] * one[1, m]
            definite = which[m] < count and one[0, m] > 0.0 and product <= extremes[2]
            outside[at] = outside[at] or not definite
            base = math.sqrt(product) - (k - 2.0) if definite else 0.0
            condition[at] = 0.0 if outside[at] else max(base * base - 2.0, 1.0)
            which[m] = 0 if outside[at] else which[m]
            poles = max(poles, counts[which[m]])
            if which[m] != taken[m]:
                taken[m] = which[m]
                for j in range(shifts.shape[1]):
                    s[j, m], w[j, m] = shifts[which[m], j], weights[which[m], j]
        for i in range(k):
            put(diagonal, i, get(diagonal, i) / unit)
        for i in range(k - 1):
            put(beside, i, get(beside, i) / unit)
        for i in range(half):
            put(y, i, zero)
        for j in range(0, poles, 2):
            s1, s2, w1, w2 = get(s, j), get(s, j + 1), get(w, j), get(w, j + 1)
            p1, p2 = 1.0 / (get(diagonal, 0) + s1), 1.0 / (get(diagonal, 0) + s2)
            put(one, 0, p1)
            put(two, 0, p2)
            for i in range(1, k):
                off, here = get(beside, i - 1), get(diagonal, i)
                r1, r2 = off * p1, off * p2
                put(first, i - 1, zero - r1)
                put(second, i - 1, zero - r2)
                p1, p2 = 1.0 / (here + s1 - off * r1), 1.0 / (here + s2 - off * r2)
                put(one, i, p1)
                put(two, i, p2)
            p1, p2 = w1 * p1, w2 * p2
            put(one, k - 1, p1)
            put(two, k - 1, p2)
            for i in range(k - 2, -1, -1):
                r1, r2 = get(first, i), get(second, i)
                p1 = w1 * get(one, i) + r1 * r1 * p1
                p2 = w2 * get(two, i) + r2 * r2 * p2
                put(one, i, p1)
                put(two, i, p2)
            row = 0
            for i in range(k):
                p1, p2 = get(one, i), get(two, i)
                put(y, row + i, get(y, row + i) + p1 + p2)
                for c in range(i - 1, -1, -1):
                    p1, p2 = p1 * get(first, c), p2 * get(second, c)
                    put(y, row + c, get(y, row + c) + p1 + p2)
                row += i + 1
        # (T - I) M
        row = 0
        for i in range(k):
            left = zero
            for j in range(i + 1):
                here = get(y, row + j)
                now = (get(diagonal, j) - 1.0) * here
                if j > 0:
                    now = now + get(beside, j - 1) * left
                if j < i:
                    now = now + get(beside, j) * get(y, row + j + 1)
                elif i < k - 1:
                    now = now + get(beside, i) * get(y, row + 2 * i + 1)
                put(y, row + j, now)
                left = here
            row += i + 1
        # back: A <- (I - q u u^T) A (I - q u u^T)
        for c in range(k - 3, -1, -1):
            q = get(factor, c)
            low = (c + 1) * (c + 2) // 2
            row = low
            for i in range(c + 1, k):
                put(u, i, get(x, row + c))
                row += i + 1
            for j in range(c + 1):
                put(v, j, zero)
            row = low
            for i in range(c + 1, k):
                of = get(u, i)
                for j in range(c + 1):
                    put(v, j, get(v, j) + get(y, row + j) * of)
                now = get(y, row + i) * of
                for j in range(c + 1, i):
                    entry = get(y, row + j)
                    now = now + entry * get(u, j)
                    put(v, j, get(v, j) + entry * of)
                put(v, i, now)
                row += i + 1
            dot = zero
            for j in range(c + 1):
                put(v, j, get(v, j) * q)
            for i in range(c + 1, k):
                now = get(v, i) * q
                put(v, i, now)
                dot = dot + now * get(u, i)
            dot = 0.5 * q * dot
            row = low
            for i in range(c + 1, k):
                of = get(u, i)
                now = get(v, i) - dot * of
                put(v, i, now)
                for j in range(c + 1):
                    put(y, row + j, get(y, row + j) - of * get(v, j))
                for j in range(c + 1, i + 1):
                    put(y, row + j, get(y, row + j) - (of * get(v, j) + now * get(u, j)))
                row += i + 1
        for m in range(used):
            at = begin + m
            if outside[at]:
                logs[at] = 0.0
                continue
            shift = exponents[m] * _LOG_2
            row = 0
            to = k
            for i in range(k):
                logs[at, i] = y[row + i, m] + shift
                row += i + 1
                next_row = row
                for j in range(i + 1, k):
                    logs[at, to] = y[next_row + i, m]
                    next_row += j + 1
                    to += 1
