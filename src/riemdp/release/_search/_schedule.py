"""Which question a search asks next: a function of public numbers and of earlier answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from riemdp._errors import UnsupportedBallError
from riemdp.manifolds import Ball, Euclidean
from riemdp.privacy import bounded_range, share_of
from riemdp.release._search._numbers import Numbers, Plan, places, radii

if TYPE_CHECKING:
    from riemdp.manifolds import FloatArray
    from riemdp.privacy import Budget

#: Why a search ended.
Reason = Literal["small n", "wide", "found", "back"]
#: Share of the public radius from which data count as wide.
_WIDE = 0.7
#: Factor on a spread that is less than the least that could be chosen.
_UNSEEN = 0.3
#: Room for rounding in the distance that holds every record of the public ball.
_ROOM = 1.0 + 2.0**-20


@dataclass(frozen=True)
class PublicChoice:
    """What is public of a question that is answered by one number out of a grid.

    It is about distances within pairs, distances from a centre, or places along an axis through
    it, and accounts call it by its label. The guarantee is that of the range ``rate``, the lambda;
    ``top`` is the largest of ``count`` candidates: ``top 2^(-j/4)``, or places between ``-top`` and
    ``top``. The penalty, in records, is that of the logarithm of the radius; 0 of an axis.
    """

    query: Literal["pairs", "radius", "axis"]
    label: str
    guarantee: Budget
    rate: float
    top: float
    count: int
    penalty: float


@dataclass(frozen=True)
class Choice(PublicChoice):
    """A question, with the point of the space of the search that distances are measured from."""

    center: FloatArray

    @property
    def candidates(self) -> FloatArray:
        """What is chosen from."""
        return (places if self.query == "axis" else radii)(self.top, self.count)


@dataclass(frozen=True)
class Centre:
    """A question that is answered by a noisy mean in the tangent space at the centre of a ball."""

    label: str
    guarantee: Budget
    ball: Ball


@dataclass(frozen=True)
class Outcome:
    """How a search ended, and its ball on the space of the search."""

    reason: Reason
    ball: Ball


T = TypeVar("T")

#: Asks, and is sent the answers; one of a whole search.
_Asking = Generator[Choice | Centre, "float | FloatArray", T]
Schedule = _Asking[Outcome]


def walked(
    questions: Schedule, answered: Callable[[Choice | Centre], float | FloatArray]
) -> Outcome:
    """Ask until there is no further question, and return how that ended."""
    answer: float | FloatArray | None = None
    while True:
        try:
            question = next(questions) if answer is None else questions.send(answer)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        answer = answered(question)


def working_ball(ball: Ball) -> Ball:
    """Return the ball that is searched: on flat spaces the image of the public one in the chart."""
    chart = ball.manifold.chart
    if chart is None:
        return ball
    return Ball(Euclidean(chart.dim), chart.to_chart(ball.center), ball.radius)


def schedule(ball: Ball, n: int, budget: Budget, rounds: int, axis: FloatArray | None) -> Schedule:
    """Ask question after question, and return the ball that they lead to.

    Everything that it decides is a function of its arguments and of the answers, all of which may
    be published. The public ball is on the space of the search, see :func:`working_ball`; the
    budget (PureDP, GDP or ZCDP) is that of search and release together, ``rounds`` the most
    centres, ``axis`` a unit vector of a flat factor, shape (dim,), see :attr:`Manifold.scale_axis`.
    Each question expects its answer to be sent: a number, or a point.
    """
    return _Walk(ball, n, budget, rounds, axis).walk()


class _Walk:
    """State of a search: the ball so far, the spread of the data, the share that is left."""

    def __init__(
        self, ball: Ball, n: int, budget: Budget, rounds: int, axis: FloatArray | None
    ) -> None:
        self.public, self.rounds, self.axis = ball, rounds, axis
        self.numbers = Numbers(budget, n, ball.manifold.dim)
        self.ball, self.left, self.spread = ball, 1.0, ball.reach
        self.share = 0.0
        self.radii = 0

    def walk(self) -> Schedule:
        share = self.numbers.choice_share()
        if share is None:
            return Outcome("small n", self.public)
        self.share = share
        yield from self.find_spread()
        if self.spread >= _WIDE * self.public.reach:
            return Outcome("wide", self.public)
        planned = self.plan(self.rounds)
        ideal = self.numbers.noise(self.left - share) * self.spread
        now = self.numbers.noise(self.left) * self.ball.reach if planned is None else planned.noise
        if now > (1.0 + 4.0 * share) * ideal:
            yield from self.find_first_ball()
        for done in range(self.rounds):
            plan = self.plan(self.rounds - done)
            if plan is None:
                break
            outcome = yield from self.recentre(done + 1, plan.shares)
            if outcome == "back":
                return Outcome("back", self.public)
            if outcome == "stop":
                break
        return Outcome("wide" if self.ball is self.public else "found", self.ball)

    def plan(self, rounds: int) -> Plan | None:
        """Return the best centres from here on."""
        return self.numbers.plan(self.share, self.left, self.spread, self.ball.reach, rounds)

    def find_spread(self) -> _Asking[None]:
        """Ask for distances within pairs, which need no centre."""
        items = self.numbers.n // 2
        choice = self.choose("pairs", "spread", self.share, 2.0 * self.public.reach, items)
        found = float((yield choice))
        unseen = _UNSEEN if found <= choice.candidates[-1] else 1.0
        self.spread = unseen * min(found * math.sqrt(0.5), self.public.reach)

    def find_first_ball(self) -> _Asking[None]:
        """Ask for a radius about the public centre, moved along the axis where there is one."""
        center = self.public.center
        if self.axis is not None:
            reach = self.public.reach
            self.left -= self.share
            rate = self.numbers.rate(self.share)
            count = self.numbers.places(rate, reach, self.spread)
            guarantee = bounded_range(type(self.numbers.budget), rate)
            place = yield Choice("axis", "axis", guarantee, rate, reach, count, 0.0, center)
            center = self.public.project(self.public.point(float(place) * self.axis))
        yield from self.find_radius(center, self.share)

    def find_radius(self, center: FloatArray, share: float) -> _Asking[float]:
        """Ask for a radius about a centre, and take the ball if it is smaller."""
        self.radii += 1
        gap = self.distance(self.public.center, center)
        top = _ROOM * (self.public.reach + gap)
        choice = self.choose(
            "radius", f"radius {self.radii}", share, top, self.numbers.n, center=center
        )
        found = float((yield choice))
        if found < self.ball.reach:
            try:
                self.ball = Ball(self.public.manifold, center, found)
            except UnsupportedBallError:  # about this centre; all of it is released
                return math.inf
        return found

    def recentre(self, number: int, shares: tuple[float, ...]) -> _Asking[str]:
        """Ask for a centre, and for a radius about it."""
        ball, part = self.ball, shares[0]
        guarantee = share_of(self.numbers.budget, part)
        answer = yield Centre(f"centre {number}", guarantee, ball)
        center = np.asarray(answer)
        self.left -= part
        last = self.numbers.last_share(self.share) if len(shares) == 1 else self.share
        found = yield from self.find_radius(center, last)
        if self.ball is not ball:
            self.spread = min(self.spread, found)
            return "smaller"
        lost = 2.0 * ball.reach + self.distance(ball.center, center)
        return "back" if math.isfinite(found) and found > lost else "stop"

    def choose(
        self,
        query: Literal["pairs", "radius"],
        label: str,
        share: float,
        top: float,
        items: int,
        *,
        center: FloatArray | None = None,
    ) -> Choice:
        """Choice of a radius that takes a share of the budget."""
        numbers, planning = self.numbers, query == "pairs"
        self.left -= share
        rate = numbers.rate(share)
        penalty = numbers.penalty(rate, items, self.left, planning=planning)
        depth = 0.0 if planning else math.log(top / self.ball.reach)
        count = numbers.candidates(rate, penalty, depth)
        guarantee = bounded_range(type(numbers.budget), rate)
        middle = self.public.center if center is None else center
        return Choice(query, label, guarantee, rate, top, count, penalty, middle)

    def distance(self, first: FloatArray, second: FloatArray) -> float:
        """Distance of two released points."""
        return float(self.public.manifold.dist(first, second))
