"""Checked sensitivities, and the classical Gaussian formula."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._checks import positive, shown
from riemdp._errors import UnsupportedBudgetError
from riemdp.privacy import ApproxDP

if TYPE_CHECKING:
    from riemdp.privacy import Budget


def check_sensitivity(sensitivity: float) -> float:
    """Return a positive finite sensitivity or raise ``InvalidParameterError``.

    Parameters
    ----------
    sensitivity : float

    Returns
    -------
    float
    """
    advice = "it is the largest distance that one record can move the summary"
    return positive(sensitivity, "sensitivity", advice)


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
