"""Floating-point results that lie on the safe side of the exact value.

docs/proofs/privacy-conversions.md, section 8, has the arguments.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

#: Relative error of a formula without cancellation: up to three elementary functions, each within
#: four units in the last place, and ten operations.
ELEMENTARY = 4e-15


def up(value: float, error: float = ELEMENTARY) -> float:
    """Float above every number that a non-negative ``value`` with this relative error may be.

    Parameters
    ----------
    value : float
    error : float, default 4e-15

    Returns
    -------
    float
    """
    return math.nextafter(value * (1.0 + error), math.inf)


def delta_up(delta: ArrayLike, error: float = ELEMENTARY) -> NDArray[np.float64]:
    """:func:`up` of probabilities, to 1 at most; 0 becomes positive, as it may have underflowed."""
    pushed = np.nextafter(np.multiply(delta, 1.0 + error), np.inf)
    return np.asarray(np.minimum(pushed, 1.0))


def exponent_up(log_delta: ArrayLike, size: ArrayLike) -> NDArray[np.float64]:
    """Raise logs of probabilities above what rounding may have taken off sums of this size."""
    return np.asarray(np.add(log_delta, 2e-15 * (1.0 + np.asarray(size))))


def first_within(
    delta_at: Callable[[float], float | NDArray[np.float64]],
    delta: float,
    epsilon: float,
    step: float,
    limit: float = math.inf,
) -> float:
    """First of some growing ``epsilon`` whose ``delta`` is seen to suffice, ``limit`` at most.

    ``delta_at`` is a curve that is rounded up. The step doubles; ``limit`` itself is not tried.
    """
    while epsilon < limit and delta_at(epsilon) > delta:
        epsilon += step
        step *= 2.0
    return min(epsilon, limit)


def quotient_up(numerator: float, denominator: float) -> float:
    """Smallest float not under ``numerator / denominator``.

    Parameters
    ----------
    numerator, denominator : float
        Positive and finite.

    Returns
    -------
    float
    """
    quotient = numerator / denominator
    if math.isinf(quotient) or _product_reaches(quotient, denominator, numerator, 1.0):
        return quotient
    return math.nextafter(quotient, math.inf)


def on_grid(value: float, *, up: bool) -> float:
    """Nearest float of 39 significant bits that is not under a positive value, or not above it.

    Parameters
    ----------
    value : float
        Positive.
    up : bool
        Which side.

    Returns
    -------
    float
        From ``2^1023`` on inf or that.
    """
    if value >= 2.0**1023:
        return math.inf if up else 2.0**1023
    digits, exponent = math.frexp(value)
    step = math.ceil if up else math.floor
    return math.ldexp(step(math.ldexp(digits, 39)), exponent - 39)


def product_up(first: float, second: float) -> float:
    """Smallest float not under the product of two positive numbers.

    Parameters
    ----------
    first, second : float
        Positive and finite.

    Returns
    -------
    float
    """
    product = first * second
    if math.isinf(product) or _product_reaches(product, 1.0, first, second):
        return product
    return math.nextafter(product, math.inf)


def _product_reaches(first: float, second: float, third: float, fourth: float) -> bool:
    """Whether ``first * second >= third * fourth``, exactly, for finite numbers."""
    (a, b), (c, d) = first.as_integer_ratio(), second.as_integer_ratio()
    (e, f), (g, h) = third.as_integer_ratio(), fourth.as_integer_ratio()
    return a * c * f * h >= e * g * b * d


def half_square_up(value: float) -> float:
    """Smallest float not under ``value**2 / 2`` (``value`` positive; ``inf`` gives ``inf``)."""
    half_square = 0.5 * value * value
    if math.isinf(half_square) or 2 * Fraction(half_square) >= Fraction(value) ** 2:
        return half_square
    return math.nextafter(half_square, math.inf)


def sum_up(values: Sequence[float]) -> float:
    """Smallest float not under the exact sum."""
    try:
        total = math.fsum(values)
    except OverflowError:
        return math.inf
    if math.fsum([*values, -total]) <= 0.0:
        return total
    return math.nextafter(total, math.inf)


def root_of_squares_up(values: Iterable[float]) -> float:
    """Smallest float not under the exact root of the sum of squares, or its successor.

    Parameters
    ----------
    values : iterable of float
        Positive and finite.

    Returns
    -------
    float
    """
    values = list(values)
    root = math.hypot(*values)
    if math.isinf(root):
        return root
    exact = sum(
        (count * Fraction(value) ** 2 for value, count in Counter(values).items()), Fraction()
    )
    while Fraction(root) ** 2 < exact:
        root = math.nextafter(root, math.inf)
    return root


def repeated_up(value: float, n: int) -> float:
    """Root of the sum of ``n`` equal squares, ``sqrt(n) value``, rounded up."""
    return value if n == 1 else up(math.sqrt(n) * value, 1e-15)


def share_down(value: float, share: Fraction) -> float:
    """Largest float of at most this share of a value that is not negative."""
    exact = Fraction(value) * share
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, 0.0)


def root_share_down(value: float, share: Fraction) -> float:
    """Largest float, or its predecessor, with a square of at most ``value**2 * share``."""
    found = math.nextafter(value * math.sqrt(share), math.inf)
    while Fraction(found) ** 2 > Fraction(value) ** 2 * share:
        found = math.nextafter(found, 0.0)
    return found
