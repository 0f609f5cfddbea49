"""Bars on a terminal or in a notebook, for work that takes long enough to wonder about."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import threading
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

#: Seconds that a piece of work goes on before it is shown.
DELAY = 2.0
#: Drawn so often a second, whatever goes on: steps have no rhythm of their own on the screen.
_RATE = 4
_WIDTH = 30


@dataclass(eq=False)
class Row:
    """A piece of work that goes on: ``started`` is by :func:`time.monotonic`.

    ``total`` is the public number of its steps, None where it has none; ``done`` of them are over.
    """

    label: str
    total: int | None
    done: int = 0
    started: float = field(default_factory=time.monotonic)


class Bars:
    """Bars of rich, which come up when work has gone on for a while, and leave nothing behind."""

    def __init__(self, screen: Console) -> None:
        self._screen = screen
        self._lock = threading.Lock()
        self._rows: Sequence[Row] = ()
        self._timer: threading.Timer | None = None
        self._live: Any = None

    def show(self, rows: Sequence[Row]) -> None:
        """Take what goes on now, the outermost first."""
        with self._lock:
            self._rows = rows
            if not rows:
                self._close()
            elif self._timer is None:
                self._timer = threading.Timer(DELAY, self._open)
                self._timer.daemon = True
                self._timer.start()

    def step(self, row: Row) -> None:
        """Take that a step is over, which the next drawing shows."""

    def _open(self) -> None:
        from rich.live import Live

        with self._lock, contextlib.suppress(Exception):  # a bar costs nobody a release
            if self._timer is not threading.current_thread():
                return
            self._live = Live(
                console=self._screen,
                get_renderable=self._drawn,
                refresh_per_second=_RATE,
                transient=True,
                # a process that is forked meanwhile must not find them locked
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        live, self._timer, self._live = self._live, None, None
        if live is not None:
            with contextlib.suppress(Exception):
                live.stop()

    def _drawn(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table.grid(padding=(0, 1))
        for label, row, seconds in lines(self._rows, time.monotonic()):
            bar = ProgressBar(
                total=row.total,
                completed=row.done,
                width=_WIDTH,
                pulse=row.total is None,
                animation_time=seconds,
            )
            table.add_row(label, bar, count(row), clock(seconds))
        return table


def lines(rows: Sequence[Row], now: float) -> list[tuple[str, Row, float]]:
    """Return labels, rows and seconds of what is to be seen; ``rows`` has the outermost first.

    Of work without a number of steps only the innermost is seen, and that if nothing within it is,
    whose label says it.
    """
    found: list[tuple[str, Row, float]] = []
    within, last = "", None
    for row in rows:
        if now - row.started < DELAY:
            break
        last = None
        if row.total is None:
            within, last = row.label, (row.label, row, now - row.started)
            continue
        label = f"{within}: {row.label}" if within else row.label
        found.append((label, row, now - row.started))
        within = ""
    return found if last is None else [*found, last]


def count(row: Row) -> str:
    """Write how many steps are over; nothing where nobody knows of how many."""
    return "" if row.total is None else f"{min(row.done, row.total):,}/{row.total:,}"


def clock(seconds: float) -> str:
    """Write seconds as minutes and seconds, or with hours."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def bars() -> Bars | None:
    """Return bars, where there is something to draw them on: a terminal at stderr, or a notebook.

    A notebook without ipywidgets draws none, and a ``UserWarning`` says so.
    """
    is_notebook = "ipykernel" in sys.modules
    is_terminal = bool(getattr(sys.stderr, "isatty", bool)())
    if not (is_terminal or is_notebook):
        return None
    from rich.console import Console

    screen = Console(stderr=True, markup=False, emoji=False, highlight=False)
    if screen.is_jupyter:
        if importlib.util.find_spec("ipywidgets") is None:
            warnings.warn(
                "bars in a notebook need ipywidgets, pip install ipywidgets; or give "
                "riemdp.progress a function",
                stacklevel=4,
            )
            return None
        return Bars(screen)
    return Bars(screen) if is_terminal and not screen.is_dumb_terminal else None
