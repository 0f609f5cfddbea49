from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import riemdp
from riemdp.cli import _app

#: A text that would forge a line and steer a terminal.
FORGED = "a\nok    guarantee\x1b[2K\u202e[red]"


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


def test_a_closed_pipe_is_no_error_of_the_user_and_no_verdict():
    result = run_raising(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert result.exit_code == 141
    assert result.stderr == ""


def test_an_interruption_is_no_verdict():
    result = run_raising(KeyboardInterrupt())
    assert result.exit_code == 130
    assert result.stderr == ""


def test_too_little_memory_is_a_matter_of_the_input():
    result = run_raising(MemoryError())
    assert result.exit_code == 2
    assert result.stderr == "riemdp: this does not fit into memory\n"


@pytest.mark.parametrize("error", [RuntimeError, EOFError, SystemExit, BaseException, typer.Abort])
def test_unforeseen_errors_have_a_code_of_their_own_and_show_no_data(error):
    result = run_raising(error("secret"))
    assert result.exit_code == (130 if error is typer.Abort else 70)
    assert "secret" not in result.output
    if error is not typer.Abort:
        assert result.stderr.startswith(f"riemdp: unexpected {error.__name__} at test_app.py:")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [(FORGED,), ("plan", "--n", FORGED), ("plan", f"--{FORGED}")])
def test_an_argument_cannot_forge_lines(arguments):
    result = CliRunner().invoke(_app.app, arguments)
    assert result.exit_code == 2
    for part in ("\x1b", "\u202e", "\nok "):
        assert part not in result.output


@pytest.mark.fast(1)
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_any_encoding_will_do(tmp_path, matrices, encoding):
    release, spec = tmp_path / "release.json", tmp_path / "spec.json"
    table = {"mechanism": "riemannian-laplace", "manifold": {"name": "sphere", "dim": 2}}
    table |= {"sensitivity": 0.2, "claim": {"epsilon": 1, "delta": 0.1}, "samples": 400, "seed": 0}
    spec.write_text(json.dumps(table), encoding="utf-8")
    budget = ("--epsilon", "1", "--delta", "1e-6")
    space = ("--manifold", "spd-log-euclidean", "--radius", "1")
    sphere = ("--manifold", "sphere", "--dim", "2")
    mechanism = ("--mechanism", "tangent-gaussian", "--sensitivity", "1")
    commands = (
        ("--help",),
        *((command, "--help") for command in ("mean", "plan", "calibrate", "verify", "audit")),
        ("mean", str(matrices), *space, "--center", "identity", *budget, "--release", str(release)),
        ("verify", str(release)),
        (
            "plan",
            *sphere,
            "--radius",
            "0.5",
            "--n",
            "50",
            "--epsilon",
            "1",
            "--target-error",
            "0.1",
        ),
        ("calibrate", *mechanism, *sphere, "--mu", "1"),
        ("audit", str(spec)),
        ("verify", str(tmp_path / "nö\nne.json")),
    )
    code = (
        "import json, sys\nfrom riemdp.cli import app\nfor arguments in json.loads(sys.argv[1]):\n"
        "    try: app(arguments)\n    except SystemExit as end: print('code', end.code, flush=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(commands)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    out, err = done.stdout.decode(encoding), done.stderr.decode(encoding)
    codes = [line for line in out.splitlines() if line.startswith("code")]
    assert codes == ["code 0"] * (len(commands) - 1) + ["code 2"], out + err
    assert "epsilon = 1, delta = 1e-06" in out
    assert "mu = 1" in out
    assert err.endswith("ne.json: No such file or directory\n")
    assert len(err.splitlines()) == 1


@pytest.mark.fast(1)
@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
@pytest.mark.parametrize("arguments", [("--help",), ("verify",)])
def test_a_reader_that_leaves_gets_no_verdict(tmp_path, arguments, riemdp, matrices):
    if arguments == ("verify",):
        release = tmp_path / "release.json"
        riemdp(
            "mean", matrices, "--manifold", "spd-log-euclidean", "--center", "identity",
            "--radius", 2, "--mu", 1, "--release", release,
        )  # fmt: skip
        arguments = ("verify", str(release))
    end, start = os.pipe()
    os.close(end)
    with os.fdopen(start, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "riemdp", *arguments],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.slow
def test_an_output_that_takes_no_more_is_an_error(monkeypatch):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "riemdp", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "riemdp: file: No space left on device\n"


def test_without_stdout_the_code_is_what_counts(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as end:
        _app.app(["--version"])
    sys.stdout.close()
    assert end.value.code == 0


@pytest.mark.parametrize("arguments", [(), ("ledger",)])
def test_without_arguments_the_help_has_its_lines(arguments):
    result = CliRunner().invoke(_app.app, arguments)
    assert result.exit_code == 2
    assert "\n  verify " in result.stderr
    assert "\\n" not in result.stderr


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


@pytest.mark.slow
def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "riemdp", "plan", "--what"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
