"""Examples in docstrings: every public function and class has one; `make docs` runs them."""

from __future__ import annotations

import doctest
import inspect
import pkgutil

import doctests
import riemdp


def test_every_public_function_and_class_has_an_example():
    pages = doctests.pages("riemdp")
    assert len(pages) > 220
    everywhere = {name for name in riemdp.__all__ if callable(getattr(riemdp, name))}
    assert {f"riemdp.{name}" for name in everywhere} <= set(pages)
    # Their library is slow to import; tools/doctests.py, which `make docs` runs, looks there too.
    assert doctests.without_example(p for p in pages if "estimators" not in p) == []


def test_what_only_stands_without_an_example_does():
    for name in doctests.WITHOUT:
        item = pkgutil.resolve_name(name)
        assert inspect.isabstract(item)
        assert ">>>" not in item.__doc__


def test_a_page_without_an_example_is_found(monkeypatch):
    for text in (None, "Return one.", "Examples\n--------\n", ">>> 1 + 1\n2\n"):
        monkeypatch.setattr(riemdp.plan, "__doc__", text)
        assert doctests.without_example(["riemdp.plan", "riemdp.GDP"]) == ["riemdp.plan"]


def test_an_example_that_is_wrong_fails():
    class Wrong:
        """>>> 1 + 1
        3
        """

    (test,) = doctest.DocTestFinder().find(Wrong, "Wrong", module=False, globs={})
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None).failed == 1
