"""Records in tiles, integer rows of public shapes that are checked before they are added; costs.

Nothing here knows spaces, statistics or releases.
"""

from riemdp.kernel._costs import Choice, Draw, is_sharp, noise, within_budget
from riemdp.kernel._guard import guarded, within
from riemdp.kernel._people import means_of_owners
from riemdp.kernel._shapes import (
    UNIT,
    Classes,
    Line,
    Moment,
    Products,
    Shape,
    Vector,
    on_grid,
)
from riemdp.kernel._sums import Sum, added, added_products, added_with_weights, sum_of
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
    "Choice",
    "Classes",
    "Draw",
    "Line",
    "Moment",
    "Products",
    "Shape",
    "Sum",
    "Vector",
    "added",
    "added_products",
    "added_with_weights",
    "computed",
    "guarded",
    "has_form",
    "in_tiles",
    "is_sharp",
    "joined",
    "means_of_owners",
    "noise",
    "on_grid",
    "places_are_alike",
    "public_row",
    "rows_for",
    "sum_of",
    "taken",
    "tiles",
    "within",
    "within_budget",
]
