r"""How near a float64 vector is to the Fréchet mean of others, on spheres and hyperbolic spaces.

All vectors are normal coordinates about one point ``o`` of the abstract space, taken as the
rational numbers they are, and the gradient is enclosed in balls *at the very vector that is asked
about*: of float64 only the largest norm enters, with a bound of its rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._working_precision import working_precision
from riemdp.kernel import sum_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

    Ball = Any

#: Working precision, and the bits of the grid of sums, both relative to the radius.
_PRECISION, _BITS = 160, 110
#: Records whose balls are kept at a time.
_CHUNK = 4096
#: Unit roundoff of float64, and more than is lost of a norm whose squares are not normal numbers.
_UNIT, _TINY = 2.0**-53, 1e-150


@dataclass(frozen=True)
class Enclosed:
    """Sums over records of which two integers are known that they lie between, each.

    Attributes
    ----------
    below, above : tuple of int
        Of the coordinates, then of the cosines.
    reach : float
        Largest coordinates' norm among the records, rounded up; inf where a sum has no bound.
    count : int
        Number of records, or the sum of their weights.
    """

    below: tuple[int, ...] = field(repr=False)
    above: tuple[int, ...] = field(repr=False)
    reach: float = field(repr=False)
    count: int

    def __add__(self, other: Enclosed) -> Enclosed:
        below, above = (
            tuple(x + y for x, y in zip(mine, theirs, strict=True))
            for mine, theirs in ((self.below, other.below), (self.above, other.above))
        )
        return Enclosed(below, above, max(self.reach, other.reach), self.count + other.count)


def enclosed(
    curvature: float,
    radius: float,
    point: FloatArray,
    records: FloatArray,
    weights: NDArray[np.int64] | None = None,
) -> Enclosed:
    """Enclose what :func:`distance` needs of some records; those of parts are added.

    ``point`` ``(d,)`` and ``records`` ``(n, d)``, ``d >= 2``, are normal coordinates about ``o``,
    orthonormal, in units of distance and exact, as ``curvature`` is, which is not 0; ``radius`` is
    about that of a ball that holds them. ``weights`` ``(n,)`` are positive, at most ``2^40``. See
    docs/proofs/certified-means, "Spheres and hyperbolic spaces".
    """
    bits, nothing = _grids(radius, len(point)), (0,) * (len(point) + 1)
    whole = np.ones(len(records), dtype=np.int64) if weights is None else weights
    total = Enclosed(nothing, nothing, 0.0, 0)
    with working_precision(_PRECISION):
        place = Place(curvature, point)
        for start in range(0, len(records), _CHUNK):
            rows = slice(start, start + _CHUNK)
            some, times = records[rows], whole[rows]
            longest = float(np.linalg.norm(some, axis=-1).max())
            reach = longest * (1.0 + (len(point) + 8) * _UNIT) + _TINY
            sums, count = place.sums(some, times.tolist(), reach), sum_of(times)
            if not all(x.is_finite() for x in sums):
                return Enclosed(nothing, nothing, math.inf, count)
            below = tuple(_floor(x.lower(), each) for x, each in zip(sums, bits, strict=True))
            above = tuple(-_floor((-x).lower(), each) for x, each in zip(sums, bits, strict=True))
            total += Enclosed(below, above, reach, count)
    return total


def distance(
    curvature: float, radius: float, point: FloatArray, partial: Enclosed, tol: float
) -> float:
    """Bound the distance from a point to the exact Fréchet mean of all records, rounded up.

    Inf where none is proved, as where a bound depends on ``tol`` and exceeds it. On a sphere all
    records have to lie within the open hemisphere about ``o``, where the mean is unique.
    """
    if not (np.isfinite(point).all() and partial.reach < math.inf):
        return math.inf
    with working_precision(_PRECISION):
        each = zip(partial.below, partial.above, _grids(radius, len(point)), strict=True)
        sums = [_between(low, high, bits) for low, high, bits in each]
        found = Place(curvature, point).averages(sums, partial.reach, partial.count)
        return found.distance(tol)


def certificate(
    curvature: float,
    radius: float,
    point: FloatArray,
    records: FloatArray,
    tol: float,
    *,
    weights: NDArray[np.int64] | None = None,
) -> float:
    """Bound the distance of records that are all at hand; see :func:`distance`."""
    partial = enclosed(curvature, radius, point, records, weights)
    return distance(curvature, radius, point, partial, tol)


def grid(radius: float, whole: int) -> int:
    """Minus the binary logarithm of a grid of lengths, from the radius alone."""
    return whole - math.frexp(radius)[1]


def _grids(radius: float, dim: int) -> list[int]:
    return [grid(radius, _BITS)] * dim + [_BITS]


def _floor(number: Any, bits: int) -> int:
    """Return the largest integer that is at most an exact number times ``2^bits``."""
    mantissa, exponent = (int(x) for x in number.man_exp())
    shift = exponent + bits
    return mantissa << shift if shift >= 0 else mantissa >> -shift


def _between(below: int, above: int, bits: int) -> Any:
    """Enclose the numbers from ``below`` to ``above``, in units of ``2^-bits``."""
    from flint import arb

    return (arb(below).union(arb(above))) * arb((1, -bits))


class Place:
    """A point ``(d,)`` that records are seen from, at the working precision: exact numbers.

    Angles are distances times ``k = sqrt(|curvature|)``, ``s`` and ``c`` sine and cosine or the
    hyperbolic ones.
    """

    def __init__(self, curvature: float, point: FloatArray) -> None:
        from flint import arb

        self.spherical = curvature > 0.0
        self.curvature = arb(float(curvature))
        self.k = abs(self.curvature).sqrt()
        self.point = [arb(x) for x in point.tolist()]
        self.sine_cosine = arb.sin_cos if self.spherical else arb.sinh_cosh
        self.angle = self.k * sum([x * x for x in self.point], arb(0)).sqrt()
        sine, self.cosine = self.sine_cosine(self.angle)
        self.sinc = sine / _divisor(self.angle)

    def sums(self, records: FloatArray, times: list[int], reach: float) -> list[Ball]:
        """Enclose sums over weighted records, which are no longer, and ``c`` of their angles."""
        from flint import arb, arb_mat

        count, dim = records.shape
        matrix, column = arb_mat(count, dim, records.ravel().tolist()), arb_mat(dim, 1, self.point)
        # A sum of squares of exact numbers is zero where they are, and seen to be positive else.
        zero, rows = arb(0), zip(*[iter(matrix.entries())] * dim, strict=True)
        angles = [self.k * sum([x * x for x in row], zero).sqrt() for row in rows]
        weigh = _spherical(2 * self.reach(reach)) if self.spherical else _hyperbolic()
        skew, cosine, sine_cosine = self.curvature * self.sinc, self.cosine, self.sine_cosine
        factors, cosines = [], zero
        for angle, product, many in zip(angles, (matrix * column).entries(), times, strict=True):
            s, c = sine_cosine(angle)
            sinc = s / _divisor(angle)
            weight = many * weigh(c * cosine + skew * (sinc * product))
            factors.append(weight * sinc)
            cosines += weight * c
        return [*(arb_mat(1, count, factors) * matrix).entries(), cosines]

    def reach(self, longest: float) -> Ball:
        """Enclose the larger of the angles of the point and of that length."""
        from flint import arb

        return self.angle.max(self.k * arb(longest))

    def averages(self, sums: list[Ball], reach: float, count: int) -> Averages:
        """Enclose averages over all records, of the sums over them."""
        from flint import arb

        *vectors, cosines = sums
        zero, half = arb(0), self.sine_cosine(self.angle / 2)[0] / _divisor(self.angle / 2)
        inner = sum([x * v for x, v in zip(vectors, self.point, strict=True)], zero)
        along = self.sinc * cosines + self.curvature * half * half / 2 * inner
        gradient = [x - along * v for x, v in zip(vectors, self.point, strict=True)]
        size = sum([x * x for x in gradient], zero).nonnegative_part().sqrt() / count
        mean_a = (self.cosine * cosines + self.curvature * self.sinc * inner) / count
        return Averages(self.spherical, self.k, self.reach(reach), size, mean_a)


@dataclass(frozen=True)
class Averages:
    """Those over all records, enclosed in balls of one working precision."""

    spherical: bool
    k: Ball
    reach: Ball  # an angle that bounds those of the point and, on spheres, of all records
    size: Ball  # norm of the gradient of the Fréchet functional
    mean_a: Ball  # average of L c(L) / s(L), L the angles between point and records

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


def _spherical(widest: Ball) -> Callable[[Ball], Ball]:
    """Return what encloses ``L / sin L`` by ``cos L``, for ``L`` up to an angle under ``pi``.

    It is a convex, falling function of the cosine. Between an exact number below the enclosure and
    those in it, its slope is at most that at any lower number; so an enclosure that holds 1 costs
    no accuracy.
    """
    from flint import arb, ctx

    def between(cosine: Ball) -> tuple[Ball, Ball]:
        square = (one - cosine) * (one + cosine)
        sine = square.sqrt()
        return arb.atan2(sine, cosine) / sine, square

    one, tiny = arb(1), arb((1, 8 - ctx.prec))
    lowest = widest.cos() - arb((1, -(ctx.prec // 2)))
    quotient, square = between(lowest)
    slope = arb(0).union((lowest * quotient - 1) / square)

    def weigh(cosine: Ball) -> Ball:
        below = cosine.lower() - tiny
        if not below > lowest:
            return arb.nan()
        return between(below)[0] + (cosine - below) * slope

    return weigh


def _hyperbolic() -> Callable[[Ball], Ball]:
    """Return what encloses ``L / sinh L`` by ``cosh L``.

    Between an exact number above the enclosure and those in it, its slope is at most a third; so an
    enclosure that holds 1 costs no accuracy.
    """
    from flint import arb, ctx

    one, tiny, slope = arb(1), arb((1, 8 - ctx.prec)), arb(0).union(arb(1) / 3)

    def weigh(cosine: Ball) -> Ball:
        above = cosine.upper() + tiny
        sine = ((above - one) * (above + one)).sqrt()
        return sine.asinh() / sine + (above - cosine) * slope

    return weigh


def _divisor(length: Ball) -> Ball:
    """Return the length of a vector, 1 if that is zero: what is divided by it scales the vector."""
    return 1 if length.is_zero() else length


def _rounded_up(number: Ball) -> float:
    """Return a float that is at least the number, inf where its enclosure is unbounded."""
    from flint import arb

    if not number.is_finite():
        return math.inf
    found = float(number.upper())
    while not arb(found) >= number:
        found = math.nextafter(found, math.inf)
    return found
