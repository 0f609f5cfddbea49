"""``riemdp mean``: a private mean of the records in a file."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import numpy as np
import typer

from riemdp._errors import InvalidParameterError
from riemdp._files import MOST_NUMBERS, write_files
from riemdp._part_document import from_text
from riemdp.cli._io import check_output, read_array, write_array
from riemdp.cli._options import (
    AlignedOption,
    BudgetOption,
    CurvatureOption,
    DeltaOption,
    DistanceOption,
    EpsilonOption,
    ManifoldOption,
    MaxNumbersOption,
    MechanismOption,
    MuOption,
    NeighboursOption,
    RadiusOption,
    RhoOption,
    StatisticOption,
    ThetaOption,
    budget_of,
    center_of,
    records_of,
)
from riemdp.cli._output import print_release, warn, working
from riemdp.manifolds import Aligned, Ball
from riemdp.release import private_mean, private_statistic
from riemdp.statistics import Neighbours, ReplaceOne, Statistic

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.release import Release


def mean(
    file: Annotated[
        Path,
        typer.Argument(
            help="Records: .npy or .npz of shape (n, ...), or .csv with one record in a row "
            "(matrices flattened). The dimension is read from it."
        ),
    ],
    *,
    manifold: ManifoldOption,
    center: Annotated[
        str,
        typer.Option(
            help="Public centre of the ball: a file with one point, or the space's own: identity "
            "(spd, rotations), north-pole (sphere), regular-polygon (shapes in the plane), "
            "first-axes (subspaces), origin (others)."
        ),
    ],
    radius: RadiusOption,
    aligned: AlignedOption = False,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    mu: MuOption = None,
    rho: RhoOption = None,
    theta: ThetaOption = None,
    distance: DistanceOption = None,
    budget: BudgetOption = None,
    mechanism: MechanismOption = "auto",
    statistic: StatisticOption = None,
    adapt: Annotated[
        bool,
        typer.Option(help="Look for a smaller ball first, with a part of the budget (mean only)."),
    ] = False,
    neighbours: NeighboursOption = ReplaceOne.name,
    allow_unproven: Annotated[
        bool, typer.Option(help="Use parts whose claims nobody proved; the release says so.")
    ] = False,
    tol: Annotated[
        float | None,
        typer.Option(help="Public tolerance of the mean; twice it adds to the sensitivity."),
    ] = None,
    arithmetic: Annotated[
        str,
        typer.Option(help="exact, or float64, whose low bits tell neighbouring data sets apart."),
    ] = "exact",
    curvature: CurvatureOption = None,
    key: Annotated[str | None, typer.Option(help="Array of an .npz that holds several.")] = None,
    max_numbers: MaxNumbersOption = MOST_NUMBERS,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Write the released numbers there (.npy or .csv): a point, or all parts in a row."
        ),
    ] = None,
    release: Annotated[
        Path | None, typer.Option(help="Write the release with its guarantee there (.json).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Reproducible noise, for tests: NOT PRIVATE.")
    ] = None,
) -> None:
    """Release a private mean, or another statistic, of the records in FILE.

    The ball and the budget must not be chosen by looking at the records. Records outside the
    ball are projected onto it.
    """
    inputs = (file, Path(center))
    value_file = check_output(output, (".npy", ".csv"), inputs)
    release_file = check_output(release, (".json",), inputs, (output,))
    wanted = budget_of(epsilon, delta, mu, rho, theta=theta, distance=distance, budget=budget)
    if adapt and statistic is not None:
        raise InvalidParameterError("--adapt is for the mean: leave out --statistic")
    space, points = records_of(read_array(file, key, max_numbers), file, manifold, curvature)
    middle = center_of(center, space, max_numbers)
    ball = Ball(Aligned(space, middle) if aligned else space, middle, radius)  # type: ignore[arg-type]
    generator = None
    if seed is not None:
        warn("--seed makes the noise reproducible: this release is not private")
        generator = np.random.default_rng(seed)
    with (
        working(f"Private {statistic or 'mean'} of {len(points)} records"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # they would tell of the data
        release_of: Callable[..., Release] = partial(private_mean, adapt=adapt)
        if statistic is not None:
            release_of = partial(private_statistic, from_text(statistic, Statistic.sort))
        result = release_of(
            points,
            ball,
            wanted,
            mechanism=mechanism,
            neighbours=from_text(neighbours, Neighbours.sort),
            generator=generator,
            allow_unproven=allow_unproven,
            tol=tol,
            arithmetic=arithmetic,
        )
    contents: dict[Path, Callable[[IO[bytes]], object]] = {}
    if release_file is not None:
        document = f"{result.to_json()}\n".encode()
        contents[release_file] = lambda opened: opened.write(document)
    if value_file is not None and output is not None:
        suffix = output.suffix
        contents[value_file] = lambda opened: write_array(opened, result.raw, suffix)
    write_files(contents)
    print_release(result)
