"""What calibration begins and ends with: a checked sensitivity, and noise that is enough."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, TypeVar

from riemdp._checks import positive
from riemdp._errors import NotAttainableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.mechanisms._mechanism import Mechanism
    from riemdp.privacy import Budget

M = TypeVar("M", bound="Mechanism")


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


def enough_noise(
    build: Callable[[float], M], sigma: float, sensitivity: float, budget: Budget
) -> M:
    """Mechanism at ``sigma`` or the next few floats, where it satisfies the budget.

    Raises
    ------
    NotAttainableError
        If the noise exceeds float64.
    """
    step = sys.float_info.epsilon
    while not math.isinf(sigma):
        mechanism = build(sigma)
        if mechanism.satisfies(sensitivity, budget):
            return mechanism
        sigma *= 1.0 + step
        step *= 2.0
    raise NotAttainableError(
        f"the noise for {budget} at sensitivity {sensitivity:.6g} exceeds float64; choose a "
        "larger budget, a smaller ball, or more data"
    )
