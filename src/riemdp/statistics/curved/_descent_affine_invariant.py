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
from riemdp.statistics.curved._affine_invariant_mean import PROGRESS, Pass, descend, sample_of
from riemdp.statistics.curved._descent import Descent, check_reached, hadamard_steps

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
# A point is given by its coordinates, the very ones that noise is added to. Every pass certifies
# the point that it looks from, as the passes over records in parts do.


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
    shares = None if weights is None else weights / sum(weights.tolist())
    start = np.average(_symmetric.vecd(records), axis=0, weights=shares)
    parts = [(rows, certified.roots(records[rows], radius)) for rows in tiles(n, k)]
    sample = sample_of(n, shares)
    at, _ = descend(
        _Clipped(n, parts, radius, tol, weights, shares, sample), clip_norm(start, radius), tol
    )
    return at.point


@dataclass(eq=False)
class _Clipped:
    """Records, by what :func:`certified.roots` makes of parts of them.

    A gradient is certified where it is short enough for that to be of use. Of a sample the Hessian
    is taken, as by :class:`riemdp.statistics.curved._affine_invariant_mean.Dense`.
    """

    n: int
    parts: list[tuple[slice, FloatArray]]
    radius: float
    tol: float
    whole: NDArray[np.int64] | None
    weights: FloatArray | None  # those over their sum
    sample: NDArray[np.intp] | None
    size: float = math.inf  # of the last gradient

    def evaluate(self, point: FloatArray) -> Pass:
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
        size = float(np.linalg.norm(gradient))
        allowance = certified.floor(k, self.radius)
        if size + 1.05 * certified.rounding(k, self.radius) <= self.tol:
            errors = (
                certified.lost(frame, roots, logs, self.radius)
                for (_, roots), logs in zip(self.parts, found, strict=True)
            )
            allowance = certified.bound(moved, summed(errors), k, self.radius, point) - size
        if not size <= PROGRESS * self.size:
            self.sample = None
        self.size = size
        seen = np.concatenate(found, axis=-1)
        shares = np.full(self.n, 1.0 / self.n) if self.weights is None else self.weights
        sizes = (seen * seen * shares).sum(axis=-1)
        square = float(sizes[:k].sum() + 2.0 * sizes[k:].sum())
        weights = self.weights if self.sample is None else None
        some = seen if self.sample is None else seen[:, self.sample]
        spectra = np.linalg.eigh(np.moveaxis(full(some), -1, 0))
        return Pass(point, *spectra, gradient, 0.5 * square, allowance, weights)

    def moved(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        # a point comes no farther from the mean by clipping to the ball, in which it lies
        return clip_norm(displaced(point, direction), self.radius)


def displaced(point: FloatArray, along: FloatArray) -> FloatArray:
    """Coordinates of ``e^(S/2) e^along e^(S/2)``, S the matrix with the coordinates of the point.

    As right as float64 makes them; what is not finite may come of what is too long.
    """
    levels, frame = np.linalg.eigh(_symmetric.unvecd(point, len(along)))
    factor = np.exp(0.5 * levels)[:, None] * (frame.T @ _symmetric.expm(0.5 * along))
    vectors, values, _ = np.linalg.svd(factor)
    return _symmetric.vecd(_symmetric.compose(2.0 * np.log(values), frame @ vectors))


# Steps to the mean of affine-invariant records that come a part at a time.

#: Root of minus the least sectional curvature.
_K = math.sqrt(0.5)
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
