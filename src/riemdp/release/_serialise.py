"""Releases as documents, and back."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._checks import count, shown
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._part import lookup
from riemdp._part_document import decode, decode_fields, encode, encode_fields, encode_value
from riemdp.manifolds import Ball, BoxBall, Manifold
from riemdp.mechanisms import Mechanism
from riemdp.privacy import Anchor, Budget
from riemdp.release._search._document import search_from_dict, search_to_dict
from riemdp.statistics import Neighbours, Statistic, outline

if TYPE_CHECKING:
    from riemdp.release._release import Release

FORMAT = "riemdp-release/2"
#: The fields that a release and its document have alike.
_SHARED = ("reason", "sensitivity", "tol", "n", "private")
_LAW = ("expected_distance", "error_quantile_95")
#: The keys that every document has.
_KEYS = {"format", "value", "guarantee", "statistic", "neighbours", "manifold", "ball", "mechanism",
         "proofs", "grid", "rounded", *_LAW, *_SHARED}  # fmt: skip
#: What else it may have: of a draw that was not projected, or was shrunk, of a ball that was found,
#: of a charge to a durable ledger, of several queries, and, since that is stated, of what it was
#: drawn with.
_OPTIONAL = {"projected", "shrunk", "search", "anchor", "versions", "scales"}


def to_document(release: Release) -> dict[str, Any]:
    """Return a release as a document.

    ``InvalidParameterError`` if the mechanism does not belong to the ball, or a part is not
    registered.
    """
    ball, statistic = release.ball, release.statistic
    return {
        "format": FORMAT,
        "value": release.raw.tolist(),
        "guarantee": encode(release.guarantee),
        "statistic": encode(statistic),
        "neighbours": encode(release.neighbours),
        "manifold": encode(ball.manifold),
        "ball": ball_to_dict(ball),
        "mechanism": mechanism_to_dict(release.mechanism, release.offer.answers),
        "proofs": release.proofs,
        **{name: getattr(release, name) for name in _SHARED},
        **_errors(release),
        "grid": release.grid,
        "rounded": list(release.rounded),
        **({"scales": list(release.scales)} if len(release.scales) > 1 else {}),
        **({} if release.projected else {"projected": False}),
        **({"shrunk": True} if release.shrunk else {}),
        **({} if release.search is None else {"search": search_to_dict(release.search)}),
        **({} if release.anchor is None else {"anchor": release.anchor.document()}),
        **({"versions": release.versions} if release.versions else {}),
    }


def not_finite(document: dict[str, Any]) -> InvalidParameterError:
    """Error for a document with numbers that JSON has no name for."""

    def finite(value: object) -> bool:
        try:
            return bool(json.dumps(value, allow_nan=False))
        except ValueError:
            return False

    names = ", ".join(name for name, value in document.items() if not finite(value))
    return InvalidParameterError(
        f"this release cannot be written: not finite in float64 are {names}; use a mechanism of a "
        "smaller scale, or another unit of the data"
    )


def from_document(document: object) -> dict[str, Any]:
    """Return the fields of the release that a document describes."""
    written = document.get("format") if isinstance(document, dict) else None
    if written is None:
        raise InvalidParameterError("this is not a release written by Release.to_json")
    _document.not_of_research(document)
    if written != FORMAT:
        raise InvalidParameterError(
            f"format {shown(written)} is not {FORMAT!r}: written by another version"
        )
    fields = _document.fields(document, _KEYS, _OPTIONAL)
    proofs = _document.fields(fields["proofs"], set(), set(fields["proofs"]))
    for proof in proofs.values():
        if proof is not None:
            _document.text(proof, "a proof")
    private = _document.flag(fields["private"], "private")
    statistic = decode(fields["statistic"], Statistic.sort)
    neighbours = decode(fields["neighbours"], Neighbours.sort)

    def number(name: str) -> float:
        return float(_document.number(fields[name], name))

    manifold = decode(fields["manifold"], Manifold.sort)
    ball = ball_from_dict(manifold, fields["ball"])
    stated: Any = (fields["expected_distance"], fields["error_quantile_95"])
    if stated != (None, None):
        stated = (number("expected_distance"), number("error_quantile_95"))
    n = _size(fields["n"], neighbours)
    planned = outline(statistic, ball, n=float(n or 1))
    found: dict[str, Any] = {
        "value": planned.value.ball.manifold.validate(_document.numbers(fields["value"], "value")),
        "guarantee": decode(fields["guarantee"], Budget.sort).under(neighbours.adjacency),
        "statistic": statistic,
        "neighbours": neighbours,
        "reason": _document.text(fields["reason"], "reason"),
        "sensitivity": number("sensitivity"),
        "tol": number("tol"),
        "ball": ball,
        "n": n,
        "private": private,
        "stated_error": stated,
        "stated_proofs": tuple(proofs.items()),
        "stated_versions": _versions(fields.get("versions", {})),
        "grid": fields["grid"],
        "rounded": _integers(fields["rounded"]),
        "projected": _document.flag(fields.get("projected", True), "projected"),
        "shrunk": _document.flag(fields.get("shrunk", False), "shrunk"),
    }
    if "search" in fields:
        found["search"] = search_from_dict(fields["search"], manifold, found["n"])
    if "anchor" in fields:
        found["anchor"] = Anchor.from_document(fields["anchor"])
    if "scales" in fields:
        found["scales"] = _scales(fields["scales"], fields["mechanism"])
    # last: its law may take a while
    answers = planned.queries[-1].answers(ball)
    found["mechanism"] = mechanism_from_dict(fields["mechanism"], answers)
    return found


def _versions(document: object) -> tuple[tuple[str, str], ...]:
    """Return names and versions that a document states."""
    given = document if isinstance(document, dict) else {}
    fields = _document.fields(document, set(), set(given))
    return tuple((name, _document.text(version, "a version")) for name, version in fields.items())


def _size(value: object, neighbours: Neighbours) -> int | None:
    """Return the number of records, which is null where it is private."""
    if neighbours.size_is_public:
        return count(value, "n")
    if value is not None:
        raise InvalidParameterError("n must be null where the number of records is private")
    return None


def _integers(values: object) -> tuple[int, ...]:
    """Return the integers that a document lists."""
    if not isinstance(values, list) or not set(map(type, values)) <= {int}:
        raise InvalidParameterError("rounded must be a list of integers")
    return tuple(values)


def _scales(values: object, mechanism: Any) -> tuple[float, ...]:
    """Return the scales of several queries, of which the last one is that of the mechanism."""
    if not isinstance(values, list) or len(values) < 2:
        raise InvalidParameterError("scales must be a list of two numbers or more")
    found = tuple(float(_document.number(value, "a scale")) for value in values)
    if not isinstance(mechanism, dict) or mechanism.get("sigma") != found[-1]:
        raise InvalidParameterError("the last of the scales must be sigma of the mechanism")
    return found


def _errors(release: Release) -> dict[str, float | None]:
    found: tuple[float | None, float | None]
    try:
        found = (release.expected_distance, release.error_quantile(0.95))
    except UnsupportedError:  # no law of distances is known
        found = (None, None)
    except ArithmeticError:
        found = (math.inf, math.inf)
    return {"expected_distance": found[0], "error_quantile_95": found[1]}


def ball_to_dict(ball: Ball) -> dict[str, Any]:
    """Centre and radius of a ball, and the radii of its factors if it has some."""
    written = {"center": ball.center.tolist(), "radius": encode_value(ball.radius)}
    if ball.parts[0] is not ball:
        written["radii"] = [part.radius for part in ball.parts]
    return written


def ball_from_dict(manifold: Manifold, document: object) -> Ball:
    """Ball of a manifold from its centre and radius, and those of the factors."""
    fields = _document.fields(document, {"center", "radius"}, {"radii"})
    center = np.asarray(_document.numbers(fields["center"], "center"))
    radii = _document.numbers(fields["radii"], "radii") if "radii" in fields else None
    radius = decode_fields({"radius": fields["radius"]})["radius"]
    if radii is None:
        return Ball(manifold, center, radius)
    return BoxBall(manifold, center, radius, tuple(np.ravel(radii).tolist()))


def mechanism_to_dict(mechanism: Mechanism, ball: Ball) -> dict[str, Any]:
    """Name of a mechanism of this ball, and those fields that differ from their defaults.

    What is a function of the public ball is named under ``options``. One that has no effect, and is
    not that of this ball, is left out.
    """
    if (problem := mechanism.foreign_to(ball)) is not None:
        raise InvalidParameterError(f"this release cannot be written: {problem}")
    own = {field.name: field.default for field in _own_fields(type(mechanism))}
    of_ball = {name: value for name, value in mechanism.options.items() if name in own}
    skipped = {"manifold", *of_ball}
    skipped |= {
        name
        for name, default in own.items()
        if name not in skipped and getattr(mechanism, name) == default
    }
    document = {"type": mechanism.name, **encode_fields(mechanism, without=skipped)}
    options = [
        name for name, value in of_ball.items() if _same(getattr(mechanism, name), value(ball))
    ]
    return {**document, "options": options} if options else document


def mechanism_from_dict(document: object, ball: Ball) -> Mechanism:
    """Inverse of :func:`mechanism_to_dict`."""
    kind = lookup(document.get("type") if isinstance(document, dict) else None, Mechanism.sort)
    own = [f for f in _own_fields(kind) if f.name not in {"manifold", *kind.options}]
    needed = {field.name for field in own if field.default is dataclasses.MISSING}
    fields = _document.fields(
        document, {"type", *needed}, {"options", *(field.name for field in own)}
    )
    named = fields.get("options", [])
    if not isinstance(named, list) or any(name not in kind.options for name in named):
        raise InvalidParameterError(f"options must be a list of some of {sorted(kind.options)}")
    values = {name: value for name, value in fields.items() if name not in {"type", "options"}}
    found = {**decode_fields(values), **{name: kind.options[name](ball) for name in named}}
    if any(field.name == "manifold" for field in _own_fields(kind)):
        found["manifold"] = ball.manifold
    mechanism: Mechanism = kind(**found)
    return mechanism


def _own_fields(kind: type[Mechanism]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.init]


def _same(value: object, other: object) -> bool:
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(value, other)
    return value is not None and bool(value == other)
