"""Records in tiles, and integer rows that are checked before they are added.

Nothing here knows spaces, statistics or releases.
"""

from riemdp.kernel._guard import guarded, within
from riemdp.kernel._people import means_of_owners
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
    "computed",
    "guarded",
    "has_form",
    "in_tiles",
    "joined",
    "means_of_owners",
    "places_are_alike",
    "public_row",
    "rows_for",
    "taken",
    "tiles",
    "within",
]
