"""What a release guarantees to others than those it was made for: to groups, and one-way."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from riemdp._checks import count
from riemdp._combinations import SEARCH
from riemdp._errors import UnsupportedError, UnsupportedNeighboursError
from riemdp.privacy import product_up
from riemdp.release._offer import with_tolerance, within

if TYPE_CHECKING:
    from riemdp.privacy import Budget
    from riemdp.release._offer import Asked, Offer
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
    offer = release.offer

    def moved(asked: Asked) -> float:
        across = 2.0 * _LONGER * asked.answers.reach
        widest = _with_tolerance(offer, asked, across)
        return min(product_up(asked.sensitivity, float(size)), widest)

    return _least(release, list(map(moved, offer.asked))).under(release.neighbours.groups_of(size))


def replacement_guarantee(release: Release) -> Budget:
    """Return what holds when one is replaced; see :meth:`Release.replace_one`."""
    _check_no_search(release)
    replacing, offer = release.neighbours.replacing(), release.offer

    def moved(asked: Asked) -> float:
        metric = asked.mechanism.metric
        alone = asked.query.add_remove(offer.ball, metric)
        exact = 2.0 * alone  # one goes, another one comes
        if asked.query.sums:
            numbers = (_FEW, _MANY)
            at_once = {replacing.sensitivity(asked.query, offer.ball, n, metric) for n in numbers}
            exact = min(exact, *at_once) if len(at_once) == 1 else exact
        if "users" in replacing.takes:  # a person on a list may have had no record
            exact = max(exact, alone)
        return _with_tolerance(offer, asked, exact)

    return _least(release, list(map(moved, offer.asked))).under(replacing.adjacency)


def _with_tolerance(offer: Offer, asked: Asked, exact: float) -> float:
    return with_tolerance(asked.query, offer.ball, asked.mechanism.metric, exact, asked.tol)


def _check_no_search(release: Release) -> None:
    if release.search is not None:
        raise UnsupportedNeighboursError(f"{SEARCH.why}; release on the public ball")


def _least(release: Release, moved: list[float]) -> Budget:
    """Return the least budget of the definition that the release satisfies where answers move."""
    budget, asked = release.guarantee, release.offer.asked
    mechanisms = [each.mechanism for each in asked]
    shares = [each.query.share for each in asked]

    @functools.cache
    def satisfied(parameter: float) -> bool:
        return within(mechanisms, moved, shares, budget.at(parameter))

    start = float(getattr(budget, budget.sizes[0])) if budget.sizes else 1.0
    low, high = 0.0, min(start, budget.largest)
    while not satisfied(high):
        low = high
        if high == budget.largest or high > _LARGEST * start:
            raise UnsupportedError(
                f"no guarantee of the definition of {budget} is known where an answer moves by "
                f"{max(moved):.6g}"
            )
        high = min(2.0 * high, budget.largest)
    while high - low > _WIDTH * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if satisfied(middle) else (middle, high)
        if high < start / _LARGEST:
            break
    return budget.at(high)
