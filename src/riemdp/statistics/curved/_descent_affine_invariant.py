"""Affine-invariant means of clipped records: enclosed points, and descent in passes."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._working_precision import working_precision
from riemdp.spaces import _symmetric, clip_norm
from riemdp.spaces._matrix_lanes import full, tiles
from riemdp.statistics.curved import _certified_affine_invariant as certified
from riemdp.statistics.curved._descent import Descent, check_reached, hadamard_steps
from riemdp.statistics.curved._mean_solver import check_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from riemdp.kernel import Sum
    from riemdp.spaces import FloatArray

    Matrix = Any


# The matrices that a point of SPD stands for and is whitened by, in ball arithmetic.

#: Bits of the enclosures of the few matrices that belong to no record.
PRECISION = 256
#: What a bound made of some rounded operations is raised by.
_UP = 1.0 + 2.0**-30


def whitening(point: FloatArray, k: int) -> tuple[FloatArray, float]:
    """Return W ``(k, k)``, nearly ``exp(-S/2)``, and a bound of ``dist((W^T W)^-1, exp(S))``.

    S is the exact matrix of the point's coordinates ``(dim,)``.
    """
    from flint import arb_mat

    with working_precision(PRECISION):
        root = (exact_matrix(point, k) / 2).exp()
        inverse = (-exact_matrix(point, k) / 2).exp()
        found = np.array([[float(x) for x in row] for row in inverse.table()])
        return found, _displacement(arb_mat(found.tolist()) * root)


def _displacement(seen: Matrix) -> float:
    """Bound ``|log(B B^T)|`` of an ``arb_mat`` B, infinite unless it is small."""
    defect = seen * seen.transpose() - type(seen)(seen.nrows(), seen.ncols(), 1)
    size = sum((x * x for row in defect.table() for x in row), start=0 * seen[0, 0]).sqrt()
    size = float(size.abs_upper()) * _UP
    return size / (1.0 - size) * _UP if size < 0.5 else math.inf


def exact_matrix(point: FloatArray, k: int) -> Matrix:
    """Enclose the symmetric matrix with coordinates ``(dim,)``, at the working precision."""
    from flint import arb, arb_mat

    rows = [[arb(0)] * k for _ in range(k)]
    rest, root = iter(point[k:].tolist()), arb(2).sqrt()
    for i in range(k):
        rows[i][i] = arb(float(point[i]))
        for j in range(i + 1, k):
            rows[i][j] = rows[j][i] = arb(next(rest)) / root
    return arb_mat(rows)


# Fréchet mean of affine-invariant records in a public ball, in coordinates about its centre.
#
# A point is given by its coordinates, the very ones that noise is added to, and certified there.

#: Root of minus the least sectional curvature.
_K = math.sqrt(0.5)
#: Steps at most, far beyond what was seen, and those before that a step is made of.
_MOST, _MEMORY = 500, 5
#: Share of the least gradient so far that a faster step may leave.
_FASTER = 0.5
#: Least bound of a norm.
_LEAST = 1e-300


def certified_mean(
    records: FloatArray,
    radius: float,
    tol: float,
    *,
    weights: NDArray[np.int64] | None = None,
) -> FloatArray:
    """Return coordinates ``(dim,)`` that are proved to lie within ``tol`` of the mean.

    ``records`` ``(n, k, k)`` are those of ``exact_records``, ``radius`` that of their ball, ``tol``
    a geodesic distance of at least ``floor``, ``weights`` ``(n,)`` positive and at most ``2^40``.
    Raises ``ConvergenceError`` where nothing can be proved.
    """
    n, k = records.shape[:2]
    shares = np.full(n, 1.0 / n) if weights is None else weights / sum(weights.tolist())
    parts = [(rows, certified.roots(records[rows], radius)) for rows in tiles(n, k)]
    seen = _Clipped(parts, radius, tol, weights, shares)
    at = seen.evaluate(clip_norm((_symmetric.vecd(records) * shares[:, None]).sum(axis=0), radius))
    best, points, steps = at.size, [at.point], [at.step]
    for _ in range(_MOST):
        if at.bound <= tol:
            break
        # a point comes no farther from the mean by clipping to the ball, in which it lies
        found = seen.evaluate(clip_norm(_accelerated(points, steps), radius))
        if len(points) > 1 and not (found.bound <= tol or found.size <= _FASTER * best):
            found = seen.evaluate(clip_norm(at.point + at.step, radius))
            points, steps = [], []
        at, best = found, min(best, found.size)
        points, steps = [*points[-_MEMORY:], at.point], [*steps[-_MEMORY:], at.step]
    check_bound(at.bound, tol)
    return at.point


@dataclass(frozen=True)
class _Pass:
    """What is known at a point."""

    point: FloatArray
    step: FloatArray  # along the gradient, that leads nearer to the mean
    size: float  # of the gradient
    bound: float


@dataclass(frozen=True, eq=False)
class _Clipped:
    """Records, by what :func:`certified.roots` makes of parts of them."""

    parts: list[tuple[slice, FloatArray]]
    radius: float
    tol: float
    whole: NDArray[np.int64] | None
    weights: FloatArray  # those over their sum

    def evaluate(self, point: FloatArray) -> _Pass:
        """Certify where the gradient is short enough for that to be of use."""
        k = len(self.parts[0][1])
        frame, moved = whitening(point, k)
        found = [certified.seen_from(frame, roots) for _, roots in self.parts]

        def summed(errors: Iterable[FloatArray | None]) -> Sum:
            each = zip(self.parts, found, errors, strict=True)
            sums = (
                certified.added(logs, lost, None if self.whole is None else self.whole[rows])
                for (rows, _), logs, lost in each
            )
            return functools.reduce(operator.add, sums)

        gradient = certified.gradient(summed([None] * len(found)), k)
        size, bound = certified.length(gradient), math.inf
        if size + 1.05 * certified.rounding(k, self.radius) <= self.tol:
            errors = (
                certified.lost(frame, roots, logs, self.radius)
                for (_, roots), logs in zip(self.parts, found, strict=True)
            )
            bound = certified.bound(moved, summed(errors), k, self.radius, point)
        seen = np.concatenate(found, axis=-1)
        sizes = (seen * seen * self.weights).sum(axis=-1)
        x = _K * math.sqrt(float(sizes[:k].sum() + 2.0 * sizes[k:].sum()))
        hessian = x / math.tanh(x) if x > 1e-9 else 1.0
        step = displaced(point, gradient * (2.0 / (1.0 + hessian))) - point
        return _Pass(point, step, size, bound)


def displaced(point: FloatArray, along: FloatArray) -> FloatArray:
    """Coordinates of ``e^(S/2) e^along e^(S/2)``, S the matrix with the coordinates of the point.

    As right as float64 makes them; what is not finite may come of what is too long.
    """
    matrix = _symmetric.unvecd(point, len(along))
    root = certified.roots(matrix[None], max(certified.length(matrix), _LEAST))[..., 0]
    half = certified.roots(along[None], max(certified.length(along), _LEAST))
    return np.asarray(_symmetric.vecd(np.moveaxis(full(certified.seen_from(root, half)), -1, 0))[0])


def _accelerated(points: list[FloatArray], steps: list[FloatArray]) -> FloatArray:
    """Anderson's step: that of the combination of points whose own step is the shortest."""
    rest, found = steps[-1], points[-1] + steps[-1]
    basis: list[tuple[FloatArray, FloatArray]] = []
    for i in range(len(points) - 1, 0, -1):
        change, move = steps[i] - steps[i - 1], points[i] - points[i - 1]
        move, size = move + change, certified.length(change)
        for direction, along in basis:
            share = _dot(direction, change)
            change, move = change - share * direction, move - share * along
        left = certified.length(change)
        if left > 1e-8 * size:
            basis.append((change / left, move / left))
    for direction, along in basis:
        found = found - _dot(direction, rest) * along
    return found


