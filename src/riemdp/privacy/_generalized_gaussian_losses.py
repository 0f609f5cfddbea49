"""Privacy losses of generalised Gaussian noise on the line, and integrals over them.

In units of the scale; the proof is docs/proofs/generalized-gaussian.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from riemdp.privacy._isotropic_mu import LossPoints
from riemdp.privacy._isotropic_quadrature import PROBABILITY_ERROR
from riemdp.privacy._log_quadrature import log_integrals
from riemdp.privacy._rounding import delta_up

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._log_quadrature import Integrand, Rows

    Loss: TypeAlias = Callable[[FloatArray], FloatArray]
    Part: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]

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
