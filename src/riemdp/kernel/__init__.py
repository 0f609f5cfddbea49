"""Records in tiles, integer rows that are checked before they are added, costs, and the verifier.

Only the verifier knows spaces. No module here imports statistics, mechanisms or releases.
"""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.kernel._costs import Choice, Draw, is_sharp, noise, within_budget
    from riemdp.kernel._guard import guarded, within
    from riemdp.kernel._people import means_of_owners
    from riemdp.kernel._shapes import UNIT, Classes, Line, Moment, Products, Shape, Vector, on_grid
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
    from riemdp.kernel._verify import (
        Check,
        SearchReceipt,
        check_document,
        check_release,
        names_in,
        stated_in,
    )
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_costs": "Choice Draw is_sharp noise within_budget",
            "_guard": "guarded within",
            "_people": "means_of_owners",
            "_shapes": "UNIT Classes Line Moment Products Shape Vector on_grid",
            "_sums": "Sum added added_products added_with_weights sum_of",
            "_tiles": (
                "computed has_form in_tiles joined places_are_alike public_row rows_for taken tiles"
            ),
            "_verify": "Check SearchReceipt check_document check_release names_in stated_in",
        },
    )

__all__ = [
    "UNIT",
    "Check",
    "Choice",
    "Classes",
    "Draw",
    "Line",
    "Moment",
    "Products",
    "SearchReceipt",
    "Shape",
    "Sum",
    "Vector",
    "added",
    "added_products",
    "added_with_weights",
    "check_document",
    "check_release",
    "computed",
    "guarded",
    "has_form",
    "in_tiles",
    "is_sharp",
    "joined",
    "means_of_owners",
    "names_in",
    "noise",
    "on_grid",
    "places_are_alike",
    "public_row",
    "rows_for",
    "stated_in",
    "sum_of",
    "taken",
    "tiles",
    "within",
    "within_budget",
]
