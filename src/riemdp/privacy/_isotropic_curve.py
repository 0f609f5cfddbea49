"""Privacy curves of isotropic laws on space forms, and bounds of their scores."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy

from riemdp._checks import OTHER_SCALE, count, real, scale
from riemdp._errors import ConvergenceError, InvalidParameterError
from riemdp._potential import Potential, potential
from riemdp._radial_profile import no_normaliser, volume_growth
from riemdp.privacy._budget import check_delta, check_epsilon
from riemdp.privacy._closed_curves import GaussianCurve, LaplaceCurve, PureCurve
from riemdp.privacy._isotropic_mu import (
    BracketedCurve,
    LossInterpolation,
    LossPoints,
    bracket,
    hyperbolic_tail,
)
from riemdp.privacy._isotropic_quadrature import PLAIN_DIM, PROBABILITY_ERROR, LossIntegrals
from riemdp.privacy._rounding import delta_up, first_within, quotient_up, up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


# A bound of ``mu`` that is linear in the sensitivity: ``mu <= c * sensitivity``.
#
# Moving the footpoint at unit speed changes the probability of an event at a rate of at most ``c
# phi(Phi^{-1}(probability))``, ``c`` a supremum over thresholds of the score. The proof, also of
# where the supremum lies, is docs/proofs/isotropic-curve.md.

#: Relative error allowed for in ``c``: quadrature and rounding.
_ERROR = 2e-11
#: On the hyperbolic plane the supremum is proved to be at the median up to this ``k sigma``.
_PLANE_LIMIT = 1.8
#: From this ``k sigma`` on the two parts of the score are bounded separately.
_PLANE_FAR = 20.0
_CELLS = 512


def score_bound(  # noqa: PLR0917 -- the fields of IsotropicCurve in their order
    kind: Literal["laplace", "gaussian"],
    dim: int,
    curvature: float,
    sigma: float,
    sensitivity: float,
    upper: float = math.inf,
) -> float:
    """Bound ``mu`` for all footpoints at most ``sensitivity`` apart by a multiple of it.

    Parameters
    ----------
    kind, dim, curvature, sigma, sensitivity, upper
        As in :class:`IsotropicCurve`, whose ``mu`` is smaller, the less so the smaller the
        sensitivity. ``sensitivity/sigma`` for the Gaussian on Euclidean space.

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` or ``sensitivity`` is not between 1e-75 and 1e75.
    ConvergenceError
        If the mean distance of the Gaussian law is not known to double precision.

    References
    ----------
    docs/proofs/isotropic-curve.md, claim 7.

    Examples
    --------
    >>> from riemdp.privacy import score_bound
    >>> round(score_bound("gaussian", 3, 0.0, 2.0, 1.0), 6)  # on flat space 1 / 2
    0.5
    """
    sigma, sensitivity = scale(sigma, "sigma", OTHER_SCALE), scale(sensitivity, "sensitivity")
    flat = dim == 1 or curvature == 0.0
    ratio = sensitivity / sigma
    linear = potential(kind).is_linear
    if not linear and flat and upper == math.inf:
        return quotient_up(sensitivity, sigma)
    half = 0.5 * dim
    log_kappa = math.lgamma(half) - math.lgamma(half + 0.5)
    kappa = math.exp(log_kappa) / math.sqrt(2.0) * (1.0 + 1e-14 * dim)
    if linear:
        return kappa * ratio * (1.0 + _ERROR)
    if flat:
        return _scaled_score(1, 0, 1.0, upper / sigma, kappa) * ratio
    unit = math.sqrt(abs(curvature))
    sign = 1 if curvature > 0.0 else -1
    return _scaled_score(dim, sign, sigma * unit, math.pi if sign > 0 else math.inf, kappa) * ratio


@functools.lru_cache(maxsize=256)
def _scaled_score(dim: int, sign: int, sigma: float, upper: float, kappa: float) -> float:
    """``c * sigma`` of the Gaussian law in units of the curvature radius."""
    law = LossIntegrals("gaussian", dim, sign, sigma, 1.0, upper)
    at_median = kappa * math.exp(law.log_mean - math.log(sigma)) * (1.0 + _ERROR)
    if dim == 2 and sign < 0 and sigma > _PLANE_LIMIT:
        return max(at_median, _plane_score(sigma))
    return at_median


def _plane_score(sigma: float) -> float:
    """``c * sigma`` on the hyperbolic plane, bounded above cell by cell.

    The score times ``sigma`` is ``Z + sigma B``, ``B`` on (-1, 1) with density proportional to
    ``i0e(sigma^2 (1 - B^2)/4)``. Between thresholds ``x < x'`` the ratio is at most the
    expectation above ``x`` over ``phi(Phi^{-1}(P(above x')))``; beyond the last one it is at most
    ``1 + sigma/Phi^{-1}(P)``.
    """
    nodes, weights = np.polynomial.legendre.leggauss(16)
    panels = 4 + int(0.5 * min(sigma, _PLANE_FAR))
    angle = (0.5 * math.pi / panels) * (nodes + 2.0 * np.arange(panels)[:, None] + 1.0).ravel()
    b, slope = -np.cos(angle), np.sin(angle)
    share = np.tile(weights, panels) * slope * scipy.special.i0e(0.25 * sigma**2 * slope**2)
    share /= share.sum()
    if sigma > _PLANE_FAR:
        spread = math.sqrt(0.5 * math.pi) * float(np.abs(b) @ share)
        return (1.0 + sigma * spread) * (1.0 + 1e-3)
    depth = np.linspace(0.0, sigma + 6.0, _CELLS + 1)[:, None]
    gap = depth - sigma * b
    tail = scipy.special.ndtr(-gap)
    density = np.exp(-0.5 * gap * gap) / math.sqrt(2.0 * math.pi)
    above = (density + sigma * b * tail) @ share
    normal = -scipy.special.ndtri(tail @ share)
    cells = above[:-1] * np.exp(0.5 * normal[1:] ** 2) * math.sqrt(2.0 * math.pi)
    beyond = 1.0 + sigma / float(normal[-1])
    return max(float(cells.max()), beyond) * (1.0 + 1e-9)


# Exact privacy curves of the Laplace and Gaussian laws on spaces of constant curvature.

#: Distance into the tail, in standard deviations, from which on ``delta`` underflows.
_DEEPEST = 60.0
#: Share of a Gaussian's largest loss next to it in which no integral is computed, for each
#: dimension, and of both laws' in high dimension: probabilities there are high powers of the
#: distance to it.
_APART, _APART_BEYOND = 1e-4, 0.02
#: Single values of ``delta`` that a curve keeps.
_MOST_KNOWN = 16
#: Largest sensitivity over sigma, and largest scale in curvature radii and its inverse, at which
#: the rounding of the ends of the integrals stays under their allowance.
_MOST_DEVIATIONS, _RANGE = 3e3, 1e100


@dataclass(frozen=True)
class IsotropicCurve(BracketedCurve):
    """Exact curve of two Laplace or Gaussian laws on a space of constant curvature.

    The densities are proportional to ``exp(-dist/sigma)`` or ``exp(-dist^2/(2 sigma^2))``. Every
    ``delta`` is a one-dimensional integral, computed by two rules that have to agree, and rounded
    up by 1e-11 times the probabilities it is the difference of. It belongs to two footpoints at
    exactly the distance ``sensitivity``; closer ones are no worse (proved in the note below), so
    it is a guarantee for all of them.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    dim : int
    curvature : float
        Sectional curvature; 0 on flat spaces and the circle.
    sigma : float
        Scale, in units of distance.
    sensitivity : float
        Largest distance of the two footpoints; on spheres below ``upper``.
    upper : float, default inf
        Largest distance from a footpoint. Only the circle needs it, half its length; on spheres it
        is pi/k anyway.

    Raises
    ------
    InvalidParameterError
        If a parameter lies outside its domain.
    NotAttainableError
        For the Laplace law on negative curvature unless ``sigma < 1/((dim - 1) k)``.

    Notes
    -----
    Where double precision does not suffice the methods raise ``ConvergenceError`` for the Gaussian
    law; for the Laplace law they return what its pure ``epsilon`` and :func:`score_bound` imply.
    The integrals are checked up to dimension 1000.

    References
    ----------
    docs/proofs/isotropic-curve.md. The mechanism: Jiang et al., "Gaussian Differential Privacy on
    Riemannian Manifolds", NeurIPS 2023, who estimate ``mu`` by Monte Carlo.

    Examples
    --------
    >>> from riemdp.privacy import IsotropicCurve
    >>> curve = IsotropicCurve("gaussian", 2, 1.0, 0.2, 0.1)  # on the unit sphere
    >>> f"{curve.mu():.4f}, {curve.delta_at(1.0):.2e}"
    '0.4967, 6.54e-03'
    """

    kind: Literal["laplace", "gaussian"]
    dim: int
    curvature: float
    sigma: float
    sensitivity: float
    upper: float = math.inf

    def __post_init__(self) -> None:
        potential(self.kind)
        object.__setattr__(self, "dim", count(self.dim, "dim"))
        object.__setattr__(self, "sigma", scale(self.sigma, "sigma", OTHER_SCALE))
        object.__setattr__(self, "sensitivity", scale(self.sensitivity, "sensitivity"))
        curvature, upper = real(self.curvature, "curvature"), real(self.upper, "upper")
        if not math.isfinite(curvature):
            raise InvalidParameterError(f"curvature must be finite, got {curvature}")
        if curvature > 0.0:
            upper = min(upper, math.pi / math.sqrt(curvature))
        if not upper > 0.0:
            raise InvalidParameterError(f"upper must be positive, got {upper}")
        if self.dim == 1:
            curvature = 0.0
        elif upper < (math.pi / math.sqrt(curvature) if curvature > 0.0 else math.inf):
            raise InvalidParameterError(
                f"upper must be the injectivity radius of the whole sphere or space, got {upper}; "
                "quotient spaces have no privacy curve here"
            )
        object.__setattr__(self, "curvature", curvature)
        object.__setattr__(self, "upper", upper)
        if not self.sensitivity < upper:
            raise InvalidParameterError(
                f"sensitivity must be below {upper:.6g}, the largest distance on the space, got "
                f"{self.sensitivity:g}; use a smaller ball or more records"
            )
        if self._potential.is_linear and self.sigma * self._growth >= 1.0:
            raise no_normaliser(self.dim, curvature, self.sigma)

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``P_1(L >= epsilon) - exp(epsilon) P_2(L >= epsilon)``, rounded up.

        Zero from :meth:`pure_epsilon` on. The allowance is 1e-11 times the two terms, which a
        ``delta`` far under ``P_1(L >= epsilon)`` shows (``sigma`` far above ``sensitivity``).
        """
        epsilon = check_epsilon(epsilon)
        if self._closed is not None:
            return self._closed.delta_at(epsilon)
        try:
            if epsilon.size == 1:
                return np.full(epsilon.shape, self._single_delta(float(epsilon.item())))
            return self._delta(epsilon.reshape(-1)).reshape(epsilon.shape)
        except ConvergenceError:
            if not self._potential.is_linear:
                raise
            coarser = [curve.delta_at(epsilon) for curve in self._coarser]
            return np.asarray(np.minimum(*coarser))

    def _single_delta(self, epsilon: float) -> float:
        """Kept, since calibrations and accounts ask for the same one again."""
        delta = self._known.get(epsilon)
        if delta is None:
            delta = float(self._delta(np.array([epsilon]))[0])
            if len(self._known) < _MOST_KNOWN:
                self._known[epsilon] = delta
        return delta

    @functools.cached_property
    def _known(self) -> dict[float, float]:
        return {}

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        inside = epsilon < self.pure_epsilon()
        delta = np.zeros_like(epsilon)
        points = self._points(np.minimum(epsilon[inside], self._last))
        delta[inside] = delta_up(np.exp(points.log_delta()))
        return delta

    def epsilon_at(self, delta: float) -> float:
        """Smallest ``epsilon`` with ``delta_at(epsilon) <= delta``, by root finding, rounded up.

        Only ``delta = 0`` on unbounded spaces gives ``inf``. Includes the allowance of
        :meth:`delta_at`: a ``delta`` under 1e-11 may need a small ``P_1(L >= epsilon)``.
        """
        delta = check_delta(delta)
        if self._closed is not None:
            return self._closed.epsilon_at(delta)
        if delta == 0.0:
            return self.pure_epsilon()
        try:
            return self._epsilon(delta)
        except ConvergenceError:
            if not self._potential.is_linear:
                raise
            return min(curve.epsilon_at(delta) for curve in self._coarser)

    def _epsilon(self, delta: float) -> float:
        """Newton's method on the log of ``delta``, kept inside a bracket."""
        target, limit = math.log(delta), self._last
        if limit < self._deepest and self._delta(np.array([limit]))[0] > delta:
            return self.pure_epsilon()

        def excess(epsilon: float) -> tuple[float, float]:
            points = self._points(np.array([epsilon]))
            value = float(points.log_delta()[0])
            slope = -math.exp(min(epsilon + float(points.log_second[0]) - value, 50.0))
            return value - target, slope

        low, high = 0.0, min(0.25 * self._reach(1.0), limit)
        epsilon = low
        value, slope = excess(low)
        if value <= 0.0:
            return 0.0 if self._delta(np.zeros(1))[0] <= delta else self._above(0.0, delta)
        while high < limit and excess(high)[0] > 0.0:
            low, high = high, min(2.0 * high, limit)
        if low > 0.0:
            epsilon, (value, slope) = low, excess(low)
        for _ in range(100):
            step = -value / slope if slope < 0.0 else math.inf
            gap = self.pure_epsilon() - epsilon
            if 0.0 < gap < math.inf:  # near the largest loss delta is a power of the gap to it
                step = -gap * math.expm1(min(max(-step / gap, -700.0), 50.0))
            step = step if low < epsilon + step < high else 0.5 * (low + high) - epsilon
            epsilon += step
            if abs(step) <= 1e-13 * epsilon or high - low <= 1e-13 * high:
                break
            value, slope = excess(epsilon)
            low, high = (epsilon, high) if value > 0.0 else (low, epsilon)
        return self._above(epsilon, delta)

    def _above(self, epsilon: float, delta: float) -> float:
        """First of a few slightly larger numbers at which ``delta_at`` is seen to suffice."""
        step = 1e-13 * max(epsilon, 1e-3 * self._reach(0.0))
        return first_within(
            lambda e: self._delta(np.array([e]))[0], delta, epsilon, step, self._last
        )

    def mu_bracket(self) -> tuple[float, float]:
        """Two numbers around the smallest ``mu``, mostly within 1e-5; the second one is proved.

        The first one is what the curve shows at the points that were tried. The second one holds
        for every ``epsilon``: chords between these points, and a tail bound where the privacy loss
        is unbounded.
        """
        return self._mu_bracket

    def pure_epsilon(self) -> float:
        """Largest privacy loss, rounded up; ``inf`` for the Gaussian on unbounded spaces."""
        if self._potential.is_linear:
            return quotient_up(self.sensitivity, self.sigma)
        if self.upper == math.inf:
            return math.inf
        ratio = self.sensitivity / self.sigma
        return up(0.5 * ratio * ((2.0 * self.upper - self.sensitivity) / self.sigma))

    def zcdp_rho(self) -> float:
        """``mu**2 / 2``, or what follows from the pure ``epsilon`` if that is less."""
        return super().zcdp_rho() if self._closed is None else self._closed.zcdp_rho()

    def _simplest(self) -> PrivacyCurve:
        return self if self._closed is None else self._closed

    @property
    def _coarser(self) -> list[PrivacyCurve]:
        """What is proved of the Laplace law without an integral."""
        return [PureCurve(self.pure_epsilon()), GaussianCurve(self._score_bound)]

    @functools.cached_property
    def _score_bound(self) -> float:
        space = self.kind, self.dim, self.curvature
        return score_bound(*space, self.sigma, self.sensitivity, self.upper)

    @functools.cached_property
    def _closed(self) -> PrivacyCurve | None:
        """The curve in closed form, on Euclidean space and the line."""
        if self.curvature != 0.0 or self.upper < math.inf:
            return None
        separation = quotient_up(self.sensitivity, self.sigma)
        if not self._potential.is_linear:
            return GaussianCurve(separation)
        return LaplaceCurve(separation) if self.dim == 1 else None

    @property
    def _potential(self) -> Potential:
        return potential(self.kind)

    @functools.cached_property
    def _integrals(self) -> LossIntegrals:
        if not self._potential.is_linear and self.sensitivity / self.sigma > _MOST_DEVIATIONS:
            raise ConvergenceError(
                f"the privacy curve is not known in double precision for a sensitivity of more "
                f"than {_MOST_DEVIATIONS:g} sigma, got {self.sensitivity:g} and sigma = "
                f"{self.sigma:g}; use a larger sigma"
            )
        unit = math.sqrt(abs(self.curvature)) if self.curvature != 0.0 else 1.0 / self.sigma
        sign = int(math.copysign(1.0, self.curvature)) if self.curvature != 0.0 else 0
        upper = math.pi if sign > 0 else self.upper * unit
        scale, distance = self.sigma * unit, self.sensitivity * unit
        if not all(1.0 / _RANGE < x < _RANGE for x in (scale, distance)):
            raise ConvergenceError(
                f"the privacy curve is not known in double precision for sigma = {self.sigma:g} "
                f"and sensitivity = {self.sensitivity:g} at curvature {self.curvature:g}; use a "
                "sigma nearer to the other two"
            )
        return LossIntegrals(self.kind, self.dim, sign, scale, distance, upper)

    def _reach(self, deviations: float) -> float:
        """``epsilon`` that many standard deviations into the tail."""
        ratio = self.sensitivity / self.sigma
        return ratio * (0.5 * ratio + self._growth * self.sigma + deviations)

    @property
    def _growth(self) -> float:
        return volume_growth(self.dim, self.curvature)

    @property
    def _median(self) -> float:
        """Guess of the median loss: half the Fisher information times the squared distance."""
        rate = 1.0 / self.sigma**2 + self._growth**2 / self.dim
        return 0.5 * self.sensitivity**2 * rate

    @property
    def _deepest(self) -> float:
        """An ``epsilon`` from which on ``delta`` is zero or underflows."""
        return min(self.pure_epsilon(), self._reach(_DEEPEST))

    @property
    def _last(self) -> float:
        """Largest ``epsilon`` with integrals; beyond, ``delta`` here bounds the smaller ones.

        Next to the largest loss the ends of the integrals are differences that have lost digits.
        """
        apart = 0.0 if self._potential.is_linear else _APART * self.dim
        if self.dim > PLAIN_DIM:
            apart = _APART_BEYOND
        return min((1.0 - apart) * self.pure_epsilon(), self._deepest)

    def _points(self, epsilon: FloatArray) -> LossPoints:
        # each point gets the smaller one of P_1(L >= epsilon) and P_1(L < epsilon), guessed here
        law = self._integrals
        low = epsilon < self._median
        both = law.log_complement(np.concatenate([epsilon[low], -epsilon]))
        below, second = np.split(both, [np.count_nonzero(low)])  # P_2(L >= e) = P_1(L < -e)
        first, complement = np.empty_like(epsilon), np.empty_like(epsilon)
        with np.errstate(divide="ignore", invalid="ignore"):
            complement[low], first[low] = below, np.log(-np.expm1(below))
            wrong = ~low | (low & (complement > -math.log(2.0)))
            first[wrong] = law.log_first(epsilon[wrong])
            complement[~low] = np.log(-np.expm1(first[~low]))
            wrong = ~low & (first > -math.log(2.0))
            complement[wrong] = law.log_complement(epsilon[wrong])
        error = np.full_like(epsilon, PROBABILITY_ERROR)
        return LossPoints(epsilon, first, complement, second, error)

    @functools.cached_property
    def _mu_bracket(self) -> tuple[float, float]:
        if self._closed is not None:
            return self._closed.mu_bracket()
        try:
            return self._chord_bracket()
        except ConvergenceError:
            if not self._potential.is_linear:
                raise
            return 0.0, min(curve.mu() for curve in self._coarser)

    def _chord_bracket(self) -> tuple[float, float]:
        pure = self.pure_epsilon()
        points = LossInterpolation(self._points, pure)
        depths = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 1.6, 2.5, 4.0, 6.0, 8.0])
        if pure < math.inf:
            grid = np.minimum(self._reach(8.0), 0.98 * pure) * depths / 8.0
            far = 0.98 * pure * np.array([0.25, 0.5, 0.75, 1.0])
            grid = np.unique(np.concatenate([grid, far[far > grid[-1]]]))
            last, cap = self._last, self._score_bound
            return bracket(points, grid, end=pure, cap=cap, deepest=last)
        tail = functools.partial(hyperbolic_tail, self._integrals)
        grid, deepest, cap = self._reach(6.0) * depths / 8.0, self._reach(150.0), self._score_bound
        return bracket(points, grid, end=math.inf, cap=cap, tail=tail, deepest=deepest)
