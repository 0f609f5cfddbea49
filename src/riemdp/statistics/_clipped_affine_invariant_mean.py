"""Fréchet mean of affine-invariant records in a public ball, in coordinates about its centre.

A point is given by its coordinates, the very ones that noise is added to. Every pass certifies the
point that it looks from, as the passes over records in parts do.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces import _symmetric, clip_norm
from riemdp.statistics import _certified_affine_invariant as certified
from riemdp.statistics._affine_invariant_mean import Pass, descend
from riemdp.statistics._enclosed_point import whitening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.kernel import Sum
    from riemdp.spaces import FloatArray


def certified_mean(
    logs: FloatArray,
    vectors: FloatArray,
    radius: float,
    tol: float,
    *,
    weights: NDArray[np.int64] | None = None,
) -> FloatArray:
    """Return coordinates ``(dim,)`` that are proved to lie within ``tol`` of the mean.

    ``logs`` ``(n, k)`` and ``vectors`` ``(n, k, k)`` are the log-eigenvalues and eigenvectors of
    ``exact_records``, ``radius`` that of their ball, ``tol`` a geodesic distance of at least
    ``floor``, ``weights`` ``(n,)`` positive and at most ``2^40``. Raises ``ConvergenceError``
    where nothing can be proved.
    """
    shares = None if weights is None else weights / sum(weights.tolist())
    start = np.average(_symmetric.vecd(_symmetric.compose(logs, vectors)), axis=0, weights=shares)
    records = _Clipped(logs, vectors, radius, weights, shares)
    at, _ = descend(records, clip_norm(start, radius), tol)
    return at.point


@dataclass(frozen=True, eq=False)
class _Clipped:
    """Records ``vectors diag(e^logs) vectors^T``."""

    logs: FloatArray
    vectors: FloatArray
    radius: float
    whole: NDArray[np.int64] | None
    weights: FloatArray | None  # those over their sum

    def evaluate(self, point: FloatArray) -> Pass:
        n, k = self.logs.shape
        frame, moved = whitening(point, k)
        logs, vectors = np.empty((n, k)), np.empty((n, k, k))

        def part(rows: slice) -> Sum:
            seen = certified.seen_from(frame, self.logs[rows], self.vectors[rows])
            logs[rows], vectors[rows], _ = seen
            return certified.added(*seen, None if self.whole is None else self.whole[rows])

        partial = functools.reduce(operator.add, _symmetric.map_chunks(part, n, k))
        square = float(np.average((logs * logs).sum(axis=-1), weights=self.weights))
        gradient = certified.gradient(partial, k)
        allowance = certified.bound(moved, partial, k) - float(np.linalg.norm(gradient))
        return Pass(point, logs, vectors, gradient, 0.5 * square, allowance, self.weights)

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
