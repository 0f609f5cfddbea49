"""Releases as documents, and back."""

from __future__ import annotations

import dataclasses
import json
import re
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._checks import count, positive, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import lookup
from riemdp._part_document import decode, decode_fields, encode, encode_fields, encode_value
from riemdp.mechanisms import Mechanism
from riemdp.noise.exact import default_grid
from riemdp.privacy import Anchor, Budget
from riemdp.release._search._document import search_from_dict, search_to_dict
from riemdp.spaces import Ball, BoxBall, Manifold
from riemdp.statistics import Neighbours, Statistic, outline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from riemdp.release._offer import Offer
    from riemdp.release._release import Release
    from riemdp.statistics import Query

FORMAT = "riemdp-release/3"
#: The keys of every document, and those of a ball that was found, or of a charge to a ledger.
_KEYS, _OPTIONAL = {"format", "header", "rounded", "shrunk", "value"}, {"search", "anchor"}
_HEADER = {
    "nonce", "versions", "manifold", "ball", "statistic", "neighbours", "n", "guarantee",
    "mechanism", "queries", "projected", "private", "proofs", "reason",
}  # fmt: skip
_QUERY = {"dim", "share", "sensitivity", "tol", "sigma", "grid"}
_NONCE = re.compile("[0-9a-f]{32}")


def to_document(release: Release) -> dict[str, Any]:
    """Return a release as a document.

    ``InvalidParameterError`` if the mechanism does not belong to the ball, or a part is not
    registered.
    """
    return {
        "format": FORMAT,
        "header": release.header,
        "rounded": list(release.rounded),
        "shrunk": release.shrunk,
        "value": release.raw.tolist(),
        **({} if release.search is None else {"search": search_to_dict(release.search)}),
        **({} if release.anchor is None else {"anchor": release.anchor.document()}),
    }


def header_of(
    offer: Offer,
    guarantee: Budget,
    reason: str,
    *,
    private: bool,
    proofs: Mapping[str, str | None],
    versions: Mapping[str, str],
    nonce: str,
) -> dict[str, Any]:
    """Return what is public of a release before a record is read."""
    return {
        "nonce": nonce,
        "versions": dict(versions),
        "manifold": encode(offer.ball.manifold),
        "ball": ball_to_dict(offer.ball),
        "statistic": encode(offer.statistic),
        "neighbours": encode(offer.neighbours),
        "n": offer.n,
        "guarantee": encode(guarantee),
        "mechanism": mechanism_to_dict(offer.mechanism, offer.answers),
        "queries": [
            {
                "dim": asked.answers.manifold.dim,
                "share": float(asked.query.share),
                "sensitivity": asked.sensitivity,
                "tol": asked.tol,
                "sigma": asked.mechanism.sigma,
                "grid": asked.grid,
            }
            for asked in offer.asked
        ],
        "projected": offer.projected,
        "private": private,
        "proofs": dict(proofs),
        "reason": reason,
    }


def new_nonce() -> str:
    """Return 128 random bits in hex, which no other release has."""
    return secrets.token_hex(16)


def check_nonce(nonce: object) -> None:
    """Raise ``InvalidParameterError`` for what is not 32 hex digits."""
    if not isinstance(nonce, str) or not _NONCE.fullmatch(nonce):
        raise InvalidParameterError(
            f"the nonce of a release must be 32 hex digits, got {shown(nonce)}"
        )


