"""Probabilities of the privacy loss between points at which they were integrated.

Their normal quantiles are analytic in ``epsilon`` (on flat space they are straight lines), so one
polynomial through few integrals gives thousands of points. docs/proofs/isotropic-curve.md says
what is allowed for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp.privacy._isotropic_mu import LossPoints

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.privacy._budget import FloatArray

#: Degree of the polynomial; the one of half the degree has to agree at the nodes between its own.
_DEGREE = 80
#: More points than this are interpolated.
_FEW = 40
#: Largest relative difference of interpolated and integrated probabilities, and what is added to
#: it times the log of the probability.
_AGREEMENT, _ROUNDING = 6e-12, 1e-14
#: Error allowed for an interpolated probability over that of the integrated ones.
_ERRORS = 2.0
#: Share of the largest loss up to which the polynomial may reach.
_REACH = 0.98
#: Quantiles from here on need a correction: the inverse of the normal distribution function loses
#: three digits farther out.
_DEEP = 40.0


class LossInterpolation:
    """Evaluates few points by integrals, and many by one polynomial through integrals.

    ``evaluate`` gives probabilities at increasing ``epsilon``, all with the same error; ``largest``
    is the largest loss, ``inf`` where it is unbounded.
    """

    def __init__(self, evaluate: Callable[[FloatArray], LossPoints], largest: float) -> None:
        self._evaluate, self._largest, self._end = evaluate, largest, _REACH * largest
        self._tried = False
        self._table: _Table | None = None

    def __call__(self, epsilon: FloatArray) -> LossPoints:
        """Probabilities at increasing ``epsilon``."""
        inside = int(np.searchsorted(epsilon, self._end, side="right"))
        if inside > _FEW and not self._tried:
            self._end = min(self._end, float(epsilon[-1]))
            self._tried, self._table = True, self._tabulated()
        if self._table is None or not inside:
            return self._evaluate(epsilon)
        points = self._table.points(epsilon[:inside])
        beyond = epsilon[inside:]
        return points.merged(self._evaluate(beyond)) if beyond.size else points

    def _tabulated(self) -> _Table | None:
        """Polynomial from 0 to the end, if the one of half its degree agrees with the integrals."""
        share = np.sin(0.5 * math.pi * np.arange(_DEGREE + 1) / _DEGREE) ** 2
        bounded = self._largest < math.inf
        place = share * (math.atanh(self._end / self._largest) if bounded else self._end)
        known = self._evaluate(self._largest * np.tanh(place) if bounded else place)
        table = _Table(place, _quantiles(known), self._largest, _ERRORS * float(known.error[0]))
        half = _Table(place[::2], table.quantiles[::2], self._largest, table.error)
        return (
            table
            if _agree(half.points(known.epsilon[1::2]), known.part(slice(1, None, 2)))
            else None
        )


@dataclass(frozen=True)
class _Table:
    """Normal quantiles of ``P_1(L >= epsilon)`` and ``P_2(L >= epsilon)`` at Chebyshev points.

    Places are ``atanh(epsilon / largest)``, in which the square root of a logarithm at the largest
    loss is out of the way, and ``epsilon`` where the loss is unbounded.
    """

    place: FloatArray
    quantiles: FloatArray
    largest: float
    error: float

    def points(self, epsilon: FloatArray) -> LossPoints:
        """Probabilities by the barycentric formula."""
        place = np.arctanh(epsilon / self.largest) if self.largest < math.inf else epsilon
        weights = (-1.0) ** np.arange(self.place.size)
        weights[[0, -1]] *= 0.5
        gap = place[:, None] - self.place
        row, node = np.nonzero(gap == 0.0)
        gap[row, node] = 1.0
        kernel = weights / gap
        found = (kernel @ self.quantiles) / kernel.sum(axis=1)[:, None]
        found[row] = self.quantiles[node]
        first, second = found.T
        log_cdf, error = scipy.special.log_ndtr, np.full_like(epsilon, self.error)
        return LossPoints(epsilon, log_cdf(first), log_cdf(-first), log_cdf(second), error)


def _quantiles(points: LossPoints) -> FloatArray:
    """Quantiles of the two probabilities, shape (n, 2), with a step of Newton's method far out."""
    found = np.stack(points.quantiles(), axis=-1)
    logs = np.stack([points.log_first, points.log_second], axis=-1)
    step = (logs - scipy.special.log_ndtr(found)) / np.maximum(-found, _DEEP)
    return np.where(found < -_DEEP, found + step, found)


def _agree(found: LossPoints, exact: LossPoints) -> bool:
    pairs = (
        (found.log_first, exact.log_first),
        (found.log_complement, exact.log_complement),
        (found.log_second, exact.log_second),
    )
    return all(bool(np.all(np.abs(f - e) <= _AGREEMENT - _ROUNDING * e)) for f, e in pairs)
