"""What calibration is made of: what is proved at a sensitivity, and the least scale for a budget.

Scales are found from the privacy curve itself, by root finding in the logarithm. One may be too
small by a rounding error, so callers check the mechanism against the budget.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import scipy

from riemdp._checks import positive, scale
from riemdp._errors import (
    ConvergenceError,
    NoConversionError,
    NotAttainableError,
    UnsupportedBudgetError,
    UnsupportedManifoldError,
)
from riemdp._zero import zero_between
from riemdp.mechanisms._rao import isotropic_gaussian_sigma, laplace_guarantee, laplace_ratio
from riemdp.noise import family, has_curve, isotropic_curve
from riemdp.privacy import (
    ZCDP,
    ApproxDP,
    PrivacyCurve,
    PureDP,
    RaoDP,
    affordable_epsilon,
    affordable_mu,
    check_distance,
    delta_floor,
    gaussian_floor,
    gaussian_to_pure,
    implied_epsilon,
    product_up,
)
from riemdp.spaces import Euclidean

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.mechanisms._mechanism import Mechanism
    from riemdp.noise import Family
    from riemdp.privacy import Budget, IsotropicCurve
    from riemdp.spaces import FloatArray, Manifold

M = TypeVar("M", bound="Mechanism")

#: Relative step from a root to more noise.
_NUDGE = 1e-9
#: Factor from a scale on R^d at sensitivity 1, times the sensitivity, to the scale of a release.
_MARGIN = 1.0 + 2.0**-40
#: Accuracy of a root, in the logarithm of the scale or of its distance to the last one.
_ACCURACY = 1e-10
#: Least relative distance to the last scale that is tried.
_CLOSEST = 1e-8
#: Factor beyond the scale of a pure epsilon at which delta is exactly 0.
_BEYOND = 1.0 + 1e-12
#: Scales are not searched beyond this multiple of the first guess and of 1/((dim - 1) k).
_WIDEST = 1e4
#: How far under its target the logarithm of delta is looked at.
_DEEPEST = -100.0
_WAY_OUT = (
    "raise the budget, lower the sensitivity (a smaller ball, more data), or use the tangent "
    'mechanisms ("tangent-gaussian", "tangent-laplace"), which have no such limit'
)


def check_sensitivity(sensitivity: float) -> float:
    """Return a sensitivity between 1e-75 and 1e75 or raise ``InvalidParameterError``.

    Parameters
    ----------
    sensitivity : float

    Returns
    -------
    float
    """
    advice = "it is the largest distance that one record can move the summary"
    return scale(positive(sensitivity, "sensitivity", advice), "sensitivity")


def enough_noise(
    build: Callable[[float], M], sigma: float, sensitivity: float, budget: Budget
) -> M:
    """Mechanism at ``sigma`` or the next few floats, where it satisfies the budget.

    ``NotAttainableError`` if the noise exceeds float64, or its privacy is not known in double
    precision: no data are looked at, so that this is about public numbers.
    """
    step = sys.float_info.epsilon
    while not math.isinf(sigma):
        mechanism = build(sigma)
        try:
            suffices = mechanism.satisfies(sensitivity, budget)
        except ConvergenceError as error:
            raise beyond_float64(budget, sensitivity, mechanism.manifold, error) from None
        if suffices:
            return mechanism
        sigma *= 1.0 + step
        step *= 2.0
    raise exceeds_float64(budget, sensitivity)


def scaled(unit: float, sensitivity: float, budget: Budget) -> float:
    """Scale on R^d from that at sensitivity 1, rounded up; ``NotAttainableError`` if ``inf``.

    A scale from the exact product on has no worse privacy (docs/proofs/isotropic-curve.md, claim
    9). The margin is more than the rounding of conversions, and less than a step of the grid that
    curves are evaluated on: the budget that was met at sensitivity 1 is met as it is computed, too.
    """
    sigma = product_up(product_up(sensitivity, unit), _MARGIN)
    if math.isinf(sigma):
        raise exceeds_float64(budget, sensitivity)
    return sigma


def exceeds_float64(budget: Budget, sensitivity: float) -> NotAttainableError:
    """Error of a budget that asks for infinite noise."""
    return NotAttainableError(
        f"the noise for {budget} at sensitivity {sensitivity:.6g} exceeds float64; choose a "
        "larger budget, a smaller ball, or more data"
    )


def beyond_float64(
    budget: Budget, sensitivity: float, manifold: Manifold, reason: object
) -> NotAttainableError:
    """Return the error for noise whose privacy double precision cannot tell, for a reason."""
    return NotAttainableError(
        f"no scale for {budget} at sensitivity {sensitivity:.6g} on {manifold} is known in double "
        f"precision ({reason}); use another budget or the tangent mechanisms "
        '("tangent-gaussian", "tangent-laplace")'
    )


class Proved(PrivacyCurve):
    """Privacy curve of a mechanism, with the mechanism's own Rao distances.

    The curve is not asked for before a definition needs it: some mechanisms have none.
    """

    def __init__(self, mechanism: Mechanism, sensitivity: float) -> None:
        self._mechanism, self._sensitivity = mechanism, sensitivity

    @functools.cached_property
    def _curve(self) -> PrivacyCurve:
        return self._mechanism.privacy(self._sensitivity)

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``delta`` of the curve."""
        return self._curve.delta_at(epsilon)

    def epsilon_at(self, delta: float) -> float:
        """``epsilon`` of the curve."""
        return self._curve.epsilon_at(delta)

    def mu(self) -> float:
        """``mu`` of the curve."""
        return self._curve.mu()

    def mu_bracket(self) -> tuple[float, float]:
        """Two numbers around it."""
        return self._curve.mu_bracket()

    def pure_epsilon(self) -> float:
        """Pure epsilon of the curve."""
        return self._curve.pure_epsilon()

    def zcdp_rho(self) -> float:
        """``rho`` of the curve."""
        return self._curve.zcdp_rho()

    def rao(self, distance: str) -> RaoDP:
        """Rao distance of the mechanism, of either kind."""
        return self._mechanism.rao(self._sensitivity, check_distance(distance))

    def _guarantees(self) -> tuple[Budget, ...]:
        return self._curve._guarantees()


