"""Spherical caps: the share of a sphere within an angle, its logarithm, and draws in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray

#: Below this the incomplete beta function is about to underflow and its series takes over.
_TINY = 1e-250


def log_cap_share(x: FloatArray, dim: int) -> FloatArray:
    """Log share of the unit sphere of R^dim with ``(1 - cos angle)/2 <= x``, for x in (0, 1).

    ``log I_x(h, h)``, ``h = (dim - 1)/2``, right where the share itself underflows; of two points
    in dimension one.
    """
    if dim == 1:
        return np.full_like(x, -math.log(2.0))
    h = 0.5 * (dim - 1)
    share = scipy.special.betainc(h, h, x)
    tiny = share < _TINY
    result = np.log(np.where(tiny, 1.0, share))
    if tiny.any():
        result[tiny] = _log_small_share(np.maximum(x[tiny], np.finfo(np.float64).tiny), h)
    return result


def sample_cap(x: FloatArray, dim: int, generator: np.random.Generator) -> FloatArray:
    """Draw ``(1 - cos angle)/2``, in [0, x], for uniform points of caps of the sphere of R^dim.

    ``x`` is that number of each cap's opening angle, in (0, 1]; 1 is the whole sphere. In dimension
    one a cap short of the whole is the single point 0.
    """
    uniform = 1.0 - generator.random(x.shape)
    if dim == 1:
        return np.where((x >= 1.0) & (uniform > 0.5), 1.0, 0.0)
    h = 0.5 * (dim - 1)
    share = scipy.special.betainc(h, h, x)
    tiny = share < _TINY
    drawn = scipy.special.betaincinv(h, h, uniform * np.where(tiny, 1.0, share))
    if tiny.any():
        drawn[tiny] = _sample_small(x[tiny], uniform[tiny], h)
    return np.asarray(np.minimum(drawn, x))


def _sample_small(x: FloatArray, uniform: FloatArray, h: float) -> FloatArray:
    """Invert ``log I_y = log I_x + log uniform`` by Newton steps in log y.

    The share is log-concave in log y, so that steps from the tangent at x approach from below.
    """
    wanted = _log_small_share(x, h) + np.log(uniform)
    log_y = np.log(x) + np.log(uniform) * (1.0 - x) * _series(x, h) / h
    for _ in range(8):
        y = np.exp(log_y)
        log_y += (wanted - _log_small_share(y, h)) * (1.0 - y) * _series(y, h) / h
    return np.asarray(np.exp(log_y))


def _log_small_share(x: FloatArray, h: float) -> FloatArray:
    """``log I_x(h, h)`` for x well under 1/2, from ``I_x = (x(1-x))^h F(1, 2h; h+1; x)/(h B)``."""
    front = h * (np.log(x) + np.log1p(-x)) - math.log(h) - float(scipy.special.betaln(h, h))
    return np.asarray(front + np.log(_series(x, h)))


def _series(x: FloatArray, h: float) -> FloatArray:
    """Gauss' hypergeometric series ``F(1, 2h; h+1; x)``: positive terms, ratio under 2x."""
    term = np.ones_like(x)
    total = np.ones_like(x)
    n = 0
    while np.any(term > 1e-17 * total):
        term = term * x * ((2.0 * h + n) / (h + 1.0 + n))
        total += term
        n += 1
    return total
