"""What a search is planned from: public numbers, and grids that depend on nothing else."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import InvalidBudgetError
from riemdp.privacy import bounded_range, largest_range, mean_noise, share_of

if TYPE_CHECKING:
    from riemdp.manifolds import FloatArray
    from riemdp.privacy import Budget

#: Shares of the budget that one choice takes, at least and at most.
_LEAST_SHARE, MOST_SHARE = 0.02, 0.12
#: Range times n from which the least share is enough, and under which there is no search.
_ENOUGH, TOO_LITTLE = 40.0, 20.0
#: Fewest records that make pairs worth the while.
LEAST_N = 4
#: Exponents ``rate * penalty`` of the law over an empty stretch of radii: of the spread, which is
#: for planning, and of other radii the least and the most.
_PLANNING, _DULL, _SHARP = 3.5, 2.5, 5.0
#: Candidates are this many to a factor of two, down to this factor under the largest.
OCTAVE, _DEEPEST = 4, 64.0
#: ``2^(1/4)``.
RATIO = 1.189207115002721
#: Shares of the budget that a centre may take, and the least one that is left for the release.
CENTRE_SHARES = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
LEAST_LEFT = 0.3
#: Increasing sequences of those, by length: of their places.
_SEQUENCES = {
    count: np.array(list(itertools.combinations(range(len(CENTRE_SHARES)), count)))
    for count in (1, 2, 3)
}
#: A further centre has to promise this factor, or better.
_WORTH_WHILE = 0.95
#: Most places along an axis.
_PLACES = 129
#: Powers of ``2^(-1/4)``, the same floats everywhere.
_STEPS = (1.0, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605)


@dataclass(frozen=True)
class Plan:
    """The best sequence of centres from here on.

    Shares of the budget, one for each centre, and the expected length of the noise of the release
    after them.
    """

    shares: tuple[float, ...]
    noise: float


@dataclass(frozen=True)
class Numbers:
    """Public numbers of a search, and what follows from them.

    The budget (PureDP, GDP or ZCDP) is that of search and release together.
    """

    budget: Budget
    n: int
    dim: int

    def rate(self, share: float) -> float:
        """Range of a choice that costs a share of the budget; 0 where that is too small."""
        try:
            return largest_range(share_of(self.budget, share))
        except InvalidBudgetError:  # it underflows
            return 0.0

    def choice_share(self) -> float | None:
        """Share of the budget that every choice takes; None where the records are too few."""
        if self.n < LEAST_N or self._share_of_rate(TOO_LITTLE / self.n) > MOST_SHARE:
            return None
        return min(max(self._share_of_rate(_ENOUGH / self.n), _LEAST_SHARE), MOST_SHARE)

    def _share_of_rate(self, rate: float) -> float:
        """Share of the budget that a choice of this range takes; over 1 for more than all of it."""
        price, whole = bounded_range(type(self.budget), rate).price()[0], self.budget.price()[0]
        return float(price) / max(float(whole), sys.float_info.min)

    def last_share(self, share: float) -> float:
        """Share of the last radius, which sets the noise of the release."""
        return max(share, min(0.06, 1.2 * self.power / self.dim))

    def noise(self, share: float) -> float:
        """Return the expected length of the noise of a mean at a share, over the radius."""
        length, power = self._mean_noise
        return 2.0 / self.n * length / (share if power == 1.0 else math.sqrt(share))

    @property
    def power(self) -> float:
        """Noise grows with the inverse of a share to this power."""
        return self._mean_noise[1]

    @functools.cached_property
    def _mean_noise(self) -> tuple[float, float]:
        return mean_noise(self.budget, self.dim)

    def penalty(self, rate: float, items: int, left: float, *, planning: bool = False) -> float:
        """Weight of the logarithm of the radius against one record outside."""
        sharp = _PLANNING if planning else min(max(rate * self.n / 8.0, _DULL), _SHARP)
        return max(min(self.n * self.noise(left), items / 8.0), sharp / rate)

    def candidates(self, rate: float, penalty: float, depth: float) -> int:
        """Return how many radii there are to choose from.

        They reach some way under the radius so far, less where few records could lead there by
        themselves, and nowhere the penalty outweighs all records. ``depth`` is the logarithm of the
        largest radius over the radius so far.
        """
        slope, whole = rate * penalty, rate * self.n
        span = min((0.5 * whole - 2.0) / slope, math.log(_DEEPEST))
        octaves = min(depth + span, (whole - _SHARP) / slope) / math.log(2.0)
        return max(2, 1 + math.floor(OCTAVE * octaves))

    def places(self, rate: float, reach: float, spread: float) -> int:
        """Return how many places along an axis there are to choose from; odd."""
        fine = 2.0 * math.ceil(2.0 * reach / spread) + 1.0
        found = min(fine, math.exp(min(0.25 * rate * self.n - 2.0, 10.0)), _PLACES)
        return max(3, 2 * math.floor(0.5 * (found - 1.0)) + 1)

    def plan(
        self, share: float, left: float, spread: float, radius: float, rounds: int
    ) -> Plan | None:
        """Return the best sequence of at most so many centres, None if none is worth its price.

        ``share`` of the budget is that of a choice, ``left`` what is left of it; ``spread`` is the
        radius of the data as it was found, about the right centre, ``radius`` that of the ball so
        far.
        """
        best = Plan((), _WORTH_WHILE * self.noise(left) * radius)
        growth = np.array([self.noise(part) for part in CENTRE_SHARES])
        for count in range(1, min(rounds, 3) + 1):
            which = _SEQUENCES[count]
            length = np.full(len(which), radius)
            end = np.full(len(which), left - (count - 1) * share - self.last_share(share))
            for column in which.T:
                length = np.minimum(length, np.hypot(spread, growth[column] * length))
                end -= np.array(CENTRE_SHARES)[column]
            possible = end >= LEAST_LEFT
            if not possible.any():
                continue
            noises = length / np.maximum(end, LEAST_LEFT) ** self.power
            first = int(np.argmin(np.where(possible, noises, np.inf)))
            if (noise := self.noise(float(end[first])) * float(length[first])) < best.noise:
                best = Plan(tuple(CENTRE_SHARES[i] for i in which[first]), noise)
        return best if best.shares else None


def radii(top: float, count: int) -> FloatArray:
    """Candidates for a radius, the largest first: ``top 2^(-j/4)`` as floats, shape (count,)."""
    return np.array([math.ldexp(top * _STEPS[j % OCTAVE], -(j // OCTAVE)) for j in range(count)])


def places(top: float, count: int) -> FloatArray:
    """Candidates for a place along an axis, from ``-top`` to ``top``; count is odd."""
    half = count // 2
    return np.array([top * (j / half) for j in range(-half, half + 1)])


@dataclass(frozen=True)
class Weights:
    """Weights ``exp(-loss) 2^octave`` of candidates, for a draw by exact arithmetic.

    ``units`` are what one loss and one octave of those is.
    """

    losses: tuple[int, ...]
    octaves: tuple[int, ...]
    units: tuple[Fraction, Fraction]


def radius_weights(outside: Sequence[int], rate: float, penalty: float) -> Weights:
    """Weights of radii: ``rate`` for each record outside, and for the penalty.

    ``outside`` are the numbers of distances beyond each candidate, the largest first. Losses are
    ``rate * outside``, octaves ``rate * penalty * j / 4``, with rate and penalty taken as the
    rational numbers they are.
    """
    units = Fraction(rate), Fraction(rate) * Fraction(penalty) / OCTAVE
    return Weights(tuple(outside), tuple(range(len(outside))), units)


def place_weights(below: Sequence[int], above: Sequence[int], n: int, rate: float) -> Weights:
    """Weights of places: ``rate / 2`` for each record by which one side has more than a half.

    Of the numbers of records on either side of a stretch about each candidate.
    """
    sides = zip(below, above, strict=True)
    losses = tuple(max(0, 2 * low - n, 2 * high - n) for low, high in sides)
    return Weights(losses, len(losses) * (0,), (Fraction(rate) / 4, Fraction(0)))
