"""Exact draws of the Laplace and Gaussian laws on R^d.

Nearly all Gaussian coordinates are rounded by 64 bits of each uniform variable.
"""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._potential import Kind, potential
from riemdp._progress import ticks
from riemdp._working_precision import working_precision
from riemdp.noise._radial import RadialLaw
from riemdp.noise.exact._balls import RAISED, Balls, directions, gammas
from riemdp.noise.exact._bits import enclosures
from riemdp.noise.exact._draw import ExactDraw, round_ends
from riemdp.noise.exact._quick import REST, SHARE, quick_normals
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

    from numpy.typing import NDArray

    from riemdp.noise.exact._bits import Bits
    from riemdp.noise.exact._draw import Ends, Integers
    from riemdp.noise.exact._ladder import Ladder

    Ball = Any

#: Gaussian coordinates that are drawn at a time; even, as normal variables come in pairs.
_TOGETHER = 4096
#: Bits of uniform variables that are looked at, and working precision at which that is fastest.
QUICK = 64
#: Uniform variables that float64 looks at together, at most and at least.
_TILE, _LEAST_QUICK = 16384, 96
#: Bits of a footpoint after the point of the grid, and the last of them.
_AFTER, _UNIT = 32, 2.0**-32


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
        found: list[int] = []
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
            factor = scale * Fraction(2) ** grid
            if number < _LEAST_QUICK:
                steps, below = _split(footpoint, grid)
                noise = quick_gaussian(first, below, factor)
                if None not in noise:
                    return list(map(operator.add, steps, noise))
            else:
                with np.errstate(all="ignore"):
                    integers, certain = _gaussians(first[None], footpoint, factor, grid)
                if certain[0]:
                    return integers[0].tolist()  # type: ignore[no-any-return]
            uniforms = begun()
        return round_ends(ladder, _around(footpoint, scale, lambda: normals(uniforms, count)), grid)

    @property
    def _width(self) -> int:
        """All that a draw takes, as long as they are drawn at a time."""
        if potential(self.kind).is_linear:
            return gamma_uniforms(2 * self.dim) + direction_uniforms(self.dim)
        return normal_uniforms(self.dim) if self.dim <= _TOGETHER else 0

    def _together(
        self, words: NDArray[np.uint64], footpoint: Sequence[Fraction], grid: int
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """See :meth:`ExactDraw._together`."""
        factor = Fraction(self.sigma) * Fraction(2) ** grid
        together = _laplaces if potential(self.kind).is_linear else _gaussians
        return together(words, footpoint, factor, grid)

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


def _laplaces(
    words: NDArray[np.uint64], footpoint: Sequence[Fraction], factor: Fraction, grid: int
) -> tuple[Integers, NDArray[np.bool_]]:
    """Round ``2^grid v + factor z`` for Laplace variables z, as :func:`_gaussians` does."""
    steps, below = _split(footpoint, grid)
    dim = len(steps)
    found = np.empty((len(words), dim), dtype=np.int64)
    certain = np.empty(len(words), dtype=np.bool_)
    rest = Balls(np.array(below)[:, None] + 0.5 * _UNIT, np.zeros((dim, 1)), 0.5 * _UNIT)
    tile = max(1, 4 * _TILE // words.shape[1])
    for i in range(0, len(words), tile):
        part = np.ascontiguousarray(words[i : i + tile].T)
        length = gammas(part[:dim]) * ball_of(factor)
        integers, known = (directions(part[dim:], dim, length) + rest).nearest()
        found[i : i + tile], certain[i : i + tile] = integers.T, known.all(axis=0)
    return _moved(found, steps), certain


def _gaussians(
    words: NDArray[np.uint64], footpoint: Sequence[Fraction], factor: Fraction, grid: int
) -> tuple[Integers, NDArray[np.bool_]]:
    """Round ``2^grid v + factor z`` for coordinates v of a footpoint and normal variables z.

    ``words`` has the first 64 bits of the uniform variables that the z of each draw are functions
    of, shape (draws, variables). The whole steps in the footpoint are added after the rounding, as
    integers. So whether 64 bits are enough depends on the noise, on where the footpoint lies
    between two points of the grid and on public numbers, not on how far it is.

    Returns
    -------
    integers : ndarray, shape (draws, coordinates)
    certain : ndarray of bool, shape (draws,)
        Which draws these bits decide.
    """
    steps, below = _split(footpoint, grid)
    dim = len(steps)
    found = np.empty((len(words), dim), dtype=np.int64)
    left = np.empty(found.shape, dtype=np.bool_)
    scale = float(factor) if 2**-200 < factor < 2**48 else math.nan
    tile, middle = max(1, _TILE // words.shape[1]), np.array(below) + 0.5 * _UNIT
    for i in range(0, len(words), tile):
        found[i : i + tile], left[i : i + tile] = _quick(words[i : i + tile], middle, scale)
    rows, columns = np.nonzero(np.logical_or.reduceat(left, np.arange(0, dim, 2), axis=1))
    rows, columns = np.repeat(rows, 2), np.repeat(2 * columns, 2)
    columns[1::2] += 1
    rests = [*below, 0.0]  # the second of the last pair, where coordinates are odd in number
    rests = [rests[column] for column in columns.tolist()]
    noise = quick_gaussian(words[rows, columns], rests, factor)
    certain = np.ones(len(words), dtype=np.bool_)
    for row, column, whole in zip(rows.tolist(), columns.tolist(), noise, strict=True):
        if whole is None or abs(whole) >> 61:
            certain[row] = False
        elif column < dim:
            found[row, column] = whole
    return _moved(found, steps), certain


def _moved(noise: NDArray[np.int64], steps: list[int]) -> Integers:
    """Add whole steps of the footpoint to noise below ``2^62``."""
    fits = max(map(abs, steps)) >> 61 == 0
    moved: Integers = noise + np.array(steps, dtype=np.int64 if fits else object)
    return moved


def _split(footpoint: Sequence[Fraction], grid: int) -> tuple[list[int], list[float]]:
    """Return whole steps of the grid, and what is left of one, rounded down to ``2^-32``."""
    up, down = max(grid + _AFTER, 0), max(-grid - _AFTER, 0)
    units = [(v.numerator << up) // (v.denominator << down) for v in footpoint]
    below = [(unit & ((1 << _AFTER) - 1)) * _UNIT for unit in units]
    return [unit >> _AFTER for unit in units], below


def _quick(
    words: NDArray[np.uint64], below: NDArray[np.float64], scale: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Round ``scale z + below``, and say which are open; ``below`` may err by ``2^-33``.

    ``scale`` is below ``2^48``, so that integers are exact.
    """
    noise = quick_normals(words, scale)[:, : len(below)]
    noise += below
    near = np.rint(noise)
    rest = noise - near
    np.abs(rest, out=rest)
    # of the variable, of the scale, of their product and of the sum
    noise *= SHARE + 3.2 * 2.0**-53
    np.abs(noise, out=noise)
    noise += (REST * scale * RAISED + 2.0**-48) + 0.5 * _UNIT
    noise += rest
    left = ~(noise < 0.5)
    near[left] = 0.0
    return near.astype(np.int64), left


def quick_gaussian(
    first: NDArray[np.uint64], below: Sequence[float], factor: Fraction
) -> list[int | None]:
    """Round ``factor z + below`` by balls of 64 bits, None where these leave one open.

    ``first`` has the first 64 bits of the uniform variables that the normal variables z are
    functions of. What is below may be ``2^-32`` more.
    """
    arb, _ = enclosures()
    found = []
    with working_precision(QUICK):
        after, scale, half = _upto(QUICK), ball_of(factor), 0.5 + _upto(_AFTER)
        # each is a float64 exactly
        balls = [
            arb((word >> 32) * 2.0**-32) + (word & 0xFFFFFFFF) * 2.0**-64 + after
            for word in first.tolist()
        ]
        for v, z in zip(below, normals_of(balls, len(below)), strict=True):
            whole = (scale * z + v + half).floor().unique_fmpz()
            found.append(None if whole is None else int(whole))
    return found


@functools.cache
def _upto(bits: int) -> Ball:
    """Enclose the numbers from 0 to ``2^-bits``."""
    from flint import arb

    return arb((1, -bits - 1), (1, -bits - 1))
