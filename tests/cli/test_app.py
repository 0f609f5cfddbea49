from __future__ import annotations

import errno
import json
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import riemdp
from riemdp.cli import _app


def run_raising(error):
    app = typer.Typer(cls=_app._Commands, rich_markup_mode=None, pretty_exceptions_enable=False)

    @app.command()
    def fail():
        raise error

    @app.command()
    def other():
        """Keep the group a group."""

    return CliRunner().invoke(app, ["fail"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (riemdp.NotOnManifoldError, 2),
        (riemdp.InvalidParameterError, 2),
        (riemdp.UnsupportedBallError, 2),
        (riemdp.UnsupportedManifoldError, 2),
        (riemdp.ConvergenceError, 2),
        (riemdp.UnprovenMechanismError, 2),
        (riemdp.CutLocusError, 2),
        (riemdp.InvalidBudgetError, 3),
        (riemdp.NotAttainableError, 3),
        (riemdp.BudgetExceededError, 3),
        (riemdp.NoConversionError, 3),
    ],
)
def test_errors_become_one_line_and_a_code(error, code):
    result = run_raising(error("what\nwas wrong"))
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr == "riemdp: what was wrong\n"


def test_errors_of_the_system():
    result = run_raising(FileNotFoundError(errno.ENOENT, "No such file or directory", "a.npy"))
    assert result.exit_code == 2
    assert result.stderr == "riemdp: a.npy: No such file or directory\n"
    assert run_raising(OSError("odd")).stderr == "riemdp: file: OSError\n"


def test_a_closed_pipe_is_no_error_of_the_user():
    result = run_raising(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert result.exit_code == 1
    assert result.stderr == ""


def test_other_errors_are_not_hidden():
    assert isinstance(run_raising(RuntimeError("bug")).exception, RuntimeError)


def test_help_lists_the_commands_and_the_codes():
    result = CliRunner().invoke(_app.app, ["--help"])
    assert result.exit_code == 0
    for word in ("mean", "plan", "calibrate", "verify", "demo", "Exit codes"):
        assert word in result.stdout
    assert CliRunner().invoke(_app.app, []).exit_code == 2


def test_version():
    result = CliRunner().invoke(_app.app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"riemdp {riemdp.__version__}\n"


@pytest.mark.parametrize("command", ["mean", "plan", "calibrate", "verify", "demo"])
def test_every_command_has_help(command):
    result = CliRunner().invoke(_app.app, [command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_main_reads_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["riemdp", "--help"])
    with pytest.raises(SystemExit) as end:
        riemdp.cli.main()
    assert end.value.code == 0
    assert "calibrate" in capsys.readouterr().out


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "riemdp", "plan", "--what"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_command_starts_without_the_demo_libraries():
    code = "import json, sys, riemdp.cli; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"matplotlib", "sklearn", "randomgen"} & set(json.loads(done.stdout))
