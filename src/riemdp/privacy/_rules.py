"""Tables of what follows from what. Definitions and curves fill them; this module knows none.

The file of a definition holds the conversions between it and those that it is built on, in both
directions, and the rule by which its guarantees compose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from riemdp._errors import NoConversionError
from riemdp._lazy import lazy_entries
from riemdp.privacy._adjacency import AboutNeighbours, carried, one_adjacency

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from riemdp.privacy._budget import Budget

    Conversion = Callable[[Any, "Options"], Any]
    Rule = Callable[[Sequence[Any]], Any]

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Options:
    """What a conversion has to be told about its target, see :func:`riemdp.privacy.convert`."""

    delta: float | None = None
    epsilon: float | None = None
    order: float | None = None
    distance: str | None = None


#: By class of what is given (None for any definition) and of what is asked for.
_conversions: dict[tuple[type | None, type], Conversion] = {}
#: By class of what is composed.
_compositions: dict[type, Rule] = {}
#: Classes whose rule says as much as the composition of the parts' privacy curves.
_lossless: set[type] = set()
#: The rules of a definition are in its own file; those of curves are not, which it needs.
_, _before_asking = lazy_entries("riemdp.privacy", {"_compose": "PrivacyCurve"})


def conversion(given: type | None, to: type) -> Callable[[F], F]:
    """Make ``function(guarantee, options)`` the conversion of one class to another, a decorator.

    ``given`` is None for any definition that has no conversion of its own.
    """

    def fill(function: F) -> F:
        _conversions[given, to] = function  # type: ignore[assignment]
        return function

    return fill


def composition(kind: type, *, lossless: bool = False) -> Callable[[F], F]:
    """Make ``function(parts)`` the rule of composition of a class, a decorator.

    A lossless rule may compose the parts before they meet other definitions: their privacy curves,
    one by one, say no more.
    """

    def fill(function: F) -> F:
        _compositions[kind] = function  # type: ignore[assignment]
        if lossless:
            _lossless.add(kind)
        return function

    return fill


def implied(guarantee: Budget, to: type, options: Options) -> Any:
    """Return the tightest proved guarantee in another definition, or the curve of a guarantee.

    About the same relation. Raises ``NoConversionError`` without a rule, or if it knows of none.
    """
    guarantee = guarantee._simplest()
    _before_asking(to)
    rule = _conversions.get((type(guarantee), to)) or _conversions.get((None, to))
    if rule is not None:
        return carried(rule(guarantee, options), guarantee.adjacency)
    if type(guarantee) is to:
        return guarantee
    raise no_conversion(guarantee, to)


def no_conversion(guarantee: Budget, to: type) -> NoConversionError:
    """Return the error that says what a definition leaves open."""
    return NoConversionError(
        f"{guarantee!r} implies no {to.__name__} guarantee: {guarantee.leaves_open}"
    )


def composes(kind: type, *, lossless: bool = False) -> bool:
    """Whether guarantees of a class have a rule of composition, or one that loses nothing."""
    _before_asking(kind)
    return kind in (_lossless if lossless else _compositions)


def together(kind: type, parts: Sequence[Any]) -> Any:
    """Compose what is of one class, and about one relation, by its rule."""
    _before_asking(kind)
    about = [part for part in parts if isinstance(part, AboutNeighbours)]
    return carried(_compositions[kind](parts), one_adjacency(about))
