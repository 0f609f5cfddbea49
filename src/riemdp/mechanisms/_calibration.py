"""The privacy parameter that a mechanism may spend under each kind of budget."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._checks import positive, shown
from riemdp._errors import NotAttainableError, UnsupportedBudgetError
from riemdp.mechanisms._rao import gaussian_ratio
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    MeanCDP,
    PureDP,
    RaoDP,
    gaussian_mu,
    gaussian_to_pure,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.privacy import Budget


def check_sensitivity(sensitivity: float) -> float:
    """Return a positive finite sensitivity or raise ``InvalidParameterError``."""
    advice = "it is the largest distance that one record can move the summary"
    return positive(sensitivity, "sensitivity", advice)


def affordable_epsilon(budget: Budget) -> float:
    """Pure epsilon that a mechanism with nothing but pure DP may have under a budget.

    ``epsilon`` itself of (epsilon, delta), the inverse of the exact conversion for GDP,
    ``sqrt(2 rho)`` for zCDP (Bun, Steinke, TCC 2016, Proposition 1.4).
    """
    match budget:
        case PureDP() | ApproxDP():
            return budget.epsilon
        case GDP():
            return gaussian_to_pure(budget.mu)
        case ZCDP():
            return math.sqrt(2.0 * budget.rho)
        case RDP() | KLDP() | MeanCDP():
            return _largest(lambda epsilon: within(PureDP(epsilon), budget))
        case _:
            raise _unknown(budget)


def exact_epsilon(budget: Budget) -> float:
    """Largest pure epsilon that implies a budget, by the exact conversion."""
    return _largest(lambda epsilon: within(PureDP(epsilon), budget))


def affordable_mu(budget: Budget) -> float:
    """Sensitivity over standard deviation that a Gaussian mechanism may have under a budget."""
    match budget:
        case ApproxDP():
            return gaussian_mu(budget.epsilon, budget.delta)
        case GDP():
            return budget.mu
        case ZCDP():
            return math.sqrt(2.0 * budget.rho)
        case RaoDP():
            return gaussian_ratio(budget)
        case RDP() | KLDP() | MeanCDP() if getattr(budget, "order", 2.0) < math.inf:
            return _largest(lambda mu: within(GDP(mu), budget))
        case PureDP() | RDP():
            raise UnsupportedBudgetError(
                "Gaussian noise has no pure epsilon; use TangentLaplace or RiemannianLaplace, or "
                "allow a delta with ApproxDP(epsilon, delta)"
            )
        case _:
            raise _unknown(budget)


def _largest(satisfied: Callable[[float], bool]) -> float:
    """Largest parameter, to rounding, under a condition that large parameters break."""
    low, high = 1e-15, 1e6
    if not satisfied(low):
        raise NotAttainableError("the budget is too small for float64; choose a larger one")
    while high > low * (1.0 + 1e-15):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        if satisfied(middle):
            low = middle
        else:
            high = middle
    return low


def classical_mu(budget: Budget) -> float:
    """Return the same by ``sigma = sensitivity sqrt(2 log(1.25/delta)) / epsilon``.

    Proved for ``epsilon < 1`` only (Dwork, Roth, "The algorithmic foundations of differential
    privacy", 2014, Theorem 3.22).
    """
    if not isinstance(budget, ApproxDP):
        raise UnsupportedBudgetError(
            f'method="classical" is a formula for ApproxDP(epsilon, delta), got {shown(budget)}; '
            'use method="analytic"'
        )
    if budget.epsilon >= 1.0:
        raise UnsupportedBudgetError(
            f"the classical Gaussian formula is proved for epsilon < 1 only, got "
            f'{budget.epsilon}; use method="analytic", which holds for every epsilon'
        )
    return budget.epsilon / math.sqrt(2.0 * math.log(1.25 / budget.delta))


def _unknown(budget: object) -> UnsupportedBudgetError:
    return UnsupportedBudgetError(
        f"cannot calibrate noise to {shown(budget)}; use a definition of riemdp, such as "
        "PureDP, ApproxDP, GDP or RaoDP"
    )
