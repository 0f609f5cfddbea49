"""The search for a ball, planned by public numbers and answers."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from riemdp._errors import InvalidBudgetError, UnsupportedBallError
from riemdp.kernel import Choice, noise
from riemdp.privacy import GDP, ZCDP, PureDP, largest_range, noise_kind, rest_of, share_of
from riemdp.release._costs import check_draws
from riemdp.spaces import Ball

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from riemdp._potential import Kind
    from riemdp.privacy import Budget
    from riemdp.spaces import FloatArray


# Grids that a search chooses from, and the weights of a choice: of public numbers and counts.

#: Candidates are this many to a factor of two.
OCTAVE = 4
#: Powers of ``2^(-1/4)``, the same floats everywhere.
_STEPS = (1.0, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605)


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


# The adaptive search for a ball: queries as data, planned from public numbers and from answers.
#
# docs/proofs/private-ball.md says what each query costs, and why the costs add up.

Reason = Literal["small n", "wide", "found", "back"]

#: Shares of the budget that a choice may take.
CHOICES = tuple(Fraction(x, 1000) for x in (10, 15, 20, 30, 40, 60, 80, 100, 120))
#: Part of a whole that decides as the whole does, so that rounding does not.
_NEAR = 1e-9
#: Rate times n that is enough, and too little; fewest units, and most.
_ENOUGH, TOO_LITTLE, LEAST_N, MOST = 40.0 * (1.0 - _NEAR), 20.0 * (1.0 - _NEAR), 4, 2.0**63
#: Shares that a centre may take; what the release has at least.
_CENTRES = tuple(Fraction(x, 100) for x in (1, 2, 4, 7, 10, 15, 20, 25, 30, 40, 50))
LEAST_LEFT = Fraction(3, 10)
#: Increasing sequences of at most three of them, with their sums.
_PLANS = [
    (each, sum(each, Fraction())) for m in (1, 2, 3) for each in itertools.combinations(_CENTRES, m)
]
#: Shares are of numbers that are this much smaller, so that rounded costs are within them.
_LESS = Fraction(2**48 - 1, 2**48)
#: Room for rounding in a distance that holds every unit.
_ROOM = 1.0 + 2.0**-20


@dataclass(frozen=True, eq=False)
class Choose:
    """A query that is answered by the place of one of ``count`` candidates, the largest first.

    Pairs and radii: ``top 2^(-j/4)``, weighted by ``exp(-rate (N + penalty log t))`` where N counts
    distances beyond t, within pairs of a hidden matching or from a centre. Axis: from ``-top`` to
    ``top``, by how many units are on one side.
    """

    name: Literal["pairs", "radius", "axis"]
    share: Fraction
    rate: float
    top: float
    count: int
    penalty: float
    center: FloatArray = field(repr=False)

    @property
    def cost(self) -> Choice:
        """Price of the rate: of hidden pairs the range is not proved to be within it."""
        return Choice(Fraction(self.rate))

    @property
    def candidates(self) -> FloatArray:
        """What is chosen from."""
        return (places if self.name == "axis" else radii)(self.top, self.count)


@dataclass(frozen=True, eq=False)
class Add:
    """A query that is answered by a noisy sum over units.

    Count: of ones. Centre: of normal coordinates about the centre of the ball, clipped to its
    radius, in units of that. Guard: of ``(dist - radius) / (far - radius)``, clipped to [0, 1].
    One unit moves the sum by at most ``move``.
    """

    name: Literal["count", "centre", "guard"]
    share: Fraction
    kind: Kind
    sigma: float
    dim: int
    move: int
    ball: Ball
    far: float = math.inf

    @property
    def cost(self) -> Any:
        """What is drawn, as the kernel adds it up."""
        return noise(self.kind, self.dim, Fraction(self.move) ** 2, self.sigma)

    @property
    def deviation(self) -> float:
        """Standard deviation of a coordinate, in one dimension if Laplace."""
        return {"gaussian": 1.0, "laplace": math.sqrt(2.0)}[self.kind] * self.sigma


Query = Choose | Add


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a search ended: the ball of the release, and the share of the budget that is left.

    ``outside`` is the released sum of a guard with its deviation, ``far`` what it is over;
    ``first`` a noisy mean on the public ball, with its share, that a release of the same mean is
    averaged with. All of the budget is left if nothing was asked: that is one shot, bit for bit.
    """

    reason: Reason
    ball: Ball
    budget: Budget
    left: Fraction
    n: int  # units, or a released number that is likely to be less
    least: float
    spent: Counter[Any] = field(default_factory=Counter, repr=False)
    outside: tuple[float, float] | None = None
    far: float = math.inf
    first: tuple[Fraction, FloatArray] | None = field(default=None, repr=False)

    @property
    def rest(self) -> Budget:
        """Budget of the release."""
        if self.left == 1:
            return self.budget
        found = rest_of(self.budget, [spent_of(self.budget, 1 - self.left)])
        assert found is not None  # three tenths at least
        return found

    @property
    def bias_at_most(self) -> float:
        """Bound of how far clipping to the ball moves a mean.

        On flat spaces and Hadamard manifolds it fails with probability 0.03 at most, with 0.06 if
        the number of units is private.
        """
        if self.outside is None:
            return 0.0
        total, deviation = self.outside
        return max(total + 2.0 * deviation, 0.0) * (self.far - self.ball.radius) / self.least


