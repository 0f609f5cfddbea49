"""Sums of directions: of unit vectors of the space around, wherever on the sphere they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp.statistics._sums import SumStatistic

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray


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
        """1: vectors have that length; see :meth:`Sums.unit`."""
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
