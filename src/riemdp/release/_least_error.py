"""What ``mechanism="auto"`` takes, from public numbers alone."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from riemdp._errors import NotAttainableError, UnsupportedError
from riemdp.release._doubt import not_proved, unproven
from riemdp.release._named import kinds
from riemdp.release._offer import Offer, expected_distance, offer, offers, with_draw

if TYPE_CHECKING:
    from riemdp.manifolds import Ball
    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget
    from riemdp.release._offer import Arithmetic, Claims, Wanted
    from riemdp.statistics import Neighbours, Statistic


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

    Only offers of one statistic are compared: of the first that any mechanism is available for.
    What is not proved is taken only where it is allowed.

    Raises
    ------
    NotAttainableError
        If no mechanism can satisfy the budget here.
    UnprovenMechanismError
        If none of those that can is proved, and that is not allowed.
    """
    groups: dict[str, list[tuple[Statistic, type[Mechanism]]]] = {}
    of_metric: dict[int, Statistic] = {}  # by identity: whatever another package states
    for kind in kinds().values():
        metric = id(kind.metric)
        statistic = of_metric[metric] = of_metric.get(metric) or wanted(ball.manifold, kind.metric)
        groups.setdefault(statistic.name, []).append((statistic, kind))
    problems: list[str] = []
    missing = ""
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

    for turn, pairs in enumerate(groups.values()):
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
        each_made = zip(made, pairs, strict=True)
        found = [(each, pair) for each, pair in each_made if isinstance(each, Offer)]
        for (_, kind), each in zip(pairs, made, strict=True):
            if isinstance(each, UnsupportedError):
                problems.append(f"{kind.name}: {each}")
        pool = [each for each in found if allow_unproven or not doubtful(each[0])]
        for best, pair in sorted(pool, key=lambda each: _error(each[0])):
            chosen = drawable(best, *pair)
            if allow_unproven or not doubtful(chosen):
                others = [each for each, _ in pool]
                lack = bool(missing)
                return chosen, _reason(chosen, others, budget, first=turn == 0, unproven=lack)
        if found and not missing:
            missing = doubtful(min((each for each, _ in found), key=_error))
    if missing:
        raise not_proved(missing)
    raise NotAttainableError(
        f"no mechanism satisfies {budget} on {ball.manifold}. " + "; ".join(problems)
    )


def _error(found: Offer) -> float:
    far = expected_distance(found)
    # one that is not known is taken only where nothing else is available
    return math.inf if far is None or math.isnan(far) else far


def _reason(best: Offer, pool: list[Offer], budget: Budget, *, first: bool, unproven: bool) -> str:
    reason = (
        f"least expected distance ({_error(best):.6g}) of "
        + ", ".join(o.mechanism.name for o in pool)
        + f" under {budget}"
    )
    if not first:
        lack = "proved" if unproven else "available"
        reason += f"; for the tangent mean, since no mechanism for the Fréchet mean is {lack}"
    return reason
