"""Newton's method for the Fréchet mean of SPD matrices in the affine-invariant metric."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from riemdp._errors import ConvergenceError
from riemdp.spaces import _symmetric
from riemdp.statistics._mean_solver import check_bound
from riemdp.statistics._whitened_logarithms import pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import FloatArray

#: Far beyond what was seen, 11; steps of the Newton method never stop to make progress.
_MAX_PASSES = 1000
#: Share of the decrease that a Newton step promises, and that it has to keep: of less than a
#: half, so that full steps are taken near the mean, but enough that no two points alternate.
_DECREASE = 0.25


@dataclass
class Pass:
    """What one pass over the data yields at a point."""

    point: FloatArray  # as the problem writes it
    logs: FloatArray  # (n, k) log-eigenvalues of the whitened data, or of a sample of them
    vectors: FloatArray  # (n, k, k)
    gradient: FloatArray  # mean of the whitened logarithms
    objective: float
    allowance: float
    weights: FloatArray | None  # (n,) of sum one, of those with vectors; None if all are equal
    certain: bool = True  # whether the allowance bounds the rounding

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.gradient))

    @property
    def bound(self) -> float:
        return self.size + self.allowance


class Problem(Protocol):
    """Data and a way of writing points, for :func:`descend`."""

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
    while not (current.bound <= tol and current.certain):
        if passes >= _MAX_PASSES:
            raise ConvergenceError(f"no mean was found to tol = {tol:.3g} in {passes} passes")
        if current.size <= current.allowance and current.bound >= best:
            check_bound(math.inf, tol)
        best = min(best, current.bound)
        current, used = newton_step(problem, current)
        passes += used
    return current, passes


def newton_step(problem: Problem, at: Pass) -> tuple[Pass, int]:
    """Newton step with backtracking on the objective."""
    direction = _newton_direction(at)
    slope = float(np.vdot(direction, at.gradient))
    length, used = 1.0, 0
    while True:
        trial = problem.evaluate(problem.moved(at.point, length * direction))
        used += 1
        decrease = at.objective - trial.objective
        if decrease >= _DECREASE * length * slope or used >= 40:
            return trial, used
        level = decrease >= -at.allowance * (1.0 + at.objective)  # up to rounding
        if level and (trial.size <= 0.5 * at.size or at.size <= 1e-6):
            return trial, used
        length *= 0.5


def _newton_direction(at: Pass) -> FloatArray:
    """Solve ``mean_i U_i (g_i * (U_i^T V U_i)) U_i^T = gradient`` for V."""
    product = hessian(at)
    return conjugate_gradients(product, at.gradient, at.size * min(0.1, at.size))


def hessian(at: Pass) -> Callable[[FloatArray], FloatArray]:
    """Return ``V -> mean_i U_i (g_i * (U_i^T V U_i)) U_i^T``, of tangents ``(k, k)``.

    ``g_ab = (x/2) coth(x/2)``, ``x = s_a - s_b``.
    """
    n, k = at.logs.shape
    kernel = np.empty((n, k, k))

    def fill(rows: slice) -> None:
        half = 0.5 * (at.logs[rows, :, None] - at.logs[rows, None, :])
        part = kernel[rows]
        part[:] = (1.0 / n) if at.weights is None else at.weights[rows, None, None]
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
