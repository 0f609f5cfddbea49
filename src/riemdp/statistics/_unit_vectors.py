"""Sums of directions: of unit vectors of the space around, wherever on the sphere they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp.statistics._sums import SumStatistic

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray

#: At least the root of 2: how far ``x x^T`` moves between two unit vectors at right angles.
ROOT_TWO = 1.4142135623730951


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

    def unit(self, ball: Ball) -> float:  # noqa: ARG002
        """1: vectors have that length; see :meth:`SumStatistic.unit`."""
        return 1.0

    def dim(self, ball: Ball) -> int:
        """Return the dimension N of the space around; see :meth:`SumStatistic.dim`."""
        return int(ball.manifold.unit_vectors(ball.center).shape[-1])

    def vectors(self, ball: Ball, points: FloatArray) -> FloatArray:
        """Return unit vectors, of what has no direction zero; see :meth:`SumStatistic.vectors`."""
        with np.errstate(all="ignore"):
            inside = points if ball.is_whole else ball.project(points)
            found = np.ascontiguousarray(ball.manifold.unit_vectors(inside))
        return np.where(np.isfinite(found).all(axis=-1, keepdims=True), found, 0.0)


@dataclass(frozen=True)
class ScatterSum(UnitVectorSum):
    """The matrix ``x x^T`` of each, or what has its norm and moves as far."""

    def feature_sensitivity(self, dim: int) -> float:  # noqa: ARG002
        """Root of 2; see :meth:`SumStatistic.feature_sensitivity`."""
        return ROOT_TWO

    def feature_length(self, dim: int) -> float:  # noqa: ARG002
        """1; see :meth:`SumStatistic.feature_length`."""
        return 1.0
