"""Papers' figures and tables, made again from scratch."""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riemdp.cli import console, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riemdp_papers._experiment import Experiment
    from riemdp_papers._report import Watcher


class PaperName(StrEnum):
    """The papers that the command line knows, ``all`` for all of them."""

    REIMHERR = "reimherr"
    UTPALA = "utpala"
    JIANG = "jiang"
    HE = "he"
    SOTO = "soto"
    ALL = "all"


def reproduce(
    paper: Annotated[PaperName, typer.Argument(help="First author of the paper, or all.")],
    output: Annotated[
        Path, typer.Option(help="Folder for pages and figures, made if it does not exist.")
    ] = Path("reproduction"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with image data sets: .npz archives (MedMNIST's too), folders MNIST, "
            "FashionMNIST or KMNIST of IDX files, cifar-10-batches-bin; by default RIEMDP_DATA, "
            "else the digits of scikit-learn.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repeats and sizes.")] = False,
) -> None:
    """Reproduce a paper's figures and tables next to the exact answers.

    Finished experiments are kept in the output folder: an interrupted run goes on where it was.
    """
    from riemdp_papers._experiment import Settings
    from riemdp_papers._report import PAPERS, load_paper
    from riemdp_papers._report import reproduce as run

    settings = Settings(quick=quick, data=data)
    keys = tuple(PAPERS) if paper is PaperName.ALL else (paper.value,)
    with _watched() as watcher:
        pages = [run(load_paper(key), settings, output, watcher) for key in keys]
    for page in pages:
        say(str(page))


@contextmanager
def _watched() -> Iterator[Watcher]:
    """Show a bar per experiment on a terminal; elsewhere a line per finished experiment."""
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    screen = console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as bars:
        tasks: dict[Experiment, TaskID] = {}
        finished: set[Experiment] = set()

        def watcher(experiment: Experiment, share: float) -> None:
            if experiment not in tasks:
                tasks[experiment] = bars.add_task(experiment.title, total=1.0)
            bars.update(tasks[experiment], completed=share)
            if share >= 1.0 and experiment not in finished and not screen.is_terminal:
                finished.add(experiment)
                say(f"{experiment.title}: done", err=True)

        yield watcher
