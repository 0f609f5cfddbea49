"""What ``mechanism="auto"`` takes, from public numbers alone."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from riemdp._errors import NotAttainableError, UnsupportedError
from riemdp._progress import ticks
from riemdp.release._doubt import not_proved, unproven
from riemdp.release._named import kinds
from riemdp.release._offer import Offer, expected_distance, offer, offers, with_draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from riemdp.manifolds import Ball, Manifold
    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget
    from riemdp.release._offer import Arithmetic, Claims, Wanted
    from riemdp.statistics import Neighbours, Statistic

T = TypeVar("T")

#: Errors that differ by less, relatively, count as equal.
_SAME = 1.001


@dataclass(frozen=True, eq=False)
class _Candidate:
    """An offer with what it was made of, and its expected distance."""

    offer: Offer
    pair: tuple[Statistic, type[Mechanism]]
    error: float


def least_error(
    wanted: Wanted,
    ball: Ball,
    n: int | None,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    tol: float | None = None,
    allow_unproven: bool = False,
    arithmetic: Arithmetic = "exact",
    streams: bool = False,
    rereads: bool = False,
) -> tuple[Offer, str]:
    """Return the offer with the least expected distance, and the reason in words.

    All statistics that are wanted of one mechanism or another are compared: of a location both
    means, each with the noise that it may have. What is not proved is taken only where that is
    allowed.

    Raises
    ------
    NotAttainableError
        If no mechanism can satisfy the budget here.
    UnprovenMechanismError
        If none of those that can is proved, and that is not allowed.
    """
    pairs = list(_pairs(wanted, ball.manifold))
    made = offers(
        pairs,
        ball,
        n,
        budget,
        neighbours=neighbours,
        tol=tol,
        arithmetic=arithmetic,
        draws=False,  # of what is taken alone
        streams=streams,
        rereads=rereads,
    )
    found = [
        _Candidate(each, pair, _error(each))
        for each, pair in ticks(zip(made, pairs, strict=True), len(pairs), "mechanisms")
        if isinstance(each, Offer)
    ]
    # Each statistic is kept beside its claims, so that no other one gets its identity.
    claims: dict[int, tuple[Statistic, tuple[Claims, Claims]]] = {}

    def doubtful(made: Offer) -> str:
        about = id(made.statistic)
        if about not in claims:
            claims[about] = made.statistic, made.shared_claims(budget)
        return unproven(made.proofs(budget, claims[about][1]))

    given = functools.partial(
        offer,
        ball=ball,
        n=n,
        budget=budget,
        neighbours=neighbours,
        tol=tol,
        streams=streams,
        rereads=rereads,
    )

    def drawable(best: Offer, statistic: Statistic, kind: type[Mechanism]) -> Offer:
        if arithmetic == "float64":
            return best
        return with_draw(best, lambda: given(statistic, kind, arithmetic="float64"))

    pool = [each for each in found if allow_unproven or not doubtful(each.offer)]
    in_order = sorted(pool, key=lambda each: each.error)
    first = as_good(
        in_order,
        lambda each: each.error,
        lambda each: each.offer.statistic.name == pairs[0][0].name,
    )
    for best in [*first, *in_order]:
        chosen = drawable(best.offer, *best.pair)
        if allow_unproven or not doubtful(chosen):
            left_out = [each for each in found if each not in pool]
            return chosen, _reason(best, pool, left_out, budget)
    if found:
        raise not_proved(doubtful(min(found, key=lambda each: each.error).offer))
    problems = [
        f"{kind.name}: {each}"
        for (_, kind), each in zip(pairs, made, strict=True)
        if isinstance(each, UnsupportedError)
    ]
    raise NotAttainableError(
        f"no mechanism satisfies {budget} on {ball.manifold}. " + "; ".join(problems)
    )


def _pairs(wanted: Wanted, manifold: Manifold) -> Iterator[tuple[Statistic, type[Mechanism]]]:
    """Return what each mechanism releases; mechanisms that ask for the same share one statistic."""
    known: dict[tuple[int, int], Statistic] = {}  # by identity: whatever another package states
    for kind in kinds().values():
        asked = id(kind.metric), id(kind.intrinsic)
        statistic = known[asked] = known.get(asked) or wanted(manifold, kind)
        yield statistic, kind


def as_good(
    found: list[T], error: Callable[[T], float], is_preferred: Callable[[T], bool]
) -> list[T]:
    """Return those with the least error, or as good as that; of them those preferred, if any.

    Noise in the tangent space at the centre of a Hadamard space is as large for both means but for
    a tolerance: the statistic that is wanted first is taken there.

    Parameters
    ----------
    found : list
    error, is_preferred : callable

    Returns
    -------
    list
        In the order given; empty if there are none.
    """
    level = _SAME * min(map(error, found), default=math.inf)
    near = [each for each in found if error(each) <= level]
    return [each for each in near if is_preferred(each)] or near


def _error(found: Offer) -> float:
    far = expected_distance(found)
    # one that is not known is taken only where nothing else is available
    return math.inf if far is None or math.isnan(far) else far


def _reason(
    best: _Candidate, pool: list[_Candidate], left_out: list[_Candidate], budget: Budget
) -> str:
    """Say what was compared, what else it could have been, and what was cheaper."""
    reason = (
        f"least expected distance ({_length(best)}) of "
        + ", ".join(each.offer.mechanism.name for each in pool)
        + f" under {budget}"
    )
    mine = best.offer.statistic.name
    others = [each for each in pool if each.offer.statistic.name != mine]
    if others:
        other = min(others, key=lambda each: each.error)
        reason += f"; it estimates the {mine}. Of the {other.offer.statistic.name} "
        reason += f"{other.offer.mechanism.name} has the least, {_length(other)}"
    cheaper = [each for each in left_out if each.error < best.error]
    if cheaper:
        least = min(cheaper, key=lambda each: each.error)
        reason += f". Not taken, since not proved: {least.offer.mechanism.name} for the "
        reason += f"{least.offer.statistic.name}, {_length(least)}"
    return reason


def _length(found: _Candidate) -> str:
    """Say what the expected distance is: of a sum, over the number of records, which is private."""
    a_sum = found.offer.n is None and found.offer.statistic.totals
    return f"{found.error:.6g}" + (" / n" if a_sum else "")
