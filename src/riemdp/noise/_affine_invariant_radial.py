"""The law of the distance between a footpoint and a draw on affine-invariant SPD matrices."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from riemdp._checks import count, probabilities, real_array
from riemdp._errors import InvalidParameterError, NotAttainableError, UnsupportedError
from riemdp._potential import Kind, Potential, potential
from riemdp.noise._radial import check_sigma, log_sphere_area
from riemdp.noise._volume_series import (
    growth_rate,
    log_coefficients,
    log_mean_volume,
    volume_weights,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Below this squares of distances underflow.
_SMALLEST_SIGMA = 1e-100
#: Past this the log-eigenvalues of draws differ by millions.
_LARGEST_SIGMA = 1e3
#: Scale variables whose density is this many logarithms below the largest are left out.
_DEPTH = 42.0
#: Steps of a trapezoidal rule: in standard deviations, and at most; exp(-e^v) is bounded only in a
#: strip of half-width pi/2, which at this step leaves an error of 1e-17.
_FINENESS = 0.6
_LARGEST_STEP = 0.25
#: Largest matrices for which the law of the distance is tabulated under Laplace noise.
LARGEST_TABULATED = 64


class _Volume(NamedTuple):
    """Log mean of J under the flat Laplace law; ends of ``t / (2 sigma^2)`` and its moments."""

    log_mean: float
    low: float
    high: float
    mean: float
    mean_square: float


@dataclass(frozen=True)
class AffineInvariantRadial:
    r"""Law of ``r = dist(footpoint, draw)`` under the Laplace or Gaussian law on SPD(k).

    The mean over directions of the volume density is a power series of ``r^2`` without negative
    terms, so the law is a mixture over n: ``r^2 / sigma^2`` is chi-square with ``dim + 2n``
    degrees of freedom (Gaussian), ``r / sigma`` a gamma variable of shape ``dim + 2n``
    (Laplace). The weights are computed to about 1e-14 of their sum.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    k : int
        Matrix size.
    sigma : float
        Scale, in units of distance.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    NotAttainableError
        For the Laplace law unless ``sigma < sqrt(12 / (k (k^2 - 1)))``: no normaliser exists.
        For the Gaussian law on k >= 2 with ``sigma`` above 1000.
    UnsupportedError
        For the Laplace law beyond k = 64, where anything but moments and the normaliser is asked
        for.

    References
    ----------
    Derivations in docs/proofs/affine-invariant-sampler.

    Examples
    --------
    >>> from riemdp.noise import AffineInvariantRadial
    >>> radial = AffineInvariantRadial("laplace", 3, 0.2)
    >>> radial.dim, f"{radial.mean():.4f}"
    (6, '1.2758')
    """

    kind: Kind
    k: int
    sigma: float

    def __post_init__(self) -> None:
        potential(self.kind)  # which has to be known
        object.__setattr__(self, "k", count(self.k, "k"))
        object.__setattr__(self, "sigma", check_distance_scale(self.sigma))
        growth = growth_rate(self.k)
        if self.k > 1 and not self._potential.is_linear and self.sigma > _LARGEST_SIGMA:
            raise NotAttainableError(
                f"the Gaussian law with sigma = {self.sigma:g} on SPD({self.k}) is out of reach of "
                f"float64: sigma may be at most {_LARGEST_SIGMA:g}; use a smaller sigma (more "
                "data, a smaller ball, a larger budget)"
            )
        if self._potential.is_linear and self.sigma * growth >= 1.0:
            raise NotAttainableError(
                f"the Laplace law with sigma = {self.sigma:g} has no normaliser on SPD({self.k}) "
                "with the affine-invariant metric: sigma has to be below "
                f"sqrt(12 / (k (k^2 - 1))) = {1.0 / growth:.6g}; use a smaller sigma (more data, "
                "a smaller ball, a larger epsilon)"
            )

    @property
    def dim(self) -> int:
        """Dimension ``k (k + 1) / 2`` of the space."""
        return self.k * (self.k + 1) // 2

    def log_pdf(self, r: ArrayLike) -> FloatArray:
        """See :meth:`RadialLaw.log_pdf`; ``-inf`` at negative r."""
        r = real_array(r, "r")
        shape, weights = self._mixture
        x = np.maximum(self._gamma_variable(np.maximum(r, 0.0)), 1e-300)[..., None]
        terms = np.log(np.maximum(weights, 1e-300)) - scipy.special.gammaln(shape)
        log_density = scipy.special.logsumexp(terms + shape * np.log(x) - x, axis=-1)
        # of log r, and so divided by r
        slope = float(self._potential.degree)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = log_density + math.log(slope) - np.log(r)
        return np.asarray(np.where(r > 0.0, value, -np.inf))

    def cdf(self, r: ArrayLike) -> FloatArray:
        """See :meth:`RadialLaw.cdf`."""
        x = self._gamma_variable(np.maximum(real_array(r, "r"), 0.0))
        return self._mixed(scipy.special.gammainc, x)

    def sf(self, r: ArrayLike) -> FloatArray:
        """See :meth:`RadialLaw.sf`."""
        x = self._gamma_variable(np.maximum(real_array(r, "r"), 0.0))
        return self._mixed(scipy.special.gammaincc, x)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """See :meth:`DistanceLaw.quantile`."""
        q = probabilities(q, "q")
        shape = self._mixture[0]
        low = scipy.special.gammaincinv(shape[0], q)
        high = scipy.special.gammainccinv(shape[-1], 1.0 - q)
        high = np.where(q == 1.0, math.inf, np.maximum(high, low))
        for _ in range(60):
            middle = np.where(np.isfinite(high), 0.5 * (low + high), low)
            inner = self._mixed(scipy.special.gammainc, middle) < q
            outer = self._mixed(scipy.special.gammaincc, middle) > 1.0 - q
            below = np.where(q < 0.5, inner, outer)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        distance = self.sigma * self._potential.inverse(0.5 * (low + high))
        return np.asarray(np.where(q == 1.0, math.inf, np.where(q == 0.0, 0.0, distance)))

    def mean(self) -> float:
        """Mean distance."""
        if self._potential.is_linear:
            return self.sigma * (2.0 * self._laplace_volume.mean - 1.0)
        shape, weights = self._mixture
        half = np.exp(scipy.special.gammaln(shape + 0.5) - scipy.special.gammaln(shape))
        return self.sigma * math.sqrt(2.0) * float(weights @ half)

    def mean_square(self) -> float:
        """Mean squared distance."""
        if self._potential.is_linear:
            volume = self._laplace_volume
            return self.sigma**2 * (4.0 * volume.mean_square - 6.0 * volume.mean)
        shape, weights = self._mixture
        return self.sigma**2 * float(weights @ (2.0 * shape))

    @functools.cached_property
    def _log_normaliser(self) -> float:
        if not self._potential.is_linear:
            flat = 0.5 * self.dim * math.log(2.0 * math.pi * self.sigma**2)
            return flat + log_mean_volume(self.k, self.sigma**2)
        return (
            log_sphere_area(self.dim)
            + self.dim * math.log(self.sigma)
            + float(scipy.special.gammaln(self.dim))
            + self._laplace_volume.log_mean
        )

    def log_normaliser(self) -> float:
        """Log of the integral of ``exp(-U(dist))`` over the space, in Riemannian volume."""
        return self._log_normaliser

    @functools.cached_property
    def _mixture(self) -> tuple[FloatArray, FloatArray]:
        """Shapes of gamma laws, of ``r/sigma`` or ``r^2/(2 sigma^2)``, and their weights."""
        if not self._potential.is_linear:
            first, weights = volume_weights(self.k, self.sigma**2)
            return 0.5 * self.dim + np.arange(first, first + weights.size, dtype=float), weights
        if self.k > LARGEST_TABULATED:
            raise UnsupportedError(
                f"distances under Laplace noise on SPD({self.k}) are tabulated up to k = "
                f"{LARGEST_TABULATED}, beyond which that takes minutes; their mean is known"
            )
        volume, unit = self._laplace_volume, 2.0 * self.sigma**2
        first, values = log_coefficients(self.k, unit * volume.low, unit * volume.high)
        n = first + np.arange(values.size, dtype=float)
        # f_n t^n has the mean f_n unit^n Gamma(shape + n) / Gamma(shape) under the flat law
        values += n * math.log(unit) + scipy.special.gammaln(0.5 * (self.dim + 1) + n)
        weights = np.exp(values - values.max())
        return self.dim + 2.0 * n, weights / weights.sum()

    @functools.cached_property
    def _laplace_volume(self) -> _Volume:
        """Mean of J under the flat Laplace law, and the variance t it is a mixture over.

        ``exp(-r/sigma)`` is a mixture of ``exp(-r^2/(2t))``; under the flat law ``t / (2
        sigma^2)`` is a gamma variable of shape ``(dim + 1)/2``, on SPD(k) its density is
        multiplied by ``F(t)``. Trapezoidal rule in log t, which such an integrand suits.
        """
        shape = 0.5 * (self.dim + 1)
        step = min(_FINENESS / math.sqrt(shape), _LARGEST_STEP)
        middle = math.log(shape)
        at, values = [middle], [self._log_variance_density(middle)]
        for sign in (1, -1):
            steps = 0
            while steps < 3 or values[-1] >= max(values) - _DEPTH:
                steps += 1
                at.append(middle + sign * steps * step)
                values.append(self._log_variance_density(at[-1]))
        total = float(scipy.special.logsumexp(values))
        masses, variances = np.exp(np.array(values) - total), np.exp(at)
        return _Volume(
            log_mean=total + math.log(step) - float(scipy.special.gammaln(shape)),
            low=float(variances.min()),
            high=float(variances.max()),
            mean=float(masses @ variances),
            mean_square=float(masses @ np.square(variances)),
        )

    def _log_variance_density(self, v: float) -> float:
        """Log density, without its constant, of ``v = log(t / (2 sigma^2))``."""
        volume = log_mean_volume(self.k, 2.0 * self.sigma**2 * math.exp(v))
        return 0.5 * (self.dim + 1) * v - math.exp(v) + volume

    def _mixed(self, function: np.ufunc, x: FloatArray) -> FloatArray:
        shape, weights = self._mixture
        kept = weights > 1e-18
        rows = [function(shape[kept], value) @ weights[kept] for value in x.reshape(-1)]
        return np.asarray(rows, dtype=np.float64).reshape(x.shape)

    def _gamma_variable(self, r: FloatArray) -> FloatArray:
        return self._potential.energy(r / self.sigma)

    @property
    def _potential(self) -> Potential:
        return potential(self.kind)


def check_distance_scale(sigma: float) -> float:
    """Return a scale that is positive and finite, and whose square does not underflow."""
    sigma = check_sigma(sigma)
    if sigma < _SMALLEST_SIGMA:
        raise InvalidParameterError(
            f"sigma, the noise scale, must be at least {_SMALLEST_SIGMA:g}, got {sigma:g}"
        )
    return sigma
