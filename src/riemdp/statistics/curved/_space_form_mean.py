"""Newton's method for the Fréchet mean on spheres and hyperbolic spaces.

With ``c = <x, M>`` (minus the Minkowski product on the hyperboloid) and theta the distance at unit
curvature, the objective ``F(M) = mean theta^2 / 2`` has gradient ``-mean w (x - c M)``,
``w = theta / sin(theta)``, and Hessian ``mean [a I + (1 - a) u u^T]``, ``a = theta cot(theta)``,
``u`` the unit direction to x (hyperbolic functions on the hyperboloid).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from riemdp._working_precision import working_precision
from riemdp.statistics.curved._certified_space_form import Averages
from riemdp.statistics.curved._mean_solver import CertifiedMean

if TYPE_CHECKING:
    from riemdp.spaces import Ball, FloatArray, Hyperbolic, Sphere

_EPS = float(np.finfo(np.float64).eps)
#: Entries per chunk, work space included: a chunk is read twice and should stay in the cache.
_CHUNK_ENTRIES = 131072
#: Rows that one product adds.
_BLOCK = 128
_MAX_PASSES = 100
#: Working precision of what is made of a few floats, in bits.
_PRECISION = 64
#: Share of the decrease that a Newton step promises, and that it has to keep.
_DECREASE = 0.25
#: Share of the tolerance that the residual of a Newton equation may take.
_ENOUGH = 0.1
#: Smallest square of a sine, far under its rounding: rows at the point itself get w = 1.
_FLOOR = 1e-32
#: Longest step in hyperbolic space: cosh of twice its length does not overflow.
_LONGEST = 350.0
#: Added to the squares of sines in the Hessian: rows at the point itself then add nothing instead
#: of their rounding, and what other rows add changes in about the twelfth digit.
_HESSIAN_FLOOR = 1e-12


@dataclass
class Pass:
    """What one pass over the data yields at a point, all at unit curvature."""

    point: FloatArray
    objective: float
    gradient: FloatArray  # of -F, a tangent vector
    size: float  # norm of the gradient
    mean_a: float
    farthest: float
    allowance: float


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # no NaN is ever certified
def solve(
    manifold: Sphere | Hyperbolic,
    data: FloatArray,
    weights: FloatArray | None,
    ball: Ball | None,
    tol: float,
) -> CertifiedMean:
    """Return the mean, or what it comes to where float64 rounding keeps it from being certified.

    Certificates: docs/proofs/frechet-mean-certificate.md, (a) on hyperbolic space, (b) and (c) on
    spheres.
    """
    problem = _Problem(manifold, data, weights, ball)
    problem.enough = _ENOUGH * problem.k * tol
    current = problem.evaluate(problem.start())
    passes, best = 1, math.inf
    while True:
        near = current.size <= problem.k * tol  # no bound is less than the gradient
        bound = problem.certificate(current, tol) if near else math.inf
        stuck = current.size <= current.allowance and bound >= best
        if bound <= tol or stuck or passes >= _MAX_PASSES:
            return CertifiedMean(current.point / problem.k, bound, passes)
        best = min(best, bound)
        current, used = problem.step(current)
        passes += used


class _Part(NamedTuple):
    """A chunk of the data, with what is known of each row."""

    block: FloatArray
    weights: FloatArray | None
    cosine: FloatArray  # c at the point evaluated last
    factor: FloatArray  # w there, or what the Hessian makes of it

    def sum(self, values: FloatArray) -> float:
        """Weigh and add."""
        return float(values.sum() if self.weights is None else values @ self.weights)


class _Problem:
    """The data and the operations of one solve, at unit curvature: a record is ``k x``."""

    def __init__(
        self,
        manifold: Sphere | Hyperbolic,
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,
    ) -> None:
        self.spherical = manifold.curvature > 0.0
        self.sign = 1.0 if self.spherical else -1.0
        # Their product with M has the product c with x: ``<x, M>``, or minus the Minkowski product.
        self.signs = np.full(data.shape[1], self.sign)
        self.signs[0] = 1.0
        self.k = math.sqrt(abs(manifold.curvature))
        self.dim = manifold.dim
        self.data, self.weights = np.ascontiguousarray(data), weights
        self.total = float(len(data)) if weights is None else 1.0
        self.ball = ball if self.spherical else None
        self.enough = 0.0  # residual of a Newton equation that is not worth another product
        self.height = 1.0 if self.spherical else self.k * float(data[:, 0].max())
        cosines, factors = np.empty(len(data)), np.empty(len(data))
        length = min(max(1, _CHUNK_ENTRIES // (data.shape[1] + 4)), len(data))
        self.parts = []
        for start in range(0, len(data), length):
            rows = slice(start, start + length)
            share = None if weights is None else weights[rows]
            self.parts.append(_Part(self.data[rows], share, cosines[rows], factors[rows]))
        # Additions that a term of a sum over the records goes through, at most.
        self.chain = _BLOCK + length // _BLOCK + len(self.parts)

    def start(self) -> FloatArray:
        """Arithmetic mean, moved onto the manifold and into the ball."""
        weights = np.ones(len(self.data)) if self.weights is None else self.weights
        mean = weights @ self.data
        return self.into_ball(mean / math.sqrt(abs(self._inner(mean, mean))))

    def into_ball(self, point: FloatArray) -> FloatArray:
        """Project onto the ball on spheres, where the certificate needs it."""
        if self.ball is None:
            return point
        if self.k * float(self.ball.center @ point) > (
            math.cos(self.k * self.ball.radius) + 4.0 * _EPS
        ):
            return point  # well inside
        return self.k * self.ball.project(point / self.k)

    def evaluate(self, point: FloatArray) -> Pass:
        """One pass over the data."""
        pull = np.zeros(len(point))
        objective = farthest = lost = mean_w = 0.0
        covector = self.signs * point
        scaled = self.k * covector
        for part in self.parts:
            np.dot(part.block, scaled, out=part.cosine)
            top, sine, theta = (_angles if self.spherical else _lengths)(part.cosine)
            factor = np.divide(theta, sine, out=part.factor)
            objective += part.sum(theta * theta)
            weighted = factor if part.weights is None else factor * part.weights
            pull += _weighted_sum(weighted, part.block)
            if self.spherical and top <= 0.5 * math.pi:
                largest = top / math.sin(top) if top else 1.0  # w grows with theta
                mean_w += largest * part.sum(np.ones(len(factor)))
            else:
                mean_w += float(weighted.sum())
                if self.spherical:
                    # w has a pole at the antipode: rounding there grows like 1/sine^2.
                    lost += part.sum(np.where(part.cosine < 0.0, 1.0 / (sine * sine), 0.0))
            farthest = max(farthest, top)
        pull *= self.k / self.total
        mean_a = float(pull @ covector)  # a = w c
        gradient = pull - mean_a * point
        gradient -= float(gradient @ covector) * point  # the rounding of the line before
        # Each logarithm; then the sum, in proportion to the mean w.
        allowance = 8.0 * _EPS * math.sqrt(len(point)) * (1.0 + farthest)
        allowance += _EPS * self.chain * mean_w / self.total
        if self.spherical:
            allowance += 16.0 * math.pi * _EPS * math.sqrt(len(point)) * lost / self.total
        else:
            allowance *= max(1.0, float(point[0]) * self.height)
        return Pass(
            point,
            objective * 0.5 / self.total,
            gradient,
            self._norm(point, gradient),
            mean_a,
            farthest,
            allowance,
        )

    def _inner(self, u: FloatArray, v: FloatArray) -> float:
        """Ambient inner product, with the rounding of the ambient coordinates."""
        return self.sign * float(u @ (self.signs * v))

    def _norm(self, point: FloatArray, tangent: FloatArray) -> float:
        """Norm of a tangent vector, on the hyperboloid from coordinates, where nothing cancels."""
        if not self.spherical:
            tangent = tangent[1:] - point[1:] * (tangent[0] / (1.0 + point[0]))
        return math.sqrt(tangent @ tangent)

    def _exp(self, point: FloatArray, tangent: FloatArray) -> FloatArray:
        """Exponential at unit curvature, put back onto the manifold."""
        angle = max(self._norm(point, tangent), _FLOOR)
        if self.spherical:
            moved = math.cos(angle) * point + (math.sin(angle) / angle) * tangent
            return np.asarray(moved / math.sqrt(moved @ moved))
        reach = min(angle, _LONGEST)
        moved = math.cosh(reach) * point + (math.sinh(reach) / angle) * tangent
        moved[0] = math.sqrt(1.0 + moved[1:] @ moved[1:])
        return np.asarray(moved)

    def _prepare_hessian(self) -> None:
        """Turn w into ``(1 - a) / sine^2``, times its weight, in place."""
        floor = self.sign + _HESSIAN_FLOOR
        for _, share, cosine, factor in self.parts:
            np.divide(1.0 - factor * cosine, floor - self.sign * cosine**2, out=factor)
            if share is not None:
                np.multiply(factor, share, out=factor)

    def certificate(self, at: Pass, tol: float) -> float:
        """Bound the distance from a point to the mean, inf where nothing is proved.

        By claim (a) of docs/proofs/frechet-mean-certificate.md on hyperbolic spaces, (b) and (c) in
        the ball on spheres. It should not exceed ``tol``.
        """
        size, ball = at.size + at.allowance, self.ball
        if ball is None or not math.isfinite(size):
            return size / self.k if ball is None else math.inf
        from flint import arb

        from_center = float(ball.manifold.dist(ball.center, at.point / self.k))
        with working_precision(_PRECISION):
            reach = arb(self.k * max(from_center, ball.radius) * (1.0 + 8.0 * _EPS))
            mean_a = arb(at.mean_a - at.allowance)
            found = Averages(True, arb(1), reach, arb(size), mean_a)
            return found.distance(self.k * tol) / self.k

    def step(self, at: Pass) -> tuple[Pass, int]:
        """Newton step with backtracking, truncated where the Hessian is not positive."""
        direction = self._newton_direction(at)
        length, used = 1.0, 0
        while True:
            point = self._exp(at.point, length * direction)
            trial = self.evaluate(self.into_ball(point))
            used += 1
            if trial.size <= 0.5 * at.size or used >= 40:
                return trial, used
            decrease = at.objective - trial.objective
            if decrease >= _DECREASE * length * self._inner(direction, at.gradient):
                return trial, used
            if decrease >= -1e-13 * (1.0 + at.objective) and at.size <= 1e-6:
                return trial, used  # the objective is at its rounding level
            length *= 0.5

    def _newton_direction(self, at: Pass) -> FloatArray:
        """Solve the Newton equation by conjugate gradients, to what Newton's method can use."""
        self._prepare_hessian()
        image = self._hessian_product(at, at.gradient)
        square, curvature = at.size**2, self._inner(at.gradient, image)
        if self.dim == 2:
            # The trace is known, so Cayley and Hamilton give the inverse of the Hessian at once.
            trace = 1.0 + at.mean_a
            determinant = trace * curvature - self._inner(image, image)  # times the square
            if trace > 0.0 and determinant > 0.0:
                return (square / determinant) * (trace * at.gradient - image)
        goal = at.size * min(0.1, 0.01 * at.size)
        goal = max(goal, min(0.1 * at.size, self.enough))
        direction, residual, search = np.zeros(len(at.point)), at.gradient, at.gradient
        for _ in range(20):
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
            image = self._hessian_product(at, search)
            curvature = self._inner(search, image)
        return direction

    def _hessian_product(self, at: Pass, tangent: FloatArray) -> FloatArray:
        scaled = (self.sign * self.k**2 / self.total) * self.signs * tangent
        image = np.zeros(len(at.point))
        for part in self.parts:
            image += (part.factor * (part.block @ scaled)) @ part.block
        covector = self.signs * at.point
        for _ in range(2):  # the second time removes the rounding of the first
            image -= float(image @ covector) * at.point
        image += at.mean_a * tangent
        return image


def _angles(cosine: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the largest theta, sin(theta) and theta."""
    sine = np.sqrt(np.maximum(1.0 - cosine * cosine, _FLOOR))
    lowest = float(cosine.min())
    # The arc sine is faster, and as accurate up to pi/3.
    theta = np.arcsin(sine) if lowest > 0.5 else np.arctan2(sine, cosine)
    return math.acos(min(max(lowest, -1.0), 1.0)), sine, theta


def _lengths(cosine: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the largest theta, sinh(theta) and theta, ``log(c + sinh(theta))``."""
    np.maximum(cosine, 1.0 + _EPS, out=cosine)
    sine = np.sqrt(cosine * cosine - 1.0)
    return math.acosh(float(cosine.max())), sine, np.log(cosine + sine)


def _weighted_sum(weights: FloatArray, rows: FloatArray) -> FloatArray:
    """``weights @ rows`` by blocks: in one product rounding would grow with the number of rows."""
    whole = len(rows) - len(rows) % _BLOCK
    blocks = rows[:whole].reshape(-1, _BLOCK, rows.shape[1])
    sums = weights[:whole].reshape(-1, 1, _BLOCK) @ blocks
    return np.asarray(np.add.reduce(sums)[0] + weights[whole:] @ rows[whole:])
