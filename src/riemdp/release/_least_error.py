"""The mechanism of least expected error among those that are known."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar, cast

from riemdp._checks import did_you_mean, shown
from riemdp._errors import InvalidParameterError, NotAttainableError, UnsupportedError
from riemdp._part import lookup, offered, registered
from riemdp._part_document import split_text
from riemdp._progress import ticks
from riemdp.mechanisms import MECHANISMS, Choice, Mechanism, check_mechanism
from riemdp.release._offer import Offer, Terms, expected_distance, not_proved, with_draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from riemdp.privacy import Budget
    from riemdp.release._offer import Wanted
    from riemdp.spaces import Ball
    from riemdp.statistics import Statistic


# Mechanisms by what a caller may name them with.


def kinds() -> dict[str, type[Mechanism]]:
    """Mechanisms that are compared, by name: those of this library and of other packages."""
    foreign = offered(Mechanism.sort)
    return {**MECHANISMS, **{k: v for k, v in foreign.items() if not inspect.isabstract(v)}}


def named(mechanism: object) -> type[Mechanism] | Choice | Mechanism:
    """Return a mechanism that is given, or the class that is named.

    Parameters
    ----------
    mechanism : str, Mechanism class, Choice or Mechanism
        A name may be followed by what a class leaves to choose, as in ``"mylab.Noise:power=1.5"``.

    Returns
    -------
    type, Choice or Mechanism

    Raises
    ------
    InvalidParameterError
        If it is no mechanism, or none of this name is known.
    """
    if isinstance(mechanism, str):
        if mechanism in MECHANISMS:
            return MECHANISMS[mechanism]
        name, pairs, options = split_text(mechanism)
        if "." not in name and name not in registered(Mechanism.sort):
            known = ["auto", *kinds()]
            raise InvalidParameterError(
                f"unknown mechanism {shown(mechanism)}; {did_you_mean(name, known)}known: "
                f"{', '.join(known)}"
            )
        kind = lookup(name, Mechanism.sort)
        if len(options) < pairs:
            raise InvalidParameterError(f"{shown(mechanism)} names a field twice")
        mechanism = Choice(kind, tuple(options.items())) if pairs else kind
    check_mechanism(mechanism)
    return cast("type[Mechanism] | Choice | Mechanism", mechanism)


def check_accountant(accountant: object) -> None:
    """Refuse what is neither None nor able to be charged."""
    able = callable(getattr(accountant, "spend", None)) and not isinstance(accountant, type)
    if accountant is not None and not able:
        raise InvalidParameterError(
            "accountant must be an object with a method spend(guarantee, label)"
        )


# What ``mechanism="auto"`` takes, from public numbers alone.

T = TypeVar("T")

#: Errors that differ by less, relatively, count as equal.
_SAME = 1.001


@dataclass(frozen=True, eq=False)
class _Candidate:
    """An offer with its expected distance, and what of it has no proof, where that counts."""

    kind: type[Mechanism]
    offer: Offer
    error: float
    missing: str

    @property
    def statistic(self) -> Statistic:
        return self.offer.statistic


_by_error: Callable[[_Candidate], float] = attrgetter("error")


def least_error(wanted: Wanted, terms: Terms, *, allow_unproven: bool = False) -> tuple[Offer, str]:
    """Return the offer with the least expected distance, and the reason in words.

    All statistics that are wanted of one mechanism or another are compared: of a location both
    means, each with the noise that it may have. What is not proved is taken only where that is
    allowed: else ``UnprovenMechanismError``; ``NotAttainableError`` if nothing is available.
    """
    budget, manifold = terms.budget, terms.ball.manifold
    pairs = list(_pairs(wanted, terms.ball))
    quick = replace(terms, draws=False)  # exact draws are looked for of what is taken alone
    problems: dict[str, list[str]] = {}  # names of mechanisms, by what is in their way
    found: list[_Candidate] = []

    def missing_of(made: Offer) -> str:
        return "" if allow_unproven else made.unproven(budget)

    for statistic, kind in ticks(pairs, len(pairs), "mechanisms"):
        made = quick.offered(statistic, kind)
        if isinstance(made, Offer):
            found.append(_Candidate(kind, made, _error(made), missing_of(made)))
        else:
            problems.setdefault(str(made), []).append(kind.name)
    pool = sorted((each for each in found if not each.missing), key=_by_error)
    while pool:
        best = as_good(pool, _by_error, lambda each: each.statistic.title == pairs[0][0].title)[0]
        try:
            chosen = with_draw(best.offer)
        except UnsupportedError as problem:
            problems.setdefault(str(problem), []).append(best.kind.name)
            found.remove(best)
            pool.remove(best)
            continue
        if not (missing := missing_of(chosen)):
            proved = [each for each in found if each in pool]
            left_out = [each for each in found if each not in pool]
            return chosen, _reason(best, proved, left_out, budget)
        found[found.index(best)] = replace(best, missing=missing)
        pool.remove(best)
    if found:
        raise not_proved(min(found, key=_by_error).missing)
    raise NotAttainableError(
        f"no mechanism satisfies {budget} on {manifold}. "
        + "; ".join(f"{', '.join(names)}: {why}" for why, names in problems.items())
    )


def _pairs(wanted: Wanted, ball: Ball) -> Iterator[tuple[Statistic, type[Mechanism]]]:
    """Return what each mechanism releases; mechanisms that ask for the same share one statistic."""
    known: dict[tuple[int, int], Statistic] = {}  # by identity: whatever another package states
    for kind in kinds().values():
        asked = id(kind.metric), id(kind.intrinsic)
        statistic = known[asked] = known.get(asked) or wanted(ball, kind)
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
    best: _Candidate, pool: list[_Candidate], left_out: list[_Candidate], budget: Budget
) -> str:
    """Say what was compared, what else it could have been, and what was cheaper."""
    reason = (
        f"least expected distance ({_length(best)}) of "
        + ", ".join(each.kind.name for each in pool)
        + f" under {budget}"
    )
    mine = best.statistic.title
    others = [each for each in pool if each.statistic.title != mine]
    if others:
        other = min(others, key=_by_error)
        reason += f"; it estimates the {mine}. Of the {other.statistic.title} "
        reason += f"{other.kind.name} has the least, {_length(other)}"
    cheaper = [each for each in left_out if each.error < best.error]
    if cheaper:
        least = min(cheaper, key=_by_error)
        reason += f". Not taken, since not proved: {least.kind.name} for the "
        reason += f"{least.statistic.title}, {_length(least)}"
    return reason


def _length(found: _Candidate) -> str:
    """Say what the expected distance is: of a sum, over the number of records, which is private."""
    a_sum = found.offer.n is None and found.offer.last.query.sums
    return f"{found.error:.6g}" + (" / n" if a_sum else "")
