"""Zero-concentrated differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._part import register
from riemdp._zero import zero_between
from riemdp.privacy._budget import Additive, Budget, check_delta, check_epsilon, check_parameter
from riemdp.privacy._gdp import GDP
from riemdp.privacy._kl import KLDP, mean_loss
from riemdp.privacy._pure import PureDP
from riemdp.privacy._rao import RaoDP, angle_conversion
from riemdp.privacy._renyi import RDP, finite_order
from riemdp.privacy._rounding import delta_up, exponent_up, first_within, sum_up, up
from riemdp.privacy._rules import Options, composition, conversion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


@final
@register
@dataclass(frozen=True)
class ZCDP(Additive):
    """Zero-concentrated differential privacy: Renyi divergences at most ``xi + rho * order``.

    The bound holds for every order above 1. ``delta_at`` and ``epsilon_at`` are proved upper
    bounds, the best that follow from one Renyi order, with the order optimised.

    Parameters
    ----------
    rho : float
        Positive and finite.
    xi : float, default 0.0
        Not negative, finite.

    Raises
    ------
    InvalidBudgetError
        If a parameter is outside its domain.

    Notes
    -----
    With Z the privacy loss under P and ``order = 1 + x``, ``delta(epsilon)`` is the mean of the
    positive part of ``1 - exp(epsilon - Z)``, which is at most ``exp(x (Z - epsilon))`` times the
    largest value ``x^x / (1 + x)^(1 + x)`` of ``(1 - u) u^x`` on (0, 1). So ``log delta`` is at
    most ``x (xi + rho (1 + x) - epsilon) + x log x - (1 + x) log(1 + x)`` for every x > 0.

    References
    ----------
    Bun, Steinke, "Concentrated differential privacy", TCC 2016, Definition 1.1.
    Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
    Proposition 12.

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.ZCDP(0.5)
    >>> round(float(budget.delta_at(0.5)), 4)
    0.3999
    >>> budget.split(2)
    ZCDP(rho=0.25, xi=0.0)
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("rho", "xi")
    leaves_open = "it allows an unbounded privacy loss, and no comparison with a Gaussian is proved"

    rho: float
    xi: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", check_parameter("rho", self.rho))
        object.__setattr__(self, "xi", check_parameter("xi", self.xi, allow_zero=True))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Upper bound of ``delta`` at the best Renyi order, rounded up."""
        epsilon = check_epsilon(epsilon)
        finite = np.minimum(epsilon, 1e100)
        # The derivative in x vanishes where 2 rho x + log(x/(1+x)) = level; it increases in x.
        # Every x gives a valid bound, so the search may stop anywhere.
        level = np.clip(finite - self.xi - self.rho, -600.0, None)
        root = np.sqrt(level * level + 8.0 * self.rho)
        with np.errstate(over="ignore"):
            upper = np.where(
                level > 0.0,
                (level + root) / (4.0 * self.rho),
                2.0 / (root - np.minimum(level, 0.0)),
            )
        high = np.log(np.clip(upper, 1e-300, 1e160))
        low = math.log(min(1.0, 0.5 / self.rho)) - 1.0 + np.minimum(level, 0.0)
        low = np.clip(low, -690.0, high)
        for _ in range(60):
            middle = 0.5 * (low + high)
            x = np.exp(middle)
            beyond = 2.0 * self.rho * x - np.log1p(1.0 / x) > level
            high = np.where(beyond, middle, high)
            low = np.where(beyond, low, middle)
        x = np.exp(high)
        divergence = self.xi + self.rho * (1.0 + x)
        log_delta = x * (divergence - finite) - x * np.log1p(1.0 / x) - np.log1p(x)
        # the second term is at most 1
        log_delta = exponent_up(log_delta, x * (divergence + finite) + np.log1p(x))
        return np.where(np.isinf(epsilon), 0.0, delta_up(np.exp(np.minimum(log_delta, 0.0))))

    def epsilon_at(self, delta: float) -> float:
        """Upper bound of ``epsilon`` at the best Renyi order; ``inf`` at ``delta = 0``."""
        if check_delta(delta) == 0.0:
            return math.inf
        rho = max(self.rho, 1e-300)  # the search needs normal numbers
        # At the best order, log(1/delta) = rho x^2 + log(1 + x).
        depth = -math.log(delta)
        upper = min(math.sqrt(depth / rho), math.expm1(min(depth, 700.0)))
        x = zero_between(
            lambda y: rho * y * y + math.log1p(y) - depth,
            0.0,
            upper * (1.0 + 1e-9),
            xtol=1e-300,
            rtol=1e-14,
        )
        order_terms = (depth - math.log1p(x)) / x - math.log1p(1.0 / x)
        epsilon = self.xi + rho * (1.0 + x) + order_terms
        step = 1e-14 * (self.xi + rho * (1.0 + x) + depth / x)
        return first_within(self.delta_at, delta, max(0.0, epsilon + step), step)

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether the curve's ``rho`` is small enough."""
        return curve.zcdp_rho() <= self.rho

    def largest_epsilon(self) -> float:
        """``sqrt(2 rho)`` (Bun, Steinke, TCC 2016, Proposition 1.4)."""
        return math.sqrt(2.0 * self.rho)

    def largest_mu(self) -> float:
        """``sqrt(2 rho)``."""
        return math.sqrt(2.0 * self.rho)

    def _angle(self) -> RaoDP:
        return KLDP(up(self.rho + self.xi)).angle()

    def _routes(self) -> tuple[Budget, ...]:
        return (self._angle(),)


def concentrated(rho: float) -> ZCDP:
    """``rho``-zCDP of at least 1e-300: its search for orders needs normal numbers."""
    return ZCDP(max(rho, 1e-300))


angle_conversion(ZCDP, ZCDP._angle)


@composition(ZCDP, lossless=True)
def _together(parts: Sequence[ZCDP]) -> ZCDP:
    return ZCDP(sum_up([part.rho for part in parts]), sum_up([part.xi for part in parts]))


conversion(PureDP, ZCDP)(lambda pure, _: concentrated(mean_loss(pure.epsilon)))
conversion(GDP, ZCDP)(lambda gaussian, _: concentrated(gaussian.renyi_rate()))


@conversion(ZCDP, RDP)
def _zcdp_to_rdp(guarantee: ZCDP, options: Options) -> RDP:
    order = finite_order(options, guarantee)
    return RDP(order, up(guarantee.xi + guarantee.rho * order))


@conversion(ZCDP, KLDP)
def _zcdp_to_kl(guarantee: ZCDP, _: Options) -> KLDP:
    return KLDP(up(guarantee.rho + guarantee.xi) if guarantee.xi else guarantee.rho)
