"""The logarithm of the regularised incomplete beta function ``I_x(h, h)``, in bulk."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from riemdp._errors import ConvergenceError

if TYPE_CHECKING:
    from riemdp.privacy._budget import FloatArray

#: Whole numbers ``h`` whose finite sum takes fewer terms than the table.
_SHORT = range(2, 9)
#: Largest ``h`` whose power series is in ``x`` itself; beyond, the function of ``x`` bends within
#: ``1/sqrt(h)`` of 1/2 and the series is in a fraction of that many such lengths.
_STRAIGHT, _LENGTHS = 31.5, 6.0


def log_beta(h: float, log_x: FloatArray, log_product: FloatArray) -> FloatArray:
    """``log I_x(h, h)`` for ``x <= 1/2`` (a little more is allowed), given ``log x(1-x)`` too."""
    if h == 1.0:
        return log_x
    if h in _SHORT:  # x^h sum_j C(h - 1 + j, j) (1 - x)^j, all terms positive
        y = np.exp(log_product - log_x)
        total = np.ones_like(y)
        for j in range(int(h) - 1, 0, -1):
            total *= y
            total *= (h - 1.0 + j) / j
            total += 1.0
        return np.asarray(h * log_x + np.log(total))
    last, *others = _horner(h)
    u = _place(h, np.exp(log_x))
    value = np.empty_like(u)
    value[...] = last
    for coefficient in others:
        value *= u
        value += coefficient
    value += h * log_product
    return value


@functools.cache
def _horner(h: float) -> tuple[FloatArray, ...]:
    """Coefficients, the last first, as arrays without axes, which are added quicker than floats."""
    return tuple(map(np.asarray, beta_table(h)[::-1]))


def _place(h: float, x: FloatArray) -> FloatArray:
    """Variable of the series, on [-1, 1]: ``4x - 1``, or the fraction for large ``h``."""
    if h <= _STRAIGHT:
        return 4.0 * x - 1.0
    unit = _LENGTHS / math.sqrt(h)
    return 4.0 * unit * x / (1.0 - 2.0 * x + unit) - 1.0


def _share(h: float, u: FloatArray) -> FloatArray:
    """Inverse of :func:`_place`."""
    half = 0.25 * (u + 1.0)
    if h <= _STRAIGHT:
        return half
    unit = _LENGTHS / math.sqrt(h)
    return half * (1.0 + unit) / (2.0 * half + unit)


@functools.cache
def beta_table(h: float) -> tuple[float, ...]:
    """Power series in :func:`_place` of ``log(I_x(h, h) / (x(1-x))^h)`` for x in [0, 1/2].

    Interpolated at Chebyshev nodes; the values are series of positive terms,
    ``I_x(h, h) = (x(1-x))^h / (h B(h, h)) sum_n (2h)_n/(h+1)_n x^n``. The constant is that of the
    beta function; for large ``h``, where its logarithm loses digits, that of ``I_{1/2} = 1/2``.
    """

    def values(u: FloatArray) -> FloatArray:
        x = _share(h, u)
        term, total = np.ones_like(x), np.ones_like(x)
        for n in range(100 + int(32.0 * math.sqrt(h))):
            term = term * x * ((2.0 * h + n) / (h + 1.0 + n))
            total += term
        return np.asarray(np.log(total))

    chebyshev = np.polynomial.chebyshev
    interpolant: Any = chebyshev.chebinterpolate(values, 32 if h > 12.0 else 28)
    series = chebyshev.cheb2poly(interpolant)
    between = np.linspace(-1.0, 1.0, 101)
    error = np.max(np.abs(np.polynomial.polynomial.polyval(between, series) - values(between)))
    if h <= _STRAIGHT:
        series[0] -= math.log(h) + float(scipy.special.betaln(h, h))
    else:
        series[0] += (2.0 * h - 1.0) * math.log(2.0) - float(values(np.ones(1))[0])
    if error > 1e-12:
        raise ConvergenceError(
            f"no privacy curve is available in dimension {2.0 * h + 1.0:g}: the incomplete beta "
            "function is not accurate enough; use a lower dimension"
        )
    return tuple(float(c) for c in series)
