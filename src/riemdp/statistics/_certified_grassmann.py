"""How near float64 coordinates are to the Fréchet mean of subspaces, or of planar shapes.

All points are normal coordinates about one point ``o`` of the abstract space, taken as the rational
numbers they are. The proof: docs/proofs/certified-means.md, "Subspaces and planar shapes".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces import _symmetric, clip_norm
from riemdp.statistics._flat_mean import stable_mean, sum_by_halves
from riemdp.statistics._mean_solver import check_bound
from riemdp.statistics._subspace_logarithms import (
    LOWEST,
    TINY,
    UNIT,
    UP,
    Found,
    Subspaces,
    angle_over_sine,
    errors_of,
    frames_of,
    logarithms,
    norms,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import FloatArray

#: What a single number is raised by, after a few operations.
_A_LITTLE = 1.0 + 2.0**-48
#: Just under a quarter of pi, and just under the square of pi.
_QUARTER, _SQUARE = math.nextafter(math.pi / 4.0, 0.0), math.nextafter(math.pi**2, 0.0)
#: Poles of the cotangent that :func:`_bend` takes one by one.
_POLES = 16
#: Units of roundoff, times p, that frames and decompositions of LAPACK are wrong by: only
#: :func:`floor` uses it.
_LAPACK = 8.0
#: Points tried before a mean is given up, and how many of them a step is made from.
_PASSES, _MEMORY = 400, 10


def certificate(
    space: Subspaces,
    point: FloatArray,
    records: FloatArray,
    tol: float,
    *,
    weights: FloatArray | None = None,
) -> float:
    """Bound the distance from a point to the exact Fréchet mean of records.

    ``point`` ``(dim,)``, the very numbers that noise is added to, and ``records`` ``(n, dim)`` are
    normal coordinates about ``o``, exact; ``weights`` ``(n,)`` are exact and not negative, of
    positive sum. At ``tol``, a positive distance, the Hessian is bounded, so that a bound that
    small is seen. It is rounded up; inf where none is proved, as where a record is not nearer to
    ``o`` than a quarter of pi. See docs/proofs/certified-means.md, "Subspaces and planar shapes".
    """
    shares = np.ones(len(records)) if weights is None else weights
    return _evaluated(space, point, records, shares, tol)[0]


def refined(
    space: Subspaces,
    records: FloatArray,
    radius: float,
    tol: float,
    *,
    weights: FloatArray | None = None,
) -> tuple[FloatArray, float, int]:
    """Move from the tangent mean towards the Fréchet mean until it is certified to be near.

    By steps along the gradient, of which the last few are put together by Anderson's method.
    ``records`` lie in the ball of ``radius``, to which points are shortened before they are
    certified; the rest is as in :func:`certificate`. Returns the point, its bound, at most ``tol``,
    and how many points were looked at, or raises ``ConvergenceError`` after a public number of
    steps.
    """
    shares = np.ones(len(records)) if weights is None else weights
    point, bound, passes = (
        clip_norm(stable_mean(records, shares / shares.sum()), radius),
        math.inf,
        0,
    )
    points: list[FloatArray] = []
    steps: list[FloatArray] = []
    for _ in range(_PASSES):
        bound, step = _evaluated(space, point, records, shares, tol)
        passes += 1
        if bound <= tol or not np.isfinite(step).all():
            break
        if steps and not np.linalg.norm(step) < np.linalg.norm(steps[-1]):
            points, steps = [], []
        points, steps = [*points[-_MEMORY:], point], [*steps[-_MEMORY:], step]
        point = clip_norm(_accelerated(points, steps), radius)
    check_bound(bound, tol)
    return point, bound, passes


def floor(space: Subspaces, radius: float) -> float:
    """Return the least tolerance to which all records in a ball can be certified: a distance.

    It is made of the errors that :func:`certificate` adds, at the largest distances in the ball, of
    decompositions as good as LAPACK's; twice, for what they do to the steps. Infinite from a
    quarter of pi on.
    """
    if not radius < _QUARTER:
        return math.inf
    (_, p), c = space.shape, space.copies
    one_line = p == c  # a line's overlap and its weight are not both large
    angles = np.linspace(0.0, 2.0 * radius, 257)[0 if one_line else -1 :]
    cosines = np.maximum(np.cos(2.0 * angles), LOWEST)
    weight, wide = angle_over_sine(cosines), math.sqrt(p)
    found = Found(
        overlap=wide * (np.cos(angles) if one_line else np.ones(1)),
        seen=np.full(angles.shape, wide),
        residual=np.full(angles.shape, _LAPACK * p * UNIT * wide),
        defect=np.full(angles.shape, (_LAPACK + p + 1.0) * p * UNIT),
        lowest=cosines,
        largest=weight,
        weight=wide * weight,
        across=np.minimum(wide, math.sqrt(c) * 2.0 * radius) + 0.0 * angles,
        factor=wide * 0.5 * math.pi + 0.0 * angles,
    )
    worst = float(errors_of(space, found).max()) + 46.0 * UNIT * math.sqrt(c) * 2.0 * radius
    x = math.sqrt(space.curvature) * radius
    return 2.0 * worst / math.sqrt(c) * math.tan(x) / x


def _bend(angles: FloatArray) -> FloatArray:
    """Lower bounds of ``x cot x``, minus infinity from ``pi`` on.

    It is one less ``2 x^2 / (j^2 pi^2 - x^2)``, added over the natural numbers.
    """
    square = angles * angles * _A_LITTLE
    valid = square < _SQUARE
    square = np.where(valid, square, 0.0)
    total = square * ((1.0 / _POLES + 1.0 / (_POLES + 1.0)) / _SQUARE)  # of those beyond
    for j in range(_POLES, 0, -1):
        total += 2.0 * square / (j * j * _SQUARE - square)
    return np.where(valid, (1.0 - 4.0 * UNIT) - total * UP, -math.inf)


def _evaluated(
    space: Subspaces, point: FloatArray, records: FloatArray, weights: FloatArray, tol: float
) -> tuple[float, FloatArray]:
    """Return the certificate, and, in float64, minus the gradient in the frame parallel to ``o``.

    The latter is not a number where there is no certificate at any tolerance.
    """
    unknown, n = np.full(point.shape, math.nan), len(records)
    reach = max(_longest(records), _longest(point[None])) * _A_LITTLE
    if not reach < _QUARTER:
        return math.inf, unknown
    matrix = space.matrices(point[None])[0]
    frame = frames_of(matrix[None])[0]

    def part(rows: slice) -> tuple[FloatArray, float, float, FloatArray]:
        found, errors = logarithms(space, frame, space.matrices(records[rows]))
        sizes, shares = norms(found), weights[rows]
        total = sum_by_halves(shares[:, None, None] * found)
        lengths = (sizes + errors) / math.sqrt(space.copies) * UP
        return total, float((shares * errors).sum()), float((shares * sizes).sum()), lengths

    with np.errstate(all="ignore"):
        try:
            parts = list(_symmetric.map_chunks(part, n, math.isqrt(frame.size) + 1))
        except np.linalg.LinAlgError:
            return math.inf, unknown
        totals, errors, sizes, distances = zip(*parts, strict=True)
        if not all(np.isfinite(total).all() for total in totals):
            return math.inf, unknown
        entries = np.array(totals).reshape(len(totals), -1).T
        whole = math.fsum(weights.tolist())
        mean = np.array([math.fsum(entry) for entry in entries]).reshape(frame.shape) / whole
        rounding = (n.bit_length() + 8.0) * UNIT * math.fsum(sizes)
        error = (math.fsum(errors) + rounding) / whole
        size = (float(norms(mean[None])[0]) + error) / math.sqrt(space.copies) * UP + TINY
        hessian = _hessian(space, np.concatenate(distances), weights / whole)
        bound = _distance(size, hessian, reach, tol)
    return bound, space.coordinates(_carried(matrix, mean))


def _hessian(
    space: Subspaces, distances: FloatArray, weights: FloatArray
) -> Callable[[float], float]:
    """Return what bounds the least eigenvalue of the Hessian in a ball about the point."""
    k = math.sqrt(space.curvature) * _A_LITTLE

    def least_within(radius: float) -> float:
        least = _bend(k * (distances + radius))
        if not np.isfinite(least).all():
            return -math.inf
        down = math.fsum((weights * least).tolist())
        return down - math.fsum((weights * np.abs(least)).tolist()) * (UP - 1.0)

    return least_within


def _distance(size: float, hessian: Callable[[float], float], reach: float, tol: float) -> float:
    """Claim (c): the least bound that two radii prove, inf where none does."""
    bounds = [math.inf]
    at_point = hessian(0.0)
    radii = (tol, 2.0 * size / at_point) if at_point > 0.0 else (tol,)
    for within in radii:
        if within > 0.0 and reach + within * UP < _QUARTER:
            least = hessian(within)
            if size * UP < within * least:
                bounds.append(size / least * UP)
    return min(bounds)


def _accelerated(points: list[FloatArray], steps: list[FloatArray]) -> FloatArray:
    """Anderson's step: that of the combination of points whose own step is the shortest."""
    if len(points) < 2:
        return points[-1] + steps[-1]
    moved, changed = np.diff(np.array(points), axis=0), np.diff(np.array(steps), axis=0)
    share = np.linalg.lstsq(changed.T, steps[-1], rcond=1e-12)[0]
    return np.asarray(points[-1] + steps[-1] - share @ (moved + changed))


def _carried(matrix: FloatArray, tangent: FloatArray) -> FloatArray:
    """Transport from the point to ``o``, along the geodesic; nothing is claimed of it."""
    p = matrix.shape[1]
    u, angles, vt = np.linalg.svd(matrix, full_matrices=False)
    up, down = tangent[:p], tangent[p:]
    back = (1.0 - np.cos(angles))[:, None] * (u.T @ down) + np.sin(angles)[:, None] * (vt @ up)
    return np.asarray(down - u @ back)


def _longest(rows: FloatArray) -> float:
    """Largest norm of rows, inf where one is not finite."""
    with np.errstate(all="ignore"):
        found = float(np.sqrt((rows * rows).sum(axis=-1).max())) * UP
    return found if found < math.inf else math.inf
