"""Computing on private values without a word about them: no warnings, no texts of errors."""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from riemdp._errors import PublicWarning, RiemdpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

R = TypeVar("R")


def _for_public_warnings() -> list[Any]:
    """Return the filters of the process as far as they are about public warnings."""
    return [
        (action, message, PublicWarning, module, line)
        for action, message, category, module, line in warnings.filters
        if issubclass(PublicWarning, category)
    ]


class _Silence:
    """Ignores warnings while anything is computed, in any thread, but for public ones.

    Other threads may issue those meanwhile.

    Filters are those of the process, so the first that comes sets them, and the last that goes puts
    them back: each for itself would put back what another one had set.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._computing = 0
        self._filters = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._computing == 0:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.filters[:] = [  # type: ignore[index]
                    *_for_public_warnings(),
                    ("default", None, PublicWarning, None, 0),
                ]
                warnings.simplefilter("ignore", append=True)
            self._computing += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._computing -= 1
            if self._computing == 0:
                self._filters.__exit__(None, None, None)


@contextlib.contextmanager
def _silence_of_thread() -> Iterator[None]:
    """Ignore warnings of this thread, where each has filters of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_silence = _Silence()
_AWARE = bool(getattr(sys.flags, "context_aware_warnings", False))


def silence() -> contextlib.AbstractContextManager[None]:
    """Drop warnings: those of the whole process, where Python has no filters for one thread."""
    return _silence_of_thread() if _AWARE else _silence


def discreetly(name: str, compute: Callable[[], R]) -> R:
    """Return what a function computes of private values; nothing else gets out.

    Warnings are dropped: those of the whole process, where Python has no filters for one thread.
    An error of another class than this library's is replaced, since its text, or what it carries,
    may be a record: by a :class:`RiemdpError` with the class of that alone. ``name`` says who
    computes.
    """
    try:
        with silence(), np.errstate(all="ignore"):
            return compute()
    except RiemdpError:
        raise
    except (Exception, SystemExit) as error:  # whatever it is
        failure = type(error).__name__
    # Not in the handler: the error would go along as the context of this one.
    raise RiemdpError(
        f"{name} failed with {failure}; the message is withheld, since it may tell of the data"
    )
