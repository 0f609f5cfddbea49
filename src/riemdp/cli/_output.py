"""Results as tables on stdout; warnings and progress on stderr. Nothing private is printed.

All text goes through :func:`say`, so that none from a file, a name or an option can forge lines
or steer the terminal.
"""

from __future__ import annotations

import codecs
import functools
import io
import os
import sys
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import PublicWarning
from riemdp._progress import progress, work
from riemdp.mechanisms import if_known
from riemdp.privacy import GDP, ZCDP, ApproxDP, Budget, PureDP, RaoDP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from riemdp.privacy import Anchor
    from riemdp.release import PrivateMeans, Release

#: How characters that an encoding lacks are written; all others by their number.
_PLAIN = {"δ": "delta", "ε": "epsilon", "θ": "theta", "μ": "mu", "ξ": "xi", "ρ": "rho"}
_IN_PLAIN = "riemdp-plain"


def _in_plain(error: UnicodeError) -> tuple[str, int]:
    """Error handler of encoders."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or _escaped(c) for c in characters), error.end


def prepare_streams() -> None:
    """Let stdout and stderr take any text, whatever their encoding; one that is closed drops it."""
    codecs.register_error(_IN_PLAIN, _in_plain)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_IN_PLAIN)


def printable(text: str) -> str:
    """Text with all that is not printable (line ends, escape codes, directions) as escapes."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")


def say(line: str = "", *, err: bool = False) -> None:
    """Write one line to stdout, or to stderr.

    Parameters
    ----------
    line : str
        What is not printable in it, line ends too, is written as escapes.
    err : bool, default False
        Whether it goes to stderr.
    """
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{printable(line)}\n")
    stream.flush()


def say_lines(text: str) -> None:
    """Write a text of riemdp's own, which has line ends that are meant."""
    for line in text.splitlines():
        say(line)


def warn(message: str) -> None:
    """Write one line to stderr."""
    say(f"riemdp: {message}", err=True)


@contextmanager
def public_warnings() -> Iterator[None]:
    """Print public warnings as lines on stderr, each text once, whatever filters Python has."""
    before, said = warnings.showwarning, set()

    def show(message: Any, category: type[Warning], *where: Any, **options: Any) -> None:
        if not issubclass(category, PublicWarning):
            before(message, category, *where, **options)
        elif (text := str(message)) not in said:
            said.add(text)
            warn(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always", PublicWarning)
        warnings.showwarning = show
        yield


def warn_of(release: Release | PrivateMeans, name: str = "") -> None:
    """Print the warnings of a release that was read; ``name`` says which, of several."""
    for text in release.warnings:
        warn(f"{name}: {text}" if name else text)


@functools.singledispatch
def describe(budget: Budget) -> str:
    """Short text for a budget; its own for those that are no options of the command line."""
    return str(budget)


@describe.register(PureDP)
def _(budget: PureDP) -> str:
    return f"ε = {budget.epsilon:.6g}"


@describe.register(ApproxDP)
def _(budget: ApproxDP) -> str:
    return f"ε = {budget.epsilon:.6g}, δ = {budget.delta:.6g}"


@describe.register(GDP)
def _(budget: GDP) -> str:
    return f"μ = {budget.mu:.6g}"


@describe.register(ZCDP)
def _(budget: ZCDP) -> str:
    return f"ρ = {budget.rho:.6g}" + (f", ξ = {budget.xi:.6g}" if budget.xi else "")


@describe.register(RaoDP)
def _(budget: RaoDP) -> str:
    return f"θ = {budget.theta:.6g} ({budget.distance})"


def describe_anchor(anchor: Anchor | None) -> str:
    """Short text for a charge in a ledger."""
    if anchor is None:
        return "none"
    part = f", part {anchor.part}" if anchor.part else ""
    return f"entry {anchor.seq}{part} of {anchor.dataset}, hash {anchor.hash}"


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all columns but the first are numbers and aligned right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(printable, row))
    # Wider than any table: to the terminal's width it would be cut.
    console(width=1000).print(table)


def print_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair a line."""
    widest = max(len(name) for name, _ in fields)
    for name, value in fields:
        say(f"{name:<{widest}}  {value}")


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts in columns, one row a line."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())


def error_fields(
    expected: Callable[[], float], quantile: Callable[[float], float]
) -> list[tuple[str, str]]:
    """Return names and values of what is known of an error law, of a mechanism or a release."""
    numbers = {"expected error": if_known(expected), "95 % quantile": if_known(quantile, 0.95)}
    return [(name, "not known" if x is None else f"{x:.6g}") for name, x in numbers.items()]


def print_release(release: Release, unit: str | None = None) -> None:
    """Print what is public about a release, and its value with all digits.

    ``unit`` is what a record is, where somebody said so.
    """
    seeded = "seeded by --seed: NOT private"
    print_fields(
        [
            (
                "statistic",
                f"{release.statistic.title} of {_number(release)}, {release.ball.manifold}",
            ),
            ("guarantee", f"{describe(release.guarantee)}, {release.neighbours.title} neighbours"),
            *([] if unit is None else [("record", unit)]),
            *_searched(release),
            ("mechanism", f"{release.mechanism.name}, {release.reason}"),
            ("sensitivity", f"{release.sensitivity:.6g}"),
            ("noise scale", f"{release.sigma:.6g}"),
            *error_fields(lambda: release.expected_distance, release.error_quantile),
            ("arithmetic", f"exact draw on the grid 2^-{release.grid}"),
            ("randomness", "secure generator" if release.private else seeded),
            *([] if release.anchor is None else [("charge", describe_anchor(release.anchor))]),
            *([("note", release.statistic.caveat)] if release.statistic.caveat else []),
        ]
    )
    print_value(release.value)


def print_value(value: Any) -> None:
    """Print all digits of a value, its parts by name."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique", linewidth=120):
        if isinstance(value, Mapping):
            say_lines("\n".join(f"{name}:\n{part}" for name, part in value.items()))
        else:
            say_lines(str(value))


def _number(release: Release) -> str:
    """Say of how many records, or people; where that is private, as it was released."""
    whom = " people" if "users" in release.neighbours.takes else ""
    if release.n is not None:
        return f"n = {release.n}{whom}"
    about = "" if release.count is None else f", {release.count:.6g}{whom} with noise"
    return f"n private{about}"


def _searched(release: Release) -> list[tuple[str, str]]:
    """Say how the ball was found, if it was."""
    if release.search is None:
        return []
    before, steps = release.search.ball.radius, len(release.search.steps)
    found = f"radius {release.ball.radius:.6g} of {before:g}, found in {steps} steps"
    return [("ball", f"{found}; {describe(release.budget)} was left for the mean")]


def console(**options: Any) -> Console:
    """Return a console of rich that takes text as it is.

    Parameters
    ----------
    **options
        Of :class:`rich.console.Console`.
    """
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, **options)


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show on a terminal that work goes on, when it takes a while; see :func:`riemdp.progress`."""
    with progress(), work(printable(task)):
        yield
