"""Medians and Huber means, by steps from a mean along clipped directions."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from riemdp._checks import positive, real
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.kernel import Vector
from riemdp.statistics._query import Value
from riemdp.statistics._rows import Rows
from riemdp.statistics._seen import (
    LEAST,
    View,
    mean_of,
    mean_query,
    seen_from,
    spread_doubt,
    spread_of,
    step_count,
    steps_ball,
    view_from_centre,
)
from riemdp.statistics._statistic import Statistic
from riemdp.statistics.curved._mean_solver import ExactSum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from riemdp.spaces import Ball
    from riemdp.statistics._query import Queries


#: How much of a short displacement a step of the length of the spread takes back; simulated.
_PULL = 0.75


@dataclass(frozen=True)
class WarmSteps(Statistic):
    """A first round as of the refined mean, and so many steps of equal share from there.

    The value is the average of the last half of the points that they come to.
    """

    #: Whether records count as directions, however far they are.
    directions: ClassVar[bool] = False
    caveat: ClassVar[str] = (
        "expected_distance is that of the noise of all steps, by a rule of thumb; how far clipping "
        "or stopping moved the value is not bounded"
    )

    steps: int = 12
    warm_share: float = 0.25

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", step_count(self.steps, "steps"))
        share = real(self.warm_share, "warm_share")
        if not 0.0 < share < 1.0:
            raise InvalidParameterError(f"warm_share must be over 0 and under 1, got {share}")
        object.__setattr__(self, "warm_share", share)

    def queries(self, ball: Ball) -> Queries:
        """Ask for a mean, and for the direction of each step; see :meth:`Statistic.queries`."""
        start = view_from_centre(ball)
        warm = answer = yield mean_query(start, self.warm_share, moment=True)
        spread = spread_of(ball, answer) * start.unit
        unit = min(ball.reach, max(self.unit(spread), LEAST * ball.reach))
        view = View(ball, start.stepped(mean_of(ball, answer)), unit)
        trail, lengths = [], []
        for step in range(self.steps):
            answer = yield Rows(
                Vector(ball.manifold.dim),
                ball.reach,
                view.vectors(unit=self.directions),
                clipped=view.clipped,
                share=(1.0 - self.warm_share) / self.steps,
                length=unit,
            )
            length = min(self.length(step) * unit, 2.0 * ball.reach)
            base = View(ball, view.base, length).stepped(mean_of(ball, answer))
            view = View(ball, base, unit)
            lengths.append(length)
            if self.ends(step):
                trail.append(base)
        # the average of the trail, as seen from where it ends
        others = seen_from(steps_ball(ball).manifold, view.base, np.array(trail))
        value = View(ball, view.base, 1.0).point(others.mean(axis=0))
        noises = self.noises(lengths, math.hypot(spread, spread_doubt(ball, warm)))
        before = warm.deviation / answer.deviation if answer.deviation > 0.0 else 0.0
        gain = math.hypot(*noises[1:]) / ball.reach
        return Value(value, ball, gain=math.hypot(gain, noises[0] * before))

    def ends(self, step: int) -> bool:
        """Whether where a step ends is averaged."""
        return 2 * (step + 1) > self.steps

    def noises(self, lengths: Sequence[float], spread: float) -> list[float]:
        """Return how long the value's noise is for noise of length 1 at the start, and in a step.

        A step takes back a share of what noise did before it, near the point that steps lead to:
        see docs/proofs/noisy-steps.md, "Noise of averaged steps".
        """
        found, weight = [], 0.0
        for step, length in reversed(list(enumerate(lengths))):
            weight += self.ends(step)
            found.append(weight * length)
            weight *= 1.0 - _PULL * (min(1.0, length / spread) if spread else 1.0)
        ends = sum(map(self.ends, range(self.steps)))
        return [each / ends for each in (weight, *reversed(found))]

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:  # noqa: ARG002
        """Return the proof of the steps, and that of the sums."""
        return {**self.proofs(), "exact mean": ExactSum.proof}

    def length(self, step: int) -> float:  # noqa: ARG002
        """Return the length of a step along a unit vector, in units of what is clipped to."""
        return 1.0

    @abstractmethod
    def unit(self, spread: float) -> float:
        """Return what is clipped to, or how long steps are, for records of this spread."""


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
    steps : int, default 12
        Number of steps after the first round.
    warm_share : float, default 0.25
        Share of the budget that the first round takes: of epsilon, of rho, or of mu^2.
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
    >>> len(release.rounded), release.value.shape
    (27, (2,))
    """

    name: ClassVar[str] = "geometric-median"
    proof: ClassVar[str | None] = "docs/proofs/noisy-steps.md"
    directions: ClassVar[bool] = True

    eta: float = 1.0
    last: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "eta", positive(self.eta, "eta"))
        last = positive(self.last, "last")
        if last > 1.0:
            raise InvalidParameterError(f"last must be at most 1, got {last}")
        object.__setattr__(self, "last", last)

    def length(self, step: int) -> float:
        """Shorter by one factor each; see :meth:`WarmSteps.length`."""
        return float(self.eta * self.last ** (step / max(1, self.steps - 1)))

    def unit(self, spread: float) -> float:
        """Return the spread; see :meth:`WarmSteps.unit`."""
        return spread


@final
@register
@dataclass(frozen=True)
class HuberMean(WarmSteps):
    """Point about which the records, each shortened to a length, have mean zero.

    Records nearer than that length count as in a mean, farther ones as in a median.

    Parameters
    ----------
    steps : int, default 12
        Number of steps after the first round.
    warm_share : float, default 0.25
        Share of the budget that the first round takes: of epsilon, of rho, or of mu^2.
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
    >>> len(release.rounded), release.value.shape
    (27, (2,))
    """

    name: ClassVar[str] = "huber-mean"
    proof: ClassVar[str | None] = "docs/proofs/noisy-steps.md"

    threshold: float = 1.0
    clip: float = field(default=math.inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("threshold", "clip"):
            value = real(getattr(self, name), name)
            if not value > 0.0:
                raise InvalidParameterError(f"{name} must be positive, got {value}")
            object.__setattr__(self, name, value)

    def unit(self, spread: float) -> float:
        """Return the threshold, in distances; see :meth:`WarmSteps.unit`."""
        return min(self.clip, self.threshold * spread) if spread > 0.0 else self.clip
