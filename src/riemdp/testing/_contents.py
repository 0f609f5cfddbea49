"""What a part holds, in a form that compares: whether something was kept in it."""

from __future__ import annotations

import collections
import functools
import types

import numpy as np

#: What has no contents of its own.
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)


def state(part: object) -> object:
    """Return what a part holds, and its classes of other packages, in a form that compares.

    It equals that of another time if nothing was changed in between.
    """
    kinds = [kind for kind in type(part).__mro__ if kind.__module__.partition(".")[0] != "riemdp"]
    own = {
        f"{kind.__qualname__}.{name}": contents(value)
        for kind in kinds
        if kind is not object
        for name, value in vars(kind).items()
        if not name.startswith("_") or not callable(value)
    }
    return own, contents(part)


def contents(value: object, depth: int = 6) -> object:
    """Return the contents of containers and objects; of what has none, which one it is."""
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return type(value), repr(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, value.dtype.str, value.tobytes()
    if depth == 0 or isinstance(value, (type, *_CODE)):
        return id(value)
    if isinstance(value, dict):
        return [
            (contents(key, depth - 1), contents(entry, depth - 1)) for key, entry in value.items()
        ]
    if isinstance(value, (list, tuple, collections.deque)):
        return [contents(entry, depth - 1) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted(repr(contents(entry, depth - 1)) for entry in value)
    kinds = type(value).__mro__
    slots = [slot for kind in kinds for slot in _slots(kind)]
    found = {slot: getattr(value, slot) for slot in slots if hasattr(value, slot)}
    found |= getattr(value, "__dict__", {})
    if not found:
        return id(value)
    # one that is computed once is given the part alone, no records
    cached = {
        name
        for kind in kinds
        for name, each in vars(kind).items()
        if isinstance(each, functools.cached_property)
    }
    return {name: contents(each, depth - 1) for name, each in found.items() if name not in cached}


def _slots(kind: type) -> tuple[str, ...]:
    found = vars(kind).get("__slots__", ())
    names = (found,) if isinstance(found, str) else tuple(found)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))
