"""The Fréchet mean of records that are aligned to a public template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import UnsupportedBallError
from riemdp.manifolds import Aligned, Ball, Manifold
from riemdp.statistics._certified_means import AlignedMean
from riemdp.statistics._mean_solver import (
    CertifiedMean,
    MeanSolver,
    mean_solver,
    register_solver,
    space_solver,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.statistics._exact_mean import ExactMean
    from riemdp.statistics._question import Partial

    FloatArray = NDArray[np.float64]


class AlignedSolver(MeanSolver):
    """The mean of aligned representatives, in the slice that they lie in."""

    proof = "docs/proofs/aligned-means.md"

    def exact(self, manifold: Any) -> ExactMean | None:
        """In the slice, where there is such a way; see :meth:`MeanSolver.exact`."""
        found = mean_solver(manifold.slice.space).exact(manifold.slice.space)
        return None if found is None else AlignedMean(found)

    def records(self, ball: Ball, data: FloatArray) -> Partial:
        """Those of the slice, of aligned representatives."""
        manifold: Any = ball.manifold
        solver = mean_solver(manifold.slice.space)
        return solver.records(manifold.ball_of_slice(ball), manifold.aligned(data))

    def mean(self, ball: Ball, records: Partial, tol: float) -> FloatArray:
        """Return that of the slice: normal coordinates are the same."""
        manifold: Any = ball.manifold
        return mean_solver(manifold.slice.space).mean(manifold.ball_of_slice(ball), records, tol)

    def floor(self, ball: Ball) -> float:
        """Return that of the slice."""
        manifold: Any = ball.manifold
        return mean_solver(manifold.slice.space).floor(manifold.ball_of_slice(ball))

    def parts(self, manifold: Any) -> tuple[Manifold, ...]:
        """Return the slice."""
        return (manifold.slice.space,)

    def check_domain(self, manifold: Any, data: FloatArray, ball: Ball | None) -> None:
        """Require a ball that holds the data."""
        if ball is None or ball.manifold != manifold:
            raise UnsupportedBallError(
                f"on {manifold} the mean is unique only inside a ball: pass ball=QuotientBall("
                'space, center, radius, mean="aligned") with the data inside it'
            )
        above = manifold.slice.space
        aligned, inside = manifold.aligned(data), manifold.ball_of_slice(ball)
        space_solver(above).check_domain(above, aligned, inside)

    def solve(
        self,
        manifold: Any,
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,
        tol: float,
    ) -> CertifiedMean:
        """Reduce the slice's mean to what it stands for; see :meth:`MeanSolver.solve`."""
        above = manifold.slice.space
        aligned, inside = manifold.aligned(data), manifold.ball_of_slice(ball)
        found = space_solver(above).solve(above, aligned, weights, inside, tol)
        return CertifiedMean(manifold.stood_for(found.value), found.error_bound, found.passes)


register_solver(Aligned, AlignedSolver())
