"""Privacy curves in closed form: Gaussian, pure, Laplace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._checks import positive
from riemdp.privacy._budget import Budget, check_delta, check_epsilon
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._gdp import GDP, gaussian_delta_up, gaussian_epsilon
from riemdp.privacy._pure import (
    CONVERSION_ERROR,
    TINY,
    PureDP,
    approximate_delta,
    approximate_epsilon,
    pure_to_gaussian,
)
from riemdp.privacy._rao import (
    RaoDP,
    angle,
    angle_of_affinity,
    angle_of_response,
    angle_of_separation,
)
from riemdp.privacy._rounding import ELEMENTARY, delta_up, first_within, half_square_up, up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray


# Privacy curves in closed form: of two Gaussians, and of the worst pair of pure privacy.

#: Distance of the two ends of a bracket: quantiles far out may be too large by 7e-13.
BRACKET_WIDTH = 8e-13


@dataclass(frozen=True)
class GaussianCurve(PrivacyCurve):
    """Exact curve of two unit Gaussians at a distance.

    Parameters
    ----------
    separation : float
        Distance of the means in standard deviations, positive and finite. The mechanism is
        exactly ``separation``-GDP and ``separation**2 / 2``-zCDP.

    Raises
    ------
    InvalidParameterError
        If ``separation`` is outside its domain.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Theorem 2.7.
    Bun, Steinke, "Concentrated differential privacy", TCC 2016, Proposition 1.6.

    Examples
    --------
    >>> from riemdp.privacy import GaussianCurve
    >>> curve = GaussianCurve(1.0)
    >>> curve.mu(), f"{curve.epsilon_at(1e-6):.3f}, {curve.zcdp_rho():.3f}"
    (1.0, '4.887, 0.500')
    """

    separation: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "separation", positive(self.separation, "separation"))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """See :func:`gaussian_delta`; up to 2e-12 (relative) more, and 0 at ``inf`` only."""
        return gaussian_delta_up(self.separation, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """See :func:`gaussian_epsilon`; ``inf`` at ``delta = 0``."""
        return gaussian_epsilon(self.separation, delta) if check_delta(delta) > 0.0 else math.inf

    def mu(self) -> float:
        """Return the separation."""
        return self.separation

    def mu_bracket(self) -> tuple[float, float]:
        """Return the separation twice: it is exact."""
        return self.separation, self.separation

    def pure_epsilon(self) -> float:
        """Infinite: a Gaussian's privacy loss is unbounded."""
        return math.inf

    def _guarantees(self) -> tuple[Budget, ...]:
        return (GDP(self.separation),)

    def _separation(self) -> float:
        return self.separation

    def zcdp_rho(self) -> float:
        """``separation**2 / 2``, rounded up."""
        return half_square_up(self.separation)

    def _angle(self) -> RaoDP:
        return angle(angle_of_separation(self.separation))


class CurveOfPureLoss(PrivacyCurve):
    """What curves with a pure epsilon and a ``mu`` of their own share."""

    def mu_bracket(self) -> tuple[float, float]:
        """Return the smallest ``mu``, rounded down and up."""
        upper = self.mu()
        return upper * (1.0 - BRACKET_WIDTH), upper

    def zcdp_rho(self) -> float:
        """``epsilon**2 / 2`` at the pure epsilon, rounded up."""
        return half_square_up(self.pure_epsilon())

    def _guarantees(self) -> tuple[Budget, ...]:
        return (PureDP(self.pure_epsilon()),)


