"""Integrals of a log-concave radial profile: mass, both tails, quantiles, moments."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp._radial_profile import Profile
    from riemdp.spaces import FloatArray

#: The profile is followed until it has fallen by this much, where float64 nearly underflows.
_DEPTH = 700.0
#: Fall of the profile over one panel.
_STEP = 4.0
_NODES = 24
#: Queries handled at once, so that their nodes stay in the processor's cache.
_CHUNK = 1 << 13


@dataclass(frozen=True, eq=False)
class RadialTable:
    """Composite Gauss-Legendre table of ``exp(h - h(mode))`` (see :class:`Profile`).

    A panel ends wherever the profile has fallen by another 4, down to a fall of 700 on both
    sides. The integrand is entire and varies by at most ``exp(4)`` over a panel, so 24 nodes give
    a relative error near machine epsilon, and since all terms are positive both tails keep it.

    ``edges`` are the increasing ends of panels, ``below`` and ``above`` the integrals up to, and
    from, each of them.
    """

    profile: Profile
    edges: FloatArray
    below: FloatArray
    above: FloatArray

    @classmethod
    def of(cls, profile: Profile) -> RadialTable:
        """Build the table of a profile (cached)."""
        return _build(profile)

    @property
    def mass(self) -> float:
        """Integral over the support."""
        return float(self.below[-1])

    def moment(self, order: int) -> float:
        """Mean of ``r**order`` under the normalised density."""
        return _moment(self, order)

    def cdf(self, radii: FloatArray) -> FloatArray:
        """Probability of a smaller radius, shape of ``radii`` (one axis)."""
        inside = np.clip(radii, self.edges[0], self.edges[-1])
        panel = self._panel(self.edges, inside)
        start = self.edges[panel]
        return (self.below[panel] + self._integrate(start, inside)) / self.mass

    def sf(self, radii: FloatArray) -> FloatArray:
        """Probability of a larger radius, shape of ``radii`` (one axis)."""
        inside = np.clip(radii, self.edges[0], self.edges[-1])
        panel = self._panel(self.edges, inside)
        end = self.edges[panel + 1]
        return np.asarray((self.above[panel + 1] + self._integrate(inside, end)) / self.above[0])

    def quantile(self, probabilities: FloatArray) -> FloatArray:
        """Inverse of ``cdf``, through ``sf`` above one half; shape as given (one axis)."""
        lower = probabilities <= 0.5
        wanted = self.mass * np.where(lower, probabilities, 1.0 - probabilities)
        from_below = self._panel(self.below, wanted)
        from_above = self.edges.size - 2 - self._panel(self.above[::-1], wanted)
        panel = np.where(lower, from_below, from_above)
        anchor = np.where(lower, self.edges[panel], self.edges[panel + 1])
        wanted = wanted - np.where(lower, self.below[panel], self.above[panel + 1])
        width = np.diff(self.edges)[panel]
        return anchor + self._invert(anchor, np.where(lower, width, -width), wanted)

    def _invert(self, anchor: FloatArray, span: FloatArray, wanted: FloatArray) -> FloatArray:
        """Signed step inside ``span`` over which the integral from the anchor is ``wanted``."""
        low, high = np.zeros_like(span), np.ones_like(span)
        step = np.full_like(span, 0.5)
        for _ in range(60):
            point = anchor + step * span
            excess = np.abs(self._integrate(anchor, point)) - wanted
            high = np.where(excess > 0.0, step, high)
            low = np.where(excess > 0.0, low, step)
            slope = np.abs(span) * np.exp(self.profile.relative(point))
            with np.errstate(divide="ignore", invalid="ignore"):
                newton = step - excess / slope
            # nan fails both comparisons, so a vanishing slope falls back to bisection
            following = np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high))
            settled = np.abs(following - step) <= 2e-16 * following
            step = following
            if settled.all():
                break
        return np.asarray(step * span)

    def _integrate(self, start: FloatArray, end: FloatArray) -> FloatArray:
        """Integrals over ``(start, end)``, each inside one panel."""
        result = np.empty_like(end)
        for first in range(0, end.size, _CHUNK):
            part = slice(first, first + _CHUNK)
            radii, weights = _nodes(start[part], end[part])
            result[part] = np.einsum("ij,ij->i", weights, np.exp(self.profile.relative(radii)))
        return result

    @staticmethod
    def _panel(edges: FloatArray, values: FloatArray) -> NDArray[np.intp]:
        index = np.searchsorted(edges, values, side="right") - 1
        return np.clip(index, 0, edges.size - 2)


@functools.lru_cache(maxsize=256)
def _build(profile: Profile) -> RadialTable:
    depths = np.arange(_STEP, _DEPTH + _STEP, _STEP)
    edges = [profile.mode]
    falls, rises = profile.mode < profile.upper, profile.mode > 0.0
    if falls and rises:
        down, up = profile.falls(depths)
    else:
        down = up = profile.fall(depths, side=1 if falls else -1)
    if rises:
        edges += [0.0, *(profile.mode - down)]
    if falls:
        edges += [*(profile.mode + up)]
        if profile.upper < edges[-1] * (1.0 + 1e-9):
            edges.append(profile.upper)
    unique = np.unique(np.asarray(edges))
    if profile.sign < 0:
        # tanh varies over lengths of order 1 however wide the panels are; its trace fades
        # exponentially with the distance above the mode.
        steps = np.concatenate([np.arange(1.0, 17.0), 2.0 ** np.arange(5.0, 60.0)])
        extra = np.concatenate([profile.mode - steps, profile.mode + steps])
        extra = extra[(extra > unique[0]) & (extra < unique[-1])]
        unique = np.unique(np.concatenate([unique, extra]))
    radii, weights = _nodes(unique[:-1], unique[1:])
    masses = np.einsum("ij,ij->i", weights, np.exp(profile.relative(radii)))
    below = np.concatenate([[0.0], np.cumsum(masses)])
    above = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
    return RadialTable(profile, unique, below, above)


@functools.lru_cache(maxsize=256)
def _moment(table: RadialTable, order: int) -> float:
    radii, weights = _nodes(table.edges[:-1], table.edges[1:])
    values = weights * np.exp(table.profile.relative(radii))
    return float(np.sum(values * radii**order) / np.sum(values))


def _nodes(start: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on each interval, shape ``(intervals, nodes)``."""
    points, weights = gauss_legendre(_NODES)
    half = 0.5 * (end - start)[:, None]
    return start[:, None] + half * (1.0 + points), half * weights


@functools.cache
def gauss_legendre(count: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of the Gauss-Legendre rule on (-1, 1), each of shape ``(count,)``."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return points, weights
