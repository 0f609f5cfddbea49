"""Chi-squared tests with a noisy variance in the denominator: their exact worst case."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray

#: Nodes of the Gauss-Legendre rule, and where the normal law is cut.
_NODES, _CUT = 64, 9.0
#: Variances tried, of a geometric grid, and up to which multiple of the larger of floor and noise.
_GRID, _TOP = 128, 1e6
#: Share of the largest value of the grid that a peak has, for it to be looked at closely.
_NEAR = 0.95
#: Margins, as shares: of a computed tail, and of what a quantile leaves to the noise.
_MARGIN, _LEFT = 1e-5, 1e-3


def worst_tail(
    dim: int, statistic: float, *, inflation: float, noise: float, floor: float
) -> float:
    """Largest probability of a quotient over all variances, up to a share of 1e-5, and at most 1.

    With independent X, chi-squared of ``dim`` degrees of freedom, and a standard normal number G,
    it is the supremum over ``v >= floor`` of ``P(X v >= statistic * max(v + noise * G + inflation,
    floor))``. ``noise`` and ``floor`` are positive, ``statistic`` and ``inflation`` not negative.
    """
    spread, more = noise / floor, inflation / floor
    grid = np.geomspace(1.0, _TOP * max(1.0, spread), _GRID)
    tails = _tails(dim, statistic, more, spread, grid)
    largest = float(tails.max())
    # There may be a peak next to the floor that is hardly higher than the limit far from it.
    padded = np.concatenate([[-1.0], tails, [-1.0]])
    peak = (tails > padded[:-2]) & (tails >= padded[2:]) & (tails >= _NEAR * largest)
    for top in map(int, np.flatnonzero(peak)):
        near = np.geomspace(grid[max(top - 1, 0)], grid[min(top + 1, _GRID - 1)], 33)
        largest = max(largest, float(_tails(dim, statistic, more, spread, near).max()))
    return min(1.0, (1.0 + _MARGIN) * largest)


def _tails(
    dim: int, statistic: float, inflation: float, noise: float, variances: FloatArray
) -> FloatArray:
    """Probability for each variance, in units of the floor."""
    from scipy.special import chdtrc, ndtr

    nodes, weights = _rule()
    v = variances[:, None]
    # Below the kink the denominator is the floor.
    kink = np.maximum((1.0 - v - inflation) / noise, -_CUT)
    half = 0.5 * (_CUT - kink)
    g = kink + half * (1.0 + nodes)
    quotient = np.maximum(v + noise * g + inflation, 1.0) / v
    density = np.exp(-0.5 * g * g) / math.sqrt(2.0 * math.pi)
    above = (half * weights * density * chdtrc(dim, statistic * quotient)).sum(axis=-1)
    below = (ndtr(kink) * chdtrc(dim, statistic / v))[:, 0]
    return np.asarray(above + below)


@lru_cache(maxsize=1)
def _rule() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def calibrated(dim: int, alpha: float, *, noise: float, floor: float) -> tuple[float, float]:
    """Critical value and inflation at which :func:`worst_tail` is ``alpha``, in (0, 1).

    The quantile of the chi-squared law at ``alpha``, up to a share of 1e-3 of that, and the least
    inflation that keeps it valid.
    """
    ratio, inflation = _inflation(dim, alpha, noise / floor)
    return ratio, inflation * noise


@lru_cache(maxsize=256)
def _inflation(dim: int, alpha: float, noise: float) -> tuple[float, float]:
    """Return the critical value, and the inflation in units of the noise."""
    from scipy.optimize import brentq
    from scipy.special import chdtri

    critical = float(chdtri(dim, (1.0 - _LEFT) * alpha))

    def excess(units: float) -> float:
        tail = worst_tail(dim, critical, inflation=units * noise, noise=noise, floor=1.0)
        return tail - alpha

    if excess(0.0) <= 0.0:
        return critical, 0.0
    enough = 1.0
    while excess(enough) > 0.0:
        enough *= 2.0
    root = cast("float", brentq(excess, 0.0, enough, xtol=1e-7))
    while excess(root) > 0.0:  # the root is known to both sides
        root += 1e-6
    return critical, root
