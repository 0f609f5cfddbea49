"""Which mean is released with weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import statistics  # most means have no weights: their names are found in use
from riemdp._checks import real_entries, shown
from riemdp._combinations import BESIDE_CHUNKS, PEOPLE_OF_RECORDS, PEOPLE_WEIGH, WEIGHTS_HAVE_PLACES
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedNeighboursError
from riemdp.release._relation import says_whose
from riemdp.release._streams import is_file_of_array, is_stream

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.release._offer import Wanted
    from riemdp.statistics import Neighbours, Records


def weighted(
    records: Records,
    weights: ArrayLike | None,
    neighbours: Neighbours,
    mean: Wanted,
    *,
    private: bool,
) -> tuple[Records, Wanted | None]:
    """Return records with their weights, shape (n,), and the mean that takes them, None without.

    ``mean`` is which one it is without them.

    ``private`` says whether weights are as private as the points: then they may come with records
    that are not opened yet. Public ones are divided by the largest; they have to be finite and at
    least 0, and belong to places, which the relation has to keep.
    """
    if not isinstance(private, bool):
        raise InvalidParameterError(f"private_weights must be true or false, got {shown(private)}")
    own = records.weights is not None
    if says_whose(records) and (own or private or weights is not None):
        raise InvalidParameterError(str(PEOPLE_WEIGH))
    stream = is_stream(records.points) and not is_file_of_array(records.points)
    if weights is None:
        if private and (own or stream or callable(records.points)):
            return records, _with_private(mean)
        if own:
            raise InvalidParameterError(
                "say whether the weights are as private as the points, private_weights=True; give "
                "public ones as an argument, weights=..."
            )
        if private:
            raise InvalidParameterError("private_weights is about weights: give weights=...")
        return records, people_weigh(neighbours, mean)
    if own:
        raise InvalidParameterError("give weights once: as an argument, not with the records too")
    if not private and not neighbours.keeps_places:
        raise UnsupportedNeighboursError(f"{neighbours.name}: {WEIGHTS_HAVE_PLACES}")
    if stream and getattr(records.points, "sizes", None) is None:
        with_each = (
            "; or leave out weights, keep private_weights=True, and give them with each chunk: "
            "Records(points, weights=...)"
        )
        raise InvalidParameterError(str(BESIDE_CHUNKS) + (with_each if private else ""))
    if private:
        return replace(records, weights=weights), _with_private(mean)
    public = _relative(weights)
    share = statistics.largest_share(public)

    def wanted(ball: Any, mechanism: Any) -> Any:
        return statistics.Weighted(mean(ball, mechanism), share)

    return replace(records, weights=public), wanted


def people_weigh(neighbours: Neighbours, mean: Wanted) -> Wanted | None:
    """Return the mean of people who do not count alike; None where they do."""
    return _with_private(mean) if "weights" in neighbours.adds else None


def _with_private(mean: Wanted) -> Wanted:
    """Return the mean with private weights: of sums, so the tangent mean for a Fréchet mean."""

    def wanted(ball: Any, mechanism: Any) -> Any:
        found = mean(ball, mechanism)
        is_curved = isinstance(found, statistics.FrechetMean) and ball.manifold.chart is None
        return statistics.weighted(statistics.TangentMean() if is_curved else found, ball)

    return wanted


def _relative(weights: ArrayLike) -> NDArray[np.float64]:
    """Return public weights as parts of the largest one."""
    given = real_entries(weights, "weights")
    if given.ndim != 1 or len(given) == 0:
        raise InvalidParameterError("weights must be one for each point, a sequence of that length")
    with np.errstate(all="ignore"):  # what float64 cannot hold is not finite there
        found = given.astype(np.float64)
    for broken, what in ((~np.isfinite(found), "not finite"), (found < 0.0, "negative")):
        if len(rows := np.flatnonzero(broken)):
            raise NotOnManifoldError(f"row {rows[0]}: its weight is {what}")
    largest = float(found.max())
    if largest == 0.0:
        raise InvalidParameterError("weights must not all be 0")
    return np.asarray(found / largest)


def with_contribution(neighbours: Neighbours, contribution: int) -> Neighbours:
    """Return a relation between people, who count for up to so many records."""
    if contribution == 1:
        return neighbours
    if "users" not in neighbours.takes:
        raise InvalidParameterError(f"{neighbours.name}: {PEOPLE_OF_RECORDS}")
    people: Any = neighbours
    if people.contribution != 1:
        raise InvalidParameterError("give contribution once: with neighbours, or as an argument")
    found: Neighbours = replace(people, contribution=contribution)
    return found
