"""The examples of the page run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "estimators.md"


def test_the_page_runs(capsys):
    pytest.importorskip("pyriemann")
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {}
    for block in code:
        exec(compile(block, PAGE.name, "exec"), names)
    assert "tangent-gaussian" in capsys.readouterr().out
    assert names["vectors"].shape == (100, 6)
    assert names["model"][-1].private_
    assert names["model"].score(names["X_new"], names["y_new"]) > 0.8
