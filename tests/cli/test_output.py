from __future__ import annotations

import io
import sys
import time

import pytest

from riemdp import _bars
from riemdp.cli._options import MechanismOption
from riemdp.cli._output import (
    describe,
    prepare_streams,
    print_fields,
    print_table,
    say,
    warn,
    working,
)
from riemdp.mechanisms import MECHANISMS
from riemdp.privacy import GDP, ZCDP, ApproxDP, Budget, PureDP


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_mechanism_names_are_those_of_the_library():
    (option,) = MechanismOption.__metadata__
    assert option.help.startswith(f"One of {', '.join(['auto', *MECHANISMS])} or")
    assert "tangent-gaussian" in MECHANISMS


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (PureDP(0.5), "ε = 0.5"),
        (ApproxDP(1.0, 1e-6), "ε = 1, δ = 1e-06"),
        (GDP(1 / 3), "μ = 0.333333"),
        (ZCDP(2.0), "ρ = 2"),
        (ZCDP(2.0, 0.1), "ρ = 2, ξ = 0.1"),
    ],
)
def test_budgets_as_text(budget, text):
    assert describe(budget) == text


def test_a_budget_of_another_kind_speaks_for_itself():
    class Other(Budget):
        delta_at = epsilon_at = None

        def __str__(self):
            return "other"

    assert describe(Other()) == "other"


def test_tables_are_not_cut_and_not_marked_up(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    print_table(("name", "number"), [("[bold]" + 60 * "x", "1"), ("b", 60 * "2")])
    out, err = capsys.readouterr()
    assert "[bold]" + 60 * "x" in out
    assert 60 * "2" in out
    assert err == ""


def test_fields_line_up(capsys):
    print_fields([("a", "1"), ("long name", "2")])
    assert capsys.readouterr().out == "a          1\nlong name  2\n"


def test_warnings_go_to_stderr(capsys):
    warn("beware")
    assert capsys.readouterr() == ("", "riemdp: beware\n")


def test_progress_is_silent_off_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(_bars, "DELAY", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # for which rich takes anything for a terminal
    with working("task"):
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with working("task"):
        pass
    assert sys.stderr.getvalue() == ""  # over before anybody wonders
    monkeypatch.setattr(_bars, "DELAY", 0.0)
    with working("[b]task\x1b"):
        end = time.monotonic() + 10.0
        while "task" not in sys.stderr.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert r"[b]task\x1b" in sys.stderr.getvalue()
    assert capsys.readouterr().out == ""


def test_the_work_may_fail_under_the_progress(capsys):
    with pytest.raises(ValueError, match="stop"), working("task"):
        raise ValueError("stop")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ε = 1", "plain text, ε = 1"),
        ("a\nok  b\r\t", r"a\nok  b\r\t"),
        ("\x1b[31m\x07\x00", r"\x1b[31m\x07\x00"),
        ("\u202e\u2028\x85\udcff\U000e0001", r"\u202e\u2028\x85\udcff\U000e0001"),
        ("[red]:smile:[/red]", "[red]:smile:[/red]"),
    ],
)
def test_one_line_is_one_line_on_every_way_out(capsys, text, shown):
    say(text)
    warn(text)
    print_fields([("name", text)])
    print_table(("name", "number"), [(text, "1")])
    out, err = capsys.readouterr()
    assert err == f"riemdp: {shown}\n"
    said, field, *table = out.splitlines()
    assert said == shown
    assert field == f"name  {shown}"
    assert len([line for line in table if shown in line]) == 1


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "ε = 1 — é"),
        ("cp1252", "epsilon = 1 — é"),
        ("latin-1", r"epsilon = 1 \u2014 é"),
        ("ascii", r"epsilon = 1 \u2014 \xe9"),
        ("cp500", r"epsilon = 1 \u2014 é"),
    ],
)
def test_every_encoding_takes_every_text(monkeypatch, encoding, shown):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_streams()
    say("ε = 1 — é")
    assert stream.buffer.getvalue().decode(encoding).rstrip("\r\n") == shown
