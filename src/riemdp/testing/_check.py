"""Run every check of a part's sort."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import Ball, Euclidean, InvalidParameterError, Part
from riemdp._part import is_registered
from riemdp._part_document import decode, encode
from riemdp.testing import _definition, _manifold, _mechanism, _statistic
from riemdp.testing._tools import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CHECKS: dict[str, tuple[Callable[..., None], ...]] = {
    "manifold": _manifold.CHECKS,
    "mechanism": _mechanism.CHECKS,
    "definition": _definition.CHECKS,
    "statistic": _statistic.CHECKS,
    "neighbours": _statistic.RELATION_CHECKS,
}
#: Sorts that are checked on a ball of records.
_ON_A_BALL = ("statistic", "neighbours")


def check_part(part: Part, *, ball: Ball | None = None) -> None:
    """Hold a part against what must be true of any part of its sort.

    Checks by examples, with fixed seeds: they find mistakes, and prove nothing. A part that fails
    one breaks a promise that releases rest on.

    Parameters
    ----------
    part : Part
        A manifold, a mechanism at a scale, a definition, ...; with parameters that are typical of
        its use.
    ball : Ball, optional
        Public ball of the records that a statistic is checked on; by default the unit disc of the
        plane. Without effect on parts of other sorts.

    Raises
    ------
    AssertionError
        If a check fails; the message says what should hold.
    InvalidParameterError
        If it is no part of a known sort.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.testing import check_part
    >>> check_part(riemdp.GDP(1.0))  # raises if something does not hold
    """
    for _, check in part_checks(part, ball=ball):
        check()


def part_checks(
    part: Part, *, ball: Ball | None = None
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Return the checks of a part one by one, for a test framework to run.

    Parameters
    ----------
    part : Part
    ball : Ball, optional
        As in :func:`check_part`.

    Returns
    -------
    iterator of (str, callable)
        Name and check, which raises ``AssertionError`` if it fails.

    Raises
    ------
    InvalidParameterError
        If it is no part of a known sort.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.testing import part_checks
    >>> names = [name for name, check in part_checks(riemdp.GDP(1.0))]
    >>> len(names) > 1
    True
    """
    given: object = part
    checks = _CHECKS.get(given.sort) if isinstance(given, Part) else None
    if checks is None:
        raise InvalidParameterError(
            f"{type(part).__name__} is no part that can be checked; those are of the sorts "
            f"{', '.join(_CHECKS)}"
        )
    arguments: tuple[Any, ...] = (part,)
    if part.sort in _ON_A_BALL:
        arguments = (part, Ball(Euclidean(2), np.zeros(2), 1.0) if ball is None else ball)
    yield "document", functools.partial(_document, part)
    for check in checks:
        yield check.__name__, functools.partial(check, *arguments)


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
