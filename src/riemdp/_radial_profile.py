"""The density of the distance to the footpoint on a space form, up to a constant.

``exp(h)``, ``h(r) = power * log s(r) - U(r / sigma)``: what draws, quantiles, privacy curves and
plans read, in float64 or as enclosures. Certified curves have a copy of their own, as a check.
Distances are in units of ``1 / sqrt|curvature|``, on flat spaces in any unit; ``s(r)`` is
``sin r``, ``r`` or ``sinh r`` for ``sign`` 1, 0 or -1 of the curvature, and the power is the
dimension minus one.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._potential import Kind, Potential, potential

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp._potential import FloatArray

Ball = Any


@dataclass(frozen=True)
class Profile:
    """The log-concave function ``h`` on ``(0, upper)``, in float64.

    The sign is 0 when the power is 0. ``upper`` ends the support: any length, at most pi for sign
    1, or infinite.
    """

    kind: Kind
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

    def log(self, r: FloatArray, rest: FloatArray, per_unit: float = 1.0) -> FloatArray:
        """``h(r)`` with ``s(r) * per_unit`` for ``s(r)``; ``rest`` is ``upper - r``.

        On negative curvature ``power * r`` is completed to a square, up to a constant, which keeps
        the digits of a large ``r``.
        """
        power = self.power
        if self.sign < 0:
            volume = power * np.log(-per_unit * np.expm1(-2.0 * r))
            if self._potential.is_linear:
                return np.asarray(volume - r * (1.0 / self.sigma - power))
            return np.asarray(volume - 0.5 * (r / self.sigma - power * self.sigma) ** 2)
        energy = self._potential.energy(r / self.sigma)
        if power == 0:
            return -energy
        radius = np.sin(np.minimum(r, rest)) if self.sign > 0 else r
        return np.asarray(power * np.log(radius * per_unit) - energy)

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
        pull: float = self._potential.pull(self.mode, self.sigma)
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


@dataclass(frozen=True)
class EnclosedProfile:
    """The same function with its derivatives, enclosed at the working precision of python-flint.

    ``sigma`` is a ball.
    """

    kind: Kind
    power: int
    sign: int
    sigma: Ball

    def log(self, r: Ball, sine: Ball | None = None) -> Ball:
        """Enclose ``h(r)``; ``s(r)``, if it is known."""
        energy = potential(self.kind).energy(r / self.sigma)
        if self.power == 0:
            return -energy
        if sine is None:
            sine = self._trigonometry.sine(r) if self.sign else r
        growth = sine.log()
        return self.power * growth - energy

    def slope(self, r: Ball) -> Ball:
        """Enclose ``h'(r)``."""
        pull = potential(self.kind).pull(r, self.sigma)
        if self.power == 0:
            return -pull
        growth = self.power * self._trigonometry.cotangent(r) if self.sign else self.power / r
        return growth - pull

    def bend(self, r: Ball) -> Ball:
        """Enclose ``h''(r)``."""
        sine = self._trigonometry.sine_cosine(r)[0] if self.sign else r
        return -self.power / (sine * sine) - potential(self.kind).bend(1.0, self.sigma)

    @property
    def _trigonometry(self) -> Trigonometry:
        return Trigonometry(self.sign)


@dataclass(frozen=True)
class Trigonometry:
    """``s`` and ``c`` on balls: sine and cosine for sign 1, the hyperbolic ones for -1."""

    sign: int

    def sine_cosine(self, x: Ball) -> tuple[Ball, Ball]:
        """Enclose ``s(x)`` and ``c(x)``."""
        pair: tuple[Ball, Ball] = x.sin_cos() if self.sign > 0 else x.sinh_cosh()
        return pair

    def sine(self, x: Ball) -> Ball:
        """Enclose ``s(x)``."""
        return x.sin() if self.sign > 0 else x.sinh()

    def cotangent(self, x: Ball) -> Ball:
        """Enclose ``c(x) / s(x)``."""
        return x.cot() if self.sign > 0 else x.coth()

    def sinc(self, x: Ball) -> Ball:
        """Enclose ``s(x) / x``, which is entire: 0 takes no other path."""
        from flint import acb

        return x.sinc() if self.sign > 0 else acb(0, x).sinc().real

    def distance(self, sine: Ball, cosine: Ball) -> Ball:
        """Enclose the distance whose ``s`` and ``c`` are given, ``s`` not negative."""
        return type(sine).atan2(sine, cosine) if self.sign > 0 else sine.asinh()

    def end(self) -> Ball:
        """Enclose the largest distance."""
        from flint import arb

        return arb.pi() if self.sign > 0 else arb.pos_inf()


def volume_growth(dim: int, curvature: float) -> float:
    """Rate at which volume grows exponentially with the distance; 0 unless it does."""
    return (dim - 1) * math.sqrt(max(-curvature, 0.0))


def no_normaliser(dim: int, curvature: float, sigma: float) -> NotAttainableError:
    """Return the error for Laplace noise that falls no faster than volume grows."""
    return NotAttainableError(
        f"the Laplace law with sigma = {sigma:g} has no normaliser on a space of curvature "
        f"{curvature:g} and dimension {dim}: sigma has to be below 1/((dim - 1) sqrt(-curvature)) "
        f"= {1.0 / volume_growth(dim, curvature):.6g}; use a smaller sigma (more data, a smaller "
        "ball, a larger epsilon)"
    )
