"""Medians and Huber means, by steps from a mean along clipped directions."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, final

from riemdp._checks import positive, real
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.statistics._seen import Directions, Seen
from riemdp.statistics._steps import BIAS, LEAST, NoisySteps, Place, step_count, stepped

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray


@dataclass(frozen=True)
class WarmSteps(NoisySteps):
    """A first round as of the refined mean, and so many steps of equal weight from there.

    The value is the average of the last half of the points that they come to.
    """

    rounds: int = 12
    warm_share: float = 0.25

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", step_count(self.rounds, "steps"))
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
    caveat: ClassVar[str] = BIAS
    _asked: ClassVar[type[Seen]] = Directions

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
    caveat: ClassVar[str] = BIAS

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
