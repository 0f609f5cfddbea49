"""Renyi differential privacy, and the Renyi divergence of randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import scipy

from riemdp._checks import real
from riemdp._errors import InvalidBudgetError
from riemdp._part import register
from riemdp.privacy._definitions import (
    Budget,
    _checked,
    approximate_delta,
    approximate_epsilon,
    check_delta,
    check_epsilon,
)
from riemdp.privacy._rao import angle, angle_of_response
from riemdp.privacy._rounding import ELEMENTARY, delta_up, exponent_up, first_within

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.privacy._rao import RaoDP

    FloatArray = NDArray[np.float64]


@final
@register
@dataclass(frozen=True)
class RDP(Budget):
    """Renyi differential privacy: the Renyi divergence of one order is at most ``epsilon``.

    ``D(P||Q) = log(integral p^order q^(1 - order)) / (order - 1)``, in both orders of (P, Q); the
    order ``inf`` is pure differential privacy. ``delta_at`` and ``epsilon_at`` are proved upper
    bounds.

    Parameters
    ----------
    order : float
        Above 1; ``math.inf`` is allowed.
    epsilon : float
        Positive and finite, in nats.

    Raises
    ------
    InvalidBudgetError
        If a parameter is outside its domain.

    Notes
    -----
    ``delta_at`` is the smaller of two bounds. The first one is that of Canonne, Kamath and Steinke
    (see :class:`ZCDP`) with one more step: ``p = P(S)`` of the worst event is at most 1, so that
    ``delta <= max over p <= 1 of p - exp(epsilon - self.epsilon) p^(order/(order - 1))``. The
    second one is the curve of the largest angle that the divergence allows (see :class:`RaoDP`).

    References
    ----------
    Mironov, "Renyi differential privacy", CSF 2017, Definition 4.
    Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
    Proposition 12.
    """

    proof = "docs/proofs/privacy-conversions.md"

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        order = real(self.order, "order", error=InvalidBudgetError)
        if not order > 1.0:
            raise InvalidBudgetError(
                f"order must be above 1, got {order}; order 1 is KLDP(alpha), and math.inf is pure"
            )
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "epsilon", _checked("epsilon", self.epsilon))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Upper bound of ``delta``, exact for the order ``inf``."""
        if math.isinf(self.order):
            return approximate_delta(self.epsilon, 0.0, epsilon)
        epsilon = check_epsilon(epsilon)
        finite = np.minimum(epsilon, 1e300)
        excess = self.order - 1.0
        # log of the maximiser p is excess * min(0, level)
        gap = self.epsilon - finite
        level = gap + math.log1p(-1.0 / self.order)
        with np.errstate(over="ignore"):
            log_worst = exponent_up(excess * level, excess * np.abs(gap))
            interior = np.exp(np.minimum(log_worst, 0.0)) / self.order
            edge = np.maximum(-np.expm1(-gap), 0.0)
        # at a level of 0 both are 1/order, with one slope: there its rounding does not matter
        moment = np.where(level < 0.0, interior, edge)
        moment = np.minimum(delta_up(moment), self.angle().delta_at(epsilon))
        return np.where(np.isinf(epsilon), 0.0, moment)

    def epsilon_at(self, delta: float) -> float:
        """Upper bound of ``epsilon``; ``inf`` at ``delta = 0`` unless the order is ``inf``."""
        if math.isinf(self.order):
            return approximate_epsilon(self.epsilon, 0.0, delta)
        if check_delta(delta) == 0.0:
            return math.inf
        if delta >= 1.0 / self.order:
            tail = math.log1p(-delta)
        else:
            tail = -math.log(delta) - math.log(self.order)
            tail = tail / (self.order - 1.0) + math.log1p(-1.0 / self.order)
        scale = 1.0 + self.epsilon + abs(math.log(delta)) / (self.order - 1.0)
        step = ELEMENTARY * scale
        moment = max(0.0, self.epsilon + tail + step)
        limit = self.angle().epsilon_at(delta)
        return first_within(self.delta_at, delta, moment, step, limit)

    def angle(self) -> RaoDP:
        """Largest angle between two laws with these divergences (exact: randomised response)."""
        if math.isinf(self.order):
            return angle(angle_of_response(self.epsilon))
        return angle(angle_of_response(response_epsilon(self.epsilon, self.order)))


def response_divergence(epsilon: float, order: float) -> float:
    """Renyi divergence between the two laws of randomised response at pure ``epsilon``.

    ``log(cosh((order - 1/2) epsilon) / cosh(epsilon/2)) / (order - 1)``, the largest one at this
    ``epsilon``; ``epsilon tanh(epsilon/2)`` at order 1 (Kullback-Leibler).
    """
    half = math.tanh(0.5 * epsilon)
    excess = order - 1.0
    shift = excess * epsilon
    if excess == 0.0 or shift == 0.0:
        return epsilon * half
    if shift < 1e-8:  # the same to second order, as the logarithm may underflow
        part = 0.5 * shift + half
        gap = shift * part
        return epsilon * part * (1.0 - gap * (0.5 - gap / 3.0))
    if shift < 1.0:  # cosh(a)/cosh(b) = cosh(a - b) + tanh(b) sinh(a - b)
        sine = math.sinh(0.5 * shift)
        return math.log1p(2.0 * sine * (sine + half * math.cosh(0.5 * shift))) / excess
    # the same with exp(a - b) taken out
    return epsilon + (math.log1p(math.exp(-epsilon - 2.0 * shift)) - _log1pexp(epsilon)) / excess


def response_epsilon(divergence: float, order: float) -> float:
    """Inverse of :func:`response_divergence` in ``epsilon`` (``order`` finite), rounded up."""
    divergence = max(divergence, 1e-300)  # smaller ones have few digits
    # divergence lies between epsilon tanh(epsilon/2) and epsilon
    upper = divergence + min(0.6, 1.0 + divergence)
    if divergence < 0.1:
        upper = 1.02 * math.sqrt(2.0 * divergence)
    lower = min(divergence, upper) * (1.0 - 1e-12)
    epsilon: float = scipy.optimize.brentq(
        lambda e: response_divergence(e, order) - divergence, lower, upper, xtol=1e-300, rtol=4e-15
    )
    step = 4e-15 * epsilon
    while response_divergence(epsilon, order) < divergence * (1.0 + ELEMENTARY):
        epsilon += step
        step *= 2.0
    return epsilon


def _log1pexp(epsilon: float) -> float:
    """``log(1 + exp(-epsilon))``."""
    return math.log1p(math.exp(-epsilon))