def not_finite(document: dict[str, Any]) -> InvalidParameterError:
    """Error for a document with numbers that JSON has no name for."""

    def finite(value: object) -> bool:
        try:
            return bool(json.dumps(value, allow_nan=False))
        except ValueError:
            return False

    header = document.get("header", {})
    parts = {**document, **header, "header": None}
    names = ", ".join(name for name, value in parts.items() if not finite(value))
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
    result = _document.fields(document, _KEYS, _OPTIONAL)
    fields = _document.fields(result["header"], _HEADER)
    proofs = _document.fields(fields["proofs"], set(), set(fields["proofs"]))
    for proof in proofs.values():
        if proof is not None:
            _document.text(proof, "a proof")
    statistic = decode(fields["statistic"], Statistic.sort)
    neighbours = decode(fields["neighbours"], Neighbours.sort)
    manifold = decode(fields["manifold"], Manifold.sort)
    ball = ball_from_dict(manifold, fields["ball"])
    n = _size(fields["n"], neighbours)
    planned = outline(statistic, ball, n=float(n or 1))
    answers = planned.queries[-1].answers(ball)
    queries = _queries(fields["queries"], planned.queries, ball)
    last = queries[-1]
    found: dict[str, Any] = {
        "value": planned.value.ball.manifold.validate(_document.numbers(result["value"], "value")),
        "guarantee": decode(fields["guarantee"], Budget.sort).under(neighbours.adjacency),
        "statistic": statistic,
        "neighbours": neighbours,
        "reason": _document.text(fields["reason"], "reason"),
        "sensitivity": last["sensitivity"],
        "tol": last["tol"],
        "ball": ball,
        "n": n,
        "private": _document.flag(fields["private"], "private"),
        "stated_proofs": tuple(proofs.items()),
        "stated_versions": _versions(fields["versions"]),
        "stated_moves": tuple((each["sensitivity"], each["tol"]) for each in queries[:-1]),
        "scales": tuple(each["sigma"] for each in queries),
        "rounded": _integers(result["rounded"]),
        "projected": _document.flag(fields["projected"], "projected"),
        "shrunk": _document.flag(result["shrunk"], "shrunk"),
        "nonce": fields["nonce"],
    }
    if "search" in result:
        found["search"] = search_from_dict(result["search"], manifold, found["n"])
    if "anchor" in result:
        found["anchor"] = Anchor.from_document(result["anchor"])
    # last: its law may take a while
    found["mechanism"] = mechanism_from_dict(fields["mechanism"], answers, last["sigma"])
    return found


def _queries(values: object, planned: Sequence[Query], ball: Ball) -> list[dict[str, Any]]:
    """Return the numbers of queries; those that the statistic alone decides must be its own."""
    if not isinstance(values, list) or len(values) != len(planned):
        raise InvalidParameterError(f"queries must be a list of {len(planned)}")
    found = []
    for each, query in zip(values, planned, strict=True):
        fields = dict(_document.fields(each, _QUERY))
        for name in ("sensitivity", "tol", "sigma"):
            fields[name] = float(_document.number(fields[name], name))
        dim, grid = (
            query.answers(ball).manifold.dim,
            default_grid(positive(fields["sigma"], "sigma")),
        )
        for name, own in (("dim", dim), ("share", query.share), ("grid", grid)):
            if _document.number(fields[name], name) != own:
                raise InvalidParameterError(
                    f"{name} of a query is {shown(fields[name])}, and the statistic has {own}"
                )
        found.append(fields)
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
    not that of this ball, is left out; so is the scale, which is that of the last query.
    """
    if (problem := mechanism.foreign_to(ball)) is not None:
        raise InvalidParameterError(f"this release cannot be written: {problem}")
    own = {field.name: field.default for field in _own_fields(type(mechanism))}
    of_ball = {name: value for name, value in mechanism.options.items() if name in own}
    skipped = {"manifold", "sigma", *of_ball}
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


def mechanism_from_dict(document: object, ball: Ball, sigma: float) -> Mechanism:
    """Inverse of :func:`mechanism_to_dict`."""
    kind = lookup(document.get("type") if isinstance(document, dict) else None, Mechanism.sort)
    own = [f for f in _own_fields(kind) if f.name not in {"manifold", "sigma", *kind.options}]
    needed = {field.name for field in own if field.default is dataclasses.MISSING}
    fields = _document.fields(
        document, {"type", *needed}, {"options", *(field.name for field in own)}
    )
    named = fields.get("options", [])
    if not isinstance(named, list) or any(name not in kind.options for name in named):
        raise InvalidParameterError(f"options must be a list of some of {sorted(kind.options)}")
    values = {name: value for name, value in fields.items() if name not in {"type", "options"}}
    found = {**decode_fields(values), **{name: kind.options[name](ball) for name in named}}
    own_names = {field.name for field in _own_fields(kind)}
    given = {"manifold": ball.manifold, "sigma": sigma}
    found |= {name: value for name, value in given.items() if name in own_names}
    mechanism: Mechanism = kind(**found)
    return mechanism


def _own_fields(kind: type[Mechanism]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.init]


def _same(value: object, other: object) -> bool:
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(value, other)
    return value is not None and bool(value == other)
