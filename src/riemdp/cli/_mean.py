"""``riemdp mean``: a private mean of the records in a file."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from riemdp import _files
from riemdp._errors import InvalidParameterError, NotOnManifoldError, PublicWarning
from riemdp._files import write_files
from riemdp._part_document import from_text
from riemdp.cli import _options as options
from riemdp.cli._accounts import (
    DatasetOption,
    LedgerKeyOption,
    LedgerOption,
    account_of,
    details_in,
    files_of,
)
from riemdp.cli._io import DataOptions, check_output, check_readable, read_users, write_array
from riemdp.cli._options import budget_of, center_of, manifold_of, records_of, relation_of
from riemdp.cli._output import print_release, warn, working
from riemdp.io import layouts
from riemdp.release import private_mean, private_statistic
from riemdp.spaces import Aligned, Ball
from riemdp.statistics import Records, Statistic

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.release import Release
    from riemdp.spaces import Manifold


#: Releases of points of at most so many numbers are one file, whatever they are of.
_MOST_INLINE = 1000


def mean(
    file: Annotated[
        Path,
        typer.Argument(
            help="Records: .npy or .npz of shape (n, ...), .csv with one record in a row "
            "(matrices flattened), or with --points .csv with a header, .parquet or .zarr; .nii. "
            "The dimension is read from it."
        ),
    ],
    *,
    manifold: options.ManifoldOption,
    center: Annotated[
        str,
        typer.Option(
            help="Public centre of the ball: a file with one point, or the space's own: identity "
            "(spd, rotations), north-pole (sphere), regular-polygon (shapes in the plane), "
            "first-axes (subspaces), origin (others)."
        ),
    ],
    radius: options.RadiusOption,
    aligned: options.AlignedOption = False,
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    mu: options.MuOption = None,
    rho: options.RhoOption = None,
    theta: options.ThetaOption = None,
    distance: options.DistanceOption = None,
    budget: options.BudgetOption = None,
    mechanism: options.MechanismOption = "auto",
    statistic: options.StatisticOption = None,
    method: options.MethodOption = options.Method.AUTO,
    adjacency: options.AdjacencyOption = None,
    users: Annotated[
        str | None,
        typer.Option(
            help="Whose record each is, to protect people with all their records: a column, where "
            "--points names columns; else a file of integers (.npy, .csv), or a .txt with an id in "
            "each line."
        ),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Public number of people, with --users: stated, and not counted. Without it their "
            "number is private.",
        ),
    ] = None,
    points: Annotated[
        str | None,
        typer.Option(help="Columns, or the array, whose numbers make a point: a,b,c in order."),
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(help=f"How the numbers of a row make a point: {', '.join(layouts())}."),
    ] = None,
    mask: Annotated[
        Path | None, typer.Option(help="Public image of the voxels that are taken (.nii).")
    ] = None,
    labels: Annotated[str | None, typer.Option(help="Column of classes.")] = None,
    covariates: Annotated[str | None, typer.Option(help="Column of real numbers.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="Column of private weights, from 0 to 1.")
    ] = None,
    allow_unproven: Annotated[
        bool, typer.Option(help="Use parts whose claims nobody proved; the release says so.")
    ] = False,
    curvature: options.CurvatureOption = None,
    dim: options.DimOption = None,
    size: options.SizeOption = None,
    n: Annotated[
        int | None,
        typer.Option(min=1, help="Public number of records, where the file is opened last."),
    ] = None,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    dataset: DatasetOption = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="What a row is: person, epoch, voxel, ... Needed with --points and of images, "
            "unless --users is a column. With --dataset, what you take the unit of that to be."
        ),
    ] = None,
    details: Annotated[
        Path | None,
        typer.Option(
            help="Add there, for the holder of the data alone, why a release failed after its "
            "charge."
        ),
    ] = None,
    key: Annotated[str | None, typer.Option(help="Array of an .npz that holds several.")] = None,
    max_numbers: options.MaxNumbersOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Write the released numbers there (.npy, .npz or .csv): a point, or all parts in "
            "a row."
        ),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(
            help="Write the release with its guarantee there (.json; of a large one, long lists "
            "of numbers into an .npz beside it)."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Reproducible noise, for tests: NOT PRIVATE.")
    ] = None,
) -> None:
    """Release a private mean, or another statistic, of the records in FILE.

    The ball and the budget must not be chosen by looking at the records. Records outside the
    ball are projected onto it. With --ledger and --dataset the budget is charged before FILE is
    opened, so that its dimension (--dim, --size) and the public number of records (--n), or of
    people (--people), have to be given.
    """
    file_of_ids = None if users is None or points is not None else Path(users)
    others = [each for each in (file_of_ids, mask) if each is not None]
    sources = (file, Path(center), *others)
    inputs = (*sources, *files_of(ledger, ledger_key))
    value_file = check_output(output, (".npy", ".npz", ".csv"), inputs, new=True)
    release_file = check_output(release, (".json",), inputs, (output,), new=True)
    if details is not None:
        details = _files.check_output(details, inputs, filter(None, (output, release)))
        if details.suffix.lower() not in ("", ".log", ".txt"):
            raise InvalidParameterError(
                f"--details is added to, and private: name a .log or .txt, not {details.name}"
            )
    wanted = budget_of(epsilon, delta, mu, rho, theta=theta, distance=distance, budget=budget)
    if method is not options.Method.AUTO and statistic is not None:
        raise InvalidParameterError("--method is for the mean: leave out --statistic")
    related = relation_of(adjacency, wanted, has_users=users is not None, people=people)
    account = account_of(ledger, ledger_key, dataset, unit if dataset is not None else None)
    named = None
    if (dim, size) != (None, None):
        named = manifold_of(manifold, dim, size, curvature)

    read = DataOptions(
        file,
        key,
        max_numbers,
        columns=points,
        layout=layout,
        unit=unit,
        mask=mask,
        labels=labels,
        covariates=covariates,
        weights=weights,
        users=None if file_of_ids is not None else users,
    )
    read.check()

    def on_space(rows: Any) -> tuple[Manifold, Any]:
        space, found = records_of(
            rows,
            file,
            manifold,
            curvature,
            may_be_none=users is not None or not related.size_is_public,
            flat=layout is None and file.suffix.lower() in (".csv", ".parquet"),
        )
        if named is not None and space != named:
            raise NotOnManifoldError(f"{file.name} holds no points of {named}")
        return space, found

    @cache
    def opened() -> tuple[Manifold, Records]:
        given = read.records()
        space, rows = on_space(np.asarray(given.points))
        return space, given.with_points(rows)

    def of_file(name: str) -> Any:
        return getattr(opened()[1], name)

    def users_of_file() -> Any:
        return of_file("users") if file_of_ids is None else read_users(file_of_ids, max_numbers)

    extras = {"labels": labels, "covariates": covariates, "weights": weights}
    names = ("points", *(name for name, column in extras.items() if column is not None))
    late: dict[str, Any] = {name: partial(of_file, name) for name in names}
    records = Records(**late)
    ids: Any = None if users is None else users_of_file
    if account is not None:
        check_readable(file, file_of_ids, mask)
        named = space = named or manifold_of(manifold, dim, size, curvature)
        if (row := read.row()) is not None:
            on_space(row)
    else:
        space, given = opened()
        records = replace(given, users=None)
        ids = None if ids is None else ids()
    middle = center_of(center, space, max_numbers)
    ball = Ball(Aligned(space, middle) if aligned else space, middle, radius)  # type: ignore[arg-type]
    container = False if math.prod(space.point_shape) <= _MOST_INLINE else None
    if release_file is not None and container is None:
        check_output(release_file.with_suffix(".npz"), (".npz",), inputs, (output,), new=True)
    generator = None
    if seed is not None:
        generator = np.random.default_rng(seed)
    with details_in(details), working(f"Private {statistic or 'mean'}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they would tell of the data
        warnings.simplefilter("always", PublicWarning)
        release_of: Callable[..., Release] = partial(private_mean, method=method.value)
        if statistic is not None:
            release_of = partial(private_statistic, from_text(statistic, Statistic.sort))
        result = release_of(
            records,
            ball,
            wanted,
            mechanism=mechanism,
            adjacency=related,
            users=ids,
            people=people,
            generator=generator,
            accountant=account,
            private_weights=weights is not None,
            n=n,
            allow_unproven=allow_unproven,
        )

    def contents(mark: str) -> dict[Path, Callable[[IO[bytes]], object]]:
        found: dict[Path, Callable[[IO[bytes]], object]] = {}
        if release_file is not None:
            target = release_file.with_stem(release_file.stem + mark)
            files = result.files(target, container=container)
            found |= {path: partial(_write, content) for path, content in files.items()}
        if value_file is not None:
            target, suffix = value_file.with_stem(value_file.stem + mark), value_file.suffix
            found[target] = lambda opened: write_array(opened, result.raw, suffix)
        return found

    try:
        _keep(contents)
    finally:  # whatever happens to the files, it is paid for
        print_release(result, None if users is not None else unit)


def _keep(contents: Callable[[str], dict[Path, Callable[[IO[bytes]], object]]]) -> None:
    """Write what was paid for; under other names where a file has come there meanwhile."""
    for number in itertools.count():
        files = contents(f"-{number}" if number else "")
        try:
            write_files(files, new=True)
        except FileExistsError:
            continue
        if number:
            names = " and ".join(path.name for path in files)
            warn(f"a file of the name that was given has been made meanwhile: written is {names}")
        return


def _write(content: bytes, file: IO[bytes]) -> None:
    file.write(content)
