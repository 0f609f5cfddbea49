"""How far one record can move a statistic as it is computed, from public numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._checks import count, real, scale
from riemdp._combinations import LABELS_HAVE_PLACES, WEIGHTS_HAVE_PLACES
from riemdp._errors import InvalidParameterError, UnsupportedNeighboursError
from riemdp.statistics import Neighbours, ReplaceOne, Statistic

if TYPE_CHECKING:
    from riemdp.manifolds import Ball
    from riemdp.statistics import Metric


def exact_sensitivity(
    statistic: Statistic, ball: Ball, n: int | None, neighbours: Neighbours, metric: Metric
) -> float:
    """Sensitivity of the exact statistic; ``UnsupportedError`` if none is known on this ball."""
    scale(ball.reach, "the radius of the ball")
    if statistic.by_place and not neighbours.keeps_places:
        row = WEIGHTS_HAVE_PLACES if "weights" in statistic.by_place else LABELS_HAVE_PLACES
        raise UnsupportedNeighboursError(f"{neighbours.name}: {row}")
    if neighbours.size_is_public:
        n = count(n, "n, the number of points,")
    found = neighbours.sensitivity(statistic, ball, n, metric)
    return scale(found, f"the sensitivity of {statistic.name}")


def computed_sensitivity(
    statistic: Statistic,
    ball: Ball,
    n: int | None,
    metric: Metric,
    *,
    neighbours: Neighbours | None = None,
) -> tuple[float, float]:
    """Sensitivity of a statistic as computed, and its public tolerance: twice that is added.

    See docs/proofs/frechet-mean-certificate.md.
    """
    exact = exact_sensitivity(statistic, ball, n, neighbours or ReplaceOne(), metric)
    name = f"the tolerance of {statistic.name}"
    tol = real(statistic.tolerance(ball, exact), name)
    if not 0.0 <= tol < math.inf:  # a negative one would take noise away
        raise InvalidParameterError(f"{name} must be finite and at least 0, got {tol}")
    return with_tolerance(statistic, ball, metric, exact, tol), tol


def with_tolerance(
    statistic: Statistic, ball: Ball, metric: Metric, exact: float, tol: float
) -> float:
    """``exact + 2 tol``, rounded up, where tol may be longer in the metric."""
    name = f"the stretch of {statistic.name}"
    stretch = real(statistic.stretch(ball, metric), name)
    if not 1.0 <= stretch < math.inf:
        raise InvalidParameterError(f"{name} must be finite and at least 1, got {stretch}")
    return math.nextafter(exact + 2.0 * (stretch * tol), math.inf)
