from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from riemdp import InvalidParameterError
from riemdp_papers import _report
from riemdp_papers._experiment import Experiment, Line, Outcome, Panel, Paper, Row, Settings
from riemdp_papers._report import PAPERS, draw, load_paper, reproduce

pytest.importorskip("matplotlib.figure")  # builds the font cache, which warns if that is slow

ROW = Row("μ | σ", "1 (Table 1)", "1.1", "", "Because\nof this.")
PANEL = Panel("p", "x", "y", (Line("l", (1.0, 2.0), (3.0, 4.0), (4.0, 0.2)),), True, True)
QUICK = Settings(quick=True)
FIELDS = ("quantity", "paper", "reproduced", "exact", "remark")


@pytest.fixture(autouse=True)
def _no_data(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)


class Counting:
    """An experiment that counts its runs and can be told to fail."""

    def __init__(self):
        self.runs, self.fails = 0, False

    def __call__(self, settings, progress):
        self.runs += 1
        progress(0.5)
        if self.fails:
            raise RuntimeError("interrupted")
        return Outcome(rows=(ROW,), panels=(PANEL,), notes=(f"quick {settings.quick}",))


@pytest.fixture
def runs():
    return Counting(), Counting()


@pytest.fixture
def no_figures(monkeypatch):
    """Figures take longer than all the rest."""
    monkeypatch.setattr(_report, "draw", lambda panels, stem: None)


@pytest.fixture
def paper(runs):
    experiments = tuple(
        Experiment(name, f"Title {name}", run) for name, run in zip("ab", runs, strict=True)
    )
    return Paper("test", "A paper", "Its citation.", experiments)


def silent(experiment, share):
    assert 0.0 <= share <= 1.0


def test_a_page_has_table_figure_notes_and_command(paper, tmp_path):
    page = reproduce(paper, QUICK, tmp_path / "new", silent)
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "new" / "test.md"
    assert text.startswith("# A paper\n\nIts citation.\n")
    assert "`riemdp reproduce test --quick`" in text
    assert "This is a quick run" in text
    assert "nothing drawn here is private" in text
    assert r"| μ \| σ | 1 (Table 1) | 1.1 | — | Because of this. |" in text
    assert "|  | paper says | reproduced | exact | where they differ, and why |" in text
    assert "![Title a](figures/test-a.png)" in text
    assert "quick True" in text
    for name in ("a", "b"):
        assert (page.parent / f"figures/test-{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (page.parent / f"figures/test-{name}.svg").read_bytes()


def test_a_page_of_a_full_run_says_so(paper, tmp_path):
    text = reproduce(paper, Settings(quick=False), tmp_path, silent).read_text(encoding="utf-8")
    assert "This is a full run" in text
    assert "quick run" not in text


@pytest.mark.usefixtures("no_figures")
def test_finished_experiments_do_not_run_again(paper, runs, tmp_path):
    first = reproduce(paper, QUICK, tmp_path, silent).read_text(encoding="utf-8")
    assert reproduce(paper, QUICK, tmp_path, silent).read_text(encoding="utf-8") == first
    assert [run.runs for run in runs] == [1, 1]


@pytest.mark.usefixtures("no_figures")
def test_an_interrupted_run_goes_on_where_it_was(paper, runs, tmp_path):
    runs[1].fails = True
    with pytest.raises(RuntimeError, match="interrupted"):
        reproduce(paper, QUICK, tmp_path, silent)
    assert not (tmp_path / "test.md").exists()
    runs[1].fails = False
    reproduce(paper, QUICK, tmp_path, silent)
    assert [run.runs for run in runs] == [1, 2]


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1}'])
def test_a_broken_cache_is_made_again(content, paper, runs, tmp_path):
    reproduce(paper, QUICK, tmp_path, silent)
    (tmp_path / "cache" / "test-a.json").write_text(content)
    reproduce(paper, QUICK, tmp_path, silent)
    assert [run.runs for run in runs] == [2, 1]


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize("rows", [None, 1, [1], [{"quantity": "a"}], [dict.fromkeys(FIELDS, 1.0)]])
def test_wrong_results_in_a_cache_are_made_again(rows, paper, runs, tmp_path):
    reproduce(paper, QUICK, tmp_path, silent)
    file = tmp_path / "cache" / "test-a.json"
    content = json.loads(file.read_text())
    content["outcome"]["rows"] = rows
    file.write_text(json.dumps(content))
    reproduce(paper, QUICK, tmp_path, silent)
    assert [run.runs for run in runs] == [2, 1]


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize("settings", [Settings(quick=False), Settings(quick=True, seed=1)])
def test_other_settings_run_again(settings, paper, runs, tmp_path):
    reproduce(paper, QUICK, tmp_path, silent)
    reproduce(paper, settings, tmp_path, silent)
    assert [run.runs for run in runs] == [2, 2]


