"""What of a guarantee nobody has proved, in words."""

from __future__ import annotations

from riemdp._checks import shown
from riemdp._errors import UnprovenMechanismError
from riemdp._part import is_proof

#: Names that a message lists, and how long one is printed.
_MOST_NAMES, _LONGEST_NAME = 9, 80


def unproven(proofs: dict[str, str | None]) -> str:
    """Return the names without a proof, the first few of them; empty if there is none."""
    missing = [_named(name) for name, proof in proofs.items() if not is_proof(proof)]
    return ", ".join(missing[:_MOST_NAMES])


def doubt(known: dict[str, str | None], stated: dict[str, str | None]) -> str:
    """Say why a guarantee does not count as proved; empty where it does.

    From its proofs as of this version, and as a document states them: these have to be the same.
    """
    if missing := unproven(known) or unproven(stated):
        return f"no proof is known of {missing}"
    other = [_named(name) for name, proof in known.items() if stated.get(name) != proof]
    if names := ", ".join(other[:_MOST_NAMES]):
        return f"none, or another one than is known here, is stated for {names}"
    names = ", ".join([_named(name) for name in stated if name not in known][:_MOST_NAMES])
    return f"a proof is stated for {names}, on which the guarantee does not rest" if names else ""


def _named(name: str) -> str:
    """Name as it may be printed: a document may have any."""
    return name if name.isprintable() and len(name) <= _LONGEST_NAME else shown(name)


def not_proved(missing: str) -> UnprovenMechanismError:
    """Error for parts that nobody vouches for."""
    return UnprovenMechanismError(
        f"the guarantee is not proved: no proof is known of {missing}. Pass "
        "allow_unproven=True to rely on it all the same, and the release will say so"
    )
