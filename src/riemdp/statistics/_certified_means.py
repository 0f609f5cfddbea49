"""Fréchet means of curved spaces, certified at the coordinates that noise is added to."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import ConvergenceError
from riemdp._progress import ticks
from riemdp.manifolds import _symmetric
from riemdp.statistics import _certified_affine_invariant, _certified_space_form
from riemdp.statistics._clipped_affine_invariant_mean import clipped_spectrum
from riemdp.statistics._descent_affine_invariant import affine_invariant_descent
from riemdp.statistics._descent_product import product_descent
from riemdp.statistics._descent_space_form import space_form_descent
from riemdp.statistics._exact_mean import ExactMean, WeightedExactMean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._descent import Descent
    from riemdp.statistics._mean_solver import Shares
    from riemdp.statistics._question import Partial


class Beginning(ABC):
    """A solver in float64, which says where to look."""

    @abstractmethod
    def near(self, ball: Ball, points: FloatArray, weights: Shares, tol: float) -> FloatArray:
        """Return coordinates within ``tol`` of the mean of points in a ball.

        ``ConvergenceError`` if rounding alone exceeds ``tol``.
        """

    @abstractmethod
    def floor(self, ball: Ball) -> float:
        """Return the least tolerance that every data set in a public ball can be certified to."""


class SpaceFormMean(WeightedExactMean):
    """On spheres and hyperbolic spaces; the float64 solver only says where to look.

    See docs/proofs/certified-means.md.
    """

    proof = "docs/proofs/certified-means.md"

    def __init__(self, solver: Beginning) -> None:
        self._solver = solver

    def floor(self, ball: Ball) -> float:
        """Return that of the solver, which gets as near as that."""
        return self._solver.floor(ball)

    def descent(self, ball: Ball, tol: float) -> Descent | None:
        """See :meth:`ExactMean.descent`."""
        manifold: Any = ball.manifold
        return space_form_descent(manifold.dim, manifold.curvature, ball.radius, tol)

    def weighted(
        self, ball: Ball, rows: FloatArray, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Begin where the solver ends; see :meth:`ExactMean.weighted`."""
        manifold: Any = ball.manifold
        shares = None if whole is None else whole / sum(whole.tolist())
        try:
            start = self._solver.near(ball, ball.point(rows), shares, tol)
        except ConvergenceError:  # it asks more of itself than is needed here
            start = np.average(rows, axis=0, weights=shares)
        point, _ = _certified_space_form.refined(
            manifold.curvature, start, rows, ball.radius, tol, weights=whole
        )
        return tuple(map(Fraction, point.tolist()))


class AffineInvariantMean(WeightedExactMean):
    """On affine-invariant matrices, where decompositions are verified and not believed.

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

    def rows_of(self, ball: Ball, data: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log-eigenvalues as seen from the centre, and eigenvectors, of the matrices themselves."""
        logs, vectors = clipped_spectrum(ball, data)
        return _certified_affine_invariant.exact_records(logs, vectors, ball.radius)

    def rows(self, ball: Ball, coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Decompose their matrices; see :meth:`ExactMean.rows`."""
        manifold: Any = ball.manifold
        logs, vectors = np.linalg.eigh(_symmetric.unvecd(coordinates, manifold.k))
        return _certified_affine_invariant.exact_records(logs, vectors, ball.radius)

    def weighted(
        self,
        ball: Ball,
        rows: tuple[FloatArray, FloatArray],
        whole: NDArray[np.int64] | None,
        tol: float,
    ) -> tuple[Fraction, ...]:
        """Certify coordinates; see :meth:`ExactMean.weighted`."""
        point = _certified_affine_invariant.certified_mean(*rows, ball.radius, tol, weights=whole)
        return tuple(map(Fraction, point.tolist()))


class ProductMean(ExactMean):
    """Factor by factor, each copy by itself, of records that were shortened as a whole.

    See docs/proofs/certified-means.md, "Products".
    """

    proof = "docs/proofs/certified-means.md"

    def __init__(self, parts: tuple[ExactMean, ...]) -> None:
        self._parts = parts

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

    def added(self, ball: Ball, rows: Partial) -> tuple[Partial, ...]:
        """Those of the factors; see :meth:`ExactMean.added`."""
        return tuple(part.added(own, some) for part, own, some in self._each(ball, rows))

    def rows(self, ball: Ball, coordinates: FloatArray) -> tuple[Partial, ...]:
        """Those of the factors; see :meth:`ExactMean.rows`."""
        each = self._each(ball, _cut(ball.manifold, coordinates))
        return tuple(part.rows(own, rows) for part, own, rows in each)

    @property
    def adds(self) -> bool:
        """Whether those of all factors are sums of integers."""
        return all(part.adds for part in self._parts)

    @property
    def weighs(self) -> bool:
        """Whether those of all factors do."""
        return all(part.weighs for part in self._parts)

    def mean(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Certify each to its share; see :meth:`ExactMean.mean`."""
        share, means = self._shared(ball, partial, tol)
        return tuple(x for part, own, rows in means for x in part.mean(own, rows, share))

    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64], tol: float
    ) -> tuple[Fraction, ...]:
        """Certify each to its share; see :meth:`ExactMean.weighted`."""
        share, means = self._shared(ball, rows, tol)
        return tuple(x for part, own, some in means for x in part.weighted(own, some, whole, share))

    def summed(self, ball: Ball, rows: Partial, whole: NDArray[np.int64]) -> tuple[Partial, ...]:
        """Those of the factors; see :meth:`ExactMean.summed`."""
        each = self._each(ball, rows)
        return tuple(part.summed(own, some, whole) for part, own, some in each)

    def _shared(
        self, ball: Ball, rows: Partial, tol: float
    ) -> tuple[float, Iterable[tuple[ExactMean, Ball, Partial]]]:
        """Return the share of the tolerance of a factor, and the factors, whose progress shows."""
        share = tol / math.sqrt(len(self._parts)) * (1.0 - 1e-15)
        return share, ticks(self._each(ball, rows), len(self._parts), "means")

    def _each(self, ball: Ball, rows: Any) -> Iterable[tuple[ExactMean, Ball, Any]]:
        """Return how means are computed, the ball, and what there is of the records, by factor."""
        manifold: Any = ball.manifold
        return zip(self._parts, manifold.balls(ball), rows, strict=True)


def _cut(manifold: Any, coordinates: FloatArray) -> list[FloatArray]:
    """Return the coordinates of the factors."""
    ends = np.cumsum([space.dim for space in manifold.each])[:-1]
    return np.split(coordinates, ends, axis=-1)
