"""How far noise in one tangent space takes a point, under negative curvature."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from riemdp.noise._radial import RadialLaw

if TYPE_CHECKING:
    from riemdp._potential import Kind
    from riemdp.spaces import FloatArray

#: Lengths of the noise, at the middles of shares of equal probability, and angles.
_LENGTHS, _ANGLES = 64, 32
#: Longest side, in units of the curvature's radius, whose hyperbolic sine float64 holds.
_LONGEST = 300.0


@functools.lru_cache(maxsize=256)
def hinge_distance(noise: RadialLaw, k: float, length: float) -> float:
    """Mean distance of ``exp(v)`` and ``exp(v + noise)`` in the curvature ``-k^2``, at ``|v|``.

    On a Hadamard space whose curvature is at least that it is an upper bound (Toponogov), and it
    grows with the length. By a quadrature that is good to about a percent: it ranks mechanisms, and
    no guarantee rests on it.

    Parameters
    ----------
    noise : RadialLaw
        Of the length of the noise, whose direction is uniform; on ``R^dim``.
    k : float
        Positive.
    length : float
        Of v.

    Returns
    -------
    float

    References
    ----------
    docs/proofs/wrapped-noise.md
    """
    lengths, cosines, weights = _nodes(noise.kind, noise.dim)
    side, radius = k * length, k * noise.sigma * lengths[:, None]
    # Beyond, the distance is the sum of both sides, but for a bounded number.
    near = np.minimum(radius, _LONGEST)
    other = np.sqrt(side**2 + near**2 + 2.0 * side * near * cosines)
    gap = other - side
    # sin^2 of half the angle between the sides, by the law of cosines
    half = np.clip((near**2 - gap**2) / (4.0 * side * np.maximum(other, 1e-300)), 0.0, 1.0)
    first, second = np.minimum(side, _LONGEST), np.minimum(other, _LONGEST)
    across = np.sinh(0.5 * (second - first)) ** 2 + np.sinh(first) * np.sinh(second) * half
    distance = 2.0 * np.arcsinh(np.sqrt(across)) + (radius - near)
    return float(np.mean(distance @ weights) / k)


@functools.lru_cache(maxsize=64)
def _nodes(kind: Kind, dim: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lengths of noise of scale 1, and cosines of its angle with weights."""
    import scipy.special

    middles = (np.arange(_LENGTHS) + 0.5) / _LENGTHS
    lengths = RadialLaw(kind, dim, 0.0, 1.0).quantile(middles)
    if dim == 1:
        return lengths, np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    cosines, weights = scipy.special.roots_gegenbauer(_ANGLES, 0.5 * (dim - 2))
    return lengths, cosines, weights / weights.sum()
