"""Symmetric positive definite matrices with the log-Cholesky metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._errors import UnsupportedBallError
from riemdp._part import register
from riemdp.spaces import _symmetric
from riemdp.spaces._euclidean import FlatManifold
from riemdp.spaces._points import as_floats, clip_norm, long_norm
from riemdp.spaces._spd import SPDManifold, least_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Largest logarithm of a diagonal entry of a factor whose square float64 holds with all digits.
_LARGEST_LOG = 345.0
#: Largest entry under the diagonal, for the same reason.
_LARGEST = math.exp(_LARGEST_LOG)
#: Factor of the least eigenvalue that a centre may have: a point at the limit, after rounding, may
#: be one.
_ROOM = 0.8
#: Halvings of the segment to the centre.
_HALVINGS = 40


@final
@register
@dataclass(frozen=True)
class SPDLogCholesky(SPDManifold, FlatManifold):
    """SPD(k) with the log-Cholesky metric: flat, isometric to R^(k(k+1)/2).

    With the Cholesky factor L of a matrix, lower triangular and of positive diagonal, the chart is
    ``[log of its diagonal, what is under the diagonal]``, and a point of R^d for every matrix.
    The squared distance is the sum of the squared differences of these. It depends on the order of
    the rows and, as entries under the diagonal are in the units of the rows, on these units.
    Tangent vectors are those of the chart.

    float64 does not hold matrices whose correlation matrix has an eigenvalue under e^-30 (from
    k = 7 on ``64 k eps``), nor factors beyond e^345: there :meth:`point` moves towards the centre,
    :meth:`from_chart` clips the factor and raises these eigenvalues.

    Parameters
    ----------
    k : int
        Matrix size, at least 1. Points have shape ``(k, k)``.

    Raises
    ------
    InvalidParameterError
        If ``k`` is not a positive integer.

    References
    ----------
    Lin, "Riemannian geometry of symmetric positive definite matrices via Cholesky decomposition",
    SIAM J. Matrix Anal. Appl. 40(4), 2019.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.SPDLogCholesky(3)
    >>> space.dim, space.point_shape
    (6, (3, 3))
    """

    proof = "docs/proofs/spaces.md"

    k: int

    def to_chart(self, points: ArrayLike) -> FloatArray:
        """Logarithms of the diagonal of the Cholesky factor, then its columns under the diagonal.

        The factor is that of the correlation matrix, scaled: it keeps the digits that the grading
        of the entries holds. ``NotOnManifoldError`` where a matrix is not positive definite in
        float64.
        """
        correlation, scale = _symmetric.correlations(as_floats(points))
        factor = _symmetric.check_positive_definite(correlation)
        log_diagonal = np.log(np.einsum("...ii->...i", factor)) + np.log(scale)
        rows, columns = _below_diagonal(self.k)
        return np.concatenate([log_diagonal, scale[..., rows] * factor[..., rows, columns]], -1)

    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        """``L L^T`` of the factor with these entries, moved where float64 cannot hold it."""
        coordinates = as_floats(coordinates)
        return self._matrices(coordinates, np.full(coordinates.shape[:-1], least_ratio(self.k)))

    def _matrices(self, coordinates: FloatArray, least: FloatArray) -> FloatArray:
        """``L L^T``, least eigenvalues of the correlation matrices raised to these."""
        correlation, length = self._scaled(coordinates)
        near = _near_singular(correlation, least)
        if near.any():  # of these records alone
            values, vectors = _symmetric.eigh(correlation[near])
            raised = np.maximum(values, least[near][..., None])
            correlation[near] = _symmetric.compose(raised, vectors)
        return _symmetric.symmetrise(length[..., :, None] * correlation * length[..., None, :])

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Sum of the charts, moved towards the centre where float64 cannot hold the matrix.

        Along the segment between them in the chart, by bisection: never farther from the centre.
        """
        middle, offset = self.to_chart(center), as_floats(coordinates)
        total = np.asarray(middle + offset)
        least = np.minimum(least_ratio(self.k), self._least_eigenvalue(center))
        kept = np.broadcast_to(least, total.shape[:-1])
        far = ~self._holds(total, kept)
        if not far.any():
            return self._matrices(total, kept)
        start = np.broadcast_to(middle, total.shape)[far]
        # a segment that halvings are fine enough for
        longest = 4.0 * (float(long_norm(middle).max()) + _LARGEST_LOG * math.sqrt(self.k))
        rows = clip_norm(np.broadcast_to(offset, total.shape)[far], longest)
        low, high = np.zeros((len(rows), 1)), np.ones((len(rows), 1))
        for _ in range(_HALVINGS):
            between = 0.5 * (low + high)
            held = self._holds(start + between * rows, kept[far])[:, None]
            low, high = np.where(held, between, low), np.where(held, high, between)
        total[far] = start + low * rows
        return self._matrices(total, kept)

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Refuse a centre whose neighbours float64 cannot hold; see :meth:`Manifold.check_ball`.

        By its correlation matrix, which rescaling the coordinates leaves alone.
        """
        super().check_ball(center, radius)
        if np.abs(self.to_chart(center)[: self.k]).max() > _LARGEST_LOG - 1.0:
            raise UnsupportedBallError(
                "the logarithms of the diagonal of the centre's Cholesky factor must lie within "
                f"±{_LARGEST_LOG - 1.0:g}; choose other units"
            )
        least, limit = float(self._least_eigenvalue(center)), _ROOM * least_ratio(self.k)
        if least < limit:
            raise UnsupportedBallError(
                f"the least eigenvalue {least:.3g} of the centre's correlation matrix must be at "
                f"least {limit:.3g}: float64 does not hold the matrices about it; choose another "
                "centre, or add a multiple of the identity to all matrices"
            )

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Of factors, known to eps over the least eigenvalue of the correlation matrix.

        That falls fastest along chains of m rows, each of which is mostly a multiple of the one
        above it.
        """
        logs = self.to_chart(center)[: self.k]
        longest = float(np.sqrt(np.einsum("...ii->...i", center).max())) + radius
        m = np.arange(1, max(self.k, 2))
        each = radius / np.sqrt(2.0 * m)
        means = np.cumsum(np.sort(logs))[: len(m)] / m
        steep = each * np.exp(np.minimum(each - means, _LARGEST_LOG))
        spread = -math.log(float(self._least_eigenvalue(center)))
        spread += 2.0 * float(np.max(m * np.log1p(steep)))
        lost = math.exp(min(spread, -math.log(_ROOM * least_ratio(self.k))))
        size = float(np.linalg.norm(logs))
        return 2.0 * self.k * _EPS * (1.0 + longest) * lost + 8.0 * _EPS * size

    def _least_eigenvalue(self, center: ArrayLike) -> FloatArray:
        """Least eigenvalue of correlation matrices, which is positive, shape (...)."""
        values = np.linalg.eigvalsh(_symmetric.correlations(as_floats(center))[0])
        return np.asarray(np.maximum(values[..., 0], _EPS))

    def _holds(self, coordinates: FloatArray, least: FloatArray) -> NDArray[np.bool_]:
        """Whether float64 holds the matrices with these coordinates, shape (...)."""
        small = np.abs(coordinates[..., : self.k]).max(axis=-1) <= _LARGEST_LOG
        small &= np.abs(coordinates[..., self.k :]).max(axis=-1, initial=0.0) <= _LARGEST
        return np.asarray(small & ~_near_singular(self._scaled(coordinates)[0], least))

    def _scaled(self, coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Correlation matrices ``(..., k, k)``, and root diagonals ``(..., k)``."""
        k, index = self.k, np.arange(self.k)
        rows, columns = _below_diagonal(k)
        factor = np.zeros((*coordinates.shape[:-1], k, k))
        log_diagonal = np.clip(coordinates[..., :k], -_LARGEST_LOG, _LARGEST_LOG)
        factor[..., index, index] = np.exp(log_diagonal)
        factor[..., rows, columns] = np.clip(coordinates[..., k:], -_LARGEST, _LARGEST)
        length = np.linalg.norm(factor, axis=-1)
        unit = factor / length[..., None]
        return _symmetric.symmetrise(unit @ np.swapaxes(unit, -1, -2)), length


def _near_singular(correlation: FloatArray, least: FloatArray) -> NDArray[np.bool_]:
    """Whether correlation matrices ``(..., k, k)`` have an eigenvalue under what is kept."""
    index = np.arange(correlation.shape[-1])
    lowered = correlation.copy()
    lowered[..., index, index] -= least[..., None]
    return _symmetric.without_factor(lowered)


def _below_diagonal(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row and column indices under the diagonal, column by column."""
    columns, rows = _symmetric.above_diagonal(k)
    return rows, columns
