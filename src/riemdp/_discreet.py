"""Reading and computing private values without a word about them: no warnings, logs or errors."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from riemdp._errors import PublicWarning, RiemdpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

R = TypeVar("R")

#: What a computation is ended by, and does not raise.
FROM_OUTSIDE = (KeyboardInterrupt, GeneratorExit)


class _Shared:
    """A context of the whole process, in any number of threads.

    The first thread to come enters it, and the last one to go leaves it: each for itself would put
    back what another one had set.
    """

    def __init__(self, make: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self._make, self._lock, self._inside = make, threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._context = self._make()
                self._context.__enter__()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._context.__exit__(None, None, None)


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _public_warnings_alone() -> Iterator[None]:
    """Ignore warnings of the process, but for public ones: other threads may issue those."""
    public = [
        (action, message, PublicWarning, module, line)
        for action, message, category, module, line in warnings.filters
        if issubclass(PublicWarning, category)
    ]
    with warnings.catch_warnings():
        warnings.filters[:] = [  # type: ignore[index]
            *public,
            ("default", None, PublicWarning, None, 0),
        ]
        warnings.simplefilter("ignore", append=True)
        yield


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    import logging

    before = logging.root.manager.disable
    logging.disable(sys.maxsize)
    try:
        yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def _without_prints() -> Iterator[None]:
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


_silence = _Shared(_public_warnings_alone)
_no_logs, _no_prints = _Shared(_without_logs), _Shared(_without_prints)
_AWARE = bool(getattr(sys.flags, "context_aware_warnings", False))


def silence() -> contextlib.AbstractContextManager[None]:
    """Drop warnings: those of the whole process, where Python has no filters for one thread."""
    return _without_warnings() if _AWARE else _silence


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Drop warnings and log records of the whole process, while something opens private data.

    A library may log what it reads, from any of its threads.
    """
    with silence(), _no_logs:
        yield


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Drop what the process prints too, while code that is not the caller's opens private data."""
    with unlogged(), _no_prints:
        yield


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
    except (RiemdpError, *FROM_OUTSIDE):
        raise
    except BaseException as error:  # whatever it is: compiled code may panic
        failure = type(error).__name__
    # Not in the handler: the error would go along as the context of this one.
    raise RiemdpError(
        f"{name} failed with {failure}; the message is withheld, since it may tell of the data"
    )
