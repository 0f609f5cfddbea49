"""Run the examples in the docstrings of riemdp, and say how many there are.

    python tools/doctests.py

Examples that need a library which is not installed are left out, and counted.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import sys
from typing import TYPE_CHECKING

import riemdp

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> Iterator[tuple[str, object]]:
    """Every module of riemdp by name; an error in place of one that needs what is not here."""
    for found in pkgutil.walk_packages(riemdp.__path__, "riemdp."):
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


def main() -> int:
    """Run them; 1 if one fails."""
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    names = [runner.run(test) and test.name for test in examples()]
    absent = [name for name, module in modules() if isinstance(module, ImportError)]
    print(
        f"{runner.tries} examples in {len(names)} docstrings, {runner.failures} failed; "
        f"{len(absent)} modules left out: a library that they need is not installed"
    )
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