def isotropic_scales(known: Family, sensitivity: float, budget: Budget) -> list[float]:
    """Scales to try for a budget, ascending; the last one suffices, up to rounding.

    From the curve for ApproxDP and GDP, from the largest privacy loss for PureDP, from the Rao
    distance for RaoDP. Other definitions follow from a ``mu`` or a pure epsilon that implies them.
    A budget for a pure epsilon that the law does not have is an ``InvalidBudgetError``, one that no
    scale attains a ``NotAttainableError``.
    """
    noise = _Noise(known, sensitivity)
    ways = _loss_ways(budget, noise)
    if not noise.is_lossless or has_curve(known, sensitivity):
        ways = [*_curve_ways(budget, noise), *ways]
    found: list[float] = []
    problems: list[Exception] = []
    for way in ways:
        try:
            found.append(way())
        except (NotAttainableError, NoConversionError, UnsupportedBudgetError) as error:
            problems.append(error)
        except ConvergenceError as error:
            problems.append(beyond_float64(budget, sensitivity, known.manifold, error))
    if not found:
        raise problems[0] from None
    return sorted(found)


def least_noise(
    build: Callable[[float], M], scales: list[float], sensitivity: float, budget: Budget
) -> M:
    """Mechanism at the first of several ascending scales at which it satisfies the budget."""
    for sigma in scales[:-1]:
        mechanism = build(sigma)
        with contextlib.suppress(ConvergenceError):
            if mechanism.satisfies(sensitivity, budget):
                return mechanism
    return enough_noise(build, scales[-1], sensitivity, budget)


