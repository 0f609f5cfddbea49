"""The ``riemdp`` command and its subcommands."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from riemdp.cli import _commands
from riemdp.cli._audit import audit
from riemdp.cli._calibrate import calibrate
from riemdp.cli._combine import combine
from riemdp.cli._demo import demo
from riemdp.cli._failures import failures_as_exits, plain_app, report, settle
from riemdp.cli._ledger import ledger
from riemdp.cli._mean import mean
from riemdp.cli._output import prepare_streams, say
from riemdp.cli._parts import parts
from riemdp.cli._plan import plan
from riemdp.cli._report import report as report_
from riemdp.cli._serve import app as planner
from riemdp.cli._verify import verify


class _Commands(TyperGroup):
    """Commands, ours before those of other packages; errors are one line and an exit code."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        prepare_streams()
        try:
            super().main(*arguments, **options)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        except BaseException as error:
            code = report(error)
        sys.exit(settle(code))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or _commands.load(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        super().format_commands(ctx, formatter)
        others = [row for row in _commands.listed() if row[0] not in self.commands]
        if others:
            with formatter.section("Commands of other packages"):
                formatter.write_dl(others)

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with failures_as_exits():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with failures_as_exits():
            return super().invoke(ctx)


app = plain_app(
    cls=_Commands,
    name="riemdp",
    help="Differentially private means of manifold-valued data.",
    epilog="Exit codes: 0 fine, 1 a release that does not verify or a violated claim, "
    "2 bad input or usage, 3 budget, attainability, or a release that is seeded or not proved, "
    "70 an error in riemdp itself.",
    no_args_is_help=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        import riemdp

        say(f"riemdp {riemdp.__version__}")
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
app.command()(combine)
app.command("report")(report_)
app.command()(audit)
app.command()(demo)
app.command()(parts)
app.command("app")(planner)
app.add_typer(ledger, name="ledger")


def main() -> None:
    """Run the command line."""
    app()
