"""Which statistic is released with weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import statistics  # most have none: their names are found in use
from riemdp._checks import real_entries, shown
from riemdp._combinations import BESIDE_CHUNKS, PEOPLE_WEIGH, WEIGHTS_HAVE_PLACES
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedNeighboursError
from riemdp.release._options import says_whose
from riemdp.release._streams import is_file_of_array, is_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from riemdp.release._offer import Wanted
    from riemdp.release._options import Options
    from riemdp.spaces import Ball
    from riemdp.statistics import Neighbours, Records, Statistic


def weighted(
    records: Records, wanted: Wanted, neighbours: Neighbours, options: Options
) -> tuple[Records, Wanted]:
    """Return records with their weights, shape (n,), and the statistic that takes them.

    Private weights may come with records that are not opened yet. Public ones are divided by the
    largest; they have to be finite and at least 0, and belong to places, which the relation has to
    keep.
    """
    weights, private = options.weights, options.private_weights
    if not isinstance(private, bool):
        raise InvalidParameterError(f"private_weights must be true or false, got {shown(private)}")
    own = records.weights is not None
    if says_whose(records) and (private or weights is not None):
        raise InvalidParameterError(str(PEOPLE_WEIGH))
    stream = is_stream(records.points) and not is_file_of_array(records.points)
    if weights is None:
        if private and not (own or stream or callable(records.points)):
            raise InvalidParameterError("private_weights is about weights: give weights=...")
        if private:
            return records, _taking_weights(wanted, _of_sums, private=True)
        weigh = "weights" in neighbours.adds  # people who count for several records
        return records, _taking_weights(wanted, _of_sums) if weigh else wanted
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
        return replace(records, weights=weights), _taking_weights(wanted, _of_sums, private=True)
    public = _relative(weights)
    share = statistics.largest_share(public)
    return replace(records, weights=public), _taking_weights(
        wanted, lambda found, _: statistics.Weighted(found, share), private=False
    )


def _of_sums(found: Statistic, ball: Ball) -> Statistic:
    """Return the form for private weights: of a curved Fréchet mean, no sum, the tangent mean."""
    is_curved = isinstance(found, statistics.FrechetMean) and ball.manifold.chart is None
    return statistics.weighted(statistics.TangentMean() if is_curved else found, ball)


def _taking_weights(
    wanted: Wanted,
    with_weights: Callable[[Statistic, Ball], Statistic],
    *,
    private: bool | None = None,
) -> Wanted:
    """Return the statistic that takes weights, where the one that is wanted does not itself.

    One that does is refused where the caller says otherwise whether the weights are ``private``:
    public ones are divided by the largest, and set the noise.
    """

    def found(ball: Any, mechanism: Any) -> Any:
        one = wanted(ball, mechanism)
        if "weights" not in one.takes:
            return with_weights(one, ball)
        if private is not None and ("weights" in one.by_place) == private:
            held, said = ("public", "private") if private else ("private", "public")
            raise InvalidParameterError(
                f"the {one.title} is for {held} weights, and these are said to be {said}: give the "
                "statistic without weights, and say private_weights=True or leave it out"
            )
        return one

    return found


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
