"""Certificates on spheres and hyperbolic spaces for tests: of records that are all at hand."""

from __future__ import annotations

import math

from riemdp import ConvergenceError
from riemdp.statistics.curved._certified_space_form import distance
from riemdp.statistics.curved._space_form_sums import SpaceFormSums


def certificate(curvature, radius, point, records, tol, *, weights=None):
    """Bound the distance to the mean; inf where a record is not in the ball."""
    sums = SpaceFormSums(records.shape[1], curvature, radius)
    try:
        total = sums.sums(point, records, weights)
    except ConvergenceError:
        return math.inf
    return distance(sums, point, total, tol)
