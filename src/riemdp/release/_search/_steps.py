"""What of a search may be published: its queries with their answers, and its budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from riemdp._errors import UnsupportedBallError
from riemdp.mechanisms import Mechanism, TangentGaussian, TangentLaplace
from riemdp.privacy import Budget, noise_kind
from riemdp.release._search._adaptive import spent_of
from riemdp.spaces import Ball, Euclidean
from riemdp.statistics import TangentMean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.spaces import FloatArray

#: Noise of centres, by its law.
_CENTRES: dict[str, type[Mechanism]] = {"laplace": TangentLaplace, "gaussian": TangentGaussian}
#: Where it is proved what queries cost, and that the whole is within the budget.
PROOF = "docs/proofs/private-ball.md"


@dataclass(frozen=True)
class Search:
    """Receipt of a search: its queries and their answers, in order, all of it public.

    It began with the public ball, and might move its centre along the scale axis of the space if
    ``axis``; ``n`` is the public number of units, None where it is private. The steps are as a
    document has them: see ``step_of``. With all releases they are within the budget (PureDP, GDP or
    ZCDP), of which one release on the ball that was found takes ``release``.
    """

    ball: Ball
    n: int | None
    budget: Budget
    axis: bool
    steps: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    release: Budget | None = None

    @property
    def spent(self) -> Budget:
        """What the steps take, rounded up."""
        shares = (Fraction(*step["share"]) for step in self.steps)
        return spent_of(self.budget, sum(shares, Fraction()))

    @property
    def direction(self) -> FloatArray | None:
        """Unit vector of the axis; None where there is none, or it is not to be used."""
        return self.ball.manifold.scale_axis if self.axis else None

    def proofs(self) -> Mapping[str, str | None]:
        """Return where it is proved that the steps cost what they take."""
        return search_proofs(self.ball, self.budget)


def search_proofs(ball: Ball, budget: Budget) -> dict[str, str | None]:
    """Return where what every search rests on is proved, but for its ball."""
    kind = centre_kind(type(budget))
    return {
        "private ball": PROOF,
        budget.name: budget.proof,
        kind.name: kind.proof,
        **TangentMean().proofs_on(working_ball(ball)),
    }


def centre_kind(definition: type[Budget]) -> type[Mechanism]:
    """Noise of a centre under a definition."""
    return _CENTRES[noise_kind(definition)]


def working_ball(ball: Ball) -> Ball:
    """Return the ball that is searched: on flat spaces the image of the public one in the chart."""
    chart = ball.manifold.chart
    if chart is None:
        return ball
    return Ball(Euclidean(chart.dim), chart.to_chart(ball.center), ball.radius)


def found_ball(public: Ball, found: Ball) -> Ball:
    """Return the ball that a search leads to on the space itself.

    The public one where no smaller one was found, or the space has no room for it.
    """
    working = working_ball(public)
    if found == working:
        return public
    if public.manifold.chart is None:
        return found
    center = public.point(found.center - working.center)
    try:
        return Ball(public.manifold, center, found.radius)
    except UnsupportedBallError:  # about this centre; all of it is released
        return public
