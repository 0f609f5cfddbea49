"""Strict reading of JSON documents: nothing is converted, guessed or ignored."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from typing import Any

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError


def load(text: str) -> Any:
    """Parse JSON; duplicate keys and numbers that are not finite are a ``ValueError``."""
    return json.loads(
        text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite
    )


def canonical(document: Any) -> bytes:
    """Return the one text of a document: UTF-8, keys sorted, no spaces, shortest digits.

    ``ValueError`` for numbers that are not finite, and for texts that are not Unicode.
    """
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def digest(document: Any) -> str:
    """Return the SHA-256 of the canonical text, in hex; see :func:`canonical`."""
    return hashlib.sha256(canonical(document)).hexdigest()


def not_of_research(document: Any) -> Any:
    """Return a document as it is, if it is not one of ``riemdp.research``."""
    if isinstance(document, dict) and str(document.get("format")).startswith("riemdp/research/"):
        raise InvalidParameterError(
            "this is a release of riemdp.research, drawn in float64: nothing is proved of its "
            "bits, so that there is nothing to verify; release with riemdp.private_mean"
        )
    return document


def fields(
    document: object, required: set[str], optional: set[str] | None = None
) -> dict[str, Any]:
    """Return an object that has all required keys and none but these and the optional ones."""
    if not isinstance(document, dict):
        raise InvalidParameterError(f"expected an object, got {shown(document)}")
    if missing := required - document.keys():
        raise InvalidParameterError(f"missing: {', '.join(sorted(missing))}")
    if unknown := document.keys() - required - (optional or set()):
        raise InvalidParameterError(f"unknown: {', '.join(shown(key) for key in sorted(unknown))}")
    return document


def number(value: object, name: str) -> int | float:
    """Return a number as it is; booleans and texts are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidParameterError(f"{name} must be a number, got {shown(value)}")
    return value


def text(value: object, name: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise InvalidParameterError(f"{name} must be a text, got {shown(value)}")
    return value


def flag(value: object, name: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise InvalidParameterError(f"{name} must be true or false, got {shown(value)}")
    return value


def numbers(value: object, name: str) -> list[Any]:
    """Return a list, or lists of lists, of numbers."""
    if not isinstance(value, list):
        raise InvalidParameterError(f"{name} must be a list of numbers, got {shown(value)}")
    level: list[Any] = value
    while (kinds := set(map(type, level))) == {list}:
        level = list(itertools.chain.from_iterable(level))
    if kinds <= {int, float}:  # of long lists nearly all are
        return value
    for entry in value:
        if isinstance(entry, list):
            numbers(entry, name)
        else:
            number(entry, f"every entry of {name}")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise InvalidParameterError("a key occurs twice in one object")
    return document


def _no_constant(name: str) -> float:
    raise InvalidParameterError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidParameterError("a number lies beyond float64")
    return value
