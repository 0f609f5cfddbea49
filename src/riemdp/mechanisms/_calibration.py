"""What calibration begins and ends with: a checked sensitivity, and noise that is enough."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, TypeVar

from riemdp._checks import positive, scale
from riemdp._errors import ConvergenceError, NotAttainableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.manifolds import Manifold
    from riemdp.mechanisms._mechanism import Mechanism
    from riemdp.privacy import Budget

M = TypeVar("M", bound="Mechanism")


def check_sensitivity(sensitivity: float) -> float:
    """Return a sensitivity between 1e-75 and 1e75 or raise ``InvalidParameterError``.

    Parameters
    ----------
    sensitivity : float

    Returns
    -------
    float
    """
    advice = "it is the largest distance that one record can move the summary"
    return scale(positive(sensitivity, "sensitivity", advice), "sensitivity")


def enough_noise(
    build: Callable[[float], M], sigma: float, sensitivity: float, budget: Budget
) -> M:
    """Mechanism at ``sigma`` or the next few floats, where it satisfies the budget.

    ``NotAttainableError`` if the noise exceeds float64, or its privacy is not known in double
    precision: no data are looked at, so that this is about public numbers.
    """
    step = sys.float_info.epsilon
    while not math.isinf(sigma):
        mechanism = build(sigma)
        try:
            suffices = mechanism.satisfies(sensitivity, budget)
        except ConvergenceError as error:
            raise beyond_float64(budget, sensitivity, mechanism.manifold, error) from None
        if suffices:
            return mechanism
        sigma *= 1.0 + step
        step *= 2.0
    raise NotAttainableError(
        f"the noise for {budget} at sensitivity {sensitivity:.6g} exceeds float64; choose a "
        "larger budget, a smaller ball, or more data"
    )


def beyond_float64(
    budget: Budget, sensitivity: float, manifold: Manifold, reason: object
) -> NotAttainableError:
    """Return the error for noise whose privacy double precision cannot tell, for a reason."""
    return NotAttainableError(
        f"no scale for {budget} at sensitivity {sensitivity:.6g} on {manifold} is known in double "
        f"precision ({reason}); use another budget or the tangent mechanisms "
        '("tangent-gaussian", "tangent-laplace")'
    )
