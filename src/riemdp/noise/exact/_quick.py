"""Gaussian coordinates that 64 bits of each uniform variable round, as they do nearly all."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from riemdp._working_precision import working_precision
from riemdp.noise.exact._rounded import ball_of
from riemdp.noise.exact._variates import normals_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    Ball = Any

#: Bits of uniform variables that are looked at, and working precision at which that is fastest.
QUICK = 64
#: Bits of a footpoint after the point of the grid.
_AFTER = 32


def quick_gaussian(
    first: NDArray[np.uint64], footpoint: Sequence[Fraction], factor: Fraction, grid: int
) -> list[int] | None:
    """Round ``2^grid v + factor z`` for coordinates v of a footpoint and normal variables z.

    ``first`` has the first 64 bits of the uniform variables that the z are functions of; None where
    these leave a coordinate open. The whole steps in the footpoint are added after the rounding, as
    integers. So whether 64 bits are enough depends on the noise, on where the footpoint lies
    between two points of the grid and on public numbers, not on how far it is.
    """
    from flint import arb

    highs, lows = (first >> 32).tolist(), (first & 0xFFFFFFFF).tolist()
    up, down = max(grid + _AFTER, 0), max(-grid - _AFTER, 0)
    mask, unit, found = (1 << _AFTER) - 1, 2.0**-_AFTER, []
    with working_precision(QUICK):
        after, scale, half = _upto(QUICK), ball_of(factor), 0.5 + _upto(_AFTER)
        # each is a float64 exactly
        balls = [
            arb(high * 2.0**-32) + low * 2.0**-64 + after
            for high, low in zip(highs, lows, strict=True)
        ]
        for v, z in zip(footpoint, normals_of(balls, len(footpoint)), strict=True):
            steps = (v.numerator << up) // (v.denominator << down)
            below = (steps & mask) * unit
            whole = (scale * z + below + half).floor().unique_fmpz()
            if whole is None:
                return None
            found.append((steps >> _AFTER) + int(whole))
    return found


@functools.cache
def _upto(bits: int) -> Ball:
    """Enclose the numbers from 0 to ``2^-bits``."""
    from flint import arb

    return arb((1, -bits - 1), (1, -bits - 1))
