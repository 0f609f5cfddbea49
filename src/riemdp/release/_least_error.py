"""What ``mechanism="auto"`` takes, from public numbers alone."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, TypeVar

from riemdp._errors import NotAttainableError, UnsupportedError
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


def least_error(
    wanted: Wanted,
    ball: Ball,
    n: int,
    budget: Budget,
    *,
    neighbours: Neighbours | None = None,
    tol: float | None = None,
    allow_unproven: bool = False,
    arithmetic: Arithmetic = "exact",
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
    )
    found = [
        (each, pair) for each, pair in zip(made, pairs, strict=True) if isinstance(each, Offer)
    ]
    # Each statistic is kept beside its claims, so that no other one gets its identity.
    claims: dict[int, tuple[Statistic, tuple[Claims, Claims]]] = {}

    def doubtful(made: Offer) -> str:
        about = id(made.statistic)
        if about not in claims:
            claims[about] = made.statistic, made.shared_claims(budget)
        return unproven(made.proofs(budget, claims[about][1]))

    given = functools.partial(offer, ball=ball, n=n, budget=budget, neighbours=neighbours, tol=tol)

    def drawable(best: Offer, statistic: Statistic, kind: type[Mechanism]) -> Offer:
        if arithmetic == "float64":
            return best
        return with_draw(best, lambda: given(statistic, kind, arithmetic="float64"))

    ranked = sorted(found, key=lambda each: _error(each[0]))
    pool = [each for each in ranked if allow_unproven or not doubtful(each[0])]
    first = as_good(
        pool,
        lambda each: _error(each[0]),
        lambda each: each[0].statistic.name == pairs[0][0].name,
    )
    for best, pair in [*first, *pool]:
        chosen = drawable(best, *pair)
        if allow_unproven or not doubtful(chosen):
            in_order = [each for each, _ in found if any(each is other for other, _ in pool)]
            left_out = [each for each, _ in ranked if all(each is not other for other, _ in pool)]
            return chosen, _reason(chosen, in_order, left_out, budget)
    if ranked:
        raise not_proved(doubtful(ranked[0][0]))
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


def _reason(best: Offer, pool: list[Offer], left_out: list[Offer], budget: Budget) -> str:
    """Say what was compared, what else it could have been, and what was cheaper."""
    reason = (
        f"least expected distance ({_error(best):.6g}) of "
        + ", ".join(o.mechanism.name for o in pool)
        + f" under {budget}"
    )
    others = [each for each in pool if each.statistic.name != best.statistic.name]
    if others:
        other = min(others, key=_error)
        reason += f"; it estimates the {best.statistic.name}. Of the {other.statistic.name} "
        reason += f"{other.mechanism.name} has the least, {_error(other):.6g}"
    cheaper = [each for each in left_out if _error(each) < _error(best)]
    if cheaper:
        least = cheaper[0]
        reason += f". Not taken, since not proved: {least.mechanism.name} for the "
        reason += f"{least.statistic.name}, {_error(least):.6g}"
    return reason
