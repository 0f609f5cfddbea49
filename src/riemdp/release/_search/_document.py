"""Receipts of searches in documents of releases, and back."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._errors import InvalidParameterError
from riemdp._part_document import decode, decode_fields, encode, encode_value
from riemdp.privacy import Budget
from riemdp.release._search._steps import Search
from riemdp.spaces import Ball

if TYPE_CHECKING:
    from riemdp.spaces import Manifold

_KEYS = {"public_ball", "budget", "axis", "steps", "release"}


def search_to_dict(search: Search) -> dict[str, Any]:
    """Return the receipt of a search as a document has it."""
    ball = search.ball
    return {
        "public_ball": {"center": ball.center.tolist(), "radius": encode_value(ball.radius)},
        "budget": encode(search.budget),
        "axis": search.axis,
        "steps": [dict(step) for step in search.steps],
        "release": None if search.release is None else encode(search.release),
    }


def search_from_dict(document: object, manifold: Manifold, n: int | None) -> Search:
    """Inverse of :func:`search_to_dict`, for a release of so many units.

    Steps are read, and left to be checked: see ``check_search``.
    """
    fields = _document.fields(document, _KEYS)
    given = _document.fields(fields["public_ball"], {"center", "radius"})
    center = np.asarray(_document.numbers(given["center"], "center"), dtype=np.float64)
    radius = decode_fields({"radius": given["radius"]})["radius"]
    steps, release = fields["steps"], fields["release"]
    if not isinstance(steps, list) or not steps:
        raise InvalidParameterError("steps must be a list of queries")
    for step in steps:
        share: Any = step.get("share") if isinstance(step, dict) else None
        whole = isinstance(share, list) and len(share) == 2 and {*map(type, share)} == {int}
        if not whole or share[1] == 0 or not 0 < Fraction(*share) < 1:
            raise InvalidParameterError("every step must have a share, two integers")
    return Search(
        ball=Ball(manifold, center, _document.number(radius, "radius")),
        n=n,
        budget=decode(fields["budget"], Budget.sort),
        axis=_document.flag(fields["axis"], "axis"),
        steps=tuple(steps),
        release=None if release is None else decode(release, Budget.sort),
    )
