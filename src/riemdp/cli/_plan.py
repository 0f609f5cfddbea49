"""``riemdp plan``: what each mechanism will cost, before any data are touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp._part_document import from_text
from riemdp.cli import _options as options
from riemdp.cli._options import budget_of, manifold_of, relation_of
from riemdp.cli._output import describe, print_table, say, working
from riemdp.release import plan as make_plan
from riemdp.spaces import Aligned
from riemdp.statistics import Statistic

if TYPE_CHECKING:
    from riemdp.release import PlanRow


def plan(
    *,
    manifold: options.ManifoldOption,
    radius: options.RadiusOption,
    aligned: options.AlignedOption = False,
    n: Annotated[
        int | None,
        typer.Option("--n", help="Number of records (or people); where it is private a guess."),
    ] = None,
    dim: options.DimOption = None,
    size: options.SizeOption = None,
    curvature: options.CurvatureOption = None,
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    mu: options.MuOption = None,
    rho: options.RhoOption = None,
    theta: options.ThetaOption = None,
    distance: options.DistanceOption = None,
    budget: options.BudgetOption = None,
    statistic: options.StatisticOption = None,
    adjacency: options.AdjacencyOption = None,
    users: Annotated[
        bool,
        typer.Option(
            "--users", help="People are protected. Their number is private, and --n supposed."
        ),
    ] = False,
    people: Annotated[
        int | None,
        typer.Option(min=1, help="Public number of people, with --users and in place of --n."),
    ] = None,
    target_error: Annotated[
        float | None,
        typer.Option(help="Expected distance to reach: adds the n and the budget it needs."),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            help="Public guess of the root mean square distance of a record from the mean: errors "
            "that follow it are stated for it."
        ),
    ] = None,
    method: options.MethodOption = options.Method.AUTO,
) -> None:
    """Show what to expect of every mechanism, from public numbers only."""
    wanted = budget_of(epsilon, delta, mu, rho, theta=theta, distance=distance, budget=budget)
    space = manifold_of(manifold, dim, size, curvature)
    if aligned:
        space = Aligned(space, space.origin)  # type: ignore[arg-type]
    if n is None and people is None:
        raise InvalidParameterError(
            "give --n, a number of records (or people), or --users with --people, a public number"
        )
    related = relation_of(adjacency, wanted, has_users=users, people=people)
    with working("Calibrating every mechanism"):
        table = make_plan(
            space,
            radius,
            n,
            wanted,
            target_error=target_error,
            statistic=None if statistic is None else from_text(statistic, Statistic.sort),
            adjacency=related,
            users=users,
            people=people,
            method=method.value,
            spread=spread,
        )
    columns = ["mechanism", "statistic"]
    columns += ["sensitivity", "noise scale", "expected error", "95 % quantile"]
    if target_error is not None:
        columns += ["n needed", "budget needed"]
    title = f"{space}, radius {radius:g}, n = {table.n}, {describe(wanted)}, {related.title}"
    if target_error is not None:
        title += f", target error {target_error:g}"
    say(title)
    print_table(columns, [_cells(row, target_error is not None) for row in table.distinct])
    for row in table:
        if row.problem is not None:
            say(f"{row.mechanism}: {row.problem}")
        if row.unproven:
            say(f"{row.mechanism}: unproven, no proof is known of {row.unproven}")
        if row.caveat:
            say(f"{row.summary}: {row.caveat}")
    for note in table.notes:
        say(note)
    if table.best is None:
        raise NotAttainableError(f"no mechanism satisfies {describe(wanted)} here")
    say(f"auto takes {table.best.mechanism} ({table.best.summary})")


def _cells(row: PlanRow, with_target: bool) -> list[str]:
    numbers = (row.sensitivity, row.sigma, row.expected_distance, row.quantile_95)
    cells = [row.mechanism, row.summary]
    cells += ["-" if x is None else f"{x:.6g}" for x in numbers]
    if with_target:
        cells.append("-" if row.required_n is None else str(row.required_n))
        cells.append("-" if row.required_budget is None else describe(row.required_budget))
    return cells