def _dot(left: FloatArray, right: FloatArray) -> float:
    return math.fsum((left * right).tolist())


# Steps to the mean of affine-invariant records that come a part at a time.

#: Corrections of a logarithm, each of which leaves the square of an error.
_CORRECTIONS = 2


@dataclass(frozen=True)
class AffineInvariantDescent(Descent):
    """On affine-invariant matrices.

    Attributes
    ----------
    k : int
    radius : float
    steps : tuple of float

    References
    ----------
    docs/proofs/streamed-frechet-means.md
    """

    k: int
    radius: float
    steps: tuple[float, ...] = field(repr=False)

    def start(self) -> FloatArray:
        """See :meth:`Descent.start`."""
        return np.zeros(self.k * (self.k + 1) // 2)

    def view(self, point: FloatArray) -> tuple[FloatArray, float]:
        """Whiten by the point; see :meth:`Descent.view`."""
        return whitening(point, self.k)

    def seen(
        self,
        records: FloatArray,
        view: tuple[FloatArray, float],
        whole: NDArray[np.int64] | None = None,
        *,
        last: bool,
    ) -> Sum:
        """Entries of logarithms, what the last are wrong by, and how many are no proof."""

        def part(rows: slice) -> Sum:
            roots = certified.roots(records[rows], self.radius)
            found = certified.seen_from(view[0], roots)
            lost = certified.lost(view[0], roots, found, self.radius) if last else None
            return certified.added(found, lost, None if whole is None else whole[rows])

        return functools.reduce(operator.add, map(part, tiles(*records.shape[:2])))

    def moved(self, point: FloatArray, partial: Sum, number: int) -> FloatArray:
        """Go along the gradient, and into the ball; see :meth:`Descent.moved`."""
        found = _displaced(point, self.steps[number] * certified.gradient(partial, self.k))
        return clip_norm(found, self.radius) if np.isfinite(found).all() else point

    def certified(
        self, point: FloatArray, view: tuple[FloatArray, float], partial: Sum, tol: float
    ) -> tuple[Fraction, ...]:
        """Add what logarithms may be wrong by; see :meth:`Descent.certified`."""
        check_reached(certified.bound(view[1], partial, self.k, self.radius, point), tol)
        return tuple(map(Fraction, point.tolist()))


def affine_invariant_descent(k: int, radius: float, tol: float) -> AffineInvariantDescent | None:
    """Return steps that end within a tolerance of any mean in a ball, None if none are proved to.

    Parameters
    ----------
    k : int
    radius, tol : float

    Returns
    -------
    AffineInvariantDescent or None
    """
    error = certified.usual_error(k, radius)
    own = error + 1.05 * (error + certified.rounding(k, radius))
    moving = 4.0 * 2.0**-53 * radius * math.sinh(_K * radius) / (_K * radius)
    steps = hadamard_steps(_K, radius, tol, error=error, moving=lambda _: moving, own=own)
    return None if steps is None else AffineInvariantDescent(k, radius, steps)


def _displaced(point: FloatArray, along: FloatArray) -> FloatArray:
    """Correct what :func:`displaced` returns by what is left of the matrix in many digits.

    So rounding coordinates is all that they are wrong by.
    """
    from flint import arb_mat

    k, found = len(along), displaced(point, along)
    if not np.isfinite(found).all():
        return found
    with working_precision(PRECISION):
        root = (exact_matrix(point, k) / 2).exp()
        target = root * arb_mat(along.tolist()).exp() * root
        for _ in range(_CORRECTIONS):
            inverse = (-exact_matrix(found, k) / 2).exp()
            left = inverse * target * inverse - arb_mat(k, k, 1)
            rest = np.array([[float(x.mid()) for x in row] for row in left.table()])
            found = found + _symmetric.vecd(_coordinate_change(found, rest))
    return found


def _coordinate_change(point: FloatArray, rest: FloatArray) -> FloatArray:
    """Change of S that turns ``e^S`` into about ``e^(S/2) (1 + rest) e^(S/2)``."""
    levels, frame = np.linalg.eigh(_symmetric.unvecd(point, len(rest)))
    half = 0.5 * (levels[:, None] - levels)
    ratio = np.divide(half, np.sinh(half), out=np.ones_like(half), where=np.abs(half) > 1e-8)
    seen = frame.T @ _symmetric.symmetrise(rest) @ frame
    return _symmetric.symmetrise(frame @ (seen * ratio) @ frame.T)
