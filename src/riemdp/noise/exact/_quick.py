"""Normal variables in float64, with what they err by: a table of them at a time.

Elementary operations alone, all correctly rounded: no function of a library of mathematics. The
bounds are derived in docs/proofs/exact-draws, "Many draws at once".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

    Words = NDArray[np.uint64]

#: Relative and absolute error of the variables.
SHARE, REST = 10.0 * 2.0**-53, 2.0**-55
#: Uniform variables below ``2^-12``, and lengths whose square is below this, are left open.
_HALVINGS, _SHORTEST = 11, 2.0**-12
#: The logarithm of 4.
_LOG4 = 2.0 * 0.6931471805599453
#: Coefficients of artanh(s)/s, sin(x)/x and cos(x) in squares.
_ARTANH = [1.0 / (2 * j + 1) for j in range(17)]
_SINE = [(-1) ** j / math.factorial(2 * j + 1) for j in range(9)]
_COSINE = [(-1) ** j / math.factorial(2 * j) for j in range(10)]


def _series(coefficients: list[float], x: FloatArray) -> FloatArray:
    total = coefficients[-1] * x
    for coefficient in coefficients[-2:0:-1]:
        total += coefficient
        total *= x
    total += coefficients[0]
    return total


def quick_normals(words: Words, scale: float = 1.0) -> FloatArray:
    """Return ``scale sqrt(-2 log U) (cos, sin)(2 pi V)``, NaN where they are left open.

    ``scale`` multiplies with two more roundings than :data:`SHARE` counts.

    Parameters
    ----------
    words : ndarray of int, shape (..., an even number)
        The first 64 bits of uniform variables U and V, in turn.
    scale : float, default 1.0
    """
    first, second = words[..., ::2], words[..., 1::2]
    whole = (first >> np.uint64(11)).astype(np.float64)
    halvings = 1075 - (whole.view(np.int64) >> 52)
    fall = (np.uint64(0) - (first << halvings.view(np.uint64))).astype(np.float64)
    fall *= 2.0**-64
    s = fall / (2.0 - fall)
    length = _series(_ARTANH, s * s)
    length *= s
    length *= 4.0
    length += halvings * _LOG4
    length[(halvings > _HALVINGS) | (length < _SHORTEST)] = np.nan
    np.sqrt(length, out=length)
    length *= scale
    octant = second >> np.uint64(61)
    # An odd octant is seen from its end.
    mirror = np.uint64(0) - (octant & np.uint64(1))
    angle = ((second ^ mirror) & np.uint64(2**61 - 1)).astype(np.float64)
    angle *= math.pi * 2.0**-63
    turned = angle * angle
    cosine = _series(_COSINE, turned)
    sine = _series(_SINE, turned)
    sine *= angle
    swapped = ((octant + np.uint64(1)) & np.uint64(2)).astype(bool)
    x, y = np.where(swapped, sine, cosine), np.where(swapped, cosine, sine)
    x.view(np.uint64)[...] ^= ((octant + np.uint64(2)) & np.uint64(4)) << np.uint64(61)
    y.view(np.uint64)[...] ^= (octant & np.uint64(4)) << np.uint64(61)
    found = np.empty(words.shape)
    np.multiply(x, length, out=found[..., ::2])
    np.multiply(y, length, out=found[..., 1::2])
    return found
