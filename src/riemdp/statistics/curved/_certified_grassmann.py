"""Logarithms of subspaces, and certificates of their means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces import _symmetric, clip_norm
from riemdp.statistics.curved._flat_mean import stable_mean, sum_by_halves
from riemdp.statistics.curved._mean_solver import check_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import FloatArray


# Logarithms of subspaces, and of planar shapes, with every rounding bounded.
#
# Both are Grassmannians: of p-planes of ``R^N``, and of complex lines. A record is a matrix ``H``,
# its normal coordinates about a point ``o`` of the abstract space; it stands for the span of the
# columns of ``X = [cos sqrt(H* H); H sinc sqrt(H* H)]``, which are orthonormal. With the same
# columns ``Z`` of a point, the overlap ``A = Z* X`` and ``lambda(cos x) = x / sin x``, the
# logarithm of the record at the point is ``(X - Z A) A* lambda(2 A A* - 1)``: nothing in it is
# singular. Complex numbers are real 2 x 2 matrices, of which each norm is ``sqrt(2)`` times as
# large.
#
# Sums, products, quotients and roots are all that is believed. The proof:
# docs/proofs/certified-means.md, "Subspaces and planar shapes".

#: Unit roundoff of float64.
UNIT = 2.0**-53
#: What a bound made of some dozens of rounded operations is raised by, and what it is raised by for
#: results below the least normal number.
UP, TINY = 1.0 + 2.0**-30, 1e-150
#: Lowest cosine that is worked with.
LOWEST = -1.0 + 2.0**-40
#: Coefficients of ``cos`` and ``sin(x) / x`` in squares, the highest first.
_COSINE = tuple((-1.0) ** j / math.factorial(2 * j) for j in range(9, -1, -1))
_SINC = tuple((-1.0) ** j / math.factorial(2 * j + 1) for j in range(9, -1, -1))
#: Of ``arctan(x) / x``.
_ARCTAN = tuple((-1.0) ** j / (2 * j + 1) for j in range(11, -1, -1))
#: Relative error of :func:`angle_over_sine` in units of roundoff.
_ANGLE = 32.0


@dataclass(frozen=True)
class Subspaces:
    """A Grassmannian in normal coordinates about one of its points.

    Coordinates are the rows of matrices of so many rows and columns, one after the other; with
    ``planar`` these are columns of complex numbers: their real parts, then their imaginary parts.
    """

    rows: int
    columns: int
    planar: bool = False

    @property
    def curvature(self) -> float:
        """Upper bound of the sectional curvatures."""
        if self.planar:
            return 4.0
        return 1.0 if min(self.rows, self.columns) == 1 else 2.0

    @property
    def copies(self) -> int:
        """How often a number is part of a real matrix."""
        return 2 if self.planar else 1

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of real matrices, no wider than high: complements are as far from each other."""
        if self.planar:
            return 2 * self.rows, 2
        return max(self.rows, self.columns), min(self.rows, self.columns)

    def matrices(self, coordinates: FloatArray) -> FloatArray:
        """Real matrices of coordinates ``(n, dim)``."""
        if self.planar:
            real, imaginary = coordinates[:, : self.rows], coordinates[:, self.rows :]
            turned = np.concatenate([-imaginary, real], axis=1)
            return np.stack([coordinates, turned], axis=-1)
        given = coordinates.reshape(-1, self.rows, self.columns)
        return given if self.columns <= self.rows else np.swapaxes(given, -1, -2)

    def coordinates(self, matrix: FloatArray) -> FloatArray:
        """Coordinates of one real matrix."""
        if self.planar:
            return np.ascontiguousarray(matrix[:, 0])
        return (matrix if self.columns <= self.rows else matrix.T).ravel()


