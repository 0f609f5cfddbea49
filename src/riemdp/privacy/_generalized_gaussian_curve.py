"""Privacy curves of generalized Gaussian noise, and its losses."""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from riemdp._checks import positive
from riemdp._zero import zero_between
from riemdp.privacy._budget import check_delta, check_epsilon
from riemdp.privacy._isotropic_mu import BracketedCurve, LossPoints, bracket
from riemdp.privacy._isotropic_quadrature import PROBABILITY_ERROR, log_integrals
from riemdp.privacy._pure import pure_to_gaussian
from riemdp.privacy._rounding import delta_up, first_within, up

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._isotropic_quadrature import Integrand, Rows

    Loss: TypeAlias = Callable[[FloatArray], FloatArray]
    Part: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


# Privacy losses of generalised Gaussian noise on the line, and integrals over them.
#
# In units of the scale; the proof is docs/proofs/generalized-gaussian.md.

#: Relative error of a loss, of a shift and of powers of them: some units in the last place.
LOSS_ERROR = 4e-15
#: Relative error of a position between nodes: times the power that of a loss, times the depth in
#: the density, too, that of the density.
_PLACE_ERROR = 1e-15
#: Relative error allowed for in powers, gamma functions and quantiles.
ERROR = 1e-12
#: Depth in the density, as ``|x|^N``, beyond which a bound of the tail is used.
_DEEPEST = 690.0
#: Value of ``|x|^N`` under which the density is the largest one, to rounding.
_FLAT = 1e-16
#: How far in ``|x|^N`` beyond the start of an integral its integrand counts.
_REACH = 80.0
#: Privacy parameters handled at once, so that their nodes stay in the processor's cache.
_CHUNK = 64
#: A root is narrowed down so many times, by this factor each.
_NARROWINGS, _PIECES = 13, 16


