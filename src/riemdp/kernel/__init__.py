"""Records in tiles, integer rows that are checked before they are added, and what noise costs.

Nothing here knows spaces, statistics or releases.
"""

from riemdp.kernel._costs import ALLOWANCE, Choice, is_sharp, noise, within_budget
from riemdp.kernel._guard import guarded, within
from riemdp.kernel._tiles import (
    computed,
    has_form,
    in_tiles,
    joined,
    places_are_alike,
    public_row,
    rows_for,
    taken,
    tiles,
)

__all__ = [
    "ALLOWANCE",
    "Choice",
    "computed",
    "guarded",
    "has_form",
    "in_tiles",
    "is_sharp",
    "joined",
    "noise",
    "places_are_alike",
    "public_row",
    "rows_for",
    "taken",
    "tiles",
    "within",
    "within_budget",
]
