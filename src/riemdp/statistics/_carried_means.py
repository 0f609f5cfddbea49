"""Means on spaces whose balls are, record by record, balls of another space."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import UnsupportedBallError
from riemdp.manifolds import Aligned, Ball, DiscreteQuotient, Manifold
from riemdp.statistics._exact_mean import ExactMean
from riemdp.statistics._mean_solver import CertifiedMean, MeanSolver
from riemdp.statistics._records import check_inside
from riemdp.statistics._solver_of_space import mean_solver, register_solver, space_solver

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray
    from riemdp.statistics._descent import Descent
    from riemdp.statistics._question import Partial


class CarriedSolver(MeanSolver):
    """The mean in another space, in which the records of a ball lie in one with its coordinates.

    A class says which ball that is, and where it is proved that normal coordinates about the centre
    are the same, and so are the means.
    """

    @abstractmethod
    def other(self, manifold: Any) -> Manifold:
        """Return the other space."""

    @abstractmethod
    def carried(self, ball: Ball) -> Ball:
        """Return the ball there."""

    @abstractmethod
    def carried_points(self, ball: Ball, data: FloatArray) -> FloatArray:
        r"""Return records as points there, each by itself.

        Parameters
        ----------
        ball : Ball
        data : ndarray, shape (n, \*point_shape)

        Returns
        -------
        ndarray, shape (n, \*other.point_shape)
        """

    @abstractmethod
    def stood_for(self, manifold: Any, point: FloatArray) -> FloatArray:
        """Return the point that one of the other space stands for."""

    @abstractmethod
    def way_out(self, manifold: Any) -> str:
        """Say how a ball is made, for the error where there is none."""

    def exact(self, manifold: Manifold) -> ExactMean | None:
        """There, if there is such a way; see :meth:`MeanSolver.exact`."""
        other = self.other(manifold)
        found = mean_solver(other).exact(other)
        return None if found is None else CarriedMean(self, found)

    def parts(self, manifold: Manifold) -> tuple[Manifold, ...]:
        """Return the other space."""
        return (self.other(manifold),)

    def check_domain(self, manifold: Manifold, data: FloatArray, ball: Ball | None) -> None:
        """Require a ball, and of the points there what their solver does."""
        if ball is None or ball.manifold != manifold:
            raise UnsupportedBallError(
                f"on {manifold} the mean is unique only inside a ball: pass ball="
                f"{self.way_out(manifold)}"
            )
        inside = self.carried(ball)
        check_inside(ball, data)
        solver = space_solver(inside.manifold)
        solver.check_domain(inside.manifold, self.carried_points(ball, data), inside)

    def solve(
        self,
        manifold: Manifold,
        data: FloatArray,
        weights: FloatArray | None,
        ball: Ball | None,
        tol: float,
    ) -> CertifiedMean:
        """Return what the mean there stands for; see :meth:`MeanSolver.solve`."""
        assert ball is not None  # check_domain has asked for it
        inside, points = self.carried(ball), self.carried_points(ball, data)
        solver = space_solver(inside.manifold)
        found = solver.solve(inside.manifold, points, weights, inside, tol)
        value = self.stood_for(manifold, found.value)
        return CertifiedMean(value, found.error_bound, found.passes)


class CarriedMean(ExactMean):
    """The same in exact arithmetic.

    Parameters
    ----------
    solver : CarriedSolver
        Says which ball of which space, and where that is proved.
    other : ExactMean
        How means are computed there.
    """

    def __init__(self, solver: CarriedSolver, other: ExactMean) -> None:
        self._solver, self._other = solver, other

    @property
    def proof(self) -> str | None:  # type: ignore[override]
        """That of the solver."""
        return self._solver.proof

    @property
    def adds(self) -> bool:
        """That of the other."""
        return self._other.adds

    @property
    def weighs(self) -> bool:
        """That of the other."""
        return self._other.weighs

    def floor(self, ball: Ball) -> float:
        """See :meth:`ExactMean.floor`."""
        return self._other.floor(self._solver.carried(ball))

    def rows_of(self, ball: Ball, data: FloatArray) -> Partial:
        """Return those of the points there; see :meth:`ExactMean.rows_of`."""
        inside = self._solver.carried(ball)
        return self._other.rows_of(inside, self._solver.carried_points(ball, data))

    def added(self, ball: Ball, rows: Partial) -> Partial:
        """See :meth:`ExactMean.added`."""
        return self._other.added(self._solver.carried(ball), rows)

    def descent(self, ball: Ball, tol: float) -> Descent | None:
        """Return that of the other space, whose coordinates are the same."""
        return self._other.descent(self._solver.carried(ball), tol)

    def mean(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """See :meth:`ExactMean.mean`."""
        return self._other.mean(self._solver.carried(ball), partial, tol)

    def rows(self, ball: Ball, coordinates: FloatArray) -> Partial:
        """See :meth:`ExactMean.rows`."""
        return self._other.rows(self._solver.carried(ball), coordinates)

    def weighted(
        self, ball: Ball, rows: Partial, whole: NDArray[np.int64], tol: float
    ) -> tuple[Fraction, ...]:
        """See :meth:`ExactMean.weighted`."""
        return self._other.weighted(self._solver.carried(ball), rows, whole, tol)

    def summed(self, ball: Ball, rows: Partial, whole: NDArray[np.int64]) -> Partial:
        """See :meth:`ExactMean.summed`."""
        return self._other.summed(self._solver.carried(ball), rows, whole)


class LiftedSolver(CarriedSolver):
    """The representatives in the ball of the cover that a small ball is isometric to.

    References
    ----------
    docs/proofs/quotients.md, claim 3
    """

    proof = "docs/proofs/quotients.md"

    def other(self, manifold: DiscreteQuotient) -> Manifold:
        """Return the cover."""
        return manifold.cover

    def carried(self, ball: Ball) -> Ball:
        """Return the ball about the centre's representative."""
        manifold: Any = ball.manifold
        lifted: Ball = manifold.lifted(ball)
        return lifted

    def carried_points(self, ball: Ball, data: FloatArray) -> FloatArray:
        """Return the representatives nearest to the centre's."""
        manifold: Any = ball.manifold
        lifted: FloatArray = manifold.lift_near(ball, data)
        return lifted

    def stood_for(self, manifold: DiscreteQuotient, point: FloatArray) -> FloatArray:
        """Push it down."""
        return manifold.push(point)

    def way_out(self, manifold: DiscreteQuotient) -> str:
        """Name the largest radius."""
        return (
            "Ball(manifold, center, radius) with the data inside it and a radius under "
            f"{0.5 * manifold.injectivity_radius:.6g}"
        )


class AlignedSolver(CarriedSolver):
    """Aligned representatives, in the slice that they lie in.

    References
    ----------
    docs/proofs/aligned-means.md
    """

    proof = "docs/proofs/aligned-means.md"

    def other(self, manifold: Aligned) -> Manifold:
        """Return the slice."""
        return manifold.slice.space

    def carried(self, ball: Ball) -> Ball:
        """Return the ball of the slice."""
        manifold: Any = ball.manifold
        inside: Ball = manifold.ball_of_slice(ball)
        return inside

    def carried_points(self, ball: Ball, data: FloatArray) -> FloatArray:
        """Return aligned representatives."""
        manifold: Any = ball.manifold
        aligned: FloatArray = manifold.aligned(data)
        return aligned

    def stood_for(self, manifold: Aligned, point: FloatArray) -> FloatArray:
        """Reduce it to its class."""
        return manifold.stood_for(point)

    def way_out(self, manifold: Aligned) -> str:  # noqa: ARG002
        """Name the function that makes it."""
        return 'QuotientBall(space, center, radius, mean="aligned") with the data inside it'


register_solver(DiscreteQuotient, LiftedSolver(), subclasses=True)
register_solver(Aligned, AlignedSolver())
