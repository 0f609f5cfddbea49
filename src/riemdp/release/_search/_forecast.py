"""What to expect of a search, before any data are touched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from riemdp.privacy import adds_up
from riemdp.release._search._adaptive import (
    CHOICES,
    LEAST_N,
    MOST,
    TOO_LITTLE,
    Numbers,
)
from riemdp.spaces import Ball, Euclidean

if TYPE_CHECKING:
    from riemdp.privacy import Budget

#: Spreads, over the public radius, for which there is a forecast.
SPREADS = (0.01, 0.03, 0.1, 0.3)
#: What was measured over what is planned with, under Gaussian noise and under Laplace noise.
_MEASURED = {"gaussian": 1.5, "laplace": 2.0}


@dataclass(frozen=True)
class Forecast:
    """What to expect of ``method="adaptive"``, from public numbers only.

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
            return f"adaptive: too few records for a search, which takes {least}; nothing is lost"
        spreads = ", ".join(f"{s:g} of the radius {distance:.3g}" for s, distance in self.expected)
        return (
            f"adaptive: {self.share:.3g} of the budget for each choice; noise times "
            f"{self.if_wide:.3g} if the data fill the ball; expected distance if they spread over "
            f"{spreads}"
        )


def forecast(radius: float, dim: int, n: int, budget: Budget, *, counted: bool) -> Forecast:
    """Say what to expect of a search in a public ball of this radius, of about so many units.

    ``counted`` says that their number is private.
    """
    shared = adds_up(budget, dim)
    numbers = Numbers(shared, None if counted else n, dim)
    count = numbers.count_share() if counted else Fraction()
    if counted:
        query = numbers.sum("count", count, Ball(Euclidean(1), np.zeros(1), 1.0))
        numbers.n = max(0, math.floor(n - query.deviation))
        numbers.unsure = query.deviation / max(numbers.n, 1)
    rate = numbers.rate(CHOICES[-1])
    smallest = max(LEAST_N, math.ceil(TOO_LITTLE / rate)) if rate * MOST > TOO_LITTLE else None
    share = numbers.choice_share()
    if share is None:
        return Forecast(None, smallest, 1.0, ())
    left = 1 - count - share
    worse = numbers.noise(left) / numbers.noise(Fraction(1))
    expected = []
    taken = numbers.last_share(share) + numbers.guard_share()
    for spread in SPREADS:
        planned = numbers.plan(left, taken, spread * radius, radius)[0]
        noise = min(numbers.noise(left) * radius, _MEASURED[numbers.kind] * planned)
        expected.append((spread, noise))
    return Forecast(float(share), smallest, worse, tuple(expected))