@dataclass(frozen=True)
class _Noise:
    """A law at every scale, for footpoints at one distance."""

    family: Family
    sensitivity: float

    @property
    def limit(self) -> float:
        """Scale under which the law has a normaliser."""
        return self.family.scale_limit

    @property
    def is_lossless(self) -> bool:
        """Whether the triangle inequality bounds the privacy loss."""
        return math.isfinite(self.family.potential.triangle_epsilon(1.0))

    def curve(self, sigma: float) -> IsotropicCurve:
        return isotropic_curve(self.family, sigma, self.sensitivity)

    def lossless_scale(self, epsilon: float) -> float:
        """Scale at which the largest privacy loss is ``epsilon``; ``inf`` if it is unbounded."""
        return self.family.potential.lossless_scale(self._moved, epsilon, self.family.reach)

    @property
    def _moved(self) -> float:
        return self.family.total_shift(self.sensitivity)

    def pure_scale(self, epsilon: float, budget: Budget) -> float:
        """Scale at which the law has this pure epsilon."""
        if not self.is_lossless:
            if math.isinf(self.family.reach):
                raise UnsupportedBudgetError(
                    f"the Gaussian has no pure epsilon on {self.family.manifold}; use "
                    "RiemannianLaplace or TangentLaplace, or allow a delta with "
                    "ApproxDP(epsilon, delta)"
                )
            self.curve(self.sensitivity)  # refuses footpoints beyond the sphere
        sigma = self.lossless_scale(epsilon)
        if self._has_normaliser(sigma):
            return sigma
        least = self._moved / self.limit
        raise self._too_wide(f"{budget} has to allow a pure epsilon above {least:.6g}", epsilon)

    def _has_normaliser(self, sigma: float) -> bool:
        return self.limit == math.inf or sigma < self.limit

    def _too_wide(self, needed: str, got: float) -> NotAttainableError:
        """Return the error for Laplace noise without a normaliser."""
        return NotAttainableError(
            f"the Laplace law has a normaliser on {self.family.manifold} for sigma below "
            f"{self.limit:.6g} only. At sensitivity {self.sensitivity:.6g} {needed}, got "
            f"{got:.6g}; {_WAY_OUT}"
        )

    def rao_scale(self, budget: RaoDP) -> float:
        """Scale at which the Rao distance is the budget's."""
        form = self.family.form
        if not self.is_lossless:
            if form is None:
                raise UnsupportedManifoldError(
                    f"no Rao distance of the Gaussian law on {self.family.manifold} is known; use "
                    'the tangent mechanisms ("tangent-gaussian", "tangent-laplace")'
                )
            space = form.dim, form.curvature, form.upper
            return isotropic_gaussian_sigma(*space, self.sensitivity, budget)
        dim = self.family.score_dim
        sigma = self._moved / laplace_ratio(budget, dim, flat=self.family.is_flat)
        if self._has_normaliser(sigma):
            return sigma
        ratio = self._moved / self.limit
        least = laplace_guarantee(ratio, dim, budget.distance, flat=False).theta
        raise self._too_wide(f"the budget has to allow a theta above {least:.6g}", budget.theta)

    def delta_scale(self, budget: ApproxDP) -> float:
        """Scale at which ``delta`` at the budget's epsilon is the budget's."""
        if not self.is_lossless:
            self.curve(self.sensitivity)  # refuses footpoints beyond the sphere
        wanted = math.log(budget.delta)

        def excess(sigma: float) -> float:
            delta = float(self.curve(sigma).delta_at(budget.epsilon))
            return max(math.log(delta) - wanted, _DEEPEST) if delta > 0.0 else _DEEPEST

        if self.family.growth:
            floor = float(delta_floor(*self._space, budget.epsilon))
            if budget.delta <= floor:
                raise self._unattainable(budget, f"delta tends to {floor:.6g}")
        first = self.sensitivity / affordable_mu(budget)
        return self._root(excess, first, self.lossless_scale(budget.epsilon) * _BEYOND, budget)

    def mu_scale(self, wanted: float, budget: Budget) -> float:
        """Scale at which the proved ``mu`` is at most the wanted one."""
        if self.family.growth:
            floor = gaussian_floor(*self._space)
            if wanted <= floor:
                raise self._unattainable(budget, f"mu tends to {floor:.6g}")
        goal, sigma = wanted, self.sensitivity / wanted
        if self.is_lossless:
            sigma = self._moved * self._flat_scale(wanted, budget)
        for _ in range(6):
            sigma = self._root(functools.partial(self._excess_mu, goal), sigma, math.inf, budget)
            proved = self.curve(sigma).mu()
            if proved <= wanted:
                return sigma
            if math.isinf(proved):
                break
            goal *= wanted / proved * (1.0 - 1e-10)
        raise beyond_float64(
            budget, self.sensitivity, self.family.manifold, "mu is not bounded closely enough"
        )

    def _flat_scale(self, wanted: float, budget: Budget) -> float:
        """Guess of the scale at sensitivity 1: that on R^d, which curvature hardly changes."""
        if self.family.is_flat:
            return 1.0 / gaussian_to_pure(wanted)
        flat = family(self.family.kind, Euclidean(self._space[0]))
        return _mu_scale(_Noise(flat, 1.0), wanted, budget)

    def _excess_mu(self, goal: float, sigma: float) -> float:
        """Log of ``mu`` at ``epsilon = 0`` over a goal: one integral, mostly the largest ``mu``."""
        log_error = self.curve(sigma)._integrals.log_complement(np.zeros(1))
        mu = -2.0 * float(scipy.special.ndtri_exp(log_error)[0])
        if not 0.0 < mu < math.inf:
            raise ConvergenceError("mu at epsilon = 0 is lost in rounding")
        return math.log(mu / goal)

    @property
    def _space(self) -> tuple[int, float, float]:
        form = self.family.form
        assert form is not None  # floors are those of curves
        return form.dim, form.curvature, self.sensitivity

    def _root(
        self, excess: Callable[[float], float], first: float, last: float, budget: Budget
    ) -> float:
        """Where a falling function of the scale is 0, from a first guess and up to ``last``."""
        open_end = self.limit < last  # nothing can be computed next to the limit
        growth = self.family.growth  # of the volume; 0 but on negative curvature
        end = min(last, self.limit, _WIDEST * max(first, 1.0 / growth if growth else 0.0))
        to_place, to_scale = _places(math.inf if open_end else last)
        at_place = functools.cache(lambda place: excess(to_scale(place)))

        def falls_short(sigma: float) -> bool:
            return at_place(to_place(sigma)) > 0.0

        low = high = min(first, 0.5 * end if open_end else end)
        step = 0.02
        if falls_short(low):
            while falls_short(high):
                if high >= end * (1.0 - 1e-6 * open_end):
                    if end == last:  # within rounding of the scale that suffices
                        return last
                    raise self._unattainable(budget, "it does not get there")
                low, high = high, min(high * (1.0 + step), 0.5 * (high + end) if open_end else end)
                step *= 4.0
        else:
            while not falls_short(low):
                low, high = low / (1.0 + step), low
                step *= 4.0
        ends = to_place(low), to_place(high)
        root = zero_between(at_place, *ends, xtol=_ACCURACY, rtol=1e-15)
        return min(to_scale(root) * (1.0 + _NUDGE), last)

    def _unattainable(self, budget: Budget, tendency: str) -> NotAttainableError:
        name = self.family.potential.title
        until = f"grows to its limit {self.limit:.6g}" if self.limit < math.inf else "grows"
        return NotAttainableError(
            f"the Riemannian {name} on {self.family.manifold} cannot attain {budget} at "
            f"sensitivity {self.sensitivity:.6g}: as sigma {until}, {tendency}, not to 0; "
            f"{_WAY_OUT}"
        )


