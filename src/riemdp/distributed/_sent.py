"""What would be sent to workers with a function: no arrays."""

from __future__ import annotations

import contextlib
import importlib
import io
import pickle
from typing import Any

import numpy as np


def holds_arrays(part: object) -> bool:
    """Whether an array would be sent with a part, wherever in it that is.

    Such as labels, what :func:`functools.partial` was given, what a lambda refers to, the chunks
    of a Zarr array in memory, or a memory map, which is sent with all that is in it. False too of
    what cannot be sent at all: whoever tries says so.
    """
    try:
        return _seen(pickle.Pickler, part)
    except Exception:
        pass
    with contextlib.suppress(Exception):
        return _seen(importlib.import_module("cloudpickle").Pickler, part)
    return False


def _seen(pickler: Any, part: object) -> bool:
    found = False

    class Watching(pickler):  # type: ignore[misc]
        def persistent_id(self, given: object) -> int | None:
            nonlocal found
            is_array = isinstance(given, np.ndarray)
            found = found or is_array
            return 0 if is_array else None  # it is not written

    Watching(io.BytesIO()).dump(part)
    return found
