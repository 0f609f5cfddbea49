"""The script that writes the pages of measured results, on those of the papers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from riemdp_papers import PAPERS

PATH = Path(__file__).resolve().parents[2] / "tools" / "write_docs_pages.py"
spec = importlib.util.spec_from_file_location("write_docs_pages", PATH)
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)


@pytest.fixture
def output(tmp_path):
    """What a run of all papers leaves."""
    folder = tmp_path / "output"
    (folder / "figures").mkdir(parents=True)
    for key in PAPERS:
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
