"""Exact draws of the Laplace and Gaussian laws on R^d.

Nearly all Gaussian coordinates are rounded by 64 bits of each uniform variable.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from riemdp._potential import Kind, potential
from riemdp._progress import ticks
from riemdp._working_precision import working_precision
from riemdp.noise._radial import RadialLaw
from riemdp.noise.exact._draw import ExactDraw, round_ends
from riemdp.noise.exact._rounded import ball_of
from riemdp.noise.exact._variates import (
    direction,
    direction_uniforms,
    gamma,
    gamma_uniforms,
    normal_uniforms,
    normals,
    normals_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from riemdp.noise.exact._bits import Bits
    from riemdp.noise.exact._draw import Ends
    from riemdp.noise.exact._ladder import Ladder

    Ball = Any

#: Gaussian coordinates that are drawn at a time; even, as normal variables come in pairs.
_TOGETHER = 4096
#: Bits of uniform variables that are looked at, and working precision at which that is fastest.
QUICK = 64
#: Bits of a footpoint after the point of the grid.
_AFTER = 32


@dataclass(frozen=True)
class FlatDraw(ExactDraw):
    """Draws on R^d with density proportional to ``exp(-|x - v| / sigma)`` or of a Gaussian law.

    The Laplace length has a gamma law of shape ``dim``, its direction is uniform; the Gaussian
    is ``sigma`` times standard normal coordinates.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    dim : int
    sigma : float
        Scale, taken as the rational number it is.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.

    References
    ----------
    docs/proofs/exact-draws.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.noise.exact import FlatDraw
    >>> draw = FlatDraw("laplace", 3, 0.5)
    >>> rounded = draw.draw([0.0, 0.0, 0.25], grid=40, generator=np.random.default_rng(0))
    >>> len(rounded.integers), rounded.grid
    (3, 40)
    """

    proof: ClassVar[str | None] = "docs/proofs/exact-draws.md"

    kind: Kind
    dim: int
    sigma: float

    def __post_init__(self) -> None:
        law = RadialLaw(self.kind, self.dim, 0.0, self.sigma)  # checks all three
        object.__setattr__(self, "dim", law.dim)
        object.__setattr__(self, "sigma", law.sigma)

    @property
    def coordinates(self) -> int:
        """The dimension."""
        return self.dim

    def integers(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], grid: int
    ) -> list[int]:
        """Return the rounding of the draw that these bits stand for.

        Gaussian coordinates are independent: of many, some are drawn and rounded at a time.
        """
        if potential(self.kind).is_linear:
            return round_ends(ladder, self.ends(bits, ladder, footpoint), grid)
        found = []
        starts = range(0, self.dim, _TOGETHER)
        for start in ticks(starts, len(starts) if len(starts) > 1 else None, "draws"):
            part = footpoint[start : start + _TOGETHER]
            found += self._gaussian(bits, ladder, part, grid)
        return found

    def _gaussian(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], grid: int
    ) -> list[int]:
        """Round Gaussian coordinates, as many as the footpoint has."""
        count, scale = len(footpoint), Fraction(self.sigma)
        number = normal_uniforms(count)
        if ladder.precision < QUICK:
            uniforms = bits.uniforms(number)
        else:
            # All that the question below begins with is read before: whether fewer bits were
            # enough changes nothing that is drawn.
            first, begun = bits.begun(number, ladder.precision)
            quick = quick_gaussian(first, footpoint, scale * Fraction(2) ** grid, grid)
            if quick is not None:
                return quick
            uniforms = begun()
        return round_ends(ladder, _around(footpoint, scale, lambda: normals(uniforms, count)), grid)

    def ends(self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction]) -> Ends:  # noqa: ARG002
        """Footpoint plus noise; see :meth:`ExactDraw.ends`."""
        return _around(footpoint, Fraction(self.sigma), self._noise(bits))

    def _noise(self, bits: Bits) -> Callable[[], list[Ball]]:
        """Noise of scale 1, as a function of uniform variables."""
        dim = self.dim
        if not potential(self.kind).is_linear:
            uniforms = bits.uniforms(normal_uniforms(dim))
            return lambda: normals(uniforms, dim)
        lengths = bits.uniforms(gamma_uniforms(2 * dim))
        turns = bits.uniforms(direction_uniforms(dim))

        def laplace() -> list[Ball]:
            length = gamma(lengths, 2 * dim)
            return [length * x for x in direction(turns, dim)]

        return laplace


def _around(
    footpoint: Sequence[Fraction], scale: Fraction, noise: Callable[[], list[Ball]]
) -> Ends:
    """Return ``v + scale z`` as :meth:`ExactDraw.ends` does."""

    def ends() -> list[Ball]:
        factor, origin = ball_of(scale), map(ball_of, footpoint)
        return [v + factor * x for v, x in zip(origin, noise(), strict=True)]

    return ends


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
