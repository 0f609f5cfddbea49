"""Renyi differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import real
from riemdp._errors import InvalidBudgetError, NoConversionError
from riemdp._part import register
from riemdp.privacy import _rules
from riemdp.privacy._budget import Additive, Budget, check_delta, check_epsilon, check_parameter
from riemdp.privacy._gdp import GDP
from riemdp.privacy._kl import KLDP
from riemdp.privacy._pure import (
    PureDP,
    approximate_delta,
    approximate_epsilon,
    response_divergence,
    response_epsilon,
)
from riemdp.privacy._rao import RaoDP, angle, angle_conversion, angle_of_response
from riemdp.privacy._rounding import (
    ELEMENTARY,
    delta_up,
    exponent_up,
    first_within,
    sum_up,
    up,
)
from riemdp.privacy._rules import Options, composition, conversion, no_conversion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


@final
@register
@dataclass(frozen=True)
class RDP(Additive):
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

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.RDP(order=8.0, epsilon=0.5)
    >>> f"{budget.epsilon_at(1e-6):.3f}"
    '2.043'
    >>> f"{riemdp.convert(riemdp.ZCDP(0.05), riemdp.RDP, order=8.0).epsilon:.3f}"  # order times rho
    '0.400'
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("epsilon",)
    choices = ("order",)
    leaves_open = "it bounds one moment of the privacy loss and leaves higher ones open"

    order: float
    epsilon: float

    def __post_init__(self) -> None:
        order = real(self.order, "order", error=InvalidBudgetError)
        if not order > 1.0:
            raise InvalidBudgetError(
                f"order must be above 1, got {order}; order 1 is KLDP(alpha), and math.inf is pure"
            )
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "epsilon", check_parameter("epsilon", self.epsilon))

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

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether it follows from a guarantee that the curve implies."""
        return any(self.follows_from(guarantee) for guarantee in curve._guarantees())

    def largest_mu(self) -> float | None:
        """Raise for the order ``inf``: the privacy loss of Gaussian noise is unbounded."""
        return None if self.order < math.inf else PureDP(self.epsilon).largest_mu()

    def _simplest(self) -> Budget:
        """Pure privacy, which the order ``inf`` is."""
        return self if self.order < math.inf else PureDP(self.epsilon)

    def _adaptive(self) -> Budget:
        return self._simplest()

    def _routes(self) -> tuple[Budget, ...]:
        return (KLDP(self.epsilon),) if self.order < 1.5 else ()

    def _renyi_orders(self) -> tuple[float, ...]:
        return (self.order,)


angle_conversion(RDP, RDP.angle)


@composition(RDP, lossless=True)
def _together(parts: Sequence[RDP]) -> RDP:
    least = Options(order=min(part.order for part in parts))
    lowered = [_rules.implied(part, RDP, least) for part in parts]
    return RDP(_order(least), sum_up([part.epsilon for part in lowered]))


@conversion(PureDP, RDP)
def _pure_to_rdp(guarantee: PureDP, options: Options) -> RDP:
    order = _order(options)
    if math.isinf(order):
        return RDP(order, guarantee.epsilon)
    divergence = up(response_divergence(guarantee.epsilon, order))
    return RDP(order, min(guarantee.epsilon, divergence))


@conversion(GDP, RDP)
def _gdp_to_rdp(guarantee: GDP, options: Options) -> RDP:
    order = finite_order(options, guarantee)
    return RDP(order, up(order * guarantee.renyi_rate()))


@conversion(RDP, RDP)
def _rdp_to_rdp(guarantee: RDP, options: Options) -> RDP:
    order = _order(options)
    if order > guarantee.order:
        raise NoConversionError(
            f"{guarantee!r} implies no RDP guarantee of the larger order {order}: divergences "
            "grow with the order without limit"
        )
    return RDP(order, guarantee.epsilon)


conversion(RDP, KLDP)(lambda renyi, _: KLDP(renyi.epsilon))


def finite_order(options: Options, guarantee: Budget) -> float:
    """Return the order asked for; unbounded losses have none of order ``inf``."""
    order = _order(options)
    if math.isinf(order):
        raise no_conversion(guarantee, PureDP)
    return order


def _order(options: Options) -> float:
    return RDP(options.order, 1.0).order  # type: ignore[arg-type]
