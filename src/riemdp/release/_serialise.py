"""Public objects as plain dictionaries, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import InvalidParameterError
from riemdp.manifolds import (
    Ball,
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.mechanisms import MECHANISMS, Mechanism, RiemannianLaplace
from riemdp.privacy import GDP, ZCDP, ApproxDP, PureDP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.privacy import Budget

_MANIFOLDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Euclidean, Sphere, Hyperbolic, SPDLogEuclidean, SPDAffineInvariant)
}
_BUDGETS: dict[str, type[Any]] = {kind.__name__: kind for kind in (PureDP, ApproxDP, GDP, ZCDP)}


def manifold_to_dict(manifold: Manifold) -> dict[str, Any]:
    """Class name and fields."""
    return {"type": type(manifold).__name__, **asdict(manifold)}  # type: ignore[call-overload]


def manifold_from_dict(document: Mapping[str, Any]) -> Manifold:
    """Inverse of :func:`manifold_to_dict`."""
    manifold: Manifold = _build(_MANIFOLDS, document)
    return manifold


def budget_to_dict(budget: Budget) -> dict[str, Any]:
    """Class name and fields."""
    return {"type": type(budget).__name__, **asdict(budget)}  # type: ignore[call-overload]


def budget_from_dict(document: Mapping[str, Any]) -> Budget:
    """Inverse of :func:`budget_to_dict`."""
    budget: Budget = _build(_BUDGETS, document)
    return budget


def ball_from_dict(manifold: Manifold, document: Mapping[str, Any]) -> Ball:
    """Ball of a manifold from its centre and radius."""
    return Ball(manifold, np.asarray(document["center"]), document["radius"])


def mechanism_to_dict(mechanism: Mechanism) -> dict[str, Any]:
    """Name and scale; a base is the ball's centre and a restriction is to the ball."""
    document: dict[str, Any] = {"name": mechanism.name, "sigma": mechanism.sigma}
    if getattr(mechanism, "base", None) is not None:
        document["base"] = "ball-center"
    if getattr(mechanism, "ball", None) is not None:
        document["restricted_to_ball"] = True
    return document


def mechanism_from_dict(document: Mapping[str, Any], ball: Ball) -> Mechanism:
    """Inverse of :func:`mechanism_to_dict`."""
    name = document["name"]
    if name not in MECHANISMS:
        raise InvalidParameterError(f"unknown mechanism {name!r}; known: {', '.join(MECHANISMS)}")
    options: dict[str, Any] = {}
    if document.get("base") is not None:
        options["base"] = ball.center
    if document.get("restricted_to_ball"):
        if name != RiemannianLaplace.name:
            raise InvalidParameterError(f"{name} cannot be restricted to a ball")
        options["ball"] = ball
    build: Any = MECHANISMS[name]
    mechanism: Mechanism = build(ball.manifold, document["sigma"], **options)
    return mechanism


def _build(known: Mapping[str, type[Any]], document: Mapping[str, Any]) -> Any:
    fields = dict(document)
    name = fields.pop("type")
    if name not in known:
        raise InvalidParameterError(f"unknown type {name!r}; known: {', '.join(known)}")
    return known[name](**fields)
