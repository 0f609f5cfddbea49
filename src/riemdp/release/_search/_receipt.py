"""An adaptive search that is run, and its receipt: every query with its numbers and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp.noise.exact import Rounded
from riemdp.release._search._adaptive import Choose, Outcome, Query, search, walked

if TYPE_CHECKING:
    import numpy as np

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.privacy import Budget
    from riemdp.release._search._units import Units


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
