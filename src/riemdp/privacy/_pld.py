"""Numerical composition by privacy loss distributions; the only module that uses dp-accounting.

Every curve becomes a discrete, dominating privacy loss (:mod:`riemdp.privacy._dominating`). The
losses of a composition add up, so their laws are convolved, by dp-accounting's FFT. Whatever is
cut off is moved to an infinite loss, and a proved bound of the rounding errors is added to delta.
docs/proofs/composition.md
"""

from __future__ import annotations

import heapq
import importlib.util
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from riemdp._errors import ConvergenceError
from riemdp.privacy._dominating import dominating_masses, largest_loss
from riemdp.privacy._rounding import delta_up, first_within, up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve

#: The library's grid step. Compositions double it (rarely halve it), see :func:`_grid_step`.
STEP = 2.0**-12
#: Finest and coarsest step. A coarser one says nothing, and exponentials would overflow.
_FINEST, _COARSEST = 2.0**-900, 64.0
#: Releases beyond this many would need too much memory; the closed bounds are left then.
_MOST_RELEASES = 10**6
#: Number of cells that a composition may have, about.
_CELLS = 2.0**19
#: Mass that may be cut off all the curves together.
_TAIL = 1e-13
#: Mass that dp-accounting may cut off one self-composition; it moves it to infinity.
_SELF_TAIL = 1e-15


def accounting_available() -> bool:
    """Whether dp-accounting is installed: ``pip install 'riemdp[accounting]'``."""
    return importlib.util.find_spec("dp_accounting") is not None


@dataclass(frozen=True)
class LossTable:
    """Law of a discrete privacy loss, as far as ``epsilon >= 0`` needs it.

    ``deltas (N + 1,)`` are those at the losses ``0, step, ..., N step``, without the floor: the
    mass at infinity and an allowance for rounding.
    """

    step: float
    deltas: FloatArray
    floor: float

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Linear in ``exp(epsilon)`` between the grid points."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        last = len(self.deltas) - 1
        cell = (np.minimum(epsilon, last * self.step) / self.step).astype(np.int64)
        upper = np.minimum(cell + 1, last)
        here, beyond = self.deltas[cell], self.deltas[upper]
        weight = np.expm1(np.minimum(epsilon - upper * self.step, 0.0)) / math.expm1(-self.step)
        deltas = beyond + (here - beyond) * np.clip(weight, 0.0, 1.0)
        return delta_up(deltas + self.floor)

    def epsilon_at(self, delta: float) -> float:
        """Inverse of :meth:`delta_at`, rounded up; ``inf`` under the floor."""
        last = (len(self.deltas) - 1) * self.step
        if not self.delta_at(last) <= delta:
            return math.inf
        # first grid point with a small enough delta; the array falls
        target = delta - self.floor
        upper = int(np.searchsorted(-self.deltas, -target))
        epsilon = 0.0
        if upper > 0:
            here, beyond = float(self.deltas[upper - 1]), float(self.deltas[upper])
            share = max(0.0, (target - beyond) / (here - beyond))
            epsilon = upper * self.step + math.log1p(share * math.expm1(-self.step))
        return first_within(self.delta_at, delta, epsilon, 1e-15 * self.step, last)


