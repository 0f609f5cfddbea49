"""What a worker is given, and what comes back."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

#: What decides about the bits that are computed of a record, by name.
Setting: TypeAlias = dict[str, str]


@dataclass(frozen=True)
class Done:
    """What became of some parts of the records, and the worker's setting: private, as they are."""

    found: tuple[Any, ...] = field(repr=False)
    setting: Setting = field(repr=False)


@dataclass(frozen=True)
class Work:
    """A function of one part, for several of them.

    The function raises nothing: clusters log what is raised, with what was given. One that has a
    method ``of_several`` adds up what it finds in them.
    """

    function: Callable[[Any], Any] = field(repr=False)

    def __call__(self, parts: tuple[Any, ...]) -> Done:
        """Call the function with each part."""
        several = getattr(self.function, "of_several", None)
        found = map(self.function, parts) if several is None else several(parts)
        return Done(tuple(found), setting())


@functools.cache
def setting() -> Setting:
    """Return what decides about the bits that are computed of a record in this process, by name."""
    found = {name: _version(name) for name in ("riemdp", "numpy", "scipy")}
    vectors = np.show_config(mode="dicts").get("SIMD Extensions", {})
    names = [*vectors.get("baseline", ()), *vectors.get("found", ())]
    found["processor"] = " ".join([platform.machine(), *names])
    return found | {"OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE", "not set")}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
