"""Kullback-Leibler privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._part import register
from riemdp._zero import zero_between
from riemdp.privacy._budget import Additive, check_delta, check_epsilon, check_parameter
from riemdp.privacy._gdp import GDP
from riemdp.privacy._pure import PureDP, response_epsilon
from riemdp.privacy._rao import RaoDP, angle, angle_conversion, angle_of_response
from riemdp.privacy._rounding import delta_up, first_within, sum_up, up
from riemdp.privacy._rules import composition, conversion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


@final
@register
@dataclass(frozen=True)
class KLDP(Additive):
    """Kullback-Leibler privacy: the mean privacy loss ``KL(P||Q)`` is at most ``alpha``.

    In both orders of (P, Q). It bounds a mean, so large losses stay possible: ``delta(epsilon)``
    falls only like ``alpha / epsilon``. ``delta_at`` and ``epsilon_at`` are proved upper bounds.

    Parameters
    ----------
    alpha : float
        Positive and finite, in nats.

    Raises
    ------
    InvalidBudgetError
        If ``alpha`` is outside its domain.

    Notes
    -----
    ``delta_at`` is the smaller of two bounds: the curve of the largest angle that the divergences
    allow (exact at ``epsilon = 0``), and the best bound that follows from ``KL(P||Q) <= alpha``
    alone. The latter: with Z the loss under P, ``E Z <= alpha``, ``E exp(-Z) <= 1`` and
    ``g(z) = z - 1 + exp(-z)``, every x > 0 gives ``delta(epsilon) <= exp(-y) (alpha + g(-z0)) /
    (1 - exp(-x))``, where ``exp(y) = 1 + g(x) / (1 - exp(-x))`` and ``z0 = epsilon - x + y``.
    Proofs: docs/proofs/privacy-conversions.md.

    References
    ----------
    Barber, Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014.
    Cuff, Yu, "Differential privacy as a mutual information constraint", CCS 2016.

    Examples
    --------
    >>> import riemdp
    >>> f"{riemdp.KLDP(0.1).delta_at(1.0):.4f}"
    '0.0550'
    >>> riemdp.convert(riemdp.GDP(0.5), riemdp.KLDP)
    KLDP(alpha=0.125)
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("alpha",)
    leaves_open = "it bounds the mean of the privacy loss and leaves its other moments open"

    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_parameter("alpha", self.alpha))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Upper bound of ``delta``."""
        epsilon = check_epsilon(epsilon)
        tail = _mean_loss_delta(self.alpha, np.minimum(epsilon, 1e300))
        return np.asarray(np.minimum(tail, self.angle().delta_at(epsilon)))

    def epsilon_at(self, delta: float) -> float:
        """Upper bound of ``epsilon``; ``inf`` at ``delta = 0``."""
        if check_delta(delta) == 0.0:
            return math.inf
        if self.delta_at(0.0) <= delta:
            return 0.0
        # twice the bound P(Z > epsilon) <= E max(Z, 0) / epsilon <= (alpha + 1) / epsilon
        upper = 2.0 * (self.alpha + 1.0) / delta
        if upper > 1e300:
            return math.inf
        log_epsilon = zero_between(
            lambda v: math.log(self.delta_at(math.expm1(v))) - math.log(delta),
            0.0,
            math.log1p(upper),
            xtol=1e-14,
        )
        epsilon = math.expm1(log_epsilon)
        return first_within(self.delta_at, delta, epsilon, 1e-13 * (1.0 + epsilon))

    def angle(self) -> RaoDP:
        """Largest angle between two laws with these divergences (exact: randomised response)."""
        return angle(angle_of_response(response_epsilon(self.alpha, 1.0)))

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether it follows from a guarantee that the curve implies."""
        return any(self.follows_from(guarantee) for guarantee in curve._guarantees())


angle_conversion(KLDP, KLDP.angle)
composition(KLDP, lossless=True)(lambda parts: KLDP(sum_up([part.alpha for part in parts])))
conversion(PureDP, KLDP)(lambda pure, _: KLDP(mean_loss(pure.epsilon)))
conversion(GDP, KLDP)(lambda gaussian, _: KLDP(gaussian.renyi_rate()))


def mean_loss(epsilon: float) -> float:
    """``epsilon tanh(epsilon/2)``, the largest one under pure ``epsilon``-DP, rounded up."""
    return min(epsilon, up(epsilon * math.tanh(0.5 * epsilon)))


def _mean_loss_delta(alpha: float | FloatArray, epsilon: FloatArray) -> FloatArray:
    """Best bound of ``delta`` from a mean loss of at most ``alpha``, over x by bisection."""
    # Each x gives a valid bound, so the search may stop anywhere. The best one has mean loss alpha.
    low = np.full(epsilon.shape, 1e-160)
    high = np.full(epsilon.shape, 1e301)
    for _ in range(64):
        x = np.sqrt(low) * np.sqrt(high)
        z1 = epsilon + _high_part(x)
        z0 = np.minimum(z1 - x, 0.0)
        # the mean of two values z0 and z1 with E exp(-Z) = 1, two ways round its cancellations
        near = z0 + x * np.expm1(z0) / np.expm1(-x)
        far = z1 - x * np.exp(z0) * np.expm1(-z1) / np.expm1(-x)
        beyond = np.where(z0 > -1.0, near, far) > alpha
        high = np.where(beyond, x, high)
        low = np.where(beyond, low, x)
    x = high
    y = _high_part(x)
    z0 = epsilon - x + y
    z0 = np.where(np.abs(z0) <= 2e-15 * (x + epsilon), 0.0, z0)  # nothing but rounding
    bound = np.exp(-y) / -np.expm1(-x) * (alpha + _g(-np.minimum(z0, 700.0)))
    return delta_up(bound, 1e-12)


def _high_part(x: FloatArray) -> FloatArray:
    """``y`` of the tangent point: ``log(1 + g(x) / (1 - exp(-x)))``."""
    return np.asarray(np.log1p(_g(x) / -np.expm1(-x)))


def _g(x: FloatArray) -> FloatArray:
    """``x - 1 + exp(-x)``, by its series where it cancels."""
    small = np.clip(x, -0.1, 0.1)
    series = np.ones_like(small)
    for k in range(10, 2, -1):
        series = 1.0 - series * small / k
    plain = x + np.expm1(-np.maximum(x, -700.0))
    return np.asarray(np.where(np.abs(x) < 0.1, 0.5 * small * small * series, plain))
