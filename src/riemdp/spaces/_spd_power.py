"""Symmetric positive definite matrices with a power-Euclidean metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import real
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._part import register
from riemdp.spaces import _symmetric
from riemdp.spaces._euclidean import FlatManifold
from riemdp.spaces._points import as_floats
from riemdp.spaces._spd import SPDManifold, check_condition, least_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Least power: under it the metric is alpha times the log-Euclidean one, but for an error that
#: is smaller than alpha itself.
_LEAST_POWER = 0.01
#: Largest logarithm of an eigenvalue of a point.
_LARGEST_LOG = 700.0
#: Factor of the least ratio that a centre may have: a point at the limit, after rounding, may be
#: one.
_ROOM = 0.8
#: Halvings of an interval of the largest eigenvalue.
_HALVINGS = 60


@final
@register
@dataclass(frozen=True)
class SPDPower(SPDManifold, FlatManifold):
    """SPD(k) with a power-Euclidean metric: an open convex cone of R^(k(k+1)/2), flat.

    The chart is ``vecd(X^alpha)`` with ``vecd(S) = [diagonal, sqrt(2) * strict upper triangle]``,
    so the distance is ``|A^alpha - B^alpha|_F``, without the factor ``1 / alpha`` that other
    libraries have. With ``alpha = 1/2`` matrices are compared by their square roots, and distances
    from the identity are those of Bures and Wasserstein; ``alpha = 1`` is the Euclidean metric.
    Tangent vectors are those of the chart.

    The image of the chart is the cone of positive definite matrices. Means stay in it, and clipped
    records do; noise may leave it. What lies outside, or has eigenvalues whose ratio float64 does
    not hold, is moved to the nearest point that it does: :meth:`point`. So noise has no density on
    this space, and errors are at most those of the noise.

    Parameters
    ----------
    k : int
        Matrix size, at least 1. Points have shape ``(k, k)``.
    alpha : float, default 0.5
        Power, in [0.01, 1].

    Raises
    ------
    InvalidParameterError
        If ``k`` is not a positive integer, or ``alpha`` lies outside its domain.

    References
    ----------
    Dryden, Koloydenko, Zhou, "Non-Euclidean statistics for covariance matrices, with applications
    to diffusion tensor imaging", Ann. Appl. Stat. 3(3), 2009; Dryden, Pennec, Peyrat, "Power
    Euclidean metrics for covariance matrices with application to diffusion tensor imaging", 2010.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.SPDPower(3)
    >>> space.dim, space.point_shape
    (6, (3, 3))
    """

    proof = "docs/proofs/spaces.md"

    k: int
    alpha: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = real(self.alpha, "alpha")
        if not _LEAST_POWER <= alpha <= 1.0:
            raise InvalidParameterError(
                f"alpha must lie in [{_LEAST_POWER}, 1], got {alpha}; next to 0 use "
                "SPDLogEuclidean, instead of negative powers invert the matrices first"
            )
        object.__setattr__(self, "alpha", alpha)

    def room(self, center: ArrayLike) -> float:
        """Distance from which on :meth:`from_chart` may move a point; see :meth:`Manifold.room`."""
        powers = np.exp(self.alpha * self._log_eigh(center)[0])
        ratio = least_ratio(self.k) ** self.alpha if self.k > 1 else 0.0
        return max(float(powers.min() - ratio * powers.max()) / (1.0 + ratio), 0.0)

    def to_chart(self, points: ArrayLike) -> FloatArray:
        """``vecd(X^alpha)``; ``NotOnManifoldError`` where X is not positive definite in float64."""
        logs, vectors = self._log_eigh(points)
        return _symmetric.vecd(_symmetric.compose(np.exp(self.alpha * logs), vectors))

    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        """Power ``1 / alpha`` of the nearest matrix of the cone that float64 holds."""
        least = np.exp([-self.alpha * _LARGEST_LOG])
        return self._nearest(
            as_floats(coordinates), least, np.array([least_ratio(self.k) ** self.alpha])
        )

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Power ``1 / alpha`` of the sum of the charts, moved into the cone.

        To the nearest matrix whose eigenvalues are at least e^-30 (from k = 7 on ``64 k eps``)
        times the largest one, and the centre's largest one; or as small as the centre's, if these
        are smaller.
        """
        logs, vectors = self._log_eigh(center)
        middle = _symmetric.vecd(_symmetric.compose(np.exp(self.alpha * logs), vectors))
        top, low = (f(logs, axis=-1, keepdims=True) for f in (np.max, np.min))
        ratio = np.minimum(least_ratio(self.k), np.exp(low - top)) ** self.alpha
        return self._nearest(
            middle + as_floats(coordinates), ratio * np.exp(self.alpha * top), ratio
        )

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Refuse a centre whose neighbours float64 cannot hold; see :meth:`Manifold.check_ball`."""
        super().check_ball(center, radius)
        logs = self._log_eigh(center)[0]
        spread, limit = float(np.ptp(logs)), -math.log(_ROOM * least_ratio(self.k))
        check_condition(spread, limit)
        if float(np.abs(logs).max()) > _LARGEST_LOG - limit:
            raise UnsupportedBallError(
                "the eigenvalues of the centre must lie between "
                f"e^-{_LARGEST_LOG - limit:.3g} and e^{_LARGEST_LOG - limit:.3g}; choose other "
                "units"
            )

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Of eigenvalues, known to eps times the largest one, and of their powers."""
        scaled = self.alpha * self._log_eigh(center)[0]
        powers = np.exp(scaled)
        largest = float(powers.max()) + radius
        least = (_ROOM * least_ratio(self.k)) ** self.alpha
        ratio = max((float(powers.min()) - radius) / largest, least)
        lost = max(1.0, self.alpha * ratio ** (1.0 - 1.0 / self.alpha))
        logs = float(np.abs(scaled).max())
        return float((8.0 * self.k * lost + 4.0 * logs) * _EPS * largest)

    def _nearest(self, coordinates: FloatArray, least: FloatArray, ratio: FloatArray) -> FloatArray:
        """Point whose power is nearest to that with these coordinates.

        Of the powers with eigenvalues of at least ``least``, and ``ratio`` times the largest one.
        """
        values, vectors = _symmetric.eigh(_symmetric.unvecd(coordinates, self.k))
        most = math.exp(self.alpha * _LARGEST_LOG)
        kept = _within_ratio(np.minimum(values, most), least, ratio)
        return _symmetric.compose(kept ** (1.0 / self.alpha), vectors)


def _within_ratio(values: FloatArray, least: FloatArray, ratio: FloatArray) -> FloatArray:
    """Nearest ``t`` to ascending ``values`` with ``t >= least`` and ``t >= ratio * max t``.

    For the right m these are the values clipped to ``[max(least, ratio m), m]``. The squared
    distance is convex in m; up to ``least / ratio`` a larger m costs nothing, beyond it half the
    derivative is ``ratio * sum (ratio m - values)_+ - sum (values - m)_+``.
    """
    top = values[..., -1:]
    low = np.zeros_like(top) + least / ratio
    high = np.maximum(top, low)
    for _ in range(_HALVINGS):
        m = 0.5 * (low + high)
        raised = ratio * np.maximum(ratio * m - values, 0.0).sum(axis=-1, keepdims=True)
        short = raised < np.maximum(values - m, 0.0).sum(axis=-1, keepdims=True)
        low, high = np.where(short, m, low), np.where(short, high, m)
    largest = np.where(top > least / ratio, high, np.maximum(top, least))
    return np.clip(values, np.maximum(least, ratio * largest), largest)
