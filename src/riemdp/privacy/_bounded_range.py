"""What choices of bounded range cost, and the arithmetic of shares of one budget.

A choice has range lambda if, for neighbours, its log likelihood ratio lies in an interval of length
lambda that contains 0: exponential mechanisms have, of scores that all move to the same side by at
most one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from riemdp._checks import positive, real, shown
from riemdp._errors import InvalidBudgetError, InvalidParameterError, UnsupportedBudgetError
from riemdp._potential import Kind
from riemdp.privacy._adjacency import REPLACE_ONE, carried, one_adjacency
from riemdp.privacy._affordable import affordable_mu
from riemdp.privacy._approx import ApproxDP
from riemdp.privacy._budget import Budget
from riemdp.privacy._gdp import GDP
from riemdp.privacy._pure import PureDP, gaussian_to_pure, pure_to_gaussian
from riemdp.privacy._rounding import half_square_up
from riemdp.privacy._zcdp import ZCDP

#: No choice needs a larger range: it would be wrong once in ``exp(2^20)``.
LARGEST_RANGE = 2.0**20


@dataclass(frozen=True)
class _Rule:
    """What a definition says of choices, and of shares."""

    #: Guarantee of a range, rounded up.
    guarantee: Callable[[float], Budget]
    #: Range that a budget allows, to rounding.
    largest: Callable[[Any], float]
    #: What adds up, exactly: first what choices and noise take, then what they do not need.
    price: Callable[[Any], tuple[Fraction, ...]]
    #: Budget of such numbers, to rounding.
    of_price: Callable[..., Budget]
    #: Mean length of the noise of a mean, over its sensitivity, in so many dimensions.
    noise: Callable[[Any, int], float]
    #: A share of the budget makes that longer by the share to minus this power.
    power: float
    #: Law of that noise.
    kind: Kind


_RULES: dict[type[Budget], _Rule] = {
    PureDP: _Rule(
        guarantee=PureDP,
        largest=lambda budget: budget.epsilon,
        price=lambda budget: (Fraction(budget.epsilon),),
        of_price=PureDP,
        noise=lambda budget, dim: dim / budget.epsilon,
        power=1.0,
        kind="laplace",
    ),
    ZCDP: _Rule(
        guarantee=lambda rate: ZCDP(half_square_up(0.5 * rate)),
        largest=lambda budget: 2.0 * math.sqrt(2.0 * budget.rho),
        price=lambda budget: (Fraction(budget.rho), Fraction(budget.xi)),
        of_price=ZCDP,
        noise=lambda budget, dim: math.sqrt(dim / (2.0 * budget.rho)),
        power=0.5,
        kind="gaussian",
    ),
    GDP: _Rule(
        guarantee=lambda rate: GDP(pure_to_gaussian(0.5 * rate)),
        largest=lambda budget: 2.0 * gaussian_to_pure(budget.mu),
        price=lambda budget: (Fraction(budget.mu) ** 2,),
        of_price=lambda price: GDP(math.sqrt(price)),
        noise=lambda budget, dim: math.sqrt(dim) / budget.mu,
        power=0.5,
        kind="gaussian",
    ),
}


def adds_up(budget: Budget, dim: int) -> Budget:
    """Return the budget that steps of a search are shares of: itself, or one that implies it.

    Parameters
    ----------
    budget : PureDP, ApproxDP, GDP or ZCDP
        ApproxDP becomes its epsilon without delta, or the GDP of the largest ``mu`` that is proved
        to imply it: what takes less noise of a mean.
    dim : int
        Dimension of that mean.

    Returns
    -------
    PureDP, GDP or ZCDP

    Raises
    ------
    UnsupportedBudgetError
        If no price is known of choices under the definition.
    InvalidBudgetError
        If the price of the budget is beyond float64.
    """
    if type(budget) in _RULES:
        return _in_range(budget)
    implying = _IMPLYING.get(type(budget))
    if implying is None:
        raise UnsupportedBudgetError(
            f"a search for a ball cannot be paid from {shown(budget)}: what its choices cost is "
            "proved for PureDP, ApproxDP, GDP and ZCDP"
        )
    of_one_relation: tuple[Budget, ...] = carried(implying(budget), budget.adjacency)
    return min(of_one_relation, key=lambda one: mean_noise(one, dim)[0])


def _in_range(budget: Budget) -> Budget:
    try:
        float(_rule(type(budget)).price(budget)[0])
    except OverflowError:
        raise InvalidBudgetError(
            f"{budget} is too large for shares of it to be computed in float64"
        ) from None
    return budget


def _of_approx(budget: Any) -> tuple[Budget, Budget]:
    """Return the pure and the Gaussian guarantee that an ApproxDP follows from."""
    found, step = affordable_mu(budget), 1e-13
    while not budget.follows_from(GDP(found, adjacency=budget.adjacency)):
        found, step = found * (1.0 - step), 2.0 * step
    return PureDP(budget.epsilon), GDP(found)


#: Budgets that add up, and that one of another definition follows from.
_IMPLYING: dict[type[Budget], Callable[[Any], tuple[Budget, ...]]] = {ApproxDP: _of_approx}


def bounded_range(definition: type[Budget], rate: float, *, adjacency: str = REPLACE_ONE) -> Budget:
    """Guarantee of a choice of bounded range, rounded up.

    Parameters
    ----------
    definition : {PureDP, GDP, ZCDP}
    rate : float
        The range lambda, positive and finite.
    adjacency : str, default "replace-one"
        Name of the relation between data sets that the range is measured under.

    Returns
    -------
    Budget
        ``PureDP(lambda)``, ``ZCDP(lambda^2 / 8)`` or ``GDP(2 Phi^-1(1 / (1 + exp(-lambda/2))))``.

    Raises
    ------
    UnsupportedBudgetError
        For another definition.
    InvalidParameterError
        If the range is not positive and finite.

    References
    ----------
    docs/proofs/bounded-range.md. Cesar, Rogers, "Bounding, concentrating, and truncating:
    unifying privacy loss composition for data analytics", ALT 2021 (zCDP).
    """
    found = _rule(definition).guarantee(positive(rate, "rate, the range of a choice,"))
    return found.under(adjacency)


def largest_range(budget: Budget) -> float:
    """Largest range whose :func:`bounded_range` is within a budget, rounded down.

    Parameters
    ----------
    budget : PureDP, GDP or ZCDP

    Returns
    -------
    float
        At most ``2^20``; 0 where float64 has none.
    """
    rule = _rule(type(budget))
    rate, price = min(rule.largest(budget), LARGEST_RANGE), rule.price(budget)[0]
    step = 1e-16
    while rate > 0.0 and rule.price(rule.guarantee(rate))[0] > price:
        rate, step = rate * (1.0 - step), 2.0 * step
    return rate


def share_of(budget: Budget, share: float) -> Budget:
    """Budget whose price is this share of another one's, to rounding; of zCDP with no ``xi``.

    Parameters
    ----------
    budget : PureDP, GDP or ZCDP
    share : float
        In (0, 1].

    Returns
    -------
    Budget
        Of the same definition.
    """
    share = real(share, "share")
    if not 0.0 < share <= 1.0:
        raise InvalidParameterError(f"share must be positive and at most 1, got {share}")
    rule = _rule(type(budget))
    found = rule.of_price(float(rule.price(budget)[0] * Fraction(share)))
    return found.under(budget.adjacency)


def rest_of(budget: Budget, spent: Sequence[Budget]) -> Budget | None:
    """Return what is left of a budget, rounded down: spent and rest are within it exactly.

    Parameters
    ----------
    budget : PureDP, GDP or ZCDP
    spent : sequence of Budget
        Of the same definition and relation.

    Returns
    -------
    Budget or None
        The budget itself if nothing was spent; None if nothing is left.

    Raises
    ------
    UnsupportedNeighboursError
        If something was spent under another relation.
    """
    one_adjacency([budget, *spent])
    if not spent:
        return budget
    rule = _rule(type(budget))
    price = _difference(rule.price(budget), map(rule.price, spent))
    near, *others = (_down(max(x, Fraction(0))) for x in price)
    while near > 0.0:
        found = rule.of_price(near, *others)
        if rule.price(found)[0] <= price[0]:
            return found.under(budget.adjacency)
        near = math.nextafter(near, 0.0)
    return None


def _difference(
    first: tuple[Fraction, ...], others: Iterable[tuple[Fraction, ...]]
) -> tuple[Fraction, ...]:
    spent = zip(*others, strict=True)
    return tuple(x - sum(y) for x, y in zip(first, spent, strict=True))


def _down(number: Fraction) -> float:
    """Largest float not above a number, or its predecessor."""
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, 0.0)


def within_total(budget: Budget, parts: Sequence[Budget]) -> bool:
    """Whether parts, each chosen after the results of those before, add up to at most a budget.

    Parameters
    ----------
    budget : PureDP, GDP or ZCDP
    parts : sequence of Budget

    Returns
    -------
    bool
        In exact arithmetic; false if one is of another definition, or about other neighbours.
    """
    rule = _rule(type(budget))
    if any(type(part) is not type(budget) for part in parts):
        return False
    if any(part.adjacency != budget.adjacency for part in parts):
        return False
    if not parts:
        return True
    return all(x >= 0 for x in _difference(rule.price(budget), map(rule.price, parts)))


def mean_noise(budget: Budget, dim: int) -> tuple[float, float]:
    """Mean length of the noise that a mean takes on R^dim, in units of its sensitivity.

    Parameters
    ----------
    budget : PureDP, GDP or ZCDP
        Laplace noise under the first, Gaussian noise under the others (of whose length this is the
        root mean square).
    dim : int

    Returns
    -------
    length : float
    power : float
        At a share s of the budget the length is ``s**-power`` times that.
    """
    rule = _rule(type(budget))
    return rule.noise(budget, dim), rule.power


def noise_kind(definition: type[Budget]) -> Kind:
    """Law of the noise whose length is :func:`mean_noise`.

    Parameters
    ----------
    definition : {PureDP, GDP, ZCDP}

    Returns
    -------
    {"laplace", "gaussian"}
    """
    return _rule(definition).kind


def _rule(definition: type[Budget]) -> _Rule:
    try:
        return _RULES[definition]
    except KeyError:
        raise UnsupportedBudgetError(
            f"what a choice of bounded range costs is proved for PureDP, GDP and ZCDP, not for "
            f"{definition.__name__}"
        ) from None
