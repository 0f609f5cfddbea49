"""Floating-point results that lie on the safe side of the exact value."""

from __future__ import annotations

import math
from fractions import Fraction


def quotient_up(numerator: float, denominator: float) -> float:
    """Smallest float not under ``numerator / denominator`` (both positive and finite)."""
    quotient = numerator / denominator
    if math.isinf(quotient) or Fraction(quotient) * Fraction(denominator) >= Fraction(numerator):
        return quotient
    return math.nextafter(quotient, math.inf)


def half_square_up(value: float) -> float:
    """Smallest float not under ``value**2 / 2`` (``value`` positive and finite)."""
    half_square = 0.5 * value * value
    if math.isinf(half_square) or 2 * Fraction(half_square) >= Fraction(value) ** 2:
        return half_square
    return math.nextafter(half_square, math.inf)
