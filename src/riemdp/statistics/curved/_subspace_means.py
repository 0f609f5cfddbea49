"""Fréchet means of subspaces and of planar shapes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.spaces import Ball, Grassmann, Manifold, PlanarShapes
from riemdp.statistics._records import check_inside
from riemdp.statistics.curved import _certified_grassmann
from riemdp.statistics.curved._certified_grassmann import Subspaces
from riemdp.statistics.curved._mean_solver import (
    CertifiedMean,
    ExactMean,
    MeanSolver,
    ball_of_mean,
    check_bound,
)
from riemdp.statistics.curved._solver_of_space import register_solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray
    from riemdp.statistics.curved._mean_solver import Shares


class SubspaceMean(ExactMean):
    """Certified with every rounding bounded, at the coordinates themselves.

    ``seen(manifold)`` is the space as ``_certified_grassmann.certificate`` takes it.
    See docs/proofs/certified-means.md.
    """

    proof = "docs/proofs/certified-means.md"

    def __init__(self, seen: Callable[[Any], Subspaces]) -> None:
        self.seen = seen

    def floor(self, ball: Ball) -> float:
        """See :meth:`ExactMean.floor`."""
        return _certified_grassmann.floor(self.seen(ball.manifold), ball.radius)

    def weighted(
        self, ball: Ball, rows: FloatArray, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Begin at the tangent mean; see :meth:`ExactMean.weighted`."""
        weights = None if whole is None else whole.astype(np.float64)  # which rounds none of them
        point, _, _ = _certified_grassmann.refined(
            self.seen(ball.manifold), rows, ball.radius, tol, weights=weights
        )
        return tuple(map(Fraction, point.tolist()))


class SubspaceSolver(MeanSolver):
    """Steps along the gradient about the centre; ``seen`` is that of :class:`SubspaceMean`."""

    proof = "docs/proofs/certified-means.md"

    def __init__(self, seen: Callable[[Any], Subspaces]) -> None:
        self.seen = seen

    def exact(self, manifold: Manifold) -> ExactMean:  # noqa: ARG002
        """Certified with every rounding bounded; see :meth:`MeanSolver.exact`."""
        return SubspaceMean(self.seen)

    def check_domain(self, manifold: Any, data: FloatArray, ball: Ball | None) -> None:
        """Require a ball, small enough for the mean to be unique, that holds the data."""
        check_inside(ball_of_mean(manifold, ball), data)

    def solve(
        self, manifold: Any, data: FloatArray, weights: Shares, ball: Any, tol: float
    ) -> CertifiedMean:
        """See :meth:`MeanSolver.solve`."""
        allowance = _conversion_allowance(ball)
        check_bound(allowance, 0.5 * tol)
        point, bound, passes = _certified_grassmann.refined(
            self.seen(manifold),
            ball.coordinates(data),
            ball.radius,
            tol - allowance,
            weights=weights,
        )
        return CertifiedMean(ball.point(point), bound + allowance, passes)


def _conversion_allowance(ball: Ball) -> float:
    """Bound what rounding of records to coordinates, and of these to a point, does to a mean.

    The first is magnified by the inverse of the Hessian.
    """
    x = math.sqrt(ball.manifold.curvature_bound) * ball.radius
    magnified = math.tan(x) / x if x > 0.0 else 1.0
    return 4.0 * ball.manifold.rounding(ball.center, ball.radius) * (1.0 + magnified)


#: Complex lines.
register_solver(
    PlanarShapes,
    SubspaceSolver(lambda manifold: Subspaces(manifold.k - 2, 1, planar=True)),
)
register_solver(
    Grassmann,
    SubspaceSolver(lambda manifold: Subspaces(manifold.N - manifold.p, manifold.p)),
)
