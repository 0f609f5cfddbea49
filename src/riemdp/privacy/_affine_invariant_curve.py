"""What is proved about the affine-invariant Gaussian on symmetric positive definite matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from riemdp._checks import OTHER_SCALE, count, scale
from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp.privacy._closed_curves import GaussianCurve
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._gdp import GDP
from riemdp.privacy._rounding import half_square_up, quotient_up, up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import Budget, FloatArray

#: Relative step towards more privacy in calibration: ``mu`` as computed is rounded up.
_NUDGE = 1e-13
_WAY_OUT = (
    "use more records or a smaller ball, allow a larger budget, or take RiemannianLaplace "
    '("riemannian-laplace") or a tangent mechanism ("tangent-gaussian", "tangent-laplace")'
)


@dataclass(frozen=True)
class AffineInvariantGaussianCurve(PrivacyCurve):
    """Gaussian law ``exp(-dist^2/(2 sigma^2))`` on SPD(k) with the affine-invariant metric.

    It is ``mu``-GDP for all pairs of footpoints at most ``sensitivity`` apart, with
    ``mu = sensitivity / (sigma sqrt(1 - k sigma^2 / 12))``, and everything else is concluded from
    that. The bound is proved and exact to first order in ``k sigma^2``. It holds for ``k = 2`` too,
    where ``IsotropicCurve("gaussian", 2, -0.5, sigma, sensitivity)`` is the exact curve.

    Parameters
    ----------
    k : int
        Size of the matrices, at least 2.
    sigma : float
        Scale, in units of distance, below ``sqrt(12/k)``. Above ``sqrt(6/k)`` a larger one gives a
        larger ``mu``.
    sensitivity : float
        Largest distance of two footpoints.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    NotAttainableError
        If nothing is proved at this ``sigma``.

    References
    ----------
    docs/proofs/affine-invariant-gaussian.md, claim 2

    Examples
    --------
    >>> from riemdp.privacy import AffineInvariantGaussianCurve
    >>> curve = AffineInvariantGaussianCurve(3, sigma=0.2, sensitivity=0.1)
    >>> f"{curve.mu():.4f}"  # 0.1 / (0.2 sqrt(0.99))
    '0.5025'
    """

    k: int
    sigma: float
    sensitivity: float

    def __post_init__(self) -> None:
        if count(self.k, "k") < 2:
            raise InvalidParameterError(
                f"k must be at least 2, got {self.k}; matrices of size 1 are a line, which has "
                "GaussianCurve(sensitivity / sigma)"
            )
        object.__setattr__(self, "k", int(self.k))
        object.__setattr__(self, "sigma", scale(self.sigma, "sigma", OTHER_SCALE))
        object.__setattr__(self, "sensitivity", scale(self.sensitivity, "sensitivity"))
        if affine_invariant_slope(self.k, self.sigma) == math.inf:
            raise NotAttainableError(
                f"no privacy is proved for the affine-invariant Gaussian with sigma = "
                f"{self.sigma:g} on matrices of size {self.k}: sigma has to be below sqrt(12/k) = "
                f"{math.sqrt(12.0 / self.k):.6g}, and sqrt(6/k) = {math.sqrt(6.0 / self.k):.6g} "
                f"has the smallest proved mu; {_WAY_OUT}"
            )

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``delta`` of two unit Gaussians :meth:`mu` apart, rounded up."""
        return self._dominating.delta_at(epsilon)

    def epsilon_at(self, delta: float) -> float:
        """``epsilon`` of two unit Gaussians :meth:`mu` apart, rounded up; ``inf`` at 0."""
        return self._dominating.epsilon_at(delta)

    def mu(self) -> float:
        """``sensitivity / (sigma sqrt(1 - k sigma^2 / 12))``, rounded up."""
        return self._dominating.separation

    def mu_bracket(self) -> tuple[float, float]:
        """``sensitivity / sigma``, which multiples of one matrix have, and :meth:`mu`."""
        return math.nextafter(self.sensitivity / self.sigma, 0.0), self.mu()

    def pure_epsilon(self) -> float:
        """Infinite: the privacy loss is unbounded."""
        return math.inf

    def zcdp_rho(self) -> float:
        """``mu**2 / 2``, rounded up."""
        return half_square_up(self.mu())

    def _guarantees(self) -> tuple[Budget, ...]:
        return (GDP(self.mu()),)

    @property
    def _dominating(self) -> GaussianCurve:
        slope = affine_invariant_slope(self.k, self.sigma)
        return GaussianCurve(up(slope * self.sensitivity))


def affine_invariant_slope(k: int, sigma: float) -> float:
    """``c`` such that the Gaussian on SPD(k) is ``c sensitivity``-GDP, rounded up.

    Parameters
    ----------
    k : int
        At least 2.
    sigma : float

    Returns
    -------
    float
        ``1 / (sigma sqrt(1 - k sigma^2 / 12))``, and ``inf`` from ``sigma = sqrt(12/k)`` on.

    References
    ----------
    docs/proofs/affine-invariant-gaussian.md, claim 2
    """
    rest = 1 - k * Fraction(sigma) ** 2 / 12  # exact: it cancels near the limit
    return up(1.0 / (sigma * math.sqrt(rest))) if rest > 0 else math.inf


def affine_invariant_sigma(k: int, sensitivity: float, mu: float) -> float:
    """Smallest ``sigma`` at which :class:`AffineInvariantGaussianCurve` is ``mu``-GDP, rounded up.

    Parameters
    ----------
    k : int
        Size of the matrices, at least 2.
    sensitivity, mu : float
        Positive and finite; the sensitivity between 1e-75 and 1e75.

    Returns
    -------
    float
        At most ``sqrt(6/k)``, to rounding: wider noise has a larger proved ``mu``.

    Raises
    ------
    NotAttainableError
        If no ``sigma`` is proved to have this ``mu``. The message names the least ``mu``,
        ``sensitivity sqrt(k/3)``.
    """
    sensitivity = scale(sensitivity, "sensitivity")
    # sigma^2 (1 - k sigma^2 / 12) = ratio^2
    ratio = quotient_up(sensitivity, mu * (1.0 - _NUDGE))
    rest = 1.0 - k * ratio * ratio / 3.0
    if rest > 0.0:
        sigma = ratio * math.sqrt(2.0 / (1.0 + math.sqrt(rest)))
        if AffineInvariantGaussianCurve(k, sigma, sensitivity).mu() <= mu:
            return sigma
    raise NotAttainableError(
        f"no sigma of the Riemannian Gaussian on affine-invariant matrices of size {k} is proved "
        f"to give mu = {mu:.6g} at sensitivity {sensitivity:.6g}: however wide the noise, the "
        f"proved mu is at least sensitivity sqrt(k/3) = {sensitivity * math.sqrt(k / 3.0):.6g}; "
        f"{_WAY_OUT}"
    )
