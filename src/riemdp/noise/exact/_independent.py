"""Exact draws of independent parts, as products of spaces have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riemdp._part import is_proof
from riemdp._progress import ticks
from riemdp.noise.exact._draw import ExactDraw

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from riemdp.noise.exact._bits import Bits
    from riemdp.noise.exact._draw import Ends
    from riemdp.noise.exact._ladder import Ladder

    Ball = Any


@dataclass(frozen=True)
class IndependentDraw(ExactDraw):
    """Draws whose parts, one after the other among the coordinates, are independent.

    Parameters
    ----------
    parts : tuple of ExactDraw
        One for each factor of a product, in its coordinates.

    References
    ----------
    docs/proofs/exact-draws.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.noise.exact import FlatDraw, IndependentDraw
    >>> draw = IndependentDraw((FlatDraw("gaussian", 1, 0.5), FlatDraw("laplace", 2, 0.1)))
    >>> rounded = draw.draw([0.0, 0.0, 0.25], grid=40, generator=np.random.default_rng(0))
    >>> len(rounded.integers), rounded.grid
    (3, 40)
    """

    parts: tuple[ExactDraw, ...]

    @property
    def proof(self) -> str | None:  # type: ignore[override]
        """Where it is proved; None if a part is not."""
        proved = all(is_proof(part.proof) for part in dict.fromkeys(self.parts))
        return "docs/proofs/exact-draws.md" if proved else None

    @property
    def coordinates(self) -> int:
        """Those of all parts."""
        return sum(part.coordinates for part in self.parts)

    def check_drawable(self) -> None:
        """See :meth:`ExactDraw.check_drawable`."""
        for part in dict.fromkeys(self.parts):
            part.check_drawable()

    def integers(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], grid: int
    ) -> list[int]:
        """Return the rounding of the draw that these bits stand for."""
        found: list[int] = []
        for part in ticks(self.parts, len(self.parts), "draws"):
            own = footpoint[len(found) : len(found) + part.coordinates]
            found += part.integers(bits, ladder, own, grid)
        return found

    def ends(self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction]) -> Ends:
        """Return the ends of all parts; see :meth:`ExactDraw.ends`."""
        parts, used = [], 0
        for part in self.parts:
            own = footpoint[used : used + part.coordinates]
            parts.append(part.ends(bits, ladder, own))
            used += part.coordinates

        def ends() -> list[Ball] | None:
            found: list[Ball] = []
            for part in parts:
                if (own := part()) is None:
                    return None
                found += own
            return found

        return ends

    @property
    def gives_ends(self) -> bool:
        """Whether all parts do."""
        return all(part.gives_ends for part in self.parts)
