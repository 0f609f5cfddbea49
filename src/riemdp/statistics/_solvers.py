"""The solvers of this library's spaces."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import UnsupportedBallError
from riemdp.manifolds import (
    Ball,
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)
from riemdp.statistics import (
    _affine_invariant_mean,
    _clipped_affine_invariant_mean,
    _flat_mean,
    _space_form_mean,
)
from riemdp.statistics._mean_solver import (
    CertifiedMean,
    FlatAverage,
    MeanSolver,
    check_bound,
    record_coordinates,
    register_solver,
)
from riemdp.statistics._tolerance import conversion_allowance, hyperbolic_floor, spherical_floor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.statistics._statistic import Partial

    FloatArray = NDArray[np.float64]


class EuclideanAverage(FlatAverage):
    """Points are their own chart."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def solve(
        self,
        manifold: Manifold,  # noqa: ARG002
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,  # noqa: ARG002
        tol: float,  # noqa: ARG002
    ) -> CertifiedMean:
        """Average."""
        value, rounding = _flat_mean.euclidean(data, weights)
        return CertifiedMean(value, rounding, 1)


class LogEuclideanAverage(FlatAverage):
    """The eigenvalues that the mean needs anyway tell whether a row is positive definite."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def validate(self, manifold: Any, points: ArrayLike) -> FloatArray:
        """Check symmetry alone."""
        return _flat_mean.check_data(manifold.k, points)

    def solve(
        self,
        manifold: Manifold,  # noqa: ARG002
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,  # noqa: ARG002
        tol: float,  # noqa: ARG002
    ) -> CertifiedMean:
        """Average the logarithms."""
        value, rounding = _flat_mean.log_euclidean(data, weights)
        return CertifiedMean(value, rounding, 1)


class SphereSolver(MeanSolver):
    """Newton's method; the circle has a closed form."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def records(self, ball: Ball, data: FloatArray) -> FloatArray:
        """Clipped points."""
        return ball.project(data)

    def mean(self, ball: Ball, records: Partial, tol: float) -> FloatArray:
        """Certify a point; noise is added to its coordinates."""
        tol -= conversion_allowance(ball)
        found = self.solve(ball.manifold, records, None, ball, tol)
        check_bound(found.error_bound, tol)
        return ball.coordinates(found.value)

    def floor(self, ball: Ball) -> float:
        """Largest over the ball."""
        return spherical_floor(ball)

    def check_domain(self, manifold: Any, data: FloatArray, ball: Ball | None) -> None:
        """Require a ball within an open hemisphere that holds the data."""
        if ball is None or ball.manifold != manifold:
            raise UnsupportedBallError(
                "on a sphere the mean is unique only inside a ball: pass ball=Ball(manifold, "
                "center, radius) with the data inside it and a radius under pi/(2 sqrt(curvature))"
            )
        _check_hemisphere(ball)
        # One product settles most data; the exact distance decides in doubt.
        lowest = manifold.curvature * float((data @ ball.center).min())
        if lowest > math.cos(math.sqrt(manifold.curvature) * ball.radius):
            return
        outside = ~ball.contains(data)
        if outside.any():
            raise UnsupportedBallError(
                f"row {int(np.argmax(outside))} lies outside the ball; clip the data first with "
                "ball.project(points), or choose a larger ball"
            )

    def solve(
        self,
        manifold: Any,
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,
        tol: float,
    ) -> CertifiedMean:
        """See :meth:`MeanSolver.solve`."""
        if manifold.dim == 1 and ball is not None:
            value, rounding = _flat_mean.circle(ball, data, weights)
            return CertifiedMean(value, rounding, 1)
        return CertifiedMean(*_space_form_mean.solve(manifold, data, weights, ball, tol))


class HyperbolicSolver(MeanSolver):
    """Newton's method, about the origin: there coordinates are as small as the ball allows."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def records(self, ball: Ball, data: FloatArray) -> FloatArray:
        """Clipped coordinates about the centre."""
        return record_coordinates(ball, data)

    def mean(self, ball: Ball, records: Partial, tol: float) -> FloatArray:
        """Certify a point; noise is added to its coordinates."""
        tol -= conversion_allowance(ball)
        origin = Ball(ball.manifold, ball.manifold.origin, ball.radius)
        found = self.solve(ball.manifold, origin.point(records), None, None, tol)
        check_bound(found.error_bound, tol)
        return origin.coordinates(found.value)

    def floor(self, ball: Ball) -> float:
        """Largest over the ball."""
        return hyperbolic_floor(ball)

    def solve(
        self,
        manifold: Any,
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,
        tol: float,
    ) -> CertifiedMean:
        """See :meth:`MeanSolver.solve`."""
        return CertifiedMean(*_space_form_mean.solve(manifold, data, weights, ball, tol))


class AffineInvariantSolver(MeanSolver):
    """Newton's method on whitened records."""

    proof = "docs/proofs/frechet-mean-certificate.md"

    def records(self, ball: Ball, data: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Clipped log-eigenvalues, seen from the centre, and eigenvectors."""
        return _clipped_affine_invariant_mean.clipped_spectrum(ball, data)

    def mean(self, ball: Ball, records: Partial, tol: float) -> FloatArray:
        """Certify the coordinates themselves."""
        logs, vectors = records
        return _clipped_affine_invariant_mean.spectral_mean(logs, vectors, ball.radius, tol)

    def floor(self, ball: Ball) -> float:
        """Largest over the ball."""
        manifold: Any = ball.manifold
        return 2.0 * _clipped_affine_invariant_mean.worst_allowance(manifold.k, ball.radius)

    def solve(
        self,
        manifold: Manifold,  # noqa: ARG002
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,  # noqa: ARG002
        tol: float,
    ) -> CertifiedMean:
        """See :meth:`MeanSolver.solve`."""
        return CertifiedMean(*_affine_invariant_mean.solve(data, weights, tol))


def _check_hemisphere(ball: Ball) -> None:
    """Require a ball inside the open hemisphere about its centre."""
    limit = 0.5 * ball.manifold.injectivity_radius
    if ball.radius >= limit:
        raise UnsupportedBallError(
            f"radius {ball.radius:.6g} must stay under {limit:.6g} = pi/(2 sqrt(curvature)) for "
            "the Fréchet mean to be unique; choose a smaller ball or the tangent mean"
        )


register_solver(Euclidean, EuclideanAverage())
register_solver(SPDLogEuclidean, LogEuclideanAverage())
register_solver(Sphere, SphereSolver())
register_solver(Hyperbolic, HyperbolicSolver())
register_solver(SPDAffineInvariant, AffineInvariantSolver())
