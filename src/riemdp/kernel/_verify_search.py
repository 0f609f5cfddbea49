"""The receipt of an adaptive search, walked through again with the stated answers.

These are the rules of the search once more, in their own words: nothing is imported from where it
is planned. What is private is neither needed nor known. docs/proofs/private-ball.md, section 8.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from riemdp import _document
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp.kernel._costs import Choice, noise
from riemdp.privacy import ZCDP, Budget, PureDP
from riemdp.spaces import Ball

#: Relative difference of numbers between two processors.
_SAME = 1e-9
#: Rate times n that is enough for a choice, and too little: no rounding decides it.
_ENOUGH, _TOO_LITTLE = 40.0 * (1.0 - _SAME), 20.0 * (1.0 - _SAME)
_STEPS = (1.0, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605)
_CHOICES = [Fraction(x, 1000) for x in (10, 15, 20, 30, 40, 60, 80, 100, 120)]
_CENTRES = [Fraction(x, 100) for x in (1, 2, 4, 7, 10, 15, 20, 25, 30, 40, 50)]
#: Increasing sequences of these, with their sums.
_SEQUENCES = [
    (shares, sum(shares, Fraction()))
    for count in (1, 2, 3)
    for shares in itertools.combinations(_CENTRES, count)
]


@dataclass(frozen=True)
class Found:
    """What a receipt leads to: a ball, the share of the budget that is left, and what was drawn.

    ``outside`` is the released sum of the guard, of distances over ``far``; ``first`` the share and
    the coordinates of a mean on the public ball, with which a release there is averaged.
    """

    ball: Ball
    left: Fraction
    draws: Counter[Any] = field(repr=False)
    outside: float | None = None
    far: float = math.inf
    first: tuple[Fraction, Any] | None = field(default=None, repr=False)


def _require(holds: object, problem: str) -> None:
    if not holds:
        raise InvalidParameterError(f"the receipt of the search: {problem}")


def _radius(top: float, place: int) -> float:
    return math.ldexp(top * _STEPS[place % 4], -(place // 4))


def check_search(
    steps: object, ball: Ball, budget: Budget, n: int | None, axis: Any = None
) -> Found:
    """Return what a receipt leads to, if every number in it follows from those before.

    Parameters
    ----------
    steps : object
        As ``searched`` returns them.
    ball : Ball
        Public ball, on the space that is searched.
    budget : PureDP, GDP or ZCDP
        Of search and release together. The caller compares the costs of all draws with it.
    n : int or None
        Public number of units, None where a unit is added or removed.
    axis : ndarray, shape (dim,), optional

    Returns
    -------
    Found

    Raises
    ------
    InvalidParameterError
        Where it does not follow.
    """
    _require(isinstance(steps, list), "it must be a list of queries")
    walk = _Walk(steps, ball, budget, n, axis)
    found = walk.found()
    _require(next(walk.steps, None) is None, "it goes on after its end")
    return found


class _Walk:
    def __init__(self, steps: Any, ball: Ball, budget: Budget, n: int | None, axis: Any) -> None:
        self.steps, self.public, self.budget, self.axis = iter(steps), ball, budget, axis
        self.dim, self.reach, self.added = ball.manifold.dim, ball.reach, n is None
        self.pure = type(budget) is PureDP
        self.n, self.size, self.unsure = n or 0, float(n or 0), 0.0
        price = Fraction(budget.price()[0])  # epsilon, rho, or the square of mu
        self.whole = 2 * price if type(budget) is ZCDP else price
        self.ball, self.left, self.spread = ball, Fraction(1), ball.reach
        self.draws: Counter[Any] = Counter()
        self.first: Any = None

    # What a share is worth.

    def root(self, share: Fraction) -> float:
        price = float(share * self.whole)
        return price if self.pure else math.sqrt(price)

    def noise(self, share: Fraction) -> float:
        half = self.dim / 2.0
        normal = math.sqrt(2.0) * math.exp(math.lgamma(half + 0.5) - math.lgamma(half))
        length = self.dim if self.pure else normal
        return (1.0 if self.added else 2.0) * length / (self.n * self.root(share))

    def rate(self, share: Fraction) -> float:
        if self.pure:
            return min(float(share * self.whole), 2.0**20)
        if type(self.budget) is ZCDP:
            return min(2.0 * self.root(share), 2.0**20)
        half = self.root(share) / 2.0
        if half < 1.0:
            return 4.0 * math.atanh(math.erf(half * math.sqrt(0.5)))
        from scipy.special import log_ndtr

        return min(2.0 * float(log_ndtr(half) - log_ndtr(-half)), 2.0**20)

    def planned(self, taken: Fraction, radius: float) -> tuple[float, Any, list[float]]:
        best: tuple[float, Any, list[float]] = math.inf, (), []
        growth = {share: math.hypot(self.noise(share), self.unsure) for share in _CENTRES}
        for shares, total in _SEQUENCES:
            end, lengths = self.left - taken - total, [radius]
            if end < Fraction(3, 10):
                continue
            for share in shares:
                grown = math.hypot(self.spread, growth[share] * lengths[-1])
                lengths.append(min(lengths[-1], grown))
            if (found := self.noise(end) * lengths[-1]) < best[0]:
                best = found, shares, lengths[1:]
        return best

    # What is stated.

    def read(self, query: str, share: Fraction, center: Any, numbers: dict[str, float]) -> Any:
        """Compare the next query with the one that is due; return it."""
        step = next(self.steps, None)
        _require(step is not None, "it ends before its end")
        choice = "rate" in numbers
        keys = {"query", "share", *numbers, *(["place"] if choice else ["grid", "rounded"])}
        given = dict(_document.fields(step, keys | (set() if center is None else {"center"})))
        _require(given["query"] == query, f"a query for {query} is due")
        due = given["share"] == [share.numerator, share.denominator]
        _require(due and {*map(type, given["share"])} == {int}, f"its share is {share}")
        for name, number in numbers.items():
            stated = _document.number(given[name], name)
            same = math.isclose(stated, number, rel_tol=_SAME)
            _require(same, f"{name} of {query} is {stated}, recomputed {number}")
        if center is not None:
            point = np.asarray(_document.numbers(given["center"], "center"), dtype=np.float64)
            shaped = point.shape == np.shape(center)
            coincide = self.public.manifold.coincide
            same = shaped and bool(coincide(self.public.center, point, center, _SAME))
            _require(same, f"another centre of {query} is due")
            given["center"] = point
        self.left -= share
        return given

    def chosen(self, query: str, share: Fraction, center: Any, **numbers: Any) -> tuple[Any, int]:
        given = self.read(query, share, center, {"rate": self.rate(share), **numbers})
        place, count = given["place"], numbers["count"]
        _require(type(place) is int and 0 <= place < count, "the place is none of the candidates")
        _require(type(given["count"]) is int, "count must be an integer")
        self.draws[Choice(Fraction(given["rate"]))] += 1
        return given, place

    def added_up(self, query: str, share: Fraction, center: Any, **numbers: Any) -> Any:
        move = 2 if query == "centre" and not self.added else 1
        given = self.read(query, share, center, {"sigma": move / self.root(share), **numbers})
        integers, dim = given["rounded"], self.dim if query == "centre" else 1
        good = isinstance(integers, list) and {type(x) for x in integers} <= {int}
        _require(good and len(integers) == dim, f"rounded must be {dim} integers")
        grid = 41 - math.frexp(given["sigma"])[1]
        _require(type(given["grid"]) is int and given["grid"] == grid, f"the grid is 2^-{grid}")
        kind = "laplace" if self.pure else "gaussian"
        self.draws[noise(kind, dim, Fraction(move) ** 2, given["sigma"])] += 1
        _require(all(abs(x) < 2**1000 for x in integers), "rounded has too long an integer")
        values = np.array([math.ldexp(x, -grid) for x in integers])
        return given, values, given["sigma"] * (math.sqrt(2.0) if self.pure else 1.0)

    # The rules.

    def found(self) -> Found:
        most = self.rate(_CHOICES[-1])
        if self.added and most * 2.0**63 >= _TOO_LITTLE:
            share = Fraction(2 if self.pure else 1, 100)
            _, (number,), deviation = self.added_up("count", share, None)
            self.size = max(float(number), 1.0)
            self.n = max(0, math.floor(self.size - deviation))
            self.unsure = deviation / max(self.n, 1)
        if self.n < 4 or most * self.n < _TOO_LITTLE:
            return self.back()
        enough = (share for share in _CHOICES if self.rate(share) * self.n >= _ENOUGH)
        share = next(enough, _CHOICES[-1])
        last = max(share, min(Fraction(6, 100), Fraction(12 if self.pure else 6, 10 * self.dim)))
        guard = max(
            Fraction(1, 100), min(Fraction(8 if self.pure else 4, 100), Fraction(4, self.dim))
        )
        self.find_spread(share)
        plan = self.planned(last + guard, self.reach)[0]
        ideal = self.noise(self.left - share - guard) * self.spread
        wide = self.spread >= 0.7 * self.reach
        if wide or min(plan, ideal) > 0.9 * self.noise(self.left) * self.reach:
            return self.back()
        if plan > (1.0 + 4.0 * float(share)) * self.noise(self.left - share) * self.spread:
            self.find_radius(self.on_axis(share), share)
        for _ in range(2):
            plan, shares, lengths = self.planned(last + guard, self.ball.reach)
            if plan > 0.9 * self.noise(self.left - guard) * self.ball.reach:
                break
            ball = self.ball
            center = self.find_centre(shares, lengths)
            radius = self.find_radius(center, last)
            if self.ball is ball:
                lost = 2.0 * ball.reach + self.away(ball.center, center)
                if lost < radius < math.inf:
                    return self.back()
                break
            self.spread = min(self.spread, radius)
        return self.back() if self.ball is self.public else self.guarded(guard)

    def back(self) -> Found:
        return Found(self.public, self.left, self.draws, first=self.first)

    def weight(self, rate: float, share: Fraction, items: float, sharp: float) -> float:
        least = min(max(rate * items / 8.0, 2.5), sharp) / rate
        return max(min(self.n * self.noise(share), items / 8.0), least)

    def radii(self, rate: float, penalty: float, depth: float) -> int:
        slope, whole = rate * penalty, rate * self.n
        span = min((0.5 * whole - 2.0) / slope, math.log(64.0))
        octaves = min(depth + span, (whole - 5.0) / slope) / math.log(2.0)
        return max(2, 1 + math.floor(4.0 * octaves + _SAME))

    def find_spread(self, share: Fraction) -> None:
        rate, top = self.rate(share), 2.0 * self.reach
        penalty = self.weight(rate, Fraction(1), self.n / 2.0, 8.0)
        count = self.radii(rate, penalty, 0.0)
        given, place = self.chosen("pairs", share, None, top=top, count=count, penalty=penalty)
        found = min(_radius(given["top"], place) * math.sqrt(0.5), self.reach)
        self.spread = (0.3 if place == count - 1 else 1.0) * found

    def on_axis(self, share: Fraction) -> Any:
        if self.axis is None:
            return self.public.center
        fine = 2.0 * math.ceil(2.0 * self.reach / self.spread - _SAME) + 1.0
        most = min(fine, math.exp(min(0.25 * self.rate(share) * self.n - 2.0, 10.0)), 129)
        count = max(3, 2 * math.floor(0.5 * (most - 1.0) + _SAME) + 1)
        given, place = self.chosen("axis", share, None, top=self.reach, count=count)
        along = given["top"] * ((place - count // 2) / (count // 2))
        return self.public.project(self.public.point(along * self.axis))

    def find_radius(self, center: Any, share: Fraction) -> float:
        rate, top = self.rate(share), self.far(center)
        penalty = self.weight(rate, self.left - share, float(self.n), 5.0)
        count = self.radii(rate, penalty, math.log(top / self.ball.reach))
        given, place = self.chosen("radius", share, center, top=top, count=count, penalty=penalty)
        found = _radius(given["top"], place)
        if found < self.ball.reach:
            smaller = self.around(given["center"], found)
            if smaller is None:
                return math.inf
            self.ball = smaller
        return found

    def find_centre(self, shares: Any, lengths: list[float]) -> Any:
        ball, center = self.ball, self.ball.center
        for share, length in zip(shares, lengths, strict=True):
            given, values, _ = self.added_up("centre", share, center, radius=ball.reach)
            if ball is self.public and not self.pure:
                self.first = share, values
            stated = self.around(given["center"], ball.reach) or ball
            mean = stated.shorten(values / self.size * ball.reach)
            center = self.public.project(stated.point(mean))
            smaller = self.around(center, length)
            if smaller is None:
                break
            ball = smaller
        return center

    def guarded(self, share: Fraction) -> Found:
        ball, far = self.ball, self.far(self.ball.center)
        given, (total,), _ = self.added_up("guard", share, ball.center, radius=ball.reach, far=far)
        allowed = self.n * self.noise(self.left) * self.reach / (far - ball.reach)
        if total > 0.25 * allowed + (3.91 if self.pure else 2.33) * given["sigma"]:
            return self.back()
        return Found(ball, self.left, self.draws, float(total), far)

    def around(self, center: Any, radius: float) -> Ball | None:
        try:
            return Ball(self.public.manifold, center, radius)
        except UnsupportedBallError:
            return None

    def away(self, first: Any, second: Any) -> float:
        return float(self.public.manifold.dist(first, second))

    def far(self, center: Any) -> float:
        return (1.0 + 2.0**-20) * (self.reach + self.away(self.public.center, center))
