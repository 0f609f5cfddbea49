"""The two means: the point with the least mean squared distance, and the average of logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from riemdp._checks import is_one_of
from riemdp._errors import UnsupportedBallError
from riemdp._part import register
from riemdp.kernel import Vector
from riemdp.statistics._footpoint import Footpoint
from riemdp.statistics._query import Value
from riemdp.statistics._rows import Rows
from riemdp.statistics._sensitivity import frechet_mean_sensitivity
from riemdp.statistics._statistic import Statistic
from riemdp.statistics.curved._mean_solver import ExactSum
from riemdp.statistics.curved._solver_of_space import average, is_solved, mean_solver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.spaces import Ball, FloatArray, Manifold
    from riemdp.statistics._query import Metric, Queries

#: Share of the hemisphere's radius next to its edge that is refused.
_HEMISPHERE_MARGIN = 2e-3


@final
@register
@dataclass(frozen=True)
class FrechetMean(Statistic):
    """The point with the least mean squared distance to the records.

    How far it moves is known as a distance; in normal coordinates about the ball's centre it moves
    no farther. On flat spaces it is the average, a sum over the records; elsewhere it needs them
    all at once.

    References
    ----------
    docs/proofs/frechet-mean-sensitivity.md, docs/proofs/frechet-mean-certificate.md;
    docs/proofs/wrapped-noise.md for coordinates

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import FrechetMean
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_statistic(FrechetMean(), points, ball, riemdp.GDP(1.0))
    >>> release.statistic.name, release.value.shape
    ('frechet-mean', (3,))
    """

    name: ClassVar[str] = "frechet-mean"
    proof: ClassVar[str | None] = "docs/proofs/frechet-mean-sensitivity.md"

    def queries(self, ball: Ball) -> Queries:
        """Ask for the mean; see :meth:`Statistic.queries`."""
        solver = mean_solver(ball.manifold)
        is_sum = isinstance(solver.exact(ball.manifold), ExactSum)
        if not solver.isometric:
            frechet_mean_sensitivity(ball, 1)  # refuses balls with more than one mean
            check_certifiable(ball)
        return average_of(ball) if is_sum else _alone(Footpoint(), ball)

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the proof of the sensitivity, where the space's solver is proved too."""
        solver = mean_solver(ball.manifold)
        exact = solver.exact(ball.manifold)
        solved = self.proof if is_solved(ball.manifold) else None
        return {self.name: solved, "exact mean": None if exact is None else exact.proof}


@final
@register
@dataclass(frozen=True)
class TangentMean(Statistic):
    """The average of the normal coordinates about the ball's centre.

    How far it moves is known in coordinates, on flat spaces as a distance too, where that is the
    same.

    References
    ----------
    docs/proofs/frechet-mean-sensitivity.md, last section

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import TangentMean
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_statistic(TangentMean(), points, ball, riemdp.GDP(1.0))
    >>> release.statistic.name, release.value.shape
    ('tangent-mean', (3,))
    """

    name: ClassVar[str] = "tangent-mean"
    proof: ClassVar[str | None] = "docs/proofs/frechet-mean-sensitivity.md"

    def queries(self, ball: Ball) -> Queries:
        """Ask for the average; see :meth:`Statistic.queries`."""
        return average_of(ball)

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:  # noqa: ARG002
        """Return the proofs of the sensitivity and of the arithmetic."""
        return {**self.proofs(), "exact mean": ExactSum.proof}


def average_of(ball: Ball) -> Queries:
    """Ask for the average of normal coordinates, and return it as a point."""
    shape = Vector(ball.manifold.dim)
    query = Rows(shape, ball.reach, _vectors, clipped=_in_units, projects=True, points=True)
    return _alone(query, ball)


def _in_units(ball: Ball, points: FloatArray) -> FloatArray:
    return ball.unit_coordinates(points)


def _vectors(ball: Ball, vectors: FloatArray) -> FloatArray:  # noqa: ARG001
    return vectors


def _alone(query: Rows | Footpoint, ball: Ball) -> Queries:
    answer = yield query
    return Value(answer.point, ball)


def mean_for(manifold: Manifold, metric: Metric, intrinsic: bool | None = None) -> Statistic:
    """Return the mean that is released with noise whose privacy is stated in a metric.

    Parameters
    ----------
    manifold : Manifold
    metric : {"distance", "coordinates"}
    intrinsic : bool, optional
        Whether it is to be the Fréchet mean; by default for noise along the manifold alone.

    Returns
    -------
    FrechetMean or TangentMean
        The Fréchet mean on flat spaces, where the two are one.
    """
    if intrinsic is True or is_one_of(metric, ("distance",)) or average(manifold).isometric:
        return FrechetMean()
    return TangentMean()


def check_certifiable(ball: Ball) -> None:
    """Refuse caps that nearly fill the hemisphere, from public numbers.

    There the Hessian at the mean may vanish to rounding, and whether a solver can certify its
    result would depend on the data.
    """
    if ball.parts[0] is not ball:
        for part in set(ball.parts):
            check_certifiable(part)
        return
    manifold = ball.manifold
    whole = manifold.convexity_radius
    limit = whole * (1.0 - _HEMISPHERE_MARGIN)
    if manifold.curvature_bound > 0.0 and ball.radius > limit:
        raise UnsupportedBallError(
            f"radius {ball.radius:.6g} is too near {whole:.6g}, under which Fréchet means on "
            f"{manifold} are unique: they are certified up to {limit:.6g}; choose a smaller ball "
            "or the tangent mean"
        )
