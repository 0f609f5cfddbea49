"""Fréchet mean of SPD matrices in the affine-invariant metric, by passes without eigenvectors.

A pass needs the mean of the whitened logarithms, no more. The Hessian comes from a sample of the
records, see :mod:`riemdp.statistics._sampled_hessian`, and so does the point to start from. Where
logarithms take eigenvectors, all passes but the last do with polynomials. What the certificate says
depends on none of these. Where that makes too little progress Newton's method goes on.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import NotOnManifoldError
from riemdp.manifolds import _logarithms, _spd_affine_invariant, _symmetric
from riemdp.statistics._affine_invariant_mean import (
    Dense,
    Pass,
    arithmetic_mean,
    cholesky,
    descend,
    newton_step,
    skeel_condition,
    whitening_allowance,
)
from riemdp.statistics._flat_mean import composition_allowance, least_known, pairwise_sum
from riemdp.statistics._rough_logarithms import rough_logarithms, series
from riemdp.statistics._sampled_hessian import (
    LARGEST,
    bounded_step,
    positions,
    sampled_step,
    second_moments,
)
from riemdp.statistics._whitened_logarithms import (
    WhitenedLogarithms,
    logarithm_error,
    whitened_logarithms,
)

if TYPE_CHECKING:
    from riemdp.manifolds import FloatArray

#: Records from which on a sample is worth while.
_MANY = 512
#: Records of a sample for the Hessian, and for a point to start from; parts they are of all.
_SAMPLE, _MORE, _SHARE = 256, 1024, 8
#: Newton steps on the sample; two are enough for all but wild data.
_STEPS = 20
#: Shares of the gradient that a step may leave, and that it leaves of data that are not wild.
_PROGRESS, _TYPICAL = 0.1, 1e-4
#: Error of polynomials, as a share of the tolerance; mean squared distances, as multiples of the
#: sample's, of which they are wrong beyond doubt.
_ROUGH, _WILD = 0.01, 4.0


@dataclass(frozen=True, eq=False)
class _Survey:
    """What one pass over the data yields at a point."""

    point: FloatArray  # a lower triangular factor (k, k)
    gradient: FloatArray  # mean of the whitened logarithms
    allowance: float
    moments: FloatArray | None  # second moments of the entries of the logarithms

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.gradient))

    @property
    def bound(self) -> float:
        return self.size + self.allowance


def solve(
    data: FloatArray, weights: FloatArray | None, tol: float
) -> tuple[FloatArray, float, int]:
    """Return the mean ``(k, k)``, its certified error and the number of passes.

    The space is Hadamard, so the norm of the gradient bounds the distance to the mean:
    docs/proofs/frechet-mean-certificate.md, (a).

    Parameters
    ----------
    data : ndarray, shape (n, k, k)
    weights : ndarray, shape (n,), optional
        With sum one.
    tol : float

    Raises
    ------
    ConvergenceError
        If rounding alone exceeds ``tol``.
    NotOnManifoldError
        If rounding makes a row indefinite as seen from the mean.
    """
    problem = Dense(data, weights)
    found, passes = None, 0
    if len(data) >= _MANY:
        with np.errstate(all="ignore"):  # what is not finite makes no progress
            found, passes = _approach(problem, tol)
    if found is not None and found.bound <= tol:
        return _product(found.point), found.bound, passes
    at, used = _newton(problem, found, tol)
    return _product(at.point), at.size + at.allowance, passes + used


def _newton(problem: Dense, found: _Survey | None, tol: float) -> tuple[Pass, int]:
    """Go on from the point that was found; from the arithmetic mean where that does not do."""
    if found is not None:
        with contextlib.suppress(NotOnManifoldError, np.linalg.LinAlgError):
            return descend(problem, found.point, tol)
    return descend(problem, arithmetic_mean(problem.data, problem.weights), tol)


def _approach(problem: Dense, tol: float) -> tuple[_Survey | None, int]:
    """Take passes while they make progress; return the best, and their number.

    There is none if rounding makes a record indefinite: Newton's method says which.
    """
    best, progress, passes, size = None, _TYPICAL, 0, math.inf
    n, k = problem.data.shape[:2]
    compiled = _logarithms.is_worthwhile(n, k)
    sample = _sample(problem, _SAMPLE)
    try:
        near = _start(problem, sample, compiled=compiled)
        point = near.point
        if k > 3 and not compiled:
            near, point, size, passes = _advance(problem, sample, near, tol)
        while True:
            passes += 1
            goes_on = size * progress > tol
            here = _survey(problem, point, moments=goes_on, compiled=compiled)
            if best is not None and not here.size <= _PROGRESS * best.size:
                return (here if here.bound < best.bound else best), passes
            if not here.bound < math.inf:
                return None, passes
            progress = progress if best is None else here.size / best.size
            best, size = here, here.size
            if best.bound <= tol or best.size <= best.allowance:
                return best, passes
            if near.point is not point:
                near = sample.evaluate(point)
            point = problem.moved(point, sampled_step(near, best.gradient, best.moments))
    except (NotOnManifoldError, np.linalg.LinAlgError):
        return best, passes


def _sample(problem: Dense, size: int) -> Dense:
    """Return records of equal weight that stand for all."""
    n = len(problem.data)
    chosen = positions(n, problem.weights, min(size, n // _SHARE))
    return Dense(problem.data[chosen], None)


def _start(problem: Dense, sample: Dense, *, compiled: bool) -> Pass:
    """Evaluate the sample at a point about as near to the mean as that of so few records is."""
    start = cholesky(_symmetric.symmetrise(sample.data.mean(axis=0)))
    if len(start) <= LARGEST:
        # far from the mean a bound of the Hessian will do, which takes no eigenvectors
        more = _sample(problem, _MORE)
        far = _survey(more, start, moments=True, compiled=compiled)
        if far.moments is not None:
            start = more.moved(start, bounded_step(far.gradient, far.moments))
    near = sample.evaluate(start)
    for _ in range(_STEPS):
        sampling = 2.0 * math.sqrt(2.0 * near.objective / len(sample.data))
        if near.size <= max(sampling, near.allowance):
            break
        near, _ = newton_step(sample, near)
    return near


def _advance(
    problem: Dense, sample: Dense, near: Pass, tol: float
) -> tuple[Pass, FloatArray, float, int]:
    """Take passes by polynomials, up to where the next one should end within the tolerance.

    Returns
    -------
    near : Pass
        Of the sample.
    point : ndarray, shape (k, k)
        To go on from.
    size : float
        Norm of the gradient before the last step.
    passes : int
    """
    data, weights = problem.data, problem.weights
    n, k = data.shape[:2]
    least, largest = np.exp([near.logs.min(), near.logs.max()]).tolist()
    polynomial = series(least, largest, _ROUGH * tol)
    point, size, passes = near.point, math.inf, 0
    if polynomial is None:
        return near, point, size, passes
    while size * _TYPICAL > tol:
        inverse = _spd_affine_invariant.inverse_factor(point)

        def part(
            rows: slice, inverse: FloatArray = inverse
        ) -> tuple[FloatArray, FloatArray | None, float]:
            entries = rough_logarithms(inverse, data[rows], polynomial)
            logs = WhitenedLogarithms(k, entries, np.empty(0))
            shares = 1.0 / n if weights is None else weights[rows]
            second = second_moments(logs.half(), shares) if k <= LARGEST else None
            return logs.total(shares), second, logs.square(shares)

        totals, seconds, squares = zip(*_symmetric.map_chunks(part, n, k), strict=True)
        passes += 1
        gradient = pairwise_sum(np.array(totals))
        now = float(np.linalg.norm(gradient))
        wild = not math.fsum(squares) <= _WILD * 2.0 * near.objective
        if wild or not now <= _PROGRESS * size:
            break
        size = now
        if near.point is not point:
            near = sample.evaluate(point)
        moments = sum(seconds) if k <= LARGEST else None
        point = problem.moved(point, sampled_step(near, gradient, moments))
    return near, point, size, passes


def _survey(problem: Dense, point: FloatArray, *, moments: bool, compiled: bool) -> _Survey:
    data, weights = problem.data, problem.weights
    n, k = data.shape[:2]
    inverse = _spd_affine_invariant.inverse_factor(point)
    moments = moments and k <= LARGEST

    skeel = skeel_condition(inverse, point)
    known = least_known(k, 4.0 * skeel**2)

    def part(rows: slice) -> tuple[FloatArray, FloatArray | None, float, float]:
        logs = whitened_logarithms(inverse, data, rows, compiled=compiled)
        shares = 1.0 / n if weights is None else weights[rows]
        second = second_moments(logs.half(), shares) if moments else None
        condition = logs.condition if weights is None else logs.condition[weights[rows] > 0.0]
        # nobody knows what the logarithm of a matrix of such a condition is wrong by
        lost = condition.max(initial=0.0) * known >= 1.0
        spread = math.inf if lost else (logs.condition * shares).sum()
        return logs.total(shares), second, logs.square(shares), float(spread)

    # compiled code divides chunks itself: they may be larger
    chunks = _symmetric.map_chunks(part, n, k // 2 + 1 if compiled else k)
    totals, seconds, squares, spreads = zip(*chunks, strict=True)
    mean, spread = pairwise_sum(np.array(totals)), math.fsum(spreads)
    size = math.sqrt(math.fsum(squares))  # at least the mean norm
    allowance = whitening_allowance(k, skeel, spread, logarithm_error(k, spread, size))
    allowance += composition_allowance(n, k, size)
    return _Survey(point, mean, allowance, sum(seconds) if moments else None)


def _product(factor: FloatArray) -> FloatArray:
    return _symmetric.symmetrise(factor @ factor.T)
