"""Privacy definitions: budgets that are asked for and guarantees that are given.

All of them are meant for replace-one neighbours; each is a set of constraints on the pair of
output laws, and ``delta_at`` is the smallest proved ``delta`` for every ``epsilon``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import scipy

from riemdp._checks import real, real_array
from riemdp._errors import InvalidBudgetError, InvalidParameterError
from riemdp._part import Part, register
from riemdp.privacy._gaussian import gaussian_delta_up, gaussian_epsilon
from riemdp.privacy._rounding import delta_up, exponent_up, first_within

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


class Budget(Part, sort="definition"):
    """A privacy definition with its parameters.

    Two output laws (P, Q) are (epsilon, delta)-indistinguishable if ``P(S) <= exp(epsilon) Q(S) +
    delta`` for every event S, in both orders.
    """

    @abstractmethod
    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Proved ``delta`` at each ``epsilon``, the smallest one unless the class says otherwise.

        Rounded up.

        Parameters
        ----------
        epsilon : array_like
            Not negative.

        Returns
        -------
        ndarray, shape of ``epsilon``

        Raises
        ------
        InvalidParameterError
            If an ``epsilon`` is negative, NaN or no number.
        """

    @abstractmethod
    def epsilon_at(self, delta: float) -> float:
        """Smallest ``epsilon`` with ``delta_at(epsilon) <= delta``, rounded up.

        Parameters
        ----------
        delta : float
            In [0, 1).

        Returns
        -------
        float
            ``inf`` where no ``epsilon`` has so small a ``delta``.

        Raises
        ------
        InvalidParameterError
            If ``delta`` is outside [0, 1).
        """


@final
@register
@dataclass(frozen=True)
class PureDP(Budget):
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
    """

    proof = "docs/proofs/privacy-conversions.md"

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checked("epsilon", self.epsilon))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``(e^self.epsilon - e^epsilon) / (1 + e^self.epsilon)``, and 0 from there on."""
        return approximate_delta(self.epsilon, 0.0, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Inverse of :meth:`delta_at`; ``self.epsilon`` at ``delta = 0``."""
        return approximate_epsilon(self.epsilon, 0.0, delta)


@final
@register
@dataclass(frozen=True)
class ApproxDP(Budget):
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
    """

    proof = "docs/proofs/privacy-conversions.md"

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _checked("epsilon", self.epsilon))
        object.__setattr__(self, "delta", _checked("delta", self.delta, upper=1.0))

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


@final
@register
@dataclass(frozen=True)
class GDP(Budget):
    """Gaussian differential privacy: at least as hard to tell apart as N(0, 1) and N(mu, 1).

    Parameters
    ----------
    mu : float
        Positive and finite.

    Raises
    ------
    InvalidBudgetError
        If ``mu`` is outside its domain.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Definition 2.6.
    """

    proof = "docs/proofs/privacy-conversions.md"

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _checked("mu", self.mu))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """See :func:`gaussian_delta`; up to 2e-12 (relative) more, and 0 at ``inf`` only."""
        return gaussian_delta_up(self.mu, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Exact up to rounding, see :func:`gaussian_epsilon`; ``inf`` at ``delta = 0``."""
        return gaussian_epsilon(self.mu, delta) if check_delta(delta) > 0.0 else math.inf


@final
@register
@dataclass(frozen=True)
class ZCDP(Budget):
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
    """

    proof = "docs/proofs/privacy-conversions.md"

    rho: float
    xi: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", _checked("rho", self.rho))
        object.__setattr__(self, "xi", _checked("xi", self.xi, allow_zero=True))

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
        x = float(
            scipy.optimize.brentq(
                lambda y: rho * y * y + math.log1p(y) - depth,
                0.0,
                upper * (1.0 + 1e-9),
                xtol=1e-300,
                rtol=1e-14,
            )
        )
        order_terms = (depth - math.log1p(x)) / x - math.log1p(1.0 / x)
        epsilon = self.xi + rho * (1.0 + x) + order_terms
        step = 1e-14 * (self.xi + rho * (1.0 + x) + depth / x)
        return first_within(self.delta_at, delta, max(0.0, epsilon + step), step)


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


def check_epsilon(epsilon: ArrayLike) -> FloatArray:
    """Return ``epsilon`` as float64, all entries at least 0."""
    array = real_array(epsilon, "epsilon")
    if not np.all(array >= 0.0):
        raise InvalidParameterError("epsilon must be at least 0 everywhere")
    return array


def check_delta(delta: float) -> float:
    """Return ``delta`` as a float in [0, 1)."""
    delta = real(delta, "delta")
    if not (0.0 <= delta < 1.0):
        raise InvalidParameterError(f"delta must be at least 0 and under 1, got {delta}")
    return delta


def _checked(
    name: str, value: float, *, upper: float = math.inf, allow_zero: bool = False
) -> float:
    """Return a budget's parameter as a float inside its domain."""
    number = real(value, name, error=InvalidBudgetError)
    if not (0.0 < number < upper or (allow_zero and number == 0.0)):
        least = "at least 0" if allow_zero else "positive"
        most = "finite" if upper == math.inf else f"under {upper:g}"
        raise InvalidBudgetError(f"{name} must be {least} and {most}, got {number}")
    return number
