"""One-dimensional integrals behind the privacy curves on spaces of constant curvature.

``L`` is the log-likelihood ratio of two isotropic laws at distance ``sensitivity``. Conditionally
on the distance ``r`` to the first footpoint, ``L >= epsilon`` is a cap of the sphere of directions,
so its probability is one integral over ``r``. Formulas and proofs: docs/proofs/isotropic-curve.md.
"""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp._errors import ConvergenceError
from riemdp._potential import Potential, potential
from riemdp._radial_profile import Profile
from riemdp.privacy._incomplete_beta import log_beta
from riemdp.privacy._log_quadrature import COARSE_NODES, log_integrals, rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._log_quadrature import Integrand, Rows

#: Relative error of every probability that results allow for.
PROBABILITY_ERROR = 1e-11
#: Privacy parameters handled at once, so that their nodes stay in the processor's cache.
_CHUNK = 64
#: Dimension up to which the logs of volumes are those of radii as they are; beyond, their
#: multiples would lose digits where sigma is small, and radii are taken in other units.
PLAIN_DIM = 64


@dataclass(frozen=True)
class LossIntegrals:
    """Probabilities of the privacy loss, in units in which the curvature is -1, 0 or 1.

    The sign is that of the curvature, 0 in dimension one; ``sensitivity`` is the distance of the
    footpoints, ``upper`` the largest one from a footpoint: pi on spheres, half the length of a
    circle, or ``inf``.
    """

    kind: Literal["laplace", "gaussian"]
    dim: int
    sign: int
    sigma: float
    sensitivity: float
    upper: float = math.inf

    @functools.cached_property
    def potential(self) -> Potential:
        """Energy of the density."""
        return potential(self.kind)

    def log_first(self, epsilon: FloatArray) -> FloatArray:
        """``log P_1(L >= epsilon)`` for each ``epsilon`` (one axis), of any sign."""
        return self._chunked(self._log_first, epsilon)

    def log_complement(self, epsilon: FloatArray) -> FloatArray:
        """``log P_1(L < epsilon)``, accurate where it is small."""
        return self._chunked(self._log_complement, epsilon)

    @functools.cached_property
    def per_unit(self) -> float:
        """One over the length, a power of two, that volumes are measured in: 1 or about sigma."""
        small = self.dim > PLAIN_DIM and self.sigma < 1.0
        return math.ldexp(1.0, 1 - math.frexp(self.sigma)[1]) if small else 1.0

    @functools.cached_property
    def log_mass(self) -> float:
        """Log of the integral of the radial density as used here (see :meth:`log_density`)."""
        if self.sign == 0:  # scales are 1 there, but for rounding
            with contextlib.suppress(ConvergenceError):  # whose text is about this sensitivity
                return _flat_log_mass(self.kind, self.dim, self.sigma, self.upper)
        return self._radial_mass()

    def _radial_mass(self) -> float:
        log_mass = float(self._log_radial(np.zeros(1), np.full(1, self.upper))[0])
        if log_mass == -math.inf:  # all of it lies nearer to the footpoint than any node
            raise self._unsettled()
        return log_mass

    @functools.cached_property
    def log_mean(self) -> float:
        """Log of the mean distance from the footpoint."""

        def log_integrand(t: FloatArray, top: FloatArray) -> FloatArray:
            return np.asarray(self.log_density(t, top) + np.log(t))

        low, high = np.zeros(1), np.full(1, self.upper)
        return float(self._log_integral(low, high, lambda _: log_integrand)[0]) - self.log_mass

    @staticmethod
    def _chunked(function: Callable[[FloatArray], FloatArray], epsilon: FloatArray) -> FloatArray:
        parts = [function(epsilon[i : i + _CHUNK]) for i in range(0, epsilon.size, _CHUNK)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _log_first(self, epsilon: FloatArray) -> FloatArray:
        caps, near, _ = self._caps(epsilon, complement=False)
        inner = self._log_radial(np.zeros_like(near), np.maximum(-near, 0.0))
        return np.minimum(np.logaddexp(caps, inner) - self.log_mass, 0.0)

    def _log_complement(self, epsilon: FloatArray) -> FloatArray:
        caps, near, far = self._caps(epsilon, complement=True)
        low, high = np.zeros_like(near), np.maximum(near, 0.0)
        if self.upper < math.inf:
            low = np.append(low, np.minimum(far, self.upper))
            high = np.append(high, np.full_like(far, self.upper))
        parts = self._log_radial(low, high).reshape(-1, epsilon.size)
        total = np.logaddexp.reduce(parts, axis=0, initial=-np.inf)
        return np.minimum(np.logaddexp(caps, total) - self.log_mass, 0.0)

    def _caps(
        self, epsilon: FloatArray, *, complement: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log of the integral over the radii whose cap is proper, and the two ends of these."""
        near, far, rest = self._ends(epsilon)
        low = np.abs(near)
        result = np.full(epsilon.shape, -np.inf)
        full = low < far
        if full.any():
            mid, start, top = (values[full][:, None] for values in (epsilon, near, rest))

            def build(rows: Rows) -> Integrand:
                return _Cap(self, mid[rows], start[rows], top[rows], complement).log_integrand

            result[full] = self._log_integral(low[full], far[full], build)
        return result, near, far

    def _ends(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Signed inner end, outer end, and ``upper`` minus the outer end."""
        delta, sigma = self.sensitivity, self.sigma
        if self.potential.is_linear:
            near = -0.5 * (delta - sigma * epsilon)
            rest = 0.5 * (delta + sigma * epsilon)
        else:
            near = sigma * (sigma * epsilon / delta) - 0.5 * delta
            turn = 2.0 * self.upper - delta  # inf on unbounded spaces
            rest = 0.5 * delta + sigma * (sigma * epsilon / turn)
        return near, self.upper - rest, rest

    def _log_radial(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Log of the integral of the radial density over each ``(low, high)``."""
        result = np.full(low.shape, -np.inf)
        full = low < high
        if full.any():
            low, high = low[full], high[full]
            rest = self.upper - high if self.upper < math.inf else np.zeros_like(high)

            def build(rows: Rows) -> Integrand:
                inner, outer = low[rows, None], rest[rows, None]
                return lambda t, top: self.log_density(inner + t, outer + top)

            result[full] = self._log_integral(low, high, build)
        return result

    def log_density(self, r: FloatArray, rest: FloatArray) -> FloatArray:
        """``(dim - 1) log(s(r) * per_unit) - U(r)`` up to a constant; ``rest`` is ``upper - r``."""
        return self._profile.log(r, rest, self.per_unit)

    @functools.cached_property
    def _profile(self) -> Profile:
        return Profile(self.kind, self.dim - 1, self.sign, self.sigma, self.upper)

    def _log_integral(
        self, low: FloatArray, high: FloatArray, build: Callable[[Rows], Integrand]
    ) -> FloatArray:
        """Log of the integral over each ``(low, high)``, none of them empty; both rules compared.

        ``build(rows)`` gives the integrand of these intervals, a function of the distances to the
        lower and to the upper end.
        """
        log_integrand = build(np.arange(low.size))
        peak = (
            (self.dim - 1) * self.sigma**2
            if self.sign < 0 and not self.potential.is_linear
            else 0.0
        )
        span = np.where(np.isinf(high), 8.0 * self.sigma + peak, high - low)
        depth = 42.0 + 2.5 * (self.dim - 1)  # a coarse grid misses much of a peak in high dimension
        with np.errstate(divide="ignore", invalid="ignore"):
            if np.isinf(high).any():
                span = self._reach(low, span, depth, log_integrand)
            result, agree = log_integrals(span, depth, build)
        if not agree.all():
            raise self._unsettled()
        return result

    def _unsettled(self) -> ConvergenceError:
        return ConvergenceError(
            "the integrals of the privacy curve did not settle in double precision "
            f"(dim = {self.dim}, sigma = {self.sigma:.4g} and sensitivity = "
            f"{self.sensitivity:.4g} in units of the curvature radius, or of sigma on flat "
            "space); use a lower dimension, or a sigma closer to the sensitivity"
        )

    def _reach(
        self, low: FloatArray, span: FloatArray, depth: float, log_integrand: Integrand
    ) -> FloatArray:
        """Lengths of the infinite intervals beyond which nothing counts.

        Every integrand is at most the radial density, which is log-concave.
        """
        points, rest, _ = rule(COARSE_NODES)
        for _ in range(80):
            values = log_integrand(span[:, None] * points, span[:, None] * rest)
            end = self.log_density(low + span, np.zeros_like(span))
            short = ~(end < values.max(axis=1) - depth)
            if not short.any():
                return span
            span = np.where(short, 2.0 * span, span)
        raise ConvergenceError("the radial law has too long a tail; use a smaller sigma")


@functools.lru_cache(maxsize=64)
def _flat_log_mass(
    kind: Literal["laplace", "gaussian"], dim: int, sigma: float, upper: float
) -> float:
    return LossIntegrals(kind, dim, 0, sigma, 1.0, upper)._radial_mass()


@dataclass(frozen=True, eq=False)
class _Cap:
    """The integrand over radii: radial density times the probability of the cap."""

    law: LossIntegrals
    epsilon: FloatArray
    near: FloatArray
    rest: FloatArray
    complement: bool

    def log_integrand(self, t: FloatArray, top: FloatArray) -> FloatArray:
        """At distances ``t`` from the inner and ``top`` from the outer end."""
        law = self.law
        r = self._inner + t
        density = law.log_density(r, self.rest + top)
        if law.dim == 1:  # two directions, one of them in the cap
            return density - math.log(2.0)
        log_x, log_y = self._log_shares(r, t, top)
        if self.complement:
            log_x, log_y = log_y, log_x
        log_tail = log_beta(0.5 * (law.dim - 1), np.minimum(log_x, log_y), log_x + log_y)
        other = np.log1p(-np.exp(log_tail))
        return np.asarray(density + np.where(log_x <= log_y, log_tail, other))

    @functools.cached_property
    def _inner(self) -> FloatArray:
        """Distance of the inner end."""
        return np.abs(self.near)

    @functools.cached_property
    def _is_beyond(self) -> NDArray[np.bool_]:
        """Whether the inner end lies on the near side."""
        return np.asarray(self.near >= 0.0)

    def _log_shares(
        self, r: FloatArray, t: FloatArray, top: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute the logs of ``x`` and ``1 - x``, none of them by a subtraction of near equals."""
        law, delta = self.law, self.law.sensitivity
        linear = law.potential.is_linear
        inward = np.where(self._is_beyond, r + self.near, t)  # r + near
        if linear:
            excess = law.sigma * self.epsilon
            u1, u2 = r + 0.5 * (delta + excess), 0.5 * (delta - excess)
            v1, v2 = inward, 0.5 * (delta + excess)
            beyond = top
        else:
            outward = np.where(self._is_beyond, t, r - self.near)  # r - near
            if law.sign == 0:
                return np.log(outward / (2.0 * r)), np.log(inward / (2.0 * r))
            rho = np.sqrt((r - delta) ** 2 + 2.0 * delta * inward)
            excess = 2.0 * law.sigma * (law.sigma * self.epsilon) / (rho + r)
            u1 = 0.5 * (r + delta + rho)
            u2 = 0.5 * delta * outward / u1
            v1 = np.maximum(0.5 * (rho + np.abs(r - delta)), 1e-300)
            v2 = 0.5 * delta * inward / v1
            turn = 2.0 * law.upper - delta
            beyond = turn * top / (turn - r + rho) if law.sign > 0 else top  # upper - u1
        if law.sign == 0:
            scale = r * delta
            return np.log(u1 * u2 / scale), np.log(v1 * v2 / scale)
        if law.sign > 0:
            scale = np.sin(np.minimum(r, self.rest + top)) * math.sin(delta)
            first = np.sin(np.minimum(u1, beyond)) * np.sin(u2)
            second = np.sin(v1) * np.sin(v2)
            return np.log(first / scale), np.log(second / scale)
        scale = np.expm1(-2.0 * r) * math.expm1(-2.0 * delta)
        first = np.expm1(-2.0 * u1) * np.expm1(-2.0 * u2)
        second = np.expm1(-2.0 * v1) * np.expm1(-2.0 * v2)
        return np.log(first / scale), np.log(second / scale) + (excess - delta)
