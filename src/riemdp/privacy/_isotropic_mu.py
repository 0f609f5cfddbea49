"""The mu of an isotropic law, and interpolation of its losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._gdp import GDP
from riemdp.privacy._isotropic_quadrature import PROBABILITY_ERROR, LossIntegrals
from riemdp.privacy._pure import PureDP
from riemdp.privacy._rounding import half_square_up, up

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.privacy._budget import Budget, FloatArray


# A safe upper bound of the smallest ``mu`` of a privacy curve that is known at single points.
#
# ``delta`` is a convex function of ``exp(epsilon)``, so a chord bounds it between two points, and
# a chord that lies under the Gaussian curve of some ``mu`` proves ``mu`` there. The proof is
# docs/proofs/isotropic-curve.md.

#: Widths of the bracket (relative) that are aimed at, with the most points to spend on each.
_WIDTHS = ((5e-10, 2000), (8e-6, 20000))
_ROUNDS = 24
#: Rise of the error with the log of a small probability, as a share of it.
_EXPONENT = 1e-3


@dataclass(frozen=True, eq=False)
class LossPoints:
    """Probabilities of the privacy loss at increasing ``epsilon``, with their relative errors.

    Logs of ``P_1(L >= epsilon)``, ``P_1(L < epsilon)`` and ``P_2(L >= epsilon)``. The error is that
    of a probability that is not small; more is allowed for small ones. All of shape ``(n,)``.
    """

    epsilon: FloatArray
    log_first: FloatArray
    log_complement: FloatArray
    log_second: FloatArray
    error: FloatArray

    def allowed(self, log_probability: FloatArray) -> FloatArray:
        """Relative error allowed for: ``error``, and rounding of a large exponent."""
        return self.error * (1.0 + _EXPONENT * np.maximum(-log_probability, 0.0).clip(max=1e6))

    def log_delta(self) -> FloatArray:
        """Log of ``delta``, rounded up by the error of the probabilities."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            log_ratio = self.epsilon + self.log_second - self.log_first
            log_ratio = np.minimum(log_ratio, 0.0)
            allowance = self.allowed(self.log_first)
            allowance = allowance + self.allowed(self.log_second) * np.exp(log_ratio)
            share = np.maximum(-np.expm1(log_ratio), 0.0) + allowance
            small = self.log_first + np.log(share)
            large = np.log1p(-np.exp(self.log_co_delta()))
        found = np.where(self.log_first > -math.log(2.0), large, small)
        return np.asarray(np.where(self.log_first == -np.inf, -np.inf, np.minimum(found, 0.0)))

    def log_co_delta(self) -> FloatArray:
        """Log of ``1 - delta``, rounded down, accurate where ``P_1(L < epsilon)`` is small."""
        second = self.epsilon + self.log_second
        return np.asarray(
            np.logaddexp(
                self.log_complement + np.log1p(-self.allowed(self.log_complement)),
                second + np.log1p(-self.allowed(self.log_second)),
            )
        )

    def quantiles(self) -> tuple[FloatArray, FloatArray]:
        """Return the normal quantiles of ``P_1(L >= epsilon)`` and ``P_2(L >= epsilon)``."""
        high = self.log_first > -math.log(2.0)
        first = np.where(
            high,
            -scipy.special.ndtri_exp(self.log_complement),
            scipy.special.ndtri_exp(self.log_first),
        )
        return first, scipy.special.ndtri_exp(self.log_second)

    def exact_mu(self) -> FloatArray:
        """``mu`` of the Gaussian pair that has the same two probabilities."""
        first, second = self.quantiles()
        known = (self.log_first > -np.inf) & (self.log_second > -np.inf)
        return np.asarray(np.subtract(first, second, out=np.zeros_like(first), where=known))

    def part(self, which: slice) -> LossPoints:
        """Select some of the points."""
        return LossPoints(*(field[which] for field in self._columns))

    def merged(self, other: LossPoints) -> LossPoints:
        """Both sets of points in order."""
        order = np.argsort(np.concatenate([self.epsilon, other.epsilon]), kind="stable")
        pairs = zip(self._columns, other._columns, strict=True)
        return LossPoints(*(np.concatenate(pair)[order] for pair in pairs))

    @property
    def _columns(self) -> tuple[FloatArray, ...]:
        return self.epsilon, self.log_first, self.log_complement, self.log_second, self.error


