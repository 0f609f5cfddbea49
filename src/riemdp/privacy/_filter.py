"""Arithmetic of a filter: limits, prices and exact running sums, the same for every account."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TYPE_CHECKING

from riemdp._checks import kind_of, real
from riemdp._errors import InvalidBudgetError
from riemdp.privacy._budget import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.privacy._budget import Amount

    #: Exact sums, as multiples of 2^-2148.
    Sums = tuple[int, ...]

#: The allowance of a total is itself over this number: for sums of fractions that floats round.
_ALLOWANCE = 10**12
#: A smaller total is refused.
_SMALLEST_LIMIT = 1e-290
_SMALLEST = 5e-324
_LARGEST = sys.float_info.max
#: All floats are multiples of 2^-1074, and their squares of 2^-2148.
_PLACES = 2148
_ONE = 1 << _PLACES
#: How far amounts are moved, relatively, until a guarantee lies on its side of them.
_STEPS = (0.0, *(2.0**k for k in range(-53, 1)))


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
    limits : tuple of float or Fraction
        The price of the total.
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
    Everything is decided in integers, multiples of 2^-2148: a charge passes if more than 1e-12 of
    each limit that it counts towards is left, and every sum is at most ``limit * (1 + 1e-12)``
    afterwards. This allowance is part of what an account guarantees. Ten tenths and three thirds
    fit into one, and nothing fits after them.

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
        if not _SMALLEST_LIMIT <= self.limits[0] <= _LARGEST:
            raise InvalidBudgetError(
                f"{total} allows everything, or is too small or too large to be added up in "
                "float64; choose another total"
            )
        self.nothing: Sums = (0,) * len(self.limits)
        self._exact = tuple(map(_exact, self.limits))
        most = _exact(_LARGEST)
        self._most = tuple(min(one + one // _ALLOWANCE, most) for one in self._exact)
        self._full = tuple(one - one // _ALLOWANCE for one in self._exact)

    def price(self, guarantee: Budget) -> tuple[Amount, ...]:
        """Return what a guarantee costs in this total; nothing is free.

        Parameters
        ----------
        guarantee : Budget

        Returns
        -------
        tuple of float or Fraction
            As many as there are limits, multiples of 2^-2148; ``inf`` for what no total covers.

        Raises
        ------
        NoConversionError
            If the guarantee means nothing in the definition of the total.
        InvalidBudgetError
            If its price is none: amounts of at least 0, as many as the total has.
        """
        found = self.total.price_of(guarantee)
        first, *others = checked_price(found, guarantee, len(self.limits))
        return (max(first, _SMALLEST), *others)

    def charged(self, sums: Sums, price: Sequence[Amount]) -> Sums | None:
        """Return the sums after a charge, or None if it does not fit.

        Parameters
        ----------
        sums : tuple of int
            Of the charges before.
        price : sequence of float or Fraction
            As :meth:`price` returns it.

        Returns
        -------
        tuple of int or None
        """
        if math.inf in price:
            return None
        after = added(sums, price)
        left = zip(sums, self._full, price, strict=True)
        fits = all(one < full or not amount for one, full, amount in left)
        return after if fits and self.covers(after) else None

    def covers(self, sums: Sums) -> bool:
        """Whether sums are within the limits and their allowance. See :meth:`charged`."""
        return all(one <= most for one, most in zip(sums, self._most, strict=True))

    def spent(self, sums: Sums) -> Budget | None:
        """Return what was charged, as one guarantee of the total's definition; None for nothing.

        Rounded up: it costs at least the sums. See :meth:`charged`.
        """
        return self._worth(sums, math.inf)

    def remaining(self, sums: Sums) -> Budget | None:
        """Return what may still be charged, in the total's definition; None for nothing.

        Rounded down: together with :meth:`spent` it costs at most the total. See :meth:`charged`.
        """
        spent = self.spent(sums)
        if spent is None:
            return self.total
        state = zip(sums, self._full, self._exact, self._costs(spent), strict=True)
        rest = (limit - cost if one < full else 0 for one, full, limit, cost in state)
        return self._worth(tuple(max(one, 0) for one in rest), 0.0)

    def _worth(self, sums: Sums, side: float) -> Budget | None:
        """Return a guarantee that costs these sums, or more if ``side`` is inf, or less if 0."""
        near, found = list(map(_rounded, sums)), None
        for step in _STEPS:
            found = self.total.total(tuple(near))
            if found is None:
                return None
            costs = zip(self._costs(found), sums, strict=True)
            wrong = [cost < one if side else cost > one for cost, one in costs]
            if not any(wrong):
                return found
            for i, apart in enumerate(wrong):
                if apart:
                    moved = near[i] * (1.0 + step if side else 1.0 - step)
                    near[i] = math.nextafter(moved, side)
        return found if side else None

    def _costs(self, guarantee: Budget) -> Sums:
        """Return the price of a guarantee, of which sums beyond float64 count as the largest."""
        return tuple(_exact(min(one, _LARGEST)) for one in self.total.price_of(guarantee))


def added(sums: Sums, price: Sequence[Amount]) -> Sums:
    """Return exact sums with the amounts of a price added.

    Parameters
    ----------
    sums : tuple of int
        Multiples of 2^-2148.
    price : sequence of float or Fraction
        Finite.

    Returns
    -------
    tuple of int
    """
    return tuple(one + _exact(amount) for one, amount in zip(sums, price, strict=True))


def checked_price(
    price: object, guarantee: Budget, length: int | None = None
) -> tuple[Amount, ...]:
    """Return a price, which may be of another package; a negative amount would give budget back.

    ``inf``, which no total covers, gets through. Raises ``InvalidBudgetError`` if it is no tuple of
    as many amounts of at least 0.
    """
    found = tuple(price) if isinstance(price, (tuple, list)) else ()
    name = f"an amount in the price of {type(guarantee).__name__}"
    amounts = tuple(
        Fraction(_exact(amount), _ONE)
        if type(amount) is Fraction
        else real(amount, name, error=InvalidBudgetError)
        for amount in found
    )
    if not amounts or length not in (None, len(amounts)):
        wanted = "a tuple of amounts" if length is None else f"a tuple of {length}, as of its total"
        raise InvalidBudgetError(f"the price of {type(guarantee).__name__} must be {wanted}")
    for amount in amounts:
        if not amount >= 0.0:  # NaN neither
            raise InvalidBudgetError(f"{name} must be at least 0, got {amount}")
    return amounts


def _exact(amount: Amount) -> int:
    """Return a finite amount as a multiple of 2^-2148, rounded up if it is none."""
    numerator, denominator = amount.as_integer_ratio()
    return -(-(numerator << _PLACES) // denominator)


def _rounded(sum_: int) -> float:
    """Return the float nearest to a multiple of 2^-2148, ties to even; inf beyond float64."""
    try:
        return sum_ / _ONE
    except OverflowError:
        return math.inf
