"""Print how large the project is, and how much of it a release and its verification use.

`make measure` prints one table; `--json` the same numbers for comparing. Code lines are lines of
source without blank lines, comments and docstrings.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import json
import subprocess
import sys
from pathlib import Path

import riemdp

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "riemdp"
#: What is around releases: not part of the core.
AROUND = (
    "app", "auditing", "cli", "estimators", "io", "ledger", "report", "research", "testing",
    "workers",
)  # fmt: skip
_FLAT = "riemdp.Ball(riemdp.SPDLogEuclidean(2), [[1.0, 0.0], [0.0, 1.0]], 1.0)"
_CURVED = "riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)"
_RELEASE = """
import numpy as np, riemdp
ball = {ball}
points = ball.point(np.random.default_rng(0).normal(0.0, 0.2, (50, ball.manifold.dim)))
"""
_DOCUMENT = """
import json
print(json.dumps(riemdp.private_mean(points, ball, riemdp.GDP(1.0)).to_json()))
"""
_VERIFY = """
import json, sys, riemdp
assert riemdp.verify(sys.stdin.read()).passed
names = sorted(n for n, m in sys.modules.items() if n.split(".")[0] == "riemdp")
print(json.dumps([f for n in names if (f := getattr(sys.modules[n], "__file__", None))]))
"""
_ENTERED = """
import json, os, sys
entered = set()
def note(frame, event, argument):
    is_code = event == "call" and frame.f_code.co_name != "<module>"
    if is_code and os.sep + "riemdp" + os.sep in frame.f_code.co_filename:
        entered.add(frame.f_code.co_filename)
def files():
    entered.clear()
    sys.setprofile(note)
    riemdp.private_mean(points, ball, riemdp.GDP(1.0))
    sys.setprofile(None)
    return len(entered)
print(json.dumps([files(), files()]))
"""


def code_lines(tree: ast.AST, text: str) -> int:
    """Return the number of lines without blank ones, comments and docstrings."""
    documented: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            text_only = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if text_only and isinstance(first.value.value, str):
                documented |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    lines = (line.strip() for line in text.splitlines())
    return sum(
        bool(line) and not line.startswith("#") and number not in documented
        for number, line in enumerate(lines, 1)
    )


class Size:
    """What some files of source hold."""

    def __init__(self, files: list[Path]) -> None:
        self.files, self.code, self.raises, self.imports = len(files), 0, 0, 0
        for path in files:
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            self.code += code_lines(tree, text)
            for node in ast.walk(tree):
                self.raises += isinstance(node, ast.Raise)
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self.imports += (node.end_lineno or 0) - node.lineno + 1


def core_files() -> list[Path]:
    """Return the files of spaces, privacy, noise, the kernel, statistics and releases."""
    found = sorted(SOURCE.rglob("*.py"))
    return [path for path in found if path.relative_to(SOURCE).parts[0] not in AROUND]


def circles() -> int:
    """Return the number of import circles among modules, imports for type checking included."""
    modules = {_name(path): path for path in SOURCE.rglob("*.py")}
    edges = {name: _imported(path, modules) - {name} for name, path in modules.items()}
    return sum(len(group) > 1 for group in _components(edges))


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, modules: dict[str, Path]) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module in modules
            and not path.match("__init__.py")
        ):
            below = {f"{node.module}.{each.name}" for each in node.names} & set(modules)
            packages = modules[node.module].name == "__init__.py"
            found |= below or ({node.module} if not packages else set())
    return found


def _components(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []
    counter = itertools.count()

    def visit(node: str) -> None:
        index[node] = low[node] = next(counter)
        stack.append(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group: set[str] = set()
            while node not in group:
                group.add(stack.pop())
            found.append(group)

    sys.setrecursionlimit(10_000)
    for node in edges:
        if node not in index:
            visit(node)
    return found


def in_fresh_process(program: str, given: str = "") -> object:
    """Return what a program prints as JSON."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        input=given, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(run.stdout.splitlines()[-1])


def verifies_with(ball: str) -> Size:
    """Return the size of what a fresh process loads to verify a document."""
    document = in_fresh_process(_RELEASE.format(ball=ball) + _DOCUMENT)
    assert isinstance(document, str)
    files = in_fresh_process(_VERIFY, document)
    assert isinstance(files, list)
    return Size([Path(file) for file in files if file.endswith(".py")])


def native_lines() -> int:
    """Return the lines of C++ without blank ones and those of comments alone."""
    paths = [path for end in ("*.h", "*.cpp") for path in (ROOT / "native").glob(end)]
    lines = (line.strip() for path in paths for line in path.read_text("utf-8").splitlines())
    return sum(bool(line) and not line.startswith("//") for line in lines)


def words(*folders: Path, but: str = "") -> int:
    """Return the words of the Markdown files in some folders, those of a subfolder left out."""
    found = 0
    for folder in folders:
        for path in folder.rglob("*.md"):
            inside = path.relative_to(folder).parts
            if not {"_build", "gallery", "generated", but} & set(inside):
                found += len(path.read_text(encoding="utf-8").split())
    return found


def tests() -> tuple[int, int]:
    """Return lines of tests, and those of functions that use private names of the library."""
    lines = private = 0
    for path in [ROOT / "conftest.py", ROOT / "tools" / "laws.py", *(ROOT / "tests").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        lines += text.count("\n")
        body = ast.parse(text).body
        hidden = {
            each.asname or each.name
            for node in body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("riemdp")
            for each in node.names
            if "._" in f"{node.module}.{each.name}"
        }
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                private += ((node.end_lineno or 0) - node.lineno + 1) * bool(used & hidden)
    return lines, private


def rows() -> dict[str, object]:
    """Return every number by its name."""
    core, everything = Size(core_files()), Size(sorted(SOURCE.rglob("*.py")))
    flat, curved = verifies_with(_FLAT), verifies_with(_CURVED)
    entered = in_fresh_process(_RELEASE.format(ball=_CURVED) + _ENTERED)
    test_lines, private = tests()
    kernel, research = (Size(sorted((SOURCE / x).rglob("*.py"))) for x in ("kernel", "research"))
    members = [name for name in vars(riemdp.statistics.Statistic) if not name.startswith("_")]
    return {
        "core: code lines, files": (core.code, core.files),
        "all of src/riemdp: code lines, files": (everything.code, everything.files),
        "kernel: code lines": kernel.code,
        "compiled extension: code lines": native_lines(),
        "research, around the core: code lines, files": (research.code, research.files),
        "loaded by verify of a flat document: code lines, files": (flat.code, flat.files),
        "loaded by verify of a curved document: code lines, files": (curved.code, curved.files),
        "files entered by a first, warm private_mean on S^2": tuple(entered),  # type: ignore[arg-type]
        "parameters of private_mean": len(inspect.signature(riemdp.private_mean).parameters),
        "members of Statistic": len(members),
        "raise sites in the core": core.raises,
        "import share of the core, %": round(100 * core.imports / core.code, 1),
        "import circles": circles(),
        "tests: lines, of functions that use private names": (test_lines, private),
        "words of guides": words(ROOT / "docs", but="proofs"),
        "words of proof notes": words(ROOT / "docs" / "proofs"),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    found = rows()
    if parser.parse_args().json:
        print(json.dumps(found, indent=1))
        return
    for name, value in found.items():
        numbers = value if isinstance(value, tuple) else (value,)
        print(f"{name:<58} {', '.join(f'{x:,}' for x in numbers)}")


if __name__ == "__main__":
    main()
