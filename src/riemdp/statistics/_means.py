"""The two means as statistics: which sensitivity they have, and how accurately they are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import is_one_of
from riemdp._errors import UnsupportedBallError, UnsupportedError, UnsupportedManifoldError
from riemdp._part import register
from riemdp.kernel import UNIT, guarded
from riemdp.statistics._counted import Sums
from riemdp.statistics._descent import descent_of
from riemdp.statistics._exact_mean import ExactSum
from riemdp.statistics._mean_solver import MeanSolver
from riemdp.statistics._records import joined
from riemdp.statistics._sensitivity import (
    frechet_mean_sensitivity,
    log_stretch,
    tangent_mean_sensitivity,
)
from riemdp.statistics._solver_of_space import average, is_solved, mean_solver
from riemdp.statistics._statistic import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, Manifold
    from riemdp.statistics._exact_mean import ExactMean
    from riemdp.statistics._question import Partial, Pass
    from riemdp.statistics._statistic import Metric, Statistic

#: Largest tolerance of a Fréchet mean, as a share of the radius.
_CERTIFIABLE = 1e-3
#: Share of the hemisphere's radius next to its edge that is refused.
_HEMISPHERE_MARGIN = 2e-3


@dataclass(frozen=True)
class Mean(Summary):
    """What the means share: a solver computes them, and clips records in the form it works in."""

    clips = True

    def _solver(self, manifold: Manifold) -> MeanSolver:
        return mean_solver(manifold)

    def _exact(self, ball: Ball) -> ExactMean:
        """How it is computed; ``UnsupportedError`` where nobody knows how."""
        found = self._solver(ball.manifold).exact(ball.manifold)
        if found is None:
            raise UnsupportedError(
                f"no exact arithmetic is known of the {self.name} on {ball.manifold}"
            )
        return found

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the proofs of the sensitivity and of the arithmetic."""
        return {**super().proofs_on(ball), "exact mean": self._exact(ball).proof}

    def adds(self, ball: Ball) -> bool:
        """Whether integers are added: of averages."""
        return self._exact(ball).adds

    def in_passes(self, ball: Ball, tol: float) -> Pass | None:
        """Descend to a mean that is certified in the end; see :meth:`Question.in_passes`."""
        descent = self._exact(ball).descent(ball, tol)
        return None if descent is None else descent_of(self, descent)

    def rows(self, ball: Ball, records: Any) -> Partial:
        """Clip; see :meth:`Question.rows`."""
        return self._exact(ball).rows_of(ball, records)

    def guarded(self, ball: Ball, rows: Partial) -> NDArray[np.int64]:
        """Guard integers, where these are added; see :meth:`Question.guarded`."""
        if not isinstance(self._exact(ball), ExactSum):
            return super().guarded(ball, rows)
        return guarded(rows, UNIT**2)

    def added(self, ball: Ball, rows: Partial) -> Partial:
        """Add, where that is all that is needed; see :meth:`Question.added`."""
        return self._exact(ball).added(ball, rows)

    def terms(self, ball: Ball, rows: Any) -> tuple[Partial, NDArray[np.int64] | None]:
        """Return clipped records, and what each of them weighs: what passes are made over.

        Parameters
        ----------
        ball : Ball
        rows : object
            Of :meth:`rows`.

        Returns
        -------
        records : object
            See :meth:`Descent.seen`.
        whole : ndarray of int, shape (m,), or None
            None, by default, where all weigh the same.
        """
        return self.added(ball, rows), None

    def merge(self, first: Partial, second: Partial) -> Partial:
        """Put chunks together; see :meth:`Question.merge`."""
        return joined(first, second)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Certify the mean of all records; see :meth:`Question.finish`."""
        return self._exact(ball).mean(ball, partial, tol)

    def tolerance(self, ball: Ball, sensitivity: float) -> float:
        """Return a billionth of the sensitivity where float64 carries that, more where not.

        Sums of integers need none. ``UnsupportedBallError`` where float64 carries too little of the
        mean.
        """
        floor = self._exact(ball).floor(ball)
        if floor == 0.0:
            return 0.0
        if floor > _CERTIFIABLE * ball.radius:
            raise UnsupportedBallError(
                f"in a ball of radius {ball.radius:.6g} on {ball.manifold} rounding may be as "
                f"large as {floor:.3g}, so that a Fréchet mean cannot be certified in float64; "
                "choose a smaller ball (a larger one, if it is tiny) or the tangent mean, which "
                "needs no solver"
            )
        return max(floor, 1e-9 * sensitivity)

    def rounding(self, ball: Ball) -> float:
        """Return half of the floor, whose other half leaves room for the solver.

        Sums of integers take nothing.
        """
        return 0.5 * self._exact(ball).floor(ball)


class IntrinsicMean(Mean):
    """What Fréchet means share, with weights or without."""

    def stretch(self, ball: Ball, metric: Metric) -> float:
        """``x / sin x`` at ``x = kr`` in coordinates under positive curvature, else 1."""
        return log_stretch(ball) if metric == "coordinates" else 1.0

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the proof of the sensitivity, where the space's solver is proved too."""
        solved = {self.name: self.proof if is_solved(ball.manifold) else None}
        return {**super().proofs_on(ball), **solved}


class AverageMean(Mean):
    """What averages of normal coordinates share, with weights or without."""

    def _solver(self, manifold: Manifold) -> MeanSolver:
        return average(manifold)

    def _check_metric(self, ball: Ball, metric: Metric) -> None:
        """Refuse distances off flat spaces."""
        if metric != "coordinates" and not average(ball.manifold).isometric:
            raise UnsupportedManifoldError(
                "how far the tangent mean moves is known in coordinates, not as a distance; use a "
                "tangent mechanism, or the Fréchet mean"
            )


@final
@register
@dataclass(frozen=True)
class FrechetMean(IntrinsicMean):
    """The point with the least mean squared distance to the records.

    How far it moves is known as a distance; in normal coordinates about the ball's centre it moves
    no farther.

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

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return :func:`riemdp.frechet_mean_sensitivity`; see :meth:`Statistic.replace_one`.

        In both metrics: see docs/proofs/wrapped-noise.md.
        """
        del metric
        mean_solver(ball.manifold)
        exact = frechet_mean_sensitivity(ball, n)
        check_certifiable(ball)
        return exact

    def counted(self, ball: Ball) -> Statistic:
        """Return a sum and a count where it is the tangent mean; see :meth:`Statistic.counted`.

        Refused on curved spaces: there it is no function of a sum over the records.
        """
        if not average(ball.manifold).isometric:
            return super().counted(ball)
        return TangentMean().counted(ball)


@final
@register
@dataclass(frozen=True)
class TangentMean(AverageMean, Sums):
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

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return :func:`riemdp.tangent_mean_sensitivity`; off flat spaces in coordinates alone.

        See :meth:`Statistic.replace_one`.
        """
        self._check_metric(ball, metric)
        return tangent_mean_sensitivity(ball, n)


def mean_for(manifold: Manifold, metric: Metric, intrinsic: bool | None = None) -> Mean:
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
