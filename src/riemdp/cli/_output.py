"""Results as tables on stdout; warnings and progress on stderr. Nothing private is printed."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import typer

from riemdp.privacy import GDP, ZCDP, ApproxDP, Budget, PureDP, RaoDP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from riemdp.release import Release

T = TypeVar("T")


def warn(message: str) -> None:
    """Write one line to stderr."""
    typer.echo(f"riemdp: {message}", err=True)


def describe(budget: Budget | None) -> str:
    """Short text for a budget."""
    match budget:
        case PureDP(epsilon):
            return f"ε = {epsilon:.6g}"
        case ApproxDP(epsilon, delta):
            return f"ε = {epsilon:.6g}, δ = {delta:.6g}"
        case GDP(mu):
            return f"μ = {mu:.6g}"
        case ZCDP(rho, xi):
            return f"ρ = {rho:.6g}" + (f", ξ = {xi:.6g}" if xi else "")
        case RaoDP(theta, distance=distance):
            return f"θ = {theta:.6g} ({distance})"
        case _:  # not an option of the command line
            return str(budget)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all columns but the first are numbers and aligned right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    # Wider than any table: to the terminal's width it would be cut.
    Console(markup=False, highlight=False, width=1000).print(table)


def print_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair a line."""
    widest = max(len(name) for name, _ in fields)
    for name, value in fields:
        typer.echo(f"{name:<{widest}}  {value}")


def print_release(release: Release) -> None:
    """Print what is public about a release, and its value with all digits."""
    seeded = "seeded by --seed: NOT private"
    print_fields(
        [
            ("summary", f"{release.summary} of n = {release.n}, {release.ball.manifold}"),
            ("guarantee", f"{describe(release.guarantee)}, {release.adjacency} neighbours"),
            ("mechanism", f"{release.mechanism.name}, {release.reason}"),
            ("sensitivity", f"{release.sensitivity:.6g}"),
            ("sigma", f"{release.sigma:.6g}"),
            ("expected distance", f"{release.expected_distance:.6g}"),
            ("95 % quantile", f"{release.error_quantile(0.95):.6g}"),
            ("randomness", seeded if release.reproducible else "secure generator"),
        ]
    )
    with np.printoptions(threshold=sys.maxsize, floatmode="unique", linewidth=120):
        typer.echo(str(release.value))


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show on a terminal that work goes on. There is no bar: passes would tell of the data."""
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False)
    if console.is_terminal:
        with console.status(task):
            yield
    else:
        yield


def counted(items: Iterable[T], total: int, task: str) -> Iterator[T]:
    """Pass items on and count them on a terminal, for work whose steps are public."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True, markup=False, highlight=False)
    shown = console.is_terminal
    yield from track(items, task, total=total, console=console, transient=True, disable=not shown)
