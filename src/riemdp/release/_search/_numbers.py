"""Grids that a search chooses from, and the weights of a choice: of public numbers and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray

#: Candidates are this many to a factor of two.
OCTAVE = 4
#: Powers of ``2^(-1/4)``, the same floats everywhere.
_STEPS = (1.0, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605)


def radii(top: float, count: int) -> FloatArray:
    """Candidates for a radius, the largest first: ``top 2^(-j/4)`` as floats, shape (count,)."""
    return np.array([math.ldexp(top * _STEPS[j % OCTAVE], -(j // OCTAVE)) for j in range(count)])


def places(top: float, count: int) -> FloatArray:
    """Candidates for a place along an axis, from ``-top`` to ``top``; count is odd."""
    half = count // 2
    return np.array([top * (j / half) for j in range(-half, half + 1)])


@dataclass(frozen=True)
class Weights:
    """Weights ``exp(-loss) 2^octave`` of candidates, for a draw by exact arithmetic.

    ``units`` are what one loss and one octave of those is.
    """

    losses: tuple[int, ...]
    octaves: tuple[int, ...]
    units: tuple[Fraction, Fraction]


def radius_weights(outside: Sequence[int], rate: float, penalty: float) -> Weights:
    """Weights of radii: ``rate`` for each record outside, and for the penalty.

    ``outside`` are the numbers of distances beyond each candidate, the largest first. Losses are
    ``rate * outside``, octaves ``rate * penalty * j / 4``, with rate and penalty taken as the
    rational numbers they are.
    """
    units = Fraction(rate), Fraction(rate) * Fraction(penalty) / OCTAVE
    return Weights(tuple(outside), tuple(range(len(outside))), units)


def place_weights(below: Sequence[int], above: Sequence[int], n: int, rate: float) -> Weights:
    """Weights of places: ``rate / 2`` for each record by which one side has more than a half.

    Of the numbers of records on either side of a stretch about each candidate.
    """
    sides = zip(below, above, strict=True)
    losses = tuple(max(0, 2 * low - n, 2 * high - n) for low, high in sides)
    return Weights(losses, len(losses) * (0,), (Fraction(rate) / 4, Fraction(0)))
