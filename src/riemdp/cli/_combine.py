"""``riemdp combine``: one value of the releases of several sites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from riemdp._progress import ticks
from riemdp.cli._output import describe, print_fields, print_value, warn, working
from riemdp.cli._verify import read_parts
from riemdp.release import combine as combined
from riemdp.release import verify


def combine(
    files: Annotated[list[Path], typer.Argument(help="Releases that riemdp mean --release wrote.")],
    *,
    overlapping: Annotated[
        bool, typer.Option(help="A person may be at several sites: the guarantees are composed.")
    ] = False,
    weights: Annotated[
        str, typer.Option(help="noise (one over its variance) or sizes (numbers of records).")
    ] = "noise",
) -> None:
    """Combine the releases of several sites into one value, which costs no privacy.

    Each is verified first. The guarantee is the weakest one, on condition that no person is at two
    sites, which nobody can check from releases.
    """
    with working("Verifying"):
        read = [(file, read_parts(file)[0]) for file in ticks(files, len(files), "files")]
        passed = [
            each is not None and verify(each).passed
            for _, each in ticks(read, len(read), "releases")
        ]
    if not all(passed):
        warn(f"{files[passed.index(False)].name} does not verify")
        raise typer.Exit(1)
    releases = [each for _, each in read if each is not None]
    found = combined(releases, disjoint=not overlapping, weights=weights)  # type: ignore[arg-type]
    guarantee: Any = found.guarantee
    print_fields(
        [
            ("releases", str(len(releases))),
            ("guarantee", f"{describe(guarantee)}, {releases[0].neighbours.title} neighbours"),
            ("weights", ", ".join(f"{weight:.4g}" for weight in found.weights)),
            ("noise", f"{found.noise_sd:.6g}, standard deviation of a coordinate"),
            ("note", found.caveat),
        ]
    )
    print_value(found.value)
