"""Quadrature of isotropic laws: in logarithms, with incomplete beta functions."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from riemdp._errors import ConvergenceError
from riemdp._potential import Potential, potential
from riemdp._radial_profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.privacy._budget import FloatArray

    Flags = NDArray[np.bool_]
    Integrand = Callable[[FloatArray, FloatArray], FloatArray]
    Rows = NDArray[np.intp]
    Rule = Callable[["Cut"], FloatArray]


# Logs of integrals of exponentials, by two rules that have to agree.
#
# What is allowed for them is in docs/proofs/isotropic-curve.md.

#: Largest relative difference of the two quadrature rules.
_AGREEMENT = 6e-12
#: Added to it, times the log of the integral: rounding of a large exponent.
_ROUNDING = 8e-15
#: Nodes of the grid that finds the peak.
COARSE_NODES = 24
#: Even steps across integrands that are cut off this far from both ends, as a share of what is
#: left: peaks, rather than powers of the distance to an end.
_STEPS, _FAR = 64, 0.01
#: Logarithms of what is cut off, relative to the largest value, once the peak is known: at first,
#: and at last.
_DEPTHS = (70.0, 36.0)
#: Panels shrink by this factor towards both ends.
_PANEL_FACTOR, _PANELS = 6.0, 12


@dataclass(frozen=True, eq=False)
class Cut:
    """Intervals from which something is cut off at both ends, and the logs of their integrands."""

    first: FloatArray
    last: FloatArray
    span: FloatArray
    log_integrand: Integrand

    @property
    def width(self) -> FloatArray:
        """Lengths of what is left, shape (rows, 1)."""
        return (self.span - self.first - self.last)[:, None]

    def logs(self, points: FloatArray, rest: FloatArray, weights: FloatArray) -> FloatArray:
        """Return logs of weighted sums of exponentials, shape of the weights with an axis of rows.

        Points are those of (0, 1), and ``rest`` is how far they are from 1.
        """
        width = self.width
        values = self.log_integrand(
            self.first[:, None] + width * points, self.last[:, None] + width * rest
        )
        peak = values.max(axis=1)
        shifted = np.exp(values - np.where(peak > -np.inf, peak, 0.0)[:, None])
        return np.asarray(peak + np.log(width[:, 0] * (weights @ shifted.T)))


def log_integrals(
    span: FloatArray, depth: float, build: Callable[[Rows], Integrand]
) -> tuple[FloatArray, Flags]:
    """Log of the integral over each of n intervals, and where two rules agree on it.

    ``span (n,)`` has positive lengths. ``build(rows)`` gives the log of the integrands of these
    intervals: a function of the distances to the lower and to the upper end, shape (rows, nodes).
    Where an integrand is ``exp(-depth)`` times its largest value on a coarse grid it is cut off,
    and farther in once the peak is located.
    """
    log_integrand = build(np.arange(span.size))
    first, last = np.zeros_like(span), np.zeros_like(span)
    depths = (depth, *(each for each in _DEPTHS if each < depth))
    for pair in itertools.pairwise(depths):
        first, last = _trimmed(Cut(first, last, span, log_integrand), pair)
    result, agree = np.empty_like(span), np.zeros(span.size, dtype=bool)

    def taken(rows: Rows) -> Cut:
        if rows.size == span.size:
            return Cut(first, last, span, log_integrand)
        return Cut(first[rows], last[rows], span[rows], build(rows))

    rows = np.flatnonzero(np.minimum(first, last) > _FAR * (span - first - last))
    if rows.size:
        result[rows], coarse = _even(taken(rows))
        agree[rows] = _agree(result[rows], coarse)
    rows, part = np.flatnonzero(~agree), None
    for group in _RULES:
        check = np.full(rows.size, np.nan)
        for apply in group:
            if not rows.size:
                return result, agree
            part = part or taken(rows)
            result[rows] = fine = apply(part)
            agree[rows] = done = _agree(fine, check)
            if done.any():
                rows, fine, part = rows[~done], fine[~done], None
            check = fine
    return result, agree


def _agree(fine: FloatArray, check: FloatArray) -> Flags:
    near = np.abs(fine - check) <= _AGREEMENT + _ROUNDING * np.abs(fine)
    return np.asarray(near | ((fine == check) & (fine == -np.inf)))


def _trimmed(whole: Cut, depths: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Offsets from the lower and the upper end between which the integrand counts.

    Cut off at the first depth until less than half goes, then at the second.
    """
    first, last, span = whole.first, whole.last, whole.span
    points, rest, _ = rule(COARSE_NODES)
    rows, end = np.arange(span.size), COARSE_NODES - 1

    def cut(depth: float) -> tuple[FloatArray, FloatArray]:
        kept = above >= -depth
        start, stop = kept.argmax(axis=1) - 1, kept[:, ::-1].argmax(axis=1) - 1
        low = np.where(start >= 0, t[rows, start], first)
        return low, np.where(stop >= 0, top[rows, end - np.maximum(stop, 0)], last)

    for _ in range(12):
        width = (span - first - last)[:, None]
        t, top = first[:, None] + width * points, last[:, None] + width * rest
        values = whole.log_integrand(t, top)
        above = values - values.max(axis=1, keepdims=True)
        low, high = cut(depths[0])
        if (span - low - high >= 0.5 * width[:, 0]).all():
            return cut(depths[1])
        first, last = low, high
    return first, last


