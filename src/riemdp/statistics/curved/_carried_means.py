"""Means on spaces whose balls are, record by record, balls of another space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp.spaces import Aligned, Ball, DiscreteQuotient, Manifold
from riemdp.statistics._records import check_inside
from riemdp.statistics.curved._mean_solver import CertifiedMean, ExactMean, MeanSolver, ball_of_mean
from riemdp.statistics.curved._solver_of_space import mean_solver, register_solver, space_solver

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import FloatArray
    from riemdp.statistics._query import Partial
    from riemdp.statistics.curved._mean_solver import Shares


class CarriedSolver(MeanSolver):
    """The mean in another space, in which the records of a ball lie in one with its coordinates.

    Parameters
    ----------
    proof : str
        That normal coordinates about the centre are the same, and so are the means.
    other : callable
        Returns the other space.
    carried : callable
        Returns the ball there.
    points : callable
        Returns records of a ball, each by itself, as points there.
    stood_for : callable
        Returns the point of a manifold that one of the other space stands for.
    way_out : str, optional
        How a ball is made, for the error where there is none.
    """

    def __init__(
        self,
        proof: str,
        *,
        other: Callable[[Any], Manifold],
        carried: Callable[[Any], Ball],
        points: Callable[[Any, FloatArray], FloatArray],
        stood_for: Callable[[Any, FloatArray], FloatArray],
        way_out: str = "",
    ) -> None:
        self.proof = proof  # type: ignore[misc]
        self.other, self.carried, self.points = other, carried, points
        self._stood_for, self._way_out = stood_for, way_out

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
        ball = ball_of_mean(manifold, ball, self._way_out)
        check_inside(ball, data)
        inside = self.carried(ball)
        solver = space_solver(inside.manifold)
        solver.check_domain(inside.manifold, self.points(ball, data), inside)

    def solve(
        self, manifold: Manifold, data: FloatArray, weights: Shares, ball: Ball | None, tol: float
    ) -> CertifiedMean:
        """Return what the mean there stands for; see :meth:`MeanSolver.solve`."""
        inside = self.carried(ball)
        solver = space_solver(inside.manifold)
        found = solver.solve(inside.manifold, self.points(ball, data), weights, inside, tol)
        value = self._stood_for(manifold, found.value)
        return CertifiedMean(value, found.error_bound, found.passes)


def _there(name: str) -> Any:
    """Return a method that does in the other space what the other mean does."""

    def method(self: CarriedMean, ball: Ball, *given: Any) -> Any:
        return getattr(self.other, name)(self.solver.carried(ball), *given)

    return method


class CarriedMean(ExactMean):
    """The same in exact arithmetic.

    Parameters
    ----------
    solver : CarriedSolver
        Says which ball of which space, and where that is proved.
    other : ExactMean
        How means are computed there.
    """

    floor, rows, summed, weighted, descent = map(
        _there, ("floor", "rows", "summed", "weighted", "descent")
    )

    def __init__(self, solver: CarriedSolver, other: ExactMean) -> None:
        self.solver, self.other = solver, other
        self.proof = solver.proof  # type: ignore[misc, assignment]

    @property
    def adds(self) -> bool:
        """That of the other."""
        return self.other.adds

    def rows_of(self, ball: Ball, data: FloatArray) -> Partial:
        """Return those of the points there; see :meth:`ExactMean.rows_of`."""
        return self.other.rows_of(self.solver.carried(ball), self.solver.points(ball, data))


#: The representatives in the ball of the cover that a small ball is isometric to: claim 3.
register_solver(
    DiscreteQuotient,
    CarriedSolver(
        "docs/proofs/quotients.md",
        other=lambda manifold: manifold.cover,
        carried=lambda ball: ball.manifold.lifted(ball),
        points=lambda ball, data: ball.manifold.lift_near(ball, data),
        stood_for=lambda manifold, point: manifold.push(point),
    ),
    subclasses=True,
)
#: Aligned representatives, in the slice that they lie in.
register_solver(
    Aligned,
    CarriedSolver(
        "docs/proofs/aligned-means.md",
        other=lambda manifold: manifold.slice.space,
        carried=lambda ball: ball.manifold.ball_of_slice(ball),
        points=lambda ball, data: ball.manifold.aligned(data),
        stood_for=lambda manifold, point: manifold.stood_for(point),
        way_out='QuotientBall(space, center, radius, mean="aligned") with the data inside it',
    ),
)
