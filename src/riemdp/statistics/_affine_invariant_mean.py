"""Newton's method for the Fréchet mean of SPD matrices in the affine-invariant metric."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from riemdp._errors import ConvergenceError
from riemdp.manifolds import _points, _symmetric, raise_first
from riemdp.manifolds._spd_affine_invariant import inverse_factor, whiten
from riemdp.statistics._flat_mean import (
    composition_allowance,
    condition_numbers,
    is_known,
    pairwise_sum,
    sum_of_compositions,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.manifolds import FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Far beyond what was seen, 11; steps of the Newton method never stop to make progress.
_MAX_PASSES = 1000
#: Share of the decrease that a Newton step promises, and that it has to keep: of less than a
#: half, so that full steps are taken near the mean, but enough that no two points alternate.
_DECREASE = 0.25
#: Multiplications in one product. BLAS libraries keep one so small on the thread that asks for it;
#: threads of theirs would fight those that share out the chunks.
_PRODUCT = 2**18


@dataclass
class Pass:
    """What one pass over the data yields at a point."""

    point: FloatArray  # as the problem writes it
    logs: FloatArray  # (n, k) log-eigenvalues of the whitened data
    vectors: FloatArray  # (n, k, k)
    gradient: FloatArray  # mean of the whitened logarithms
    objective: float
    allowance: float
    certain: bool = True  # whether the allowance bounds the rounding

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.gradient))


class Problem(Protocol):
    """Data and a way of writing points, for :func:`descend`."""

    weights: FloatArray | None

    def evaluate(self, point: FloatArray) -> Pass:
        """One pass over the data: whiten, decompose, average the logarithms."""

    def moved(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        """End of the geodesic that leaves a point along a whitened direction ``(k, k)``."""


def descend(problem: Problem, start: FloatArray, tol: float) -> tuple[Pass, int]:
    """Newton's method until the certificate is at most ``tol``; the passes it took as well.

    Raises
    ------
    ConvergenceError
        If rounding exceeds ``tol``, or after a thousand passes.
    """
    current = problem.evaluate(start)
    passes, best = 1, np.inf
    while True:
        bound = current.size + current.allowance
        if bound <= tol and current.certain:
            return current, passes
        if passes >= _MAX_PASSES:
            raise ConvergenceError(f"no mean was found to tol = {tol:.3g} in {passes} passes")
        if current.size <= current.allowance and bound >= best:
            raise ConvergenceError(
                f"the mean cannot be certified to tol = {tol:.3g}: float64 rounding exceeds it "
                "on these data; choose a smaller ball, scale the data, or allow a larger tol"
            )
        best = min(best, bound)
        current, used = newton_step(problem, current)
        passes += used


def improve(problem: Problem, at: Pass) -> Pass:
    """Take one Newton step, shortened until it helps, or none if none helps."""
    after, _ = newton_step(problem, at)
    return after if after.size < at.size else at


def arithmetic_mean(data: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return a lower triangular factor of the arithmetic mean of matrices ``(n, k, k)``."""
    flat = data.reshape(len(data), -1)
    mean = (np.full(len(data), 1.0 / len(data)) if weights is None else weights) @ flat
    return cholesky(_symmetric.symmetrise(mean.reshape(data.shape[1:])))


def cholesky(matrix: FloatArray) -> FloatArray:
    """Lower triangular factor of a matrix ``(k, k)``."""
    return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)


def whitening_allowance(k: int, skeel: float, spread: float, logarithm: float) -> float:
    """Bound for what rounding does to a mean of whitened logarithms, but for their sum.

    Whitening magnifies rounding by the square of the Skeel condition number of the factor, which
    rescaling rows leaves alone. The logarithm magnifies this, and the rounding of its own, by the
    condition number of what it is of. At last the factor is multiplied by itself.

    Parameters
    ----------
    k : int
    skeel : float
        :func:`skeel_condition` of a factor of the point.
    spread : float
        Mean condition number of the whitened matrices.
    logarithm : float
        Mean error of their logarithms, in units of eps.
    """
    magnified = 2.0 * skeel**2 * spread + logarithm + 0.5 * (k + 1.0) * skeel**2
    return _EPS * (magnified + 4.0 * k)


def skeel_condition(inverse: FloatArray, point: FloatArray) -> float:
    """Skeel condition number of a factor ``(k, k)``, whose inverse is given."""
    return float(np.linalg.norm(np.abs(inverse) @ np.abs(point), 2))


