"""The privacy curve of the generalised Gaussian mechanism on the real line, at every power.

In units of the scale the laws have the densities ``c exp(-|x|^N)`` and ``c exp(-|x - s|^N)``, so
the privacy loss is ``|x - s|^N - |x|^N`` and ::

    delta = integral of c exp(-|x|^N) (1 - exp(epsilon - loss)) over where the loss exceeds epsilon

with a positive integrand: nothing cancels. The proof is docs/proofs/generalized-gaussian.md.
"""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from riemdp._checks import positive
from riemdp.privacy._budget import check_delta, check_epsilon
from riemdp.privacy._generalized_gaussian_losses import ERROR, LOSS_ERROR, PowerLosses
from riemdp.privacy._isotropic_mu import BracketedCurve, bracket
from riemdp.privacy._isotropic_quadrature import PROBABILITY_ERROR
from riemdp.privacy._response import pure_to_gaussian
from riemdp.privacy._rounding import delta_up, first_within, up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray

#: Largest power with integrals: farther on the density has an edge that float64 does not resolve,
#: and ``delta`` at ``epsilon = 0`` bounds it everywhere.
_SHARPEST = 1e6
#: What no ``delta`` is stated under, but where a bound of the tail is.
_FLOOR = 1e-299
#: Least power, largest loss, and probability of losses under 0 with ``mu`` bounded by chords.
_FLATTEST, _SLIGHTEST, _RAREST = 0.02, 1e-6, 1e-12
#: Rise of the error with the log of a small ``delta``, as a share of it.
_ROUNDING = 1e-3


@dataclass(frozen=True)
class GeneralizedGaussianCurve(BracketedCurve):
    """Exact curve of two laws ``exp(-|x|^power)`` on the real line, up to rounding.

    Integrated numerically, and rounded up by more than two quadrature rules may differ.

    Parameters
    ----------
    separation : float
        Distance of the locations in units of the scale, positive and finite.
    power : float
        Exponent, positive and finite.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/generalized-gaussian.md

    Examples
    --------
    >>> from riemdp.privacy import GeneralizedGaussianCurve
    >>> f"{GeneralizedGaussianCurve(0.5, 1.5).delta_at(0.5):.5f}"
    '0.08212'
    """

    separation: float
    power: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "separation", positive(self.separation, "separation"))
        object.__setattr__(self, "power", positive(self.power, "power"))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Proved ``delta``, rounded up: mostly 1e-11 (relative) more, and 1e-299 at least.

        Next to :meth:`pure_epsilon`, and far out at powers in the thousands, it may be many times
        as much.

        From :meth:`pure_epsilon` on it is 0. Above power 1e6 it is what holds at ``epsilon = 0``,
        until that of the tail is less.
        """
        epsilon = check_epsilon(epsilon)
        return self._delta(epsilon.ravel()).reshape(epsilon.shape)

    def epsilon_at(self, delta: float) -> float:
        """Smallest ``epsilon`` with ``delta_at(epsilon) <= delta``, by root finding, rounded up."""
        delta = check_delta(delta)
        if delta == 0.0:
            return self.pure_epsilon()
        if self._at(0.0) <= delta:
            return 0.0
        limit, target = self._limit(delta), math.log(delta)
        if not self._at(limit) <= delta:
            return self.pure_epsilon()

        def excess(log_epsilon: float) -> float:
            found = self._at(math.exp(log_epsilon))
            return (math.log(found) if found > 0.0 else -746.0) - target

        high = math.log(limit)
        low, step = high - 0.5, 0.5
        while low > -745.0 and excess(low) <= 0.0:
            high, step = low, 2.0 * step
            low -= step
        if low <= -745.0:
            return math.exp(high)
        if excess(high) > 0.0:  # of a limit that rounding of its logarithm lowers
            return limit
        root: Any = scipy.optimize.brentq(excess, low, high, xtol=1e-15, rtol=1e-15)
        epsilon = math.exp(root)
        return first_within(self._at, delta, epsilon, 1e-15 * epsilon, limit)

    def mu_bracket(self) -> tuple[float, float]:
        """Two numbers around the smallest ``mu``; the second one is proved.

        From power 1 to 2 ``mu`` is exact, ``2 Phi^{-1}(F(separation / 2))`` with the distribution
        function F. Under power 1 it is bounded by chords, as on curved spaces. Above power 2
        there is no ``mu``, and the second one is ``inf``.
        """
        return self._mu_bracket

    def pure_epsilon(self) -> float:
        """``separation^power`` up to power 1, rounded up; there is none above."""
        if self.power > 1.0:
            return math.inf
        return up(self.separation**self.power, 1e-13)

    @functools.cached_property
    def _law(self) -> PowerLosses:
        return PowerLosses(up(self.separation, LOSS_ERROR), self.power)

    @functools.cached_property
    def _at_zero(self) -> float:
        """``delta`` at ``epsilon = 0``, the total variation, rounded up."""
        return float(delta_up(self._law.central(), ERROR))

    def _at(self, epsilon: float) -> float:
        return float(self._delta(np.array([epsilon]))[0])

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        law, delta = self._law, np.full(epsilon.shape, self._at_zero)
        deep = law.tail(epsilon)
        delta = np.minimum(delta, np.where(deep < _FLOOR, deep, 1.0))
        rows = np.flatnonzero((epsilon > 0.0) & (deep >= _FLOOR) & (epsilon < self.pure_epsilon()))
        if self.power <= _SHARPEST and rows.size:
            log_delta = np.minimum(law.log_delta(epsilon[rows]), 0.0)
            depth = -np.maximum(log_delta, -1e4)
            error = PROBABILITY_ERROR * (1.0 + _ROUNDING * depth)
            error = error + law.place_error * (1.0 + depth)
            found = delta_up(np.exp(log_delta) * (1.0 + error), 0.0)
            delta[rows] = np.minimum(delta[rows], np.maximum(found, _FLOOR))
        nothing = (epsilon >= self.pure_epsilon()) | np.isinf(epsilon)
        return np.where(nothing, 0.0, delta)

    def _limit(self, delta: float) -> float:
        """Return an ``epsilon`` at which ``delta`` is seen to be small enough."""
        pure = self.pure_epsilon()
        if pure < math.inf:
            return math.nextafter(pure, 0.0)
        depth = 2.0 - math.log(2.0 * delta) if delta < 0.5 else 2.0
        return min(self._law.loss_at(depth), sys.float_info.max)

    @functools.cached_property
    def _mu_bracket(self) -> tuple[float, float]:
        at_zero, most = self._law.mu_at_zero(), self._law.largest_mu_at_zero()
        lower = at_zero * (1.0 - ERROR) if at_zero < math.inf else 0.0
        if self.power > 2.0:
            return lower, math.inf
        if self.power >= 1.0:
            return lower, up(min(at_zero, most), ERROR)
        pure = self.pure_epsilon()
        cap = pure_to_gaussian(pure)
        least = self.power / _FLATTEST, pure / _SLIGHTEST, self._law.peripheral() / _RAREST
        if min(least) < 1.0:
            return min(lower, cap), cap
        grid = pure * np.append(np.linspace(0.0, 0.9, 10), [0.95, 0.99])
        with np.errstate(all="ignore"):
            found = bracket(self._law.points, grid, end=pure, cap=cap, deepest=0.999999 * pure)
        return found if 0.0 <= found[0] <= found[1] else (min(lower, cap), cap)
