"""Which solver certifies the mean of which space."""

from __future__ import annotations

import math
from fractions import Fraction
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
    _symmetric,
    logarithms_from,
)
from riemdp.statistics._records import check_inside
from riemdp.statistics.curved import (
    _affine_invariant_mean,
    _certified_affine_invariant,
    _flat_mean,
    _space_form_mean,
)
from riemdp.statistics.curved._descent import product_descent, share_of
from riemdp.statistics.curved._descent_affine_invariant import (
    affine_invariant_descent,
    certified_mean,
)
from riemdp.statistics.curved._descent_space_form import space_form_descent
from riemdp.statistics.curved._mean_solver import (
    CertifiedMean,
    ExactMean,
    MeanSolver,
    ball_of_mean,
    check_bound,
)
from riemdp.statistics.curved._solver_of_space import (
    FlatAverage,
    mean_solver,
    register_solver,
    space_solver,
)
from riemdp.statistics.curved._space_form_search import nearest_point
from riemdp.statistics.curved._space_form_sums import SpaceFormSums

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import FloatArray
    from riemdp.statistics._query import Partial
    from riemdp.statistics.curved._descent import Descent
    from riemdp.statistics.curved._mean_solver import Shares


# Fréchet means of curved spaces, certified at the coordinates that noise is added to.


class SpaceFormMean(ExactMean):
    """On spheres and hyperbolic spaces, by sums with a public bound of their rounding.

    See docs/proofs/certified-means.md.
    """

    proof = "docs/proofs/certified-means.md"

    def floor(self, ball: Ball) -> float:
        """Return what sums carry; see :meth:`ExactMean.floor`."""
        return _sums(ball).floor

    def descent(self, ball: Ball, tol: float) -> Descent | None:
        """See :meth:`ExactMean.descent`."""
        return space_form_descent(_sums(ball), tol)

    def weighted(
        self, ball: Ball, rows: FloatArray, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Certify where the search ends; see :meth:`ExactMean.weighted`."""
        point, bound = nearest_point(_sums(ball), rows, whole, tol)
        check_bound(bound, tol)
        return tuple(map(Fraction, point.tolist()))


def _sums(ball: Ball) -> SpaceFormSums:
    """Return the sums over records of a ball: coordinates are the same about every centre."""
    manifold: Any = ball.manifold
    return SpaceFormSums(manifold.dim, manifold.curvature, ball.radius)


class AffineInvariantMean(ExactMean):
    """On affine-invariant matrices, where logarithms are verified and not believed.

    See docs/proofs/certified-means.md.
    """

    proof = "docs/proofs/certified-means.md"

    def floor(self, ball: Ball) -> float:
        """See :meth:`ExactMean.floor`."""
        manifold: Any = ball.manifold
        return _certified_affine_invariant.floor(manifold.k, ball.radius)

    def descent(self, ball: Ball, tol: float) -> Descent | None:
        """See :meth:`ExactMean.descent`."""
        manifold: Any = ball.manifold
        return affine_invariant_descent(manifold.k, ball.radius, tol)

    def rows_of(self, ball: Ball, data: FloatArray) -> FloatArray:
        """Return logarithms as seen from the centre, matrices; see :meth:`ExactMean.rows_of`."""
        logarithms = logarithms_from(ball.center, data)
        return _certified_affine_invariant.exact_records(logarithms, ball.radius)

    def rows(self, ball: Ball, coordinates: FloatArray) -> FloatArray:
        """Return their logarithms, matrices; see :meth:`ExactMean.rows`."""
        manifold: Any = ball.manifold
        logarithms = _symmetric.unvecd(coordinates, manifold.k)
        return _certified_affine_invariant.exact_records(logarithms, ball.radius)

    def weighted(
        self,
        ball: Ball,
        rows: FloatArray,
        whole: NDArray[np.int64] | None,
        tol: float,
    ) -> tuple[Fraction, ...]:
        """Certify coordinates; see :meth:`ExactMean.weighted`."""
        point = certified_mean(rows, ball.radius, tol, weights=whole)
        return tuple(map(Fraction, point.tolist()))


class ProductMean(ExactMean):
    """Factor by factor, each copy by itself, of records that were shortened as a whole.

    See docs/proofs/certified-means.md, "Products".
    """

    proof = "docs/proofs/certified-means.md"

    def __init__(self, parts: tuple[ExactMean, ...]) -> None:
        self._parts = parts

    @property
    def adds(self) -> bool:
        """Whether those of all factors are sums of integers."""
        return all(part.adds for part in self._parts)

    def floor(self, ball: Ball) -> float:
        """Return the root of the sum of squares, all as large as the largest."""
        manifold: Any = ball.manifold
        each = dict(zip(manifold.balls(ball), self._parts, strict=True))
        largest: float = max(part.floor(own) for own, part in each.items())
        return math.sqrt(len(self._parts)) * largest * (1.0 + 1e-14)

    def descent(self, ball: Ball, tol: float) -> Descent | None:
        """Descend in all factors at once; see :meth:`ExactMean.descent`."""
        manifold: Any = ball.manifold
        return product_descent(zip(self._parts, manifold.balls(ball), strict=True), tol)

    def rows(self, ball: Ball, coordinates: FloatArray) -> tuple[Partial, ...]:
        """Those of the factors; see :meth:`ExactMean.rows`."""
        each = self._each(ball, _cut(ball.manifold, coordinates))
        return tuple(part.rows(own, rows) for part, own, rows in each)

    def summed(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None
    ) -> tuple[Partial, ...]:
        """Those of the factors; see :meth:`ExactMean.summed`."""
        each = self._each(ball, rows)
        return tuple(part.summed(own, some, whole) for part, own, some in each)

    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Certify each to its share; see :meth:`ExactMean.weighted`."""
        share = share_of(tol, len(self._parts))
        each = ticks(self._each(ball, rows), len(self._parts), "means")
        return tuple(x for part, own, some in each for x in part.weighted(own, some, whole, share))

    def _each(self, ball: Ball, rows: Any) -> Iterable[tuple[ExactMean, Ball, Any]]:
        """Return how means are computed, the ball, and what there is of the records, by factor."""
        manifold: Any = ball.manifold
        return zip(self._parts, manifold.balls(ball), rows, strict=True)


def _cut(manifold: Any, coordinates: FloatArray) -> list[FloatArray]:
    """Return the coordinates of the factors."""
    ends = np.cumsum([space.dim for space in manifold.each])[:-1]
    return np.split(coordinates, ends, axis=-1)


# The solvers of this library's spaces.


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
        """By sums with a public bound of rounding; see :meth:`MeanSolver.exact`."""
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
        return CertifiedMean(*_affine_invariant_mean.solve(data, weights, tol))


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
