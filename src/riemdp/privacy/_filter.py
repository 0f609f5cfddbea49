"""Arithmetic of a filter: limits, prices and exact running sums, the same for every account."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from riemdp._checks import kind_of, real
from riemdp._errors import InvalidBudgetError
from riemdp.privacy._budget import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    #: Exact sums, as multiples of 2^-1074.
    Sums = tuple[int, ...]

#: A total within this relative distance over the limit still passes: sums of decimal fractions.
_TOLERANCE = 1e-12
#: A smaller total is refused: squares of its parts would leave float64.
_SMALLEST_LIMIT = 1e-290
#: Smallest positive float, of which all floats are multiples.
_SMALLEST = 5e-324
_LARGEST = sys.float_info.max
_PLACES = 1074
_ONE = 1 << _PLACES


class Filter:
    """Decides whether a guarantee still fits into a total, after others chosen before it.

    It holds no state: the sums of what was charged are given to it and returned. They are exact,
    so a decision does not depend on how many charges there were before, and takes as long.

    Parameters
    ----------
    total : Budget

    Attributes
    ----------
    total : Budget
    limits : tuple of float
        What the sum of each amount of a price may reach.
    nothing : tuple of int
        Sums before the first charge.

    Raises
    ------
    InvalidBudgetError
        If ``total`` is no privacy definition, limits nothing, is too small or large for its parts
        to be added up in float64, or if its price is none.
    UnsupportedBudgetError
        If no filter is proved for its definition.

    Notes
    -----
    A sum of floats, each at least 0, is an integer multiple of 2^-1074. A charge passes if every
    sum, rounded once, is at most ``limit * (1 + 1e-12)``; what is rounded is all that was charged,
    so that errors do not add up.

    References
    ----------
    docs/proofs/composition.md
    """

    def __init__(self, total: Budget) -> None:
        if not isinstance(total, Budget):
            raise InvalidBudgetError(
                f"total must be a privacy definition such as GDP(1.0), got {kind_of(total)}"
            )
        self.total = total
        self.limits = checked_price(total.price(), total)
        if math.inf in self.limits[1:]:
            raise InvalidBudgetError(f"{total} has a price without end; choose another total")
        if not _SMALLEST_LIMIT <= self.limits[0] < math.inf:
            raise InvalidBudgetError(
                f"{total} allows everything, or is too small or too large to be added up in "
                "float64; choose another total"
            )
        self.nothing: Sums = (0,) * len(self.limits)
        self._most = tuple(min(limit * (1.0 + _TOLERANCE), _LARGEST) for limit in self.limits)

    def price(self, guarantee: Budget) -> tuple[float, ...]:
        """Return what a guarantee costs in this total; nothing is free.

        Parameters
        ----------
        guarantee : Budget

        Returns
        -------
        tuple of float
            As many as there are limits; ``inf`` for what no total covers.

        Raises
        ------
        NoConversionError
            If the guarantee means nothing in the definition of the total.
        InvalidBudgetError
            If its price is none: amounts of at least 0, as many as the total has.
        """
        found = self.total.price_of(guarantee)
        first, *others = checked_price(found, guarantee, len(self.limits))
        return (max(first, _SMALLEST), *others)  # a square may underflow

    def charged(self, sums: Sums, price: Sequence[float]) -> Sums | None:
        """Return the sums after a charge, or None if it does not fit.

        Parameters
        ----------
        sums : tuple of int
            Of the charges before.
        price : sequence of float
            As :meth:`price` returns it.

        Returns
        -------
        tuple of int or None
        """
        if math.inf in price:
            return None
        after = added(sums, price)
        return after if self.covers(after) else None

    def covers(self, sums: Sums) -> bool:
        """Whether sums are within the limits. See :meth:`charged`."""
        return all(_rounded(one) <= most for one, most in zip(sums, self._most, strict=True))

    def spent(self, sums: Sums) -> Budget | None:
        """Return what was charged, as one guarantee of the total's definition; None for nothing.

        See :meth:`charged`.
        """
        return self.total.total(tuple(map(_rounded, sums)))

    def remaining(self, sums: Sums) -> Budget | None:
        """Return what may still be charged, in the total's definition; None for nothing.

        See :meth:`charged`.
        """
        left = []
        for one, limit in zip(sums, self.limits, strict=True):
            rest = _rounded(_exact(limit) - one)
            left.append(rest if rest > _TOLERANCE * limit else 0.0)
        return self.total.total(tuple(left))


def added(sums: Sums, price: Sequence[float]) -> Sums:
    """Return exact sums with the amounts of a price added.

    Parameters
    ----------
    sums : tuple of int
        Multiples of 2^-1074.
    price : sequence of float
        Finite.

    Returns
    -------
    tuple of int
    """
    return tuple(one + _exact(amount) for one, amount in zip(sums, price, strict=True))


def checked_price(price: object, guarantee: Budget, length: int | None = None) -> tuple[float, ...]:
    """Return a price, which may be of another package; a negative amount would give budget back.

    ``inf``, which no total covers, gets through. Raises ``InvalidBudgetError`` if it is no tuple of
    as many amounts of at least 0.
    """
    found = tuple(price) if isinstance(price, (tuple, list)) else ()
    name = f"an amount in the price of {type(guarantee).__name__}"
    amounts = tuple(real(amount, name, error=InvalidBudgetError) for amount in found)
    if not amounts or length not in (None, len(amounts)):
        wanted = "a tuple of amounts" if length is None else f"a tuple of {length}, as of its total"
        raise InvalidBudgetError(f"the price of {type(guarantee).__name__} must be {wanted}")
    for amount in amounts:
        if not amount >= 0.0:  # NaN neither
            raise InvalidBudgetError(f"{name} must be at least 0, got {amount}")
    return amounts


def _exact(amount: float) -> int:
    """Return a finite float as a multiple of 2^-1074; its denominator is a power of two."""
    numerator, denominator = amount.as_integer_ratio()
    return numerator << (_PLACES + 1 - denominator.bit_length())


def _rounded(sum_: int) -> float:
    """Return the float nearest to a multiple of 2^-1074, ties to even; inf beyond float64."""
    try:
        return sum_ / _ONE
    except OverflowError:
        return math.inf
