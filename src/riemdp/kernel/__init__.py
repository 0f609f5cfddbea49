"""Records in tiles, and integer rows of public shapes that are checked before they are added.

Nothing here knows spaces, statistics or releases.
"""

from riemdp.kernel._guard import guarded, within
from riemdp.kernel._shapes import (
    UNIT,
    Classes,
    Counted,
    Line,
    Moment,
    Products,
    Shape,
    Vector,
    Weighted,
)
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
    "UNIT",
    "Classes",
    "Counted",
    "Line",
    "Moment",
    "Products",
    "Shape",
    "Vector",
    "Weighted",
    "computed",
    "guarded",
    "has_form",
    "in_tiles",
    "joined",
    "places_are_alike",
    "public_row",
    "rows_for",
    "taken",
    "tiles",
    "within",
]
