"""Exact draws of the Riemannian Laplace and Gaussian laws on circles, S^d and H^d."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._checks import positive
from riemdp._errors import InvalidParameterError
from riemdp._potential import Kind, potential
from riemdp._radial_profile import no_normaliser
from riemdp.noise._radial import RadialLaw
from riemdp.noise.exact._balls import directions
from riemdp.noise.exact._draw import ExactDraw, round_ends
from riemdp.noise.exact._radius import ExactRadius, exact_radius
from riemdp.noise.exact._rounded import ball_of
from riemdp.noise.exact._variates import direction, direction_uniforms, norm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from riemdp.noise.exact._bits import Bits
    from riemdp.noise.exact._draw import Ends, Integers
    from riemdp.noise.exact._ladder import Ladder

    Ball = Any

#: Attempts that nearly all draws make do with.
_ATTEMPTS = 6


@dataclass(frozen=True)
class SpaceFormDraw(ExactDraw):
    r"""Draws with density proportional to ``exp(-U(dist(x, footpoint) / sigma))``.

    On the sphere or the hyperbolic space of a curvature, in Riemannian volume; in dimension one
    and positive curvature on the circle of length ``2 pi / sqrt(curvature)``. ``U(x) = x``
    (Laplace) or ``x^2 / 2`` (Gaussian). Footpoints and draws are normal coordinates about the
    centre, orthonormal and in units of distance; on spheres those no longer than ``pi / k``.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    dim : int
    curvature : float
        Sectional curvature, not 0, taken as the rational number it is.
    sigma : float
        Scale, in units of distance, taken as the rational number it is.
    radius : float, optional
        Radius of a public ball about the centre: longer draws are shortened to it before they
        are rounded.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    NotAttainableError
        For the Laplace law on negative curvature unless ``sigma < 1 / ((dim - 1) k)``: no
        normaliser exists.

    References
    ----------
    docs/proofs/exact-draws and docs/proofs/exact-samplers.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.noise.exact import SpaceFormDraw
    >>> draw = SpaceFormDraw("gaussian", 2, 1.0, 0.3)  # on the unit sphere
    >>> rounded = draw.draw([0.0, 0.25], grid=40, generator=np.random.default_rng(0))
    >>> len(rounded.integers), rounded.grid
    (2, 40)
    """

    proof: ClassVar[str | None] = "docs/proofs/exact-draws.md"

    kind: Kind
    dim: int
    curvature: float
    sigma: float
    radius: float | None = None

    def __post_init__(self) -> None:
        law = RadialLaw(self.kind, self.dim, self.curvature, self.sigma)  # checks all four
        for name in ("dim", "curvature", "sigma"):
            object.__setattr__(self, name, getattr(law, name))
        if self.curvature == 0.0:
            raise InvalidParameterError(
                "curvature must not be 0; FlatDraw is what draws on flat space"
            )
        if self.radius is not None:
            object.__setattr__(self, "radius", positive(self.radius, "radius"))
        growth = self._radial.power * Fraction(self.sigma)
        is_bounded = self.curvature > 0.0 or not potential(self.kind).is_linear
        # The check above is one of floats. Here it is exact.
        if not is_bounded and growth**2 * abs(Fraction(self.curvature)) >= 1:
            raise no_normaliser(self.dim, self.curvature, self.sigma)

    @property
    def coordinates(self) -> int:
        """The dimension."""
        return self.dim

    def check_drawable(self) -> None:
        """Raise ``NotAttainableError`` if no envelope can be certified."""
        _ = self._radial.touches

    @functools.cached_property
    def _radial(self) -> ExactRadius:
        return exact_radius(self.kind, self.dim - 1, self.curvature, self.sigma)

    def integers(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], grid: int
    ) -> list[int]:
        """Return the rounding of the draw that these bits stand for."""
        ends = self._ends(bits, ladder, footpoint, self.radius if self.dim > 1 else None)
        return self._clamp(round_ends(ladder, ends, grid), grid)

    @property
    def _width(self) -> int:
        """Those of some attempts and a direction."""
        return 0 if self.dim == 1 else 2 * _ATTEMPTS + direction_uniforms(self.dim)

    def _together(
        self, words: NDArray[np.uint64], footpoint: Sequence[Fraction], grid: int
    ) -> tuple[Integers, NDArray[np.bool_]]:
        """See :meth:`ExactDraw._together`: an accepted attempt, then a direction."""
        turns = direction_uniforms(self.dim)
        attempt, accepted, reach = self._radial.together(words[:, : 2 * _ATTEMPTS])
        rows = np.arange(len(words))
        turn = directions(words[rows, 2 * attempt + 2 + np.arange(turns)[:, None]], self.dim)
        ends = self._end(footpoint, reach, [turn[i] for i in range(self.dim)], self.radius)
        unit = Fraction(2) ** grid
        columns = [(x * ball_of(unit)).nearest() for x in ends]
        integers, certain = (np.stack(each, axis=1) for each in zip(*columns, strict=True))
        return integers, certain.all(axis=1) & accepted

    def ends(self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction]) -> Ends:
        """End of a ray from the footpoint; see :meth:`ExactDraw.ends`."""
        return self._ends(bits, ladder, footpoint, None)

    def _ends(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], most: float | None
    ) -> Ends:
        """Return the draw, shortened to a length if one is given."""
        radius = self._radial.draw(bits, ladder)
        turns = bits.uniforms(direction_uniforms(self.dim))

        def ends() -> list[Ball] | None:
            length = radius()
            if length is None:
                return None
            reach = self._radial.trigonometry.sine_cosine(length)
            return self._end(footpoint, reach, direction(turns, self.dim), most)

        return ends

    def _end(
        self,
        footpoint: Sequence[Fraction],
        reach: tuple[Ball, Ball],
        turn: Sequence[Ball],
        most: float | None,
    ) -> list[Ball]:
        """Coordinates of the end of a ray from the footpoint, shortened to a length.

        ``reach`` is ``s`` and ``c`` of the ray's length in units of ``1/k``. Its direction is given
        in the frame that is parallel along the geodesic from the centre. All are entire functions
        of the footpoint: none takes another path at 0.
        """
        trigonometry = self._radial.trigonometry
        k = ball_of(abs(Fraction(self.curvature))).sqrt()
        start = [k * ball_of(v) for v in footpoint]
        distance = norm(start)
        sinc, half = trigonometry.sinc(distance), trigonometry.sinc(distance / 2)
        _, cosine = trigonometry.sine_cosine(distance)
        reach_sine, reach_cosine = reach
        toward = reach_sine * sum(u * v for u, v in zip(turn, start, strict=True))
        sign = trigonometry.sign
        along = reach_cosine * sinc - sign * toward * (half * half) / 2
        across = [along * v + reach_sine * u for u, v in zip(turn, start, strict=True)]
        height = reach_cosine * cosine - sign * toward * sinc
        size = norm(across)
        drawn = trigonometry.distance(size, height) / k
        if most is not None:
            drawn = drawn.min(ball_of(Fraction(most)))
        factor = drawn / size
        return [factor * x for x in across]

    def _clamp(self, integers: list[int], grid: int) -> list[int]:
        """Shorten to the ball in dimension one, after rounding, which is the same.

        Before it the end of the ball, which has positive probability there, might lie exactly
        between two points of the grid and never be decided.
        """
        if self.radius is None or self.dim > 1:
            return integers
        most = math.floor(Fraction(self.radius) * Fraction(2) ** grid + Fraction(1, 2))
        return [max(-most, min(most, n)) for n in integers]
