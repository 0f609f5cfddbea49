"""Balls and mechanisms as plain dictionaries, and back; the other parts do it by themselves."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._errors import InvalidParameterError
from riemdp._part import decode_fields, encode_fields, lookup
from riemdp.manifolds import Ball, FlatManifold
from riemdp.mechanisms import RiemannianLaplace
from riemdp.mechanisms._tangent_mechanism import TangentMechanism

if TYPE_CHECKING:
    from riemdp.manifolds import Manifold
    from riemdp.mechanisms import Mechanism

#: How a document names the one base that a release may have.
_BASE = "ball-center"
#: What of a mechanism follows from the ball, or has a key of its own.
_PUBLIC = {"manifold", "base", "ball", "sampler"}


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
    """Name, scale and what else is the mechanism's own.

    A base is the ball's centre, and a restriction is to the ball.

    On flat spaces a base that is not the centre is left out: it has no effect there.

    Raises
    ------
    InvalidParameterError
        If the mechanism does not belong to the ball.
    """
    if (problem := foreign_part(mechanism, ball)) is not None:
        raise InvalidParameterError(f"this release cannot be written: {problem}")
    document = {"name": mechanism.name, **encode_fields(mechanism, without=_PUBLIC)}
    base = getattr(mechanism, "base", None)
    if base is not None and np.array_equal(base, ball.center):
        document["base"] = _BASE
    if getattr(mechanism, "ball", None) is not None:
        document["restricted_to_ball"] = True
    if (sampler := getattr(mechanism, "sampler", "exact")) != "exact":
        document["sampler"] = sampler
    return document


def mechanism_from_dict(document: object, ball: Ball) -> Mechanism:
    """Inverse of :func:`mechanism_to_dict`."""
    kind = lookup(document.get("name") if isinstance(document, dict) else None, "mechanism")
    own = {field.name for field in dataclasses.fields(kind)} - _PUBLIC
    fields = _document.fields(document, {"name", *own}, {"base", "restricted_to_ball", "sampler"})
    options: dict[str, Any] = decode_fields({name: fields[name] for name in own})
    if "base" in fields:
        if fields["base"] != _BASE or not issubclass(kind, TangentMechanism):
            raise InvalidParameterError(f'base must be "{_BASE}", of a tangent mechanism')
        options["base"] = ball.center
    if "restricted_to_ball" in fields:
        if fields["restricted_to_ball"] is not True or kind is not RiemannianLaplace:
            raise InvalidParameterError(
                f"restricted_to_ball must be true, and {RiemannianLaplace.name} the mechanism: "
                "no other can be restricted to a ball"
            )
        options["ball"] = ball
    if "sampler" in fields:
        if fields["sampler"] != "metropolis" or not hasattr(kind, "sampler"):
            raise InvalidParameterError('sampler must be "metropolis", of a Riemannian mechanism')
        options["sampler"] = fields["sampler"]
    mechanism: Mechanism = kind(ball.manifold, **options)
    return mechanism
