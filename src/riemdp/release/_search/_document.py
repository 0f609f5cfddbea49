"""Receipts of searches in documents of releases, and back."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._checks import count, shown
from riemdp._errors import InvalidParameterError
from riemdp._part_document import decode, decode_fields, encode, encode_value
from riemdp.manifolds import Ball
from riemdp.noise.exact import check_grid
from riemdp.privacy import Budget
from riemdp.release._search._numbers import RATIO
from riemdp.release._search._steps import CentreStep, ChoiceStep, Search, Step

if TYPE_CHECKING:
    from riemdp.manifolds import Manifold

_KEYS = {"public_ball", "budget", "rounds", "axis", "steps", "release"}
_CHOICE = {"query", "rate", "guarantee", "top", "ratio", "count", "penalty", "value"}
_CENTRE = {"query", "ball", "mechanism", "sensitivity", "guarantee", "grid", "rounded", "value"}


def search_to_dict(search: Search) -> dict[str, Any]:
    """Return the receipt of a search as a document has it."""
    return {
        "public_ball": _ball(search.ball.center, search.ball.radius),
        "budget": encode(search.budget),
        "rounds": search.rounds,
        "axis": search.axis,
        "steps": [_step(step) for step in search.steps],
        "release": None if search.release is None else encode(search.release),
    }


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, ChoiceStep):
        return {
            "query": step.query,
            "rate": step.rate,
            "guarantee": encode(step.guarantee),
            "top": step.top,
            "ratio": _ratio(step.query),
            "count": step.count,
            "penalty": step.penalty,
            "value": step.value,
        }
    return {
        "query": step.query,
        "ball": _ball(step.center, step.radius),
        "mechanism": {"type": step.mechanism, "sigma": step.sigma},
        "sensitivity": step.sensitivity,
        "guarantee": encode(step.guarantee),
        "grid": step.grid,
        "rounded": list(step.rounded),
        "value": step.value.tolist(),
    }


def _ratio(query: str) -> float | None:
    """Ratio of neighbouring candidates; None of places along an axis, which have one distance."""
    return None if query == "axis" else RATIO


def _ball(center: Any, radius: float) -> dict[str, Any]:
    return {"center": center.tolist(), "radius": encode_value(radius)}


def search_from_dict(document: object, manifold: Manifold, n: int) -> Search:
    """Inverse of :func:`search_to_dict`, for a release of so many records."""
    fields = _document.fields(document, _KEYS)
    center, radius = _read_ball(fields["public_ball"])
    steps = fields["steps"]
    if not isinstance(steps, list) or not steps:
        raise InvalidParameterError("steps must be a list of what was asked")
    seen: Counter[str] = Counter()
    rounds, release = fields["rounds"], fields["release"]
    if type(rounds) is not int or rounds < 0:
        raise InvalidParameterError(f"rounds must be an integer, got {shown(rounds)}")
    return Search(
        ball=Ball(manifold, center, radius),
        n=n,
        budget=decode(fields["budget"], Budget.sort),
        rounds=rounds,
        axis=_document.flag(fields["axis"], "axis"),
        steps=tuple(_read_step(step, seen) for step in steps),
        release=None if release is None else decode(release, Budget.sort),
    )


def _label(query: str, seen: Counter[str]) -> str:
    """Return what a step is called: by what was asked, and how often."""
    seen[query] += 1
    return {"pairs": "spread", "axis": "axis"}.get(query, f"{query} {seen[query]}")


def _read_step(document: object, seen: Counter[str]) -> Step:
    query = document.get("query") if isinstance(document, dict) else None
    if query == CentreStep.query:
        return _read_centre(_document.fields(document, _CENTRE), seen)
    if query not in ("pairs", "axis", "radius"):
        raise InvalidParameterError(f"query must name one of a search, got {shown(query)}")
    fields = _document.fields(document, _CHOICE)
    if fields["ratio"] != _ratio(query):
        raise InvalidParameterError(f"ratio must be {_ratio(query)} (None is null)")
    return ChoiceStep(
        query=query,
        label=_label(query, seen),
        guarantee=decode(fields["guarantee"], Budget.sort),
        count=count(fields["count"], "count"),
        **{name: _number(fields, name) for name in ("rate", "top", "penalty", "value")},
    )


def _read_centre(fields: dict[str, Any], seen: Counter[str]) -> CentreStep:
    center, radius = _read_ball(fields["ball"])
    mechanism = _document.fields(fields["mechanism"], {"type", "sigma"})
    rounded = fields["rounded"]
    integers = isinstance(rounded, list) and all(type(x) is int for x in rounded)
    if not integers or type(fields["grid"]) is not int:
        raise InvalidParameterError("grid and rounded must be integers")
    return CentreStep(
        label=_label(CentreStep.query, seen),
        guarantee=decode(fields["guarantee"], Budget.sort),
        center=center,
        radius=radius,
        mechanism=_document.text(mechanism["type"], "mechanism"),
        sensitivity=_number(fields, "sensitivity"),
        sigma=_number(mechanism, "sigma"),
        grid=check_grid(fields["grid"]),
        rounded=tuple(rounded),
        value=_point(fields["value"], "value"),
    )


def _read_ball(document: object) -> tuple[np.ndarray[Any, Any], float]:
    fields = _document.fields(document, {"center", "radius"})
    radius = decode_fields({"radius": fields["radius"]})["radius"]
    return _point(fields["center"], "center"), _document.number(radius, "radius")


def _point(value: object, name: str) -> np.ndarray[Any, Any]:
    return np.asarray(_document.numbers(value, name), dtype=np.float64)


def _number(fields: dict[str, Any], name: str) -> float:
    return float(_document.number(fields[name], name))
