"""Run the examples in the docstrings, and say which pages of docs/api have none.

    python tools/doctests.py

Noise is the same in every run; ``--keys 2`` draws other noise, and ``--keys 3``. Examples that
need a library which is not installed are left out, and counted.
"""

from __future__ import annotations

import argparse
import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fixed_keys import fixed_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PACKAGES = "riemdp", "riemdp_papers"
INDEX = Path(__file__).resolve().parents[1] / "docs" / "api" / "index.rst"
#: Errors need no example, nor does what only other classes of this library are made of.
WITHOUT = {"riemdp.statistics.MeanSolver"}


def modules() -> Iterator[tuple[str, object]]:
    """Every module by name; an error in place of one that needs what is not here."""
    for package in PACKAGES:
        try:
            path = importlib.import_module(package).__path__
        except ImportError as error:
            yield package, error
            continue
        for found in pkgutil.walk_packages(path, f"{package}."):
            if not found.name.endswith("__main__") and ".versions" not in found.name:
                try:
                    yield found.name, importlib.import_module(found.name)
                except ImportError as error:
                    yield found.name, error


def examples() -> Iterator[doctest.DocTest]:
    """Docstrings with examples, of functions and classes with their methods."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name, module in modules():
        for item in vars(module).values():
            own = getattr(item, "__module__", None) == name
            if own and (inspect.isclass(item) or inspect.isfunction(item)):
                for test in finder.find(item, f"{name}.{item.__name__}", module=False, globs={}):
                    if test.examples:
                        yield test


def run(tests: Iterable[doctest.DocTest], keys: str) -> doctest.DocTestRunner:
    """Run examples, each docstring with keys of its own for the noise."""
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for test in tests:
        with fixed_keys(f"{keys} {test.name}"):
            runner.run(test)
    return runner


def pages(package: str) -> list[str]:
    """Return the names of a package that have a page of their own in docs/api."""
    names, module = [], ""
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif module == package and (entry := re.fullmatch(r"   ~?([A-Za-z][\w.]*)", line)):
            names.append(f"{module}.{entry[1]}")
    return names


def without_example(names: Iterable[str]) -> list[str]:
    """Return those of the functions and classes whose docstring has no example."""
    found = {name: pkgutil.resolve_name(name) for name in names}
    return [
        name
        for name, item in found.items()
        if not (inspect.isclass(item) and issubclass(item, Exception))
        and name not in WITHOUT
        and not re.search(r"^Examples\n-{8}\n+>>> ", inspect.getdoc(item) or "", re.MULTILINE)
    ]


def main() -> int:
    """Run them; 1 if one fails, or a page has none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", default="fixed", help="another text draws other noise")
    keys = parser.parse_args().keys
    found = list(examples())
    runner = run(found, keys)
    absent = [name for name, module in modules() if isinstance(module, ImportError)]
    print(
        f"{runner.tries} examples in {len(found)} docstrings, {runner.failures} failed; "
        f"{len(absent)} modules left out: a library that they need is not installed"
    )
    bare = [name for p in PACKAGES if p not in absent for name in without_example(pages(p))]
    for name in bare:
        print(f"{name}: no example")
    return 1 if runner.failures or bare else 0


if __name__ == "__main__":
    sys.exit(main())
