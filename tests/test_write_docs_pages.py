"""The script that writes the pages of measured results."""

from __future__ import annotations

import json

import pytest

import write_docs_pages as pages

HEAD = ["row", "ours", "peer", "ratio", "target", "met"]


def test_benchmarks_shows_every_row_and_counts_targets(tmp_path):
    rows = [
        ["fast: peer / ours", "1 ms", "9 ms", "9.00", "≥ 9", "yes"],
        ["slow: peer / ours", "1 ms", "2 ms", "2.00", "≥ 9", "**no**"],
        ["free: peer / ours", "1 ms", "3 ms", "3.00", "", ""],
    ]
    skipped = ["`test_x.py::test_y`: could not import 'peer'"]
    file = tmp_path / "numpy2.json"
    document = {"machine": "a machine", "head": HEAD, "rows": rows, "skipped": skipped}
    file.write_text(json.dumps(document))
    text = pages.benchmarks([file], tmp_path).read_text(encoding="utf-8")
    assert "a machine" in text
    assert "1 of 2 targets met" in text
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text
    assert "Not measured here:\n\n- `test_x.py::test_y`" in text


def test_a_bar_in_a_cell_does_not_end_it():
    assert pages.table(["a", "b"], [["|x|", "y"]]).splitlines()[-1] == r"| \|x\| | y |"


def test_no_page_without_results(tmp_path):
    with pytest.raises(FileNotFoundError):
        pages.benchmarks([tmp_path / "absent.json"], tmp_path)
    assert not (tmp_path / "benchmarks.md").exists()


def test_the_page_about_neighbours_has_the_table_of_the_code(tmp_path):
    name = "whom_it_protects.md"
    stored = (pages.DOCS / name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(stored, encoding="utf-8")
    written = pages.combinations(tmp_path).read_text(encoding="utf-8")
    assert written == stored  # else: python tools/write_docs_pages.py combinations
    assert written.count('\n| a search: `method="adaptive"`, `private_ball`') == 1
    (tmp_path / name).write_text(stored.replace("| a search:", "| another:"), encoding="utf-8")
    assert pages.combinations(tmp_path).read_text(encoding="utf-8").count("| a search:") == 1
