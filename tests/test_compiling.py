"""What compiles loops: options, and what happens where it cannot."""

from __future__ import annotations

import sys

import pytest

from riemdp import _compiling


class Compiler:
    """As numba, without a folder to write to."""

    def __init__(self):
        self.asked = []

    def njit(self, **options):
        self.asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function


def test_without_a_folder_to_write_to_nothing_is_kept():
    compiler = Compiler()
    assert _compiling.compiled(compiler, loop) is loop
    assert [options.get("cache", False) for options in compiler.asked] == [True, False]
    assert all("fastmath" not in options for options in compiler.asked)


def loop(array):
    array[:] = 0.0


def test_without_numba_there_is_no_compiler(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert _compiling.compiler() is None


def test_a_numba_that_is_switched_off_or_too_old_is_left_alone(monkeypatch):
    numba = pytest.importorskip("numba")
    assert _compiling.compiler() is not None
    with monkeypatch.context() as patched:
        patched.setattr(numba.config, "DISABLE_JIT", 1)
        assert _compiling.compiler() is None
    monkeypatch.setattr(numba, "version_info", type("Version", (), {"short": (0, 58)}))
    assert _compiling.compiler() is None
