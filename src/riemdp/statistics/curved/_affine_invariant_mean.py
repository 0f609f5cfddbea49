"""Affine-invariant means: whitened logarithms, and passes over records."""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import ConvergenceError, NotOnManifoldError
from riemdp.spaces import _logarithms, _points, _symmetric, inverse_factor, raise_first
from riemdp.spaces._matrix_lanes import packed
from riemdp.statistics.curved._flat_mean import (
    composition_allowance,
    condition_numbers,
    least_known,
    pairwise_sum,
)
from riemdp.statistics.curved._mean_solver import check_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray


# Logarithms of SPD matrices as seen from a point, without eigenvectors where that is faster.

#: Multiplications in one product. BLAS libraries keep one so small on the thread that asks for it;
#: threads of theirs would fight those that share out the chunks.
_PRODUCT = 2**18


def logarithm_error(k: int, condition: float, size: float) -> float:
    """Bound what a logarithm is wrong by, its Frobenius norm in units of eps.

    Of a matrix of this condition number, and a logarithm of this Frobenius norm. Eigenvalues are
    known to eps times the largest one; public poles do better.
    """
    return 3.0 * math.sqrt(k) * condition + 4.0 * size


def whitened_logarithms(
    inverse: FloatArray, matrices: FloatArray, first_row: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Logarithms of ``L^-1 X L^-T``, X the matrices ``(n, k, k)``, and about condition numbers.

    Entries ``(n, d)`` in the order of :func:`packed`; the numbers ``(n,)`` are at least the true
    ones, but for rounding. Raises ``NotOnManifoldError`` if rounding makes a matrix indefinite; it
    names its row.
    """
    if len(inverse) > 2:
        found = (
            _logarithms.logarithms_of_3x3(matrices, inverse)
            if len(inverse) == 3
            else _logarithms.logarithms(whitened(inverse, matrices))
        )
        if not found.outside.any():
            return found.entries.T, found.condition
    logs, vectors, condition = decomposed(inverse, matrices, first_row)
    return compositions(logs, vectors), condition


def decomposed(
    inverse: FloatArray, matrices: FloatArray, first_row: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-eigenvalues, eigenvectors and condition numbers of what :func:`whitened` returns."""
    values, vectors = np.linalg.eigh(whitened(inverse, matrices))
    raise_first(values[:, 0] <= 0.0, _points.NOT_POSITIVE_DEFINITE, first_row)
    condition = condition_numbers(values)
    return np.log(values, out=values), vectors, condition


def compositions(logs: FloatArray, vectors: FloatArray) -> FloatArray:
    """Entries ``(n, d)`` of ``V diag(logs) V^T``, in the order of :func:`packed`."""
    product = (vectors * logs[:, None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.asarray(product[:, *packed(logs.shape[-1])])


def whitened(inverse: FloatArray, matrices: FloatArray) -> FloatArray:
    """``L^-1 X L^-T``, symmetric but for rounding: a decomposition reads one half of it."""
    k = len(inverse)
    seen = np.empty(matrices.shape)
    for few in pieces(slice(0, len(matrices)), k):
        half = matrices[few].reshape(-1, k) @ inverse.T
        np.matmul(inverse, half.reshape(-1, k, k), out=seen[few])
    return seen


def pieces(rows: slice, k: int) -> list[slice]:
    """Parts of a slice, each with so few matrices that one product with all of them is small."""
    step = max(1, _PRODUCT // k**3)
    return [slice(i, min(i + step, rows.stop)) for i in range(rows.start, rows.stop, step)]


# Newton's method for the Fréchet mean of SPD matrices in the affine-invariant metric.

#: Far beyond what was seen, 11; steps of the Newton method never stop to make progress.
_MAX_PASSES = 1000
#: Share of the decrease that a Newton step promises, and that it has to keep: of less than a
#: half, so that full steps are taken near the mean, but enough that no two points alternate.
_DECREASE = 0.25


@dataclass
class Pass:
    """What one pass over the data yields at a point."""

    point: FloatArray  # a lower triangular factor of it
    logs: FloatArray  # (n, k) log-eigenvalues of the whitened data, or of a sample of them
    vectors: FloatArray  # (n, k, k)
    gradient: FloatArray  # mean of the whitened logarithms
    objective: float
    allowance: float
    weights: FloatArray | None  # (n,) of sum one, of those with vectors; None if all are equal
    certain: bool  # whether the allowance bounds the rounding

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.gradient))

    @property
    def bound(self) -> float:
        return self.size + self.allowance


def descend(problem: Dense, start: FloatArray, tol: float) -> tuple[Pass, int]:
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


def newton_step(problem: Dense, at: Pass) -> tuple[Pass, int]:
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


# Fréchet mean of SPD matrices in the affine-invariant metric, certified with allowances.
#
# A pass needs the mean of the whitened logarithms, no more. Of many records the Hessian comes from
# a sample, and so does the point to start from. What the certificate says depends on neither.

_EPS = float(np.finfo(np.float64).eps)
#: Records from which on a sample is worth while; of how many it consists, and what part of all.
_MANY, _SAMPLE, _SHARE = 512, 256, 8
#: How near the start is to the mean of the sample, and the share of a gradient that a step with the
#: Hessian of a sample may leave.
_NEAR, _PROGRESS = 0.01, 0.1


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
    n, found = len(data), None
    if n >= _MANY:
        # where this fails, all records say why
        failures = ConvergenceError, NotOnManifoldError, np.linalg.LinAlgError
        with np.errstate(all="ignore"), contextlib.suppress(*failures):
            sample = positions(n, weights, min(_SAMPLE, n // _SHARE))
            few = data[sample]
            near, _ = descend(Dense(few, None), arithmetic_mean(few, None), _NEAR)
            found = descend(Dense(data, weights, sample), near.point, tol)
    at, passes = found or descend(Dense(data, weights), arithmetic_mean(data, weights), tol)
    return _symmetric.symmetrise(at.point @ at.point.T), at.bound, passes


def positions(n: int, weights: FloatArray | None, size: int) -> NDArray[np.intp]:
    """Rows of a sample that stands for all n: evenly spaced, in steps of equal weight.

    Weights ``(n,)`` have sum one. Of ``size`` rows those of large weight may be there more than
    once.
    """
    middles = (np.arange(size) + 0.5) / size
    if weights is None:
        return np.asarray((middles * n).astype(np.intp))
    found = np.searchsorted(np.cumsum(weights), middles * weights.sum())
    return np.asarray(np.minimum(found, n - 1))


def arithmetic_mean(data: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return a lower triangular factor of the arithmetic mean of matrices ``(n, k, k)``."""
    shares = np.full(len(data), 1.0 / len(data)) if weights is None else weights
    mean = (shares @ data.reshape(len(data), -1)).reshape(data.shape[1:])
    return np.asarray(np.linalg.cholesky(_symmetric.symmetrise(mean)))


@dataclass
class Dense:
    """Matrices as they are; a point is a lower triangular factor of it.

    Of a sample, rows that stand for all, the Hessian is taken as long as steps with it help.
    """

    data: FloatArray  # (n, k, k)
    weights: FloatArray | None  # (n,) of sum one
    sample: NDArray[np.intp] | None = None
    size: float = math.inf  # of the last gradient

    def evaluate(self, point: FloatArray) -> Pass:
        data, weights, sample = self.data, self.weights, self.sample
        n, k = data.shape[:2]
        inverse = inverse_factor(point)
        skeel = float(np.linalg.norm(np.abs(inverse) @ np.abs(point), 2))
        known = least_known(k, 4.0 * skeel**2)
        if sample is None:
            logs, vectors = np.empty((n, k)), np.empty((n, k, k))
        else:
            logs, vectors, _ = decomposed(inverse, data[sample])

        def part(rows: slice) -> tuple[FloatArray, float, float, bool]:
            if sample is None:
                logs[rows], vectors[rows], spread = decomposed(inverse, data[rows], rows.start)
                entries = compositions(logs[rows], vectors[rows])
            else:
                entries, spread = whitened_logarithms(inverse, data[rows], rows.start)
            shares = np.full(len(spread), 1.0 / n) if weights is None else weights[rows]
            scaled = entries * shares[:, None]
            square = (scaled * entries).sum(axis=0)
            spread = np.where(shares > 0.0, spread, 1.0)
            # beyond, no bound on the error of a logarithm is known
            certain = bool((spread * known < 1.0).all())
            # what is above the diagonal counts twice
            size = float(square[:k].sum() + 2.0 * square[k:].sum())
            return pairwise_sum(scaled), size, float(spread @ shares), certain

        # what does without eigenvalues divides chunks itself: they may be larger
        chunks = _symmetric.map_chunks(part, n, k // 2 + 1)
        totals, squares, spreads, certain = zip(*chunks, strict=True)
        square = math.fsum(squares)
        allowance = _allowance(n, k, skeel, math.fsum(spreads), math.sqrt(square))
        gradient, places = np.empty((k, k)), packed(k)
        gradient[places] = gradient[places[::-1]] = pairwise_sum(np.array(totals))
        alike = None if sample is not None else weights
        at = Pass(point, logs, vectors, gradient, 0.5 * square, allowance, alike, all(certain))
        if not at.size <= _PROGRESS * self.size:
            self.sample = None
        self.size = at.size
        return at

    def moved(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        return np.asarray(point @ np.linalg.cholesky(_symmetric.expm(direction)))


def _allowance(n: int, k: int, skeel: float, spread: float, size: float) -> float:
    """Bound for what rounding does to a mean of n whitened logarithms.

    Whitening magnifies rounding by the square of the Skeel condition number of the factor, which
    rescaling rows leaves alone. The logarithm magnifies this, and the rounding of its own, by the
    condition number of what it is of. At last the factor is multiplied by itself.

    Parameters
    ----------
    n, k : int
    skeel : float
        Skeel condition number of a factor of the point.
    spread : float
        Mean condition number of the whitened matrices.
    size : float
        At least the mean norm of their logarithms.
    """
    magnified = 2.0 * skeel**2 * spread + 0.5 * (k + 1.0) * skeel**2
    magnified += logarithm_error(k, spread, size)
    return _EPS * (magnified + 4.0 * k) + composition_allowance(n, k, size)
