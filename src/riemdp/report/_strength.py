"""What a guarantee means, as numbers that do not depend on its definition. All are rounded up."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import RiemdpError

if TYPE_CHECKING:
    from riemdp.privacy import Budget
    from riemdp.spaces import FloatArray

#: Epsilons at which a guarantee is asked for its delta: each gives a bound that holds.
_EPSILONS = np.concatenate([[0.0], np.geomspace(1e-4, 60.0, 1000)])
#: Deltas whose epsilon is asked for too, where a definition has a corner.
_DELTAS = (0.0, 1e-9, 1e-6, 1e-3)
#: More than the rounding of the few operations below.
_ROUNDING = 1e-12


def largest_true_positive_rates(guarantee: Budget, rates: FloatArray) -> FloatArray | None:
    """Return how often any test can be right at most, at false positive rates in (0, 1), (k,).

    A test between two neighbouring data sets that is wrong about one with probability ``a`` is
    right about the other with probability at most ``e^epsilon a + delta``, and at most
    ``1 - e^-epsilon (1 - delta - a)``, for each pair that the guarantee implies. None where no such
    pair follows from the guarantee.
    """
    try:
        corners = [guarantee.epsilon_at(delta) for delta in _DELTAS]
        kept = [epsilon for epsilon in corners if epsilon < math.inf]
        epsilons = np.unique([*_EPSILONS, *kept])
        deltas = np.asarray(guarantee.delta_at(epsilons))
    except (RiemdpError, ArithmeticError):
        return None
    with np.errstate(over="ignore"):
        first = np.exp(epsilons) * rates[:, None] + deltas
    second = 1.0 - np.exp(-epsilons) * (1.0 - deltas - rates[:, None])
    least = np.min(np.minimum(first, second), axis=1) + _ROUNDING
    return np.asarray(np.minimum(least, 1.0))


def epsilon_at(guarantee: Budget, delta: float) -> float | None:
    """Return the epsilon that a guarantee implies at a delta; None where none follows."""
    try:
        found = float(guarantee.epsilon_at(delta))
    except (RiemdpError, ArithmeticError):
        return None
    return found if found < math.inf else None


def up(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, rounded up."""
    if not math.isfinite(value):
        return "infinite"
    # The shortest text of the number: 0.1 is no larger than what it stands for.
    exact = Decimal(repr(float(value)))
    rounded = Context(prec=digits, rounding=ROUND_CEILING).plus(exact)
    return re.sub(r"e([+-])0*", r"e\1", f"{float(rounded):.{digits}g}")


def percent_up(share: float) -> str:
    """Return a share in percent, rounded up to a tenth."""
    tenths = (Decimal(repr(float(share))) * 1000).to_integral_value(ROUND_CEILING)
    return f"{float(tenths) / 10:g} %"
