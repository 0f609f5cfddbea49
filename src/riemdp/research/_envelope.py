"""Exact rejection sampling of a log-concave radial profile from a three-piece envelope."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from riemdp._radial_profile import Profile
    from riemdp.spaces import FloatArray

#: Proposals per round; their arrays stay in the processor's cache.
_CHUNK = 1 << 14


@dataclass(frozen=True)
class Envelope:
    """Piecewise exponential upper bound of ``exp(h - h(mode))`` (see :class:`Profile`).

    The constant 1 between ``left <= 0`` and ``right >= 0``, as distances from the mode, and outside
    them the tangents of ``h`` at the two points where it has fallen by one, cut at the ends of the
    support. By concavity it lies above; it is accepted with probability at least ``1 - 1/e``
    whatever the profile, in practice above 0.87. Neither the proposal nor the acceptance sees the
    footpoint, so the running time tells nothing about it.

    Rates are those of the exponential pieces, infinite where one is empty; floors are their heights
    at the ends of the support.

    References
    ----------
    Gilks and Wild, "Adaptive rejection sampling for Gibbs sampling", Applied Statistics 41 (1992);
    Devroye, "Non-uniform random variate generation" (1986), chapter VII.
    """

    profile: Profile
    left: float
    right: float
    left_rate: float
    right_rate: float
    left_floor: float
    right_floor: float

    @classmethod
    def of(cls, profile: Profile) -> Envelope:
        """Build the envelope of a profile with ``power`` at least 1 (cached)."""
        return _build(profile)

    @property
    def area(self) -> float:
        """Integral of the envelope, in the profile's unit of length."""
        right_area = (1.0 - self.right_floor) / self.right_rate
        return self._left_area + (self.right - self.left) + right_area

    def sample(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Draw ``size`` radii, shape ``(size,)``, in the profile's unit of length."""
        radii = np.empty(size)
        filled = 0
        while filled < size:
            accepted = self._attempt(min(size - filled, _CHUNK), generator)
            radii[filled : filled + accepted.size] = accepted
            filled += accepted.size
        return radii

    def _attempt(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Propose ``size`` radii by inversion of the envelope and return the accepted ones."""
        # 1 - random() is never 0, so no logarithm below meets 0 at an infinite end.
        area = self.area * (1.0 - generator.random(size))
        offset = area - self._left_area
        bound = -generator.standard_exponential(size)
        beyond = np.flatnonzero(offset < 0.0)
        if beyond.size:
            log_height = np.log(area[beyond] * self.left_rate + self.left_floor)
            bound[beyond] += log_height
            offset[beyond] = log_height / self.left_rate
        offset += self.left
        beyond = np.flatnonzero(offset > self.right)
        if beyond.size and self.right_rate < math.inf:
            rest = np.maximum(self.area - area[beyond], np.finfo(np.float64).tiny)
            log_height = np.log(rest * self.right_rate + self.right_floor)
            bound[beyond] += log_height
            offset[beyond] = self.right - log_height / self.right_rate
        offset += self.profile.mode
        np.clip(offset, 0.0, self.profile.upper, out=offset)
        return np.asarray(offset[bound <= self.profile.relative(offset)])

    @property
    def _left_area(self) -> float:
        return (1.0 - self.left_floor) / self.left_rate


@functools.lru_cache(maxsize=256)
def _build(profile: Profile) -> Envelope:
    mode, upper = profile.mode, profile.upper
    below = float(profile.fall(1.0, side=-1))
    left_rate = profile.slope(mode - below)
    left = min(-below + 1.0 / left_rate, 0.0)
    above = float(profile.fall(1.0, side=1)) if mode < upper else 0.0
    if mode + above < upper:
        right_rate = -profile.slope(mode + above)
        right = max(above - 1.0 / right_rate, 0.0)
        right_floor = math.exp(-right_rate * (upper - mode - right))
    else:
        right_rate, right, right_floor = math.inf, upper - mode, 0.0
    return Envelope(
        profile=profile,
        left=left,
        right=right,
        left_rate=left_rate,
        right_rate=right_rate,
        left_floor=math.exp(-left_rate * (mode + left)),
        right_floor=right_floor,
    )