def _even(cut: Cut) -> FloatArray:
    """Apply trapezoids, and those of twice the step, to what counts for nothing at the ends."""
    points = np.linspace(0.0, 1.0, _STEPS + 1)
    weights = np.full((2, _STEPS + 1), 1.0 / _STEPS)
    weights[1] = np.where(np.arange(_STEPS + 1) % 2 == 0, 2.0 / _STEPS, 0.0)
    return cut.logs(points, points[::-1], weights)


def _apply(nodes: int, cut: Cut, *, graded: bool = False) -> FloatArray:
    return cut.logs(*(_graded(nodes) if graded else rule(nodes)))


def _apply_panels(nodes: int, cut: Cut) -> FloatArray:
    """Apply a rule to panels that shrink geometrically towards both ends."""
    steps = 0.5 * _PANEL_FACTOR ** -np.arange(float(_PANELS))
    low, high = np.append(0.0, steps[:0:-1]), steps[::-1]
    width = cut.width[:, 0]
    panels = [
        replace(cut, first=cut.first + width * i, last=cut.last + width * (1.0 - j))
        for i, j in [*zip(low, high, strict=True), *zip(1.0 - high, 1.0 - low, strict=True)]
    ]
    return np.asarray(np.logaddexp.reduce([_apply(nodes, panel) for panel in panels], axis=0))


#: Groups of rules in turn, until one agrees with the one before it in its group: nodes that crowd
#: at both ends; more so at the lower one, for a second scale there; more nodes; at last panels.
_RULES: tuple[tuple[Rule, ...], ...] = (
    tuple(functools.partial(_apply, nodes) for nodes in (42, 56, 72)),
    tuple(functools.partial(_apply, nodes, graded=True) for nodes in (88, 112)),
    tuple(functools.partial(_apply, nodes) for nodes in (108, 144)),
    tuple(functools.partial(_apply_panels, nodes) for nodes in (48, 64)),
)


