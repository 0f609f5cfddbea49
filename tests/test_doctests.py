"""Examples in docstrings: every public function has one, and all of them run."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
from pathlib import Path

import pytest

import riemdp

PATH = Path(__file__).resolve().parents[1] / "tools" / "doctests.py"
spec = importlib.util.spec_from_file_location("doctests", PATH)
doctests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(doctests)


def test_every_public_function_has_an_example():
    functions = [name for name in riemdp.__all__ if inspect.isfunction(getattr(riemdp, name))]
    assert len(functions) > 25
    assert [n for n in functions if ">>>" not in (getattr(riemdp, n).__doc__ or "")] == []


@pytest.mark.slow  # `make docs` runs them too
def test_examples_run():
    found = list(doctests.examples())
    names = {test.name.rpartition(".")[2] for test in found}
    assert {"private_mean", "plan", "verify", "Sphere"} <= names
    runner = doctest.DocTestRunner(optionflags=doctests.OPTIONS)
    for test in found:
        runner.run(test)
    assert runner.tries > 400
    assert runner.failures == 0


def test_an_example_that_is_wrong_fails():
    class Wrong:
        """>>> 1 + 1
        3
        """

    (test,) = doctest.DocTestFinder().find(Wrong, "Wrong", module=False, globs={})
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None).failed == 1
