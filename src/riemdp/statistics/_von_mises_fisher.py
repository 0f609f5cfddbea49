"""Concentration of the von Mises-Fisher law, from the length of its mean vector."""

from __future__ import annotations

import math

#: Under it quotients of Bessel functions lose digits.
_LEAST = 1e-280
#: Beyond it a bound of the quotient has all digits.
_LARGE = 1e8
#: So many terms of the continued fraction are enough where Bessel functions underflow.
_TERMS = 100
#: Nearer to length 1 than this float64 does not tell Newton's steps from rounding.
_NEAR = 1e-6
_STEPS = 50


def mean_length(kappa: float, dim: int) -> float:
    """Return the length of the mean vector, ``I_{N/2}(kappa) / I_{N/2-1}(kappa)``, ``kappa > 0``.

    ``dim`` is N, that of the space around the sphere. The bound is from Amos, "Computation of
    modified Bessel functions and their ratios", Math. Comp. 1974.
    """
    import scipy.special

    order = 0.5 * dim - 1.0
    if kappa < _LARGE:
        below = float(scipy.special.ive(order, kappa))
        if below > _LEAST:
            return float(scipy.special.ive(order + 1.0, kappa)) / below
    terms = 0 if kappa >= _LARGE else _TERMS
    last = order + terms
    found = kappa / (last + 0.5 + math.hypot(last + 1.5, kappa))
    for j in range(terms, 0, -1):
        found = kappa / (2.0 * (order + j) + kappa * found)
    return found


def concentration(length: float, dim: int) -> float:
    """Return the concentration of the law whose mean vector has a length.

    ``dim`` is that of the space around the sphere. 0 where the length is not positive, ``inf``
    where it is 1 or more. Newton's method, as in Sra, "A short note on parameter approximation",
    Comput. Stat. 2012, from the approximation of Banerjee, Dhillon, Ghosh and Sra, "Clustering on
    the unit hypersphere using von Mises-Fisher distributions", JMLR 2005.
    """
    if not length > 0.0:
        return 0.0
    if length >= 1.0:
        return math.inf
    kappa = length * (dim - length * length) / ((1.0 - length) * (1.0 + length))
    if 1.0 - length < _NEAR:
        return kappa
    for _ in range(_STEPS):
        reached = mean_length(kappa, dim)
        slope = 1.0 - reached * reached - (dim - 1) * reached / kappa
        step = (reached - length) / slope
        kappa = max(kappa - step, 0.5 * kappa)
        if abs(step) <= 1e-13 * kappa:
            break
    return kappa
