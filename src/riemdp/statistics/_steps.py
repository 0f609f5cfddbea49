"""Noisy steps: means and medians whose noise follows the spread of the records, not the radius."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import count, positive, real
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.manifolds import Ball, Euclidean, clip_norm
from riemdp.statistics._counted_steps import CountedSteps, steps_weight
from riemdp.statistics._exact_mean import ExactSum
from riemdp.statistics._feature_sums import root_up
from riemdp.statistics._mean_solver import average
from riemdp.statistics._means import counted_mean, mean_for
from riemdp.statistics._seen import (
    FREE,
    JOINT_REACH,
    Directions,
    Seen,
    SeenFromCentre,
    seen_from,
    steps_ball,
)
from riemdp.statistics._sensitivity import tangent_mean_sensitivity
from riemdp.statistics._statistic import InTwoArithmetics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from numpy.typing import NDArray

    from riemdp.statistics._means import Mean
    from riemdp.statistics._question import Question
    from riemdp.statistics._statistic import Metric, Statistic

    FloatArray = NDArray[np.float64]

#: Most steps of one release.
_MOST = 10_000
#: Least length that is clipped to, as a share of the ball's radius.
LEAST = 2.0**-40
#: Share of the last length under which the next one never falls: a spread is known no better.
FLOOR = 0.125


@dataclass(frozen=True, eq=False)
class Place:
    """Where steps have come to: a function of public numbers and of releases.

    Attributes
    ----------
    point : ndarray
        In the ball of steps.
    unit : float
        Length that the radius of an answer stands for, in the step that comes next.
    noise : float
        Mean length of the noise of an answer.
    trail : tuple of ndarray
        Points that the value is an average of.
    """

    point: FloatArray
    unit: float
    noise: float
    trail: tuple[FloatArray, ...] = ()


@dataclass(frozen=True)
class NoisySteps(InTwoArithmetics):
    """Steps from a released point to the next, each along a noisy mean of bounded vectors.

    An answer is a mean over the records, in the tangent space at a released point, of vectors whose
    norm is at most the ball's radius r: ``2r/n`` is its sensitivity, on every space, for every
    radius and wherever the point lies. Lengths that depend on releases only scale it. The first
    answer is the tangent mean at the centre of the ball with the mean squared distance to it,
    which costs no noise; the others are seen from where the steps have come to.

    References
    ----------
    docs/proofs/noisy-steps.md
    """

    @property
    @abstractmethod
    def shares_of_steps(self) -> tuple[float, ...]:
        """Share of every answer, of sum 1: squares of the weights."""

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Number of answers."""
        return len(self.shares_of_steps)

    def answer_weight(self, step: int) -> float:
        """Root of the share; see :meth:`Statistic.answer_weight`."""
        return math.sqrt(self.shares_of_steps[step])

    def in_integers(self) -> Self:
        """Return the same in exact arithmetic, as sums of integers."""
        return self._in("exact")

    def has_moment(self, step: int) -> bool:
        """Whether an answer has the second moment in it; the first one, by default.

        Parameters
        ----------
        step : int

        Returns
        -------
        bool
        """
        return step == 0

    def answer_norm(self, dim: int, step: int) -> float:  # noqa: ARG002
        """Return the largest norm of the vector of a record in an answer, in units of the radius.

        Parameters
        ----------
        dim : int
            Of the space.
        step : int

        Returns
        -------
        float
            Rounded up.
        """
        return root_up(1 + Fraction(FREE) ** 2) if self.has_moment(step) else 1.0

    def answer_move(self, dim: int, step: int) -> float:  # noqa: ARG002
        """Return the largest distance of two such vectors: 2, unless a class says otherwise."""
        return 2.0

    def answer_factor(self, dim: int, step: int) -> Fraction:  # noqa: ARG002
        """Return what the mean of these vectors is multiplied by in an answer: its weight."""
        return Fraction(self.answer_weight(step))

    def counted(self, ball: Ball) -> Statistic:
        """Return sums in steps, with a count in the first; see :meth:`Statistic.counted`."""
        dim = ball.manifold.dim
        return CountedSteps(self, steps_weight(self.answer_norm(dim, 0), dim))

    def answers(self, ball: Ball) -> Ball:
        """Tangent vectors with one more coordinate; see :meth:`Statistic.answers`."""
        space = Euclidean(ball.manifold.dim + 1)
        return Ball(space, space.origin, JOINT_REACH * ball.reach)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """``2r/n``, in both metrics; see :meth:`Statistic.replace_one`."""
        return tangent_mean_sensitivity(ball, n)

    def tolerance(self, ball: Ball, sensitivity: float) -> float:
        """Zero for sums of integers; see :meth:`Statistic.tolerance`."""
        floor = self._floor(ball)
        return 0.0 if floor == 0.0 else max(floor, 1e-9 * sensitivity)

    def rounding(self, ball: Ball) -> float:
        """Half of the floor; see :meth:`Statistic.rounding`."""
        return 0.5 * self._floor(ball)

    def _floor(self, ball: Ball) -> float:
        if self.arithmetic == "exact":
            return 0.0
        return JOINT_REACH * average(ball.manifold).floor(ball)

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the proof of the steps, and that of the sums where these are exact."""
        exact = {"exact mean": ExactSum.proof} if self.arithmetic == "exact" else {}
        return {**super().proofs_on(ball), **exact}

    def start(self, ball: Ball) -> Place:
        """Return the centre, with no noise known; see :meth:`Statistic.start`."""
        return self.begin(ball, float)

    def begin(self, ball: Ball, noise: Callable[[], float]) -> Place:
        """Return the centre of the ball; see :meth:`Statistic.begin`."""
        return Place(steps_ball(ball).center, ball.reach, noise())

    def ask(self, ball: Ball, point: Place, step: int) -> Question:
        """Ask for the mean and the second moment first; see :meth:`Statistic.ask`."""
        weight, exact = self.answer_weight(step), self.arithmetic == "exact"
        if step == 0:
            return SeenFromCentre(point.point, ball.reach, weight, moment=True, exact=exact)
        return self._next(point, weight, last=step == self.steps - 1, exact=exact)

    @abstractmethod
    def _next(self, place: Place, weight: float, *, last: bool, exact: bool) -> Question:
        """Return the question at a place that steps have come to."""

    def move(self, ball: Ball, point: Place, noisy: FloatArray, step: int) -> Place:
        """Make a step along a noisy mean; see :meth:`Statistic.move`."""
        weight, reach = self.answer_weight(step), ball.reach
        vector, moment = noisy[:-1] / weight, noisy[-1] / weight / FREE
        # Both in units of the radius of answers, which stands for point.unit.
        vector, moment = clip_norm(vector, reach) / reach, moment / reach
        spread = _spread(vector, moment, point.noise / weight / reach) * point.unit
        return self._moved(ball, point, vector, spread, step)

    @abstractmethod
    def _moved(
        self, ball: Ball, place: Place, vector: FloatArray, spread: float, step: int
    ) -> Place:
        """Return the next place, from a noisy mean in units of ``place.unit``."""

    def value_at(self, ball: Ball, point: Place) -> FloatArray:
        """Average the trail, as seen from where it ends; see :meth:`Statistic.value_at`."""
        seen = steps_ball(ball)
        value = point.point
        if point.trail:
            others = seen_from(seen.manifold, value, np.array(point.trail))
            value = stepped(ball, value, others.mean(axis=0))
        return value if seen is ball else ball.point(value)


def _spread(vector: FloatArray, moment: float, noise: float) -> float:
    """Root mean square distance of records to the point that a noisy mean leads to, estimated.

    ``moment - |vector|^2`` is less than the variance of the records by the mean square of the
    noise of the vector, on average; that is added, and once more as the square distance between
    the mean and where the noise leads.
    """
    dim = len(vector)
    # Of a Gaussian the squared mean length in dim + 1 dimensions is that many less 1/2, nearly.
    square = noise * noise * dim / (dim + 0.5)  # a product overflows to infinity, a power raises
    return math.sqrt(max(moment - float(vector @ vector) + square, 0.0) + square)


def stepped(ball: Ball, base: FloatArray, coordinates: FloatArray) -> FloatArray:
    r"""End of a step from a point, projected onto the ball of steps.

    Parameters
    ----------
    ball : Ball
        Public ball of the records.
    base : ndarray
        Of the ball of steps.
    coordinates : ndarray, shape (dim,)
        Normal coordinates about the base.

    Returns
    -------
    ndarray
        Of the ball of steps.
    """
    seen = steps_ball(ball)
    return seen.project(seen.manifold.point(base, coordinates))


_BIAS = (
    "expected_distance is that of the noise of one answer, were the records spread over the whole "
    "ball; how far clipping or stopping moved the value is not bounded"
)


@final
@register
@dataclass(frozen=True)
class RefinedMean(NoisySteps):
    """Tangent mean in rounds: each about the result of the one before, clipped to the spread there.

    The first round is the tangent mean at the centre, clipped to the ball, with the free second
    moment. Every other one clips to ``alpha`` times the spread that was released, at least an
    eighth of the length before and at most the radius; its noise is that much smaller. Records
    beyond that length count as nearer than they are. One round is the tangent mean itself (on flat
    spaces the Fréchet mean, which it is).

    Parameters
    ----------
    rounds : int, default 2
        At least 1.
    shares : tuple of float, default ()
        Share of every round of the squared budget (of mu^2 for Gaussian noise), of sum 1. By
        default 0.2 together for all rounds but the last.
    alpha : float, default 2.0
        Positive and finite. Smaller values clip more, and need less noise.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/noisy-steps.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import RefinedMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_statistic(RefinedMean(rounds=3), points, ball, riemdp.GDP(1.0))
    >>> release.statistic.steps, release.value.shape
    (3, (2,))
    """

    name: ClassVar[str] = "refined-mean"
    proof: ClassVar[str | None] = "docs/proofs/noisy-steps.md"
    caveat: ClassVar[str] = _BIAS

    rounds: int = 2
    shares: tuple[float, ...] = ()
    alpha: float = 2.0

    def __post_init__(self) -> None:
        rounds = _step_count(self.rounds, "rounds")
        object.__setattr__(self, "rounds", rounds)
        object.__setattr__(self, "alpha", positive(self.alpha, "alpha"))
        early = (0.2 / (rounds - 1),) * (rounds - 1) if rounds > 1 else ()
        shares: object = self.shares or (*early, 1.0 - sum(early))
        if not isinstance(shares, tuple) or len(shares) != rounds:
            raise InvalidParameterError(f"shares must be a tuple of {rounds} numbers, one a round")
        shares = tuple(positive(share, "a share") for share in shares)
        if not math.isclose(math.fsum(shares), 1.0, rel_tol=1e-9):
            raise InvalidParameterError(f"shares must sum to 1, got {math.fsum(shares):.9g}")
        # One round is a mean that no weight multiplies: its share is 1, not nearly so.
        object.__setattr__(self, "shares", shares if rounds > 1 else (1.0,))

    @property
    def shares_of_steps(self) -> tuple[float, ...]:
        """The shares of the rounds."""
        return self.shares

    def noise_in_value(self, ball: Ball) -> float:  # noqa: ARG002
        """As long as in the last answer, were it clipped to the radius."""
        return 1.0 / self.answer_weight(self.steps - 1)

    def _next(self, place: Place, weight: float, *, last: bool, exact: bool) -> Question:
        return Seen(place.point, place.unit, weight, moment=not last, exact=exact)

    def _moved(
        self,
        ball: Ball,
        place: Place,
        vector: FloatArray,
        spread: float,
        step: int,  # noqa: ARG002
    ) -> Place:
        point = stepped(ball, place.point, vector * place.unit)
        unit = min(ball.reach, max(self.alpha * spread, FLOOR * place.unit, LEAST * ball.reach))
        return replace(place, point=point, unit=unit)

    def has_moment(self, step: int) -> bool:
        """Whether another round follows; see :meth:`NoisySteps.has_moment`."""
        return step < self.rounds - 1

    # One round is a mean that has a class: with its answers, its arithmetic and all its bits.

    def counted(self, ball: Ball) -> Statistic:
        """See :meth:`NoisySteps.counted`; of one round a mean."""
        return counted_mean(ball) if self.rounds == 1 else super().counted(ball)

    def _mean(self, ball: Ball) -> Mean | None:
        mean = mean_for(ball.manifold, "coordinates") if self.rounds == 1 else None
        exact = mean is not None and self.arithmetic == "exact"
        return mean.exactly(ball) if mean is not None and exact else mean

    def exactly(self, ball: Ball) -> Self:
        """See :meth:`Statistic.exactly`; of one round where the mean can be computed so."""
        if self.rounds == 1:
            mean_for(ball.manifold, "coordinates").exactly(ball)
        return super().exactly(ball)

    def answers(self, ball: Ball) -> Ball:
        """See :meth:`NoisySteps.answers`; of one round the ball itself."""
        return super().answers(ball) if self._mean(ball) is None else ball

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """See :meth:`NoisySteps.replace_one`; of one round that of the mean."""
        mean = self._mean(ball)
        if mean is None:
            return super().replace_one(ball, n, metric)
        return mean.replace_one(ball, n, metric)

    def tolerance(self, ball: Ball, sensitivity: float) -> float:
        """See :meth:`NoisySteps.tolerance`; of one round that of the mean."""
        mean = self._mean(ball)
        return (
            super().tolerance(ball, sensitivity)
            if mean is None
            else mean.tolerance(ball, sensitivity)
        )

    def rounding(self, ball: Ball) -> float:
        """See :meth:`NoisySteps.rounding`; of one round that of the mean."""
        mean = self._mean(ball)
        return super().rounding(ball) if mean is None else mean.rounding(ball)

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """See :meth:`NoisySteps.proofs_on`; of one round those of the mean too."""
        mean = self._mean(ball)
        return {**super().proofs_on(ball), **({} if mean is None else mean.proofs_on(ball))}

    def ask(self, ball: Ball, point: Any, step: int) -> Question:
        """See :meth:`NoisySteps.ask`; of one round the mean."""
        mean = self._mean(ball)
        return super().ask(ball, point, step) if mean is None else mean

    def move(self, ball: Ball, point: Any, noisy: FloatArray, step: int) -> Any:
        """See :meth:`NoisySteps.move`; of one round the noisy mean."""
        return noisy if self.rounds == 1 else super().move(ball, point, noisy, step)

    def value_at(self, ball: Ball, point: Any) -> FloatArray:
        """See :meth:`NoisySteps.value_at`; of one round the noisy mean."""
        value: FloatArray = point if self.rounds == 1 else super().value_at(ball, point)
        return value


@dataclass(frozen=True)
class WarmSteps(NoisySteps):
    """A first round as of the refined mean, and so many steps of equal weight from there.

    The value is the average of the last half of the points that they come to.
    """

    rounds: int = 12
    warm_share: float = 0.25

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", _step_count(self.rounds, "steps"))
        share = real(self.warm_share, "warm_share")
        if not 0.0 < share < 1.0:
            raise InvalidParameterError(f"warm_share must be over 0 and under 1, got {share}")
        object.__setattr__(self, "warm_share", share)

    @property
    def shares_of_steps(self) -> tuple[float, ...]:
        """The share of the first round, and equal ones of the rest."""
        return (self.warm_share, *(((1.0 - self.warm_share) / self.rounds,) * self.rounds))

    def noise_in_value(self, ball: Ball) -> float:  # noqa: ARG002
        """As long as in the longest step, were records spread over the whole ball."""
        return self._length(1) / self.answer_weight(1)

    def _length(self, step: int) -> float:  # noqa: ARG002
        """Return the length of a step along a unit vector, in units of what is clipped to."""
        return 1.0

    @abstractmethod
    def _unit(self, spread: float) -> float:
        """Return what is clipped to, or how long steps are, for records of this spread."""

    def _moved(
        self, ball: Ball, place: Place, vector: FloatArray, spread: float, step: int
    ) -> Place:
        if step == 0:
            point = stepped(ball, place.point, vector * place.unit)
            unit = min(ball.reach, max(self._unit(spread), LEAST * ball.reach))
            return replace(place, point=point, unit=unit)
        length = min(self._length(step) * place.unit, 2.0 * ball.reach)
        point = stepped(ball, place.point, vector * length)
        trail = (*place.trail, point) if 2 * step > self.rounds else ()
        return replace(place, point=point, trail=trail)


@final
@register
@dataclass(frozen=True)
class GeometricMedian(WarmSteps):
    """Point with the least mean distance to the records, by steps along mean directions.

    A record counts as a unit vector, however far it is, so that a tenth of outliers moves the value
    little. The first step is ``eta`` times the released spread long, times the length of the mean
    direction, and later ones are shorter by one factor each: the spread may be that of outliers.
    They lead towards the median and stop near it: how near is not bounded.

    Parameters
    ----------
    rounds : int, default 12
        Number of steps after the first round.
    warm_share : float, default 0.25
        Share of the first round of the squared budget.
    eta : float, default 1.0
        Positive and finite. No step is longer than the ball is wide.
    last : float, default 0.1
        Length of the last step, as a share of the first one's; positive, at most 1.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/noisy-steps.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import GeometricMedian
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_statistic(GeometricMedian(), points, ball, riemdp.GDP(1.0))
    >>> release.statistic.steps, release.value.shape
    (13, (2,))
    """

    name: ClassVar[str] = "geometric-median"
    proof: ClassVar[str | None] = "docs/proofs/noisy-steps.md"
    caveat: ClassVar[str] = _BIAS

    eta: float = 1.0
    last: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "eta", positive(self.eta, "eta"))
        last = positive(self.last, "last")
        if last > 1.0:
            raise InvalidParameterError(f"last must be at most 1, got {last}")
        object.__setattr__(self, "last", last)

    def _length(self, step: int) -> float:
        return float(self.eta * self.last ** ((step - 1) / max(1, self.rounds - 1)))

    def _unit(self, spread: float) -> float:
        return spread

    def _next(self, place: Place, weight: float, *, last: bool, exact: bool) -> Question:  # noqa: ARG002
        return Directions(place.point, place.unit, weight, moment=False, exact=exact)


@final
@register
@dataclass(frozen=True)
class HuberMean(WarmSteps):
    """Point about which the records, each shortened to a length, have mean zero.

    Records nearer than that length count as in a mean, farther ones as in a median.

    Parameters
    ----------
    rounds : int, default 12
        Number of steps after the first round.
    warm_share : float, default 0.25
        Share of the first round of the squared budget.
    threshold : float, default 1.0
        The length, in units of the released spread; positive, ``inf`` for ``clip`` alone.
    clip : float, default inf
        Largest length, in units of distance; a public number, positive.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    Huber, "Robust estimation of a location parameter", Ann. Math. Statist. 35(1), 1964;
    docs/proofs/noisy-steps.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import HuberMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_statistic(HuberMean(), points, ball, riemdp.GDP(1.0))
    >>> release.statistic.steps, release.value.shape
    (13, (2,))
    """

    name: ClassVar[str] = "huber-mean"
    proof: ClassVar[str | None] = "docs/proofs/noisy-steps.md"
    caveat: ClassVar[str] = _BIAS

    threshold: float = 1.0
    clip: float = field(default=math.inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("threshold", "clip"):
            value = real(getattr(self, name), name)
            if not value > 0.0:
                raise InvalidParameterError(f"{name} must be positive, got {value}")
            object.__setattr__(self, name, value)

    def _unit(self, spread: float) -> float:
        return min(self.clip, self.threshold * spread) if spread > 0.0 else self.clip

    def _next(self, place: Place, weight: float, *, last: bool, exact: bool) -> Question:  # noqa: ARG002
        return Seen(place.point, place.unit, weight, moment=False, exact=exact)


def _step_count(value: object, name: str) -> int:
    number = count(value, name)
    if number > _MOST:
        raise InvalidParameterError(f"{name} must be at most {_MOST}, got {number}")
    return number