@dataclass(frozen=True)
class PureCurve(CurveOfPureLoss):
    """Curve of the worst pair that pure differential privacy allows (randomised response).

    A mechanism of which only ``epsilon`` is proved has this curve; its own may be better.

    Parameters
    ----------
    epsilon : float
        Positive and finite.

    Raises
    ------
    InvalidParameterError
        If ``epsilon`` is outside its domain.

    References
    ----------
    Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", IEEE Trans. Inf.
    Theory 2017, Section 3 (the worst pair).
    Bun, Steinke, "Concentrated differential privacy", TCC 2016, Proposition 1.4 (zCDP).

    Examples
    --------
    >>> from riemdp.privacy import PureCurve
    >>> curve = PureCurve(1.0)
    >>> curve.pure_epsilon(), f"{curve.delta_at(0.0):.4f}, {curve.zcdp_rho():.4f}"
    (1.0, '0.4621, 0.5000')
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``(e^self.epsilon - e^epsilon) / (1 + e^self.epsilon)``, and 0 from there on."""
        return approximate_delta(self.epsilon, 0.0, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Inverse of :meth:`delta_at`, rounded up."""
        return approximate_epsilon(self.epsilon, 0.0, delta)

    def mu(self) -> float:
        """See :func:`pure_to_gaussian`."""
        return pure_to_gaussian(self.epsilon)

    def pure_epsilon(self) -> float:
        """``epsilon`` itself."""
        return self.epsilon

    def _angle(self) -> RaoDP:
        return angle(angle_of_response(self.epsilon))


# The exact privacy curve of the Laplace mechanism on the real line.


@dataclass(frozen=True)
class LaplaceCurve(CurveOfPureLoss):
    """Exact curve of two Laplace laws on the real line.

    Better than :class:`PureCurve`, which has to hold for every mechanism of the same ``epsilon``.
    It does not hold for the Laplace law ``exp(-|x|/sigma)`` in more than one dimension.

    Parameters
    ----------
    separation : float
        Distance of the locations in units of the scale, positive and finite; it is the pure
        ``epsilon``.

    Raises
    ------
    InvalidParameterError
        If ``separation`` is outside its domain.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Section 2.4 (the trade-off
    function). docs/proofs/composition.md (``delta``, ``mu`` and the angle).

    Examples
    --------
    >>> from riemdp.privacy import LaplaceCurve, PureCurve
    >>> curve = LaplaceCurve(1.0)
    >>> curve.pure_epsilon(), f"{curve.delta_at(0.5):.4f}", f"{PureCurve(1.0).delta_at(0.5):.4f}"
    (1.0, '0.2212', '0.2876')
    """

    separation: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "separation", positive(self.separation, "separation"))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``1 - exp((epsilon - separation) / 2)``, rounded up; 0 from the separation on."""
        epsilon = check_epsilon(epsilon)
        delta = -np.expm1(0.5 * np.minimum(epsilon - self.separation, 0.0))
        return np.where(epsilon < self.separation, delta_up(delta), 0.0)

    def epsilon_at(self, delta: float) -> float:
        """``separation + 2 log(1 - delta)``, at least 0, rounded up."""
        epsilon = max(0.0, self.separation + 2.0 * math.log1p(-check_delta(delta)))
        step = max(1e-15 * self.separation, 5e-324)
        return first_within(self.delta_at, delta, epsilon, step, self.separation)

    def mu(self) -> float:
        """``2 Phi^{-1}(1 - exp(-separation/2) / 2)``, the smallest one, rounded up."""
        half = 0.5 * self.separation
        if self.separation < TINY:
            mu = math.sqrt(0.5 * math.pi) * self.separation
        elif half < 1.0:
            mu = 2.0 * math.sqrt(2.0) * float(scipy.special.erfinv(-math.expm1(-half)))
        else:
            mu = -2.0 * float(scipy.special.ndtri_exp(-half - math.log(2.0)))
        return up(mu, CONVERSION_ERROR)

    def pure_epsilon(self) -> float:
        """Return the separation."""
        return self.separation

    def _angle(self) -> RaoDP:
        if self.separation < 1e-100:  # its square underflows; the angle is at most the length
            return angle(self.separation)
        # the affinity is (1 + t/2) exp(-t/2); its log cancels for a small t
        half = 0.5 * self.separation
        if half > 0.1:
            minus_log = half - math.log1p(half)
        else:
            minus_log = half**2 * math.fsum((-half) ** j / (j + 2.0) for j in range(14))
        # the difference has lost a factor of 20
        return angle(angle_of_affinity(up(minus_log, 20.0 * ELEMENTARY)))