def composed_losses(parts: Sequence[tuple[PrivacyCurve, int]], infinity: float = 0.0) -> LossTable:
    """Compose curves, each with the number of times it occurs, numerically.

    ``infinity`` is the mass of an infinite loss besides. The table says nothing (``delta = 1``) if
    the losses are too large for a grid or for float64, or the releases too many for one.
    """
    from dp_accounting.pld import pld_pmf

    releases = sum(times for _, times in parts)
    nothing = LossTable(STEP, np.zeros(1), 1.0)
    try:
        ranges = [largest_loss(curve, _TAIL / releases) for curve, _ in parts]
        step = _grid_step(parts, ranges)
        if step > _COARSEST or releases > _MOST_RELEASES:
            return nothing
        tables = [
            dominating_masses(curve, step, largest)
            for (curve, _), largest in zip(parts, ranges, strict=True)
        ]
    except ConvergenceError:
        return nothing
    if any(lost >= 1.0 for _, lost in tables):
        return nothing
    allowance = 0.0
    heap: list[tuple[int, int, Any]] = []
    for order, ((_, times), (masses, lost)) in enumerate(zip(parts, tables, strict=True)):
        law = pld_pmf.DensePLDPmf(step, -(len(masses) // 2), masses, lost, True)
        if times > 1:
            law, error = _self_composed(law, times)
            allowance += error
        heap.append((law.size, order, law))
    heapq.heapify(heap)
    while len(heap) > 1:  # the two smallest first: as few long transforms as possible
        _, _, one = heapq.heappop(heap)
        _, order, other = heapq.heappop(heap)
        law, error = _pair_composed(one, other)
        allowance += error
        heapq.heappush(heap, (law.size, order, law))
    law = heap[0][2]
    floor = infinity + (1.0 - infinity) * law._infinity_mass + allowance
    return _table(law._lower_loss, law._probs, step, up(floor))


def _grid_step(parts: Sequence[tuple[PrivacyCurve, int]], ranges: Sequence[float]) -> float:
    """Power of two near :data:`STEP` that suits the whole composition.

    Doubled while the composition would have too many cells; halved while a curve would have only
    a few.
    """
    deviation = math.hypot(
        *(
            math.sqrt(times)
            * (largest if curve.pure_epsilon() < 1.25 * largest else 0.125 * largest)
            for (curve, times), largest in zip(parts, ranges, strict=True)
        )
    )
    width = 16.0 * deviation + 2.0 * max(ranges)
    step = STEP
    while width > _CELLS * step and step <= _COARSEST:
        step *= 2.0
    while min(ranges) < 16.0 * step and width < 0.25 * _CELLS * step and step > _FINEST:
        step *= 0.5
    return step


def _fft_error(size: int) -> float:
    """Largest error of a transform's coefficient, relative to the sum of the absolute inputs.

    A coefficient is a sum of inputs that pass ``log2(size)`` butterflies, each with a relative
    error of at most 8 units of rounding (Higham, Accuracy and Stability of Numerical Algorithms,
    Section 24.1).
    """
    return 8.0 * 1.2e-16 * (math.log2(size) + 1.0)


def _self_composed(law: Any, times: int) -> tuple[Any, float]:
    composed = law.self_compose(times, _SELF_TAIL)
    size = composed.size
    length = scipy.fft.next_fast_len(max(size, law.size))
    error = _fft_error(length)
    spectrum = np.abs(scipy.fft.rfft(law._probs, length))
    mean_power = float(np.mean((spectrum + error) ** (2 * times - 2)))
    norm = times * 1.2 * error * math.sqrt(mean_power) + error * _norm(composed._probs)
    return _trimmed(composed, math.sqrt(size) * norm)


def _pair_composed(one: Any, other: Any) -> tuple[Any, float]:
    composed = one.compose(other, 0.0)
    error = 2.0 * _fft_error(2 * composed.size)
    norm = error * (_norm(one._probs) + _norm(other._probs) + _norm(composed._probs))
    return _trimmed(composed, math.sqrt(composed.size) * norm)


def _norm(values: FloatArray) -> float:
    return float(np.linalg.norm(values))


def _trimmed(law: Any, allowance: float) -> tuple[Any, float]:
    """Cut tails under the rounding: the left one moves up, the right one to infinity.

    The allowance bounds the change of ``delta``, whatever is composed later.
    """
    probs = np.maximum(law._probs, 0.0)
    left = int(np.searchsorted(np.cumsum(probs), 0.1 * allowance))
    right = len(probs) - int(np.searchsorted(np.cumsum(probs[::-1]), 0.1 * allowance))
    left = min(left, len(probs) - 1)
    right = max(right, left + 1)
    kept = probs[left:right].copy()
    kept[0] += float(np.sum(probs[:left]))
    lost = float(np.sum(probs[right:]))
    infinity = law._infinity_mass + lost
    trimmed = type(law)(law._discretization, law._lower_loss + left, kept, infinity, True)
    return trimmed, allowance


def _table(lower: int, probs: FloatArray, step: float, floor: float) -> LossTable:
    """``delta`` at the grid points from 0 on, as a sum of positive numbers.

    With ``S_i = sum_{j>i} p_j exp(l_i - l_j)``: ``S_i = exp(-step) (p_{i+1} + S_{i+1})`` and
    ``delta(l_i) - delta(l_{i+1}) = (exp(step) - 1) S_i``.
    """
    size = max(0, lower + len(probs) - 1)  # the largest loss, in steps
    masses = np.zeros(size)  # on the losses step, ..., size step
    first = max(lower, 1)
    if size:
        masses[first - 1 :] = probs[first - lower :]
    decay = math.exp(-step)
    sums = scipy.signal.lfilter([decay], [1.0, -decay], masses[::-1])  # S_{size-1}, ..., S_0
    falls = math.expm1(step) * np.cumsum(sums)
    deltas = np.append(falls[::-1], 0.0) * (1.0 + 1e-15 * size)  # rounding of the two sums
    return LossTable(step, deltas, min(1.0, floor))
