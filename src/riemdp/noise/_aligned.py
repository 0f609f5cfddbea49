"""Noise about aligned representatives: that of the slice, reduced to what it stands for."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riemdp._part import both_proved
from riemdp.noise._family import Family
from riemdp.noise._pushed import LawAbove, PushedFamily
from riemdp.noise._rules import family, rule
from riemdp.spaces import Aligned

if TYPE_CHECKING:
    from riemdp.noise._law import Law
    from riemdp.noise.exact._draw import ExactDraw


@dataclass(frozen=True)
class AlignedLaw(LawAbove):
    """Law of the point that a draw of the slice stands for, about the aligned representative.

    Normal coordinates are those of the slice, and so are draws in coordinates.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Aligned
    sigma : float
    """

    manifold: Aligned

    @functools.cached_property
    def above(self) -> Law:
        """Law on the slice."""
        return family(self.kind, self.manifold.slice.space).law(self.sigma)

    def exact_draw(self, reach: float | None = None) -> ExactDraw:
        """Return that of the slice, in the same coordinates; see :meth:`Law.exact_draw`."""
        return self.above.exact_draw(reach)


@rule(("laplace", "gaussian"), Aligned)
class AlignedFamily(PushedFamily):
    """Noise about aligned representatives, at the privacy of the slice's."""

    proof = "docs/proofs/aligned-means.md"

    manifold: Aligned  # type: ignore[assignment]

    @functools.cached_property
    def above(self) -> Family:
        """Noise of the slice."""
        return family(self.kind, self.manifold.slice.space)

    def law(self, sigma: float) -> Law:
        """See :meth:`Family.law`."""
        return AlignedLaw(self.kind, self.manifold, sigma)

    @property
    def invariance(self) -> str | None:
        """Nowhere: nothing rests on it, since each point has its representative by a rule."""
        return None

    def proofs(self) -> dict[str, str | None]:
        """Where this is proved of slices, and what is not of the noise on them."""
        return both_proved(Family.proofs(self), self.above.proofs())
