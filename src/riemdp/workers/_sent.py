"""What may be sent to workers: known descriptions of where records are, and not records."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Most values that a function is given, and most characters of all texts among them.
MOST_VALUES, MOST_CHARACTERS = 16, 4096
_PLAIN = (str, int, float, bool, type(None), type(Path()))


def is_description(part: object) -> bool:
    """Return True for what says where records are, and False for all else: it may be records.

    A description is a path; rows of a map of a file, or of a Zarr array that is not in memory; a
    function that stands under its name in a module; or :func:`functools.partial` of one with at
    most ``MOST_VALUES`` texts, numbers, paths and None, alone or in a tuple.
    """
    if type(part) is functools.partial:
        values = [*part.args, *part.keywords.values()]
        return not vars(part) and _are_short(values) and _is_named(part.func, set())
    if type(part).__module__.partition(".")[0] == "riemdp":
        return getattr(part, "elsewhere", False) is True
    return _is_named(part, set())


def _are_short(values: Iterable[Any]) -> bool:
    flat: list[Any] = []
    for value in values:
        flat += value if type(value) is tuple else [value]
    texts = sum(len(str(value)) for value in flat if type(value) in (str, type(Path())))
    return (
        len(flat) <= MOST_VALUES
        and all(type(value) in _PLAIN for value in flat)
        and texts <= MOST_CHARACTERS
        and all(value.bit_length() <= 64 for value in flat if type(value) is int)
    )


def _is_named(function: Any, seen: set[int]) -> bool:
    """Return True for a function or a class that is sent by its name, or that holds nothing long.

    Functions of the program that was started may be sent with all that they refer to.
    """
    if not isinstance(function, (FunctionType, BuiltinFunctionType, type)):
        return False
    place: Any = sys.modules.get(function.__module__ or "")
    for name in function.__qualname__.split("."):
        place = getattr(place, name, None)
    if place is not function:
        return False
    if function.__module__ != "__main__" or id(function) in seen:
        return True
    if not isinstance(function, FunctionType) or vars(function):
        return False
    seen.add(id(function))
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    known = function.__globals__
    referred = [known[name] for name in _names(function.__code__) if name in known]
    return _are_short(defaults) and all(
        isinstance(each, ModuleType) or _are_short([each]) or _is_named(each, seen)
        for each in referred
    )


def _names(code: Any) -> set[str]:
    """Return all names in the code of a function, and in what is defined in it."""
    inner = (each for each in code.co_consts if hasattr(each, "co_names"))
    return set(code.co_names).union(*map(_names, inner))
