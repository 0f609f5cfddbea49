"""Kernels of the compiled extension, which is optional.

Its sources are in ``native/``. A kernel has a definition in NumPy, elementwise additions,
subtractions, multiplications, divisions and square roots of each record, and is used only where it
has the bits of that on public records.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Kernel = Callable[..., bool]


@functools.cache
def _extension() -> Any:
    try:
        return importlib.import_module("riemdp._lanes")
    except ImportError:
        return None


#: Most lanes that kernels have anywhere.
LANES = 8


def widest() -> int:
    """Return how many records kernels take side by side here; 0 where there are none."""
    found = _extension()
    return 0 if found is None else found.widths()[-1]


def kernel(name: str, same_bits: Callable[[Kernel], bool]) -> Kernel | None:
    """Return a kernel that has the bits of its definition, or None.

    Parameters
    ----------
    name : str
        In ``native/width.cpp``.
    same_bits : callable
        Whether a kernel has the bits of NumPy on public records; asked once in a process.

    Returns
    -------
    callable or None
        Of arrays in C order, those that are written to last. It returns False where it wrote
        nothing: where the processor flushes small numbers to zero, which other libraries can ask
        for, or an array has another length than the kernel takes.
    """
    lanes = widest()
    return _admitted(name, same_bits, lanes) if lanes else None


@functools.cache
def _admitted(name: str, same_bits: Callable[[Kernel], bool], lanes: int) -> Kernel | None:
    found = functools.partial(_extension().run, lanes, name)
    return found if same_bits(found) else None
