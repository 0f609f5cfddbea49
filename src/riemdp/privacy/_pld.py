"""Composition by privacy loss distributions that dominate."""

from __future__ import annotations

import functools
import heapq
import importlib.util
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from riemdp._errors import ConvergenceError
from riemdp.privacy._closed_curves import PureCurve
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._isotropic_mu import BracketedCurve
from riemdp.privacy._rounding import delta_up, first_within, up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray


# A discrete privacy loss that dominates a privacy curve: connect the dots, symmetrically.
#
# The curve bounds the hockey-stick divergence of both orders at ``epsilon >= 0``. Between the
# points of a grid in ``exp(epsilon)`` a chord bounds a convex function, and negative ``epsilon``
# follow from positive ones by exchanging the two laws. The proof is docs/proofs/composition.md.

#: Mass moved to infinity for the rounding of one table.
_ROUNDING = 1e-14
#: A larger loss counts as infinite; its exponential is still a float.
_LARGEST_LOSS = 600.0
#: Points at which a curve is evaluated whose ``delta`` is an integral, at most.
_MOST_INTEGRALS = 2**13


@functools.singledispatch
def largest_loss(curve: PrivacyCurve, tail: float) -> float:
    """``epsilon`` from which on the curve loses less than ``tail`` more."""
    end = min(curve.pure_epsilon(), _LARGEST_LOSS)
    losses = np.geomspace(1e-12 * end, end, 400)
    deltas = curve.delta_at(losses)
    return float(losses[np.argmax(deltas - deltas[-1] <= tail)])


@largest_loss.register(PureCurve)
def _(curve: PureCurve, _: float) -> float:
    return curve.epsilon


@functools.singledispatch
def dominating_masses(curve: PrivacyCurve, step: float, largest: float) -> tuple[FloatArray, float]:
    """Masses on the losses ``-N step, ..., N step`` and at infinity, a probability in all.

    The step is a power of two, so that every loss is an exact float; the grid ends at the first
    point from ``largest`` on.
    """
    return _chords(curve, step, _cells(step, largest))


@dominating_masses.register(PureCurve)
def _(curve: PureCurve, step: float, _: float) -> tuple[FloatArray, float]:
    return _randomised_response(curve.epsilon, step)


@dominating_masses.register(BracketedCurve)
def _(curve: BracketedCurve, step: float, largest: float) -> tuple[FloatArray, float]:
    size = _cells(step, largest)
    if size <= _MOST_INTEGRALS:
        return _chords(curve, step, size)
    # every second loss only: a coarser chord, which is a bound as well
    coarse, infinity = dominating_masses(curve, 2.0 * step, largest)
    masses = np.zeros(2 * len(coarse) - 1)
    masses[::2] = coarse
    return masses, infinity


def _cells(step: float, largest: float) -> int:
    return max(1, math.ceil(largest / step))


def _chords(curve: PrivacyCurve, step: float, size: int) -> tuple[FloatArray, float]:
    losses = step * np.arange(size + 1, dtype=np.float64)
    deltas = np.maximum.accumulate(curve.delta_at(losses)[::-1])[::-1]
    # Q(loss >= l_i) is the slope of the chord in exp(epsilon); a convex curve has falling slopes.
    slopes = (deltas[:-1] - deltas[1:]) * np.exp(-losses[:-1]) / math.expm1(step)
    slopes = np.maximum.accumulate(slopes[::-1])[::-1]
    second = slopes - np.append(slopes[1:], 0.0)
    first = second * np.exp(losses[1:])
    infinity = float(deltas[-1])
    return _symmetric(first, second, infinity, step)


def _symmetric(
    first: FloatArray, second: FloatArray, infinity: float, step: float
) -> tuple[FloatArray, float]:
    """Fill the mass up to 1 from the outside in; the rest goes to the last pair of losses."""
    size = len(first)
    rest = 1.0 - infinity - float(np.sum(first) + np.sum(second))
    slack = _ROUNDING
    last = 0
    if rest < 0.0:  # the curve is not one of a pair of laws: this is its largest minorant's bound
        outside = np.append(np.cumsum((first + second)[::-1])[::-1], 0.0)
        rests = 1.0 - infinity - outside  # by number of losses left inside, increasing
        last = int(np.argmax(rests >= 0.0))
        rest = max(float(rests[last]), 0.0)
        slack += size * 2.3e-16
    masses = np.zeros(2 * size + 1)
    masses[size + 1 + last :] = first[last:]
    masses[: size - last] = second[last:][::-1]
    share = 1.0 / (1.0 + math.exp(-last * step)) if last else 1.0
    masses[size + last] += rest * share
    if last:
        masses[size - last] += rest * share * math.exp(-last * step)
    return masses, min(1.0, infinity + slack)


def _randomised_response(epsilon: float, step: float) -> tuple[FloatArray, float]:
    """Split the two losses ``+-epsilon`` of the worst pure pair among their grid neighbours."""
    below = int(epsilon / step)
    gap = epsilon - below * step
    size = below + 1
    mass = 1.0 / (1.0 + math.exp(-epsilon))
    # keeps the mass under both laws: exp(-gap) = share exp(-step) + 1 - share
    upper = mass * min(1.0, math.expm1(-gap) / math.expm1(-step))
    masses = np.zeros(2 * size + 1)
    masses[size + size] = upper
    masses[0] = upper * math.exp(-size * step)
    masses[size + below] += mass - upper
    masses[size - below] += (mass - upper) * math.exp(-below * step)
    # with no loss left inside, what is missing to 1 is on the loss 0
    if below == 0:
        masses[size] = 1.0 - masses[0] - masses[-1]
    return masses, _ROUNDING


# Numerical composition by privacy loss distributions; the only module that uses dp-accounting.
#
# Every curve becomes a discrete, dominating privacy loss (:mod:`riemdp.privacy._pld`). The
# losses of a composition add up, so their laws are convolved, by dp-accounting's FFT. Whatever is
# cut off is moved to an infinite loss, and a proved bound of the rounding errors is added to
# delta. docs/proofs/composition.md

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
