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
    file = tmp_path / "numpy2.json"
    file.write_text(json.dumps({"machine": "a machine", "head": HEAD, "rows": rows}))
    text = pages.benchmarks([file], tmp_path).read_text(encoding="utf-8")
    assert "a machine" in text
    assert "1 of 2 targets met" in text
    for row in rows:
        assert "| " + " | ".join(row) + " |" in text


def test_reproduction_copies_pages_and_figures(tmp_path):
    output, docs = tmp_path / "output", tmp_path / "docs"
    (output / "figures").mkdir(parents=True)
    docs.mkdir()
    (output / "soto.md").write_text("# Soto\n\n![x](figures/soto-x.png)\n")
    (output / "figures" / "soto-x.png").write_bytes(b"png")
    text = pages.reproduction(output, docs).read_text(encoding="utf-8")
    assert "```{toctree}" in text
    assert "\nreproduction/soto\n" in text
    assert (docs / "reproduction" / "soto.md").read_text().startswith("# Soto")
    assert (docs / "reproduction" / "figures" / "soto-x.png").read_bytes() == b"png"


def test_no_page_without_results(tmp_path):
    with pytest.raises(SystemExit, match="riemdp reproduce all"):
        pages.reproduction(tmp_path, tmp_path)
    with pytest.raises(FileNotFoundError):
        pages.benchmarks([tmp_path / "absent.json"], tmp_path)
    assert not (tmp_path / "benchmarks.md").exists()
