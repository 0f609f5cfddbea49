from __future__ import annotations

import functools

import numpy as np
import pytest
import typer.testing
from typer.testing import CliRunner

from riemdp.cli import app


@pytest.fixture(scope="session", autouse=True)
def _built_once():
    """Every run of a command would read the signatures of all commands again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def riemdp():
    """``riemdp(*arguments)``: run the command, return exit code, stdout and stderr."""

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def fails(riemdp):
    """``fails(code, *arguments)``: the one line on stderr of a command that exits with code."""

    def run(code, *arguments):
        result = riemdp(*arguments)
        assert result.exit_code == code, result.output
        assert result.stderr.startswith("riemdp: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return run


@pytest.fixture
def matrices(tmp_path):
    """File with 50 positive definite 3 by 3 matrices."""
    factors = np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=(50, 3, 3))
    np.save(tmp_path / "matrices.npy", factors @ factors.swapaxes(-1, -2))
    return tmp_path / "matrices.npy"
