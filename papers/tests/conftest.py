"""Shared test tools: the command line with the commands of this package, installed or not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keyed_tests import pytest_addoption, pytest_runtest_protocol  # noqa: F401 -- hooks
from riemdp.cli import app

PROJECT = tomllib.loads(
    (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]


@pytest.fixture
def riemdp(tmp_path_factory, monkeypatch):
    """``riemdp(*arguments)``: run the command, return exit code, stdout and stderr."""
    place = tmp_path_factory.mktemp("site")
    record = place / f"riemdp_papers-{PROJECT['version']}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    )
    groups = PROJECT["entry-points"]
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (record / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(place)

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
