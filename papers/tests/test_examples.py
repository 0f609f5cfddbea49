"""The example of the gallery that compares with what is published runs, as that of the docs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [
    path for path in (ROOT / "examples").glob("plot_*.py") if "riemdp_papers" in path.read_text()
]


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_example_runs(script, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    shown = []
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: shown.append(script))
    try:
        runpy.run_path(str(script))
    finally:
        matplotlib.pyplot.close("all")
    assert shown
    assert "true loss 2.015, delta at the nominal epsilon 0.589" in capsys.readouterr().out


def test_the_numbers_of_the_documentation():
    text = (ROOT / "docs" / "conformal.md").read_text(encoding="utf-8")
    code, *_ = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "conformal.md", "exec"), names)
    loss = np.abs(names["log_p"] - names["log_q"]).max()
    assert loss == pytest.approx(2.015, abs=5e-4)
