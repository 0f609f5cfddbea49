"""Commands of other packages: real distributions, in a folder on the path."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs" / "command_line.md"
NUMBERS = itertools.count()


@pytest.fixture
def brings(tmp_path, monkeypatch):
    """``brings(code, command=thing, ...)``: install a package with commands; return its name."""

    def install(code, **commands):
        number = next(NUMBERS)
        site, module, package = tmp_path / str(number), f"guest_{number}", f"guest-{number}"
        record = site / f"{module}-1.0.dist-info"
        record.mkdir(parents=True)
        (site / f"{module}.py").write_text(code, encoding="utf-8")
        (record / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
        )
        lines = [f"{name} = {module}:{thing}" for name, thing in commands.items()]
        (record / "entry_points.txt").write_text("\n".join(["[riemdp.commands]", *lines, ""]))
        monkeypatch.syspath_prepend(site)
        return package

    yield install
    for name in [name for name in sys.modules if name.startswith("guest_")]:
        del sys.modules[name]


@pytest.fixture
def nothing_installed(monkeypatch):
    """No other package on the path, whatever is installed here."""
    monkeypatch.setattr("riemdp.cli._commands.entry_points", lambda group: ())


GREET = '''
import typer

def greet(name: str, *, loud: bool = False) -> None:
    """Say hello."""
    print(f"hello {name}" + "!" * loud)

app = typer.Typer()

@app.command()
def one() -> None:
    """Say one."""
    print("one")

@app.command()
def two() -> None:
    """Say two."""
    print("two")
'''


def test_a_function_is_a_command(riemdp, brings):
    package = brings(GREET, greet="greet")
    assert package in riemdp("--help").stdout
    result = riemdp("greet", "you", "--loud")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "hello you!\n", "")
    result = riemdp("greet", "--help")
    assert result.exit_code == 0
    assert "Say hello." in result.stdout
    assert "riemdp greet [OPTIONS]" in result.stdout
    assert riemdp("greet").exit_code == 2


def test_the_example_of_the_docs(riemdp, brings, tmp_path):
    text = DOCS.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert '"riemdp.commands"]\natlas = "myatlas.commands:atlas"\n' in text
    brings(code, atlas="atlas")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "one.png").touch()
    assert riemdp("atlas", tmp_path / "images").stdout == "1 files\n"
    assert "Make an atlas" in riemdp("atlas", "--help").stdout


def test_an_application_is_a_command_with_commands(riemdp, brings):
    brings(GREET, numbers="app")
    assert riemdp("numbers", "two").stdout == "two\n"
    assert "Say one." in riemdp("numbers", "--help").stdout
    assert riemdp("numbers", "three").exit_code == 2


def test_the_help_lists_them_and_loads_none(riemdp, brings):
    package = brings("raise RuntimeError", greet="greet")
    result = riemdp("--help")
    assert result.exit_code == 0
    ours, theirs = result.stdout.split("Commands of other packages:")
    assert "  greet  " not in ours
    assert "  mean  " in ours
    assert theirs.split()[:2] == ["greet", package]
    assert not [name for name in sys.modules if name.startswith("guest_")]


@pytest.mark.usefixtures("nothing_installed")
def test_without_any_there_is_no_such_section(riemdp):
    assert "other packages" not in riemdp("--help").stdout


def test_no_name_of_ours_is_replaced(riemdp, brings):
    package = brings(GREET, verify="greet", demo="greet")
    result = riemdp("verify", "you")
    assert result.exit_code == 2
    assert "hello" not in result.output
    assert package not in riemdp("--help").stdout
    assert not [name for name in sys.modules if name.startswith("guest_")]


def test_a_name_of_two_packages_is_refused(fails, brings):
    one, two = brings(GREET, greet="greet"), brings(GREET, greet="greet")
    line = fails(2, "greet", "you")
    assert f"riemdp greet is in several packages, {one}, {two}: uninstall all but one" in line


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("secret = 1\nraise RuntimeError(secret)", "RuntimeError at guest_"),
        ("import a_module_that_is_not_there", "ModuleNotFoundError at guest_"),
        ("x = = 1", "SyntaxError at guest_"),
        ("other = 1", "AttributeError at "),
    ],
)
def test_what_cannot_be_loaded_is_one_line(fails, brings, code, problem):
    package = brings(code, greet="greet")
    line = fails(2, "greet")
    assert f"riemdp greet, of {package}, cannot be loaded: {problem}" in line


def test_what_is_no_command_is_refused(fails, brings):
    brings("greet = 1", greet="greet")
    assert "must be a function or a typer.Typer, got 1" in fails(2, "greet")


def test_its_errors_end_as_ours_do_and_its_own_are_its_own(riemdp, fails, brings):
    package = brings(
        "from riemdp import InvalidBudgetError\n"
        "def known() -> None:\n    raise InvalidBudgetError('too much')\n"
        "def unknown() -> None:\n    raise ValueError('secret')\n",
        known="known",
        unknown="unknown",
    )
    assert fails(3, "known") == "riemdp: too much\n"
    line = fails(70, "unknown")
    assert "secret" not in line
    assert f"unexpected ValueError at guest_{package[6:]}.py:5, an error in {package}: " in line


@pytest.mark.usefixtures("nothing_installed")
def test_a_command_of_an_extra_says_how_to_get_it(fails):
    for arguments in (("reproduce",), ("reproduce", "he", "--quick"), ("reproduce", "--help")):
        line = fails(2, *arguments)
        assert line == 'riemdp: riemdp reproduce needs an extra: pip install "riemdp[papers]"\n'


@pytest.mark.usefixtures("nothing_installed")
def test_a_command_that_nobody_brings_is_an_error_of_usage(riemdp):
    result = riemdp("greet")
    assert result.exit_code == 2
    assert "No such command 'greet'" in result.stderr
