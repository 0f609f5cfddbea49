"""``riemdp calibrate``: the noise scale of one mechanism."""

from __future__ import annotations

from typing import Annotated

import typer

from riemdp._errors import InvalidParameterError, UnsupportedManifoldError
from riemdp.cli._options import (
    CurvatureOption,
    DeltaOption,
    DimOption,
    DistanceOption,
    EpsilonOption,
    ManifoldOption,
    MechanismName,
    MuOption,
    RhoOption,
    SizeOption,
    ThetaOption,
    budget_of,
    manifold_of,
)
from riemdp.cli._output import describe, print_fields
from riemdp.manifolds import Ball
from riemdp.mechanisms import MECHANISMS, Mechanism, TangentGaussian, TangentLaplace
from riemdp.release._candidates import calibrated


def calibrate(
    *,
    mechanism: Annotated[MechanismName, typer.Option(help="Any but auto.")],
    manifold: ManifoldOption,
    dim: DimOption = None,
    size: SizeOption = None,
    curvature: CurvatureOption = None,
    sensitivity: Annotated[
        float | None, typer.Option(help="Largest effect of one record; or --radius and --n.")
    ] = None,
    radius: Annotated[float | None, typer.Option(help="Radius of the public ball.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Number of records, public.")] = None,
    epsilon: EpsilonOption = None,
    delta: DeltaOption = None,
    mu: MuOption = None,
    rho: RhoOption = None,
    theta: ThetaOption = None,
    distance: DistanceOption = None,
) -> None:
    """Find the noise scale sigma that one mechanism needs for a budget.

    With --radius and --n the sensitivity is that of the mean as `riemdp mean` computes it.
    """
    if mechanism is MechanismName.AUTO:
        raise InvalidParameterError("name one mechanism; riemdp plan compares all of them")
    kind = MECHANISMS[mechanism]
    budget = budget_of(epsilon, delta, mu, rho, theta=theta, distance=distance)
    space = manifold_of(manifold, dim, size, curvature)
    if sensitivity is not None and radius is None and n is None:
        options = {}
        if issubclass(kind, (TangentGaussian, TangentLaplace)):
            options["base"] = space.origin  # the scale is the same at every base
        found = kind.calibrate(space, sensitivity, budget, **options)
    elif sensitivity is None and radius is not None and n is not None:
        candidate = calibrated(kind, Ball(space, space.origin, radius), n, budget)
        found, sensitivity = candidate.mechanism, candidate.sensitivity
    else:
        raise InvalidParameterError("give --sensitivity, or --radius and --n")
    print_fields(
        [
            ("mechanism", f"{found.name} on {space}, for the {found.summary}"),
            ("guarantee", describe(budget)),
            ("sensitivity", repr(sensitivity)),
            ("sigma", repr(found.sigma)),
            ("privacy", _privacy(found, sensitivity)),
            ("expected distance", f"{found.expected_distance():.6g}"),
            ("95 % quantile", f"{found.error_quantile(0.95):.6g}"),
        ]
    )


def _privacy(mechanism: Mechanism, sensitivity: float) -> str:
    """Say what else is proved about the mechanism."""
    try:
        curve = mechanism.privacy(sensitivity)
    except UnsupportedManifoldError:
        return "no privacy curve is available on this space"
    return f"GDP(mu={curve.mu():.6g}), pure epsilon {curve.pure_epsilon():.6g}"
