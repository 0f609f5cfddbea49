"""Fréchet mean of affine-invariant records in a public ball, in coordinates about its centre.

Seen from the centre a record is ``Q diag(e^s) Q^T``. It stays in this form: ``s`` is clipped as it
is, and the eigenvalues of what a point M makes of the record are the squared singular values of
``M^(-1/2) Q diag(e^(s/2))``, which has the square root of the condition number of the matrix. The
point too is given by its coordinates, the very ones that noise is added to.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds import _symmetric, clip_norm
from riemdp.manifolds._spd_affine_invariant import spectral_log
from riemdp.statistics._affine_invariant_mean import Pass, descend, improve
from riemdp.statistics._flat_mean import composition_allowance, pairwise_sum, sum_of_compositions

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Rounding of a product of two orthogonal matrices and of a singular value decomposition of a
#: k x k matrix, in units of k eps times its norm.
_PRODUCT, _DECOMPOSITION = 6.0, 4.0
#: Spread of log-eigenvalues beyond which exponentials overflow, far beyond any use.
_WIDEST = 600.0


def clipped_spectrum(ball: Ball, data: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``(n, k)`` log-eigenvalues and eigenvectors of records clipped to the ball."""
    logs, vectors = spectral_log(ball.center, data)
    return clip_norm(logs, ball.radius), vectors


def spectral_mean(
    logs: FloatArray,
    vectors: FloatArray,
    radius: float,
    tol: float,
    *,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return coordinates ``(dim,)`` of the mean of records in this form; weights have sum 1.

    The point with these coordinates lies within ``tol`` of the mean:
    docs/proofs/frechet-mean-certificate.md, (a) and "Rounding".
    """
    problem = _Spectral(logs, vectors, radius, weights)
    at, _ = descend(problem, problem.start(), tol)
    return _symmetric.vecd(at.point)


def improved(
    point: FloatArray,
    logs: FloatArray,
    vectors: FloatArray,
    radius: float,
    *,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return coordinates ``(dim,)`` one Newton step nearer to the mean, or none if none helps."""
    problem = _Spectral(logs, vectors, radius, weights)
    at = problem.evaluate(_symmetric.unvecd(point, logs.shape[-1]))
    return _symmetric.vecd(improve(problem, at).point)


def worst_allowance(k: int, radius: float) -> float:
    """Bound of the allowance of :class:`_Spectral` over all records and points of a ball."""
    spread = math.sqrt(2.0) * radius
    if spread > _WIDEST:
        return math.inf
    rounding = float(_rounding(k, spread, np.array(2.0 * spread)))
    rounding += _point_rounding(k, radius, spread)
    return rounding + composition_allowance(2**63, k, 2.0 * radius)


class _Spectral:
    """Records ``vectors diag(e^logs) vectors^T``; a point is the matrix of its coordinates."""

    def __init__(
        self,
        logs: FloatArray,
        vectors: FloatArray,
        radius: float,
        weights: FloatArray | None = None,
    ) -> None:
        self.logs, self.vectors, self.radius = logs, vectors, radius
        self.weights = weights

    def shared(self, values: FloatArray, rows: slice) -> FloatArray:
        """Return rows ``(m, ...)`` times the records' shares of the mean."""
        if self.weights is None:
            return np.asarray(values / len(self.logs))
        share = self.weights[rows]
        return np.asarray(values * share.reshape(-1, *[1] * (values.ndim - 1)))

    def start(self) -> FloatArray:
        """Mean of the coordinates, the mean but for curvature."""
        n, k = self.logs.shape

        def part(rows: slice) -> FloatArray:
            return sum_of_compositions(self.shared(self.logs[rows], rows), self.vectors[rows])

        totals = list(_symmetric.map_chunks(part, n, k))
        return self._into_ball(_symmetric.symmetrise(pairwise_sum(np.array(totals))))

    def evaluate(self, point: FloatArray) -> Pass:
        n, k = self.logs.shape
        levels, frame = np.linalg.eigh(point)
        # Each side of the product is scaled to norm one; the scales come back as logarithms.
        left = np.exp(-0.5 * (levels - levels[0]))[:, None]
        logs = np.empty((n, k))
        vectors = np.empty((n, k, k))

        def part(rows: slice) -> tuple[FloatArray, float, float]:
            top = self.logs[rows].max(axis=-1, keepdims=True)
            right = np.exp(0.5 * (self.logs[rows] - top))[:, None, :]
            seen = left * (frame.T @ self.vectors[rows]) * right
            vectors[rows], values, _ = np.linalg.svd(seen)
            with np.errstate(divide="ignore"):  # a value of zero is beyond any allowance
                logs[rows] = 2.0 * np.log(values) + (top - levels[0])
            total = sum_of_compositions(self.shared(logs[rows], rows), vectors[rows])
            square = np.einsum("ij,ij->i", logs[rows], logs[rows])
            lost = _rounding(k, levels[-1] - levels[0], logs[rows, 0] - logs[rows, -1])
            if self.weights is None:
                return total, float(square.sum()) / n, float(lost.sum()) / n
            share = self.weights[rows]
            return total, float(square @ share), float(lost @ share)

        totals, squares, lost = zip(*_symmetric.map_chunks(part, n, k), strict=True)
        gradient = _symmetric.symmetrise(pairwise_sum(np.array(totals)))
        square = math.fsum(squares)
        length = float(np.linalg.norm(levels))
        allowance = math.fsum(lost) + _point_rounding(k, length, levels[-1] - levels[0])
        allowance += composition_allowance(n, k, math.sqrt(square))
        return Pass(point, logs, vectors, gradient, 0.5 * square, allowance)

    def moved(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        levels, frame = np.linalg.eigh(point)
        factor = np.exp(0.5 * levels)[:, None] * _symmetric.expm(0.5 * direction)
        vectors, values, _ = np.linalg.svd(factor)
        return self._into_ball(_symmetric.compose(2.0 * np.log(values), frame @ vectors))

    def _into_ball(self, point: FloatArray) -> FloatArray:
        """Clip to the ball, which brings a point no farther from the mean, which lies in it."""
        k = len(point)
        return _symmetric.unvecd(clip_norm(_symmetric.vecd(point), self.radius), k)


def _rounding(k: int, point: float, seen: FloatArray) -> FloatArray:
    """Error of the logarithms of records, as seen from a point.

    ``point`` is the spread of the point's log-eigenvalues, ``seen`` those of the whitened records.
    An error F of the factor from the left turns the logarithm by ``2 (1 + seen) |F|`` at most; that
    of the product is magnified by the condition number of the point's root, that of the
    decomposition by that of the record's.
    """
    factor = _PRODUCT * math.exp(0.5 * point) + _DECOMPOSITION * np.exp(0.5 * seen)
    return np.asarray(2.0 * math.sqrt(k) * k * _EPS * (1.0 + seen) * factor)


def _point_rounding(k: int, length: float, spread: float) -> float:
    """Distance that rounding moves the point with coordinates of this length.

    The exponential map magnifies errors by ``sinh(spread / 2) / (spread / 2)`` at most.
    """
    half = max(0.5 * spread, 1e-300)
    return _DECOMPOSITION * k * _EPS * length * math.sinh(half) / half
