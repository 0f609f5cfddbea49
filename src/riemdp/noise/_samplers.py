"""How draws are made from a law: exactly, or by a chain that approximates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError
from riemdp.noise._metropolis import MetropolisLaw

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.noise._law import Law


@dataclass(frozen=True)
class Sampler:
    """A way to draw.

    Attributes
    ----------
    name : str
    wrap : callable
        From a law to one with the same density that is drawn from in this way. It raises
        ``NotAttainableError`` where draws would take too long, before anything is drawn.
    proof : str or None
        Where it is proved that draws follow the law.
    knows_law : bool
        Whether the law has to have a sampler of its own.
    """

    name: str
    wrap: Callable[[Law], Law]
    proof: str | None
    knows_law: bool = True

    def proofs(self) -> dict[str, str | None]:
        """Return what is not proved: the rest is in the note of the law."""
        return {} if self.proof else {f"sampler {self.name}": None}


def _exact(law: Law) -> Law:
    law.check_drawable()
    return law


def _metropolis(law: Law) -> Law:
    return MetropolisLaw(law.kind, law.manifold, law.sigma)


SAMPLERS = {
    sampler.name: sampler
    for sampler in (
        Sampler("exact", _exact, "docs/proofs/exact-samplers.md"),
        Sampler("metropolis", _metropolis, None, knows_law=False),
    )
}


def find_sampler(name: object) -> Sampler:
    """Return the sampler of a name.

    Parameters
    ----------
    name : {"exact", "metropolis"}

    Returns
    -------
    Sampler

    Raises
    ------
    InvalidParameterError
        If there is none.
    """
    if not is_one_of(name, tuple(SAMPLERS)):
        known = " or ".join(f'"{each}"' for each in SAMPLERS)
        raise InvalidParameterError(f"sampler must be {known}, got {shown(name)}")
    return SAMPLERS[str(name)]
