"""Logarithms of 3 x 3 matrices at public poles, as loops for a compiler.

Plain Python, which numba compiles on demand: :mod:`riemdp.spaces._logarithms`. The lanes of a
processor hold matrices side by side, and no lane looks at another one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._lanes import WIDE, choose, get, lanes, put, read, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray

# Written here again, as numba keeps compiled code until this file changes.
_LOG_2 = math.log(2.0)
#: Pivots, as shares of the trace, at least.
_LEAST_PIVOT = 2.0**-43
#: By so much T exceeds the condition number, at least.
_EXCESS = 7.0


def rows_of_work(poles: int) -> int:
    """Rows that :func:`kernel_3x3` works in, of so many poles at most."""
    return 4 + 2 * poles


def kernel_3x3(  # noqa: PLR0917
    matrices: FloatArray,
    inverse: FloatArray,
    limits: FloatArray,
    levels: FloatArray,
    extremes: FloatArray,
    counts: NDArray[np.int64],
    shifts: FloatArray,
    weights: FloatArray,
    work: FloatArray,
    entries: FloatArray,
    condition: FloatArray,
    outside: NDArray[np.bool_],
) -> None:
    """Do what ``_log_fractions.logarithms_3x3`` does, operation by operation, in place.

    Of matrices as seen from elsewhere, once they are.

    Parameters
    ----------
    matrices : ndarray, shape (n, 3, 3)
    inverse : ndarray, shape (3, 3) or (0, 0)
        Lower triangular, P: logarithms are of ``P X P^T``, X the matrices; of X without any.
    limits, levels : ndarray, shape (c,)
        Of the classes.
    extremes : ndarray, shape (2,)
        Least and largest trace.
    counts : ndarray of int, shape (c,)
        Numbers of poles.
    shifts, weights : ndarray, shape (c, p)
        Poles of each class; weights beyond their number are zero, and add nothing.
    work : ndarray, shape (rows_of_work(p), WIDE)
    entries : ndarray, shape (6, n)
    condition : ndarray, shape (n,)
    outside : ndarray of bool, shape (n,)
    """
    n, count, width = len(matrices), len(limits), shifts.shape[1]
    numbers, results = matrices.reshape(-1), entries.reshape(-1)
    s, w = work[4 : 4 + width], work[4 + width :]
    taken = np.full(WIDE, -1)
    # the last few, and copies of the last one
    last, found = np.empty(9 * WIDE), np.empty(6 * WIDE)
    size = np.empty(1)
    bits = size.view(np.int64)
    zero, one = lanes(0.0), lanes(1.0)
    beyond = np.nextafter(limits[count - 1], math.inf)
    for begin in range(0, n, WIDE):
        used = min(WIDE, n - begin)
        source, at = numbers, 9 * begin
        if used < WIDE:
            for m in range(WIDE):
                for j in range(9):
                    last[9 * m + j] = numbers[9 * (begin + min(m, used - 1)) + j]
            source, at = last, 0
        a, b, c = read(source, at, 9), read(source, at + 4, 9), read(source, at + 8, 9)
        d, e, f = read(source, at + 3, 9), read(source, at + 6, 9), read(source, at + 7, 9)
        if len(inverse) > 0:
            p, q, r = inverse[0, 0], inverse[1, 0], inverse[1, 1]
            x, y, z = inverse[2, 0], inverse[2, 1], inverse[2, 2]
            # the second and the last row of P X, as far as they are needed
            left, right = q * a + r * d, q * d + r * b
            near, far = x * a + y * d + z * e, x * d + y * b + z * f
            corner = x * e + y * f + z * c
            a, d, b = p * (p * a), p * left, q * left + r * right
            e, f, c = p * near, q * near + r * far, x * near + y * far + z * corner
        aa, bb, cc = b * c - f * f, a * c - e * e, a * b - d * d
        dd, ee, ff = e * f - d * c, d * f - e * b, d * e - f * a
        trace = (a + b) + c
        minors = (aa + bb) + cc
        third = c - (e * e + (ff / cc) * ff) / a
        det = cc * third
        product = trace * minors / det
        least = trace * _LEAST_PIVOT
        # what is not a number is not positive
        definite = choose(beyond - product, choose(product, one, zero), zero)
        definite = choose(a - least, choose(third - least, definite, zero), zero)
        definite = choose(cc - least * a, definite, zero)
        if used < WIDE:
            for m in range(WIDE):
                work[0, m] = 1.0 if m < used else 0.0
            definite = choose(get(work, 0), definite, zero)
        definite = choose(extremes[1] - trace, choose(trace - extremes[0], definite, zero), zero)
        put(work, 0, definite)
        put(work, 1, choose(definite, product, zero))
        put(work, 2, trace)
        poles = 0
        for m in range(WIDE):
            which = 0
            while work[1, m] > limits[which]:
                which += 1
            poles = max(poles, counts[which])
            if which != taken[m]:
                taken[m] = which
                for j in range(width):
                    s[j, m], w[j, m] = shifts[which, j], weights[which, j]
            # the exponent that frexp gives, of positive normal numbers
            size[0] = work[2, m] * levels[which]
            exponent = (bits[0] >> 52) - 1022
            bits[0] = (1023 - exponent) << 52
            work[2, m] = size[0]
            work[3, m] = exponent * _LOG_2
        scale, shift = get(work, 2), get(work, 3)
        square = scale * scale
        trace, minors, det = trace * scale, minors * square, det * square * scale
        zeroth, first, second = zero, zero, zero
        for j in range(poles):
            pole = get(s, j)
            term = get(w, j) / (((trace + pole) * pole + minors) * pole + det)
            zeroth = zeroth + term
            term = term * pole
            first = first + term
            second = second + term * pole
        beta, gamma = first + second, zeroth + first
        alpha = (det * gamma - beta) + ((minors - trace) + (one - det)) * first + shift
        beta, gamma = beta * scale, gamma * square
        a = choose(definite, (a * beta - aa * gamma) + alpha, zero)
        b = choose(definite, (b * beta - bb * gamma) + alpha, zero)
        c = choose(definite, (c * beta - cc * gamma) + alpha, zero)
        d = choose(definite, d * beta - dd * gamma, zero)
        e = choose(definite, e * beta - ee * gamma, zero)
        f = choose(definite, f * beta - ff * gamma, zero)
        excess = choose(definite, product - _EXCESS, zero)
        for m in range(used):
            outside[begin + m] = work[0, m] == 0.0
        # where they go; of the last few, beside the others first
        target, at, step = results, begin, n
        if used < WIDE:
            target, at, step = found, 0, WIDE
        write(target, at, a)
        write(target, at + step, b)
        write(target, at + 2 * step, c)
        write(target, at + 3 * step, d)
        write(target, at + 4 * step, e)
        write(target, at + 5 * step, f)
        put(work, 1, excess)
        for m in range(used):
            condition[begin + m] = work[1, m]
            if used < WIDE:
                for j in range(6):
                    entries[j, begin + m] = found[j * WIDE + m]
