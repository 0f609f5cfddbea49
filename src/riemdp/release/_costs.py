"""Just before noise is drawn: what it costs, whoever calibrated it, is within the budget."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from riemdp._errors import BudgetExceededError, UnsupportedError
from riemdp.kernel import is_sharp, noise, within_budget
from riemdp.noise.exact import FlatDraw
from riemdp.privacy import GDP, KLDP, RDP, ZCDP, ApproxDP, MeanCDP, PureDP, RaoDP, product_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.privacy import Budget
    from riemdp.release._offer import Offer

#: Definitions whose costs the kernel adds up: what it calls them, and their sizes.
_KNOWN: dict[type[Budget], Callable[[Any], tuple[Any, ...]]] = {
    PureDP: lambda budget: ("pure", budget.epsilon),
    ApproxDP: lambda budget: ("approx", budget.epsilon, budget.delta),
    GDP: lambda budget: ("gdp", budget.mu),
    ZCDP: lambda budget: ("zcdp", budget.rho),
    RDP: lambda budget: ("renyi", budget.order, budget.epsilon),
    KLDP: lambda budget: ("kl", budget.alpha),
    MeanCDP: lambda budget: ("mean", budget.mu, budget.tau),
    RaoDP: lambda budget: (
        {"angle": "angle", "parametric": "length"}[budget.distance],
        budget.theta,
    ),
}
#: Relative error of prices: those of angles are logarithms.
_ROUNDED = Fraction(1, 10**14)


def check_costs(chosen: Offer, limit: Budget) -> None:
    """Raise ``BudgetExceededError`` if all answers of a release cost more than its budget.

    Costs of noise that is added to coordinates are added exactly, from the scale of the draw, the
    sensitivity and the weights. What is believed, and only evaluated once more: privacy curves of
    noise on curved spaces and of other packages, those of Laplace noise in several dimensions
    where pure epsilon does not suffice, and definitions of other packages.

    Parameters
    ----------
    chosen : Offer
        With its draw.
    limit : Budget
        What all answers together have to be within.
    """
    if not _is_within(chosen, limit):
        raise _too_little_noise(
            f"{chosen.mechanism.name} noise of scale {chosen.mechanism.sigma:.6g} for "
            f"{chosen.steps or 1} queries of sensitivity {chosen.sensitivity:.6g}",
            limit,
        )


def check_draws(draws: Mapping[Any, int], limit: Budget, what: str) -> None:
    """Raise ``BudgetExceededError`` if draws, each asked for after those before, cost too much.

    Parameters
    ----------
    draws : mapping of noise of the kernel to int
        What is drawn, and how often.
    limit : PureDP, GDP or ZCDP
        What all together have to be within, exactly.
    what : str
        For the error.
    """
    if not within_budget(draws, *_KNOWN[type(limit)](limit)):
        raise _too_little_noise(what, limit)


def _is_within(chosen: Offer, limit: Budget) -> bool:
    draw, weights = chosen.draw, _weights(chosen)
    if type(draw) is not FlatDraw:
        return _is_believed(chosen, limit, weights)
    if draw.sigma != chosen.mechanism.sigma:  # which is what a document states
        return False
    if (known := _KNOWN.get(type(limit))) is None:
        return _is_believed(chosen, limit, weights)
    definition, *sizes = known(limit)
    square = Fraction(chosen.sensitivity) ** 2
    draws = {
        noise(draw.kind, draw.dim, Fraction(weight) ** 2 * square, draw.sigma): number
        for weight, number in Counter(weights).items()
    }
    if within_budget(draws, definition, *sizes):
        return True
    return not is_sharp(draws, definition) and _is_believed(chosen, limit, weights, apart=True)


def _weights(chosen: Offer) -> list[float]:
    """Return what the sensitivity of each answer is a multiple of."""
    return [float(chosen.statistic.answer_weight(step)) for step in range(chosen.steps or 1)]


def _is_believed(
    chosen: Offer, limit: Budget, weights: list[float], *, apart: bool = False
) -> bool:
    """Ask the mechanism once more: about all queries together, or if ``apart`` about each alone."""
    mechanism, number = chosen.mechanism, len(weights)
    weight, part = max(weights), limit
    if number > 1:
        joint = None if apart else mechanism.joint_weight(weights)
        if joint is None:
            part = limit.split(number)
            if not _add_up(part, number, limit):
                return False
        else:
            weight = max(weight, joint)
    return mechanism.satisfies(product_up(chosen.sensitivity, weight), part)


def _add_up(part: Budget, number: int, limit: Budget) -> bool:
    """Whether so many equal shares are within a budget; of other packages that is believed."""
    try:
        prices = zip(part.price(), limit.price(), strict=True)
    except UnsupportedError:
        return True
    return all(
        most == math.inf or number * Fraction(price) <= Fraction(most) * (1 + _ROUNDED)
        for price, most in prices
    )


def _too_little_noise(what: str, limit: Budget) -> BudgetExceededError:
    return BudgetExceededError(
        f"{what} costs more than {limit}: its calibration is wrong, and it was not drawn. Name "
        "another mechanism, and report this as a fault"
    )
