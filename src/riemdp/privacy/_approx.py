"""Approximate differential privacy, which every definition implies at every ``epsilon``."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from riemdp._checks import real
from riemdp._errors import InvalidBudgetError, NoConversionError
from riemdp._part import register
from riemdp.privacy import _rules
from riemdp.privacy._budget import Additive, Budget, check_parameter
from riemdp.privacy._gdp import gaussian_mu
from riemdp.privacy._pure import PureDP, approximate_delta, approximate_epsilon
from riemdp.privacy._rounding import sum_up, up
from riemdp.privacy._rules import Options, composition, conversion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import Amount, FloatArray
    from riemdp.privacy._curve import PrivacyCurve


@final
@register
@dataclass(frozen=True)
class ApproxDP(Additive):
    """Approximate differential privacy: ``P(S) <= exp(epsilon) Q(S) + delta`` for every event S.

    Parameters
    ----------
    epsilon : float
        Positive and finite.
    delta : float
        Strictly between 0 and 1.

    Raises
    ------
    InvalidBudgetError
        If a parameter is outside its domain.

    References
    ----------
    Dwork, Kenthapadi, McSherry, Mironov, Naor, "Our data, ourselves: privacy via distributed noise
    generation", EUROCRYPT 2006, Definition 1.

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.ApproxDP(1.0, 1e-6)
    >>> round(float(budget.delta_at(0.5)), 4)
    0.2876
    >>> budget.split(2)
    ApproxDP(epsilon=0.5, delta=5e-07)
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("epsilon", "delta")
    choices = ("delta", "epsilon")
    leaves_open = (
        "with probability delta an output may reveal everything, so the loss has no moments"
    )

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_parameter("epsilon", self.epsilon))
        object.__setattr__(self, "delta", check_parameter("delta", self.delta, upper=1.0))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``self.delta`` from ``self.epsilon`` on, else ``1 - (1-delta)(1+e^eps)/(1+e^eps0)``.

        Under ``self.epsilon`` it is what the worst pair allowed by the definition has
        (Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", IEEE Trans.
        Inf. Theory 2017, Section 3).
        """
        return approximate_delta(self.epsilon, self.delta, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Inverse of :meth:`delta_at`; ``inf`` under ``self.delta``."""
        return approximate_epsilon(self.epsilon, self.delta, delta)

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether the curve has a small enough ``delta`` at ``epsilon``."""
        return bool(curve.delta_at(self.epsilon) <= self.delta)

    def total(self, prices: Sequence[float]) -> ApproxDP | PureDP | None:
        """Inverse of :meth:`price`; a ``PureDP`` without ``delta``."""
        epsilon, delta = prices
        if epsilon <= 0.0:
            return None
        if delta <= 0.0:
            return PureDP(epsilon)
        return ApproxDP(epsilon, min(delta, math.nextafter(1.0, 0.0)))

    def price_of(self, guarantee: Budget) -> tuple[Amount, ...]:
        """Price of an ``ApproxDP``, or of what implies a ``PureDP``, which has no ``delta``.

        Raises ``NoConversionError`` for definitions that are a pair for every ``delta``.
        """
        if type(guarantee) is ApproxDP:
            return guarantee.price()
        try:
            pure: PureDP = _rules.implied(guarantee, PureDP, Options())
        except NoConversionError:
            raise NoConversionError(
                f"{guarantee} is an (epsilon, delta) pair for every delta; choose one before "
                "spending: convert(guarantee, ApproxDP, delta=...)"
            ) from None
        return (pure.epsilon, 0.0)

    def implied_by(self, guarantee: Budget) -> ApproxDP:
        """Guarantee at the ``epsilon`` of this one."""
        return _to_approx(guarantee._simplest(), Options(epsilon=self.epsilon))

    def _without_infinity(self) -> tuple[float, PureDP]:
        """``delta``, and randomised response: together they dominate every such pair."""
        return self.delta, PureDP(self.epsilon)

    def largest_epsilon(self) -> float:
        """``epsilon`` itself: it needs no ``delta``."""
        return self.epsilon

    def largest_mu(self) -> float:
        """See :func:`gaussian_mu`."""
        return gaussian_mu(self.epsilon, self.delta)


@composition(ApproxDP)
def _together(parts: Sequence[ApproxDP]) -> ApproxDP:
    deltas = [part.delta for part in parts]
    product = up(-math.expm1(math.fsum(math.log1p(-delta) for delta in deltas)))
    delta = min(sum_up(deltas), product)
    if delta >= 1.0:
        raise InvalidBudgetError("the composed delta is 1: nothing is guaranteed any more")
    return ApproxDP(sum_up([part.epsilon for part in parts]), delta)


@conversion(None, ApproxDP)
def _to_approx(guarantee: Budget, options: Options) -> ApproxDP:
    routes: list[Any] = [guarantee, *guarantee._routes()]
    if options.epsilon is not None:
        target = PureDP(options.epsilon).epsilon
        delta = min(float(route.delta_at(target)) for route in routes)
        if delta >= 1.0:
            raise NoConversionError(f"{guarantee!r} has no delta under 1 at epsilon = {target}")
        return ApproxDP(target, max(delta, sys.float_info.min))
    delta = real(options.delta, "delta")
    if delta == 0.0:
        raise NoConversionError("delta = 0 is pure privacy: convert to PureDP instead")
    delta = ApproxDP(1.0, delta).delta
    epsilon = min(route.epsilon_at(delta) for route in routes)
    if math.isinf(epsilon):
        floor = min(float(route.delta_at(math.inf)) for route in routes)
        raise NoConversionError(
            f"{guarantee!r} has no epsilon at delta = {delta}: its delta stays above {floor:.6g} "
            "at every epsilon"
        )
    return ApproxDP(max(epsilon, sys.float_info.min), delta)