T = TypeVar("T")


def search(
    ball: Ball, budget: Budget, n: int | None, axis: FloatArray | None = None
) -> Generator[Query, Any, Outcome]:
    """Ask query after query, and return the ball that the answers lead to.

    A function of its arguments and of the answers: the public ball of the space that is searched,
    the budget (PureDP, GDP or ZCDP) of search and release together, the public number of units or
    None, and a unit vector of a flat factor. A choice expects a place among its candidates, a sum
    its noisy coordinates. Whatever is answered, the queries and the rest are within the budget: it
    is compared exactly before each.
    """
    return _Search(ball, budget, n, axis).walk()


def walked(queries: Generator[Query, Any, T], answered: Callable[[Query], Any]) -> T:
    """Answer queries until there is no further one; return how that ended."""
    answer: Any = None
    while True:
        try:
            query = queries.send(answer)
        except StopIteration as end:
            found: T = end.value
            return found
        answer = answered(query)


class Numbers:
    """Public numbers: what a share of the budget is worth."""

    def __init__(self, budget: Budget, n: int | None, dim: int) -> None:
        self.budget, self.n, self.dim, self.adds = budget, n or 0, dim, n is None
        self.kind = noise_kind(type(budget))
        self.pure = type(budget) is PureDP
        #: Price of all: epsilon, or the square of mu that the Gaussian noise of all would have.
        self.whole = _PRICES[type(budget)](budget)
        self.unsure = 0.0  # relative deviation of n
        half = 0.5 * dim
        length = math.sqrt(2.0) * math.exp(math.lgamma(half + 0.5) - math.lgamma(half))
        self.length = float(dim) if self.pure else length

    def noise(self, share: Fraction) -> float:
        """Return the expected length of the noise of a mean at a share, over the radius."""
        return (1 if self.adds else 2) * self.length / self.n / self.root(float(share * self.whole))

    def root(self, price: float) -> float:
        """Noise is inverse to this of a price."""
        return price if self.pure else math.sqrt(price)

    def rate(self, share: Fraction) -> float:
        """Range of a choice that costs a share; 0 where that leaves float64."""
        try:
            return largest_range(share_of(self.budget, float(share * _LESS)))
        except InvalidBudgetError:
            return 0.0

    def sigma(self, share: Fraction, move: int) -> float:
        """Scale of noise that costs a share."""
        return move / self.root(float(share * self.whole * _LESS))

    def sum(
        self,
        name: Literal["count", "centre", "guard"],
        share: Fraction,
        ball: Ball,
        far: float = math.inf,
    ) -> Add:
        """Return a query for a sum that takes a share."""
        move = 2 if name == "centre" and not self.adds else 1
        dim = self.dim if name == "centre" else 1
        return Add(name, share, self.kind, self.sigma(share, move), dim, move, ball, far)

    def count_share(self) -> Fraction:
        """Share of a private number of units."""
        return Fraction(2 if self.pure else 1, 100)

    def rest(self, left: Fraction) -> Any:
        """Return noise that costs exactly what is left."""
        if self.pure:
            return Choice(left * self.whole)
        return noise("gaussian", 1, left * self.whole, 1.0)

    def choice_share(self) -> Fraction | None:
        """Share of a choice; None where the units are too few for a search."""
        if self.n < LEAST_N or self.rate(CHOICES[-1]) * self.n < TOO_LITTLE:
            return None
        enough = (share for share in CHOICES if self.rate(share) * self.n >= _ENOUGH)
        return next(enough, CHOICES[-1])

    def last_share(self, share: Fraction) -> Fraction:
        """Share of a radius after centres, which sets the noise of the release."""
        return max(share, min(Fraction(6, 100), Fraction(12 if self.pure else 6, 10 * self.dim)))

    def guard_share(self) -> Fraction:
        """Share of the guard."""
        most = Fraction(8 if self.pure else 4, 100)
        return max(Fraction(1, 100), min(most, Fraction(4, self.dim)))

    def penalty(self, rate: float, share: Fraction, items: float, sharp: float) -> float:
        """Units that a factor e of the radius counts as; ``sharp`` times the rate at most."""
        least = min(max(rate * items / 8.0, 2.5), sharp) / rate
        return max(min(self.n * self.noise(share), items / 8.0), least)

    def candidates(self, rate: float, penalty: float, depth: float) -> int:
        """Return how many radii there are to choose from.

        They reach some way under the radius so far, less where few units could lead there by
        themselves, and nowhere the penalty outweighs all units. ``depth`` is the logarithm of the
        largest radius over the radius so far.
        """
        slope, whole = rate * penalty, rate * self.n
        span = min((0.5 * whole - 2.0) / slope, math.log(64.0))
        octaves = min(depth + span, (whole - 5.0) / slope) / math.log(2.0)
        return max(2, 1 + math.floor(4.0 * octaves + _NEAR))

    def places(self, rate: float, reach: float, spread: float) -> int:
        """Return how many places along an axis there are to choose from; odd."""
        fine = 2.0 * math.ceil(2.0 * reach / spread - _NEAR) + 1.0
        most = min(fine, math.exp(min(0.25 * rate * self.n - 2.0, 10.0)), 129)
        return max(3, 2 * math.floor(0.5 * (most - 1.0) + _NEAR) + 1)

    def plan(
        self, left: Fraction, taken: Fraction, spread: float, radius: float
    ) -> tuple[float, tuple[Fraction, ...], tuple[float, ...]]:
        """Return the least noise of a release after centres, their shares, and radii after each.

        ``taken`` is what else the search takes of ``left``. The noise is infinite where no share is
        left for a centre.
        """
        growth = {share: math.hypot(self.noise(share), self.unsure) for share in _CENTRES}
        best: tuple[float, tuple[Fraction, ...], tuple[float, ...]] = math.inf, (), ()
        for shares, total in _PLANS:
            end = left - taken - total
            if end < LEAST_LEFT:
                continue
            lengths, length = [], radius
            for share in shares:
                length = min(length, math.hypot(spread, growth[share] * length))
                lengths.append(length)
            if (found := self.noise(end) * length) < best[0]:
                best = found, shares, tuple(lengths)
        return best


