"""Noise of quotients: that of the cover, pushed down at the same privacy."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._part import both_proved
from riemdp.manifolds import Ball, DiscreteQuotient, Quotient
from riemdp.noise._family import Family
from riemdp.noise._law import DistanceLaw, Law
from riemdp.noise._rules import family, rule
from riemdp.noise.exact._folded import FoldedDraw

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp._potential import Kind
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.noise._generator import Size, Source
    from riemdp.noise.exact._draw import ExactDraw

#: Radius of a ball of a flat cover that no draw leaves.
_FAR = 1e150


@dataclass(frozen=True)
class LawAbove(Law):
    """Law of what draws of another space stand for, where distances are no shorter."""

    kind: Kind
    manifold: Any
    sigma: float

    exact_radial: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", self.above.sigma)

    @property
    @abstractmethod
    def above(self) -> Law:
        """Law on the other space."""

    @property
    def radial(self) -> DistanceLaw:
        """Law of distances in the other space."""
        return self.above.radial

    def check_drawable(self) -> None:
        """See :meth:`Law.check_drawable`."""
        self.above.check_drawable()


@dataclass(frozen=True)
class PushedLaw(LawAbove):
    """Law of the point that a draw of the cover stands for, about any representative.

    It does not depend on the representative: isometries that take one to another take the noise
    about one to that about the other.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Quotient
    sigma : float
    """

    manifold: Quotient

    @functools.cached_property
    def above(self) -> Law:
        """Law on the cover."""
        return family(self.kind, self.manifold.cover).law(self.sigma)

    def exact_draw(self, reach: float | None = None) -> ExactDraw:
        """Of the class of an exact draw in the cover; see :meth:`Law.exact_draw`.

        Raises ``UnsupportedManifoldError`` unless the quotient has :meth:`Quotient.raised` and
        :meth:`Quotient.folded`.
        """
        return FoldedDraw(self.manifold, self.above.exact_draw(reach))

    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw in the cover; see :meth:`Law.sample`."""
        lifted = self.manifold.lift(self.manifold.validate(footpoint))
        return self.manifold.push(self.above.sample(lifted, size=size, generator=generator))

    def sample_from_coordinates(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw in coordinates of the cover, and project; see :meth:`Law.sample_from_coordinates`.

        Footpoints stay coordinates: as points they would be rounded by what no sensitivity counts.
        Where the cover is compact or flat the projection comes last. Elsewhere, on a quotient that
        is locally its cover, a draw is projected onto the cover's ball first, which is no less
        private: the ball is isometric to that one, so footpoints are as far apart there, and what
        happens to a draw of the cover is free; a ball too large to be one of the cover is an
        ``UnsupportedBallError`` there. On other quotients footpoints are points there.
        """
        above = self._above(ball)
        if above is None:
            return super().sample_from_coordinates(coordinates, ball, size, generator)
        feet = self.manifold.lift_coordinates(ball.center, coordinates)
        draws = self.above.sample_from_coordinates(feet, above, size, generator)
        return ball.project(self.manifold.push(draws))

    def sample_about(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw about coordinates in the cover; see :meth:`Law.sample_about`."""
        above = self._above(ball)
        if above is None:
            return super().sample_about(coordinates, ball, size, generator)
        feet = self.manifold.lift_coordinates(ball.center, coordinates)
        return self.manifold.push(self.above.sample_about(feet, above, size, generator))

    def _above(self, ball: Ball) -> Ball | None:
        """All of a compact or a flat cover about the lift of the centre, None of another one."""
        cover, start = self.manifold.cover, self.manifold.lift(ball.center)
        if cover.diameter < math.inf:
            return Ball(cover, start, math.inf)
        return Ball(cover, start, _FAR) if cover.chart is not None else None


@dataclass(frozen=True)
class LiftedLaw(PushedLaw):
    """The same where normal coordinates are those of the cover.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : DiscreteQuotient
    sigma : float
    """

    manifold: DiscreteQuotient

    def _above(self, ball: Ball) -> Ball:
        """Ball of the cover about the lift of the centre: as far as the ball is isometric to it."""
        return super()._above(ball) or self.manifold.lifted(ball)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Sum over the representatives of the point; see :meth:`Law.log_density`."""
        manifold = self.manifold
        feet = manifold.lift(manifold.validate(footpoint))
        found = manifold.orbit(manifold.lift(manifold.validate(point)))
        logs = [self.above.log_density(each, feet) for each in found]
        return np.asarray(np.logaddexp.reduce(logs))


def _of_cover(name: str) -> Any:
    """Take an attribute, or a method, from the noise of the cover."""
    return property(lambda self: getattr(self.above, name), doc=getattr(Family, name).__doc__)


@rule(("laplace", "gaussian"), Quotient)
class PushedFamily(Family):
    """Noise of a quotient."""

    proof = "docs/proofs/quotients.md"

    manifold: Quotient

    @functools.cached_property
    def above(self) -> Family:
        """Noise of the cover."""
        return family(self.kind, self.manifold.cover)

    def law(self, sigma: float) -> Law:
        """See :meth:`Family.law`."""
        return PushedLaw(self.kind, self.manifold, sigma)

    # Nearest representatives are as far apart as the points, and the map to the quotient makes no
    # path longer. Growth decides whether the law of the cover, and so this one, has a normaliser.
    curve = _of_cover("curve")
    total_shift = _of_cover("total_shift")
    length = _of_cover("length")
    mu_scale = _of_cover("mu_scale")
    slope = _of_cover("slope")
    form = _of_cover("form")
    growth = _of_cover("growth")
    constant_normaliser = _of_cover("constant_normaliser")
    invariance = _of_cover("invariance")
    is_flat = _of_cover("is_flat")
    score_dim = _of_cover("score_dim")
    reach = _of_cover("reach")

    def proofs(self) -> dict[str, str | None]:
        """Where this is proved of quotients, and what is not of the cover."""
        found = both_proved(super().proofs(), self.above.proofs())
        if not self.above.invariance:
            found[f"isometries under the noise of {self.manifold.cover.name}"] = None
        return found


@rule(("laplace", "gaussian"), DiscreteQuotient)
class LiftedFamily(PushedFamily):
    """Noise of a quotient that is locally its cover."""

    proof = "docs/proofs/quotients.md"

    manifold: DiscreteQuotient

    def law(self, sigma: float) -> Law:
        """See :meth:`Family.law`."""
        return LiftedLaw(self.kind, self.manifold, sigma)
