"""Proposals of the distance on SPD matrices: a bound that is constant on public shells."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._potential import Kind, potential
from riemdp._radial_profile import EnclosedProfile, Profile
from riemdp._working_precision import working_precision
from riemdp.noise._affine_invariant_radial import AffineInvariantRadial
from riemdp.noise._radial import log_sphere_area
from riemdp.noise._volume_series import growth_rate, log_sinhc
from riemdp.noise.exact._ladder import Ladder, at_working_precision
from riemdp.noise.exact._rounded import ball_of

if TYPE_CHECKING:
    from riemdp.noise.exact._bits import Uniform
    from riemdp.spaces import FloatArray

    Ball = Any

#: Shells between the innermost and the outermost one.
_SHELLS = 256
#: Logarithms below the largest height at which those two begin.
_DEPTH = 45.0
#: Norms that are not searched.
_FARTHEST = 1e200
#: Bits at which the public numbers are certified.
_CERTIFY = 512


@dataclass(frozen=True)
class Knots:
    """Public numbers of a bound, all of them free but for what is certified.

    ``ends`` of shells increase; the outermost shell has none. ``even`` says of each shell between
    two ends, and ``last_even`` of the outermost one, whether the member is that of even gaps or the
    line. Heights are measured from ``level``.
    """

    ends: tuple[Fraction, ...]
    even: tuple[bool, ...]
    last_even: bool
    level: Fraction


@dataclass(frozen=True)
class _Shells:
    """Balls of one working precision: of every shell log height and area up to its end."""

    ends: list[Ball]
    logs: list[Ball]
    heights: list[Ball]
    areas: list[Ball]
    rate: Ball
    mass: Ball


@dataclass(frozen=True)
class ExactShells:
    """Bound of ``c(r) + log J`` on all matrices of norm r and size ``k >= 2``, and draws under it.

    ``c(r) = (dim - 1) log r - U(r / sigma)`` is concave: it lies under its tangents.
    ``log J <= min(N g(r sqrt(2/(k-1))), |delta| r)``, both convex: under their chords. See
    docs/proofs/exact-draws; the two bounds: docs/proofs/affine-invariant-sampler.
    """

    kind: Kind
    k: int
    sigma: float

    def propose(self, ladder: Ladder, place: Uniform) -> tuple[Ball, Ball] | None:
        """Invert the area under the bound: a norm, and the logarithm of the bound there.

        None where the shell is not decided.
        """
        shells = self._shells()
        area, last = place.ball() * shells.mass, len(shells.areas)
        shell, end = 0, last
        while shell < end:
            middle = (shell + end) // 2
            beyond = ladder.less(shells.areas[middle], area)
            if beyond is None:
                return None
            shell, end = (middle + 1, end) if beyond else (shell, middle)
        if shell < last:
            back = (shells.areas[shell] - area) / shells.heights[shell]
            return shells.ends[shell] - back, shells.logs[shell]
        fall = ((shells.mass - area) * shells.rate / shells.heights[shell]).log()
        return shells.ends[-1] - fall / shells.rate, shells.logs[shell] + fall

    def log_flat(self, r: Ball) -> Ball:
        """Enclose ``c(r)`` less the level."""
        return self._flat().log(r) - ball_of(self.knots.level)

    def _flat(self) -> EnclosedProfile:
        """``c`` at the working precision."""
        return EnclosedProfile(self.kind, self._power, 0, ball_of(Fraction(self.sigma)))

    @functools.cached_property
    def acceptance(self) -> float:
        """Probability that a proposal is accepted, with J, from k and sigma alone."""
        law = AffineInvariantRadial(self.kind, self.k, self.sigma)
        with working_precision(128):
            bound = float(self._shells().mass.log() + ball_of(self.knots.level))
        return math.exp(min(0.0, law.log_normaliser() - log_sphere_area(law.dim) - bound))

    @property
    def far(self) -> float:
        """Norm that few draws exceed, from k and sigma alone: half-way through the shells."""
        return float(self.knots.ends[0] + self.knots.ends[-1]) / 2.0

    @functools.cached_property
    def knots(self) -> Knots:
        """The bound's public numbers, certified.

        Raises ``NotAttainableError`` if they could not be: scales of no use.
        """
        with np.errstate(all="ignore"):
            knots = self._search()
        with working_precision(_CERTIFY):
            rises = self._flat().slope(ball_of(knots.ends[0])) > 0
            falls = self._flat().slope(ball_of(knots.ends[-1])) + self._limit(knots.last_even) < 0
        if not (rises and falls):
            raise self._uncertified()
        return knots

    def _uncertified(self) -> NotAttainableError:
        return NotAttainableError(
            f"no exact draw of the {self.kind} law with sigma = {self.sigma:g} on "
            f"SPD({self.k}): its bound could not be certified; use a smaller sigma"
        )

    def _search(self) -> Knots:
        """Look for shells that waste little, in floating point."""
        power, sigma, law = self._power, self.sigma, potential(self.kind)
        profile = Profile(self.kind, power, 0, sigma, math.inf)
        pairs, turn, growth = self._pairs, math.sqrt(2.0 / (self.k - 1)), growth_rate(self.k)

        def members(r: FloatArray) -> tuple[FloatArray, FloatArray]:
            return growth * r, pairs * log_sinhc(turn * r)

        def outer(r: float) -> tuple[float, float]:
            """Log areas beyond r by both members, infinite where they do not fall."""
            slope = power / r - law.pull(r, sigma)
            rates = (-slope - growth, -slope - 0.5 * pairs * turn)
            values = members(np.array([r]))
            line, even = (
                float(value[0]) - math.log(rate) if rate > 0.0 else math.inf
                for value, rate in zip(values, rates, strict=True)
            )
            return line, even

        mode = profile.mode  # of c
        far = 2.0 * mode
        while far < _FARTHEST:
            scan = np.geomspace(1e-3 * mode, far, 4096)
            heights = profile.log(scan, scan) + np.minimum(*members(scan))
            if min(outer(far)) < math.inf and heights[-1] < heights.max() - _DEPTH:
                break
            far *= 1.25
        else:
            raise self._uncertified()
        bulk = np.flatnonzero(heights > heights.max() - _DEPTH)
        low = min(float(scan[bulk[0]]), 0.99 * mode)
        high = float(scan[min(bulk[-1] + 1, scan.size - 1)])
        while min(outer(high)) == math.inf:
            high *= 1.25
        ends = np.linspace(low, high, _SHELLS + 1)
        line, even = members(0.5 * (ends[:-1] + ends[1:]))
        last_line, last_even = outer(float(ends[-1]))
        return Knots(
            ends=tuple(map(Fraction, ends.tolist())),
            even=tuple(map(bool, even < line)),
            last_even=last_even < last_line,
            level=Fraction(float(heights.max())),
        )

    @property
    def _power(self) -> int:
        return self.k * (self.k + 1) // 2 - 1

    @property
    def _pairs(self) -> int:
        return self.k * (self.k - 1) // 2

    def _member(self, r: Ball, even: bool) -> Ball:
        """One of the two bounds of ``log J``."""
        from flint import arb

        if not even:
            return r * (arb(self.k * (self.k**2 - 1)) / 12).sqrt()
        half = r / (2 * arb(self.k - 1)).sqrt()  # half of r sqrt(2/(k-1))
        return self._pairs * (half.sinh() / half).log()

    def _limit(self, even: bool) -> Ball:
        """Slope that a member, being convex, does not exceed anywhere."""
        from flint import arb

        if not even:
            return self._member(arb(1), even)
        return self._pairs / (2 * arb(self.k - 1)).sqrt()

    @functools.cached_property
    def _known(self) -> dict[int, _Shells]:
        """Shells at the working precisions that there have been."""
        return {}

    def _shells(self) -> _Shells:
        return at_working_precision(self._known, self._cut)

    def _cut(self) -> _Shells:
        """Shells at the working precision."""
        knots = self.knots
        ends = [ball_of(end) for end in knots.ends]
        # Innermost, c and the bound of log J increase.
        logs = [self.log_flat(ends[0]) + self._member(ends[0], knots.even[0])]
        for low, high, even in zip(ends[:-1], ends[1:], knots.even, strict=True):
            middle, width = (low + high) / 2, high - low
            first, last = self._member(low, even), self._member(high, even)
            slope = self._flat().slope(middle) + (last - first) / width
            logs.append(self.log_flat(middle) + (first + last) / 2 + abs(slope) * width / 2)
        logs.append(self.log_flat(ends[-1]) + self._member(ends[-1], knots.last_even))
        rate = -(self._flat().slope(ends[-1]) + self._limit(knots.last_even))
        heights = [log.exp() for log in logs]
        areas, low, area = [], 0, 0
        for high, height in zip(ends, heights, strict=False):
            area, low = area + height * (high - low), high
            areas.append(area)
        return _Shells(
            ends=ends,
            logs=logs,
            heights=heights,
            areas=areas,
            rate=rate,
            mass=areas[-1] + heights[-1] / rate,
        )


@functools.lru_cache(maxsize=64)
def exact_shells(kind: Kind, k: int, sigma: float) -> ExactShells:
    """Return the bound of these public numbers, with what has been worked out of it."""
    return ExactShells(kind, k, sigma)
