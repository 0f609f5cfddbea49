"""Run every check of a part's sort."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from riemdp import InvalidParameterError, Part
from riemdp._part import decode, encode, is_registered
from riemdp.testing import _definition, _manifold, _mechanism
from riemdp.testing._tools import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CHECKS: dict[str, tuple[Callable[..., None], ...]] = {
    "manifold": _manifold.CHECKS,
    "mechanism": _mechanism.CHECKS,
    "definition": _definition.CHECKS,
}


def check_part(part: Part) -> None:
    """Hold a part against what must be true of any part of its sort.

    Checks by examples, with fixed seeds: they find mistakes, and prove nothing. A part that fails
    one breaks a promise that releases rest on.

    Parameters
    ----------
    part : Part
        A manifold, a mechanism at a scale, a definition, ...; with parameters that are typical of
        its use.

    Raises
    ------
    AssertionError
        If a check fails; the message says what should hold.
    InvalidParameterError
        If it is no part of a known sort.
    """
    for _, check in part_checks(part):
        check()


def part_checks(part: Part) -> Iterator[tuple[str, Callable[[], None]]]:
    """Return the checks of a part one by one, for a test framework to run.

    Parameters
    ----------
    part : Part

    Returns
    -------
    iterator of (str, callable)
        Name and check, which raises ``AssertionError`` if it fails.

    Raises
    ------
    InvalidParameterError
        If it is no part of a known sort.
    """
    checks = _checks_of(part)
    if checks is None:
        raise InvalidParameterError(
            f"{type(part).__name__} is no part that can be checked; those are of the sorts "
            f"{', '.join(_CHECKS)}"
        )
    return ((check.__name__, functools.partial(check, part)) for check in (_document, *checks))


def _checks_of(part: object) -> tuple[Callable[..., None], ...] | None:
    return _CHECKS.get(part.sort) if isinstance(part, Part) else None


def _document(part: Any) -> None:
    """Check that documents can name the part, and give it back."""
    require(
        is_registered(part),
        f"{type(part).__name__} is registered, by @register or an entry point, under its name "
        f"{part.name!r}",
    )
    require(part == part, "a part equals itself")  # noqa: PLR0124 -- dataclasses over arrays do not
    require(hash(part) == hash(part), "a part can be hashed")
    require(set(part.proofs()), "proofs names the part at least")
    if part.sort != "mechanism":  # written as name and scale, in a release
        found = decode(encode(part), part.sort)
        require(found == part, "documents give back the part")
