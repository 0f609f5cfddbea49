r"""How near a float64 vector is to the Fréchet mean of others, on spheres and hyperbolic spaces.

All vectors are normal coordinates about one point ``o`` of the abstract space, taken as the
rational numbers they are, and the gradient is enclosed in balls *at the very vector that is asked
about*: no float64 rounding is allowed for, because none enters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import InvalidParameterError
from riemdp._working_precision import working_precision
from riemdp.manifolds import clip_norm
from riemdp.statistics._mean_solver import check_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray

    Ball = Any

#: Working precision to begin with and at most, in bits. They decide time and success, not truth.
_BITS, _MOST_BITS = 128, 8192
#: Relative accuracy of a gradient from which on more bits would not make it smaller.
_KNOWN = 30
#: Records whose balls are kept at a time.
_CHUNK = 4096
#: Newton steps before a mean is given up.
_STEPS = 8


def certificate(
    curvature: float,
    point: FloatArray,
    records: FloatArray,
    tol: float,
    *,
    weights: NDArray[np.int64] | None = None,
) -> float:
    """Bound the distance from a point to the exact Fréchet mean of records, rounded up.

    ``point`` ``(d,)`` and ``records`` ``(n, d)``, ``d >= 2``, are normal coordinates about ``o``,
    orthonormal, in units of distance and exact, as ``curvature`` is. On a sphere all records have
    to lie within the open hemisphere about ``o``, where the mean is unique. ``weights`` ``(n,)``
    are positive, at most ``2^53``. Precision grows until the bound is at most ``tol``, or is known
    not to be; it is inf where none is proved. Curvature 0, of which the formulas say nothing, is
    refused. See docs/proofs/certified-means, "Spheres and hyperbolic spaces".
    """
    return _certified(curvature, point, records, tol, weights)[0]


def refined(
    curvature: float,
    start: FloatArray,
    records: FloatArray,
    radius: float,
    tol: float,
    *,
    weights: NDArray[np.int64] | None = None,
) -> tuple[FloatArray, float]:
    """Move a point towards the Fréchet mean until it is certified to be near.

    ``start`` ``(d,)`` is near the mean, as a solver leaves it; ``records`` lie in the ball of
    ``radius``, to which points are shortened before they are certified; the rest is as in
    :func:`certificate`. Returns the point and its bound, at most ``tol``, or raises
    ``ConvergenceError`` if a few of Newton's steps do not end at such a point.
    """
    point, bound = clip_norm(np.asarray(start, dtype=np.float64), radius), math.inf
    for _ in range(_STEPS):
        bound, gradient = _certified(curvature, point, records, tol, weights)
        if bound <= tol or not np.isfinite(gradient).all():
            break
        step = _newton_step(curvature, point, records, gradient, weights)
        point = clip_norm(point + step, radius)
    check_bound(bound, tol)
    return point, bound


def _certified(
    curvature: float,
    point: FloatArray,
    records: FloatArray,
    tol: float,
    weights: NDArray[np.int64] | None = None,
) -> tuple[float, FloatArray]:
    """Return the bound and, in float64, minus the gradient."""
    if curvature == 0.0:
        raise InvalidParameterError("curvature must not be 0; averages are exact on flat space")
    unknown = np.full(point.shape, math.nan)
    if not (np.isfinite(point).all() and np.isfinite(records).all()):
        return math.inf, unknown
    bits = _BITS
    while True:
        with working_precision(bits):
            found = _enclosure(curvature, point, records, weights)
            if found is None:
                return math.inf, unknown
            bound = found.distance(tol)
            known = found.size.rel_accuracy_bits() >= _KNOWN
        if bound <= tol or known or 2 * bits > _MOST_BITS:
            return bound, np.array([float(x) for x in found.gradient])
        bits *= 2


def _enclosure(
    curvature: float, point: FloatArray, records: FloatArray, weights: NDArray[np.int64] | None
) -> Enclosure | None:
    """Enclose what bounds the distance, None where a sphere's mean is not seen to be unique."""
    from flint import arb

    sums = Sums(curvature, point)
    for start in range(0, len(records), _CHUNK):
        rows = slice(start, start + _CHUNK)
        sums.add(records[rows], None if weights is None else weights[rows])
        if sums.spherical and not sums.reach < arb.pi() / 2:
            return None
    return sums.enclosure()


