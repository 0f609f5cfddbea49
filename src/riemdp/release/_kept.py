"""Offers that are known already: functions of public numbers alone, asked for again and again.

What is kept belongs to parts of this library, which are immutable and equal by value, and to exact
public numbers. What other packages bring may be neither, and is computed anew each time. Nothing is
kept of records, generators or accounts, nor of what failed.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._part import changes, is_own
from riemdp.manifolds import Ball
from riemdp.mechanisms import as_choice, calibrated

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Budget

#: Types whose values tell themselves apart: True is not 1, nor is 1 equal to 1.0.
_EXACT = frozenset({int, float, str, bool, type(None)})
#: Numbers of a centre from which on too much would be kept.
_MOST_NUMBERS = 1024


class Asked:
    """What is asked for: equal to what was asked for before with the same public numbers.

    The key can be hashed; ``compute`` takes no arguments.
    """

    __slots__ = ("_hash", "_key", "compute")

    def __init__(self, key: tuple[object, ...], compute: Callable[[], Any]) -> None:
        self._key, self._hash, self.compute = key, hash(key), compute

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asked) and self._key == other._key


@functools.lru_cache(maxsize=128)
def kept(asked: Asked) -> Any:
    """Return what was computed, or compute it; an error is not kept."""
    return asked.compute()


def known_by(
    compute: Callable[[], Any],
    mechanism: type[Mechanism] | Choice | Mechanism,
    ball: Ball,
    parts: tuple[object, ...],
    numbers: tuple[object, ...],
) -> Asked | None:
    """Return what tells one question from another; None where nothing is to be kept.

    ``compute`` is a function of nothing but the other arguments: other parts of the release, or
    None, and numbers, names and flags. Nothing is kept of a mechanism that has its scale.
    """
    if type(ball) is not Ball or calibrated(mechanism) is not None:
        return None
    choice = as_choice(mechanism)
    kind: object = choice.kind  # which has not been looked at
    if not (isinstance(kind, type) and is_own(kind)):
        return None
    numbers = *numbers, choice.options
    if not all(map(_is_plain, (ball.manifold, *parts, *numbers))):
        return None
    kinds = tuple(map(type, (*parts, *numbers)))
    center = ball.center
    if center.size > _MOST_NUMBERS:
        return None
    place = ball.manifold, center.dtype.str, center.tobytes(), ball.radius, changes()
    try:
        return Asked((choice.kind, *parts, *numbers, *kinds, *place), compute)
    except TypeError:  # something inside has no hash
        return None


def same_budget(first: Budget, second: Budget) -> bool:
    """Whether two budgets are equal for sure: those of other packages may mean anything by it."""
    return type(first) is type(second) and _is_plain(first) and first == second


def _is_plain(value: object) -> bool:
    """Whether a part and all that it is made of are of this library, and equal by value."""
    kind: Any = type(value)
    given: Any = value
    if kind in _EXACT:
        return True
    if kind is tuple:
        return all(map(_is_plain, given))
    if kind is np.ndarray:
        return not given.flags.writeable
    names = _fields(kind)
    return names is not None and all(_is_plain(getattr(value, name)) for name in names)


@functools.lru_cache(maxsize=256)
def _fields(kind: type) -> tuple[str, ...] | None:
    """Return what objects of a frozen class of this library are made of.

    None of any other class, and where some of it is not compared: what a constructor does not take
    follows from the rest.
    """
    described: Any = kind
    frozen = dataclasses.is_dataclass(kind) and described.__dataclass_params__.frozen
    if not frozen or not is_own(kind):
        return None
    given = [each for each in dataclasses.fields(described) if each.init]
    return tuple(each.name for each in given) if all(each.compare for each in given) else None
