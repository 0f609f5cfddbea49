"""The script that finds other interpreters."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import pythons

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


@pytest.fixture
def install(tmp_path):
    """Put a stand-in for an interpreter somewhere; say where."""

    def make(place, answer, status=0):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{answer}'\nexit {status}\n")
        path.chmod(0o755)
        return path

    return make


def found(tmp_path, own=(3, 11)):
    home = tmp_path / "home"
    return pythons.others({"PATH": str(tmp_path / "bin"), "HOME": str(home)}, own)


def test_interpreters_on_the_path_and_under_pyenv(install, tmp_path):
    third = install("bin/python3.13", "3 13 final")
    second = install("home/.pyenv/versions/3.12.1/bin/python3.12", "3 12 final")
    assert list(found(tmp_path).items()) == [((3, 12), second), ((3, 13), third)]


def test_what_does_not_run_is_passed_over(install, tmp_path):
    install("bin/python3.12", "pyenv: python3.12: command not found", status=127)
    install("bin/python3.13", "nothing of use")
    broken = install("bin/python3.14", "3 14 final")
    broken.chmod(0o644)
    assert found(tmp_path) == {}
    good = install("home/.pyenv/versions/3.12.1/bin/python3.12", "3 12 final")
    assert found(tmp_path) == {(3, 12): good}


def test_the_one_in_use_older_ones_and_previews_are_left_out(install, tmp_path):
    install("bin/python3.10", "3 10 final")
    install("bin/python3.11", "3 11 final")
    install("bin/python3.15", "3 15 alpha")
    install("bin/python3.12-config", "3 12 final")
    assert found(tmp_path) == {}
    assert list(found(tmp_path, own=(3, 12))) == [(3, 11)]


def test_a_python3_of_any_version_counts(install, tmp_path):
    path = install("bin/python3", "3 14 final")
    assert found(tmp_path) == {(3, 14): path}


def test_the_running_interpreter_has_its_version(tmp_path):
    assert pythons.version(Path(sys.executable)) == sys.version_info[:2]
    assert pythons.version(tmp_path / "missing") is None