class Dense:
    """Matrices as they are; a point is a lower triangular factor of it."""

    def __init__(self, data: FloatArray, weights: FloatArray | None) -> None:
        self.data, self.weights = data, weights

    def evaluate(self, point: FloatArray) -> Pass:
        data, weights = self.data, self.weights
        n, k = data.shape[:2]
        inverse = inverse_factor(point)
        logs = np.empty((n, k))
        vectors = np.empty((n, k, k))
        skeel = skeel_condition(inverse, point)

        def part(rows: slice) -> tuple[FloatArray, float, float, bool]:
            whitened = np.concatenate([whiten(inverse, data[few]) for few in pieces(rows, k)])
            values, vectors[rows] = np.linalg.eigh(whitened)
            raise_first(values[:, 0] <= 0.0, _points.NOT_POSITIVE_DEFINITE, rows.start)
            logs[rows] = np.log(values)
            share = np.full(len(values), 1.0 / n) if weights is None else weights[rows]
            total = sum_of_compositions(logs[rows] * share[:, None], vectors[rows])
            square = np.einsum("ij,ij->i", logs[rows], logs[rows])
            spread = float(share @ condition_numbers(values))
            known = bool((is_known(values, 4.0 * skeel**2) | (share == 0.0)).all())
            return total, float(share @ square), spread, known

        totals, squares, spreads, known = zip(*_symmetric.map_chunks(part, n, k), strict=True)
        gradient = _symmetric.symmetrise(pairwise_sum(np.array(totals)))
        square = math.fsum(squares)
        # eigenvalues are known to eps times the largest one
        spread = math.fsum(spreads)
        allowance = whitening_allowance(k, skeel, spread, 3.0 * math.sqrt(k) * spread)
        allowance += composition_allowance(n, k, math.sqrt(square))
        return Pass(point, logs, vectors, gradient, 0.5 * square, allowance, all(known))

    def moved(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        return point @ cholesky(_symmetric.expm(direction))


def newton_step(problem: Problem, at: Pass) -> tuple[Pass, int]:
    """Newton step with backtracking on the objective."""
    direction = _newton_direction(at, problem.weights)
    slope = float(np.vdot(direction, at.gradient))
    length, used = 1.0, 0
    while True:
        trial = problem.evaluate(problem.moved(at.point, length * direction))
        used += 1
        decrease = at.objective - trial.objective
        if decrease >= _DECREASE * length * slope or used >= 40:
            return trial, used
        level = decrease >= -1e-13 * (1.0 + at.objective)  # up to the rounding of the objective
        if level and (trial.size <= 0.5 * at.size or at.size <= 1e-6):
            return trial, used
        length *= 0.5


def _newton_direction(at: Pass, weights: FloatArray | None) -> FloatArray:
    """Solve ``mean_i U_i (g_i * (U_i^T V U_i)) U_i^T = gradient`` for V."""
    product = hessian(at, weights)
    return conjugate_gradients(product, at.gradient, at.size * min(0.1, at.size))


def hessian(at: Pass, weights: FloatArray | None) -> Callable[[FloatArray], FloatArray]:
    """Return ``V -> mean_i U_i (g_i * (U_i^T V U_i)) U_i^T``, of tangents ``(k, k)``.

    ``g_ab = (x/2) coth(x/2)``, ``x = s_a - s_b``.
    """
    n, k = at.logs.shape
    kernel = np.empty((n, k, k))

    def fill(rows: slice) -> None:
        half = 0.5 * (at.logs[rows, :, None] - at.logs[rows, None, :])
        part = kernel[rows]
        part[:] = (1.0 / n) if weights is None else weights[rows, None, None]
        ratio = np.divide(half, np.tanh(half), out=np.ones_like(half), where=np.abs(half) > 1e-8)
        part *= ratio

    for _ in _symmetric.map_chunks(fill, n, k):
        continue
    return functools.partial(_hessian_product, at.vectors, kernel)


def conjugate_gradients(
    product: Callable[[FloatArray], FloatArray], gradient: FloatArray, goal: float
) -> FloatArray:
    """Solve ``product(V) = gradient``, symmetric matrices, until the residual is at most ``goal``.

    No Hessian here is less than one: the system is well conditioned.
    """
    direction = np.zeros_like(gradient)
    residual = gradient.copy()
    search = residual.copy()
    square = float(np.vdot(residual, residual))
    for _ in range(30):
        if np.sqrt(square) <= goal:
            break
        image = product(search)
        step = square / float(np.vdot(search, image))
        direction += step * search
        residual -= step * image
        previous, square = square, float(np.vdot(residual, residual))
        search = residual + (square / previous) * search
    return _symmetric.symmetrise(direction)


def _hessian_product(vectors: FloatArray, kernel: FloatArray, tangent: FloatArray) -> FloatArray:
    n, k = vectors.shape[:2]

    def part(rows: slice) -> FloatArray:
        total = np.zeros((k, k))
        for few in pieces(rows, k):
            basis = vectors[few]
            inner = kernel[few] * (np.swapaxes(basis, -1, -2) @ (tangent @ basis))
            # sum_i U_i W_i U_i^T as one larger product.
            left = np.swapaxes(basis @ inner, 0, 1).reshape(k, -1)
            total += left @ np.swapaxes(basis, 0, 1).reshape(k, -1).T
        return total

    image = np.zeros((k, k))
    for total in _symmetric.map_chunks(part, n, k):
        image += total
    return _symmetric.symmetrise(image)


def pieces(rows: slice, k: int) -> list[slice]:
    """Parts of a slice, each with so few matrices that one product with all of them is small."""
    step = max(1, _PRODUCT // k**3)
    return [slice(i, min(i + step, rows.stop)) for i in range(rows.start, rows.stop, step)]
