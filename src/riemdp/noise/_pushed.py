"""Noise of quotients: that of the cover, pushed down at the same privacy."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._part import both_proved
from riemdp.noise._family import Family
from riemdp.noise._law import DistanceLaw, Law
from riemdp.noise._rules import family, rule
from riemdp.noise.exact._folded import FoldedDraw
from riemdp.spaces import DiscreteQuotient, Quotient

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp._potential import Kind
    from riemdp.noise.exact._draw import ExactDraw
    from riemdp.spaces import FloatArray


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
