"""What to expect of a search, before any data are touched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riemdp._errors import InvalidBudgetError
from riemdp.privacy import adds_up, largest_range, share_of
from riemdp.release._search._numbers import LEAST_N, MOST_SHARE, TOO_LITTLE, Numbers

if TYPE_CHECKING:
    from riemdp.privacy import Budget

#: Spreads, over the public radius, for which there is a forecast.
SPREADS = (0.01, 0.03, 0.1, 0.3)
#: What was measured over what the schedule plans with, under Gaussian noise; twice it under Laplace
#: noise.
_MEASURED = {0.5: 1.5, 1.0: 2.0}


@dataclass(frozen=True)
class Forecast:
    """What ``adapt=True`` promises, from public numbers only.

    ``share`` of the budget is what every choice takes, None where the records are too few for a
    search, and nothing is spent; ``smallest_n`` the fewest records that are searched at this
    budget, None if no number is enough; ``if_wide`` the factor on the noise of the release if the
    data are as wide as the public ball. ``expected`` are spreads of the data, over the radius of
    the public ball, and expected distances of the released mean, not better than to a factor of
    two; empty without a search.
    """

    share: float | None
    smallest_n: int | None
    if_wide: float
    expected: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        if self.share is None:
            least = "no n" if self.smallest_n is None else f"n >= {self.smallest_n}"
            return f"adapt=True: too few records for a search, which takes {least}; nothing is lost"
        spreads = ", ".join(f"{s:g} of the radius {distance:.3g}" for s, distance in self.expected)
        return (
            f"adapt=True: {self.share:.3g} of the budget for each choice; noise times "
            f"{self.if_wide:.3g} if the data fill the ball; expected distance if they spread over "
            f"{spreads}"
        )


def forecast(radius: float, dim: int, n: int, budget: Budget) -> Forecast:
    """Say what to expect of a search in a public ball of this radius."""
    shared = adds_up(budget, dim)
    numbers = Numbers(shared, n, dim)
    try:
        rate = largest_range(share_of(shared, MOST_SHARE))
    except InvalidBudgetError:  # it underflows
        rate = 0.0
    smallest = max(LEAST_N, math.ceil(TOO_LITTLE / rate)) if rate > TOO_LITTLE / 2.0**63 else None
    share = numbers.choice_share()
    if share is None:
        return Forecast(None, smallest, 1.0, ())
    left = 1.0 - share
    worse = numbers.noise(left) / numbers.noise(1.0)
    expected = []
    for spread in SPREADS:
        plan = numbers.plan(share, left, spread * radius, radius, 3)
        noise = numbers.noise(left) * radius
        if plan is not None:
            noise = min(noise, _MEASURED[numbers.power] * plan.noise)
        expected.append((spread, noise))
    return Forecast(share, smallest, worse, tuple(expected))
