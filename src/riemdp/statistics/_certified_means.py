"""Fréchet means of curved spaces, certified at the coordinates that noise is added to."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._progress import ticks
from riemdp.spaces import Ball, _symmetric, clip_norm
from riemdp.spaces._spd_affine_invariant import spectral_log
from riemdp.statistics import _certified_affine_invariant, _space_form_mean
from riemdp.statistics._certified_space_form import certificate
from riemdp.statistics._clipped_affine_invariant_mean import certified_mean
from riemdp.statistics._descent_affine_invariant import affine_invariant_descent
from riemdp.statistics._descent_product import product_descent, share_of
from riemdp.statistics._descent_space_form import space_form_descent
from riemdp.statistics._exact_mean import ExactMean
from riemdp.statistics._mean_solver import check_bound
from riemdp.statistics._tolerance import space_form_floor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray
    from riemdp.statistics._descent import Descent
    from riemdp.statistics._query import Partial


class SpaceFormMean(ExactMean):
    """On spheres and hyperbolic spaces; the float64 solver only says where to look.

    See docs/proofs/certified-means.md.
    """

    proof = "docs/proofs/certified-means.md"

    def floor(self, ball: Ball) -> float:
        """Return what the solver gets as near as."""
        return space_form_floor(ball)

    def descent(self, ball: Ball, tol: float) -> Descent | None:
        """See :meth:`ExactMean.descent`."""
        manifold: Any = ball.manifold
        return space_form_descent(manifold.dim, manifold.curvature, ball.radius, tol)

    def weighted(
        self, ball: Ball, rows: FloatArray, whole: NDArray[np.int64] | None, tol: float
    ) -> tuple[Fraction, ...]:
        """Certify where the solver ends; see :meth:`ExactMean.weighted`."""
        manifold: Any = ball.manifold
        about = Ball(manifold, manifold.origin, ball.radius)  # coordinates are the same everywhere
        shares = None if whole is None else whole / sum(whole.tolist())
        # As near as rounding allows, whatever the tolerance is.
        found = _space_form_mean.solve(manifold, about.point(rows), shares, about, 0.0).value
        point = clip_norm(about.coordinates(found), ball.radius)
        known = certificate(manifold.curvature, ball.radius, point, rows, tol, weights=whole)
        check_bound(known, tol)
        return tuple(map(Fraction, point.tolist()))


class AffineInvariantMean(ExactMean):
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
        logs, vectors = spectral_log(ball.center, data)
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
        point = certified_mean(*rows, ball.radius, tol, weights=whole)
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
