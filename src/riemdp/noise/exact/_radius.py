"""Exact draws of the distance on spheres and hyperbolic spaces: a three-piece envelope."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._potential import Kind
from riemdp._radial_profile import EnclosedProfile, Profile, Trigonometry
from riemdp._working_precision import working_precision
from riemdp.noise.exact._balls import Balls, where
from riemdp.noise.exact._ladder import Ladder, at_working_precision
from riemdp.noise.exact._rounded import ball_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.noise.exact._bits import Bits, Uniform

    Ball = Any

#: Bits at which the public numbers of an envelope are certified, at first and at most.
_CERTIFY, _MOST_BITS = 256, 8192
#: Steps of Newton's method from a float64 to these bits.
_NEWTON = 12
#: Height of the maximum over the points where an envelope touches: one if they were found exactly.
_LEAST_FALL, _MOST_FALL = 0.25, 3
#: Proposals that are looked at together at least.
_LEAST_TOGETHER = 24


@dataclass(frozen=True)
class Touches:
    """Public rational numbers that an envelope is made of, in units of ``1/k``.

    Where its tangents touch, None where there is no such piece; and an upper bound of ``h``,
    proved.
    """

    left: Fraction | None
    right: Fraction | None
    level: Fraction


@dataclass(frozen=True)
class _Pieces:
    """Balls of one working precision: ends and rates of the pieces, and areas over ``e^level``."""

    density: EnclosedProfile
    level: Ball
    left: Ball
    left_rate: Ball
    left_floor: Ball
    left_mass: Ball
    right: Ball
    right_rate: Ball
    right_floor: Ball
    inner_mass: Ball
    mass: Ball


@dataclass(frozen=True)
class ExactRadius:
    """Law with density proportional to ``exp(h)``, ``h(r) = power * log s(r) - U(r / sigma)``.

    Distances are in units of ``1/k``, ``k = sqrt|curvature|``, sigma is in units of distance, the
    power is the dimension minus one, and the curvature not 0. ``h`` is concave, so tangents at any
    points lie above it, and so does any level that is at least its maximum.
    """

    kind: Kind
    power: int
    curvature: Fraction
    sigma: Fraction

    def draw(self, bits: Bits, ladder: Ladder) -> Callable[[], Ball | None]:
        """Accept a proposal, and return what encloses it, in units of ``1/k``.

        Each attempt takes two new uniform variables: the place under the envelope, and the height
        to accept at. The enclosure, at the working precision, is None where the piece is not
        decided.
        """
        while True:
            place, height = bits.uniforms(2)
            if ladder.settle(functools.partial(self._accepts, ladder, place, height)):
                return functools.partial(self._radius, ladder, place)

    def _radius(self, ladder: Ladder, place: Uniform) -> Ball | None:
        proposal = self._proposal(ladder, place)
        return None if proposal is None else proposal[0]

    def _accepts(self, ladder: Ladder, place: Uniform, height: Uniform) -> bool | None:
        proposal = self._proposal(ladder, place)
        if proposal is None:
            return None
        radius, log_envelope = proposal
        pieces = self._pieces()
        above = pieces.density.log(radius) - pieces.level - log_envelope
        return ladder.less(height.ball().log(), above)

    def _proposal(self, ladder: Ladder, place: Uniform) -> tuple[Ball, Ball] | None:
        """Invert the area under the envelope; also the envelope's log height over the level."""
        from flint import arb

        pieces = self._pieces()
        area = place.ball() * pieces.mass
        in_left = ladder.less(area, pieces.left_mass)
        in_inner = ladder.less(area, pieces.inner_mass)
        if in_left:
            log_height = (pieces.left_floor + area * pieces.left_rate).log()
            return pieces.left + log_height / pieces.left_rate, log_height
        if in_left is None or in_inner is None:
            return None
        if in_inner:
            return pieces.left + (area - pieces.left_mass), arb(0)
        log_height = (pieces.right_floor + (pieces.mass - area) * pieces.right_rate).log()
        return pieces.right - log_height / pieces.right_rate, log_height

    def together(
        self, words: NDArray[np.uint64]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_], tuple[Balls, Balls]]:
        """Return which attempt each draw accepts, where that is certain, and ``s, c`` of radii.

        Parameters
        ----------
        words : ndarray of int, shape (draws, 2 attempts)
            The first 64 bits of the uniform variables that :meth:`draw` takes.
        """
        pieces, left = self._pieces(), np.arange(len(words))
        found, certain = np.zeros(len(words), dtype=np.intp), np.zeros(len(words), dtype=np.bool_)
        for attempt in range(words.shape[1] // 2):
            place, height = words[left, 2 * attempt], words[left, 2 * attempt + 1]
            radius, log_envelope = self._proposed(place)
            reach = self.trigonometry.sine_cosine(radius)
            above = pieces.density.log(radius, reach[0]) - pieces.level - log_envelope
            accepted, refused = Balls.uniform(height).log().less(above)
            if attempt == 0:
                ends = reach
            for end, own in zip(ends, reach, strict=True):
                end.put(left, own)
            found[left[accepted]], certain[left[accepted]] = attempt, True
            left = left[refused]
            if len(left) < _LEAST_TOGETHER:
                break
        return found, certain, ends

    def _proposed(self, place: NDArray[np.uint64]) -> tuple[Balls, Balls]:
        """Do what :meth:`_proposal` does for many; radii are infinite where it returns None."""
        pieces = self._pieces()
        area = Balls.uniform(place) * pieces.mass
        in_left, after_left = area.less(pieces.left_mass)
        before_right, in_right = area.less(pieces.inner_mass)
        left = pieces.left_floor + area * pieces.left_rate
        right = pieces.right_floor + (pieces.mass - area) * pieces.right_rate
        log_height = where(in_left, left, right).log()
        rate = where(in_left, Balls.of(pieces.left_rate), Balls.of(-pieces.right_rate))
        outer = where(in_left, Balls.of(pieces.left), Balls.of(pieces.right)) + log_height / rate
        in_inner = after_left & before_right
        inner = pieces.left + (area - pieces.left_mass)
        known = where(in_left | in_inner | in_right, Balls(0.0), Balls(0.0, 0.0, np.inf))
        return where(in_inner, inner, outer) + known, where(in_inner, Balls(0.0), log_height)

    def _pieces(self) -> _Pieces:
        return at_working_precision(self._known, self._cut)

    @functools.cached_property
    def _known(self) -> dict[int, _Pieces]:
        """Pieces at the working precisions that there have been."""
        return {}

    @functools.cached_property
    def trigonometry(self) -> Trigonometry:
        """That of the space."""
        return Trigonometry(1 if self.curvature > 0 else -1)

    def density(self) -> EnclosedProfile:
        """``h`` at the working precision."""
        sigma = ball_of(self.sigma) * ball_of(abs(self.curvature)).sqrt()
        return EnclosedProfile(self.kind, self.power, self.trigonometry.sign, sigma)

    @functools.cached_property
    def profile(self) -> Profile:
        """The same law in float64: where tangents are to touch, which can be anywhere."""
        sign = self.trigonometry.sign
        return Profile(
            kind=self.kind,
            power=self.power,
            sign=sign if self.power else 0,
            sigma=float(self.sigma) * math.sqrt(abs(self.curvature)),
            upper=math.pi if sign > 0 else math.inf,
        )

    @functools.cached_property
    def touches(self) -> Touches:
        """The envelope's public numbers, certified.

        Raises ``NotAttainableError`` if none can be with 8192 bits: scales of no use.
        """
        try:
            with np.errstate(all="ignore"):
                left, right = self._search()
        except (ArithmeticError, ValueError):  # beyond the range of float64
            raise self._uncertified() from None
        if left is None and (right is None or right > 0):
            return Touches(None, right, Fraction(0))  # h falls from h(0) = 0
        bits = _CERTIFY
        while left is not None and right is not None and left > 0 and bits <= _MOST_BITS:
            with working_precision(bits):
                level = self._level(left, right)
            if level is not None:
                return Touches(left, right, level)
            bits *= 2
        raise self._uncertified()

    def _search(self) -> tuple[Fraction | None, Fraction | None]:
        """Look for points where ``h`` has fallen by one, in floating point."""
        profile = self.profile
        if self.power == 0:
            down, up = None, profile.fall(1.0, side=1)
        else:
            down, up = profile.falls(1.0)
        above = profile.mode + float(up)
        right = None if above >= profile.upper else Fraction(above)
        return None if down is None else Fraction(profile.mode - float(down)), right

    def _uncertified(self) -> NotAttainableError:
        return NotAttainableError(
            f"no exact draw of the {self.kind} law with sigma = {float(self.sigma):g} in dimension "
            f"{self.power + 1} at curvature {float(self.curvature):g}: its envelope could not be "
            "certified; use a scale nearer to the other lengths"
        )

    def _level(self, left: Fraction, right: Fraction) -> Fraction | None:
        """Upper bound of ``h``, None where the working precision proves too little.

        With slopes of opposite signs at both ends the maximum lies between, and ``h`` is nowhere
        above its tangent at any ``r`` between: the maximum is at most
        ``h(r) + |h'(r)| (right - left)``. How well ``r`` was found matters little. Waste is no
        breach, but touching points nearly at the maximum or far below it would make an envelope
        that no proposal passes.
        """
        from flint import arb

        density, low, high = self.density(), ball_of(left), ball_of(right)
        r = arb(self.profile.mode)
        for _ in range(_NEWTON):
            r = (r - density.slope(r) / density.bend(r)).mid()
        down, up = density.slope(high), density.slope(low)
        if not (low < r < high < self.trigonometry.end() and down < 0 < up):
            return None
        peak, ends = density.log(r), [density.log(x) for x in (low, high)]
        level = (peak + abs(density.slope(r)) * (high - low)).upper()
        if not all(peak - end > _LEAST_FALL and level - end < _MOST_FALL for end in ends):
            return None
        if not low + (level - ends[0]) / up < high + (level - ends[1]) / down:
            return None
        mantissa, exponent = level.man_exp()
        return int(mantissa) * Fraction(2) ** int(exponent)

    def _cut(self) -> _Pieces:
        """Pieces at the working precision."""
        from flint import arb

        touches, density = self.touches, self.density()
        level, end = ball_of(touches.level), self.trigonometry.end()
        left = left_rate = left_floor = left_mass = arb(0)
        if touches.left is not None:
            touch = ball_of(touches.left)
            left_rate = density.slope(touch)
            left = touch + (level - density.log(touch)) / left_rate
            left_floor = (-left_rate * left).exp()
            left_mass = -((-left_rate * left).expm1()) / left_rate
        right, right_rate, right_floor, right_mass = end, arb(1), arb(0), arb(0)
        if touches.right is not None:
            touch = ball_of(touches.right)
            right_rate = -density.slope(touch)
            right = touch - (level - density.log(touch)) / right_rate
            if self.trigonometry.sign > 0:
                right_floor = (-right_rate * (end - right)).exp()
            right_mass = (1 - right_floor) / right_rate
        inner_mass = left_mass + (right - left)
        return _Pieces(
            density=density,
            level=level,
            left=left,
            left_rate=left_rate,
            left_floor=left_floor,
            left_mass=left_mass,
            right=right,
            right_rate=right_rate,
            right_floor=right_floor,
            inner_mass=inner_mass,
            mass=inner_mass + right_mass,
        )


@functools.lru_cache(maxsize=256)
def exact_radius(kind: Kind, power: int, curvature: float, sigma: float) -> ExactRadius:
    """Return the law of these public numbers, with what has been worked out of it."""
    return ExactRadius(kind, power, Fraction(curvature), Fraction(sigma))
