"""Whether the answers of one release are together within one budget."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from riemdp._errors import UnsupportedBudgetError, UnsupportedError
from riemdp.privacy import product_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget

#: Relative error of prices: those of angles are logarithms.
_ROUNDED = Fraction(1, 10**14)


def parts_of(budget: Budget, shares: Sequence[float]) -> list[Budget]:
    """Return the part of a budget for each share, of all together no more than the whole.

    ``UnsupportedBudgetError`` if the definition has no parts.
    """
    if len(shares) == 1:
        return [budget]
    whole = max(Fraction(1), sum(map(Fraction, shares), Fraction(0)))
    known = {share: budget.part(Fraction(share) / whole) for share in set(shares)}
    return [known[share] for share in shares]


def within(
    mechanisms: Sequence[Mechanism],
    sensitivities: Sequence[float],
    shares: Sequence[float],
    budget: Budget,
) -> bool:
    """Whether noise of several scales, each drawn after the answers before, is within a budget.

    As one draw where the mechanism knows how its draws compose, or each within its share.
    """
    last = mechanisms[-1]
    if len(mechanisms) == 1:
        return last.satisfies(sensitivities[0], budget)
    ratios = [
        product_up(move, math.nextafter(last.sigma / each.sigma, math.inf))
        for move, each in zip(sensitivities, mechanisms, strict=True)
    ]
    joint = type(last).joint_weight(ratios)
    if joint is not None and last.satisfies(joint, budget):
        return True
    try:
        parts = parts_of(budget, shares)
    except UnsupportedBudgetError:
        return False
    return _add_up(parts, budget) and all(
        each.satisfies(move, part)
        for each, move, part in set(zip(mechanisms, sensitivities, parts, strict=True))
    )


def _add_up(parts: Sequence[Budget], whole: Budget) -> bool:
    """Whether parts are within a budget, by their prices; of other packages that is believed."""
    times = Counter(parts)
    try:
        columns = list(zip(whole.price(), *(part.price() for part in times), strict=True))
    except UnsupportedError:
        return True
    return all(
        most == math.inf
        or sum(n * Fraction(price) for n, price in zip(times.values(), prices, strict=True))
        <= Fraction(most) * (1 + _ROUNDED)
        for most, *prices in columns
    )