class Sums:
    """Sums over records at the working precision; point ``(d,)`` and records are exact numbers.

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
        self.angle = self.reach = self.k * sum([x * x for x in self.point], arb(0)).sqrt()
        sine, self.cosine = self.sine_cosine(self.angle)
        self.sinc = sine / _divisor(self.angle)
        self.count = 0
        self.vectors, self.cosines = [arb(0) for _ in self.point], arb(0)

    def add(self, records: FloatArray, weights: NDArray[np.int64] | None = None) -> None:
        """Add weighted records, and weighted ``c`` of their angles."""
        from flint import arb, arb_mat

        count, dim = records.shape
        matrix, column = arb_mat(count, dim, records.ravel().tolist()), arb_mat(dim, 1, self.point)
        # A sum of squares of exact numbers is zero where they are, and seen to be positive else.
        zero, rows = arb(0), zip(*[iter(matrix.entries())] * dim, strict=True)
        angles = [self.k * sum([x * x for x in row], zero).sqrt() for row in rows]
        if self.spherical:
            self.reach = _largest([self.reach, *angles])
        weigh = _spherical(2 * self.reach) if self.spherical else _hyperbolic()
        skew, cosine, sine_cosine = self.curvature * self.sinc, self.cosine, self.sine_cosine
        factors, cosines = [], arb(0)
        times = [1] * count if weights is None else weights.tolist()
        for angle, product, many in zip(angles, (matrix * column).entries(), times, strict=True):
            s, c = sine_cosine(angle)
            sinc = s / _divisor(angle)
            weight = weigh(c * cosine + skew * (sinc * product))
            if weights is not None:
                weight *= many
            factors.append(weight * sinc)
            cosines += weight * c
        sums = (arb_mat(1, count, factors) * matrix).entries()
        self.vectors = [x + y for x, y in zip(self.vectors, sums, strict=True)]
        self.cosines += cosines
        self.count += sum(times)

    def take(self, vectors: list[Ball], cosines: Ball, reach: float, count: int) -> None:
        """Add what was added elsewhere, of records of norm ``reach`` at most.

        ``count`` is their number, or the sum of their weights.
        """
        from flint import arb

        self.vectors = [x + y for x, y in zip(self.vectors, vectors, strict=True)]
        self.cosines += cosines
        self.reach = _largest([self.reach, self.k * arb(reach)])
        self.count += count

    def enclosure(self) -> Enclosure:
        """Enclose averages over all records."""
        from flint import arb

        zero = arb(0)
        inner = sum([x * v for x, v in zip(self.vectors, self.point, strict=True)], zero)
        along = self.sinc * self.cosines + self._turn() * inner
        pairs = zip(self.vectors, self.point, strict=True)
        gradient = [(x - along * v) / self.count for x, v in pairs]
        size = sum([x * x for x in gradient], zero).nonnegative_part().sqrt()
        mean_a = (self.cosine * self.cosines + self.curvature * self.sinc * inner) / self.count
        return Enclosure(self.spherical, self.k, self.reach, gradient, size, mean_a)

    def _turn(self) -> Ball:
        """Enclose what the frame that is parallel to the point adds to ``along``."""
        half = self.sine_cosine(self.angle / 2)[0] / _divisor(self.angle / 2)
        return self.curvature * half * half / 2


@dataclass(frozen=True)
class Enclosure:
    """Averages over all records, enclosed in balls of one working precision."""

    spherical: bool
    k: Ball
    reach: Ball  # an angle that bounds those of the point and, on spheres, of all records
    gradient: list[Ball]  # minus that of the Fréchet functional, in the frame parallel from o
    size: Ball  # its norm
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


def _largest(angles: list[Ball]) -> Ball:
    """Return a bound of all, hardly above the largest."""
    from flint import arb, ctx

    guess = max(angles) * (1 + arb((1, -(ctx.prec // 2))))  # where balls overlap, of either
    return guess if all(angle <= guess for angle in angles) else arb.pos_inf()


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


def _newton_step(
    curvature: float,
    point: FloatArray,
    records: FloatArray,
    gradient: FloatArray,
    weights: NDArray[np.int64] | None,
) -> FloatArray:
    """Change of coordinates in Newton's step, in float64: nothing is claimed of it.

    The Hessian is taken in the frame that is parallel from ``o``, as the gradient is.
    """
    k = math.sqrt(abs(curvature))
    spherical = curvature > 0.0
    even, odd = (np.cos, np.sin) if spherical else (np.cosh, np.sinh)
    with np.errstate(all="ignore"):
        length = float(np.linalg.norm(point))
        angles, angle = k * np.linalg.norm(records, axis=1), k * length
        sinc = _quotient(odd(angle), angle)
        half = _quotient(odd(angle / 2.0), angle / 2.0)
        products = curvature * (records @ point) * _quotient(odd(angles), angles)
        cosines = even(angles) * even(angle) + products * sinc
        along = even(angles) * sinc + products * half**2 / 2.0
        across = k * (_quotient(odd(angles), angles)[:, None] * records - along[:, None] * point)
        square = (across**2).sum(axis=1)
        size = np.sqrt(square)
        between = np.arctan2(size, cosines) if spherical else np.arcsinh(size)
        # (1 - a) / |across|^2, whose limit is a third.
        bend = (1.0 - between * cosines / size) / square
        bend = np.where(size > 1e-3, bend, math.copysign(1.0 / 3.0, curvature))
        if weights is None:
            hessian = (across.T * bend) @ across / len(records)
            hessian += np.mean(1.0 - bend * square) * np.eye(len(point))
        else:
            share = weights / sum(weights.tolist())
            hessian = (across.T * (bend * share)) @ across
            hessian += float((1.0 - bend * square) @ share) * np.eye(len(point))
        if not np.isfinite(hessian).all():
            return gradient
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        # Along the point coordinates are lengths, across it they are spread by s(t) / t.
        unit = _quotient(point, length)
        inward = float(unit @ step) * unit
        return np.asarray(inward + (step - inward) / sinc)


def _quotient(numerator: Any, denominator: Any) -> Any:
    """``numerator / denominator``, and 1 for it where the denominator is 0."""
    return np.where(denominator == 0.0, 1.0, numerator / np.where(denominator, denominator, 1.0))
