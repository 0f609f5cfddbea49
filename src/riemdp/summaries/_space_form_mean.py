"""Newton's method for the Fréchet mean on spheres and hyperbolic spaces.

With ``c = <x, M>`` (minus the Minkowski product on the hyperboloid) and theta the distance at unit
curvature, the objective ``F(M) = mean theta^2 / 2`` has gradient ``-mean w (x - c M)``,
``w = theta / sin(theta)``, and Hessian ``mean [a I + (1 - a) u u^T]``, ``a = theta cot(theta)``,
``u`` the unit direction to x (hyperbolic functions on the hyperboloid).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import ConvergenceError
from riemdp.manifolds import Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, Hyperbolic

    FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
#: Entries per chunk, work space included: a chunk is read twice and should stay in the cache.
_CHUNK_ENTRIES = 131072
#: Rows that one product adds.
_BLOCK = 128
_MAX_PASSES = 100
#: Smallest square of a sine, far under its rounding: rows at the point itself get w = 1.
_FLOOR = 1e-32


@dataclass
class _Pass:
    """What one pass over the data yields at a point, all at unit curvature."""

    point: FloatArray
    objective: float
    gradient: FloatArray  # of -F, a tangent vector
    size: float  # norm of the gradient
    mean_a: float
    farthest: float
    allowance: float


def solve(
    manifold: Sphere | Hyperbolic,
    data: FloatArray,
    weights: FloatArray | None,
    ball: Ball | None,
    tol: float,
) -> tuple[FloatArray, float, int]:
    """Return the mean, its certified error and the number of passes.

    Certificates: docs/proofs/frechet-mean-certificate.md, (a) on hyperbolic space, (b) and (c) on
    spheres.
    """
    problem = _Problem(manifold, data, weights, ball)
    current = problem.evaluate(problem.start())
    passes, best = 1, math.inf
    while True:
        bound = problem.certificate(current, tol)
        if bound <= tol:
            return current.point / problem.k, bound, passes
        rounding_reached = current.size <= current.allowance
        if passes >= _MAX_PASSES or (rounding_reached and bound >= best):
            raise ConvergenceError(
                f"the mean cannot be certified to tol = {tol:.3g}: float64 rounding exceeds it "
                "on these data; choose a smaller ball, scale the data, or allow a larger tol"
            )
        best = min(best, bound)
        current, used = problem.step(current)
        passes += used


class _Problem:
    """The data and the operations of one solve, at unit curvature: a record is ``k x``."""

    def __init__(
        self,
        manifold: Sphere | Hyperbolic,
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,
    ) -> None:
        self.spherical = isinstance(manifold, Sphere)
        self.k = math.sqrt(abs(manifold.curvature))
        self.unit = type(manifold)(manifold.dim)
        self.data = np.ascontiguousarray(data)
        self.n = len(data)
        self.weights = weights
        self.total = float(self.n) if weights is None else 1.0
        self.ball = ball
        self.radius = math.inf if ball is None else self.k * ball.radius
        self.center = None if ball is None else self.k * ball.center
        self.height = 1.0 if self.spherical else self.k * float(data[:, 0].max())
        # Minkowski products carry this metric.
        self.metric = np.ones(manifold.dim + 1)
        if not self.spherical:
            self.metric[0] = -1.0
        # Per row: c at the point evaluated last, and w there or what the Hessian makes of it.
        self.cosines, self.factors = np.empty(self.n), np.empty(self.n)
        length = max(1, _CHUNK_ENTRIES // (data.shape[1] + 4))
        self.chunks = [slice(i, min(i + length, self.n)) for i in range(0, self.n, length)]
        self.scratch = np.empty((2, min(length, self.n)))

    def start(self) -> FloatArray:
        """Arithmetic mean, moved onto the manifold and into the ball."""
        mean = (np.ones(self.n) if self.weights is None else self.weights) @ self.data
        norm = math.sqrt(abs(self._inner(mean, mean)))
        return self.into_ball(mean / norm)

    def into_ball(self, point: FloatArray) -> FloatArray:
        """Project onto the ball on spheres, where the certificate needs it."""
        if self.ball is None or self.center is None or not self.spherical:
            return point
        if float(self.center @ point) > math.cos(self.radius) + 4.0 * _EPS:
            return point  # well inside
        return self.k * self.ball.project(point / self.k)

    def evaluate(self, point: FloatArray) -> _Pass:
        """One pass over the data."""
        pulls = np.empty((len(self.chunks), len(point)))
        objective = mean_a = mean_w = farthest = lost = 0.0
        covector = self._covector(point)
        scaled = self.k * covector
        for pull, rows in zip(pulls, self.chunks, strict=True):
            block, cosine, factor = self.data[rows], self.cosines[rows], self.factors[rows]
            sine, theta = self.scratch[:, : len(cosine)]
            np.dot(block, scaled, out=cosine)
            self._square_of_sine(cosine, _FLOOR, out=sine)
            np.sqrt(sine, out=sine)
            if self.spherical:
                np.arctan2(sine, cosine, out=theta)
            else:
                np.arcsinh(sine, out=theta)
            top = float(theta.max())
            np.divide(theta, sine, out=factor)
            weighted = factor
            if self.weights is None:
                objective += float(theta @ theta)
            else:
                share = self.weights[rows]
                weighted = factor * share
                objective += float((theta * theta) @ share)
            mean_a += float(weighted @ cosine)
            mean_w += float(weighted.sum())
            pull[:] = _weighted_sum(weighted, block)
            if self.spherical and top > 0.5 * math.pi:
                # w has a pole at the antipode: its rounding error grows like 1/sine there.
                inverse = np.where(cosine < 0.0, 1.0 / sine, 0.0)
                lost += float(inverse.sum() if self.weights is None else inverse @ share)
            farthest = max(farthest, top)
        mean_a, pull = mean_a / self.total, pulls.sum(axis=0) * (self.k / self.total)
        gradient = self._tangential(point, pull)
        size = float(self.unit.norm(point, gradient))
        # Each logarithm; then the sum, whose terms go through at most ``chain`` additions.
        allowance = 8.0 * _EPS * math.sqrt(len(point)) * (1.0 + farthest)
        chain = _BLOCK + len(self.scratch[0]) // _BLOCK + len(self.chunks)
        allowance += _EPS * chain * mean_w / self.total
        if self.spherical:
            allowance += 16.0 * math.pi * _EPS * lost / self.total
        else:
            allowance *= max(1.0, float(point[0]) * self.height)
        objective *= 0.5 / self.total
        return _Pass(point, objective, gradient, size, mean_a, farthest, allowance)

    def _inner(self, u: FloatArray, v: FloatArray) -> float:
        """Ambient inner product, with the rounding of the ambient coordinates."""
        return float(u * self.metric @ v)

    def _covector(self, point: FloatArray) -> FloatArray:
        """Vector whose product with x is c: ``<x, M>``, or minus the Minkowski product."""
        return point if self.spherical else -self.metric * point

    def _tangential(self, point: FloatArray, vector: FloatArray) -> FloatArray:
        """Part of a vector orthogonal to a point, twice: the second time removes the rounding."""
        covector = self._covector(point)
        for _ in range(2):
            vector = vector - float(vector @ covector) * point
        return vector

    def _square_of_sine(self, cosine: FloatArray, floor: float, out: FloatArray) -> FloatArray:
        """``|1 - c^2|``, at least ``floor``.

        Next to the point rounding may turn its sign; the floor takes care of that too.
        """
        np.multiply(cosine, cosine, out=out)
        if self.spherical:
            np.subtract(1.0, out, out=out)
        else:
            np.subtract(out, 1.0, out=out)
        return np.maximum(out, floor, out=out)

    def _prepare_hessian(self) -> None:
        """Turn w into ``(1 - a) / sine^2``, times its weight, in place.

        The floor makes rows next to the point count for almost nothing instead of for their
        rounding: what multiplies the factor is of the order of the square of the sine.
        """
        for rows in self.chunks:
            cosine, factor = self.cosines[rows], self.factors[rows]
            np.multiply(factor, cosine, out=factor)
            np.subtract(1.0, factor, out=factor)
            factor /= self._square_of_sine(cosine, 1e-8, out=self.scratch[0, : len(cosine)])
            if self.weights is not None:
                factor *= self.weights[rows]

    def certificate(self, at: _Pass, tol: float) -> float:
        """Bound of the distance to the mean, inf where none is proved."""
        size = at.size + at.allowance
        if not self.spherical:
            return size / self.k
        assert self.center is not None
        bound = math.inf
        if 2.0 * self.radius < 0.5 * math.pi:
            bound = size / (2.0 * self.radius / math.tan(2.0 * self.radius)) / self.k
        tau = self.k * tol
        if bound <= tol or size >= tau:
            return bound  # proved, or out of reach of the local certificate: its h is at most 1
        from_center = float(self.unit.dist(self.center, at.point))
        reach = at.farthest + tau
        if max(from_center, self.radius) + tau < 0.5 * math.pi and reach < math.pi:
            # a is concave and decreasing: its fall over tau is at most tau |a'(reach)|.
            steepest = (reach - math.sin(reach) * math.cos(reach)) / math.sin(reach) ** 2
            h = (at.mean_a - tau * steepest) * (1.0 - 1e-9)
            if h > 0.0 and size < tau * h:
                bound = min(bound, size / h / self.k)
        return bound

    def step(self, at: _Pass) -> tuple[_Pass, int]:
        """Newton step with backtracking, truncated where the Hessian is not positive."""
        direction = self._newton_direction(at)
        slope = self._inner(direction, at.gradient)
        length, used = 1.0, 0
        while True:
            point = self.unit.exp(at.point, length * direction)
            trial = self.evaluate(self.into_ball(point))
            used += 1
            decrease = at.objective - trial.objective
            if decrease >= 1e-4 * length * slope or trial.size <= 0.5 * at.size or used >= 40:
                return trial, used
            if decrease >= -1e-13 * (1.0 + at.objective) and at.size <= 1e-6:
                return trial, used  # the objective is at its rounding level
            length *= 0.5

    def _newton_direction(self, at: _Pass) -> FloatArray:
        """Solve the Newton equation by conjugate gradients, to what Newton's method can use."""
        goal = at.size * min(0.1, 0.01 * at.size)
        self._prepare_hessian()
        direction, residual, search = np.zeros(len(at.point)), at.gradient, at.gradient
        square = at.size**2
        for _ in range(20):
            image = self._hessian_product(at, search)
            curvature = self._inner(search, image)
            if curvature <= 0.0:
                # Concave that way: a long step, shortened by backtracking if it must be.
                return direction if direction.any() else 4.0 * at.gradient
            step = square / curvature
            direction += step * search
            residual = residual - step * image
            previous, square = square, self._inner(residual, residual)
            if square <= goal**2:
                break
            search = residual + (square / previous) * search
        return direction

    def _hessian_product(self, at: _Pass, tangent: FloatArray) -> FloatArray:
        scaled = (self.k**2 / self.total) * self.metric * tangent
        image = np.zeros(len(at.point))
        for rows in self.chunks:
            block = self.data[rows]
            share = np.dot(block, scaled, out=self.scratch[0, : len(block)])
            share *= self.factors[rows]
            image += share @ block
        return at.mean_a * tangent + self._tangential(at.point, image)


def _weighted_sum(weights: FloatArray, rows: FloatArray) -> FloatArray:
    """``weights @ rows`` by blocks: in one product rounding would grow with the number of rows."""
    whole = len(rows) - len(rows) % _BLOCK
    blocks = rows[:whole].reshape(-1, _BLOCK, rows.shape[1])
    sums = weights[:whole].reshape(-1, 1, _BLOCK) @ blocks
    return np.asarray(sums.sum(axis=(0, 1)) + weights[whole:] @ rows[whole:])
