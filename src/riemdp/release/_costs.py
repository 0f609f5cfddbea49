"""Just before noise is drawn: what it costs, whoever calibrated it, is within the budget."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from riemdp._errors import BudgetExceededError
from riemdp.kernel import is_sharp, noise, within_budget
from riemdp.noise.exact import FlatDraw
from riemdp.privacy import GDP, KLDP, RDP, ZCDP, ApproxDP, MeanCDP, PureDP, RaoDP
from riemdp.release._offer import within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.kernel import Draw
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


def check_costs(chosen: Offer, limit: Budget) -> None:
    """Raise ``BudgetExceededError`` if all answers of a release cost more than its budget.

    Costs of noise that is added to coordinates are added exactly, from the scale of each draw
    and its sensitivity. What is believed, and only evaluated once more: privacy curves of
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
            f"the last of {len(chosen.asked)} queries, of sensitivity {chosen.sensitivity:.6g},",
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
    if any(type(each.draw) is not FlatDraw for each in chosen.asked):
        return _is_believed(chosen, limit)
    draws: Counter[Draw] = Counter()
    for each in chosen.asked:
        draw: Any = each.draw
        if draw.sigma != each.mechanism.sigma:  # which is what a document states
            return False
        draws[noise(draw.kind, draw.dim, Fraction(each.sensitivity) ** 2, draw.sigma)] += 1
    if (known := _KNOWN.get(type(limit))) is None:
        return _is_believed(chosen, limit)
    definition, *sizes = known(limit)
    if within_budget(draws, definition, *sizes):
        return True
    return not is_sharp(draws, definition) and _is_believed(chosen, limit)


def _is_believed(chosen: Offer, limit: Budget) -> bool:
    """Ask the mechanisms once more."""
    return within(
        [each.mechanism for each in chosen.asked],
        [each.sensitivity for each in chosen.asked],
        [each.query.share for each in chosen.asked],
        limit,
    )


def _too_little_noise(what: str, limit: Budget) -> BudgetExceededError:
    return BudgetExceededError(
        f"{what} costs more than {limit}: its calibration is wrong, and it was not drawn. Name "
        "another mechanism, and report this as a fault"
    )
