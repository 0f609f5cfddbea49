"""Many enclosures side by side, in arrays of float64.

They have the methods of python-flint's that draws use, so the same formulas work on both. A
midpoint is the unevaluated sum of two float64 numbers. docs/proofs/exact-draws, "Many draws at
once", derives each constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    #: Arrays of float64, or one float for all.
    Floats: TypeAlias = Any
    Pair: TypeAlias = tuple[Floats, Floats]

#: Unit roundoff, and its square: that of pairs.
U = 2.0**-53
UU = U * U
#: What sums, products, quotients and roots of pairs err by at most, relative to the absolute values
#: of the numbers that are added or to the result.
_SUM, _PRODUCT, _QUOTIENT, _ROOT = 4 * UU, 9 * UU, 16 * UU, 8 * UU
#: More than what is lost where numbers leave the range of float64 below, for divisors and radicands
#: above the other number.
_TINY, _LEAST = 2.0**-600, 2.0**-400
#: Logarithms to base 2 within which balls of python-flint are taken over.
_RANGE = 900
#: Share that final radii are raised by, for the roundings in radii.
RAISED = 1.0 + 2.0**-30


def _two_sum(a: Floats, b: Floats) -> Pair:
    """Return the rounded sum and its error, exactly (Knuth)."""
    total = a + b
    other = total - a
    if isinstance(total, float):
        return total, (a - (total - other)) + (b - other)
    low = total - other
    np.subtract(a, low, out=low)
    np.subtract(b, other, out=other)
    low += other
    return total, low


def _split(a: Floats) -> Pair:
    """Return two numbers of 26 bits whose sum this is (Veltkamp)."""
    scaled = 134217729.0 * a  # 2^27 + 1
    if isinstance(a, float):
        high = scaled - (scaled - a)
        return high, a - high
    high = scaled - a
    np.subtract(scaled, high, out=high)
    np.subtract(a, high, out=scaled)
    return high, scaled


def _two_product(a: Floats, b: Floats, parts: Pair | None = None) -> Pair:
    """Return the rounded product and its error, exactly (Dekker); ``parts`` is the split b."""
    total = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b) if parts is None else parts
    low = a_high * b_high
    part = a_high * b_low
    if isinstance(total, float):
        return total, ((low - total) + part + a_low * b_high) + a_low * b_low
    low -= total
    low += part
    low += np.multiply(a_low, b_high, out=part)
    low += np.multiply(a_low, b_low, out=part)
    return total, low


def _sum(a: Pair, b: Pair) -> Pair:
    high, low = _two_sum(a[0], b[0])
    low += a[1] + b[1]
    return _two_sum(high, low)


def _product(a: Pair, b: Pair, parts: Pair | None = None) -> Pair:
    high, low = _two_product(a[0], b[0], parts)
    cross = a[0] * b[1]
    cross += a[1] * b[0]
    low += cross
    total = high + low
    high -= total
    high += low
    return total, high


def _quotient(a: Pair, b: Pair) -> Pair:
    high = a[0] / b[0]
    product, error = _two_product(high, b[0])
    low = (((a[0] - product) - error) + a[1] - high * b[1]) / b[0]
    total = high + low
    return total, low - (total - high)


def _root(a: Pair) -> Pair:
    high = np.sqrt(a[0])
    square, error = _two_product(high, high)
    low = (((a[0] - square) - error) + a[1]) / (2.0 * high)
    total = high + low
    return total, low - (total - high)


def _pair(number: Fraction) -> tuple[float, float]:
    high = float(number)
    return high, float(number - Fraction(high))


class Balls:
    """Intervals ``high + low +- radius``.

    Parameters
    ----------
    high, low : array_like of float
        The midpoints; ``low`` is at most half a unit in the last place of ``high``.
    radius : array_like of float, optional
        Infinite or NaN where nothing is known.
    """

    __slots__ = ("high", "low", "radius")
    __array_ufunc__ = None  # arrays leave products with balls to the balls

    def __init__(self, high: Floats, low: Floats = 0.0, radius: Floats = 0.0) -> None:
        self.high, self.low, self.radius = high, low, radius

    @classmethod
    def of(cls, number: Any) -> Balls:
        """Enclose a number, an array of float64 or a ball of python-flint."""
        if isinstance(number, Balls):
            return number
        if isinstance(number, (float, np.ndarray)):
            return cls(number)
        if isinstance(number, int):
            return cls(float(number), 0.0, 0.0 if abs(number) <= 1 << 53 else math.inf)
        if not number.is_finite():
            return cls(0.0, 0.0, math.inf)
        mantissa, exponent = map(int, number.mid().man_exp())
        size = mantissa.bit_length() + exponent
        if not -_RANGE < size < _RANGE:  # where powers of two alone fill the memory
            return cls(0.0, 0.0, _TINY if size < 0 and number.rad() < _TINY else math.inf)
        high, low = _pair(mantissa * Fraction(2) ** exponent)
        return cls(high, low, float(number.rad()) + UU * abs(high) + _TINY)

    @classmethod
    def uniform(cls, words: NDArray[np.uint64]) -> Balls:
        """Enclose uniform variables of which these are the first 64 bits."""
        high = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        low = ((words & np.uint64(2047)).astype(np.float64) + 0.5) * 2.0**-64
        return cls(*_two_sum(high, low), np.full(words.shape, 2.0**-65))

    def __getitem__(self, places: Any) -> Balls:
        return Balls(self.high[places], self.low[places], self.radius[places])

    @property
    def _mid(self) -> Pair:
        return self.high, self.low

    def __neg__(self) -> Balls:
        return Balls(-self.high, -self.low, self.radius)

    def __add__(self, other: Any) -> Balls:
        other = Balls.of(other)
        size = abs(self.high) + abs(other.high)
        return Balls(*_sum(self._mid, other._mid), self.radius + other.radius + _SUM * size)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Balls:
        return self + -Balls.of(other)

    def __rsub__(self, other: Any) -> Balls:
        return Balls.of(other) + -self

    def __mul__(self, other: Any) -> Balls:
        if isinstance(other, (int, float)) and abs(math.frexp(other)[0]) == 0.5:  # rounds nothing
            return Balls(other * self.high, other * self.low, abs(other) * self.radius)
        other = Balls.of(other)
        high, low = _product(self._mid, other._mid)
        radius = (abs(self.high) + self.radius) * other.radius + abs(other.high) * self.radius
        return Balls(high, low, radius + (_PRODUCT * abs(high) + _TINY))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Balls:
        other = Balls.of(other)
        high, low = _quotient(self._mid, other._mid)
        size, below = abs(high), abs(other.high)
        radius = (self.radius + size * other.radius) / (below - other.radius)
        radius = radius + (_QUOTIENT * size + _TINY)
        known = (other.radius <= 0.5 * below) & (below > _LEAST)
        return Balls(high, low, np.where(known, radius, np.inf))

    def __rtruediv__(self, other: Any) -> Balls:
        return Balls.of(other) / self

    def sqrt(self) -> Balls:
        """Enclose square roots of numbers that are not negative."""
        high, low = _root(self._mid)
        radius = self.radius / high + (_ROOT * high + _TINY)
        return Balls(high, low, np.where(self.high > _LEAST, radius, np.inf))

    def nonnegative_part(self) -> Balls:
        """Return themselves: :meth:`sqrt` asks for nothing else."""
        return self

    def min(self, other: Any) -> Balls:
        """Enclose the smaller of two numbers each."""
        other = Balls.of(other)
        first = (self.high < other.high) | ((self.high == other.high) & (self.low < other.low))
        return where(first, self, other)._widened(np.maximum(self.radius, other.radius))

    def _widened(self, radius: Floats) -> Balls:
        return Balls(self.high, self.low, radius)

    def log(self) -> Balls:
        """Enclose logarithms: ``log(2^k m) = k log 2 + 2 artanh((m - 1) / (m + 1))``."""
        mantissa, power = np.frexp(self.high)
        power = power - (mantissa < math.sqrt(0.5))
        scaled = Balls(np.ldexp(self.high, -power), np.ldexp(self.low, -power))
        s = (scaled - 1) / (scaled + 1)
        found = 2 * s * _LOGARITHM(s * s)
        found = found + Balls(power.astype(np.float64)) * _LOG2
        radius = self.radius / (self.high - self.radius)
        radius = np.where(self.radius <= 0.5 * self.high, radius, np.inf)
        return found._widened(found.radius + radius)

    def sin_cos_pi(self) -> tuple[Balls, Balls]:
        """Enclose sines and cosines of pi times the numbers."""
        turns = np.rint(2.0 * self.high)
        angle = (self - 0.5 * turns) * _PI
        square = angle * angle
        sine, cosine = angle * _SINE(square), 1 - square * _VERSINE(square)
        quarter = turns.astype(np.int64) & 3
        odd = (quarter & 1).astype(bool)
        sines, cosines = where(odd, cosine, sine), where(odd, sine, cosine)
        return sines._signed(quarter >= 2), cosines._signed((quarter == 1) | (quarter == 2))

    def _signed(self, negative: Any) -> Balls:
        sign = 1.0 - 2.0 * negative
        return Balls(sign * self.high, sign * self.low, self.radius)

    def sin_cos(self) -> tuple[Balls, Balls]:
        """Enclose sines and cosines."""
        return self._doubled(1, _SINE, _VERSINE)

    def sinh_cosh(self) -> tuple[Balls, Balls]:
        """Enclose hyperbolic sines and cosines."""
        return self._doubled(-1, _SINH, _VERSINH)

    def _doubled(self, sign: int, sine: _Series, versine: _Series) -> tuple[Balls, Balls]:
        """Double small arguments, by ``s`` and ``v = sign (1 - c)``."""
        near = np.isfinite(self.radius) & (abs(self.high) < _FAR)
        largest = float(np.max(abs(self.high), initial=0.0, where=near))
        times = max(0, math.frexp(largest / _SMALL_ANGLE)[1])
        part = self * 2.0**-times
        square = part * part
        s, v = part * sine(square), square * versine(square)
        for _ in range(times):
            s, v = 2 * (s * (1 - sign * v)), 2 * (v * (2 - sign * v))
        return s, 1 - sign * v

    def atan2(self, other: Balls) -> Balls:
        """Enclose angles of points of the unit circle, by ordinates that are not negative."""
        return _halved(self, other, _ARCTAN)

    def asinh(self) -> Balls:
        """Enclose areas whose hyperbolic sines these are, not negative."""
        return _halved(self, (1 + self * self).sqrt(), _ARTANH)

    def put(self, places: NDArray[np.intp], balls: Balls) -> None:
        """Replace some by others."""
        self.high[places], self.low[places] = balls.high, balls.low
        self.radius[places] = balls.radius

    def less(self, other: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return where they are certainly less than others, and where certainly not."""
        gap = Balls.of(other) - self
        bound = RAISED * RAISED * gap.radius
        return gap.high > bound, gap.high < -bound

    def nearest(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return nearest integers, and where they are certain."""
        whole = np.rint(self.high)
        rest = (self.high - whole) + self.low
        more = np.rint(rest)
        certain = abs(rest - more) + (RAISED * self.radius + 2.0**-43) < 0.5
        certain &= abs(whole) < 2.0**61
        whole = np.where(certain, whole, 0.0).astype(np.int64)
        return whole + np.where(certain, more, 0.0).astype(np.int64), certain


def where(choice: NDArray[np.bool_], first: Balls, second: Balls) -> Balls:
    """Return the first balls where a choice is true and the second elsewhere."""
    pairs = ((getattr(first, name), getattr(second, name)) for name in Balls.__slots__)
    return Balls(*(np.where(choice, a, b) for a, b in pairs))


def _halved(sine: Balls, cosine: Balls, series: _Series) -> Balls:
    """Enclose angles or areas by the tangents of what is left when they have been halved."""
    times = 1
    while times <= _HALVINGS:
        tangent = sine.high / (1.0 + cosine.high)
        known = np.isfinite(sine.radius)
        if np.fmax.reduce(tangent, axis=None, initial=0.0, where=known) <= _SMALL_TANGENT:
            break
        cosine = ((1 + cosine) * 0.5).sqrt()
        sine, times = sine / (2 * cosine), times + 1
    half = sine / (1 + cosine)
    return 2.0**times * (half * series(half * half))


@dataclass(frozen=True)
class _Series:
    """A power series for arguments up to ``most`` in absolute value, with what it errs by."""

    terms: tuple[tuple[float, float], ...]
    pairs: int
    most: float
    slope: float
    error: float

    @classmethod
    def of(cls, coefficient: Callable[[int], Fraction], most: float) -> _Series:
        """Take as many terms as float64 pairs can tell; coefficients do not grow in size.

        Terms from number ``pairs`` on are added in float64: they are too small to matter. ``error``
        follows the errors of Horner's rule down, ``size`` the absolute values.
        """
        x, small = Fraction(most), Fraction(2) ** -110
        terms: list[Fraction] = []
        power = Fraction(1)
        while abs(coefficient(len(terms))) * power > small:
            terms.append(coefficient(len(terms)))
            power *= x
        rest = abs(coefficient(len(terms))) * power / (1 - x)
        pairs = next(
            j
            for j in range(len(terms))
            if sum(abs(c) * x**i for i, c in enumerate(terms[j:], j)) < 2**-60
        )
        size = error = slope = Fraction(0)
        for j, c in reversed(list(enumerate(terms))):
            of_product = 2 * U if j + 1 >= pairs else _PRODUCT
            of_sum, of_term = (U, U) if j >= pairs else (_SUM, UU)
            slope, moved = x * slope + size, x * size
            size = moved + abs(c)
            error = x * error + Fraction(of_product) * moved
            error += Fraction(of_sum) * size + Fraction(of_term) * abs(c)
        raised = Fraction(RAISED)
        return cls(
            tuple(map(_pair, terms)),
            pairs,
            most,
            float(raised * slope),
            float(raised * (error + rest)),
        )

    def __call__(self, x: Balls) -> Balls:
        high = self.terms[-1][0] * x.high
        for term in self.terms[-2 : self.pairs - 1 : -1]:
            high += term[0]
            high *= x.high
        pair, parts = _sum((high, 0.0), self.terms[self.pairs - 1]), _split(x.high)
        for term in self.terms[self.pairs - 2 :: -1]:
            pair = _sum(_product(pair, x._mid, parts), term)
        radius = np.where(
            abs(x.high) + x.radius <= self.most, self.slope * x.radius + self.error, np.inf
        )
        return Balls(*pair, radius)


#: Arguments past which sines are not asked for; what series begin with; how often tangents of
#: angles are halved at most.
_FAR, _SMALL_ANGLE, _SMALL_TANGENT, _HALVINGS = 64.0, 0.83, 0.24, 7


def _constant(digits: str) -> Balls:
    number = Fraction(digits)
    return Balls(*_pair(number), UU * float(number))


_PI = _constant("3.14159265358979323846264338327950288419716939937510")
_LOG2 = _constant("0.69314718055994530941723212145817656807550013436026")
_SINE = _Series.of(lambda j: Fraction((-1) ** j, math.factorial(2 * j + 1)), 0.7)
_SINH = _Series.of(lambda j: Fraction(1, math.factorial(2 * j + 1)), 0.7)
_VERSINE = _Series.of(lambda j: Fraction((-1) ** j, math.factorial(2 * j + 2)), 0.7)
_VERSINH = _Series.of(lambda j: Fraction(1, math.factorial(2 * j + 2)), 0.7)
_LOGARITHM = _Series.of(lambda j: Fraction(1, 2 * j + 1), 0.03)
_ARTANH = _Series.of(lambda j: Fraction(1, 2 * j + 1), 0.0625)
_ARCTAN = _Series.of(lambda j: Fraction((-1) ** j, 2 * j + 1), 0.0625)


def folded(operation: Callable[[Balls, Balls], Balls], balls: Balls) -> Balls:
    """Sum or multiply along the first axis, halves with halves."""
    while (count := len(balls.high)) > 1:
        half = count // 2
        rest = balls[2 * half :]
        balls = operation(balls[:half], balls[half : 2 * half])
        if count % 2:
            balls = joined(balls, rest)
    return balls[0]


def joined(first: Balls, second: Balls) -> Balls:
    """Return the ones and then the others along the first axis."""
    pairs = ((getattr(first, name), getattr(second, name)) for name in Balls.__slots__)
    return Balls(*(np.concatenate(pair) for pair in pairs))


def gammas(words: NDArray[np.uint64]) -> Balls:
    """Enclose gamma variables of whole shape: what ``gamma`` is to one draw.

    Parameters
    ----------
    words : ndarray of int, shape (shape, draws)
        The first 64 bits of uniform variables.
    """
    total = Balls(0.0)
    for start in range(0, len(words), _FACTORS):
        factors = Balls.uniform(words[start : start + _FACTORS])
        total = total - folded(Balls.__mul__, factors).log()
    return total


def directions(words: NDArray[np.uint64], dim: int, length: Balls | float = 1.0) -> Balls:
    """Enclose uniform vectors of a length, shape (dim, draws): what ``direction`` is to one draw.

    Parameters
    ----------
    words : ndarray of int, shape (direction_uniforms(dim), draws)
        The first 64 bits of uniform variables.
    """
    if dim == 1:
        sign = 1.0 - 2.0 * (words >> np.uint64(63)).astype(np.float64)
        return Balls(sign, np.zeros_like(sign), np.zeros_like(sign)) * length
    sines, cosines = (2 * Balls.uniform(words[1 if dim > 2 else 0 :: 2])).sin_cos_pi()
    if dim > 2:
        squares = -2 * Balls.uniform(words[::2]).log()
        lengths = squares.sqrt()
        sines, cosines = lengths * sines, lengths * cosines
        if dim % 2:
            squares = joined(squares[:-1], cosines[-1:] * cosines[-1:])
        length = length / folded(Balls.__add__, squares).sqrt()
    return _interlaced(cosines * length, sines * length)[:dim]


def _interlaced(first: Balls, second: Balls) -> Balls:
    pairs = ((getattr(first, name), getattr(second, name)) for name in Balls.__slots__)
    return Balls(*(np.stack(pair, axis=1).reshape(-1, *pair[0].shape[1:]) for pair in pairs))


#: Uniform variables whose product is a number of float64, but for one string of bits in 2^300.
_FACTORS = 256
