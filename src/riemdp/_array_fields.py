"""Equality, hash, pickling and copying of frozen dataclasses with arrays in them."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np


class ArrayFields:
    """Mixin of frozen dataclasses, ``eq=False``, some of whose fields are arrays.

    Two are equal if they are of one class and all their arguments are; what follows from the
    arguments, a field with ``init=False``, is not compared. Their arrays are read-only, and stay
    so in copies and after pickling.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _equal(getattr(self, name), getattr(other, name)) for name in _arguments(type(self))
        )

    def __hash__(self) -> int:
        return hash(tuple(_hashable(getattr(self, name)) for name in _arguments(type(self))))

    def __getstate__(self) -> dict[str, Any]:
        # Without cached properties, which can be computed again and may not be picklable.
        return {field.name: getattr(self, field.name) for field in _fields(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # pickle forgets it

    def _seal(self) -> None:
        """Put read-only copies in place of arrays among the arguments."""
        kind: Any = type(self)
        for name in _given(kind):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                value = np.array(value)
                value.flags.writeable = False
                object.__setattr__(self, name, value)


def _fields(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(kind)


@functools.lru_cache(maxsize=256)
def _given(kind: type) -> tuple[str, ...]:
    """Names of the arguments, of every object that is made."""
    return tuple(field.name for field in _fields(kind) if field.init)


def _arguments(kind: type) -> list[str]:
    return [field.name for field in _fields(kind) if field.init and field.compare]


def _equal(first: object, second: object) -> bool:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second)  # type: ignore[arg-type]
    return bool(first == second)


def _hashable(value: object) -> object:
    """Array as nested content; equal arrays have equal ones, -0.0 and 0.0 too."""
    return (value.shape, *value.ravel().tolist()) if isinstance(value, np.ndarray) else value
