"""What ``mechanism="auto"`` takes, from public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from riemdp._errors import NotAttainableError, UnsupportedError
from riemdp._part import is_own
from riemdp._progress import ticks
from riemdp.mechanisms import Mechanism
from riemdp.release._doubt import not_proved, unproven
from riemdp.release._named import kinds
from riemdp.release._offer import Beaten, Offer, Terms, expected_distance, with_draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from riemdp.manifolds import Manifold
    from riemdp.privacy import Budget
    from riemdp.release._offer import Claims, Wanted
    from riemdp.statistics import Statistic

    _Pair = tuple[Statistic, type[Mechanism]]

T = TypeVar("T")

#: Errors that differ by less, relatively, count as equal, and one that is so much larger does not.
_SAME, _WORSE = 1.001, 1.002


@dataclass(frozen=True, eq=False)
class _Candidate:
    """What is compared: a statistic with a mechanism, and the expected distance of its offer.

    The statistic is the one that would be computed, ``missing`` names what has no proof, where that
    counts. The offer is None where another one of the same statistic is better; its distance then
    exceeds ``error``.
    """

    pair: tuple[Statistic, type[Mechanism]]
    statistic: Statistic
    error: float
    missing: str
    offer: Offer | None


_by_error: Callable[[_Candidate], float] = attrgetter("error")


def least_error(wanted: Wanted, terms: Terms, *, allow_unproven: bool = False) -> tuple[Offer, str]:
    """Return the offer with the least expected distance, and the reason in words.

    All statistics that are wanted of one mechanism or another are compared: of a location both
    means, each with the noise that it may have. What is not proved is taken only where that is
    allowed: else ``UnprovenMechanismError``; ``NotAttainableError`` if nothing is available.
    """
    budget, manifold = terms.budget, terms.ball.manifold
    pairs = list(_pairs(wanted, manifold))
    quick = replace(terms, draws=False)  # exact draws are looked for of what is taken alone
    # Each statistic is kept beside its claims, so that no other one gets its identity.
    claims: dict[int, tuple[Statistic, tuple[Claims, Claims]]] = {}

    def doubtful(made: Offer) -> str:
        if allow_unproven:
            return ""
        about = id(made.statistic)
        if about not in claims:
            claims[about] = made.statistic, made.shared_claims(budget)
        return unproven(made.proofs(budget, claims[about][1]))

    def compared(pair: _Pair, most: float | None = None) -> _Candidate | UnsupportedError:
        asked = quick if most is None else replace(quick, error=most)
        try:
            made = asked.offered(*pair)
        except Beaten as worse:
            missing = "" if allow_unproven else unproven(worse.proofs)
            return _Candidate(pair, worse.statistic, most or math.inf, missing, None)
        if isinstance(made, UnsupportedError):
            return made
        return _Candidate(pair, made.statistic, _error(made), doubtful(made), made)

    made = _in_turn(pairs, compared, prunes=not terms.streams)
    found = [each for each in made if isinstance(each, _Candidate)]

    def drawable(best: Offer, pair: _Pair) -> Offer:
        if terms.arithmetic == "float64":
            return best

        def in_float64() -> Offer:
            other = replace(terms, arithmetic="float64").offered(*pair)
            if isinstance(other, UnsupportedError):
                raise other
            return other

        return with_draw(best, in_float64)

    pool = [each for each in found if not each.missing]
    in_order = sorted(pool, key=_by_error)
    first = as_good(in_order, _by_error, lambda each: each.statistic.name == pairs[0][0].name)
    for each in [*first, *in_order]:
        best = each if each.offer else compared(each.pair)
        if isinstance(best, UnsupportedError) or best.offer is None:
            continue
        chosen = drawable(best.offer, best.pair)
        if not doubtful(chosen):
            left_out = [each for each in found if each not in pool]
            return chosen, _reason(best, best.offer, pool, left_out, budget)
    if found:
        raise not_proved(min(found, key=_by_error).missing)
    problems: dict[str, list[str]] = {}  # names of mechanisms, by what is in their way
    for (_, kind), why in zip(pairs, made, strict=True):
        if isinstance(why, UnsupportedError):
            problems.setdefault(str(why), []).append(kind.name)
    raise NotAttainableError(
        f"no mechanism satisfies {budget} on {manifold}. "
        + "; ".join(f"{', '.join(names)}: {why}" for why, names in problems.items())
    )


def _in_turn(
    pairs: list[_Pair],
    compared: Callable[[_Pair, float | None], _Candidate | UnsupportedError],
    *,
    prunes: bool,
) -> list[_Candidate | UnsupportedError]:
    """Compare, last those of which a quick look may show that another one is better.

    That is one of the same statistic, and proved: what is told of each statistic is its best one.
    """
    quick = [prunes and _may_be_beaten(kind) for _, kind in pairs]
    order = sorted(range(len(pairs)), key=quick.__getitem__)
    made: dict[int, _Candidate | UnsupportedError] = {}
    least: dict[int, float] = {}  # by the identity of statistics, which the pairs keep
    for place in ticks(order, len(order), "mechanisms"):
        pair = pairs[place]
        most = _WORSE * least.get(id(pair[0]), math.inf)
        bounded = quick[place] and 0.0 < most < math.inf
        each = made[place] = compared(pair, most if bounded else None)
        if isinstance(each, _Candidate) and not each.missing:
            least[id(pair[0])] = min(each.error, least.get(id(pair[0]), math.inf))
    return [made[place] for place in range(len(pairs))]


def _may_be_beaten(kind: type[Mechanism]) -> bool:
    """Whether a class of this library says more than nothing in :meth:`Mechanism._too_little`."""
    said: Any = kind._too_little
    nothing: Any = Mechanism._too_little
    return is_own(kind) and said.__func__ is not nothing.__func__


def _pairs(wanted: Wanted, manifold: Manifold) -> Iterator[_Pair]:
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

    In the order given. Noise in the tangent space at the centre of a Hadamard space is as large for
    both means but for a tolerance: the statistic that is wanted first is taken there.
    """
    level = _SAME * min(map(error, found), default=math.inf)
    near = [each for each in found if error(each) <= level]
    return [each for each in near if is_preferred(each)] or near


def _error(found: Offer) -> float:
    far = expected_distance(found)
    # one that is not known is taken only where nothing else is available
    return math.inf if far is None or math.isnan(far) else far


def _reason(
    best: _Candidate,
    taken: Offer,
    pool: list[_Candidate],
    left_out: list[_Candidate],
    budget: Budget,
) -> str:
    """Say what was compared, what else it could have been, and what was cheaper."""
    reason = (
        f"least expected distance ({_length(best, taken)}) of "
        + ", ".join(each.pair[1].name for each in pool)
        + f" under {budget}"
    )
    mine = best.statistic.name
    others = [each for each in pool if each.statistic.name != mine]
    if others:
        other = min(others, key=_by_error)
        reason += f"; it estimates the {mine}. Of the {other.statistic.name} "
        reason += f"{other.pair[1].name} has the least, {_length(other, taken)}"
    cheaper = [each for each in left_out if each.error < best.error]
    if cheaper:
        least = min(cheaper, key=_by_error)
        reason += f". Not taken, since not proved: {least.pair[1].name} for the "
        reason += f"{least.statistic.name}, {_length(least, taken)}"
    return reason


def _length(found: _Candidate, taken: Offer) -> str:
    """Say what the expected distance is: of a sum, over the number of records, which is private."""
    a_sum = taken.n is None and found.statistic.totals
    return f"{found.error:.6g}" + (" / n" if a_sum else "")
