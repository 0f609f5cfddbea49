"""Exact draws of a cover, mapped to the classes that they stand for before they are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riemdp._errors import UnsupportedManifoldError
from riemdp._part import is_proof
from riemdp.noise.exact._draw import ExactDraw, round_ends

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from riemdp.noise.exact._bits import Bits
    from riemdp.noise.exact._draw import Ends
    from riemdp.noise.exact._ladder import Ladder
    from riemdp.spaces import Quotient

    Ball = Any


@dataclass(frozen=True)
class FoldedDraw(ExactDraw):
    """Draws on a quotient: classes of those on its cover.

    The ideal draw of the cover about the centre's representative is mapped to the normal
    coordinates of its class about the centre, and only then rounded: nothing of it leaves but a
    function of the class.

    Parameters
    ----------
    manifold : Quotient
    above : ExactDraw
        On the cover, in normal coordinates about the centre's representative.

    Raises
    ------
    UnsupportedManifoldError
        If the quotient does not say what coordinates of the cover stand for, or the cover's draws
        are not known before they are rounded.

    References
    ----------
    docs/proofs/exact-draws.md, "Quotients"

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.noise.exact import FoldedDraw, SpaceFormDraw
    >>> draw = FoldedDraw(riemdp.Rotations(), SpaceFormDraw("gaussian", 3, 0.25, 0.3))
    >>> rounded = draw.draw([0.0, 0.0, 0.25], grid=40, generator=np.random.default_rng(0))
    >>> len(rounded.integers), rounded.grid
    (3, 40)
    """

    manifold: Quotient
    above: ExactDraw

    def __post_init__(self) -> None:
        if not self.manifold.folds:
            raise UnsupportedManifoldError(
                f"no exact draws are known on {self.manifold}: its class does not say what "
                "coordinates of the cover stand for; give it raised(coordinates) and folded(ends)"
            )
        if not self.above.gives_ends:
            raise UnsupportedManifoldError(
                f"{type(self.above).__name__} does not give its draws before they are rounded, so "
                "quotients cannot use them; give it ends(bits, ladder, footpoint)"
            )

    @property
    def proof(self) -> str | None:  # type: ignore[override]
        """Where it is proved; None if the quotient or the cover's draw is not."""
        proved = is_proof(self.manifold.proof) and is_proof(self.above.proof)
        return "docs/proofs/exact-draws.md" if proved else None

    @property
    def coordinates(self) -> int:
        """The dimension of the quotient."""
        return self.manifold.dim

    def check_drawable(self) -> None:
        """See :meth:`ExactDraw.check_drawable`."""
        self.above.check_drawable()

    def integers(
        self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction], grid: int
    ) -> list[int]:
        """Return the rounding of the class of the draw that these bits stand for."""
        return round_ends(ladder, self.ends(bits, ladder, footpoint), grid)

    def ends(self, bits: Bits, ladder: Ladder, footpoint: Sequence[Fraction]) -> Ends:
        """Coordinates of the class of the cover's draw; see :meth:`ExactDraw.ends`."""
        above = self.above.ends(bits, ladder, self.manifold.raised(footpoint))

        def ends() -> Sequence[Ball] | None:
            drawn = above()
            return None if drawn is None else self.manifold.folded(drawn)

        return ends
