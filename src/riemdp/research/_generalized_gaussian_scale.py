"""How much noise of the generalised Gaussian mechanism a budget asks for."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import scipy

from riemdp._checks import shown
from riemdp._errors import NotAttainableError, UnsupportedBudgetError, UnsupportedError
from riemdp._zero import zero_between
from riemdp.mechanisms._rao import angle_of, laplace_ratio, pure_epsilon_at_angle
from riemdp.noise import bisected
from riemdp.privacy import (
    ApproxDP,
    GeneralizedGaussianCurve,
    PureDP,
    RaoDP,
    affordable_epsilon,
    affordable_mu,
)
from riemdp.research._power_law import PowerLaw

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.privacy import Budget

#: Ratios of sensitivity and scale are found to this accuracy, relatively: for a ``delta``, and for
#: a ``mu`` that is known by chords.
_DELTA_ACCURACY, _MU_ACCURACY = 1e-13, 1e-8
#: Relative error allowed for in powers and in the Fisher information.
ERROR = 1e-13


def affordable_ratio(budget: Budget, power: float, dim: int) -> float:
    """Return the largest sensitivity over sigma that is proved under a budget, up to rounding.

    0 or infinite where the noise leaves float64. ``UnsupportedBudgetError`` where nothing is proved
    for this power and kind of budget, ``NotAttainableError`` where the Fisher information is
    infinite.
    """
    if power == 2.0:
        return affordable_mu(budget) / math.sqrt(2.0)
    return _ratio(budget, power, dim)


@functools.singledispatch
def _ratio(budget: Budget, power: float, dim: int) -> float:
    """From a pure epsilon up to power 1, and on the line up to power 2 from a ``mu``.

    Beyond, by what the definition says of the curve.
    """
    if power <= 1.0:
        pure = _root(affordable_epsilon(budget), power)
        if power == 1.0 or dim > 1:
            return pure
        try:
            mu = affordable_mu(budget)
        except UnsupportedError:
            return pure
        return _largest_ratio(
            lambda s: GeneralizedGaussianCurve(s, power).mu(), mu, pure, _MU_ACCURACY
        )
    _check_line(budget, power, dim)
    if power < 2.0:
        return _ratio_of_mu(affordable_mu(budget), power)
    try:
        return 1.0 / bisected(
            lambda scale: GeneralizedGaussianCurve(1.0 / scale, power).satisfies(budget), 1.0
        )
    except NotAttainableError as error:
        raise UnsupportedBudgetError(
            f"the generalised Gaussian of power {power:g} is not proved to satisfy any "
            f"{shown(budget)}: above power 2 its privacy loss has heavier tails than a Gaussian's, "
            "so that it has no mu and no rho; use a power up to 2, or ApproxDP(epsilon, delta) or "
            "RaoDP"
        ) from error


@_ratio.register(PureDP)
def _(budget: PureDP, power: float, dim: int) -> float:  # noqa: ARG001
    if power <= 1.0:
        return _root(budget.epsilon, power)
    raise UnsupportedBudgetError(
        f"the generalised Gaussian of power {power:g} has no pure epsilon: above power 1 its "
        "privacy loss is unbounded; use a power up to 1, or ApproxDP(epsilon, delta)"
    )


@_ratio.register(ApproxDP)
def _(budget: ApproxDP, power: float, dim: int) -> float:
    if power == 1.0 or (dim > 1 and power < 1.0):
        return _root(affordable_epsilon(budget), power)
    _check_line(budget, power, dim)
    # delta is at most the separation times the largest density
    least = budget.delta * 2.0 * math.gamma(1.0 + 1.0 / power) * (1.0 - 1e-9)
    if power < 1.0:
        least = max(least, _root(budget.epsilon, power))

    def delta(separation: float) -> float:
        return float(GeneralizedGaussianCurve(separation, power).delta_at(budget.epsilon))

    return _largest_ratio(delta, budget.delta, least, _DELTA_ACCURACY)


@_ratio.register(RaoDP)
def _(budget: RaoDP, power: float, dim: int) -> float:
    if power == 1.0:
        return laplace_ratio(budget, dim, flat=True)
    if budget.distance == "parametric":
        check_information(power, dim)
        return budget.theta / speed(power, dim)
    theta = angle_of(budget)
    pure = _root(pure_epsilon_at_angle(theta), power) if power < 1.0 else 0.0
    return max(theta / speed(power, dim), pure)


def _largest_ratio(
    claim: Callable[[float], float], allowed: float, least: float, accuracy: float
) -> float:
    """Separation at which a claim that rises with it is what is allowed; ``least`` suffices."""

    def excess(log_separation: float) -> float:
        return math.log(max(claim(math.exp(log_separation)), 5e-324) / allowed)

    if not 5e-324 < least < math.inf:  # the caller names the limit
        return least
    low = high = math.log(least)
    step = 0.125
    while high < 700.0 and excess(high) <= 0.0:
        low, high = high, high + step
        step *= 2.0
    if low == high or high >= 700.0:
        return math.exp(low)
    return math.exp(zero_between(excess, low, high, xtol=accuracy, rtol=1e-15))


def _ratio_of_mu(mu: float, power: float) -> float:
    """Separation with ``2 Phi^{-1}(F(separation / 2)) = mu``, from power 1 to 2."""
    central = math.erf(mu / (2.0 * math.sqrt(2.0)))
    if central < 0.5:
        depth = scipy.special.gammaincinv(1.0 / power, central)
    else:
        outside = math.erfc(mu / (2.0 * math.sqrt(2.0)))
        depth = scipy.special.gammainccinv(1.0 / power, outside)
    return 2.0 * _root(float(depth), power) * (1.0 - 1e-12)


def _check_line(budget: Budget, power: float, dim: int) -> None:
    if dim > 1:
        raise UnsupportedBudgetError(
            f"in dimension {dim} the generalised Gaussian of power {power:g} can be calibrated to "
            f"RaoDP only, got {shown(budget)}; use a power up to 1, power 2, or the line"
        )


def _root(epsilon: float, power: float) -> float:
    """``epsilon^(1 / power)``, infinite beyond float64."""
    try:
        return float(epsilon ** (1.0 / power))
    except OverflowError:
        return math.inf


def speed(power: float, dim: int) -> float:
    """Square root of the Fisher information at scale 1; infinite up to power 1/2 on the line."""
    return math.sqrt(PowerLaw(1.0, power, dim).fisher_information())


def speed_error(power: float, dim: int) -> float:
    """Relative error of it: logarithms of large gamma functions lose digits."""
    if dim == 1:
        return ERROR
    return ERROR + 1e-15 * float(scipy.special.gammaln(2.0 + dim / power))


def check_information(power: float, dim: int) -> None:
    if PowerLaw(1.0, power, dim).fisher_information() == math.inf:
        raise NotAttainableError(
            f"the Fisher information of the generalised Gaussian is infinite at power {power:g}; "
            'use a power above 1/2, or the distance "angle"'
        )
