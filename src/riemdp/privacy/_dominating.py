"""A discrete privacy loss that dominates a privacy curve: connect the dots, symmetrically.

The curve bounds the hockey-stick divergence of both orders at ``epsilon >= 0``. Between the points
of a grid in ``exp(epsilon)`` a chord bounds a convex function, and negative ``epsilon`` follow
from positive ones by exchanging the two laws. The proof is docs/proofs/composition.md.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.privacy._closed_curves import PureCurve
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._isotropic_mu import BracketedCurve

if TYPE_CHECKING:
    from riemdp.privacy._budget import FloatArray

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
