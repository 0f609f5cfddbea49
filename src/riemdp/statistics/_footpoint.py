"""Intrinsic Fréchet means: the one query that needs all records at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._errors import InvalidParameterError, UnsupportedBallError, UnsupportedError
from riemdp.kernel import taken
from riemdp.statistics._query import Query
from riemdp.statistics._records import whole_weights
from riemdp.statistics._sensitivity import (
    frechet_mean_sensitivity,
    log_stretch,
    weighted_frechet_mean_sensitivity,
)
from riemdp.statistics.curved._descent import descent_of
from riemdp.statistics.curved._solver_of_space import mean_solver

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import Ball
    from riemdp.statistics._query import Metric, Partial, Pass
    from riemdp.statistics.curved._mean_solver import ExactMean

#: Largest tolerance, as a share of the radius.
_CERTIFIABLE = 1e-3


@dataclass(frozen=True, eq=False)
class Footpoint(Query):
    """The Fréchet mean on a curved space, certified within a public tolerance.

    Attributes
    ----------
    largest : float, optional
        With public weights, the largest over the sum of all.
    """

    clips: ClassVar[bool] = True

    largest: float | None = None

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Weights, where there are any."""
        return () if self.largest is None else ("weights",)

    def exact(self, ball: Ball) -> ExactMean:
        """How it is computed; ``UnsupportedError`` where nobody knows how."""
        # found by the space, so that it need not be sent to where the records are
        found = mean_solver(ball.manifold).exact(ball.manifold)
        if found is None:
            raise UnsupportedError(
                f"no exact arithmetic is known of the Fréchet mean on {ball.manifold}"
            )
        return found

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return :func:`riemdp.frechet_mean_sensitivity`; see :meth:`Query.replace_one`.

        In both metrics: see docs/proofs/wrapped-noise.md.
        """
        self.exact(ball)
        if self.largest is None:
            return frechet_mean_sensitivity(ball, n)
        check_share(self.largest, n)
        return weighted_frechet_mean_sensitivity(ball, self.largest)

    def stretch(self, ball: Ball, metric: Metric) -> float:
        """``x / sin x`` at ``x = kr`` in coordinates under positive curvature, else 1."""
        return log_stretch(ball) if metric == "coordinates" else 1.0

    def tolerance(self, ball: Ball, sensitivity: float) -> float:
        """Return a billionth of the sensitivity where float64 carries that, more where not.

        None where integers are added. ``UnsupportedBallError`` where float64 carries too little of
        the mean.
        """
        floor = self.exact(ball).floor(ball)
        if floor == 0.0:
            return 0.0
        if floor > _CERTIFIABLE * ball.radius:
            raise UnsupportedBallError(
                f"in a ball of radius {ball.radius:.6g} on {ball.manifold} rounding may exceed a "
                "thousandth of the radius, so that a Fréchet mean cannot be certified in float64; "
                "choose a smaller ball (a larger one, if it is tiny) or the tangent mean, which "
                "needs no solver"
            )
        return max(floor, 1e-9 * sensitivity)

    def adds(self, ball: Ball) -> bool:
        """Whether integers are added, as of averages on another space; see :meth:`Query.adds`."""
        return self.exact(ball).adds

    def rounding(self, ball: Ball) -> float:
        """Return half of the floor, whose other half leaves room for the solver."""
        return 0.5 * self.exact(ball).floor(ball)

    def in_passes(self, ball: Ball, tol: float) -> Pass | None:
        """Descend to a mean that is certified in the end; see :meth:`Query.in_passes`."""
        descent = self.exact(ball).descent(ball, tol)
        return None if descent is None else descent_of(self, descent)

    def rows(self, ball: Ball, records: Any) -> Partial:
        """Clip, with weights as integers where there are any; see :meth:`Query.rows`."""
        exact = self.exact(ball)
        if self.largest is None:
            return exact.rows_of(ball, records)
        return exact.rows_of(ball, np.asarray(records.points)), whole_weights(records.weights)

    def added(self, ball: Ball, rows: Partial) -> Partial:
        """Keep all of them, or sums of flat factors; see :meth:`Query.added`."""
        return self.exact(ball).summed(ball, rows, None) if self.largest is None else rows

    def terms(self, ball: Ball, rows: Partial) -> tuple[Partial, NDArray[np.int64] | None]:
        """Return records, and what each weighs: what passes are made over, and a mean is of.

        Those of weight 0 are left out: where they are is public, and nothing else of them counts.

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
            None where all weigh the same.
        """
        if self.largest is None:
            return self.added(ball, rows), None
        records, whole = rows
        kept = whole > 0
        return taken(records, kept), whole[kept]

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Certify the mean of all records; see :meth:`Query.finish`."""
        given = (partial, None) if self.largest is None else self.terms(ball, partial)
        return self.exact(ball).weighted(ball, *given, tol)


def check_share(share: float, n: int) -> None:
    """Refuse a largest share of n weights that is under 1/n."""
    if n * Fraction(share) < 1:
        raise InvalidParameterError(
            f"share = {share:.6g} is under 1/n, and the largest of n = {n} weights is at "
            "least that much of their sum"
        )
