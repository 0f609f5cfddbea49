"""The script that writes the pages of measured results, on those of the papers."""

from __future__ import annotations

import pytest

import write_docs_pages as pages
from riemdp import InvalidParameterError
from riemdp_papers import PAPERS, _theorems
from riemdp_papers._theorems import Theorem


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


def test_the_theorems_have_a_table_for_each_paper(tmp_path, monkeypatch):
    def row(paper, name, status="true", number="|1|"):
        return Theorem(paper, name, "It holds.", status, "[note](x.md)", lambda: number)

    rows = (row("soto", "Lemma 1"), row("utpala", "Theorem 1"), row("utpala", "B", "false"))
    monkeypatch.setattr(_theorems, "theorems", lambda: rows)
    text = pages.theorems(tmp_path).read_text(encoding="utf-8")
    assert text.index("Utpala, Vepakomma, Miolane") < text.index("Soto")
    assert "2 rows: 1 true, 1 false." in text
    assert r"| **Lemma 1.** It holds. | true | [note](x.md) | \|1\| |" in text
    monkeypatch.setattr(_theorems, "theorems", lambda: (row("he", "C", number=" "),))
    (tmp_path / "theorems.md").unlink()
    with pytest.raises(InvalidParameterError, match="number of 'C' is empty"):
        pages.theorems(tmp_path)
    assert not (tmp_path / "theorems.md").exists()


def test_two_pages_need_input(monkeypatch, capsys):
    for arguments in (["theorems", "folder"], ["reproduction"]):
        monkeypatch.setattr("sys.argv", ["write_docs_pages.py", *arguments])
        with pytest.raises(SystemExit):
            pages.main()
        assert "the other pages take none" in capsys.readouterr().err
