"""The ``riemdp`` command: its subcommands, and how errors become exit codes."""

from __future__ import annotations

import errno
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from riemdp._errors import (
    BudgetExceededError,
    InvalidBudgetError,
    NoConversionError,
    NotAttainableError,
    RiemdpError,
)
from riemdp.cli._audit import audit
from riemdp.cli._calibrate import calibrate
from riemdp.cli._demo import demo
from riemdp.cli._mean import mean
from riemdp.cli._plan import plan
from riemdp.cli._reproduce import reproduce
from riemdp.cli._verify import verify

#: Errors about what a budget allows: exit code 3. All others on purpose: 2.
BUDGET_ERRORS = (BudgetExceededError, InvalidBudgetError, NoConversionError, NotAttainableError)


class _Commands(TyperGroup):
    """Turns errors into one line on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except RiemdpError as error:
            typer.echo(f"riemdp: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(3 if isinstance(error, BUDGET_ERRORS) else 2) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            what = error.strerror or type(error).__name__
            typer.echo(f"riemdp: {error.filename or 'file'}: {what}", err=True)
            raise typer.Exit(2) from None


# Tracebacks decorated with local variables would show the data.
app = typer.Typer(
    cls=_Commands,
    name="riemdp",
    help="Differentially private means of manifold-valued data.",
    epilog="Exit codes: 0 fine, 1 a release that does not verify or a violated claim, "
    "2 bad input or usage, 3 budget or attainability.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        import riemdp

        typer.echo(f"riemdp {riemdp.__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Options of the command itself, all of them dealt with by their callbacks."""
    del version


app.command()(mean)
app.command()(plan)
app.command()(calibrate)
app.command()(verify)
app.command()(audit)
app.command()(demo)
app.command()(reproduce)


def main() -> None:
    """Run the command line."""
    app()
