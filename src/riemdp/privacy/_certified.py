"""Rigorous enclosures of isotropic privacy curves, by ball arithmetic; needs python-flint.

The integrals are those of docs/proofs/isotropic-curve.md, claims 1 to 3, for odd dimensions and
dimension two. Every number is a ball that contains the exact one, from the parameters (as the
floats they are) to the truncated tail; Arb's integrator bounds its own error.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, shown
from riemdp._errors import ConvergenceError, InvalidParameterError
from riemdp._potential import potential
from riemdp.privacy._budget import check_epsilon
from riemdp.privacy._isotropic_curve import IsotropicCurve

if TYPE_CHECKING:
    from collections.abc import Callable

    Ball = Any
    Integrand = Callable[[Ball, bool], Ball]

#: Bits that the integrals aim at: at first beyond the digits asked for, and at most.
_GUARD, _MOST_BITS = 32, 4096
#: python-flint, once it was found: folders are searched again only as long as it is missing.
_FOUND: list[str] = []


def certified_available() -> bool:
    """Whether python-flint is installed.

    Examples
    --------
    >>> from riemdp.privacy import certified_available
    >>> certified_available()
    True
    """
    if not _FOUND and importlib.util.find_spec("flint") is not None:
        _FOUND.append("flint")
    return bool(_FOUND)


def certified_delta(
    curve: IsotropicCurve, epsilon: float, *, digits: int = 12
) -> tuple[float, float]:
    """Two numbers that are proved to lie around ``delta``.

    It trusts the formulas of the note and Arb. Slow: milliseconds for odd dimensions, tens of
    them for dimension two, and seconds or more where sigma is far from the other lengths. Sets
    the global precision of python-flint while it runs, so it must not run beside other uses of it
    in threads.

    Parameters
    ----------
    curve : IsotropicCurve
        Of dimension 2 or an odd one.
    epsilon : float
        Not negative.
    digits : int, default 12
        Largest relative width, ``10**-digits`` (at most 15), before rounding to floats.

    Returns
    -------
    lower, upper : float
        Both 0 from the largest privacy loss on.

    Raises
    ------
    InvalidParameterError
        If python-flint is missing, for even dimensions from 4 on, where the integrand has no
        elementary form, or if a parameter lies outside its domain.
    ConvergenceError
        If the enclosure stays wider than asked for, at 4096 bits.

    References
    ----------
    docs/proofs/isotropic-curve.md. Johansson, "Arb: efficient arbitrary-precision midpoint-radius
    interval arithmetic", IEEE Trans. Computers 2017, and "Numerical integration in
    arbitrary-precision ball arithmetic", ICMS 2018.

    Examples
    --------
    >>> from riemdp.privacy import IsotropicCurve, certified_delta
    >>> curve = IsotropicCurve("gaussian", 3, 1.0, 0.5, 0.25)
    >>> lower, upper = certified_delta(curve, 1.0)
    >>> bool(0.0 < lower <= upper < lower + 1e-11)
    True
    """
    if not isinstance(curve, IsotropicCurve):
        raise InvalidParameterError(f"curve must be an IsotropicCurve, got {shown(curve)}")
    if curve.dim > 2 and curve.dim % 2 == 0:
        raise InvalidParameterError(
            f"dim must be 2 or odd for an enclosure, got {curve.dim}; use curve.delta_at"
        )
    digits = count(digits, "digits")
    if digits > 15:
        raise InvalidParameterError(f"digits must be at most 15, as floats have, got {digits}")
    epsilon = float(check_epsilon(epsilon))
    if not certified_available():
        raise InvalidParameterError(
            "an enclosure needs python-flint, which is not installed: pip install python-flint"
        )
    if epsilon == math.inf:
        return 0.0, 0.0
    # decided exactly: no precision separates equal numbers
    loss = Fraction(curve.sigma) * Fraction(epsilon)
    if potential(curve.kind).is_linear and loss >= Fraction(curve.sensitivity):
        return 0.0, 0.0
    from flint import arb, ctx

    before, bits = ctx.prec, _GUARD + math.ceil(3.33 * digits)
    try:
        while bits <= _MOST_BITS:
            ctx.prec = 2 * bits
            delta = _Enclosure.of(curve, arb(epsilon), bits).delta()
            if delta.rad() <= delta.mid() * arb(10) ** -digits:
                return _outward(delta)
            bits *= 2
    finally:
        ctx.prec = before
    raise ConvergenceError(
        f"the enclosure of delta at epsilon = {epsilon:g} stays wider than asked for; use fewer "
        "digits, or an epsilon that is not at the largest privacy loss"
    )


def _outward(ball: Ball) -> tuple[float, float]:
    """Floats under and over a ball, in [0, 1]."""
    lower, upper = float(ball.lower()), float(ball.upper())
    if lower == upper == 0.0 and ball.is_zero():
        return 0.0, 0.0
    return (
        float(max(np.nextafter(lower, -math.inf), 0.0)),
        float(min(np.nextafter(upper, math.inf), 1.0)),
    )


@dataclass(frozen=True)
class _Enclosure:
    """The integrals at one ``epsilon``, in units in which the curvature is -1, 0 or 1.

    ``end`` is the largest distance, pi on spheres, and ``None`` on unbounded spaces.
    """

    kind: str
    dim: int
    sign: int
    sigma: Ball
    distance: Ball
    end: Ball | None
    epsilon: Ball
    bits: int

    @classmethod
    def of(cls, curve: IsotropicCurve, epsilon: Ball, bits: int) -> _Enclosure:
        from flint import arb

        sign = (curve.curvature > 0.0) - (curve.curvature < 0.0)
        unit = arb(abs(curve.curvature)).sqrt() if sign else arb(1)
        end = arb.pi() if sign > 0 else None
        if sign == 0 and curve.upper < math.inf:
            end = arb(curve.upper)
        sigma, distance = arb(curve.sigma) * unit, arb(curve.sensitivity) * unit
        return cls(curve.kind, curve.dim, sign, sigma, distance, end, epsilon, bits)

    def delta(self) -> Ball:
        """Return ``(A - exp(epsilon) B) / Z``: two probabilities times the mass, and the mass."""
        from flint import arb

        if self._beyond():
            return arb(0)
        near, rest = self._ends(self.epsilon)
        cut, tail = (self.end, arb(0)) if self.end is not None else self._cut(abs(near))
        mass = self._radial(arb(0), cut, arb(0)) + tail
        inside = self._proper(self.epsilon, abs(near), cut - rest, mass, complement=False)
        first = inside + tail + self._radial(arb(0), _positive(-near), mass)
        # P_2(L >= epsilon) = P_1(L <= -epsilon): near is negative there
        near, rest = self._ends(-self.epsilon)
        inside = self._proper(-self.epsilon, abs(near), cut - rest, mass, complement=True)
        second = inside + tail
        if self.end is not None:
            second += self._radial(cut - _positive(rest), cut, mass)
        return (first - self.epsilon.exp() * second) / mass

    def _beyond(self) -> bool:
        """Whether ``epsilon`` is surely the largest privacy loss or more (Gaussian law)."""
        if self._is_linear or self.end is None:
            return False
        largest = self.distance * (2 * self.end - self.distance) / (2 * self.sigma**2)
        return bool(self.epsilon >= largest)

    def _ends(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """Signed inner end of the proper caps, and the largest distance minus their outer end."""
        from flint import arb

        if self._is_linear:
            shift = self.sigma * epsilon
            near, rest = (shift - self.distance) / 2, (self.distance + shift) / 2
        else:
            shift = self.sigma**2 * epsilon
            near = shift / self.distance - self.distance / 2
            rest = self.distance / 2
            if self.end is not None:
                rest += shift / (2 * self.end - self.distance)
        return near, rest if self.end is not None else arb(0)

    @property
    def _is_linear(self) -> bool:
        return potential(self.kind).is_linear

    def _potential(self, r: Ball) -> Ball:
        ratio = r / self.sigma
        return ratio if self._is_linear else ratio**2 / 2  # a square is never negative

    def _radius(self, r: Ball) -> Ball:
        if self.sign == 0:
            return r
        return r.sin() if self.sign > 0 else r.sinh()

    def _versine(self, r: Ball) -> Ball:
        """``s(r/2)^2``, an even entire function."""
        return self._radius(r / 2) ** 2

    def _radial(self, low: Ball, high: Ball, scale: Ball) -> Ball:
        """Integral of ``s^(d-1) exp(-U)``."""

        def integrand(r: Ball, _: bool) -> Ball:
            return self._radius(r) ** (self.dim - 1) * (-self._potential(r)).exp()

        return self._integral(integrand, low, high, scale)

    def _proper(
        self, epsilon: Ball, low: Ball, high: Ball, scale: Ball, *, complement: bool
    ) -> Ball:
        """Integral of the radial density times the share of the cap, over the proper caps.

        With ``x = X/(s(r) s(D))`` and ``1 - x = Y/(s(r) s(D))``. For odd dimensions ``I_x(h, h)``
        is a polynomial, and ``s(r)^(2h)`` leaves nothing of the poles: the integrand is entire.
        It is even in the distance to the second footpoint, so either root will do.
        """
        power = self.dim - 2  # 2h - 1
        across = self._radius(self.distance)

        def integrand(r: Ball, analytic: bool) -> Ball:
            weight = (-self._potential(r)).exp()
            if self.dim == 1:
                return weight / 2
            if self.dim == 2:
                x, y = self._shares(r, epsilon)
                share = _arc(*((y, x) if complement else (x, y)), analytic or not r.imag.is_zero())
                return self._radius(r) * weight * share
            if self._is_linear:
                versine = self._versine(r + self.sigma * epsilon)
            else:
                square = r**2 + 2 * self.sigma**2 * epsilon
                versine = square / 4 if self.sign == 0 else self._versine(square.sqrt())
                versine = versine.real if r.imag.is_zero() else versine
            x = self._versine(r + self.distance) - versine
            y = versine - self._versine(r - self.distance)
            if complement:
                x, y = y, x
            terms = range(power // 2 + 1, power + 1)
            total = sum(math.comb(power, j) * x**j * y ** (power - j) for j in terms)
            return self._radius(r) * weight * total / across**power

        return self._integral(integrand, low, high, scale)

    def _shares(self, r: Ball, epsilon: Ball) -> tuple[Ball, Ball]:
        """Compute ``x`` and ``1 - x`` by ``s(r + a)/s(r) = c(a) + cot(r) s(a)``, tight for wide r.

        With ``a, b = (D +- v)/2``, ``v`` the second distance minus the first:
        ``X = s(r + a) s(b)`` and ``Y = s(r - b) s(a)``. A change of root exchanges factors.
        """
        growth = self.sigma * epsilon
        if not self._is_linear:
            growth *= 2 * self.sigma
            growth = growth / ((r**2 + growth).sqrt() + r)
        a, b = (self.distance + growth) / 2, (self.distance - growth) / 2
        if self.sign == 0:
            return (1 + a / r) * b / self.distance, (1 - b / r) * a / self.distance
        cot = r.cot() if self.sign > 0 else r.coth()
        sine_a, sine_b, across = (self._radius(z) for z in (a, b, self.distance))
        cosine_a, cosine_b = (z.cos() if self.sign > 0 else z.cosh() for z in (a, b))
        x = (cosine_a + cot * sine_a) * sine_b / across
        return x, (cosine_b - cot * sine_b) * sine_a / across

    def _integral(self, integrand: Integrand, low: Ball, high: Ball, scale: Ball) -> Ball:
        """Over every ``(low, high)`` with ends in these balls, aiming at ``bits``."""
        from flint import acb, arb

        low, width = acb(low), acb(high - low)
        if scale.is_zero():  # only a goal, so a rough sum will do
            middles = [arb(2 * i + 1) / 128 for i in range(64)]
            scale = sum((width * integrand(low + width * t, False)).real for t in middles) / 64
        tolerance = arb(2) ** -self.bits
        value = acb.integral(
            lambda t, analytic: width * integrand(low + width * t, analytic),
            0,
            1,
            rel_tol=tolerance,
            abs_tol=tolerance * scale.mid(),
        )
        return value.real

    def _cut(self, least: Ball) -> tuple[Ball, Ball]:
        """Radius to integrate to on an unbounded space, and a ball around what is beyond."""
        from flint import arb

        cut = (4 * (least + self.sigma + self.distance)).upper()
        tolerance = arb(2) ** -self.bits
        for _ in range(60):
            beyond = self._tail(cut).upper()
            # the part of the mass within sigma, from under: no integral needed
            if beyond <= tolerance * self._least_mass():
                return cut, arb(0).union(beyond)
            cut *= arb(1.25)
        return cut, arb(0).union(beyond)

    def _least_mass(self) -> Ball:
        """Lower bound of the mass: ``s(r) >= r`` and ``exp(-U) >= 1/e`` up to sigma."""
        from flint import arb

        return (self.sigma**self.dim / self.dim * arb(-1).exp()).lower()

    def _tail(self, cut: Ball) -> Ball:
        """Bound of the mass beyond ``cut`` on an unbounded space; ``sinh r <= exp(r)/2``."""
        from flint import arb

        power = self.dim - 1
        if self.sign == 0 and self._is_linear:
            return self.sigma**self.dim * (cut / self.sigma).gamma_upper(self.dim)
        if self.sign == 0:
            half = arb(self.dim) / 2
            scale = (2 * self.sigma**2) ** half / 2
            return scale * (cut**2 / (2 * self.sigma**2)).gamma_upper(half)
        if self._is_linear:
            rate = 1 / self.sigma - power
            if not rate > 0:
                return arb.pos_inf()
            return (-rate * cut).exp() / rate / arb(2) ** power
        growth = power * self.sigma
        z = cut / self.sigma - growth
        scale = (growth**2 / 2).exp() * self.sigma * (arb.pi() / 2).sqrt() / arb(2) ** power
        return scale * (z / arb(2).sqrt()).erfc()


def _positive(ball: Ball) -> Ball:
    """Ball around ``max(x, 0)``."""
    from flint import arb

    return ball.max(arb(0))


def _arc(x: Ball, y: Ball, analytic: bool) -> Ball:
    """``I_x(1/2, 1/2) = (2/pi) asin(sqrt(x))``, given ``y = 1 - x`` too."""
    from flint import acb, arb

    if analytic:
        root = y.sqrt(analytic=True) + acb(0, 1) * x.sqrt(analytic=True)
        return root.log(analytic=True) * acb(0, -2) / arb.pi()
    # on the path the exact values lie in [0, 1], which mends the ends of the interval
    one, other = (acb(z).real.nonnegative_part().sqrt() for z in (x, y))
    share = 2 / arb.pi() * arb.atan2(one, other)
    return acb(share) if share.is_finite() else acb(arb(0).union(arb(1)))
