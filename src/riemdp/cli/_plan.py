"""``riemdp plan``: what each mechanism will cost, before any data are touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from riemdp._errors import NotAttainableError
from riemdp.cli._options import (
    CurvatureOption,
    DeltaOption,
    DimOption,
    DistanceOption,
    EpsilonOption,
    ManifoldOption,
    MuOption,
    RadiusOption,
    RhoOption,
    SizeOption,
    ThetaOption,
    budget_of,
    manifold_of,
)
from riemdp.cli._output import describe, print_table, say, working
from riemdp.release import plan as make_plan

if TYPE_CHECKING:
    from riemdp.release import PlanRow


def plan(
    *,
    manifold: ManifoldOption,
    radius: RadiusOption,
    n: Annotated[int, typer.Option("--n", help="Number of records, public.")],
    dim: DimOption = None,
    size: SizeOption = None,
    curvature: CurvatureOption = None,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    mu: MuOption = None,
    rho: RhoOption = None,
    theta: ThetaOption = None,
    distance: DistanceOption = None,
    target_error: Annotated[
        float | None,
        typer.Option(help="Expected distance to reach: adds the n and the budget it needs."),
    ] = None,
) -> None:
    """Show what to expect of every mechanism, from public numbers only."""
    budget = budget_of(epsilon, delta, mu, rho, theta=theta, distance=distance)
    space = manifold_of(manifold, dim, size, curvature)
    with working("Calibrating every mechanism"):
        table = make_plan(space, radius, n, budget, target_error=target_error)
    columns = ["mechanism", "summary", "sensitivity", "sigma", "E[distance]", "95 % quantile"]
    if target_error is not None:
        columns += ["n needed", "budget needed"]
    title = f"{space}, radius {radius:g}, n = {n}, {describe(budget)}"
    if target_error is not None:
        title += f", expected distance {target_error:g}"
    say(title)
    print_table(columns, [_cells(row, target_error is not None) for row in table])
    for row in table:
        if row.problem is not None:
            say(f"{row.mechanism}: {row.problem}")
    for note in table.notes:
        say(note)
    if table.best is None:
        raise NotAttainableError(f"no mechanism satisfies {describe(budget)} here")
    say(f"auto takes {table.best.mechanism} ({table.best.summary})")


def _cells(row: PlanRow, with_target: bool) -> list[str]:
    numbers = (row.sensitivity, row.sigma, row.expected_distance, row.quantile_95)
    cells = [row.mechanism, row.summary, *("-" if x is None else f"{x:.6g}" for x in numbers)]
    if with_target:
        cells.append("-" if row.required_n is None else str(row.required_n))
        cells.append("-" if row.required_budget is None else describe(row.required_budget))
    return cells
