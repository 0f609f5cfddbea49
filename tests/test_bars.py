"""Bars: after two seconds, on a terminal, and gone when the work is over."""

from __future__ import annotations

import io
import sys
import time
import types

import pytest

from riemdp import _bars
from riemdp._bars import Bars, Row, bars, clock, count, lines
from riemdp._progress import progress, ticks, work


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch, delay=0.0):
    """Return what stderr is from now on; a fixture would come before pytest sets its own."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_bars, "DELAY", delay)
    return sys.stderr


def waited(condition):
    end = time.monotonic() + 10.0
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_what_takes_less_is_not_shown(monkeypatch):
    screen = terminal(monkeypatch, _bars.DELAY)
    with progress(), work("short"):
        for _ in ticks("ab", 2, "letters"):
            pass
    assert screen.getvalue() == ""
    assert _bars.DELAY == 2.0


def test_what_takes_longer_is_shown_and_removed(monkeypatch):
    screen = terminal(monkeypatch)
    with progress():
        with work("long"):
            assert waited(lambda: "long" in screen.getvalue())
            for done in ticks(range(2), 2, "letters"):
                assert waited(lambda done=done: f"{done}/2" in screen.getvalue())
        assert "long: letters" in screen.getvalue()
        ended = len(screen.getvalue())
        assert screen.getvalue().endswith("\x1b[2K")  # the line is cleared
        time.sleep(0.3)  # and nothing draws any more
        assert len(screen.getvalue()) == ended


def test_a_bar_within_another_is_one_bar(monkeypatch):
    screen = terminal(monkeypatch)
    with progress(), work("outer"), progress(), work("inner"):
        assert waited(lambda: "inner" in screen.getvalue())
    assert screen.getvalue().count("\x1b[?25l") == 1  # one display hides the cursor


def test_a_screen_that_fails_costs_nothing(monkeypatch):
    screen = terminal(monkeypatch)

    def fails(*_):
        raise OSError

    monkeypatch.setattr(screen, "write", fails)
    with progress(), work("long"):
        time.sleep(0.1)


def test_there_are_none_off_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # for which rich takes anything for a terminal
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        assert bars() is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert bars() is None
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(bars(), Bars)


def test_a_notebook_is_told_what_it_lacks(monkeypatch):
    import rich.console

    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    found = {"ipywidgets": None}
    monkeypatch.setattr(_bars.importlib.util, "find_spec", found.get)
    with pytest.warns(UserWarning, match="need ipywidgets"), progress():
        pass
    found["ipywidgets"] = object()
    assert isinstance(bars(), Bars)


def test_rows_that_are_to_be_seen(monkeypatch):
    monkeypatch.setattr(_bars, "DELAY", 2.0)

    def seen(*rows):
        made = [Row(label, total, 1, 10.0 - age) for label, total, age in rows]
        return [label for label, *_ in lines(made, 10.0)]

    assert seen(("plan", None, 1.9)) == []
    assert seen(("plan", None, 2.1)) == ["plan"]
    grid = [("plan_grid", None, 9.0), ("plans", 4, 9.0), ("plan", None, 3.0)]
    assert seen(*grid) == ["plan_grid: plans", "plan"]
    assert seen(*grid, ("mechanisms", 6, 3.0)) == ["plan_grid: plans", "plan: mechanisms"]
    assert seen(*grid, ("mechanisms", 6, 1.0)) == ["plan_grid: plans", "plan"]
    assert seen(("task", None, 9.0), ("plan", None, 9.0)) == ["plan"]


def test_numbers_and_times():
    assert count(Row("a", 2000, 1500)) == "1,500/2,000"
    assert count(Row("a", 2, 3)) == "2/2"
    assert count(Row("a", None, 3)) == ""
    assert [clock(s) for s in (5.9, 65.0, 3665.0)] == ["0:05", "1:05", "1:01:05"]
