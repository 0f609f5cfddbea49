"""The graph of imports, read from the sources: what is imported inside functions counts."""

import ast
import textwrap
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "src"


def import_graph(root):
    """Module to the modules of the same tree that it imports when it runs, at any time."""
    paths = {module_name(path, root): path for path in sorted(root.rglob("*.py"))}
    return {name: set(imported(path, paths)) - {name} for name, path in paths.items()}


def module_name(path, root):
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def imported(path, known):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # a package finds the names that it shows to type checkers when it is asked for them
    for node in ast.walk(tree) if path.name == "__init__.py" else running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                # a submodule is itself, all else is its package's
                whole = f"{node.module}.{alias.name}"
                yield from [name for name in (whole, node.module) if name in known][:1]


def running(node):
    """All nodes but those for type checkers alone."""
    found = [node]
    while found:
        node = found.pop()
        yield node
        found += [child for child in ast.iter_child_nodes(node) if not for_types(child)]


def for_types(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def check_no_cycle(graph):
    TopologicalSorter(graph).prepare()


@pytest.fixture(scope="module")
def graph():
    return import_graph(SOURCES)


def test_no_modules_import_each_other(graph):
    assert "riemdp.privacy._budget" in graph["riemdp.privacy._pure"]
    assert len(graph) > 100
    check_no_cycle(graph)


def test_names_that_a_package_finds_lazily_count(tmp_path):
    package = tmp_path / "tree"
    package.mkdir()
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tree._one import f\n"
    (package / "__init__.py").write_text(typed)
    (package / "_one.py").touch()
    check_no_cycle(import_graph(tmp_path))
    (package / "_one.py").write_text("def f():\n    from tree import f\n")
    with pytest.raises(CycleError):
        check_no_cycle(import_graph(tmp_path))


def test_definitions_stand_on_one_another_and_rules_on_none_of_them(graph):
    order = list(TopologicalSorter(graph).static_order())
    definitions = [f"riemdp.privacy._{name}" for name in DEFINITIONS]
    assert order.index("riemdp.privacy._rules") < min(map(order.index, definitions))
    known = {name for name in graph["riemdp.privacy._rules"] if "privacy" in name}
    assert known <= {"riemdp.privacy._adjacency"}
    assert not any("privacy" in name for name in graph["riemdp.privacy._adjacency"])
    for name in definitions:  # curves, composition and accounts come after all of them
        assert not graph[name] & {f"riemdp.privacy.{late}" for late in LATE}


DEFINITIONS = ["pure", "approx", "gdp", "rao", "kl", "renyi", "zcdp", "mean_cdp"]
LATE = [
    "_curve",
    "_closed_curves",
    "_composed",
    "_compose",
    "_accountant",
    "_conversions",
    "_affordable",
]


@pytest.mark.parametrize(
    "late",
    [
        "from tree._one import f",
        "from tree import _one",
        "import tree._one",
        "def f():\n    from tree._one import g",
        "def f():\n    if True:\n        import tree._one",
    ],
)
def test_a_circle_is_found(tmp_path, late):
    package = tmp_path / "tree"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_one.py").write_text("from tree import _two\n")
    typed = """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from tree._one import f
        """
    (package / "_two.py").write_text(textwrap.dedent(typed))
    check_no_cycle(import_graph(tmp_path))
    (package / "_two.py").write_text(textwrap.dedent(typed) + late)
    with pytest.raises(CycleError):
        check_no_cycle(import_graph(tmp_path))
