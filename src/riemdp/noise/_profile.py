"""The unnormalised density of the distance to the footpoint, in units where it is stable."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp._potential import Potential, potential

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.manifolds import FloatArray


@dataclass(frozen=True)
class Profile:
    """Log-concave function ``h(r) = power * log s(r) - U(r)`` on ``(0, upper)``.

    ``s(r)`` is ``sin r``, ``r`` or ``sinh r`` for ``sign`` 1, 0 or -1 (unit curvature), and
    ``U(r)`` is ``r / sigma`` (Laplace) or ``r^2 / (2 sigma^2)`` (Gaussian). ``sigma`` and ``upper``
    are in units of ``1 / sqrt|curvature|``. The power is the dimension minus one, and the sign is 0
    when that is 0. ``upper`` ends the support: any length, at most pi for sign 1, or infinite.
    """

    kind: Literal["laplace", "gaussian"]
    power: int
    sign: int
    sigma: float
    upper: float

    @functools.cached_property
    def mode(self) -> float:
        """Where ``h`` is largest: the root of ``U'(r) = power * s'(r) / s(r)``, if inside."""
        if self.power == 0:
            return 0.0
        return min(self._potential.mode(self.power, self.sign, self.sigma), self.upper)

    @functools.cached_property
    def log_peak(self) -> float:
        """``h(mode)``."""
        r, ratio = self.mode, self.mode / self.sigma
        penalty = self._potential.energy(ratio)
        if self.power == 0:
            return -penalty
        if self.sign > 0:
            growth = math.log(math.sin(r))
        elif self.sign == 0:
            growth = math.log(r)
        else:
            growth = r + math.log(-math.expm1(-2.0 * r)) - math.log(2.0)
        return self.power * growth - penalty

    def relative(self, r: ArrayLike) -> FloatArray:
        """``h(r) - h(mode)`` for r in ``[0, upper]``: 0 at the mode, negative elsewhere.

        The absolute rounding error is about ``power`` times machine epsilon, as no large terms are
        subtracted: the growth enters as the logarithm of a ratio, and on negative curvature its
        linear part is merged with that of ``U`` into one coefficient.
        """
        with np.errstate(divide="ignore"):
            return self._relative(np.asarray(r, dtype=np.float64))

    def _relative(self, r: FloatArray) -> FloatArray:
        u = r - self.mode
        height = self._tilt * u - self._potential.excess(u / self.sigma)
        if self.power == 0:
            return np.asarray(height)
        if self.sign > 0:
            growth = np.log(np.maximum(np.sin(r), 0.0) / math.sin(self.mode))
        elif self.sign == 0:
            growth = np.log(r / self.mode)
        else:
            growth = np.log(np.expm1(-2.0 * r) / math.expm1(-2.0 * self.mode))
        return np.asarray(height + self.power * growth)

    def slope(self, r: float) -> float:
        """Return ``h'(r)``."""
        slope = self._tilt - self._potential.bend(r - self.mode, self.sigma)
        if self.power == 0:
            return slope
        if self.sign > 0:
            growth = 1.0 / math.tan(r)
        elif self.sign == 0:
            growth = 1.0 / r
        else:
            growth = _coth_minus_one(r)
        return slope + self.power * growth

    def fall(self, depth: ArrayLike, *, side: Literal[-1, 1]) -> FloatArray:
        """Distance from the mode at which ``h`` has fallen by ``depth``, or to the support's end.

        Below the mode (side -1) or above it, to about 1e-16 of the distance of the deepest drop.
        """
        depth = np.asarray(depth, dtype=np.float64)
        return np.asarray(self._fallen(depth[None], (side,))[0])

    def falls(self, depth: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return :meth:`fall` on both sides, below first, in about the time of one."""
        depth = np.asarray(depth, dtype=np.float64)
        below, above = self._fallen(np.stack([depth, depth]), (-1, 1))
        return below, above

    def _fallen(self, depth: FloatArray, sides: tuple[Literal[-1, 1], ...]) -> FloatArray:
        """Bisect on one side for each entry of the first axis."""

        def along(values: list[float]) -> FloatArray:
            return np.array(values).reshape(-1, *(1 for _ in depth.shape[1:]))

        sign, deepest = along(list(map(float, sides))), float(np.max(depth))
        low = np.zeros_like(depth)
        high = low + along([self._reach(deepest, side) for side in sides])
        with np.errstate(divide="ignore"):
            at_end = self._relative(self.mode + sign * high) > -depth
            for _ in range(60):
                middle = 0.5 * (low + high)
                if ((middle == high) | ((middle == low) & (low > 0.0))).all():
                    break  # no end moves any more
                above = self._relative(self.mode + sign * middle) > -depth
                low = np.where(above, middle, low)
                high = np.where(above, high, middle)
        ends = along([self.mode if side < 0 else self.upper - self.mode for side in sides])
        return np.where(at_end, ends, high)

    def _reach(self, depth: float, side: Literal[-1, 1]) -> float:
        """Distance on that side past which ``h`` has fallen by ``depth``, within a factor two."""
        end = self.mode if side < 0 else self.upper - self.mode
        reach = end if math.isfinite(end) else max(self.mode, self.sigma)
        while reach < end and self.relative(self.mode + side * reach) > -depth:
            reach *= 2.0
        while reach > 0.0 and self.relative(self.mode + side * 0.5 * reach) < -depth:
            reach *= 0.5
        return min(reach, end)

    @functools.cached_property
    def _tilt(self) -> float:
        """Slope at the mode of ``-U``, plus ``power`` on negative curvature (see ``relative``)."""
        pull = self._potential.pull(self.mode, self.sigma)
        if self.sign >= 0 or self.power == 0:
            return -pull
        if not self._potential.is_linear and self.mode < self.upper:
            # power - pull, with pull = power * coth(mode), without the cancellation
            return -self.power * _coth_minus_one(self.mode)
        return self.power - pull

    @property
    def _potential(self) -> Potential:
        return potential(self.kind)


def _coth_minus_one(r: float) -> float:
    return 2.0 / math.expm1(2.0 * r) if r < 350.0 else 0.0