@pytest.mark.usefixtures("no_figures")
def test_other_code_data_and_libraries_run_again(paper, runs, tmp_path, monkeypatch):
    output, data = tmp_path / "out", tmp_path / "data"
    reproduce(paper, QUICK, output, silent)
    monkeypatch.setattr(_report, "_code_digest", lambda: "other")
    reproduce(paper, QUICK, output, silent)
    assert runs[0].runs == 2
    data.mkdir()
    (data / "mnist_part.npz").write_bytes(b"1")
    monkeypatch.setenv("RIEMDP_DATA", str(data))
    reproduce(paper, QUICK, output, silent)
    assert runs[0].runs == 3
    monkeypatch.delenv("RIEMDP_DATA")
    reproduce(paper, Settings(quick=True, data=data), output, silent)
    assert runs[0].runs == 3  # the same data
    (data / "mnist_part.npz").write_bytes(b"2")  # other data of the same size
    reproduce(paper, Settings(quick=True, data=data), output, silent)
    assert runs[0].runs == 4
    (data / "mnist_part.npz").rename(data / "octmnist.npz")  # the same as another data set
    reproduce(paper, Settings(quick=True, data=data), output, silent)
    assert runs[0].runs == 5
    monkeypatch.setattr(_report.scipy, "__version__", "0")
    reproduce(paper, Settings(quick=True, data=data), output, silent)
    assert runs[0].runs == 6


@pytest.mark.parametrize("variable", [True, False])
def test_a_folder_without_data_is_refused_before_any_run(
    variable, paper, runs, tmp_path, monkeypatch
):
    data = tmp_path / "data"
    monkeypatch.setenv("RIEMDP_DATA", str(data) if variable else str(tmp_path))
    settings = QUICK if variable else Settings(quick=True, data=data)
    for make in (lambda: None, data.mkdir):  # absent, then empty
        make()
        with pytest.raises(InvalidParameterError, match="RIEMDP_DATA" if variable else "--data"):
            reproduce(paper, settings, tmp_path / "out", silent)
    assert runs[0].runs == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_figures")
def test_two_runs_in_one_folder_do_not_disturb_each_other(paper, runs, tmp_path, monkeypatch):
    replace, nested = Path.replace, []

    def replacing(self, target):
        if self.suffix == ".tmp" and not nested:  # the other run writes and is done meanwhile
            nested.append(self)
            reproduce(paper, QUICK, tmp_path, silent)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replacing)
    reproduce(paper, QUICK, tmp_path, silent)
    assert nested
    assert [run.runs for run in runs] == [2, 1]
    assert not list((tmp_path / "cache").glob("*.tmp"))


@pytest.mark.parametrize("name", ["test.md", "figures/test-b.png", "figures/test-a.svg"])
def test_no_data_set_is_overwritten_under_another_name(paper, runs, tmp_path, name):
    data = tmp_path / "mnist_part.npz"
    data.write_bytes(b"data")
    (tmp_path / "figures").mkdir()
    (tmp_path / name).symlink_to(data)
    with pytest.raises(InvalidParameterError, match="is an input"):
        reproduce(paper, Settings(quick=True, data=tmp_path), tmp_path, silent)
    assert data.read_bytes() == b"data"
    assert [run.runs for run in runs] == [0, 0]


@pytest.mark.usefixtures("no_figures")
def test_progress_ends_at_one_also_from_the_cache(paper, tmp_path):
    seen = []
    for _ in range(2):
        reproduce(paper, QUICK, tmp_path, lambda experiment, share: seen.append(share))
    assert seen == [0.0, 0.5, 1.0, 0.0, 0.5, 1.0, 1.0, 1.0]


@pytest.mark.slow
def test_the_same_panels_give_the_same_files(tmp_path):
    for name in ("one", "two"):
        draw((PANEL,) * 4, tmp_path / name)
    for suffix in (".png", ".svg"):
        one, two = ((tmp_path / name).with_suffix(suffix).read_bytes() for name in ("one", "two"))
        assert one == two
    draw((PANEL,) * 3, tmp_path / "other")
    assert (tmp_path / "other.svg").read_bytes() != (tmp_path / "one.svg").read_bytes()


def test_an_experiment_without_panels_has_no_figure(tmp_path):
    def run(settings, progress):
        return Outcome(rows=(ROW,))

    paper = Paper("test", "t", "c", (Experiment("a", "A", run),))
    text = reproduce(paper, QUICK, tmp_path, silent).read_text(encoding="utf-8")
    assert "![" not in text
    assert not list((tmp_path / "figures").iterdir())


def test_without_matplotlib_the_error_names_the_extra(paper, runs, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidParameterError, match=r"riemdp\[plot\]"):
        reproduce(paper, QUICK, tmp_path, silent)
    assert runs[0].runs == 0


@pytest.mark.parametrize("key", PAPERS)
def test_every_paper_has_its_key_and_named_experiments(key):
    paper = load_paper(key)
    assert paper.key == key
    names = [experiment.name for experiment in paper.experiments]
    assert names
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and " " not in name for name in names)


def test_an_unknown_paper_is_refused():
    with pytest.raises(InvalidParameterError, match=r"one of reimherr.*got 'euler'"):
        load_paper("euler")
