"""Exact draws of the Riemannian Laplace and Gaussian laws on affine-invariant SPD matrices."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from riemdp._checks import positive
from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp._potential import Kind, potential
from riemdp.noise._affine_invariant_radial import AffineInvariantRadial
from riemdp.noise.exact._draw import ExactDraw, nearest_all
from riemdp.noise.exact._ladder import PRECISION, Ladder
from riemdp.noise.exact._rounded import ball_of
from riemdp.noise.exact._shells import ExactShells, exact_shells
from riemdp.noise.exact._variates import direction, direction_uniforms, norm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.noise.exact._bits import Bits, Uniform

    Ball = Any
    Matrix = Any

#: A draw that would take longer than this, in seconds, is refused.
_PATIENCE = 60.0
#: Bits that are left when all that is foreseen is lost.
_SPARE = 24


@dataclass(frozen=True)
class AffineInvariantDraw(ExactDraw):
    r"""Draws on SPD(k) with density proportional to ``exp(-U(dist(x, footpoint) / sigma))``.

    Distance and volume belong to the metric ``tr(P^-1 U P^-1 V)``; ``U(x) = x`` (Laplace) or
    ``x^2 / 2`` (Gaussian). Footpoints and draws are normal coordinates about the centre, as
    ``SPDAffineInvariant`` has them: the diagonal of the logarithm, then ``sqrt(2)`` times its
    upper triangle, row by row.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    k : int
        Matrix size, at least 2; SPD(1) is a line, for :class:`FlatDraw`.
    sigma : float
        Scale, in units of distance, taken as the rational number it is.
    radius : float, optional
        Radius of a public ball about the centre: longer draws are shortened to it before they
        are rounded.
    reach : float, optional
        Length that no footpoint exceeds, public: a draw begins with the bits that the farthest one
        needs, so that its time does not tell where the footpoint is.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    NotAttainableError
        For the Laplace law unless ``sigma < sqrt(12 / (k (k^2 - 1)))``: no normaliser exists. For
        the Gaussian law with ``sigma`` above 1000.

    References
    ----------
    docs/proofs/exact-draws and docs/proofs/affine-invariant-sampler.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.noise.exact import AffineInvariantDraw
    >>> draw = AffineInvariantDraw("gaussian", 2, 0.3)
    >>> rounded = draw.draw([0.0, 0.0, 0.25], grid=40, generator=np.random.default_rng(0))
    >>> len(rounded.integers), rounded.grid
    (3, 40)
    """

    proof: ClassVar[str | None] = "docs/proofs/exact-draws.md"

    kind: Kind
    k: int
    sigma: float
    radius: float | None = None
    reach: float | None = None

    def __post_init__(self) -> None:
        law = AffineInvariantRadial(self.kind, self.k, self.sigma)  # checks all three
        for name in ("k", "sigma"):
            object.__setattr__(self, name, getattr(law, name))
        if self.k < 2:
            raise InvalidParameterError(
                "k must be at least 2, got 1; SPD(1) is a line: FlatDraw(kind, 1, sigma)"
            )
        for name in ("radius", "reach"):
            if (length := getattr(self, name)) is not None:
                object.__setattr__(self, name, positive(length, name))
        growth = Fraction(self.sigma) ** 2 * self.k * (self.k**2 - 1)
        # The check above is one of floats. Here it is exact.
        if potential(self.kind).is_linear and growth >= 12:
            raise NotAttainableError(
                f"the Laplace law with sigma = {self.sigma!r} has no normaliser on "
                f"SPD({self.k}); use a smaller sigma"
            )

    @property
    def coordinates(self) -> int:
        """``k (k + 1) / 2``."""
        return self.k * (self.k + 1) // 2

    def acceptance(self) -> float:
        """Probability that a proposal is accepted, from k and sigma alone."""
        return self._shells.acceptance

    def check_drawable(self) -> None:
        """Raise ``NotAttainableError`` if a draw would take more than about a minute."""
        # with most time spent on eigenvalues
        seconds = (2e-4 + 3e-6 * self.k**3) / max(self.acceptance(), 1e-300)
        # and shells and coordinates at the precision that far draws take
        seconds += (0.7 + 3e-3 * self.k**3) * (self._bits(0) / 8192) ** 1.6
        if seconds > _PATIENCE:
            raise NotAttainableError(
                f"an exact draw of the {self.kind} law with sigma = {self.sigma:g} on "
                f"SPD({self.k}) would take about {seconds:.2g} seconds; use a smaller sigma (more "
                "data, a smaller ball, a larger budget) or a tangent mechanism"
            )

    @property
    def _shells(self) -> ExactShells:
        return exact_shells(self.kind, self.k, self.sigma)

    def _bits(self, grid: int) -> int:
        """Bits that suffice, but for rare draws, from every footpoint of the ball.

        Eigenvalues of a point at distance r from the centre differ by a factor of up to
        ``exp(sqrt(2) r)``; the smallest is known that much less well than the largest.
        """
        reach = self._shells.far + max(self.radius or 0.0, self.reach or 0.0)
        return math.ceil(reach * math.sqrt(2.0) / math.log(2.0) + math.log2(1.0 + reach)) + grid

    def integers(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], grid: int
    ) -> list[int]:
        """Return the rounding of the draw that these bits stand for."""
        while True:
            place, height = bits.uniforms(2)
            turns = bits.uniforms(direction_uniforms(self.coordinates))
            if ladder.settle(functools.partial(self._accepts, ladder, place, height, turns)):
                break

        def question() -> list[int] | None:
            proposal = self._shells.propose(ladder, place)
            if proposal is None:
                return None
            noise = [proposal[0] * u for u in direction(turns, self.coordinates)]
            ends = self._end(footpoint, noise, grid)
            return None if ends is None else nearest_all(ladder, ends)

        # Begun with too few bits, a far footpoint would show in the number of rounds.
        return ladder.settle(question, max(0, self._bits(grid) + _SPARE - PRECISION))

    def _accepts(
        self, ladder: Ladder, place: Uniform, height: Uniform, turns: Sequence[Uniform]
    ) -> bool | None:
        """Accept with probability ``exp(c + log J - bound)``."""
        from flint import arb

        proposal = self._shells.propose(ladder, place)
        if proposal is None:
            return None
        r, log_bound = proposal
        mark = height.ball().log() - self._shells.log_flat(r) + log_bound
        # J is at least 1: most proposals need no more.
        if ladder.less(mark, arb(0)):
            return True
        log_volume = self._log_volume([r * u for u in direction(turns, self.coordinates)])
        return None if log_volume is None else ladder.less(mark, log_volume)

    def _log_volume(self, noise: Sequence[Ball]) -> Ball | None:
        """Enclose ``log J`` of a symmetric matrix, None where eigenvalues are not isolated."""
        from flint import acb_mat, arb

        try:
            values = [x.real for x in acb_mat(self._symmetric(noise)).eig()]
        except ValueError:
            return None
        volume = arb(1)
        for i, x in enumerate(values):
            for y in values[:i]:
                half = (x - y) / 2
                volume *= half.sinh() / half
        return volume.log()

    def _end(
        self, footpoint: Sequence[Fraction], noise: Sequence[Ball], grid: int
    ) -> list[Ball] | None:
        """Coordinates of ``E exp(S) E``, ``E^2`` the footpoint, in steps of the grid."""
        from flint import acb_mat, arb

        root = self._symmetric([ball_of(v / 2) for v in footpoint]).exp()
        point = root * self._symmetric(noise).exp() * root
        try:
            values, vectors = acb_mat(point).eig(right=True)
            inverse = vectors.inv()
        except (ValueError, ZeroDivisionError):
            return None
        k, scale = self.k, arb(2).sqrt()
        logs = [value.real.log() for value in values]
        scaled = acb_mat([[vectors[i, j] * logs[j] for j in range(k)] for i in range(k)])
        logarithm = scaled * inverse
        found = [logarithm[i, i].real for i in range(k)]
        found += [scale * logarithm[i, j].real for i in range(k) for j in range(i + 1, k)]
        factor = ball_of(Fraction(2) ** grid)
        if self.radius is not None:
            length = norm(found)
            factor *= length.min(ball_of(Fraction(self.radius))) / length
        return [factor * x for x in found]

    def _symmetric(self, coordinates: Sequence[Ball]) -> Matrix:
        """Symmetric matrix with these coordinates."""
        from flint import arb, arb_mat

        k = self.k
        rows = [[arb(0)] * k for _ in range(k)]
        rest, root = iter(coordinates[k:]), arb(2).sqrt()
        for i in range(k):
            rows[i][i] = coordinates[i]
            for j in range(i + 1, k):
                rows[i][j] = rows[j][i] = next(rest) / root
        return arb_mat(rows)
