"""Logarithms of symmetric matrices at public poles, as loops for a compiler.

Plain Python, which numba compiles on demand: :mod:`riemdp.manifolds._logarithms`. The lanes of a
processor hold matrices side by side, and no lane looks at another one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds._points import FloatArray

#: Matrices whose invariants are kept, and whose poles are summed, at a time.
_BLOCK, _LANES = 1024, 32
#: Larger matrices that are worked on side by side.
_WIDE = 8
#: So that rows do not begin at the same place of the cache.
_PAD = 8
_LOG_2 = math.log(2.0)
#: Under it a column below the diagonal, of a matrix of trace 1, is as good as zero.
_NOTHING = 1e-280


def kernel_3x3(  # noqa: PLR0917
    matrices: FloatArray,
    limits: FloatArray,
    levels: FloatArray,
    starts: NDArray[np.int64],
    shifts: FloatArray,
    weights: FloatArray,
    entries: FloatArray,
    condition: FloatArray,
    outside: NDArray[np.bool_],
) -> None:
    """Do what ``_log_fractions.logarithms_3x3`` does, operation by operation, in place.

    Parameters
    ----------
    matrices : ndarray, shape (n, 3, 3)
    limits, levels : ndarray, shape (c,)
        Of the classes; two more levels are the least and the largest trace.
    starts : ndarray of int, shape (c + 1,)
        Where the poles of each class begin.
    shifts, weights : ndarray
    entries : ndarray, shape (6, n)
    condition : ndarray, shape (n,)
    outside : ndarray of bool, shape (n,)
    """
    count = len(limits)
    kept = np.empty((15, _BLOCK + _PAD))
    products = np.empty(_BLOCK)
    order = np.empty(_BLOCK, dtype=np.int64)
    ends = np.empty(count + 2, dtype=np.int64)
    lane = np.empty((12, _LANES))
    exponents = np.empty(_LANES, dtype=np.int64)
    sizes = np.empty(_LANES)
    bits = sizes.view(np.int64)
    for begin in range(0, len(matrices), _BLOCK):
        n = min(_BLOCK, len(matrices) - begin)
        for i in range(n):
            a, b, c = (
                matrices[begin + i, 0, 0],
                matrices[begin + i, 1, 1],
                matrices[begin + i, 2, 2],
            )
            d, e, f = (
                matrices[begin + i, 1, 0],
                matrices[begin + i, 2, 0],
                matrices[begin + i, 2, 1],
            )
            aa, bb, cc = b * c - f * f, a * c - e * e, a * b - d * d
            trace = (a + b) + c
            minors = (aa + bb) + cc
            left, below = d / a, e / a
            second = b - left * d
            across = f - left * e
            third = c - below * e
            third = third - (across * across) / second
            det = (a * second) * third
            product = trace * minors / det
            definite = (a > 0.0) & (second > 0.0) & (third > 0.0)
            definite &= (trace > levels[count]) & (trace < levels[count + 1])
            definite &= product <= limits[count - 1]
            kept[0, i], kept[1, i], kept[2, i] = a, b, c
            kept[3, i], kept[4, i], kept[5, i] = d, e, f
            kept[6, i], kept[7, i], kept[8, i] = aa, bb, cc
            kept[9, i], kept[10, i], kept[11, i] = e * f - d * c, d * f - e * b, d * e - f * a
            kept[12, i], kept[13, i], kept[14, i] = trace, minors, det
            products[i] = product if definite else math.inf
            outside[begin + i] = not definite
            condition[begin + i] = product - 7.0 if definite else 0.0
        # matrices of one class side by side
        ends[:] = 0
        for i in range(n):
            which = 0
            while which < count and products[i] > limits[which]:
                which += 1
            ends[which + 1] += 1
        for which in range(count + 1):
            ends[which + 1] += ends[which]
        for i in range(n):
            which = 0
            while which < count and products[i] > limits[which]:
                which += 1
            order[ends[which]] = i
            ends[which] += 1
        first = 0
        for which in range(count):
            last = ends[which]
            for start in range(first, last, _LANES):
                used = min(_LANES, last - start)
                for i in range(_LANES):
                    at = order[start + min(i, used - 1)]
                    sizes[i] = kept[12, at] * levels[which]
                    exponents[i] = (bits[i] >> 52) - 1022
                    bits[i] = (1023 - exponents[i]) << 52
                    square = sizes[i] * sizes[i]
                    lane[0, i] = kept[12, at] * sizes[i]
                    lane[1, i] = kept[13, at] * square
                    lane[2, i] = kept[14, at] * square * sizes[i]
                lane[3:6] = 0.0
                for j in range(starts[which], starts[which + 1]):
                    s, w = shifts[j], weights[j]
                    for i in range(_LANES):
                        term = w / (((lane[0, i] + s) * s + lane[1, i]) * s + lane[2, i])
                        lane[3, i] += term
                        term = term * s
                        lane[4, i] += term
                        lane[5, i] += term * s
                for i in range(used):
                    at = order[start + i]
                    scale = sizes[i]
                    zeroth, one, two = lane[3, i] * (scale * scale), lane[4, i] * scale, lane[5, i]
                    a, b, c = kept[0, at], kept[1, at], kept[2, at]
                    d, e, f = kept[3, at], kept[4, at], kept[5, at]
                    aa = kept[6, at] * zeroth + (b + c) * one + two
                    bb = kept[7, at] * zeroth + (a + c) * one + two
                    cc = kept[8, at] * zeroth + (a + b) * one + two
                    dd = kept[9, at] * zeroth - d * one
                    ee = kept[10, at] * zeroth - e * one
                    ff = kept[11, at] * zeroth - f * one
                    a, b, c = a * scale - 1.0, b * scale - 1.0, c * scale - 1.0
                    d, e, f = d * scale, e * scale, f * scale
                    shift = exponents[i] * _LOG_2
                    entries[0, begin + at] = a * aa + d * dd + e * ee + shift
                    entries[1, begin + at] = d * dd + b * bb + f * ff + shift
                    entries[2, begin + at] = e * ee + f * ff + c * cc + shift
                    entries[3, begin + at] = a * dd + d * bb + e * ff
                    entries[4, begin + at] = a * ee + d * ff + e * cc
                    entries[5, begin + at] = d * ee + b * ff + f * cc
            first = last
        for start in range(first, n):
            entries[:, begin + order[start]] = 0.0


def kernel(  # noqa: PLR0917
    matrices: FloatArray,
    limits: FloatArray,
    levels: FloatArray,
    starts: NDArray[np.int64],
    shifts: FloatArray,
    weights: FloatArray,
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
    limits, levels, starts, shifts, weights, condition, outside
        As in :func:`kernel_3x3`.
    logs : ndarray, shape (n, k, k)
        Zeros for matrices outside.
    """
    total, k = len(matrices), matrices.shape[1]
    count = len(limits)
    block = max(_WIDE, 4096 // k // _WIDE * _WIDE)
    # by matrix: reflections (their vectors and factors), diagonal, what is beside it
    vectors = np.empty((block, k, k))
    factors, diagonals, besides = np.empty((3, block, k))
    products, scales, traces = np.empty((3, block))
    order = np.empty(block, dtype=np.int64)
    ends = np.empty(count + 2, dtype=np.int64)
    x = np.empty((k, k, _WIDE))
    y = np.empty((k, k, _WIDE))
    u, v, g = np.empty((3, k, _WIDE))
    p, q, r, t = np.empty((4, _WIDE))
    size = np.empty(1)
    bits = size.view(np.int64)
    for begin in range(0, total, block):
        n = min(block, total - begin)
        for start in range(0, n, _WIDE):
            used = min(_WIDE, n - start)
            for m in range(_WIDE):
                at = begin + start + min(m, used - 1)
                trace = 0.0
                for i in range(k):
                    trace += matrices[at, i, i]
                size[0] = trace if levels[count] < trace < levels[count + 1] else 1.0
                bits[0] = (2046 - (bits[0] >> 52)) << 52  # trace times it is in [1, 2)
                if m < used:
                    scales[start + m], traces[start + m] = size[0], trace
                for i in range(k):
                    for j in range(i + 1):
                        x[i, j, m] = matrices[at, i, j] * size[0]
            for c in range(k - 2):
                for m in range(_WIDE):
                    p[m] = 0.0
                for i in range(c + 1, k):
                    for m in range(_WIDE):
                        p[m] += x[i, c, m] * x[i, c, m]
                for m in range(_WIDE):
                    head = x[c + 1, c, m]
                    length = math.sqrt(p[m])
                    reach = length * (length + abs(head))
                    tiny = not reach > _NOTHING
                    q[m] = 0.0 if tiny else 1.0 / reach
                    u[c + 1, m] = head + (length if head >= 0.0 else -length)
                    t[m] = 0.0 if tiny else (-length if head >= 0.0 else length)
                for i in range(c + 2, k):
                    for m in range(_WIDE):
                        u[i, m] = x[i, c, m]
                # w = q A u - q^2/2 (u^T A u) u
                for i in range(c + 1, k):
                    for m in range(_WIDE):
                        v[i, m] = x[i, i, m] * u[i, m]
                for i in range(c + 2, k):
                    for j in range(c + 1, i):
                        for m in range(_WIDE):
                            v[i, m] += x[i, j, m] * u[j, m]
                            v[j, m] += x[i, j, m] * u[i, m]
                for m in range(_WIDE):
                    r[m] = 0.0
                for i in range(c + 1, k):
                    for m in range(_WIDE):
                        v[i, m] *= q[m]
                        r[m] += v[i, m] * u[i, m]
                for i in range(c + 1, k):
                    for m in range(_WIDE):
                        v[i, m] -= 0.5 * q[m] * r[m] * u[i, m]
                for i in range(c + 1, k):
                    for j in range(c + 1, i + 1):
                        for m in range(_WIDE):
                            x[i, j, m] -= u[i, m] * v[j, m] + v[i, m] * u[j, m]
                for m in range(used):
                    factors[start + m, c] = q[m]
                    besides[start + m, c] = t[m]
                    for i in range(c + 1, k):
                        vectors[start + m, c, i] = u[i, m]
            for m in range(used):
                at = start + m
                besides[at, k - 2] = x[k - 1, k - 2, m]
                for i in range(k):
                    diagonals[at, i] = x[i, i, m]
                # pivots and the trace of the inverse
                definite = (traces[at] > levels[count]) & (traces[at] < levels[count + 1])
                pivot = diagonals[at, k - 1]
                definite &= pivot > 0.0
                corner = 1.0
                inverse = 0.0
                pivot = diagonals[at, 0]
                definite &= pivot > 0.0
                g[0, 0] = pivot
                for i in range(1, k):
                    pivot = diagonals[at, i] - besides[at, i - 1] * (besides[at, i - 1] / pivot)
                    g[i, 0] = pivot
                    definite &= pivot > 0.0
                corner = 1.0 / g[k - 1, 0]
                inverse = corner
                for i in range(k - 2, -1, -1):
                    ratio = besides[at, i] / g[i, 0]
                    corner = 1.0 / g[i, 0] + ratio * ratio * corner
                    inverse += corner
                product = traces[at] * scales[at] * inverse
                definite &= product <= limits[count - 1]
                products[at] = product if definite else math.inf
                outside[begin + at] = not definite
                root = math.sqrt(product) - (k - 2.0) if definite else 0.0
                condition[begin + at] = max(root * root - 2.0, 1.0) if definite else 0.0
        ends[:] = 0
        for i in range(n):
            which = 0
            while which < count and products[i] > limits[which]:
                which += 1
            ends[which + 1] += 1
        for which in range(count + 1):
            ends[which + 1] += ends[which]
        for i in range(n):
            which = 0
            while which < count and products[i] > limits[which]:
                which += 1
            order[ends[which]] = i
            ends[which] += 1
        first = 0
        for which in range(count):
            last = ends[which]
            for start in range(first, last, _WIDE):
                used = min(_WIDE, last - start)
                for m in range(_WIDE):
                    at = order[start + min(m, used - 1)]
                    # another power of two: where the poles of the class want the trace
                    size[0] = traces[at] * scales[at] * levels[which]
                    bits[0] = (2045 - (bits[0] >> 52)) << 52
                    scales[at] *= size[0]
                    t[m] = size[0]
                    for i in range(k):
                        u[i, m] = diagonals[at, i] * size[0]
                    for i in range(k - 1):
                        v[i, m] = besides[at, i] * size[0]
                    if m >= used:
                        scales[at] /= size[0]
                x[:] = 0.0
                for pole in range(starts[which], starts[which + 1]):
                    s, w = shifts[pole], weights[pole]
                    # y[0]: inverse pivots; y[1]: minus factors of the row above
                    for m in range(_WIDE):
                        p[m] = 1.0 / (u[0, m] + s)
                        y[0, 0, m] = p[m]
                    for i in range(1, k):
                        for m in range(_WIDE):
                            ratio = v[i - 1, m] * p[m]
                            y[1, i - 1, m] = -ratio
                            p[m] = 1.0 / (u[i, m] + s - v[i - 1, m] * ratio)
                            y[0, i, m] = p[m]
                    for m in range(_WIDE):
                        q[m] = w * p[m]
                        g[k - 1, m] = q[m]
                        x[k - 1, k - 1, m] += q[m]
                    for i in range(k - 2, -1, -1):
                        for m in range(_WIDE):
                            ratio = y[1, i, m]
                            q[m] = w * y[0, i, m] + ratio * ratio * q[m]
                        for j in range(i + 1, k):
                            for m in range(_WIDE):
                                g[j, m] *= y[1, i, m]
                                x[j, i, m] += g[j, m]
                        for m in range(_WIDE):
                            g[i, m] = q[m]
                            x[i, i, m] += q[m]
                # (T - I) M, lower triangle
                for i in range(k):
                    for j in range(i + 1):
                        for m in range(_WIDE):
                            y[i, j, m] = (u[j, m] - 1.0) * x[i, j, m]
                    for j in range(1, i + 1):
                        for m in range(_WIDE):
                            y[i, j, m] += v[j - 1, m] * x[i, j - 1, m]
                    for j in range(i):
                        for m in range(_WIDE):
                            y[i, j, m] += v[j, m] * x[i, j + 1, m]
                    if i < k - 1:
                        for m in range(_WIDE):
                            y[i, i, m] += v[i, m] * x[i + 1, i, m]
                # back: A <- (I - q u u^T) A (I - q u u^T)
                for c in range(k - 3, -1, -1):
                    for m in range(_WIDE):
                        at = order[start + min(m, used - 1)]
                        q[m] = factors[at, c]
                        for i in range(c + 1, k):
                            u[i, m] = vectors[at, c, i]
                    for i in range(c + 1):
                        for m in range(_WIDE):
                            v[i, m] = 0.0
                    for i in range(c + 1, k):
                        for m in range(_WIDE):
                            v[i, m] = y[i, i, m] * u[i, m]
                        for j in range(c + 1):
                            for m in range(_WIDE):
                                v[j, m] += y[i, j, m] * u[i, m]
                    for i in range(c + 2, k):
                        for j in range(c + 1, i):
                            for m in range(_WIDE):
                                v[i, m] += y[i, j, m] * u[j, m]
                                v[j, m] += y[i, j, m] * u[i, m]
                    for m in range(_WIDE):
                        r[m] = 0.0
                    for i in range(c + 1, k):
                        for m in range(_WIDE):
                            r[m] += v[i, m] * u[i, m]
                    for i in range(k):
                        for m in range(_WIDE):
                            v[i, m] *= q[m]
                    for i in range(c + 1, k):
                        for m in range(_WIDE):
                            v[i, m] -= 0.5 * q[m] * q[m] * r[m] * u[i, m]
                    for i in range(c + 1, k):
                        for j in range(c + 1):
                            for m in range(_WIDE):
                                y[i, j, m] -= u[i, m] * v[j, m]
                        for j in range(c + 1, i + 1):
                            for m in range(_WIDE):
                                y[i, j, m] -= u[i, m] * v[j, m] + v[i, m] * u[j, m]
                for m in range(used):
                    at = order[start + m]
                    size[0] = scales[at]
                    shift = (1023 - (bits[0] >> 52)) * _LOG_2
                    for i in range(k):
                        for j in range(i):
                            logs[begin + at, i, j] = y[i, j, m]
                            logs[begin + at, j, i] = y[i, j, m]
                        logs[begin + at, i, i] = y[i, i, m] + shift
            first = last
        for start in range(first, n):
            logs[begin + order[start]] = 0.0
