"""The law of the distance between a footpoint and a draw around it."""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from riemdp._checks import count, positive, probabilities, real, real_array
from riemdp._errors import InvalidParameterError
from riemdp._potential import Kind, Potential, potential
from riemdp._radial_profile import Profile, no_normaliser
from riemdp.noise._quadrature import RadialTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray


@dataclass(frozen=True)
class RadialLaw:
    """Law of ``r = dist(footpoint, draw)`` under a Riemannian Laplace or Gaussian law.

    On a space of constant curvature its density is proportional to ``s(r)^(dim-1) exp(-U(r))`` on
    ``(0, upper)``, with ``U(r) = r/sigma`` (Laplace) or ``r^2/(2 sigma^2)`` (Gaussian), and
    ``s(r) = sin(kr)/k``, ``r`` or ``sinh(kr)/k``, ``k = sqrt|curvature|``. All values are exact
    up to rounding: closed forms where they exist, else Gauss-Legendre quadrature.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    dim : int
        Dimension of the space, at least 1.
    curvature : float
        Sectional curvature; without effect in dimension one except for the end of the support.
    sigma : float
        Scale, in units of distance.
    upper : float, default inf
        End of the support: the injectivity radius, or less. Never more than pi/k on positive
        curvature.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    NotAttainableError
        For the Laplace law on negative curvature, unbounded, unless
        ``sigma < 1 / ((dim - 1) k)``: no normaliser exists.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021
    (Laplace); Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023
    (Gaussian). Derivations in docs/proofs/exact-samplers.

    Examples
    --------
    >>> from riemdp.noise import RadialLaw
    >>> law = RadialLaw("laplace", 3, 0.0, 0.5)  # on flat space: a gamma law of shape 3
    >>> f"{law.mean():.4f}, {law.quantile(0.95):.4f}"
    '1.5000, 3.1479'
    """

    kind: Kind
    dim: int
    curvature: float
    sigma: float
    upper: float = math.inf

    def __post_init__(self) -> None:
        potential(self.kind)  # which has to be known
        object.__setattr__(self, "dim", count(self.dim, "dim"))
        object.__setattr__(self, "curvature", real(self.curvature, "curvature"))
        object.__setattr__(self, "sigma", check_sigma(self.sigma))
        if not math.isfinite(self.curvature):
            raise InvalidParameterError(f"curvature must be finite, got {self.curvature}")
        limit = math.pi / math.sqrt(self.curvature) if self.curvature > 0.0 else math.inf
        object.__setattr__(self, "upper", min(real(self.upper, "upper"), limit))
        if not self.upper > 0.0:
            raise InvalidParameterError(
                f"upper, the end of the radial law's support, must be positive, got {self.upper}"
            )
        is_open = self._potential.is_linear and self.curvature < 0.0 and self.upper == math.inf
        if is_open and (self.dim - 1) * (self.sigma / self._unit) >= 1.0:
            raise no_normaliser(self.dim, self.curvature, self.sigma)

    def log_pdf(self, r: ArrayLike) -> FloatArray:
        """Log density of the distance.

        Parameters
        ----------
        r : array_like, shape (...)
            Distances.

        Returns
        -------
        ndarray, shape (...)
            ``-inf`` outside ``(0, upper)``.
        """
        r = real_array(r, "r")
        inside = (r >= 0.0) & (r <= self.upper)
        scaled = np.minimum(np.where(inside, r, 0.5 * self._unit) / self._unit, self._profile.upper)
        height = self._profile.relative(scaled) - self._log_mass - math.log(self._unit)
        return np.asarray(np.where(inside, height, -np.inf))

    def cdf(self, r: ArrayLike) -> FloatArray:
        """Probability of a distance of at most ``r``, accurate in the lower tail.

        Parameters
        ----------
        r : array_like, shape (...)
            Distances.

        Returns
        -------
        ndarray, shape (...)
        """
        r = real_array(r, "r")
        if self._is_closed:
            clipped = np.maximum(r, 0.0)
            return np.asarray(scipy.special.gammainc(self._shape, self._gamma_variable(clipped)))
        return self._tabulated(self._table.cdf, r / self._unit)

    def sf(self, r: ArrayLike) -> FloatArray:
        """See :meth:`cdf`: probability of a distance above ``r``, accurate in the upper tail."""
        r = real_array(r, "r")
        if self._is_closed:
            clipped = np.maximum(r, 0.0)
            return np.asarray(scipy.special.gammaincc(self._shape, self._gamma_variable(clipped)))
        return self._tabulated(self._table.sf, r / self._unit)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """See :meth:`DistanceLaw.quantile`."""
        single: Any = q
        if type(single) is float:
            return np.asarray(_single_quantile(self, single))
        return self._quantile(probabilities(q, "q"))

    def _quantile(self, q: FloatArray) -> FloatArray:
        if self._is_closed:
            upper = scipy.special.gammainccinv(self._shape, 1.0 - q)
            lower = scipy.special.gammaincinv(self._shape, q)
            return self._from_gamma(np.where(q > 0.5, upper, lower))
        distance = self._unit * self._tabulated(self._table.quantile, q)
        return np.asarray(np.where(q == 1.0, self.upper, np.where(q == 0.0, 0.0, distance)))

    def mean(self) -> float:
        """Mean distance; ``dim * sigma`` for the Laplace law on flat space."""
        if not self._is_closed:
            return self._unit * self._table.moment(1)
        return self._potential.flat_mean(self.dim, self.sigma)

    def mean_square(self) -> float:
        """Mean squared distance; ``dim * sigma^2`` for the Gaussian law on flat space."""
        if not self._is_closed:
            return self._unit**2 * self._table.moment(2)
        return self.dim * self.sigma**2 * self._potential.spread(self.dim)

    def harmonic_square(self) -> float:
        """One over the mean of one over the squared distance, on all of R^dim.

        By the radial integral in two dimensions less: ``(dim - 2) sigma^2`` for the Gaussian law,
        ``(dim - 1)(dim - 2) sigma^2`` for the Laplace law.

        Raises
        ------
        InvalidParameterError
            If the space is not R^dim, or ``dim < 3``, where that mean is infinite.
        """
        if not self._is_closed or self.dim < 3:
            raise InvalidParameterError("the mean of one over the squared distance is not known")
        less = dataclasses.replace(self, dim=self.dim - 2)
        return math.exp(self._log_radial_integral - less._log_radial_integral)

    def log_normaliser(self) -> float:
        """Log of the integral of ``exp(-U(dist))`` over the space, in Riemannian volume."""
        return log_sphere_area(self.dim) + self._log_radial_integral

    @property
    def _is_closed(self) -> bool:
        """Whether the space is all of R^dim, where the law is a gamma or a chi law."""
        return self.upper == math.inf and (self.curvature == 0.0 or self.dim == 1)

    @property
    def _shape(self) -> float:
        """Shape of the gamma law of ``r/sigma`` (Laplace) or ``r^2/(2 sigma^2)`` (Gaussian)."""
        return self._potential.gamma_shape(self.dim)

    def _gamma_variable(self, r: FloatArray) -> FloatArray:
        return self._potential.energy(r / self.sigma)

    def _from_gamma(self, variable: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # beyond float64 it is infinite
            return np.asarray(self.sigma * self._potential.inverse(variable))

    @property
    def _potential(self) -> Potential:
        return potential(self.kind)

    @functools.cached_property
    def _unit(self) -> float:
        """Length unit of the profile: 1/k on curved spaces, sigma on flat ones."""
        if self.curvature == 0.0 or self.dim == 1:
            return self.sigma
        return 1.0 / math.sqrt(abs(self.curvature))

    @functools.cached_property
    def _profile(self) -> Profile:
        curved = self.curvature != 0.0 and self.dim > 1
        upper = self.upper / self._unit
        return Profile(
            kind=self.kind,
            power=self.dim - 1,
            sign=int(math.copysign(1.0, self.curvature)) if curved else 0,
            sigma=self.sigma / self._unit,
            upper=min(upper, math.pi) if curved and self.curvature > 0.0 else upper,
        )

    @functools.cached_property
    def _table(self) -> RadialTable:
        return RadialTable.of(self._profile)

    @functools.cached_property
    def _log_mass(self) -> float:
        """Log of the integral of ``exp(h - h(mode))`` in the profile's unit."""
        if not self._is_closed:
            return math.log(self._table.mass)
        return self._log_radial_integral - self._profile.log_peak - self.dim * math.log(self._unit)

    @functools.cached_property
    def _log_radial_integral(self) -> float:
        """Log of the integral of ``s(r)^(dim-1) exp(-U(r))`` over ``(0, upper)``."""
        if self._is_closed:
            log_gamma = float(scipy.special.gammaln(self._shape))
            constant = self._potential.log_radial_constant(self._shape)
            return log_gamma + constant + self.dim * math.log(self.sigma)
        return self._log_mass + self._profile.log_peak + self.dim * math.log(self._unit)

    @staticmethod
    def _tabulated(function: Callable[[FloatArray], FloatArray], values: FloatArray) -> FloatArray:
        return function(values.reshape(-1)).reshape(values.shape)


@functools.lru_cache(maxsize=256)
def _single_quantile(law: RadialLaw, q: float) -> float:
    """Keep it: plans and releases ask for the same few."""
    return float(law._quantile(probabilities(q, "q")))


def log_sphere_area(dim: int) -> float:
    """Log area of the unit sphere in R^dim (2 points for ``dim`` 1)."""
    half = 0.5 * dim
    return math.log(2.0) + half * math.log(math.pi) - float(scipy.special.gammaln(half))


def check_sigma(sigma: float) -> float:
    """Return a positive finite scale or raise ``InvalidParameterError``."""
    return positive(sigma, "sigma, the noise scale,")
