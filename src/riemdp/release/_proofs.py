"""On what a release rests, and which part of it nobody vouches for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp._part import registered
from riemdp.manifolds import Ball
from riemdp.summaries import is_average

if TYPE_CHECKING:
    from riemdp._part import Part
    from riemdp.manifolds import Manifold

#: Where the sensitivities of the summaries are proved.
_SUMMARIES = "docs/proofs/frechet-mean-sensitivity.md"


def proofs(ball: Ball, summary: str, *parts: Part) -> dict[str, str | None]:
    """Return where the claims of a release are proved, by what makes them; None where nowhere.

    Two parts of one name are proved if both are.
    """
    manifold = ball.manifold
    claims = [pair for part in (manifold, *parts) for pair in part.proofs().items()]
    # The solver of a space is found by its class: that of a subclass may be another's.
    solved = _is_ours(manifold) or is_average(ball, summary)
    claims.append((summary, _SUMMARIES if solved else None))
    if type(ball) is not Ball:
        claims.append((type(ball).__name__, None))  # it may clip to anything
    found: dict[str, str | None] = {}
    for name, proof in claims:
        found[name] = None if proof is None else found.get(name, proof)
    return found


def _is_ours(manifold: Manifold) -> bool:
    """Whether the class of a manifold, and of those inside, is one of this library."""
    ours = type(manifold) is registered(manifold.sort).get(manifold.name)
    return ours and all(_is_ours(part) for part in manifold.inside)


def unproven(found: dict[str, str | None]) -> str:
    """Return the names without a proof, empty if there is none."""
    return ", ".join(name for name, proof in found.items() if proof is None)
