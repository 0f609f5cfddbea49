"""Answers of the adaptive search, exact and with exact noise, and the receipt of all of them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.kernel import UNIT, Vector, added, sum_of
from riemdp.noise import resolve_generator
from riemdp.noise.exact import FlatDraw, Rounded, default_grid, exact_choice
from riemdp.release._search._adaptive import Add, Choose, Outcome, Query, search, walked
from riemdp.release._search._numbers import Weights, place_weights, radius_weights
from riemdp.release._search._records import Records, below, beyond, made_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.privacy import Budget
    from riemdp.spaces import Ball, FloatArray

#: Steps of the guard's numbers, of which each is at most 1.
_STEPS = 2**20


class Units:
    r"""Private units, one point each: records, or a function of all records of one person.

    The public ball is that of the space that is searched; the points, shape (n, \*point_shape), are
    valid, inside or outside. ``counted`` says that their number is private: under it a unit is
    added or removed, else replaced. The axis is that of :func:`search`.
    """

    def __init__(
        self, ball: Ball, points: FloatArray, *, counted: bool, axis: FloatArray | None = None
    ) -> None:
        self._records, self._counted = Records(ball, points), counted
        self._axis = np.zeros(ball.manifold.dim) if axis is None else axis

    def answer(self, query: Query, source: np.random.Generator | None = None) -> int | Rounded:
        """Draw the answer to a query: a place, or noisy coordinates."""
        if isinstance(query, Choose):
            weights = self.weights(query, self.matching(source) if query.name == "pairs" else None)
            return exact_choice(weights.losses, weights.octaves, weights.units, generator=source)
        draw = FlatDraw(query.kind, query.dim, query.sigma)
        return draw.draw(self.total(query), default_grid(query.sigma), generator=source)

    def matching(self, source: np.random.Generator | None = None) -> NDArray[np.int64]:
        """Draw an order whose halves are a uniform maximum matching; it is never released.

        Under an order that is public, or that depends on the units, one unit that is added would
        change all pairs.
        """
        return resolve_generator(source).permutation(len(self._records))

    def weights(self, query: Choose, order: NDArray[np.int64] | None = None) -> Weights:
        """Weights of the candidates; of pairs given their order."""
        records, candidates = self._records, query.candidates
        if query.name == "axis":
            # A stretch as wide as the steps on either side: one holds the median.
            values, step = records.places(self._axis), candidates[1] - candidates[0]
            sides = below(values, candidates - step), beyond(values, candidates + step)
            # One side's surplus moves by 2 if a unit is replaced, by 1 if one is added.
            rate = query.rate * (2 if self._counted else 1)
            return place_weights(*sides, len(records), rate)
        values = records.distances(query.center) if order is None else records.pairs(order)
        return radius_weights(beyond(values, candidates), query.rate, query.penalty)

    def total(self, query: Add) -> tuple[Fraction, ...]:
        """Return the exact sum of a query, of numbers that are a function of one unit each."""
        records, ball = self._records, query.ball
        if query.name == "count":
            return (Fraction(len(records)),)
        if query.name == "guard":
            over = (records.distances(ball.center) - ball.radius) / (query.far - ball.radius)
            whole = np.ceil(np.clip(over, 0.0, 1.0) * _STEPS).astype(np.int64)
            return (Fraction(sum_of(whole), _STEPS),)
        found: Any
        found, lost = made_of(ball, ball.coordinates, records.points)
        shape = Vector(ball.manifold.dim)
        # no quotient may be longer than 1, which would not count
        unit = ball.reach * (1.0 + (ball.manifold.dim + 8.0) * 2.0**-52)
        rows = shape.rows(found / unit)
        rows[lost] = 0
        return tuple(Fraction(x, UNIT) for x in added(rows, shape.longest).total)


def searched(
    ball: Ball,
    budget: Budget,
    n: int | None,
    units: Units,
    *,
    axis: FloatArray | None = None,
    source: np.random.Generator | None = None,
) -> tuple[Outcome, list[dict[str, Any]]]:
    """Search among private units, which are charged for; return the end and the receipt.

    See :func:`search`. All of the receipt may be published.
    """
    steps: list[dict[str, Any]] = []

    def answered(query: Query) -> Any:
        found = units.answer(query, source)
        steps.append(step_of(query, found))
        return found.values() if isinstance(found, Rounded) else found

    return walked(search(ball, budget, n, axis), answered), steps


def step_of(query: Query, found: int | Rounded) -> dict[str, Any]:
    """Return a query and its answer as a document has them."""
    step: dict[str, Any] = {
        "query": query.name,
        "share": [query.share.numerator, query.share.denominator],
    }
    if isinstance(query, Choose):
        step |= {"rate": query.rate, "top": query.top, "count": query.count}
        if query.name != "axis":
            step |= {"penalty": query.penalty}
        if query.name == "radius":
            step |= {"center": query.center.tolist()}
        return {**step, "place": found}
    assert isinstance(found, Rounded)
    step |= {"sigma": query.sigma}
    if query.name != "count":
        step |= {"center": query.ball.center.tolist(), "radius": query.ball.reach}
    if query.name == "guard":
        step |= {"far": query.far}
    return {**step, "grid": found.grid, "rounded": list(found.integers)}
