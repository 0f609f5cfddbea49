"""What the parts may know of each other: counts that shrink until they are nothing."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import riemdp
from riemdp import mechanisms, privacy
from riemdp.spaces import Manifold

PACKAGE = Path(riemdp.__file__).parent

#: Most that there may be; lower a number with the code, never raise one.
MOST = {
    "isinstance on manifolds": 0,
    "isinstance on mechanisms": 0,
    "isinstance on definitions": 0,
    "comparisons of kind": 0,
    "private imports across packages": 8,
}
#: It names all parts by itself, so that it need not trust them; and what no release needs.
OUTSIDE = {PACKAGE / "kernel" / "_verify.py", *(PACKAGE / "research").rglob("*.py")}
#: Where a class may be asked for, beside its own package.
HOMES = {"manifolds": "spaces", "mechanisms": "mechanisms", "definitions": "privacy"}


def _names(base):
    package = importlib.import_module(base.__module__.rpartition(".")[0])
    for name in package.__all__:  # what is not loaded is no subclass yet
        getattr(package, name)
    found, left = {base.__name__}, [base]
    while left:
        for kind in left.pop().__subclasses__():
            if kind.__module__.startswith("riemdp."):
                found.add(kind.__name__)
                left.append(kind)
    return found


CLASSES = {
    "manifolds": _names(Manifold),
    "mechanisms": _names(mechanisms.Mechanism),
    "definitions": _names(privacy.Budget) | {"Budget"},
}


def _package(path):
    """Package of a module, "" of one at the top."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def _asked(node):
    """Names of the classes that ``isinstance`` asks for, or a ``case`` pattern."""
    if isinstance(node, ast.MatchClass):
        kinds = [node.cls]
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
        second = node.args[1]
        kinds = second.elts if isinstance(second, ast.Tuple) else [second]
    else:
        return set()
    return {getattr(kind, "id", getattr(kind, "attr", "")) for kind in kinds}


def _compares_kind(node):
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    named = any(getattr(side, "attr", getattr(side, "id", "")) == "kind" for side in sides)
    words = [getattr(side, "value", None) for side in sides]
    return named and any(word in ("laplace", "gaussian") for word in words)


def _private_import(node, package):
    if not isinstance(node, ast.ImportFrom) or not node.module:
        return False
    parts = node.module.split(".")
    inside = len(parts) == 3 and parts[0] == "riemdp" and parts[2].startswith("_")
    return inside and parts[1] != package


def count(source, package):
    """Count what a module of a package should not do."""
    found = dict.fromkeys(MOST, 0)
    counted = (ast.MatchClass, ast.Call, ast.Compare, ast.ImportFrom)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, counted):
            continue
        asked = _asked(node)
        for sort, home in HOMES.items():
            if package != home and asked & CLASSES[sort]:
                found[f"isinstance on {sort}"] += 1
        found["comparisons of kind"] += _compares_kind(node)
        found["private imports across packages"] += _private_import(node, package)
    return found


@pytest.fixture(scope="module")
def counts():
    total = dict.fromkeys(MOST, 0)
    for path in set(PACKAGE.rglob("*.py")) - OUTSIDE:
        found = count(path.read_text(encoding="utf-8"), _package(path))
        total = {name: total[name] + found[name] for name in total}
    return total


@pytest.mark.parametrize("name", MOST)
def test_parts_do_not_know_more_of_each_other_than_they_did(counts, name):
    assert counts[name] <= MOST[name]


def test_what_is_counted():
    source = """
from riemdp.privacy._curve import PureCurve
from riemdp.privacy import GDP
from riemdp.noise._radial import Kind

def work(manifold, budget, law):
    if isinstance(manifold, (Sphere, int)) or isinstance(manifold, str):
        return law.kind == "laplace" or kind != "gaussian" or law.kind == other
    match budget:
        case GDP():
            return isinstance(law, TangentGaussian)
"""
    assert list(count(source, "noise").values()) == [1, 1, 1, 2, 1]
    assert list(count(source, "spaces").values()) == [0, 1, 1, 2, 2]
    assert list(count(source, "mechanisms").values()) == [1, 0, 1, 2, 2]
    assert list(count(source, "privacy").values()) == [1, 1, 0, 2, 1]
