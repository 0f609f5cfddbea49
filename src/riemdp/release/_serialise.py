"""Public objects as plain dictionaries, and back."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp.manifolds import (
    Ball,
    Euclidean,
    FlatManifold,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.mechanisms import MECHANISMS, Mechanism, RiemannianLaplace
from riemdp.mechanisms._tangent_mechanism import TangentMechanism
from riemdp.privacy import GDP, KLDP, RDP, ZCDP, ApproxDP, MeanCDP, PureDP, RaoDP
from riemdp.release import _document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.privacy import Budget

#: The manifolds of this library.
MANIFOLDS = (Euclidean, Sphere, Hyperbolic, SPDLogEuclidean, SPDAffineInvariant)
_MANIFOLDS: dict[str, type[Any]] = {kind.__name__: kind for kind in MANIFOLDS}
#: How a document names the one base that a release may have.
_BASE = "ball-center"
#: How an infinite order is written.
_INFINITE = "infinity"
_BUDGETS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP, RaoDP)
}


def manifold_to_dict(manifold: Manifold) -> dict[str, Any]:
    """Class name and fields."""
    return {"type": type(manifold).__name__, **dataclasses.asdict(manifold)}  # type: ignore[call-overload]


def manifold_from_dict(document: object) -> Manifold:
    """Inverse of :func:`manifold_to_dict`."""
    manifold: Manifold = _build(_MANIFOLDS, document)
    return manifold


def budget_to_dict(budget: Budget) -> dict[str, Any]:
    """Class name and fields."""
    fields = dataclasses.asdict(budget)  # type: ignore[call-overload]
    if fields.get("order") == math.inf:
        fields["order"] = _INFINITE  # JSON has no infinity
    return {"type": type(budget).__name__, **fields}


def budget_from_dict(document: object) -> Budget:
    """Inverse of :func:`budget_to_dict`."""
    budget: Budget = _build(_BUDGETS, document)
    return budget


def ball_from_dict(manifold: Manifold, document: object) -> Ball:
    """Ball of a manifold from its centre and radius."""
    fields = _document.fields(document, {"center", "radius"})
    center = _document.numbers(fields["center"], "center")
    return Ball(manifold, np.asarray(center), _document.number(fields["radius"], "radius"))


def foreign_part(mechanism: Mechanism, ball: Ball) -> str | None:
    """Say what of a mechanism does not belong to a ball; None where all does.

    The base of a tangent mechanism has no effect on flat spaces.
    """
    if mechanism.manifold != ball.manifold:
        return f"the mechanism is for {mechanism.manifold}, the ball for {ball.manifold}"
    base = getattr(mechanism, "base", None)
    flat = isinstance(ball.manifold, FlatManifold)
    if base is not None and not flat and not np.array_equal(base, ball.center):
        return "the base of the tangent mechanism is not the centre of the ball"
    restriction = getattr(mechanism, "ball", None)
    if restriction is not None and restriction != ball:
        return "the mechanism is restricted to another ball"
    return None


def mechanism_to_dict(mechanism: Mechanism, ball: Ball) -> dict[str, Any]:
    """Name and scale; a base is the ball's centre and a restriction is to the ball.

    On flat spaces a base that is not the centre is left out: it has no effect there.

    Raises
    ------
    InvalidParameterError
        If the mechanism does not belong to the ball.
    """
    if (problem := foreign_part(mechanism, ball)) is not None:
        raise InvalidParameterError(f"this release cannot be written: {problem}")
    document: dict[str, Any] = {"name": mechanism.name, "sigma": mechanism.sigma}
    base = getattr(mechanism, "base", None)
    if base is not None and np.array_equal(base, ball.center):
        document["base"] = _BASE
    if getattr(mechanism, "ball", None) is not None:
        document["restricted_to_ball"] = True
    if not mechanism.proven:
        document["sampler"] = "metropolis"
    return document


def mechanism_from_dict(document: object, ball: Ball) -> Mechanism:
    """Inverse of :func:`mechanism_to_dict`."""
    fields = _document.fields(
        document, {"name", "sigma"}, {"base", "restricted_to_ball", "sampler"}
    )
    name = _document.text(fields["name"], "name")
    if name not in MECHANISMS:
        raise InvalidParameterError(
            f"unknown mechanism {shown(name)}; known: {', '.join(MECHANISMS)}"
        )
    options: dict[str, Any] = {}
    if "base" in fields:
        if fields["base"] != _BASE or not issubclass(MECHANISMS[name], TangentMechanism):
            raise InvalidParameterError(f'base must be "{_BASE}", of a tangent mechanism')
        options["base"] = ball.center
    if "restricted_to_ball" in fields:
        if fields["restricted_to_ball"] is not True or name != RiemannianLaplace.name:
            raise InvalidParameterError(
                f"restricted_to_ball must be true, and {RiemannianLaplace.name} the mechanism: "
                "no other can be restricted to a ball"
            )
        options["ball"] = ball
    if "sampler" in fields:
        if fields["sampler"] != "metropolis" or not hasattr(MECHANISMS[name], "sampler"):
            raise InvalidParameterError('sampler must be "metropolis", of a Riemannian mechanism')
        options["sampler"] = fields["sampler"]
    build: Any = MECHANISMS[name]
    sigma = _document.number(fields["sigma"], "sigma")
    mechanism: Mechanism = build(ball.manifold, sigma, **options)
    return mechanism


def _build(known: Mapping[str, type[Any]], document: object) -> Any:
    name = document.get("type") if isinstance(document, dict) else None
    if not isinstance(name, str) or name not in known:
        raise InvalidParameterError(f"unknown type {shown(name)}; known: {', '.join(known)}")
    names = {field.name for field in dataclasses.fields(known[name])}
    values = dict(_document.fields(document, names | {"type"}))
    del values["type"]
    return known[name](**{key: _field(key, value) for key, value in values.items()})


def _field(key: str, value: object) -> float | int | str:
    """Value of a field: a text where the field is one, else a number."""
    if key == "distance":
        return _document.text(value, key)
    if key == "order" and value == _INFINITE:
        return math.inf
    return _document.number(value, key)
