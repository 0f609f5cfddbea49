"""Logarithms of 3 x 3 matrices at public poles, as loops for a compiler.

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
#: So that rows do not begin at the same place of the cache.
_PAD = 8
_LOG_2 = math.log(2.0)


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