_PRICES: dict[type[Budget], Callable[[Any], Fraction]] = {
    PureDP: lambda budget: Fraction(budget.epsilon),
    GDP: lambda budget: Fraction(budget.mu) ** 2,
    ZCDP: lambda budget: 2 * Fraction(budget.rho),
}


def spent_of(budget: Budget, share: Fraction) -> Budget:
    """Return a share of a budget, rounded up."""
    return share_of(budget, float(min(share / _LESS, Fraction(1))))


class _Search:
    """State of a search: the ball so far, the spread of the data, the share that is left."""

    def __init__(self, ball: Ball, budget: Budget, n: int | None, axis: FloatArray | None) -> None:
        self.public, self.ball, self.axis = ball, ball, axis
        self.numbers = Numbers(budget, n, ball.manifold.dim)
        self.size = self.least = float(n or 0)  # what sums are divided by, and the bias
        self.left, self.spread = Fraction(1), ball.reach
        self.spent: Counter[Any] = Counter()
        self.first: tuple[Fraction, FloatArray] | None = None

    def walk(self) -> Generator[Query, Any, Outcome]:
        numbers = self.numbers
        if numbers.adds:
            if numbers.rate(CHOICES[-1]) * MOST < TOO_LITTLE:  # of no number of units
                return self.ended("small n", self.public)
            yield from self.count()
        share = numbers.choice_share()
        if share is None:
            return self.ended("small n", self.public)
        last, guard = numbers.last_share(share), numbers.guard_share()
        yield from self.find_spread(share)
        reach, taken = self.public.reach, last + guard
        planned = numbers.plan(self.left, taken, self.spread, reach)[0]
        ideal = numbers.noise(self.left - share - guard) * self.spread
        if (
            self.spread >= 0.7 * reach
            or min(planned, ideal) > 0.9 * numbers.noise(self.left) * reach
        ):
            return self.ended("wide", self.public)
        ideal = numbers.noise(self.left - share) * self.spread
        if planned > (1.0 + 4.0 * float(share)) * ideal:
            yield from self.find_first_ball(share)
        for _ in range(2):
            noise_now = numbers.noise(self.left - guard) * self.ball.reach
            planned, shares, lengths = numbers.plan(self.left, taken, self.spread, self.ball.reach)
            if planned > 0.9 * noise_now:
                break
            ball = self.ball
            center = yield from self.find_centre(shares, lengths)
            found = yield from self.find_radius(center, last)
            if self.ball is ball:
                lost = 2.0 * ball.reach + self.away(ball.center, center)
                if lost < found < math.inf:
                    return self.ended("back", self.public)
                break
            self.spread = min(self.spread, found)
        if self.ball is self.public:
            return self.ended("wide", self.public)
        return (yield from self.guarded(guard))

    def count(self) -> Generator[Query, Any, None]:
        """Ask for the number of units; plan with one deviation less."""
        numbers = self.numbers
        query = numbers.sum("count", numbers.count_share(), self.public)
        self.size = max(float((yield self.asked(query))[0]), 1.0)
        self.least = max(self.size - 2.0 * query.deviation, 1.0)
        numbers.n = max(0, math.floor(self.size - query.deviation))
        numbers.unsure = query.deviation / max(numbers.n, 1)

    def find_spread(self, share: Fraction) -> Generator[Query, Any, None]:
        """Ask for distances within pairs, which need no centre."""
        reach, numbers = self.public.reach, self.numbers
        rate = numbers.rate(share)
        penalty = numbers.penalty(rate, Fraction(1), numbers.n / 2.0, 8.0)
        count = numbers.candidates(rate, penalty, 0.0)
        center = self.public.center
        query = Choose("pairs", share, rate, 2.0 * reach, count, penalty, center)
        place = yield self.asked(query)
        unseen = 0.3 if place == count - 1 else 1.0
        self.spread = unseen * min(float(query.candidates[place]) * math.sqrt(0.5), reach)

    def find_first_ball(self, share: Fraction) -> Generator[Query, Any, None]:
        """Ask for a radius about the public centre, moved along the axis where there is one."""
        center, reach = self.public.center, self.public.reach
        if self.axis is not None:
            rate = self.numbers.rate(share)
            count = self.numbers.places(rate, reach, self.spread)
            query = Choose("axis", share, rate, reach, count, 0.0, center)
            place = float(query.candidates[(yield self.asked(query))])
            center = self.public.project(self.public.point(place * self.axis))
        yield from self.find_radius(center, share)

    def find_radius(self, center: FloatArray, share: Fraction) -> Generator[Query, Any, float]:
        """Ask for a radius about a centre, and take the ball if it is smaller."""
        numbers, top = self.numbers, self.far(center)
        rate = numbers.rate(share)
        penalty = numbers.penalty(rate, self.left - share, float(numbers.n), 5.0)
        count = numbers.candidates(rate, penalty, math.log(top / self.ball.reach))
        query = Choose("radius", share, rate, top, count, penalty, center)
        found = float(query.candidates[(yield self.asked(query))])
        if found < self.ball.reach:
            smaller = self.around(center, found)
            if smaller is None:
                return math.inf
            self.ball = smaller
        return found

    def find_centre(
        self, shares: tuple[Fraction, ...], lengths: tuple[float, ...]
    ) -> Generator[Query, Any, FloatArray]:
        """Ask for means in turn, each clipped to the radius that was planned for it."""
        ball: Ball | None = self.ball
        center = self.ball.center
        for share, length in zip(shares, lengths, strict=True):
            if ball is None:  # the space has no room about this centre
                break
            query = self.numbers.sum("centre", share, ball)
            answer = np.asarray((yield self.asked(query)))
            if ball is self.public and not self.numbers.pure:
                self.first = share, answer
            mean = ball.shorten(answer / self.size * ball.reach)  # no mean is longer
            center = self.public.project(ball.point(mean))
            ball = self.around(center, length)
        return center

    def guarded(self, share: Fraction) -> Generator[Query, Any, Outcome]:
        """Ask how much of the units is outside, and go back to the public ball if it is much."""
        ball, numbers, far = self.ball, self.numbers, self.far(self.ball.center)
        query = numbers.sum("guard", share, ball, far)
        total = float((yield self.asked(query))[0])
        allowed = numbers.n * numbers.noise(self.left) * self.public.reach / (far - ball.radius)
        if total > 0.25 * allowed + (3.91 if numbers.pure else 2.33) * query.sigma:
            return self.ended("back", self.public)
        return self.ended("found", ball, outside=(total, query.deviation), far=far)

    def asked(self, query: Query) -> Query:
        """Spend the share of a query, which with all before and the rest is within the budget."""
        self.left -= query.share
        self.spent[query.cost] += 1
        check_draws(
            self.spent + Counter([self.numbers.rest(self.left)]),
            self.numbers.budget,
            f"the search so far and a {query.name} query",
        )
        return query

    def ended(self, reason: Reason, ball: Ball, **more: Any) -> Outcome:
        first = self.first if ball is self.public else None
        budget, n = self.numbers.budget, self.numbers.n
        return Outcome(
            reason, ball, budget, self.left, n, self.least, self.spent, first=first, **more
        )

    def around(self, center: FloatArray, radius: float) -> Ball | None:
        try:
            return Ball(self.public.manifold, center, radius)
        except UnsupportedBallError:  # about this centre; all of it is released
            return None

    def away(self, first: FloatArray, second: FloatArray) -> float:
        return float(self.public.manifold.dist(first, second))

    def far(self, center: FloatArray) -> float:
        """Radius about a centre that holds every unit."""
        return _ROOM * (self.public.reach + self.away(self.public.center, center))
