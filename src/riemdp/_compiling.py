"""What numba compiles, where it is installed: nothing needs it, and nobody is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Oldest version of numba that has been tried.
_OLDEST = (0, 59)


def compiler() -> Callable[[Callable[..., None]], Callable[..., None]] | None:
    """Return what compiles a function when it is called first; None where there is no numba."""
    try:
        import numba
    except ImportError:  # also where NumPy is newer than numba allows
        return None
    settings: Any = numba.config
    if settings.DISABLE_JIT or numba.version_info.short < _OLDEST:
        return None
    return lambda function: compiled(numba, function)


def compiled(numba: Any, function: Callable[..., None]) -> Callable[..., None]:
    """Compile without reordering arithmetic; keep the result on disk where that is possible.

    ``function`` is a loop over arrays, in the part of Python that numba knows.
    """
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True}
    try:
        return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder to write to
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
