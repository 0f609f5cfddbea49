"""``riemdp calibrate``: the noise scale of one mechanism."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp.cli import _options as options
from riemdp.cli._options import budget_of, manifold_of, relation_of
from riemdp.cli._output import describe, error_fields, print_fields, working
from riemdp.mechanisms import Mechanism
from riemdp.release import named, offer, wanted_mean
from riemdp.spaces import Ball


def calibrate(
    *,
    mechanism: options.MechanismOption,
    manifold: options.ManifoldOption,
    dim: options.DimOption = None,
    size: options.SizeOption = None,
    curvature: options.CurvatureOption = None,
    sensitivity: Annotated[
        float | None, typer.Option(help="Largest effect of one record; or --radius and --n.")
    ] = None,
    radius: Annotated[float | None, typer.Option(help="Radius of the public ball.")] = None,
    n: Annotated[
        int | None, typer.Option("--n", help="Number of records, unless that is private.")
    ] = None,
    adjacency: options.AdjacencyOption = None,
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    mu: options.MuOption = None,
    rho: options.RhoOption = None,
    theta: options.ThetaOption = None,
    distance: options.DistanceOption = None,
    budget: options.BudgetOption = None,
) -> None:
    """Find the noise scale sigma that one mechanism needs for a budget.

    With --radius and --n the sensitivity is that of the mean as `riemdp mean` computes it; with
    --radius and --adjacency add-remove that of the sum with the number of records.
    """
    if mechanism == "auto":
        raise InvalidParameterError("name one mechanism; riemdp plan compares all of them")
    kind = named(mechanism)
    wanted = budget_of(epsilon, delta, mu, rho, theta=theta, distance=distance, budget=budget)
    space = manifold_of(manifold, dim, size, curvature)
    related = relation_of(adjacency, wanted, has_users=False)
    about = "" if related.size_is_public else f", {related.title} neighbours"
    if sensitivity is not None and radius is None and n is None:
        # The scale is the same at every centre, and in a ball of any radius.
        flat = 1.0 / math.sqrt(max(1.0, abs(space.curvature_bound)))
        ball = Ball(space, space.origin, 0.1 * min(flat, space.injectivity_radius))
        estimated = wanted_mean(ball, kind).name
        with working("Calibrating"):
            found = kind.calibrate_on(space, sensitivity, wanted, **kind.needed(ball))
    elif sensitivity is None and radius is not None and (n is None) != related.size_is_public:
        ball = Ball(space, space.origin, radius)
        with working("Calibrating"):
            chosen = offer(wanted_mean(ball, kind), kind, ball, n, wanted, neighbours=related)
        found, sensitivity = chosen.mechanism, chosen.sensitivity
        estimated = chosen.statistic.name
        if chosen.last.query.sums:
            estimated = (
                f"sums of a {chosen.statistic.title}, over the largest norm of what a record adds"
            )
    else:
        raise InvalidParameterError(
            "give --sensitivity, or --radius and --n, or --radius and --adjacency add-remove "
            "without --n"
        )
    print_fields(
        [
            ("mechanism", f"{found.name} on {space}, for the {estimated}"),
            ("guarantee", describe(wanted) + about),
            ("sensitivity", repr(sensitivity)),
            ("noise scale", repr(found.sigma)),
            ("privacy", _privacy(found, sensitivity)),
            *error_fields(found.expected_distance, found.error_quantile),
        ]
    )


def _privacy(mechanism: Mechanism, sensitivity: float) -> str:
    """Say what else is proved about the mechanism."""
    try:
        curve = mechanism.privacy(sensitivity)
    except UnsupportedManifoldError:
        return "no privacy curve is available on this space"
    return f"GDP(mu={curve.mu():.6g}), pure epsilon {curve.pure_epsilon():.6g}"
