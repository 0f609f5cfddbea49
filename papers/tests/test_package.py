"""The package as a whole: what it uses of riemdp, what it names, what riemdp does not have."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest

import riemdp
import riemdp_papers

PAPERS = Path(__file__).resolve().parents[1]
ROOT = PAPERS.parent
FILES = sorted([*(PAPERS / "src").rglob("*.py"), *(PAPERS / "tests").glob("*.py")])


def _private(source, name="riemdp"):
    """Private names that a source imports from a package or asks one of its modules for."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            found.append(ast.unparse(node))
    private = re.compile(rf"{name}(\.\w+)*\._[a-z]")
    return [path for path in found if private.match(path)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_private_name_of_riemdp_is_used(file):
    assert _private(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import riemdp._files",
        "from riemdp._files import read_npz",
        "from riemdp import _files",
        "def f():\n    from riemdp.noise._radial import RadialLaw",
        "import riemdp\nx = riemdp.noise._radial.RadialLaw",
    ],
)
def test_a_private_name_would_be_noticed(source):
    assert _private(source)


def test_names_of_this_package_are_no_concern():
    assert not _private("from riemdp_papers._checks import count\nriemdp.__version__")
    assert not _private("from riemdp.noise import RadialLaw")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_imported_from_a_package_is_named_there(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "riemdp":
            named = importlib.import_module(node.module).__all__
            assert {alias.name for alias in node.names} <= {*named}, node.module


def test_public_names_are_documented():
    assert len(set(riemdp_papers.__all__)) == len(riemdp_papers.__all__)
    for name in riemdp_papers.__all__:
        item = getattr(riemdp_papers, name)
        if inspect.isfunction(item) or inspect.isclass(item):
            assert re.search(r"(Parameters|Attributes)\n-", inspect.getdoc(item)), name


def test_every_source_module_has_its_test_file():
    modules = {file.stem.lstrip("_") for file in (PAPERS / "src").rglob("_[!_]*.py")}
    assert modules <= {file.stem.removeprefix("test_") for file in (PAPERS / "tests").glob("*.py")}


def test_the_version_is_the_declared_one_and_needs_this_riemdp():
    project = tomllib.loads((PAPERS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == riemdp_papers.__version__
    assert project["name"] == "riemdp-papers"
    (needed,) = [re.fullmatch(r"riemdp\[.*\]>=(.*)", name) for name in project["dependencies"]]
    assert f"{riemdp.__version__}.".startswith(f"{needed[1]}.")
    assert (PAPERS / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_riemdp_holds_nothing_of_it():
    assert not hasattr(riemdp.research.ConformalLaplace, "published")
    package = Path(riemdp.__file__).parent
    for word in ("riemdp_papers", "PublishedNoise", "conformal-laplace-published", "PublishedConf"):
        assert [file for file in package.rglob("*.py") if word in file.read_text("utf-8")] == []