@functools.cache
def rule(nodes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes on (0, 1), distances from 1, weights; in an angle, as the ends have square roots."""
    legendre, weights = np.polynomial.legendre.leggauss(nodes)
    angle = 0.5 * math.pi * (legendre + 1.0)
    points, rest = np.sin(0.5 * angle) ** 2, np.cos(0.5 * angle) ** 2
    return points, rest, 0.25 * math.pi * weights * np.sin(angle)


@functools.cache
def _graded(nodes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Take the squares of the nodes, fourth powers in the angle."""
    points, rest, weights = rule(nodes)
    return points**2, rest * (1.0 + points), 2.0 * points * weights


# The logarithm of the regularised incomplete beta function ``I_x(h, h)``, in bulk.

#: Whole numbers ``h`` whose finite sum takes fewer terms than the table.
_SHORT = range(2, 9)
#: Largest ``h`` whose power series is in ``x`` itself; beyond, the function of ``x`` bends within
#: ``1/sqrt(h)`` of 1/2 and the series is in a fraction of that many such lengths.
_STRAIGHT, _LENGTHS = 31.5, 6.0


def log_beta(h: float, log_x: FloatArray, log_product: FloatArray) -> FloatArray:
    """``log I_x(h, h)`` for ``x <= 1/2`` (a little more is allowed), given ``log x(1-x)`` too."""
    if h == 1.0:
        return log_x
    if h in _SHORT:  # x^h sum_j C(h - 1 + j, j) (1 - x)^j, all terms positive
        y = np.exp(log_product - log_x)
        total = np.ones_like(y)
        for j in range(int(h) - 1, 0, -1):
            total *= y
            total *= (h - 1.0 + j) / j
            total += 1.0
        return np.asarray(h * log_x + np.log(total))
    last, *others = _horner(h)
    u = _place(h, np.exp(log_x))
    value = np.empty_like(u)
    value[...] = last
    for coefficient in others:
        value *= u
        value += coefficient
    value += h * log_product
    return value


@functools.cache
def _horner(h: float) -> tuple[FloatArray, ...]:
    """Coefficients, the last first, as arrays without axes, which are added quicker than floats."""
    return tuple(map(np.asarray, beta_table(h)[::-1]))


def _place(h: float, x: FloatArray) -> FloatArray:
    """Variable of the series, on [-1, 1]: ``4x - 1``, or the fraction for large ``h``."""
    if h <= _STRAIGHT:
        return 4.0 * x - 1.0
    unit = _LENGTHS / math.sqrt(h)
    return 4.0 * unit * x / (1.0 - 2.0 * x + unit) - 1.0


def _share(h: float, u: FloatArray) -> FloatArray:
    """Inverse of :func:`_place`."""
    half = 0.25 * (u + 1.0)
    if h <= _STRAIGHT:
        return half
    unit = _LENGTHS / math.sqrt(h)
    return half * (1.0 + unit) / (2.0 * half + unit)


@functools.cache
def beta_table(h: float) -> tuple[float, ...]:
    """Power series in :func:`_place` of ``log(I_x(h, h) / (x(1-x))^h)`` for x in [0, 1/2].

    Interpolated at Chebyshev nodes; the values are series of positive terms,
    ``I_x(h, h) = (x(1-x))^h / (h B(h, h)) sum_n (2h)_n/(h+1)_n x^n``. The constant is that of the
    beta function; for large ``h``, where its logarithm loses digits, that of ``I_{1/2} = 1/2``.
    """

    def values(u: FloatArray) -> FloatArray:
        x = _share(h, u)
        term, total = np.ones_like(x), np.ones_like(x)
        for n in range(100 + int(32.0 * math.sqrt(h))):
            term = term * x * ((2.0 * h + n) / (h + 1.0 + n))
            total += term
        return np.asarray(np.log(total))

    chebyshev = np.polynomial.chebyshev
    interpolant: Any = chebyshev.chebinterpolate(values, 32 if h > 12.0 else 28)
    series = chebyshev.cheb2poly(interpolant)
    between = np.linspace(-1.0, 1.0, 101)
    error = np.max(np.abs(np.polynomial.polynomial.polyval(between, series) - values(between)))
    if h <= _STRAIGHT:
        series[0] -= math.log(h) + float(scipy.special.betaln(h, h))
    else:
        series[0] += (2.0 * h - 1.0) * math.log(2.0) - float(values(np.ones(1))[0])
    if error > 1e-12:
        raise ConvergenceError(
            f"no privacy curve is available in dimension {2.0 * h + 1.0:g}: the incomplete beta "
            "function is not accurate enough; use a lower dimension"
        )
    return tuple(float(c) for c in series)


# One-dimensional integrals behind the privacy curves on spaces of constant curvature.
#
# ``L`` is the log-likelihood ratio of two isotropic laws at distance ``sensitivity``.
# Conditionally on the distance ``r`` to the first footpoint, ``L >= epsilon`` is a cap of the
# sphere of directions, so its probability is one integral over ``r``. Formulas and proofs:
# docs/proofs/isotropic-curve.md.

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
