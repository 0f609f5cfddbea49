"""The package as a whole: version, public names, import time, layers."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import riemdp

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "spaces",
    "statistics",
    "noise",
    "privacy",
    "mechanisms",
    "release",
    "research",
    "estimators",
    "auditing",
    "workers",
    "ledger",
    "report",
    "cli",
)


def test_version_is_the_installed_one():
    assert riemdp.__version__ == importlib.metadata.version("riemdp")


def test_version_is_in_the_changelog_and_the_citation():
    assert f"## [{riemdp.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {riemdp.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_public_names_exist_once_and_are_documented():
    names = riemdp.__all__
    assert len(names) == len(set(names))
    for name in names:
        item = getattr(riemdp, name)
        if name != "__version__":
            assert item.__doc__, name


def _explains(*functions):
    """Whether a docstring, or that of a method it overrides, says what the parameters are."""
    texts = [inspect.getdoc(function) or "" for function in functions]
    sections = any(re.search(r"(Parameters|Attributes)\n-", text) for text in texts)
    return sections or re.search(r"[Ss]ee :(meth|func):`", texts[0]) is not None


def _parameters(function):
    return set(inspect.signature(function).parameters) - {"self", "cls"}


def _unexplained_members(item):
    for name, value in vars(item).items():
        function = getattr(value, "__func__", value)
        if not name.startswith("_") and inspect.isfunction(function) and _parameters(function):
            overridden = [vars(base)[name] for base in item.__mro__[1:] if name in vars(base)]
            if not _explains(function, *overridden):
                yield f"{item.__qualname__}.{name}"


def test_public_parameters_are_explained():
    packages = [riemdp] + [importlib.import_module(f"riemdp.{name}") for name in PACKAGES]
    items = [getattr(package, name) for package in packages for name in package.__all__]
    functions = [item for item in items if inspect.isfunction(item) and _parameters(item)]
    classes = [item for item in items if isinstance(item, type)]
    laws = [item for item in classes if dataclasses.is_dataclass(item) and _parameters(item)]
    missing = [item.__qualname__ for item in functions + laws if not _explains(item)]
    missing += [name for item in classes for name in _unexplained_members(item)]
    assert missing == []
    # negative control
    assert list(_unexplained_members(_Unexplained)) == ["_Unexplained.scaled"]


class _Unexplained:
    def scaled(self, factor):
        """Scale it."""
        return factor


def test_api_reference_lists_exactly_the_public_names():
    text = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", text, flags=re.MULTILINE)
    assert sorted(listed) == sorted(name for name in riemdp.__all__ if name != "__version__")


def test_cited_proof_notes_exist():
    notes = {path.stem for path in (ROOT / "docs" / "proofs").glob("*.md")}
    cited = {
        (path.name, note.removesuffix(".md"))
        for path in (ROOT / "src").rglob("*.py")
        for note in re.findall(r"docs/proofs/([\w.-]*\w)", path.read_text(encoding="utf-8"))
    }
    assert cited
    assert sorted((module, note) for module, note in cited if note not in notes) == []


def test_tests_named_in_proof_notes_exist():
    named = {
        (note.name, test)
        for note in (ROOT / "docs" / "proofs").glob("*.md")
        for test in re.findall(r"(?:papers/)?tests/[\w/]+\.py", note.read_text(encoding="utf-8"))
    }
    assert named
    assert sorted((note, test) for note, test in named if not (ROOT / test).exists()) == []


def test_every_source_module_has_its_test_file():
    package = ROOT / "src" / "riemdp"
    missing = [
        str(module.relative_to(package))
        for module in package.rglob("_*.py")
        if module.parent != package and module.name != "__init__.py"
        if not (
            ROOT
            / "tests"
            / module.parent.relative_to(package)
            / f"test_{module.stem.lstrip('_')}.py"
        ).exists()
    ]
    assert missing == []


def _run(code: str, **variables: str) -> str:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | variables
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


SESSION = """
import time
times = [time.process_time()]
import numpy as np
times.append(time.process_time())
import riemdp
times.append(time.process_time())
ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.5)
riemdp.private_mean(np.tile(ball.center, (50, 1)), ball, riemdp.PureDP(1.0))
times.append(time.process_time())
print((times[2] - times[1]) / (times[1] - times[0]))
print((times[3] - times[1]) / (times[1] - times[0]))
print(riemdp.__file__)
"""


def test_import_is_light(tmp_path):
    # One of four will do: the first compiles, and the machine may be busy. What is compiled is a
    # copy: the original would be compiled every time, where nothing may be written.
    copy = tmp_path / "riemdp"
    shutil.copytree(ROOT / "src" / "riemdp", copy, ignore=shutil.ignore_patterns("__pycache__"))
    kept = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    runs = (_run(SESSION, **kept).split() for _ in range(4))
    assert any(
        # 0.1 times as long as NumPy, and 3.7 to 4.2 with the first private mean of a session, by
        # the version of Python; with all modules of the library 3.7 to 4.3, and 5 to 5.5.
        float(alone) <= 0.5 and float(session) <= 5.5 and Path(path).parent == copy
        for alone, session, path in runs
    )


@pytest.fixture(scope="module")
def loaded():
    """Modules after ``import riemdp``, those of a mean on top, and all after ``riemdp.cli``."""
    code = (
        "import json, sys, riemdp; library = list(sys.modules); "
        "riemdp.private_mean, riemdp.Sphere, riemdp.Ball, riemdp.PureDP; mean = list(sys.modules); "
        "import riemdp.cli; print(json.dumps([library, mean, list(sys.modules)]))"
    )
    return [set(modules) for modules in json.loads(_run(code))]


def test_the_command_starts_without_the_demo_libraries(loaded):
    assert "riemdp.cli" in loaded[2]
    assert not {"matplotlib", "sklearn", "randomgen"} & loaded[2]


HEAVY = {
    "dp_accounting",
    "matplotlib",
    "riemdp._lanes",
    "randomgen",
    "rich",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.stats",
    "sklearn",
    "typer",
}


def test_import_leaves_heavy_modules_alone(loaded):
    assert loaded[1] & HEAVY == set()
    assert "typer" in loaded[2]  # it would be seen


def test_modules_are_loaded_when_somebody_asks_for_them(loaded):
    alone, mean, all_of_them = ({m for m in each if m.startswith("riemdp.")} for each in loaded)
    assert "scipy" not in loaded[0]
    assert len(alone) <= 10
    assert {"riemdp.spaces._sphere", "riemdp.release._run"} <= mean
    packages = {name.split(".")[1] for name in mean}
    unasked = {"auditing", "cli", "estimators", "io", "ledger", "report"}
    assert not packages & unasked
    other = {"spaces._rotations", "release._plan", "release._combine", "statistics._regression"}
    assert not {f"riemdp.{name}" for name in other} & mean
    assert {"cli", "io"} <= {name.split(".")[1] for name in all_of_them}  # they would be seen


def test_layers():
    lint = Path(sys.executable).with_name("lint-imports")
    if not lint.exists():
        pytest.skip("import-linter is not installed here; `make lint` checks the layers")
    done = subprocess.run(
        [lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
