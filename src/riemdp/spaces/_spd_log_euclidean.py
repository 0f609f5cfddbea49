"""Symmetric positive definite matrices with the log-Euclidean metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._part import register
from riemdp.spaces import _symmetric
from riemdp.spaces._euclidean import FlatManifold
from riemdp.spaces._log_lanes import in_parts
from riemdp.spaces._points import as_floats
from riemdp.spaces._spd import LogarithmicSPD, check_condition, distance_rounding, half_range

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray


_EPS = float(np.finfo(np.float64).eps)
#: Added to the largest range of log-eigenvalues of a centre: a point at the limit, after rounding,
#: may be one.
_ROOM = 0.2


@final
@register
@dataclass(frozen=True)
class SPDLogEuclidean(LogarithmicSPD, FlatManifold):
    """SPD(k) with the log-Euclidean metric: flat, isometric to R^(k(k+1)/2).

    The chart is ``vecd(Logm X)`` with ``vecd(S) = [diagonal, sqrt(2) * strict upper triangle]``.
    Tangent vectors are symmetric matrices, the derivatives of curves of matrices:
    ``log(P, X) = D_{Logm P} Expm [Logm X - Logm P]``.

    Parameters
    ----------
    k : int
        Matrix size, at least 1. Points and tangent vectors have shape ``(k, k)``.

    Raises
    ------
    InvalidParameterError
        If ``k`` is not a positive integer.

    References
    ----------
    Arsigny, Fillard, Pennec, Ayache, "Geometric means in a novel vector space structure on
    symmetric positive-definite matrices", SIAM J. Matrix Anal. Appl. 29(1), 2007.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.SPDLogEuclidean(3)
    >>> space.dim, space.point_shape
    (6, (3, 3))
    """

    proof = "docs/proofs/spaces.md"

    k: int

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """``(k, k)``: symmetric matrices."""
        return self.point_shape

    def to_chart(self, points: ArrayLike) -> FloatArray:
        """``vecd(Logm X)``, shape ``(..., dim)``."""
        points = as_floats(points)
        return self._as_rows(_symmetric.log_charts(points), points)

    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        """``Expm`` of the symmetric matrix with these coordinates."""
        return _symmetric.expm(_symmetric.unvecd(as_floats(coordinates), self.k))

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """Difference of the charts; see :meth:`Manifold.coordinates`."""
        center, points = as_floats(center), as_floats(points)
        if center.ndim > 2:
            return super().coordinates(center, points)
        return self._as_rows(self._offsets(center, points), points)

    def unit_coordinates(self, center: ArrayLike, points: ArrayLike, length: float) -> FloatArray:
        """Difference of the charts over a length; see :meth:`Manifold.unit_coordinates`."""
        points = as_floats(points)
        offsets = self._offsets(as_floats(center), points)
        return self._as_rows(shortened(offsets, length), points)

    def _as_rows(self, columns: FloatArray, points: FloatArray) -> FloatArray:
        """Transpose what has shape (dim, n): coordinates of points."""
        return np.ascontiguousarray(columns.T).reshape(*points.shape[:-2], self.dim)

    def _offsets(self, center: FloatArray, points: FloatArray) -> FloatArray:
        """Differences of the charts, shape (dim, n)."""
        # NumPy takes as long for one matrix as for dozens: the centre is one of them
        flat = points.reshape(-1, *self.point_shape)
        charts = _symmetric.log_charts(np.concatenate([flat, center[None]]))
        return charts[:, :-1] - charts[:, -1:]

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """``Expm(Logm P + D_P Logm [V])``."""
        coordinates = self.tangent_coordinates(base, tangent)
        return self.from_chart(self.to_chart(base) + coordinates)

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """``D_{Logm P} Expm [Logm X - Logm P]``, a symmetric matrix."""
        return self.tangent_vector(base, self.to_chart(point) - self.to_chart(base))

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """``|Logm A - Logm B|_F``."""
        return np.asarray(np.linalg.norm(self.to_chart(a) - self.to_chart(b), axis=-1))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """``D_{Logm P} Expm [S]`` for the symmetric matrix S with these coordinates."""
        logs, vectors = self._log_eigh(base)
        inside = _symmetric.unvecd(as_floats(coordinates), self.k)
        weights = _symmetric.divided_difference_exp(logs)
        return _weighted(vectors, weights, inside)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """``vecd(D_P Logm [V])``, the inverse of :meth:`tangent_vector`."""
        logs, vectors = self._log_eigh(base)
        weights = _symmetric.divided_difference_log(logs)
        return _symmetric.vecd(_weighted(vectors, weights, as_floats(tangent)))

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """``Expm`` of the sum of the charts, its eigenvalues within a range that float64 holds.

        The eigenvalues of the logarithm are clipped to a range of 30 about the centre's, of less
        from k = 7 on.
        """
        logarithm = _symmetric.logm(as_floats(center))
        total = logarithm + _symmetric.unvecd(as_floats(coordinates), self.k)
        levels = np.linalg.eigvalsh(logarithm)
        low, high = levels[..., :1], levels[..., -1:]
        reach = np.maximum(half_range(self.k), 0.5 * (high - low))
        return _symmetric.expm_within(total, 0.5 * (low + high), reach)

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Refuse a centre whose neighbours float64 cannot hold; see :meth:`Manifold.check_ball`.

        Beyond a condition of ``e^30 = 1e13``, less from k = 7 on, a matrix with these eigenvalues
        in other directions cannot be told from one without full rank.
        """
        super().check_ball(center, radius)
        spread = float(np.ptp(self._log_eigh(center)[0]))
        check_condition(spread, 2.0 * half_range(self.k) + _ROOM)

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Of eigenvalues, known to eps times the largest one, and of their logarithms."""
        logs = float(np.linalg.norm(self.to_chart(center)))
        return distance_rounding(center, radius) + 8.0 * _EPS * logs

    def validate_symmetric(self, points: ArrayLike) -> FloatArray:
        """Do all of :meth:`validate` but the check of positive definiteness.

        For callers that compute eigenvalues next, which decide it. See :meth:`Manifold.validate`.
        """
        return _symmetric.check_symmetric(points, self.k)


def shortened(vectors: FloatArray, length: float) -> FloatArray:
    """Divide vectors by a length, or by their own where that is larger, so that none exceeds 1.

    By elementwise operations in a fixed order. Rounding takes ``(d / 8 + 7) 2^-53`` at most, which
    is less than what is divided by besides, ``1 + (d + 8) 2^-52``.

    Parameters
    ----------
    vectors : ndarray, shape (d, n)
        Those that are not finite count as zero.
    length : float

    Returns
    -------
    ndarray, shape (d, n)
    """
    with np.errstate(all="ignore"):
        norm = np.sqrt(in_parts(vectors * vectors))
        longest = np.where(norm > length, norm, length)
        longest *= 1.0 + (len(vectors) + 8.0) * 2.0**-52
        found = vectors * (1.0 / longest)
    return found if (norm < np.inf).all() else np.where(norm < np.inf, found, 0.0)


def _weighted(vectors: FloatArray, weights: FloatArray, matrices: FloatArray) -> FloatArray:
    """Matrices whose entries in a basis of eigenvectors are multiplied by weights."""
    entries = _symmetric.congruent(np.swapaxes(vectors, -1, -2), matrices)
    return _symmetric.congruent(vectors, weights * entries)