@dataclass(frozen=True)
class PowerLosses:
    """Integrals over where the privacy loss exceeds ``epsilon``.

    In ``w``, which is ``|x|`` from power 1 on and ``|x|^power`` under it: so that no power of the
    law's scale leaves float64, and its density has no cusp.
    """

    shift: float
    power: float

    @property
    def shape(self) -> float:
        """Shape of the gamma law of ``|x|^power``."""
        return 1.0 / self.power

    @property
    def place_error(self) -> float:
        """Relative error of ``|x|^power`` by that of a position; of none under power 1."""
        return _PLACE_ERROR * self.power if self.power > 1.0 else 0.0

    def central(self) -> float:
        """``P(|x| < shift / 2)``; where the density is flat, or underflows, a product."""
        half = 0.5 * self.shift
        depth = self._power(half)
        if depth < _FLAT:
            return math.exp(math.log(half) - math.lgamma(1.0 + self.shape))
        return float(scipy.special.gammainc(self.shape, depth))

    def peripheral(self) -> float:
        """``P(|x| > shift / 2)``."""
        return float(scipy.special.gammaincc(self.shape, self._power(0.5 * self.shift)))

    def mu_at_zero(self) -> float:
        """``2 Phi^{-1}(F(shift / 2))``; may be infinite beyond float64."""
        central = self.central()
        if central < 0.5:
            return 2.0 * math.sqrt(2.0) * float(scipy.special.erfinv(central))
        return -2.0 * float(scipy.special.ndtri(0.5 * self.peripheral()))

    def largest_mu_at_zero(self) -> float:
        """``2 sqrt(2) (shift / 2)^(power / 2)``, not less up to power 2."""
        return 2.0 * math.sqrt(2.0) * float((0.5 * self.shift) ** (0.5 * min(self.power, 2.0)))

    def loss_at(self, depth: float) -> float:
        """Loss on the far side where ``|x|^power`` is ``depth``, from power 1 on."""
        return float(self._far(np.array([depth ** (1.0 / self.power)]))[0])

    def tail(self, epsilon: FloatArray) -> FloatArray:
        """``P(loss > epsilon)``, rounded up, where it is that of a far tail; else 1.

        From power 1 on it is at most ``exp(-|x|^power) / 2`` at the point with this loss.
        """
        if self.power < 1.0:
            return np.ones_like(epsilon)
        end = np.full(epsilon.shape, 1e4 ** (1.0 / self.power))
        start = np.full_like(end, _DEEPEST ** (1.0 / self.power))
        low = _crossing(lambda w: self._far(w) < epsilon[:, None], start, end)[0]
        deep = self._far(low) < epsilon  # at this very float
        with np.errstate(over="ignore", under="ignore"):
            depth = low**self.power * (1.0 - ERROR)
            return np.where(deep, delta_up(0.5 * np.exp(-depth)), 1.0)

    def log_delta(self, epsilon: FloatArray) -> FloatArray:
        """Log of ``delta`` at each positive ``epsilon``; not less, but for the quadrature."""
        chunks = (epsilon[i : i + _CHUNK] for i in range(0, epsilon.size, _CHUNK))
        return np.concatenate([self._integrals(chunk, _gain) for chunk in chunks])

    def points(self, epsilon: FloatArray) -> LossPoints:
        """Probabilities of the loss at each ``epsilon``, under power 1."""
        with np.errstate(all="ignore"):
            ends = [side[2] for side in (self._far_side(epsilon), self._near_side(epsilon))]
            first, complement = (
                np.log(0.5 * (share(self.shape, ends[0]) + share(self.shape, ends[1])))
                for share in (scipy.special.gammainc, scipy.special.gammaincc)
            )
        second = self._integrals(epsilon, _rest)
        error = np.full_like(epsilon, PROBABILITY_ERROR)
        return LossPoints(epsilon, first, complement, second, error)

    def _power(self, x: float) -> float:
        try:
            return float(x**self.power)
        except OverflowError:
            return math.inf

    # Positions w, and what is there.

    @property
    def _bend(self) -> float:
        return min(self.power, 1.0)

    def _place(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``|x|`` and ``|x|^power``."""
        if self.power < 1.0:
            return np.asarray(w**self.shape), w
        return w, np.asarray(w**self.power)

    def _from_depth(self, depth: FloatArray) -> FloatArray:
        return depth if self.power < 1.0 else np.asarray(depth**self.shape)

    def _log_density(self, w: FloatArray) -> FloatArray:
        """Log of the density of ``w`` on one side."""
        value = -self._place(w)[1] - math.lgamma(1.0 + self.shape) - math.log(2.0)
        if self.power < 1.0:
            value = value + (self.shape - 1.0) * np.log(w) + math.log(self.shape)
        return np.asarray(value)

    def _far(self, w: FloatArray) -> FloatArray:
        """Loss at ``-|x|``, away from the other location."""
        y, z = self._place(w)
        with np.errstate(all="ignore"):
            rise = self.power * np.log1p(self.shift / y)
            beyond = np.where(
                rise < 30.0, z * np.expm1(rise), np.exp(rise + self.power * np.log(y))
            )
            near = (self.shift + y) ** self.power * -np.expm1(-rise)
            return np.asarray(np.where(self.shift <= y, beyond, near))

    def _near(self, w: FloatArray) -> FloatArray:
        """Loss at ``|x|``, towards the other location; 0 from the middle on."""
        y, _ = self._place(w)
        with np.errstate(all="ignore"):
            rise = self.power * np.log1p(np.maximum(self.shift - 2.0 * y, 0.0) / y)
            loss = np.maximum(self.shift - y, 0.0) ** self.power * -np.expm1(-rise)
            return np.asarray(np.where(rise > 0.0, loss, 0.0))

    def _integrals(self, epsilon: FloatArray, part: Part) -> FloatArray:
        """Log of the integral over both sides; more where the rules do not agree."""
        with np.errstate(all="ignore"):
            sides = (self._far_side(epsilon), self._near_side(epsilon))
            logs = [self._side(*side, epsilon, part) for side in sides]
            total = np.logaddexp(*logs)
        return np.where(np.isnan(total), np.inf, total)

    def _side(
        self, loss: Loss, low: FloatArray, high: FloatArray, epsilon: FloatArray, part: Part
    ) -> FloatArray:
        """Log of the integral over the ``w`` from ``low`` to ``high`` on one side."""
        edges = self._edges(loss, epsilon, low, high)
        starts, stops = edges[:-1].ravel(), edges[1:].ravel()
        full = np.flatnonzero(stops > starts)
        owner = np.tile(np.arange(epsilon.size), len(edges) - 1)[full]
        starts, stops, wanted = starts[full], stops[full], epsilon[owner]

        def build(rows: Rows) -> Integrand:
            start, stop = starts[rows, None], stops[rows, None]

            def log_integrand(t: FloatArray, top: FloatArray) -> FloatArray:
                w = np.where(t <= top, start + t, stop - top)
                found = loss(w) * (1.0 + LOSS_ERROR + self.place_error)
                return np.asarray(self._log_density(w) + part(found, wanted[rows, None]))

            return log_integrand

        total = np.full(epsilon.shape, -np.inf)
        if full.size:
            span = stops - starts
            values, agree = log_integrals(span, _REACH, build)
            if not agree.all():  # narrow panels, next to a root: what they hold at most
                most = self._most(loss, wanted, starts, stops, part)
                values = np.where(agree, values, np.log(span) + most)
            np.logaddexp.at(total, owner, values)
        return total

    def _most(
        self, loss: Loss, epsilon: FloatArray, start: FloatArray, stop: FloatArray, part: Part
    ) -> FloatArray:
        """Log of the largest value of an integrand: loss and density have one peak each."""
        mode = np.clip(self.shape - 1.0 if self.power < 1.0 else 0.0, start, stop)
        gains = [
            part(loss(w) * (1.0 + LOSS_ERROR + self.place_error), epsilon) for w in (start, stop)
        ]
        return np.asarray(self._log_density(mode) + np.maximum(*gains))

    def _far_side(self, epsilon: FloatArray) -> tuple[Loss, FloatArray, FloatArray]:
        """Loss away from the other location, and where it exceeds ``epsilon``."""
        tiny = np.full(epsilon.shape, self._tiny())
        if self.power < 1.0:  # it falls from the footpoint on
            end = np.full_like(tiny, self._cut(0.0))
            high = _crossing(lambda w: self._far(w) > epsilon[:, None], tiny, end)[1]
            return self._far, np.zeros_like(tiny), high
        end = np.full_like(tiny, float(self._from_depth(np.array(_DEEPEST + _REACH))))
        low = _crossing(lambda w: self._far(w) <= epsilon[:, None], np.minimum(tiny, end), end)[0]
        low = np.where(self._at_footpoint() > epsilon, 0.0, low)
        cut = self._from_depth(self._place(low)[1] + _REACH)
        return self._far, low, np.asarray(cut)

    def _near_side(self, epsilon: FloatArray) -> tuple[Loss, FloatArray, FloatArray]:
        """Loss towards the other location, and where it exceeds ``epsilon``."""
        tiny = np.full(epsilon.shape, self._tiny())
        middle = float((0.5 * self.shift) ** self._bend)
        end = np.maximum(min(middle, self._cut(0.0)), tiny)
        high = _crossing(lambda w: self._near(w) > epsilon[:, None], tiny, end)[1]
        return self._near, np.zeros_like(tiny), np.where(self._at_footpoint() > epsilon, high, 0.0)

    def _edges(
        self, loss: Loss, epsilon: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Return ends of panels: scales of the law and of the shift, and where the loss rises."""
        start = np.maximum(low, np.minimum(self._tiny(), high))
        above = loss(start) > epsilon + 1.0
        turn = _crossing(
            lambda w: (loss(w) > epsilon[:, None] + 1.0) == above[:, None], start, high
        )[0]
        scale = [self.shift**self._bend, self.shape, self.shape + 6.0 * math.sqrt(self.shape)]
        inner = [turn, *(np.full_like(low, each) for each in scale)]
        return np.sort([low, high, *(np.clip(each, low, high) for each in inner)], axis=0)

    def _at_footpoint(self) -> float:
        return self._power(self.shift)

    def _cut(self, depth: float) -> float:
        """``w`` beyond which the law has nothing that counts."""
        most = depth + self.shape + 12.0 * math.sqrt(self.shape) + _REACH
        return float(self._from_depth(np.array(most)))

    def _tiny(self) -> float:
        """``w`` under which the loss is that at the footpoint, to rounding."""
        return max(1e-30 * float(self.shift**self._bend), 1e-307)


def _crossing(
    holds: Callable[[FloatArray], Any], low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Two neighbours between which a condition that holds from ``low`` on stops to hold."""
    low, width = np.log(low), np.log(high / low)
    shares = np.arange(_PIECES + 1.0) / _PIECES
    for _ in range(_NARROWINGS):
        logs = low[:, None] + width[:, None] * shares[1:-1]
        last = np.count_nonzero(np.logical_and.accumulate(holds(np.exp(logs)), axis=1), axis=1)
        low, width = low + width * shares[last], width / _PIECES
    return np.exp(low), np.exp(low + width)


def _gain(loss: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Log of ``1 - exp(epsilon - loss)``."""
    return np.asarray(np.log(-np.expm1(-np.maximum(loss - epsilon, 0.0))))


def _rest(loss: FloatArray, epsilon: FloatArray) -> FloatArray:
    return np.where(loss >= epsilon, -loss, -np.inf)


# The privacy curve of the generalised Gaussian mechanism on the real line, at every power.
#
# In units of the scale the laws have the densities ``c exp(-|x|^N)`` and ``c exp(-|x - s|^N)``, so
# the privacy loss is ``|x - s|^N - |x|^N`` and ::
#
#     delta = integral of c exp(-|x|^N) (1 - exp(epsilon - loss)) where the loss exceeds epsilon
#
# with a positive integrand: nothing cancels. The proof is docs/proofs/generalized-gaussian.md.

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
        root = zero_between(excess, low, high, xtol=1e-15, rtol=1e-15)
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
