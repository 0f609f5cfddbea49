"""The solvers of this library's spaces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._progress import ticks
from riemdp.spaces import (
    Ball,
    CurvedPower,
    Euclidean,
    Hyperbolic,
    Manifold,
    Product,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.statistics import (
    _affine_invariant_passes,
    _flat_mean,
    _space_form_mean,
)
from riemdp.statistics._certified_means import (
    AffineInvariantMean,
    ProductMean,
    SpaceFormMean,
)
from riemdp.statistics._descent_product import share_of
from riemdp.statistics._mean_solver import CertifiedMean, MeanSolver, ball_of_mean
from riemdp.statistics._records import check_inside
from riemdp.statistics._solver_of_space import (
    FlatAverage,
    mean_solver,
    register_solver,
    space_solver,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray
    from riemdp.statistics._exact_mean import ExactMean
    from riemdp.statistics._mean_solver import Shares


class LogEuclideanAverage(FlatAverage):
    """The eigenvalues that the mean needs anyway tell whether a row is positive definite."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def validate(self, manifold: Any, points: ArrayLike) -> FloatArray:
        """Check symmetry alone."""
        return _flat_mean.check_data(manifold.k, points)

    def solve(
        self, manifold: Manifold, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        """Average the logarithms."""
        del manifold, ball, tol
        value, rounding = _flat_mean.log_euclidean(data, weights)
        return CertifiedMean(value, rounding, 1)


class SpaceFormSolver(MeanSolver):
    """Newton's method, on hyperbolic spaces."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def exact(self, manifold: Manifold) -> ExactMean:  # noqa: ARG002
        """Certified in ball arithmetic; see :meth:`MeanSolver.exact`."""
        return SpaceFormMean()

    def solve(
        self, manifold: Any, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        """See :meth:`MeanSolver.solve`."""
        return _space_form_mean.solve(manifold, data, weights, ball, tol)


class SphereSolver(SpaceFormSolver):
    """Within a hemisphere; the circle has a closed form."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def check_domain(self, manifold: Any, data: FloatArray, ball: Ball | None) -> None:
        """Require a ball within an open hemisphere that holds the data."""
        ball = ball_of_mean(manifold, ball)
        # One product settles most data; the exact distance decides in doubt.
        lowest = manifold.curvature * float((data @ ball.center).min())
        if not lowest > math.cos(math.sqrt(manifold.curvature) * ball.radius):
            check_inside(ball, data)

    def solve(
        self, manifold: Any, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        """See :meth:`MeanSolver.solve`."""
        if manifold.dim == 1 and ball is not None:
            value, rounding = _flat_mean.circle(ball, data, weights)
            return CertifiedMean(value, rounding, 1)
        return super().solve(manifold, data, weights, ball, tol)


class AffineInvariantSolver(MeanSolver):
    """Steps with the Hessian of a sample, then Newton's method, on whitened records."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def exact(self, manifold: Manifold) -> ExactMean:  # noqa: ARG002
        """Certified with every rounding bounded; see :meth:`MeanSolver.exact`."""
        return AffineInvariantMean()

    def solve(
        self, manifold: Manifold, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        """See :meth:`MeanSolver.solve`."""
        del manifold, ball
        return CertifiedMean(*_affine_invariant_passes.solve(data, weights, tol))


class ProductSolver(MeanSolver):
    """Factor by factor, of records that were clipped as a whole."""

    proof = "docs/proofs/products.md"

    def exact(self, manifold: Any) -> ExactMean | None:
        """Factor by factor, where there is such a way for each; see :meth:`MeanSolver.exact`."""
        found = [mean_solver(space).exact(space) for space in manifold.spaces]
        pairs = list(zip(found, manifold.counts, strict=True))
        known = tuple(part for part, count in pairs if part is not None for _ in range(count))
        return ProductMean(known) if len(known) == sum(manifold.counts) else None

    def parts(self, manifold: Any) -> tuple[Manifold, ...]:
        """Return the factors."""
        return tuple(manifold.spaces)

    def check_domain(self, manifold: Any, data: FloatArray, ball: Ball | None) -> None:
        """Require of every factor what its own solver does, and data in the ball."""
        balls = _factor_balls(manifold, ball)
        if ball is not None and balls[0] is not None:
            check_inside(ball, data)
        for space, part, own in zip(manifold.each, manifold.apart(data), balls, strict=True):
            space_solver(space).check_domain(space, part, own)

    def solve(
        self, manifold: Any, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        """Join the factors' means; see :meth:`MeanSolver.solve`."""
        balls = _factor_balls(manifold, ball)
        share = share_of(tol, len(balls))
        each = zip(manifold.each, manifold.apart(data), balls, strict=True)
        found = [
            space_solver(space).solve(space, part, weights, own, share)
            for space, part, own in ticks(each, len(balls), "means")
        ]
        value = np.concatenate([each.value.ravel() for each in found])
        bound = math.hypot(*(mean.error_bound for mean in found)) * (1.0 + 1e-15)
        passes = max(each.passes for each in found)
        return CertifiedMean(value.reshape(manifold.point_shape), bound, passes)


def _factor_balls(manifold: Any, ball: Ball | None) -> tuple[Ball | None, ...]:
    """Balls of the factors, every copy by itself; None without a ball of the product."""
    if ball is None or ball.manifold != manifold:
        return (None,) * len(manifold.each)
    balls: tuple[Ball, ...] = manifold.balls(ball)
    return balls


register_solver(Euclidean, FlatAverage())
register_solver(SPDLogEuclidean, LogEuclideanAverage())
register_solver(Sphere, SphereSolver())
register_solver(Hyperbolic, SpaceFormSolver())
register_solver(SPDAffineInvariant, AffineInvariantSolver())
_PRODUCT = ProductSolver()
register_solver(Product, _PRODUCT)
register_solver(CurvedPower, _PRODUCT)
