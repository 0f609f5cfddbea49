"""The script that writes the pages of measured results."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[1] / "tools" / "write_docs_pages.py"
spec = importlib.util.spec_from_file_location("write_docs_pages", PATH)
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)
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


@pytest.fixture
def output(tmp_path):
    """What a run of all papers leaves."""
    folder = tmp_path / "output"
    (folder / "figures").mkdir(parents=True)
    for key in pages.PAPERS:
        (folder / f"{key}.md").write_text(f"# {key}\n")
    (folder / "soto.md").write_text("# Soto\n\n![x](figures/soto-x.png)\n")
    (folder / "figures" / "soto-x.png").write_bytes(b"png")
    return folder


def test_reproduction_copies_pages_and_figures(output, tmp_path):
    docs = tmp_path / "docs"
    (docs / "reproduction" / "figures").mkdir(parents=True)
    stale = docs / "reproduction" / "figures" / "soto-old.png"
    stale.touch()
    text = pages.reproduction(output, docs).read_text(encoding="utf-8")
    assert "```{toctree}" in text
    assert "\nreproduction/reimherr\nreproduction/utpala\n" in text
    assert (docs / "reproduction" / "soto.md").read_text().startswith("# Soto")
    assert (docs / "reproduction" / "figures" / "soto-x.png").read_bytes() == b"png"
    assert not stale.exists()


def test_a_missing_page_or_figure_is_an_error(output, tmp_path):
    (output / "figures" / "soto-x.png").unlink()
    with pytest.raises(FileNotFoundError):
        pages.reproduction(output, tmp_path)
    (output / "he.md").unlink()
    with pytest.raises(SystemExit, match=r"lacks he\.md"):
        pages.reproduction(output, tmp_path)


def test_no_page_without_results(tmp_path):
    with pytest.raises(SystemExit, match="riemdp reproduce all"):
        pages.reproduction(tmp_path, tmp_path)
    with pytest.raises(FileNotFoundError):
        pages.benchmarks([tmp_path / "absent.json"], tmp_path)
    assert not (tmp_path / "benchmarks.md").exists()
