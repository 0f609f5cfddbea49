r"""How near a float64 vector is to the Fréchet mean of others, on spheres and hyperbolic spaces.

All vectors are normal coordinates about one point ``o`` of the abstract space, taken as the
rational numbers they are. Sums over records come with a proved bound of their rounding
(:class:`SpaceFormSums`); what is made of them is enclosed in balls *at the very vector that is
asked about*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riemdp._working_precision import working_precision

if TYPE_CHECKING:
    from riemdp.kernel import Sum
    from riemdp.spaces import FloatArray
    from riemdp.statistics.curved._space_form_sums import SpaceFormSums

    Ball = Any

#: Working precision, in bits.
_PRECISION = 160


def distance(sums: SpaceFormSums, point: FloatArray, total: Sum, tol: float) -> float:
    """Bound the distance from a point to the exact Fréchet mean of records, rounded up.

    Inf where none is proved, as where a bound depends on ``tol`` and exceeds it. On a sphere the
    ball has to lie within the open hemisphere about its centre, where the mean is unique. See
    docs/proofs/certified-means, "Spheres and hyperbolic spaces".

    Parameters
    ----------
    sums : SpaceFormSums
    point : ndarray, shape (dim,)
    total : Sum
        Of all records, from :meth:`SpaceFormSums.sums` at this point.
    tol : float

    Returns
    -------
    float
    """
    if not all(map(math.isfinite, (*point.tolist(), *sums.errors))):
        return math.inf
    with working_precision(_PRECISION):
        return _averages(sums, point, total).distance(tol)


def _averages(sums: SpaceFormSums, point: FloatArray, total: Sum) -> Averages:
    """Enclose averages over all records, of the sums over them.

    ``s`` and ``c`` are sine and cosine or the hyperbolic ones, of distances times ``k``.
    """
    from flint import arb

    curvature, reach, zero = arb(sums.curvature), arb(sums.reach), arb(0)
    k, place = abs(curvature).sqrt(), [arb(x) for x in point.tolist()]
    angle = k * sum([x * x for x in place], zero).sqrt()
    if not angle <= reach:
        return Averages(sums.spherical, k, reach, zero + math.inf, zero)
    first, last = (arb((1, -bits)) / total.count for bits in sums.grids)
    *vectors, cosines = total.total
    mean = [first * x for x in vectors]
    level = last * cosines
    sine_cosine = arb.sin_cos if sums.spherical else arb.sinh_cosh
    sine, cosine = sine_cosine(angle)
    sinc, half = sine / _divisor(angle), sine_cosine(angle / 2)[0] / _divisor(angle / 2)
    inner = sum([x * v for x, v in zip(mean, place, strict=True)], zero)
    along = sinc * level + curvature * half * half / 2 * inner
    gradient = [x - along * v for x, v in zip(mean, place, strict=True)]
    size = sum([x * x for x in gradient], zero).nonnegative_part().sqrt()
    mean_a = cosine * level + curvature * sinc * inner
    wrong, wrong_a = map(arb, sums.errors)
    return Averages(sums.spherical, k, reach, size + wrong, mean_a - wrong_a)


def _divisor(length: Ball) -> Ball:
    """Return the length of a vector, 1 if that is zero: what is divided by it scales the vector."""
    return 1 if length.is_zero() else length


@dataclass(frozen=True)
class Averages:
    """Those over all records, in balls of one working precision."""

    spherical: bool
    k: Ball
    reach: Ball  # an angle that bounds those of the point and, on spheres, of all records
    size: Ball  # no less than the norm of the gradient of the Fréchet functional
    mean_a: Ball  # no more than the average of L c(L) / s(L), L the angles to records

    def distance(self, tol: float) -> float:
        """Bound the distance to the mean, rounded up, inf where nothing is proved."""
        if not self.spherical:
            return _rounded_up(self.size)
        radii = (tol, 2.0 * _rounded_up(self.size / self.mean_a))
        return min(self._in_ball(), *[self._within(radius) for radius in radii])

    def _in_ball(self) -> float:
        """Claim (b), in a ball about ``o`` that holds the point and all records."""
        from flint import arb

        widest = 2 * self.reach
        if not widest < arb.pi() / 2:
            return math.inf
        return _rounded_up(self.size * widest.sinc() / widest.cos())

    def _within(self, radius: float) -> float:
        """Claim (c), for the closed ball of a radius about the point."""
        from flint import arb

        if not 0.0 < radius < math.inf:
            return math.inf
        step = self.k * arb(radius)
        if not self.reach + step < arb.pi() / 2:
            return math.inf
        far = 2 * self.reach + step  # no record is farther from any point of that ball
        sine, cosine = far.sin_cos()
        least = self.mean_a - step * (far - sine * cosine) / (sine * sine)
        if not self.size < least * arb(radius):  # only where ``least`` is positive
            return math.inf
        return _rounded_up(self.size / least)


def _rounded_up(number: Ball) -> float:
    """Return a float that is at least the number, inf where its enclosure is unbounded."""
    from flint import arb

    if not number.is_finite():
        return math.inf
    found = float(number.upper())
    while not arb(found) >= number:
        found = math.nextafter(found, math.inf)
    return found
