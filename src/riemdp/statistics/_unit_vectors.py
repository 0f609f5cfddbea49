"""Sums of directions: of unit vectors of the space around, wherever on the sphere they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from riemdp.statistics._rows import Rows, shortened
from riemdp.statistics._sums import SumStatistic

if TYPE_CHECKING:
    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._seen import View


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
