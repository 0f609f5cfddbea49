"""The examples of pages and of the README run; `make docs` runs those of the gallery."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["index.md", "quickstart.md", "study.md", "is_my_data_enough.md", "from_pyriemann.md"]
)
def test_code_of_a_page_runs_as_it_is_pasted(page, capsys, tmp_path, monkeypatch):
    if "pyriemann" in page:
        pytest.importorskip("pyriemann")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile("\n".join(blocks), page, "exec"), names)
    assert capsys.readouterr().out or "pyriemann" in page
    assert "riemdp" in names


def test_the_gallery_has_a_place_for_every_script():
    path = ROOT / "docs" / "_gallery.py"
    spec = importlib.util.spec_from_file_location("_gallery", path)
    gallery = importlib.util.module_from_spec(spec)
    pytest.importorskip("matplotlib")
    spec.loader.exec_module(gallery)
    place = gallery.StudyOrder("examples")
    scripts = [script.name for script in (ROOT / "examples").glob("plot_*.py")]
    assert sorted(map(place, scripts)) == list(range(len(gallery.ORDER)))
    assert place("plot_plan.py") < place("plot_quickstart_spd.py") < place("plot_audit.py")
    with pytest.raises(ValueError, match="not in tuple"):
        place("plot_forgotten.py")


def test_readme_example_runs(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["release"].private
    assert "riemannian-laplace" in capsys.readouterr().out
