"""Pure differential privacy, and randomised response."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import scipy

from riemdp._checks import positive
from riemdp._errors import UnsupportedBudgetError
from riemdp._part import register
from riemdp._zero import zero_between
from riemdp.privacy._budget import Additive, check_delta, check_epsilon, check_parameter
from riemdp.privacy._rounding import ELEMENTARY, delta_up, first_within, sum_up, up
from riemdp.privacy._rules import composition

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


# Randomised response: the worst pair of laws that pure differential privacy allows, in numbers.

#: Relative error allowed for in the conversions between ``epsilon`` and ``mu``.
CONVERSION_ERROR = 1e-13
#: Under this ``mu`` is linear in ``epsilon``, and halves of the latter may lose digits.
TINY = 1e-100


def approximate_delta(epsilon0: float, delta0: float, epsilon: ArrayLike) -> FloatArray:
    """Privacy curve of the worst (epsilon0, delta0)-private pair, rounded up.

    No term cancels. From ``epsilon0`` on it is ``delta0`` exactly.
    """
    epsilon = check_epsilon(epsilon)
    below = np.minimum(epsilon, epsilon0)
    # (e^eps0 - e^eps) / (1 + e^eps0), as the exponentials themselves may overflow
    pure = -np.expm1(below - epsilon0) / (1.0 + math.exp(-epsilon0))
    return np.where(epsilon < epsilon0, delta_up(delta0 + (1.0 - delta0) * pure), delta0)


def approximate_epsilon(epsilon0: float, delta0: float, delta: float) -> float:
    """Inverse of :func:`approximate_delta` in ``epsilon``, rounded up."""
    delta = check_delta(delta)
    if delta < delta0:
        return math.inf
    if delta == delta0:
        return epsilon0
    lost, kept, decay = delta - delta0, 1.0 - delta, math.exp(-epsilon0)
    drop = lost * (1.0 + decay) / (1.0 - delta0)
    rest = (kept - lost * decay) / (1.0 - delta0)  # 1 - drop, also where that cancels
    fall = math.log1p(-drop) if drop < 0.5 else math.log(max(rest, 5e-324))
    return first_within(
        lambda e: approximate_delta(epsilon0, delta0, e),
        delta,
        max(0.0, epsilon0 + fall),
        max(1e-15 * epsilon0, 5e-324),
        epsilon0,
    )


def pure_to_gaussian(epsilon: float) -> float:
    """Smallest ``mu`` such that pure ``epsilon``-DP implies ``mu``-GDP, rounded up.

    ``mu = -2 Phi^{-1}(1 / (1 + exp(epsilon)))``: the worst pair's trade-off function has its
    kink at equal errors ``1/(1 + exp(epsilon))``, and a Gaussian one through the kink lies under
    it everywhere.

    Parameters
    ----------
    epsilon : float
        Positive and finite.

    Returns
    -------
    float

    Raises
    ------
    InvalidParameterError
        If ``epsilon`` is outside its domain.

    References
    ----------
    Liu, Sun, Kong, Jiang, "Identification, amplification and measurement: a bridge to Gaussian
    differential privacy", NeurIPS 2022.
    """
    epsilon = positive(epsilon, "epsilon")
    if epsilon < TINY:
        mu = math.sqrt(0.5 * math.pi) * epsilon
    elif epsilon < 2.0:  # 1/(1+e^eps) = (1 - tanh(eps/2))/2 keeps the digits of a small epsilon
        mu = 2.0 * math.sqrt(2.0) * float(scipy.special.erfinv(math.tanh(0.5 * epsilon)))
    else:
        mu = -2.0 * float(scipy.special.ndtri_exp(-epsilon - math.log1p(math.exp(-epsilon))))
    return up(mu, CONVERSION_ERROR)


def gaussian_to_pure(mu: float) -> float:
    """Largest ``epsilon`` with ``pure_to_gaussian(epsilon) <= mu``, rounded down.

    Pure DP at this ``epsilon`` implies ``mu``-GDP. (The other direction does not exist.)

    Parameters
    ----------
    mu : float
        Positive and finite.

    Returns
    -------
    float

    Raises
    ------
    InvalidParameterError
        If ``mu`` is outside its domain.
    """
    mu = positive(mu, "mu")
    if mu < 2.0:
        epsilon = 2.0 * math.atanh(math.erf(mu / (2.0 * math.sqrt(2.0))))
    else:
        epsilon = float(scipy.special.log_ndtr(0.5 * mu) - scipy.special.log_ndtr(-0.5 * mu))
    lowered = math.nextafter(epsilon * (1.0 - 10.0 * CONVERSION_ERROR), 0.0)
    return min(lowered, sys.float_info.max)


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
    gap = math.log1p(math.exp(-epsilon - 2.0 * shift)) - math.log1p(math.exp(-epsilon))
    return epsilon + gap / excess


def response_epsilon(divergence: float, order: float) -> float:
    """Inverse of :func:`response_divergence` in ``epsilon`` (``order`` finite), rounded up."""
    divergence = max(divergence, 1e-300)  # smaller ones have few digits
    # divergence lies between epsilon tanh(epsilon/2) and epsilon
    upper = divergence + min(0.6, 1.0 + divergence)
    if divergence < 0.1:
        upper = 1.02 * math.sqrt(2.0 * divergence)
    lower = min(divergence, upper) * (1.0 - 1e-12)
    epsilon = zero_between(
        lambda e: response_divergence(e, order) - divergence, lower, upper, xtol=1e-300, rtol=4e-15
    )
    step = 4e-15 * epsilon
    while response_divergence(epsilon, order) < divergence * (1.0 + ELEMENTARY):
        epsilon += step
        step *= 2.0
    return epsilon


# Pure differential privacy.


@final
@register
@dataclass(frozen=True)
class PureDP(Additive):
    """Pure differential privacy: ``P(S) <= exp(epsilon) Q(S)`` for every event S.

    Parameters
    ----------
    epsilon : float
        Positive and finite.

    Raises
    ------
    InvalidBudgetError
        If ``epsilon`` is outside its domain.

    References
    ----------
    Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis",
    TCC 2006, Definition 1.

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.PureDP(1.0)
    >>> round(float(budget.delta_at(0.5)), 4)
    0.2876
    >>> budget.split(2)
    PureDP(epsilon=0.5)
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("epsilon",)

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_parameter("epsilon", self.epsilon))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``(e^self.epsilon - e^epsilon) / (1 + e^self.epsilon)``, and 0 from there on."""
        return approximate_delta(self.epsilon, 0.0, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Inverse of :meth:`delta_at`; ``self.epsilon`` at ``delta = 0``."""
        return approximate_epsilon(self.epsilon, 0.0, delta)

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether the pure epsilon of the curve is small enough."""
        return curve.pure_epsilon() <= self.epsilon

    def largest_epsilon(self) -> float:
        """``epsilon`` itself."""
        return self.epsilon

    def largest_mu(self) -> float:
        """Raise: the privacy loss of Gaussian noise is unbounded."""
        raise UnsupportedBudgetError(
            "Gaussian noise has no pure epsilon; use TangentLaplace or RiemannianLaplace, or "
            "allow a delta with ApproxDP(epsilon, delta)"
        )


composition(PureDP)(lambda parts: PureDP(sum_up([part.epsilon for part in parts])))
