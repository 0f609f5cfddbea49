"""The table of theorems: nothing left out, nothing empty."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from riemdp import InvalidParameterError
from riemdp_papers._report import PAPERS
from riemdp_papers._theorems import STATUSES, Theorem, theorems

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROWS = theorems()


def numbered(kind, *numbers):
    return tuple(f"{kind} {number}" for number in numbers)


#: What is numbered in the papers and claims something.
LISTED = {
    "reimherr": (
        "Definition 3",
        "Example 1",
        "Assumption 1",
        *numbered("Theorem", 1, 2, 3, 4),
        "Proposition 1",
        "Lemma 1",
        *numbered("Supplement", "A.1", "A.2.2", "A.3.2", "A.4", "A.5", "B.1"),
    ),
    "utpala": (
        *numbered("Table", 1, 2),
        *numbered("Definition", 1, 2),
        "Algorithm 1",
        *numbered("Theorem", 1, 2, 3, 4, 5, "A.4", "A.7"),
        *numbered("Lemma", "A.1", "A.2", "A.5", "A.6"),
        "Corollary A.3",
    ),
    "jiang": (
        *numbered("Definition", "3.1", "3.3", "4.1"),
        *numbered("Theorem", "3.1", "3.2", "4.1", "A.1", "A.2"),
        "Corollary 3.2.1",
        "Proposition 4.1",
        *numbered("Algorithm", 1, 2),
    ),
    "he": (
        *numbered("Lemma", "III.1", "III.2", "III.5"),
        *numbered("Theorem", "III.3", "III.4", "IV.2", "IV.4", "V.1"),
        *numbered("Corollary", "III.6", "IV.5"),
        *numbered("Definition", "IV.1", "IV.3"),
        "Algorithm 1",
    ),
    "soto": (
        *numbered("Definition", "3.1", "4.1", "4.3", "4.7", "4.11", "C.1"),
        "Example 1",
        "Lemma 3.2",
        *numbered("Theorem", "3.3", "4.2", "4.4", "4.6", "4.8", "4.10", "4.12"),
        *numbered("Corollary", "4.5", "4.9"),
    ),
}


def missing(paper, rows):
    """Statements of a paper's list that no row is about; "Theorem 2 (proof)" is about Theorem 2."""
    found = {
        re.sub(r" \(.*\)$", "", name) for r in rows if r.paper == paper for name in r.statements
    }
    return [name for name in LISTED[paper] if name not in found]


def row(**changes):
    fields = {"paper": "soto", "name": "Lemma 1", "claim": "It holds.", "status": "true"}
    fields |= {"where": "[note](proofs/rao.md)", "number": lambda: "1"}
    return Theorem(**{**fields, **changes})


@pytest.mark.parametrize("paper", PAPERS)
def test_every_numbered_statement_has_a_row(paper):
    assert missing(paper, ROWS) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_row_left_out_would_be_noticed(paper):
    for name in LISTED[paper]:
        rest = [row for row in ROWS if not any(s.startswith(name) for s in row.statements)]
        assert name in missing(paper, rest)


def test_no_row_is_there_twice():
    names = [(row.paper, row.name) for row in ROWS]
    assert len({*names}) == len(names)


@pytest.mark.parametrize("field", ["name", "claim", "status", "where"])
def test_an_empty_cell_is_refused(field):
    with pytest.raises(InvalidParameterError, match=f"{field} of .* is empty"):
        row(**{field: " "})


def test_an_empty_number_is_refused():
    with pytest.raises(InvalidParameterError, match="number of 'Lemma 1' is empty"):
        row(number=lambda: "\n").cells()
    assert row().cells() == ["**Lemma 1.** It holds.", "true", "[note](proofs/rao.md)", "1"]


def test_only_known_papers_and_statuses():
    with pytest.raises(InvalidParameterError, match="paper must be one of reimherr, utpala"):
        row(paper="gauss")
    with pytest.raises(InvalidParameterError, match="status must be one of true; "):
        row(status="likely")


def resolves(where):
    """Whether every link leads to a page and every name to an object."""
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", where):
        if not (DOCS / target).exists():
            return False
    names = re.findall(r"\{\w+\}`~?([\w.]+)`", where)
    for name in names:
        module, _, attribute = name.partition(".")
        item = importlib.import_module(module)
        for part in attribute.split("."):
            if not hasattr(item, part):
                return False
            item = getattr(item, part)
    return bool(names) or "](" in where


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.paper} {row.name}")
def test_what_a_row_points_to_exists(row):
    assert resolves(row.where)


@pytest.mark.parametrize(
    "where", ["somewhere", "[note](proofs/wishes.md)", "{func}`~riemdp_papers.wishes`"]
)
def test_a_dead_pointer_would_be_noticed(where):
    assert not resolves(where)
    assert resolves("[note](proofs/rao.md)")
    assert resolves("{func}`~riemdp_papers.jiang_algorithm_1`")


def test_the_page_holds_these_rows_and_no_empty_cell():
    lines = (DOCS / "theorems.md").read_text(encoding="utf-8").splitlines()
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("| **")]
    assert all(len(cells) == 4 and all(cell.strip() for cell in cells) for cells in found)
    expected = [
        [f"**{row.name}.** {row.claim}".replace("|", r"\|"), row.status, row.where] for row in ROWS
    ]
    assert [[cell.strip() for cell in cells[:3]] for cells in found] == expected
    assert {row.status for row in ROWS} <= {*STATUSES}


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.paper} {row.name}")
def test_every_number_computes(row):
    assert row.cells()[-1].strip()
