"""Proposals for the traceless part of log-eigenvalues: one exponential piece per shell."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._potential import Kind, potential
from riemdp._radial_profile import Profile
from riemdp.noise._volume_series import growth_rate, log_sinhc
from riemdp.research._sinh_envelope import least_line, volume_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import FloatArray

#: Where the density has fallen by this many logarithms the shells become coarse.
_DEPTH = 45.0
_SHELLS = 512
_HEAD = 128
_TAIL = 384


@dataclass(frozen=True, eq=False)
class ShellEnvelope:
    """Piecewise exponential bound of ``exp(c(rho) + b(rho))`` on ``(0, inf)``.

    ``exp(c)`` is the density of the norm rho of the traceless part of the logarithm were J one,
    log-concave; ``b`` bounds log J. On each shell stand a tangent of c and the chord of one
    convex member of b; on the last, unbounded one ``b <= |delta| rho``.

    ``log_flat`` is c. On the shell that begins at an edge the bound is ``heights + slopes * (rho -
    edges)``; ``shares`` are cumulative shares of the bound's mass.
    """

    log_flat: Callable[[FloatArray], FloatArray]
    edges: FloatArray
    heights: FloatArray
    slopes: FloatArray
    shares: FloatArray
    log_mass: float

    @classmethod
    def of(cls, kind: Kind, k: int, sigma: float) -> ShellEnvelope:
        """Build the envelope (cached) of SPD(k), ``k >= 2``.

        ``c`` is ``(d-2) log rho - rho^2/(2 sigma^2)`` (Gaussian), or with the trace integrated
        out ``(d-1) log rho + log 2 K_1(rho/sigma)`` (Laplace, ``sigma |delta| < 1``).
        """
        return _build(kind, k, sigma)

    def sample(self, size: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw norms from the bound; also return ``bound - c`` there, both of shape ``(size,)``."""
        shell = np.searchsorted(self.shares, generator.random(size), side="right")
        shell = np.minimum(shell, self.edges.size - 1)
        slope = self.slopes[shell]
        width = np.append(np.diff(self.edges), np.inf)[shell]
        uniform = generator.random(size)
        flat = np.abs(slope) * width < 1e-9
        safe = np.where(flat, 1.0, slope)
        with np.errstate(over="ignore", invalid="ignore"):
            offset = np.where(
                flat, uniform * width, np.log1p(uniform * np.expm1(safe * width)) / safe
            )
        offset = np.minimum(offset, width)
        rho = np.maximum(self.edges[shell] + offset, np.finfo(np.float64).tiny)
        return rho, self.heights[shell] + slope * offset - self.log_flat(rho)


@functools.lru_cache(maxsize=64)
def _build(kind: Kind, k: int, sigma: float) -> ShellEnvelope:
    power, growth = k * (k + 1) // 2 - 2, growth_rate(k)

    law = potential(kind)
    if not law.is_linear:  # the trace is independent
        profile = Profile(kind, power, 0, sigma, math.inf)

        def log_flat(rho: FloatArray) -> FloatArray:
            return profile.log(rho, rho)

        def slope(rho: FloatArray) -> FloatArray:
            return np.asarray(power / rho - law.pull(rho, sigma))

    else:

        def log_flat(rho: FloatArray) -> FloatArray:
            x = rho / sigma
            bessel = np.log(2.0 * scipy.special.k1e(x))
            return np.asarray((power + 1) * np.log(rho) + bessel - x)

        def slope(rho: FloatArray) -> FloatArray:
            x = rho / sigma
            ratio = scipy.special.k0e(x) / scipy.special.k1e(x)
            return np.asarray(power / rho - ratio / sigma)

    # c + |delta| rho is concave and lies above c + b: past far it stays far below the peak.
    far = sigma * math.sqrt(power + 2.0)
    peak = -math.inf
    while True:
        at = np.array([far])
        peak = max(peak, float((log_flat(at) + volume_bound(k, at))[0]))
        falls = float(slope(at)[0]) + growth < 0.0
        if falls and float(log_flat(at)[0]) + growth * far < peak - _DEPTH:
            break
        far *= 1.25
    scan = np.geomspace(1e-4 * min(far, sigma), far, 4000)
    values = log_flat(scan) + volume_bound(k, scan)
    bulk = np.flatnonzero(values > values.max() - _DEPTH)
    low = scan[max(bulk[0] - 1, 0)]
    high = scan[min(bulk[-1] + 1, scan.size - 1)]
    tail = np.geomspace(high, far, _TAIL)[1:] if high < far else np.empty(0)
    head = np.geomspace(1e-3 * low, low, _HEAD)[:-1]
    edges = np.concatenate([[0.0], head, np.linspace(low, high, _SHELLS), tail])
    start, end = edges[:-1], edges[1:]
    middle = 0.5 * (start + end)
    width = end - start
    left, right = _chord(k, start, middle, end)
    # Shells outside the bulk are wide: tangents on their side of the bulk.
    touch = np.where(end <= low, end, np.where(start >= high, start, middle))
    tangent = slope(touch)
    heights = log_flat(touch) + tangent * (start - touch) + left
    slopes = tangent + (right - left) / width
    last = edges[-1:]
    heights = np.append(heights, log_flat(last) + growth * last)
    slopes = np.append(slopes, slope(last) + growth)
    with np.errstate(over="ignore"):
        grown = slopes * np.append(width, np.inf)
        flat = np.abs(grown) < 1e-9
        safe = np.where(flat, 1.0, grown)
        # log of (e^g - 1)/g, from the end that does not overflow
        log_mean = np.where(flat, 0.0, np.maximum(safe, 0.0) + np.log(-np.expm1(-np.abs(safe))))
        log_width = np.where(flat, np.log(np.append(width, 1.0)), -np.log(np.abs(slopes)))
    masses = heights + log_mean + log_width
    top = float(masses.max())
    cumulative = np.cumsum(np.exp(masses - top))
    return ShellEnvelope(
        log_flat=log_flat,
        edges=edges,
        heights=heights,
        slopes=slopes,
        shares=cumulative / cumulative[-1],
        log_mass=top + math.log(cumulative[-1]),
    )


def _chord(
    k: int, start: FloatArray, middle: FloatArray, end: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values at both ends of the member of b that is least at the middle of each shell."""
    pairs = 0.5 * k * (k - 1)
    turn = math.sqrt(2.0 / (k - 1))
    level, slope = least_line(np.square(middle) / k)
    alpha = level - slope * np.square(middle) / k

    def members(rho: FloatArray) -> list[FloatArray]:
        parabola = 0.5 * k * k * alpha + 0.5 * k * slope * np.square(rho)
        return [parabola, growth_rate(k) * rho, pairs * log_sinhc(turn * rho)]

    least = np.argmin(members(middle), axis=0)
    return np.choose(least, members(start)), np.choose(least, members(end))
