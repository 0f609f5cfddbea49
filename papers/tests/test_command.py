from __future__ import annotations

import pytest

from riemdp_papers import _report
from riemdp_papers._command import PaperName
from riemdp_papers._experiment import Experiment, Outcome, Paper, Row

pytest.importorskip("matplotlib.figure")


@pytest.fixture
def seen(monkeypatch):
    """Replaces the papers; the settings of every experiment that ran."""
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    found = []

    def load(key):
        def run(settings, progress):
            found.append((key, settings))
            progress(0.5)
            return Outcome(rows=(Row("a", "b", "c", "d"),))

        return Paper(key, f"Paper {key}", "Citation.", (Experiment("one", f"First of {key}", run),))

    monkeypatch.setattr(_report, "load_paper", load)
    return found


def test_names_are_those_of_the_papers_and_all():
    assert {name.value for name in PaperName} == {*_report.PAPERS, "all"}


def test_one_paper_is_reproduced(riemdp, seen, tmp_path):
    output = tmp_path / "new" / "folder"
    (tmp_path / "mnist_part.npz").touch()
    result = riemdp("reproduce", "jiang", "--quick", "--output", output, "--data", tmp_path)
    assert result.exit_code == 0
    assert result.stdout == f"{output / 'jiang.md'}\n"
    assert result.stderr == "First of jiang: done\n"
    assert [key for key, _ in seen] == ["jiang"]
    assert seen[0][1].quick
    assert seen[0][1].data == tmp_path
    assert "Paper jiang" in (output / "jiang.md").read_text(encoding="utf-8")


def test_all_reproduces_all_and_a_second_run_reads_the_cache(riemdp, seen, tmp_path):
    for _ in range(2):
        result = riemdp("reproduce", "all", "--output", tmp_path)
        assert result.exit_code == 0
        assert result.stdout.split() == [str(tmp_path / f"{key}.md") for key in _report.PAPERS]
    assert [key for key, _ in seen] == list(_report.PAPERS)
    assert not seen[0][1].quick
    assert seen[0][1].data is None


def test_unknown_papers_and_folders_are_usage_errors(riemdp, seen, tmp_path):
    assert riemdp("reproduce", "euler", "--output", tmp_path).exit_code == 2
    assert riemdp("reproduce", "he", "--data", tmp_path / "none").exit_code == 2
    assert riemdp("reproduce").exit_code == 2
    result = riemdp("reproduce", "he", "--data", tmp_path, "--output", tmp_path)
    assert result.exit_code == 2
    assert "(--data or RIEMDP_DATA) must hold one of" in result.stderr
    assert not seen


def test_an_output_that_cannot_be_written_is_one_line(riemdp, seen, tmp_path):
    (tmp_path / "file").touch()
    result = riemdp("reproduce", "he", "--output", tmp_path / "file")
    assert result.exit_code == 2
    assert result.stderr == f"riemdp: {tmp_path / 'file'}: File exists\n"
    assert not seen


def test_a_terminal_shows_bars(riemdp, seen, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    result = riemdp("reproduce", "soto", "--output", tmp_path)
    assert "First of soto" in result.stderr
    assert "100 %" in result.stderr
    assert "done" not in result.stderr
