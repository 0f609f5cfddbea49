"""The script that computes the mutation score: what it draws and which tests it runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mutants

ROOT = Path(__file__).resolve().parents[1]

SOURCE = """
from __future__ import annotations
if TYPE_CHECKING:
    from a import B
SIZE = 3

def f(a: B | None, *, b: int = 1) -> B | None:
    c: B | None = a
    if (a
            > b):
        raise E(f"over {b + 1}")
    for x in (
        1,
        2,
    ):
        c = a + x
    return c
"""


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("a + x", "a - x", True),
        ("SIZE = 3", "SIZE = 4", True),
        ("b: int = 1", "b: int = 2", True),
        ("> b", ">= b", True),
        ("a: B | None", "a: B & None", False),
        ("c: B | None", "c: B & None", False),
        ("-> B | None", "-> B & None", False),
        ("b + 1", "b - 1", False),
        ("if TYPE_CHECKING", "if not TYPE_CHECKING", False),
        ("None, *,", "None, +,", False),  # no program
    ],
)
def test_only_another_program_counts_as_a_mutant(old, new, counts):
    assert old in SOURCE
    assert mutants.differs(SOURCE, SOURCE.replace(old, new, 1)) == counts
    assert not mutants.differs(SOURCE, SOURCE)
    assert not mutants.differs(SOURCE, None)


@pytest.mark.parametrize(
    ("operator", "line", "work"),
    [
        ("core/NumberReplacer", "    for _ in range(60):", True),
        ("core/NumberReplacer", "_CHUNK = 256", True),
        ("core/NumberReplacer", "        if trial.size <= 0.5 * at.size or used >= 40:", True),
        ("core/NumberReplacer", "@functools.lru_cache(maxsize=64)", True),
        ("core/RemoveDecorator", "@functools.cache", True),
        ("core/RemoveDecorator", "    @functools.cached_property", False),  # another interface
        ("core/ZeroIterationForLoop", "    for _ in range(60):", False),
        ("core/NumberReplacer", "    for k in range(10, 2, -1):", False),  # a series
        ("core/NumberReplacer", "_ROUNDING = 1e-9", False),
        ("core/ReplaceComparisonOperator_GtE_Gt", "or used >= 40:", False),
    ],
)
def test_only_amounts_of_work_are_left_out(operator, line, work):
    assert mutants.is_work(operator, line) == work


def test_a_line_stands_for_its_statement():
    tree = ast.parse(SOURCE)
    lines = [mutants.statement_lines(tree, line) for line in range(1, 18)]
    assert lines[:6] == [None] * 6
    assert lines[6] is None  # the header runs at import
    assert lines[7] == range(8, 9)
    assert lines[8] == lines[9] == range(9, 11)
    assert lines[10] == range(11, 12)
    assert lines[11] == lines[13] == range(12, 16)
    assert lines[15] == range(16, 17)


def test_shares_are_in_proportion_and_never_too_few():
    sizes = {"large": 1000, "small": 50, "tiny": 3}
    assert mutants.shares(sizes, 105) == {"large": 100, "small": 5, "tiny": 3}
    assert mutants.shares(sizes, 2000) == sizes
    assert mutants.shares(sizes, 1053) == sizes


def test_every_module_that_privacy_rests_on_is_there():
    found = mutants.modules()
    assert {mutants.package(name) for name in found} == {
        "privacy",
        "kernel",
        "statistics",
        "mechanisms",
        "release",
        "generator",
    }
    assert all((ROOT / name).is_file() for name in found)


def test_report_counts_and_names_survivors(tmp_path):
    def result(module, outcome, line=1):
        mutant = mutants.Mutant(f"src/riemdp/{module}.py", "core/AddNot", 0, line, "f")
        return mutants.Result(mutant, "a | b", "a", "digest", outcome, 3, 4)

    found = [result("privacy/_a", "killed"), result("privacy/_a", "timeout")]
    found += [result("privacy/_b", "survived"), result("release/_c", "error")]
    text = mutants.report(found)
    assert "| privacy | 3 | 2 | 1 | 1 | 66.7 % |" in text
    assert "| release | 1 | 1 | 0 | 0 | 100.0 % |" in text
    assert "| all | 4 | 3 | 1 | 1 | 75.0 % |" in text
    assert r"| _b.f | `a \| b` | `a` | 3/4 |" in text
    assert mutants.changed_lines("a\nb\nc", "a\nx\nc") == ("b", "x")
