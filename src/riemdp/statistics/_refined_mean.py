"""Means in rounds, each clipped to the spread that the one before released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

from riemdp._checks import positive
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.statistics._means import average_of, mean_for
from riemdp.statistics._query import Value
from riemdp.statistics._seen import at_mean, mean_of, mean_query, step_count, view_from_centre
from riemdp.statistics._statistic import Statistic
from riemdp.statistics.curved._mean_solver import ExactSum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.spaces import Ball
    from riemdp.statistics._query import Queries


@final
@register
@dataclass(frozen=True)
class RefinedMean(Statistic):
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
        Share of the budget that each round takes (of epsilon, of rho, or of mu^2), of sum 1. By
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
    >>> len(release.rounded), release.value.shape
    (8, (2,))
    """

    name: ClassVar[str] = "refined-mean"
    proof: ClassVar[str | None] = "docs/proofs/noisy-steps.md"
    caveat: ClassVar[str] = (
        "how far clipping moved the value is not bounded, and not in expected_distance"
    )

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

    def queries(self, ball: Ball) -> Queries:
        """Ask for one mean after the other; see :meth:`Statistic.queries`."""
        view = view_from_centre(ball)
        *early, last = self.shares
        if not early:
            return (yield from average_of(ball))
        for share in early:
            answer = yield mean_query(view, share, moment=True)
            view = at_mean(view, answer, self.alpha)
        answer = yield mean_query(view, last, moment=False)
        return Value(view.point(mean_of(ball, answer)), ball, gain=view.unit / ball.reach)

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the proof of the steps, and that of the sums."""
        mean = mean_for(ball.manifold, "coordinates").proofs_on(ball) if self.rounds == 1 else {}
        return {**self.proofs(), **mean, "exact mean": ExactSum.proof}
