"""What a release guarantees to others than those it was made for: to groups, and one-way."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from riemdp._checks import count
from riemdp._combinations import SEARCH
from riemdp._errors import UnsupportedError, UnsupportedNeighboursError
from riemdp.privacy import product_up
from riemdp.release._sensitivity import with_tolerance
from riemdp.release._shares import number_of_answers, ways

if TYPE_CHECKING:
    from riemdp.privacy import Budget
    from riemdp.release._release import Release

#: Relative width of what a parameter is searched to.
_WIDTH = 1e-12
#: Largest factor on a parameter that is looked for.
_LARGEST = 2.0**40
#: An answer is this much longer than the radius of its ball at most.
_LONGER = 1.0 + 1e-9
#: Numbers of records at which a sum has to move by the same.
_FEW, _MANY = 1, 1000


def group_guarantee(release: Release, size: int) -> Budget:
    """Return what holds of data sets so many neighbours apart; see :meth:`Release.group`."""
    size = count(size, "size, of the groups,")
    _check_no_search(release)
    statistic, ball = release.statistic, release.ball
    metric = release.mechanism.metric
    across = 2.0 * _LONGER * statistic.answers(ball).reach
    least = min(map(statistic.answer_weight, range(number_of_answers(statistic))))
    across = math.nextafter(across / least, math.inf)
    widest = with_tolerance(statistic, ball, metric, across, release.tol)
    moved = min(product_up(release.sensitivity, float(size)), widest)
    return _least(release, moved).under(release.neighbours.groups_of(size))


def replacement_guarantee(release: Release) -> Budget:
    """Return what holds when one is replaced; see :meth:`Release.replace_one`."""
    _check_no_search(release)
    replacing = release.neighbours.replacing()
    statistic, ball = release.statistic, release.ball
    metric = release.mechanism.metric
    alone = statistic.add_remove(ball, metric)
    exact = 2.0 * alone  # one goes, another one comes
    if statistic.totals:  # each answer moves by its weight times this at most
        at_once = {replacing.sensitivity(statistic, ball, n, metric) for n in (_FEW, _MANY)}
        exact = min(exact, *at_once) if len(at_once) == 1 else exact
    if "users" in replacing.takes:  # a person on a list may have had no record
        exact = max(exact, alone)
    moved = with_tolerance(statistic, ball, metric, exact, release.tol)
    return _least(release, moved).under(replacing.adjacency)


def _check_no_search(release: Release) -> None:
    if release.search is not None:
        raise UnsupportedNeighboursError(f"{SEARCH.why}; release on the public ball")


def _least(release: Release, sensitivity: float) -> Budget:
    """Return the least budget of the definition that the release satisfies at a sensitivity."""
    mechanism, statistic, budget = release.mechanism, release.statistic, release.guarantee
    steps = number_of_answers(statistic)

    @functools.cache
    def satisfied(parameter: float) -> bool:
        return any(
            mechanism.satisfies(product_up(sensitivity, weight), part)
            for weight, part in ways(type(mechanism), statistic, steps, budget.at(parameter))
        )

    start = float(getattr(budget, budget.sizes[0])) if budget.sizes else 1.0
    low, high = 0.0, min(start, budget.largest)
    while not satisfied(high):
        low = high
        if high == budget.largest or high > _LARGEST * start:
            raise UnsupportedError(
                f"no guarantee of the definition of {budget} is known at {sensitivity:.6g}, the "
                "distance that answers may be moved by"
            )
        high = min(2.0 * high, budget.largest)
    while high - low > _WIDTH * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if satisfied(middle) else (middle, high)
        if high < start / _LARGEST:
            break
    return budget.at(high)