class BracketedCurve(PrivacyCurve):
    """A curve that is known at single points, with a bracket of ``mu`` and perhaps a largest loss.

    ``mu``-GDP says that two unit Gaussians at distance ``mu`` can be turned into the two laws,
    which increases no Renyi divergence.
    """

    def mu(self) -> float:
        """Upper end of :meth:`mu_bracket`."""
        return self.mu_bracket()[1]

    def zcdp_rho(self) -> float:
        """``mu**2 / 2``, or what follows from the pure ``epsilon`` if that is less."""
        return min(self._pure_rho(), half_square_up(self.mu()))

    def _pure_rho(self) -> float:
        """``epsilon tanh(epsilon/2)``, rounded up; docs/proofs/privacy-conversions.md."""
        pure = self.pure_epsilon()
        return up(pure * math.tanh(0.5 * pure)) if pure < math.inf else math.inf

    def _guarantees(self) -> tuple[Budget, ...]:
        mu, pure = self.mu(), self.pure_epsilon()
        gaussian: tuple[Budget, ...] = (GDP(mu),) if mu < math.inf else ()
        return (*gaussian, PureDP(pure)) if pure < math.inf else gaussian


def chord_mu(points: LossPoints) -> FloatArray:
    """Smallest ``mu`` whose Gaussian curve lies above a line above each chord, shape (n - 1,).

    A line ``p - a exp(epsilon)`` lies under the Gaussian curve of ``mu`` everywhere if
    ``p <= Phi(Phi^{-1}(a) + mu)``. Any slope ``a`` will do; here it is that of the chord.
    """
    low, high = points.epsilon[:-1], points.epsilon[1:]
    log_delta, co_delta = points.log_delta(), points.log_co_delta()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        fall = -np.expm1(np.minimum(log_delta[1:] - log_delta[:-1], 0.0))
        log_slope = log_delta[:-1] + np.log(fall) - high - np.log(-np.expm1(low - high))
        ends = points.log_second[1:], points.log_second[:-1]
        log_slope = np.clip(log_slope, np.minimum(*ends), np.maximum(*ends))
        top = np.maximum(
            np.logaddexp(log_delta[:-1], low + log_slope),
            np.logaddexp(log_delta[1:], high + log_slope),
        )
        # 1 - p = (1 - delta) - a exp(epsilon) at the end where it is smaller
        rest = np.minimum(
            co_delta[:-1] + np.log(np.maximum(-np.expm1(low + log_slope - co_delta[:-1]), 0.0)),
            co_delta[1:] + np.log(np.maximum(-np.expm1(high + log_slope - co_delta[1:]), 0.0)),
        )
        upper = np.where(
            top > -math.log(2.0),
            -scipy.special.ndtri_exp(np.minimum(rest, -1e-300)),
            scipy.special.ndtri_exp(np.minimum(top, -1e-300)),
        )
        mu = upper - scipy.special.ndtri_exp(log_slope)
    mu = np.where(top == -np.inf, 0.0, mu)
    return np.asarray(np.where(np.isnan(mu), np.inf, mu) * (1.0 + 1e-12) + 1e-14)


def bracket(
    evaluate: Callable[[FloatArray], LossPoints],
    grid: FloatArray,
    *,
    end: float,
    cap: float = math.inf,
    tail: Callable[[float, float], float] | None = None,
    deepest: float = math.inf,
) -> tuple[float, float]:
    """Two numbers around the smallest ``mu``, the second one proved.

    ``evaluate`` gives probabilities at increasing ``epsilon``, ``deepest`` at most; ``grid``, the
    first of them, starts with 0. The privacy loss is never above ``end``; where that is ``inf``,
    ``tail(mu, epsilon)`` is a number not under ``mu`` that is proved for all larger ``epsilon``, or
    ``inf``. ``cap`` is a ``mu`` that is proved otherwise.
    """
    points = evaluate(grid)
    lower, width = _largest(points), max(_WIDTHS[0][0], 1.5 * _blur(points))
    if cap <= lower * (1.0 + width):
        return min(lower * (1.0 - 1e-9), cap), cap
    if tail is not None:
        candidates = np.linspace(grid[-1], deepest, 25)
        while tail(lower * (1.0 + width), deepest) == math.inf and width < 1.0:
            width *= 1.3
        proved = [e for e in candidates if tail(lower * (1.0 + width), float(e)) < math.inf]
        stop = min(proved, default=deepest)
        beyond = candidates[(candidates > grid[-1]) & (candidates <= stop)]
        points = points.merged(evaluate(beyond)) if beyond.size else points
    closing = np.array([end]) if end < math.inf else np.zeros(0)
    nothing = np.full(closing.shape, -np.inf)
    error = np.full_like(closing, PROBABILITY_ERROR)
    last = LossPoints(closing, nothing, np.zeros_like(closing), nothing, error)
    points = points.merged(last)
    for aim, most in _WIDTHS:
        points = _refined(evaluate, points, max(aim, width), most, cap=cap, deepest=deepest)
    lower = _largest(points)
    upper, last_epsilon = float(np.max(chord_mu(points))), float(points.epsilon[-1])
    if tail is not None:
        factors = 1.0 + np.append(0.0, np.geomspace(1e-7, 1.0, 60))
        tails = (tail(max(upper, lower) * float(factor), last_epsilon) for factor in factors)
        upper = next((mu for mu in tails if mu < math.inf), math.inf)
    upper = min(upper, cap)
    return min(lower * (1.0 - 1e-9), upper), upper


