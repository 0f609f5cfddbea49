"""Records of a research release, and how far one of them moves a mean."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from riemdp._errors import InvalidParameterError
from riemdp.release._offer import exact_sensitivity, with_tolerance
from riemdp.release._streams import no_stream
from riemdp.release._unopened import check_number, check_shapes, number_of, opened
from riemdp.statistics import ReplaceOne, as_records, check_extras, outline

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics import Metric, Records, Statistic

#: Tolerance of the means of :mod:`riemdp.statistics` in float64, in balls of radius up to 1.
_MEAN_TOL = 1e-10


def unopened(
    points: ArrayLike, ball: Ball, n: int | None, what: str
) -> tuple[int, Callable[[], FloatArray]]:
    """Return the public number of records, and what reads them, each clipped to the ball."""
    given = as_records(points)
    no_stream(given.points, f"the {what}")
    check_extras(given, (), what)
    check_shapes(given, ball.manifold, n)
    size = number_of(given, n)
    return size, functools.partial(_opened, ball, given, size)


def _opened(ball: Ball, given: Records, n: int) -> FloatArray:
    found = checked_records(ball, opened(given).points)
    check_number(n, len(found))
    return found


def checked_records(ball: Ball, points: ArrayLike) -> FloatArray:
    """Validate records and clip them to the ball, one by one."""
    records = ball.manifold.validate(points)
    if records.ndim != 1 + len(ball.manifold.point_shape) or not len(records):
        raise InvalidParameterError("points must have shape (n, *point_shape) with n >= 1")
    return ball.project(records)


def mean_sensitivity(mean: Statistic, ball: Ball, n: int, metric: Metric) -> tuple[float, float]:
    """Sensitivity of a mean as it is computed in float64, and its tolerance."""
    query = outline(mean, ball).queries[0]
    exact = exact_sensitivity(mean, query, ball, n, ReplaceOne(), metric)
    tol = max(query.tolerance(ball, exact), _MEAN_TOL * max(1.0, ball.reach))
    return with_tolerance(query, ball, metric, exact, tol), tol
