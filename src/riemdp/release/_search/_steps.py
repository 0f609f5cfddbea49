"""What of a search may be published: its steps, and the budget that they were paid from."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from riemdp._array_fields import ArrayFields
from riemdp._errors import UnsupportedBallError
from riemdp.manifolds import Ball
from riemdp.mechanisms import Mechanism, TangentGaussian, TangentLaplace
from riemdp.privacy import Budget, noise_kind, rest_of
from riemdp.release._offer import Offer, offer
from riemdp.release._search._schedule import Choice, Outcome, PublicChoice, working_ball
from riemdp.statistics import TangentMean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.manifolds import FloatArray

#: Noise of centres, by its law.
_CENTRES: dict[str, type[Mechanism]] = {"laplace": TangentLaplace, "gaussian": TangentGaussian}
#: Where it is proved what choices cost, and that the whole is within the budget.
PROOF = "docs/proofs/private-ball.md"


@dataclass(frozen=True)
class ChoiceStep(PublicChoice):
    """A choice that was made, as it may be published: a question and its answer."""

    value: float

    @classmethod
    def of(cls, choice: Choice, value: float) -> ChoiceStep:
        """Put a question and its answer together."""
        public = {each.name: getattr(choice, each.name) for each in fields(PublicChoice)}
        return cls(**public, value=value)


@dataclass(frozen=True, eq=False)
class CentreStep(ArrayFields):
    """A centre that was drawn, as it may be published. Points are in the chart on flat spaces.

    ``center`` and ``radius`` are of the ball that records were clipped to, ``inf`` of a whole
    space; sensitivity and sigma of the mean, and of the noise. ``rounded`` are normal coordinates
    about that centre on the grid of step ``2^-grid``, ``value`` the point, projected onto the
    public ball.
    """

    label: str
    guarantee: Budget
    center: FloatArray = field(repr=False)
    radius: float
    mechanism: str
    sensitivity: float
    sigma: float
    grid: int = field(repr=False)
    rounded: tuple[int, ...] = field(repr=False)
    value: FloatArray = field(repr=False)

    query = "centre"

    def __post_init__(self) -> None:
        self._seal()


Step = ChoiceStep | CentreStep


@dataclass(frozen=True)
class Search:
    """Receipt of a search: what it asked and was answered, in order, all of it public.

    It began with the public ball, might move its centre along the scale axis of the space if
    ``axis``, and looked for at most ``rounds`` centres. The steps and all releases add up to the
    budget (PureDP, GDP or ZCDP), of which one release on the ball that was found takes ``release``.
    """

    ball: Ball
    n: int
    budget: Budget
    rounds: int
    axis: bool
    steps: tuple[Step, ...] = field(default=(), repr=False)
    release: Budget | None = None

    @property
    def left(self) -> Budget:
        """What the steps leave of the budget."""
        left = rest_of(self.budget, [step.guarantee for step in self.steps])
        assert left is not None  # three tenths of it at least
        return left

    @property
    def direction(self) -> FloatArray | None:
        """Unit vector of the axis; None where there is none, or it is not to be used."""
        return self.ball.manifold.scale_axis if self.axis else None

    def proofs(self) -> Mapping[str, str | None]:
        """Return where it is proved that the steps have their guarantees."""
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


def centre_offer(ball: Ball, n: int, guarantee: Budget) -> Offer:
    """Return the tangent mean with noise that a centre is drawn from, on the space of the search.

    ``UnsupportedError`` if it is not available.
    """
    return offer(TangentMean(), centre_kind(type(guarantee)), ball, n, guarantee)


def found_ball(public: Ball, outcome: Outcome) -> Ball:
    """Return the ball of an outcome on the space itself.

    The public one where no smaller one was found, or the space has no room for it.
    """
    working = working_ball(public)
    if outcome.ball == working:
        return public
    if public.manifold.chart is None:
        return outcome.ball
    center = public.point(outcome.ball.center - working.center)
    try:
        return Ball(public.manifold, center, outcome.ball.radius)
    except UnsupportedBallError:  # about this centre; all of it is released
        return public
