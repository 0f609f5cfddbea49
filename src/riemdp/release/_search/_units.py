"""What a search asks of the units, and how it is answered."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._discreet import discreetly
from riemdp.kernel import UNIT, Vector, added, sum_of
from riemdp.noise import resolve_generator
from riemdp.noise.exact import FlatDraw, Rounded, default_grid, exact_choice
from riemdp.release._search._adaptive import (
    Add,
    Choose,
    Outcome,
    Query,
    Weights,
    place_weights,
    radius_weights,
    search,
    walked,
)
from riemdp.statistics import of_each

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.privacy import Budget
    from riemdp.spaces import Ball, FloatArray


# What a search computes of the records: distances, each of one record or of one pair.

_WHO = "the search for a ball"


class Records:
    r"""Private records, clipped to the public ball on the space of the search one by one.

    Every number that is computed of a record, or of a pair, depends on that and on public points
    alone, in every bit: one that has none in float64 counts as infinite. The points, shape (n,
    \*point_shape), are valid, inside or outside; :attr:`points` are clipped.
    """

    def __init__(self, ball: Ball, points: FloatArray) -> None:
        self._ball = ball
        self.points, _ = made_of(ball, ball.project, points)

    def __len__(self) -> int:
        return len(self.points)

    def pairs(self, order: NDArray[np.int64]) -> FloatArray:
        """Distances within disjoint pairs, shape (n // 2,), which a public order of records makes.

        It is a permutation that does not depend on them.
        """
        half = len(order) // 2
        first, second = self.points[order[:half]], self.points[order[half : 2 * half]]
        return self._each(self._apart, first, second)

    def distances(self, center: FloatArray) -> FloatArray:
        """Distances from a released point, shape (n,)."""
        return self._each(lambda points: self._apart(center, points), self.points)

    def _apart(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Distances; on flat spaces the records are in the chart."""
        if self._ball.manifold.chart is None:
            return self._ball.manifold.dist(first, second)
        gap = second - first
        return np.asarray(np.sqrt(np.einsum("...i,...i->...", gap, gap)))

    def places(self, axis: FloatArray) -> FloatArray:
        """Coordinates along an axis, shape (dim,), through the public centre, shape (n,)."""
        return self._each(
            lambda points: (self._ball.coordinates(points) * axis).sum(-1), self.points
        )

    def _each(self, compute: Callable[..., FloatArray], *arrays: FloatArray) -> FloatArray:
        """Compute for each row; what fails, or is no number, is infinite."""
        found, lost = made_of(self._ball, compute, *arrays)
        return np.where(np.isfinite(found) & ~lost, found, np.inf)


def made_of(
    ball: Ball, compute: Callable[..., FloatArray], *arrays: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return what a function makes of each row of points, and for which it raises."""
    return discreetly(_WHO, lambda: of_each(ball, compute, *arrays))


def beyond(values: FloatArray, thresholds: FloatArray) -> list[int]:
    """Numbers of values above each threshold."""
    above = len(values) - np.searchsorted(np.sort(values), thresholds, side="right")
    return [int(x) for x in above]


def below(values: FloatArray, thresholds: FloatArray) -> list[int]:
    """Numbers of values under each threshold; see :func:`beyond`."""
    return [int(x) for x in np.searchsorted(np.sort(values), thresholds, side="left")]


# Answers of the adaptive search, exact and with exact noise, and the receipt of all of them.

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
