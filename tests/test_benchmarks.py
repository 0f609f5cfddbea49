"""What benchmarks, which no test runs, take from the library is there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

FILES = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


def missing(source):
    """Names that a file takes from modules of the library, in vain."""
    tree, modules, lost = ast.parse(source), {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "riemdp":
            home = importlib.import_module(node.module)
            for name in node.names:
                if not hasattr(home, name.name):
                    try:
                        importlib.import_module(f"{node.module}.{name.name}")
                    except ModuleNotFoundError:
                        lost.append(f"{node.module}.{name.name}")
                        continue
                modules[name.asname or name.name] = getattr(home, name.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            home = modules.get(node.value.id)
            if isinstance(home, ModuleType) and not hasattr(home, node.attr):
                lost.append(f"{home.__name__}.{node.attr}")
    return lost


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_names_of_the_library_exist(file):
    assert missing(file.read_text(encoding="utf-8")) == []


def test_a_name_that_is_gone_shows():
    source = "from riemdp.noise import _affine_invariant as laws, Nothing\nlaws.nowhere.clear()\n"
    assert missing(source) == ["riemdp.noise.Nothing", "riemdp.noise._affine_invariant.nowhere"]