def logarithms(
    space: Subspaces, frame: FloatArray, matrices: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return about the logarithms of records at a point, and bounds of their errors.

    With ``(q, p) = space.shape``: of Z ``(q + p, p)`` as :func:`frames_of` makes it of the point,
    and exact H ``(n, q, p)`` of the records, logarithms ``(n, q + p, p)``, and errors ``(n,)`` in
    the Frobenius norm, rounded up; inf where none is proved.
    """
    records = frames_of(matrices)
    overlap = frame.T @ records
    seen = 2.0 * (overlap @ np.swapaxes(overlap, -1, -2)) - np.eye(frame.shape[-1])
    cosines, vectors = np.linalg.eigh(seen)
    cosines = np.clip(cosines, LOWEST, 1.0)
    across, turned = records - frame @ overlap, np.swapaxes(vectors, -1, -2)
    weight = angle_over_sine(cosines)
    factor = np.swapaxes(overlap, -1, -2) @ ((vectors * weight[:, None, :]) @ turned)
    found = Found(
        overlap=norms(overlap),
        seen=norms(seen),
        residual=norms(seen - (vectors * cosines[:, None, :]) @ turned),
        defect=_defect(vectors),
        lowest=cosines.min(axis=-1),
        largest=weight.max(axis=-1),
        weight=np.sqrt((weight * weight).sum(axis=-1)),
        across=norms(across),
        factor=norms(factor),
    )
    return across @ factor, errors_of(space, found)


def frames_of(matrices: FloatArray) -> FloatArray:
    """``[cos sqrt(H^T H); H sinc sqrt(H^T H)]`` of matrices ``(n, q, p)``, by power series."""
    square = np.swapaxes(matrices, -1, -2) @ matrices
    cosine, sinc = (np.zeros(square.shape) for _ in range(2))
    for matrix, coefficients in ((cosine, _COSINE), (sinc, _SINC)):
        diagonal = np.einsum("nii->ni", matrix)
        for coefficient in coefficients:
            matrix[...] = square @ matrix
            diagonal += coefficient
    return np.concatenate([cosine, matrices @ sinc], axis=1)


def angle_over_sine(cosine: FloatArray) -> FloatArray:
    """``x / sin x`` by ``cos x`` from above -1 to 1, right to a relative ``2^-48``, entry by entry.

    It is ``2 arctan(t) / (t (1 + cos x))`` with ``t = tan(x / 2)``, and the arc tangent is halved
    three times: sums, products, quotients and roots alone.
    """
    square = (1.0 - cosine) / (1.0 + cosine)
    factor = 2.0 / (1.0 + cosine)
    for _ in range(3):
        divisor = 1.0 + np.sqrt(1.0 + square)
        factor *= 2.0 / divisor
        square = square / (divisor * divisor)
    series = np.full(square.shape, _ARCTAN[0])
    for coefficient in _ARCTAN[1:]:
        series = series * square + coefficient
    return np.asarray(factor * series)


@dataclass(frozen=True, eq=False)
class Found:
    """What is computed of records and bounds their errors, each of shape ``(n,)``.

    Norms are Frobenius norms.
    """

    overlap: FloatArray  # norm of A
    seen: FloatArray  # norm of 2 A A* - 1
    residual: FloatArray  # norm of what its decomposition leaves
    defect: FloatArray  # bounds |E* E - 1|, E the eigenvectors
    lowest: FloatArray  # least eigenvalue
    largest: FloatArray  # largest weight
    weight: FloatArray  # norm of the weights
    across: FloatArray  # norm of X - Z A
    factor: FloatArray  # norm of A* lambda


def errors_of(space: Subspaces, found: Found) -> FloatArray:
    """Bound the errors ``(n,)`` of computed logarithms, as real matrices, in the Frobenius norm.

    Rounded up; inf where none is proved.
    """
    q, p = space.shape
    frame = _frame_error(q, p)
    overlap = 1.01 * ((q + p) * p * UNIT + 2.0 * frame)
    size = np.minimum(1.0, found.overlap) + overlap  # of A, as the spectrum sees it
    seen = 4.0 * overlap * size + 2.02 * p * UNIT * found.overlap**2 + 1.01 * UNIT * found.seen
    composed = (p + 2.0) * p * UNIT * (1.0 + found.defect)
    apart = 1.01 * (seen + found.residual + composed + 1.03 * math.sqrt(p) * found.defect)
    weight = _slope(found.lowest - apart) * apart
    weight += 1.02 * (1.03 * found.defect + (_ANGLE + 1.0) * UNIT + composed) * found.weight
    factor = 1.02 * overlap * found.largest + size * weight
    factor += 1.03 * p * UNIT * found.overlap * found.weight
    across = frame * (1.0 + size) + overlap + 1.01 * UNIT * found.across
    across += 1.02 * p * math.sqrt(p) * UNIT * found.overlap
    total = across * np.minimum(found.factor, 0.5 * math.pi + factor)
    total += np.minimum(1.0, found.across + across) * factor
    total += 1.01 * p * UNIT * found.across * found.factor
    sound = (found.defect <= 0.01) & (overlap <= 1e-6) & (apart <= 0.01)
    return np.where(sound & (found.lowest - apart > LOWEST), total * UP + TINY, math.inf)


def _frame_error(q: int, p: int) -> float:
    """Bound the error of ``[cos; H sinc]``, where the largest singular value is under .8."""
    return (q + 4.0 * math.sqrt(p) + 2.2 * p * math.sqrt(p)) * UNIT


def _slope(cosine: FloatArray) -> FloatArray:
    """Bound the slope of ``x / sin x`` as a function of the cosine, at this one and above."""
    below = np.clip(cosine, LOWEST, 0.0)
    square = (1.0 - below) * (1.0 + below)
    return (1.0 - math.pi * below / np.sqrt(square)) / square * UP


def _defect(frames: FloatArray) -> FloatArray:
    """Bound ``|E^T E - 1|`` in the Frobenius norm, ``(n,)``."""
    p = frames.shape[-1]
    product = np.swapaxes(frames, -1, -2) @ frames
    square = np.einsum("nii->n", product)
    return np.asarray((norms(product - np.eye(p)) + (p + 1.0) * UNIT * square) * UP)


def norms(matrices: FloatArray) -> FloatArray:
    """Frobenius norms, ``(n,)``."""
    return np.asarray(np.sqrt(np.einsum("nij,nij->n", matrices, matrices)))


# How near float64 coordinates are to the Fréchet mean of subspaces, or of planar shapes.
#
# All points are normal coordinates about one point ``o`` of the abstract space, taken as the
# rational numbers they are. The proof: docs/proofs/certified-means.md, "Subspaces and planar
# shapes".

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
