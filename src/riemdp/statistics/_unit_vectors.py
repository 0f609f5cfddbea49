"""Unit vectors: axes without a sign, and rows of their sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp.statistics._rows import Rows, shortened
from riemdp.statistics._sums import SumStatistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._seen import View


# The axis that a noisy scatter matrix points out, and whether it means anything.

#: Share of draws that limits may be exceeded in by the noise alone.
CHANCE = 0.05


@dataclass(frozen=True)
class Axis:
    """Leading eigenvector of a symmetric or Hermitian matrix with noise, and how far off it is."""

    vector: NDArray[Any]  # (d,), of norm 1; a real one has a positive entry where it is largest
    eigenvalues: FloatArray  # (d,), in falling order
    gap: float  # between the first two of them
    gap_noise: float  # bound of the expected largest eigenvalue of the noise
    #: What the gap exceeds with probability at most .05 where the matrix without noise has none,
    #: and whether it does.
    gap_limit: float
    significant: bool
    #: Angle in radians: with probability at least .95 the vector is within it of the leading one
    #: without noise. pi/2, which says nothing, where the gap is not significant.
    bound: float

    def parts(
        self, name: str, scatter: NDArray[Any], deviation: float, *, turn: float = 1.0
    ) -> dict[str, Any]:
        """Return what is released of a noisy scatter ``(d, d)``, beside what its axis stands for.

        ``name`` is that of what it stands for, ``deviation`` the standard deviation of the
        scatter's noise, ``turn`` the distance of what axes stand for, over the angle between them.
        """
        return {
            "eigenvalues": self.eigenvalues,
            "gap": self.gap,
            "gap_noise": self.gap_noise,
            "gap_limit": self.gap_limit,
            f"{name}_significant": self.significant,
            f"{name}_bound": turn * self.bound,
            "scatter": scatter,
            "scatter_sd": deviation,
        }


def leading_axis(matrix: NDArray[Any], features: int, deviation: float) -> Axis:
    """Return the leading eigenvector of a matrix ``(d, d)`` with Gaussian noise.

    The matrix is symmetric or Hermitian, and made of so many real features. ``deviation`` is the
    standard deviation of the noise along every matrix of Frobenius norm 1; where it is NaN, so are
    limit and bound. See docs/proofs/directional-statistics.md, claims 2 and 3.
    """
    values, vectors = np.linalg.eigh(matrix)
    values, vector = values[::-1], vectors[:, -1]
    if not np.iscomplexobj(vector):
        vector = vector * math.copysign(1.0, vector[np.argmax(np.abs(vector))])
    dim = len(values) * (2 if np.iscomplexobj(matrix) else 1)
    gap = float(values[0] - values[1])
    limit = deviation * spread_limit(dim, features)
    significant = gap > limit
    bound = math.asin(limit / (2.0 * gap - limit)) if significant else 0.5 * math.pi
    return Axis(
        vector,
        values,
        gap,
        deviation * math.sqrt(2.0 * dim),
        limit,
        significant,
        math.nan if math.isnan(limit) else bound,
    )


def spread_limit(dim: int, features: int, chance: float = CHANCE) -> float:
    """Return what eigenvalues of Gaussian noise spread over with probability ``chance`` at most.

    A bound of the ``1 - chance`` quantile of the largest eigenvalue minus the least, of a matrix
    that is made of so many real features and acts on vectors of so large a real dimension; the
    noise has standard deviation 1 along every matrix of Frobenius norm 1. See
    docs/proofs/directional-statistics.md, claim 2.
    """
    by_norm = math.sqrt(2.0) * length_limit(features - 1, chance)
    by_concentration = 2.0 * math.sqrt(2.0 * dim) + 2.0 * math.sqrt(-math.log(chance))
    return min(by_norm, by_concentration)


def length_limit(dim: int, chance: float = CHANCE) -> float:
    """Return what the length of a standard normal vector exceeds with probability ``chance``."""
    import scipy.special

    return math.sqrt(2.0 * float(scipy.special.gammainccinv(0.5 * dim, chance)))


# Sums of directions: of unit vectors of the space around, wherever on the sphere they lie.


@dataclass(frozen=True)
class UnitVectorSum(SumStatistic):
    r"""Sums of products of coordinates of unit vectors, with no ball about a centre.

    The ball of the records is that of the whole sphere, :meth:`riemdp.Ball.whole`, of which every
    direction is admitted. In a smaller one records outside are projected onto it first; the noise
    is the same.

    References
    ----------
    docs/proofs/joint-sensitivities.md, claim 6
    """

    recentres: ClassVar[bool] = False

    def dim(self, ball: Ball) -> int:
        """Return the dimension N of the space around.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        int
        """
        return int(ball.manifold.unit_vectors(ball.center).shape[-1])

    def query(self, ball: Ball, view: View | None = None, share: float = 1.0) -> Rows:
        """Of unit vectors, whose length is 1; see :meth:`SumStatistic.query`."""
        del view  # there is no other
        shape = self.shape(self.dim(ball))
        return Rows(shape, 1.0, _inside, clipped=_unit_vectors, share=share, features=True)


def _inside(ball: Ball, vectors: FloatArray) -> FloatArray:  # noqa: ARG001
    return shortened(vectors, 1.0)


def _unit_vectors(ball: Ball, points: FloatArray) -> FloatArray:
    """Return unit vectors, of what has no direction zero."""
    with np.errstate(all="ignore"):
        inside = points if ball.is_whole else ball.project(points)
        found = np.ascontiguousarray(ball.manifold.unit_vectors(inside))
    return np.where(np.isfinite(found).all(axis=-1, keepdims=True), found, 0.0)