def _refined(
    evaluate: Callable[[FloatArray], LossPoints],
    points: LossPoints,
    width: float,
    most: int,
    *,
    cap: float,
    deepest: float,
) -> LossPoints:
    """More points until every chord is low enough, or the points are spent."""
    for _ in range(_ROUNDS):
        lower, chords = _largest(points), chord_mu(points)
        bad = np.flatnonzero(chords > lower * (1.0 + width))
        if not bad.size or cap <= lower * (1.0 + width):
            break
        between = _between(points, chords, lower, width, bad)
        between = between[between <= deepest]
        if not between.size or points.epsilon.size + between.size > most:
            break
        points = points.merged(evaluate(between))
    return points


def _blur(points: LossPoints) -> float:
    """Relative error of the largest ``mu`` that the errors of the probabilities leave."""
    best = int(np.argmax(points.exact_mu()))
    log_delta = float(points.log_delta()[best])
    return (
        float(points.allowed(points.log_first)[best])
        * 2.0
        * math.exp(float(points.log_first[best]) - log_delta)
    )


def _largest(points: LossPoints) -> float:
    return float(np.max(points.exact_mu()))


def _between(
    points: LossPoints, chords: FloatArray, lower: float, width: float, bad: NDArray[np.intp]
) -> FloatArray:
    """Points inside the intervals whose chord is too high, as many as the gap asks for.

    The gap of a chord over the curve falls with the square of the length.
    """
    exact = points.exact_mu()
    base = np.maximum(exact[bad], exact[bad + 1])
    allowed = np.maximum(lower * (1.0 + width) - base, 0.3 * width * lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.sqrt(np.maximum(chords[bad] - base, 0.0) / allowed)
    parts = np.where(np.isfinite(parts), parts, 0.0)
    pieces = np.clip(np.ceil(1.1 * parts), 2, 8).astype(int)
    low, high = points.epsilon[bad], points.epsilon[bad + 1]
    owner = np.repeat(np.arange(bad.size), pieces - 1)
    place = np.arange(owner.size) - np.repeat(np.cumsum(pieces - 1) - pieces, pieces - 1)
    return np.asarray(low[owner] + (high - low)[owner] * (place / pieces[owner]))


def hyperbolic_tail(law: LossIntegrals, mu: float, epsilon: float) -> float:
    """``mu`` if the Gaussian curve of ``mu`` is proved above the one of ``law`` from there on.

    Else ``inf``. Only for the Gaussian law on negative curvature.
    """
    base, growth = law.sensitivity / law.sigma, (law.dim - 1) * law.sigma
    z = epsilon / base - 0.5 * base - growth
    w = epsilon / mu - 0.5 * mu
    if not (z > 0.0 and w > 0.0 and mu > base * (1.0 + 1e-12)):
        return math.inf
    # the factor 2^(1-dim) of the volume and exp(growth^2/2) are left out of both
    log_mass = law.log_mass - (law.dim - 1) * math.log(law.per_unit)
    log_k = math.log(law.sigma) + 0.5 * math.log(2.0 * math.pi) - log_mass
    needed = log_k - math.log(z) - math.log(mu) + math.log((w + mu) ** 2 + 3.0)
    margin = 1e-9 + 1e-14 * (z * z + w * w) + 1e-15 * growth * z
    rises = z / base - w / mu >= 2.0 / (mu * (w + mu)) * (1.0 + 1e-9)
    return mu if rises and 0.5 * (z * z - w * w) >= needed + margin else math.inf


# Probabilities of the privacy loss between points at which they were integrated.
#
# Their normal quantiles are analytic in ``epsilon`` (on flat space they are straight lines), so
# one polynomial through few integrals gives thousands of points. docs/proofs/isotropic-curve.md
# says what is allowed for it.

#: Degree of the polynomial; the one of half the degree has to agree at the nodes between its own.
_DEGREE = 80
#: More points than this are interpolated.
_FEW = 40
#: Largest relative difference of interpolated and integrated probabilities, and what is added to
#: it times the log of the probability.
_AGREEMENT, _ROUNDING = 6e-12, 1e-14
#: Error allowed for an interpolated probability over that of the integrated ones.
_ERRORS = 2.0
#: Share of the largest loss up to which the polynomial may reach.
_REACH = 0.98
#: Quantiles from here on need a correction: the inverse of the normal distribution function loses
#: three digits farther out.
_DEEP = 40.0


class LossInterpolation:
    """Evaluates few points by integrals, and many by one polynomial through integrals.

    ``evaluate`` gives probabilities at increasing ``epsilon``, all with the same error; ``largest``
    is the largest loss, ``inf`` where it is unbounded.
    """

    def __init__(self, evaluate: Callable[[FloatArray], LossPoints], largest: float) -> None:
        self._evaluate, self._largest, self._end = evaluate, largest, _REACH * largest
        self._tried = False
        self._table: _Table | None = None

    def __call__(self, epsilon: FloatArray) -> LossPoints:
        """Probabilities at increasing ``epsilon``."""
        inside = int(np.searchsorted(epsilon, self._end, side="right"))
        if inside > _FEW and not self._tried:
            self._end = min(self._end, float(epsilon[-1]))
            self._tried, self._table = True, self._tabulated()
        if self._table is None or not inside:
            return self._evaluate(epsilon)
        points = self._table.points(epsilon[:inside])
        beyond = epsilon[inside:]
        return points.merged(self._evaluate(beyond)) if beyond.size else points

    def _tabulated(self) -> _Table | None:
        """Polynomial from 0 to the end, if the one of half its degree agrees with the integrals."""
        share = np.sin(0.5 * math.pi * np.arange(_DEGREE + 1) / _DEGREE) ** 2
        bounded = self._largest < math.inf
        place = share * (math.atanh(self._end / self._largest) if bounded else self._end)
        known = self._evaluate(self._largest * np.tanh(place) if bounded else place)
        table = _Table(place, _quantiles(known), self._largest, _ERRORS * float(known.error[0]))
        half = _Table(place[::2], table.quantiles[::2], self._largest, table.error)
        return (
            table
            if _agree(half.points(known.epsilon[1::2]), known.part(slice(1, None, 2)))
            else None
        )


@dataclass(frozen=True)
class _Table:
    """Normal quantiles of ``P_1(L >= epsilon)`` and ``P_2(L >= epsilon)`` at Chebyshev points.

    Places are ``atanh(epsilon / largest)``, in which the square root of a logarithm at the largest
    loss is out of the way, and ``epsilon`` where the loss is unbounded.
    """

    place: FloatArray
    quantiles: FloatArray
    largest: float
    error: float

    def points(self, epsilon: FloatArray) -> LossPoints:
        """Probabilities by the barycentric formula."""
        place = np.arctanh(epsilon / self.largest) if self.largest < math.inf else epsilon
        weights = (-1.0) ** np.arange(self.place.size)
        weights[[0, -1]] *= 0.5
        gap = place[:, None] - self.place
        row, node = np.nonzero(gap == 0.0)
        gap[row, node] = 1.0
        kernel = weights / gap
        found = (kernel @ self.quantiles) / kernel.sum(axis=1)[:, None]
        found[row] = self.quantiles[node]
        first, second = found.T
        log_cdf, error = scipy.special.log_ndtr, np.full_like(epsilon, self.error)
        return LossPoints(epsilon, log_cdf(first), log_cdf(-first), log_cdf(second), error)


def _quantiles(points: LossPoints) -> FloatArray:
    """Quantiles of the two probabilities, shape (n, 2), with a step of Newton's method far out."""
    found = np.stack(points.quantiles(), axis=-1)
    logs = np.stack([points.log_first, points.log_second], axis=-1)
    step = (logs - scipy.special.log_ndtr(found)) / np.maximum(-found, _DEEP)
    return np.where(found < -_DEEP, found + step, found)


def _agree(found: LossPoints, exact: LossPoints) -> bool:
    pairs = (
        (found.log_first, exact.log_first),
        (found.log_complement, exact.log_complement),
        (found.log_second, exact.log_second),
    )
    return all(bool(np.all(np.abs(f - e) <= _AGREEMENT - _ROUNDING * e)) for f, e in pairs)
