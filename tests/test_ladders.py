"""No object knows the classes of the others: nobody asks which definition or curve it has."""

import ast
from pathlib import Path

import pytest

from riemdp import privacy
from riemdp.privacy import Budget, PrivacyCurve

SOURCES = Path(__file__).resolve().parents[1] / "src" / "riemdp"
KINDS = {
    name
    for name, item in ((name, getattr(privacy, name)) for name in privacy.__all__)
    if isinstance(item, type) and issubclass(item, (Budget, PrivacyCurve))
} - {"Budget", "PrivacyCurve"}
#: Checks of an argument that has to be of the one class, a definition that asks for its own, and
#: the search, whose noise and prices are those of three definitions.
ALLOWED = {
    "privacy/_affordable.py: ApproxDP",
    "privacy/_approx.py: ApproxDP",
    "privacy/_certified.py: IsotropicCurve",
    "privacy/_rao.py: RaoDP",
    "kernel/_verify_search.py: PureDP",
    "kernel/_verify_search.py: ZCDP",
    "release/_search/_adaptive.py: PureDP",
}


def asked_types(source):
    """Names of classes in ``isinstance``, in patterns and in comparisons with ``type(...)``."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                yield from names(kinds)
            case ast.MatchClass(cls=kind):
                yield from names(kind)
            case ast.Compare() if any(map(asks_type, (node.left, *node.comparators))):
                yield from names(node)


def asks_type(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "type"


def names(node):
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def test_definitions_and_curves_are_not_switched_on():
    assert {"PureDP", "RaoDP", "GaussianCurve"} <= KINDS
    found = {
        f"{path.relative_to(SOURCES).as_posix()}: {name}"
        for path in SOURCES.rglob("*.py")
        for name in asked_types(path.read_text(encoding="utf-8"))
        if name in KINDS
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    "ladder",
    [
        "isinstance(budget, PureDP)",
        "isinstance(budget, (GDP, PureDP))",
        "isinstance(budget, GDP | PureDP)",
        "type(budget) is PureDP",
        "type(budget) in (GDP, PureDP)",
        "match budget:\n    case GDP() | PureDP(epsilon):\n        pass",
    ],
)
def test_a_ladder_is_seen(ladder):
    assert "PureDP" in set(asked_types(ladder))
