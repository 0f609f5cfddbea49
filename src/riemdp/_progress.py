"""How far a long computation is, for whoever asks: numbers of steps that are public, and no others.

A number of records that neighbours may not share, passes of a solver and the like are nobody's
business: what counts them says nothing here. See :func:`progress` for who is told.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from riemdp._bars import Bars, Row, bars
from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    #: ``show(label, done, total)``
    Show = Callable[[str, int, int | None], object]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Display(Protocol):
    """Somewhere that work is shown."""

    def show(self, rows: Sequence[Row]) -> None:
        """Take what goes on now, the outermost first: whenever some begins or ends."""

    def step(self, row: Row) -> None:
        """Take that a step is over."""


class _Watch:
    """Work that goes on in one thread of one process: others would tell of it out of turn."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self._rows: list[Row] = []
        self._owner = _here()

    @property
    def is_here(self) -> bool:
        return self._owner == _here()

    def begin(self, label: str, total: int | None) -> Row:
        row = Row(label, total)
        self._rows.append(row)
        self.display.show(tuple(self._rows))
        return row

    def step(self, row: Row, done: int) -> None:
        row.done = done
        self.display.step(row)

    def end(self, row: Row) -> None:
        """Drop it, with what began within it and an error has left."""
        if row in self._rows and self.is_here:
            del self._rows[self._rows.index(row) :]
            self.display.show(tuple(self._rows))

    def close(self) -> None:
        if self.is_here:
            self._rows.clear()
            self.display.show(())


class _Told:
    """A function that is told of every step; what goes wrong in it costs no release."""

    def __init__(self, told: Show) -> None:
        self._told = told
        self._rows: Sequence[Row] = ()

    def show(self, rows: Sequence[Row]) -> None:
        for row in rows[len(self._rows) :]:
            self._tell(row)
        self._rows = rows

    def step(self, row: Row) -> None:
        self._tell(row)

    def _tell(self, row: Row) -> None:
        with contextlib.suppress(Exception), uncounted(True):  # of what it does itself
            self._told(row.label, row.done, row.total)


_watch: ContextVar[_Watch | None] = ContextVar("riemdp_progress", default=None)


def _here() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


def _watching() -> _Watch | None:
    found = _watch.get()
    return found if found is not None and found.is_here else None


@contextlib.contextmanager
def progress(show: Show | None = None) -> Iterator[None]:
    """Show how far calls of this library are that take more than two seconds.

    Nothing is shown without it, but by the command line on a terminal. Only public numbers are:
    parts whose sizes are public, groups, factors of a space, steps, outputs of an audit. Where the
    number of records is private, or an account was charged, so that no failure may tell of
    the data, there is no count, only that work goes on. Passes of solvers are never shown.

    Parameters
    ----------
    show : callable, optional
        ``show(label, done, total)`` is called in place of drawing bars: when a piece of work
        begins, with ``done=0``, and whenever a step of it is over. ``total`` is None of work
        without a public number of steps, which is not heard of again. An error in it is dropped:
        it costs no release. By default bars are drawn on stderr if that is a terminal, or in a
        notebook.

    Raises
    ------
    InvalidParameterError
        If ``show`` is not callable.

    Notes
    -----
    Only calls of the thread, and of the process, that has entered it are shown: workers are seen
    by what they hand back.

    Examples
    --------
    >>> import riemdp
    >>> space, seen = riemdp.SPDLogEuclidean(3), []
    >>> with riemdp.progress(lambda label, done, total: seen.append((label, done, total))):
    ...     grid = riemdp.plan_grid(space, 1.0, [100, 1000], [riemdp.GDP(1.0)])
    >>> [step for step in seen if step[0] == "plans"]
    [('plans', 0, 2), ('plans', 1, 2), ('plans', 2, 2)]
    """
    if show is not None and not callable(show):
        raise InvalidParameterError(
            f"show must be a function of (label, done, total), got {kind_of(show)}; leave it out "
            "for bars"
        )
    watching = _watching()
    within = watching is not None and isinstance(watching.display, Bars)
    display: Display | None
    if show is not None:
        display = _Told(show)
    else:  # two of them on one screen would draw over each other
        display = None if within else bars()
    if display is None:
        yield
        return
    watch = _Watch(display)
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)
        watch.close()


class work:  # noqa: N801 -- a context, and a decorator
    """Say that some work goes on, of which nobody knows how far it is; the label is public.

    As a decorator it is no frame of another package between a call and what it raises.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._watch: _Watch | None = None
        self._row: Row | None = None

    def __enter__(self) -> None:
        self._watch = _watching()
        if self._watch is not None:
            self._row = self._watch.begin(self._label, None)

    def __exit__(self, *error: object) -> None:
        if self._watch is not None and self._row is not None:
            self._watch.end(self._row)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        label = self._label

        @functools.wraps(function)
        def called(*arguments: P.args, **keywords: P.kwargs) -> R:
            if _watching() is None:
                return function(*arguments, **keywords)
            with work(label):
                return function(*arguments, **keywords)

        return called


def ticks(items: Iterable[T], total: int | None, label: str) -> Iterable[T]:
    """Return items, and say whenever one of them was dealt with, if anybody watches.

    ``total`` is their public number; None where it is private, and then nothing is said. ``label``
    says what they are, and is public.
    """
    watch = _watching()
    if watch is None or total is None:
        return items
    return _told(items, total, label, watch)


def _told(items: Iterable[T], total: int, label: str, watch: _Watch) -> Iterator[T]:
    row = watch.begin(label, total)
    try:
        for done, item in enumerate(items, 1):
            yield item
            watch.step(row, done)
    finally:
        watch.end(row)


@contextlib.contextmanager
def uncounted(private: bool) -> Iterator[None]:
    """Say nothing of what goes on within, where its steps would tell of private numbers.

    Whether they would is decided from public numbers.
    """
    before = _watch.set(None if private else _watch.get())
    try:
        yield
    finally:
        _watch.reset(before)