@functools.singledispatch
def _curve_ways(budget: Budget, noise: _Noise) -> list[Callable[[], float]]:
    """Scales from the curve of the law: where its ``mu`` is one that implies the budget."""
    return [lambda: _mu_scale(noise, affordable_mu(budget), budget)]


@_curve_ways.register(ApproxDP)
def _(budget: ApproxDP, noise: _Noise) -> list[Callable[[], float]]:
    return [lambda: _delta_scale(noise, budget)]


@_curve_ways.register(PureDP)
@_curve_ways.register(RaoDP)
def _(_budget: Budget, _noise: _Noise) -> list[Callable[[], float]]:
    return []


@functools.singledispatch
def _loss_ways(budget: Budget, noise: _Noise) -> list[Callable[[], float]]:
    """Scales from the largest privacy loss: where it is a pure epsilon that implies the budget.

    A little more, for rounding in conversions and where ``delta`` vanishes.
    """
    return [lambda: noise.pure_scale(affordable_epsilon(budget), budget) * _BEYOND]


@_loss_ways.register(PureDP)
def _(budget: PureDP, noise: _Noise) -> list[Callable[[], float]]:
    return [lambda: noise.pure_scale(budget.epsilon, budget)]


@_loss_ways.register(ZCDP)
def _(budget: ZCDP, noise: _Noise) -> list[Callable[[], float]]:
    found = implied_epsilon, affordable_epsilon
    return [lambda e=e: noise.pure_scale(e(budget), budget) * _BEYOND for e in found]  # type: ignore[misc]


@_loss_ways.register(RaoDP)
def _(budget: RaoDP, noise: _Noise) -> list[Callable[[], float]]:
    return [lambda: noise.rao_scale(budget)]


@functools.lru_cache(maxsize=64)
def _delta_scale(noise: _Noise, budget: ApproxDP) -> float:
    """Cache it: the same public numbers come again with every release."""
    return noise.delta_scale(budget)


@functools.lru_cache(maxsize=64)
def _mu_scale(noise: _Noise, wanted: float, budget: Budget) -> float:
    return noise.mu_scale(wanted, budget)


def _places(last: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Coordinate in which logarithms of ``delta`` are almost straight, and its inverse.

    Next to a ``last`` scale, at which ``delta`` vanishes, it is a power of the distance.
    """
    if last == math.inf:
        return math.log, math.exp
    return (
        lambda sigma: math.log(max(last / sigma - 1.0, _CLOSEST)),
        lambda place: last / (1.0 + math.exp(place)),
    )
