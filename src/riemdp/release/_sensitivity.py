"""How far one record can move a statistic as it is computed, from public numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._checks import count, real, scale
from riemdp._combinations import LABELS_HAVE_PLACES, WEIGHTS_HAVE_PLACES
from riemdp._errors import InvalidParameterError, UnsupportedNeighboursError

if TYPE_CHECKING:
    from riemdp.spaces import Ball
    from riemdp.statistics import Metric, Neighbours, Query, Statistic


def exact_sensitivity(  # noqa: PLR0917
    statistic: Statistic,
    query: Query,
    ball: Ball,
    n: int | None,
    neighbours: Neighbours,
    metric: Metric,
) -> float:
    """Sensitivity of the exact answer; ``UnsupportedError`` if none is known on this ball."""
    by_place = set(statistic.by_place)
    kept = neighbours.keeps_beside or not by_place - {"weights"}
    if by_place and not (neighbours.keeps_places and kept):
        row = WEIGHTS_HAVE_PLACES if "weights" in by_place else LABELS_HAVE_PLACES
        raise UnsupportedNeighboursError(f"{neighbours.name}: {row}")
    if neighbours.size_is_public:
        n = count(n, "n, the number of points,")
        statistic.check_size(n)
    found = neighbours.sensitivity(query, ball, n, metric)
    return scale(found, f"the sensitivity of {statistic.name}")


def computed_sensitivity(  # noqa: PLR0917
    statistic: Statistic,
    query: Query,
    ball: Ball,
    n: int | None,
    metric: Metric,
    neighbours: Neighbours,
) -> tuple[float, float]:
    """Sensitivity of an answer as computed, and its public tolerance: twice that is added.

    See docs/proofs/frechet-mean-certificate.md.
    """
    exact = exact_sensitivity(statistic, query, ball, n, neighbours, metric)
    name = f"the tolerance of {statistic.name}"
    tol = real(query.tolerance(ball, exact), name)
    if not 0.0 <= tol < math.inf:  # a negative one would take noise away
        raise InvalidParameterError(f"{name} must be finite and at least 0, got {tol}")
    return with_tolerance(query, ball, metric, exact, tol), tol


def with_tolerance(query: Query, ball: Ball, metric: Metric, exact: float, tol: float) -> float:
    """``exact + 2 tol``, rounded up, where tol may be longer in the metric."""
    name = f"the stretch of {type(query).__name__}"
    stretch = real(query.stretch(ball, metric), name)
    if not 1.0 <= stretch < math.inf:
        raise InvalidParameterError(f"{name} must be finite and at least 1, got {stretch}")
    return math.nextafter(exact + 2.0 * (stretch * tol), math.inf)
