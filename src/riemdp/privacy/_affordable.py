"""What noise may spend under a definition: the largest pure epsilon, the largest separation.

Closed forms are the definition's own, and may be a rounding error off. All else is found by asking
what it allows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._checks import shown
from riemdp._errors import NotAttainableError, UnsupportedBudgetError
from riemdp.privacy._approx import ApproxDP
from riemdp.privacy._budget import Budget
from riemdp.privacy._closed_curves import GaussianCurve, PureCurve
from riemdp.privacy._pure import PureDP

if TYPE_CHECKING:
    from collections.abc import Callable

#: Parameters that are looked at.
_SMALLEST, _LARGEST = 1e-15, 1e6


def affordable_epsilon(budget: Budget) -> float:
    """Pure epsilon that a mechanism with nothing but pure DP may have under a budget.

    Parameters
    ----------
    budget : Budget

    Returns
    -------
    float

    Raises
    ------
    UnsupportedError
        If none is proved to suffice.
    """
    closed = _checked(budget).largest_epsilon()
    if closed is not None:
        return closed
    return _largest(budget, lambda epsilon: budget.allows(PureCurve(epsilon)))


def affordable_mu(budget: Budget) -> float:
    """Sensitivity over standard deviation that a Gaussian mechanism may have under a budget.

    Parameters
    ----------
    budget : Budget

    Returns
    -------
    float

    Raises
    ------
    UnsupportedError
        If none is proved to suffice.
    """
    closed = _checked(budget).largest_mu()
    if closed is not None:
        return closed
    return _largest(budget, lambda mu: budget.allows(GaussianCurve(mu)))


def classical_mu(budget: Budget) -> float:
    """Separation that the classical formula allows, ``epsilon / sqrt(2 log(1.25/delta))``.

    Proved for ``epsilon < 1`` only (Dwork, Roth, "The algorithmic foundations of differential
    privacy", 2014, Theorem 3.22).

    Parameters
    ----------
    budget : ApproxDP

    Returns
    -------
    float

    Raises
    ------
    UnsupportedBudgetError
        For another definition, or from ``epsilon = 1`` on.
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


def implied_epsilon(budget: Budget) -> float:
    """Largest pure epsilon from which a budget follows by the exact conversion.

    Parameters
    ----------
    budget : Budget

    Returns
    -------
    float

    Raises
    ------
    NotAttainableError
        If none does.
    """
    adjacency = budget.adjacency
    return _largest(budget, lambda x: budget.follows_from(PureDP(x, adjacency=adjacency)))


def _checked(budget: object) -> Budget:
    if not isinstance(budget, Budget):
        raise UnsupportedBudgetError(
            f"cannot calibrate noise to {shown(budget)}; use a definition of riemdp, such as "
            "PureDP, ApproxDP, GDP or RaoDP"
        )
    return budget


def _largest(budget: Budget, satisfied: Callable[[float], bool]) -> float:
    """Largest parameter, to rounding, under a condition that large parameters break."""
    low, high = _SMALLEST, _LARGEST
    if not satisfied(low):
        raise NotAttainableError(
            f"no noise of this kind is proved to lie within {budget}: the budget is too small for "
            "float64, or needs noise with bounded losses; choose a larger one, or RiemannianLaplace"
        )
    while high > low * (1.0 + 1e-15):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        if satisfied(middle):
            low = middle
        else:
            high = middle
    return low
