"""On what a release rests, and which part of it nobody vouches for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp.manifolds import Ball

if TYPE_CHECKING:
    from riemdp._part import Part

#: Where the sensitivities of the summaries are proved.
_SUMMARIES = "docs/proofs/frechet-mean-sensitivity.md"


def proofs(ball: Ball, summary: str, *parts: Part) -> dict[str, str | None]:
    """Return where the claims of a release are proved, by what makes them; None where nowhere."""
    found: dict[str, str | None] = {summary: _SUMMARIES}
    for part in (ball.manifold, *parts):
        found.update(part.proofs())
    if type(ball) is not Ball:
        found[type(ball).__name__] = None  # it may clip to anything
    return found


def unproven(found: dict[str, str | None]) -> str:
    """Return the names without a proof, empty if there is none."""
    return ", ".join(name for name, proof in found.items() if proof is None)
