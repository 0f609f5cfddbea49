"""Means in rounds, each clipped to the spread that the one before released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

from riemdp._checks import positive
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.statistics._means import TangentMean, mean_for
from riemdp.statistics._steps import BIAS, StepsToMeans, step_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._counted import Counted
    from riemdp.statistics._means import Mean
    from riemdp.statistics._question import Question
    from riemdp.statistics._statistic import Metric, Statistic


@final
@register
@dataclass(frozen=True)
class RefinedMean(StepsToMeans):
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
    caveat: ClassVar[str] = BIAS

    rounds: int = 2
    shares: tuple[float, ...] = ()
    alpha: float = 2.0

    def __post_init__(self) -> None:
        rounds = step_count(self.rounds, "rounds")
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

    def has_moment(self, step: int) -> bool:
        """See :meth:`NoisySteps.has_moment`: whether another round follows."""
        return step < self.rounds - 1

    # One round is a mean that has a class: with its answers and all its bits.

    def counted(self, ball: Ball) -> Statistic:
        """See :meth:`NoisySteps.counted`; of one round a mean."""
        return TangentMean().counted(ball) if self.rounds == 1 else super().counted(ball)

    def weighted(self, dim: int) -> Counted:
        """See :meth:`Sums.weighted`; of one round a mean."""
        return TangentMean().weighted(dim) if self.rounds == 1 else super().weighted(dim)

    def _mean(self, ball: Ball) -> Mean | None:
        return mean_for(ball.manifold, "coordinates") if self.rounds == 1 else None

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
        if mean is None:
            return super().tolerance(ball, sensitivity)
        return mean.tolerance(ball, sensitivity)

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

    def move(
        self, ball: Ball, point: Any, noisy: FloatArray, step: int, noise: Callable[[], float]
    ) -> Any:
        """See :meth:`NoisySteps.move`; of one round the noisy mean."""
        return noisy if self.rounds == 1 else super().move(ball, point, noisy, step, noise)

    def value_at(self, ball: Ball, point: Any) -> FloatArray:
        """See :meth:`NoisySteps.value_at`; of one round the noisy mean."""
        value: FloatArray = point if self.rounds == 1 else super().value_at(ball, point)
        return value
