"""Sums seen from a mean that is released first, and clipped to the spread there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from riemdp._checks import kind_of, positive, real
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._part import register
from riemdp.statistics._rows import vector_ball
from riemdp.statistics._seen import at_mean, mean_query, steps_ball, view_from_centre
from riemdp.statistics._statistic import Around

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import Ball
    from riemdp.statistics._moments import ReleasedMoments
    from riemdp.statistics._query import Queries
    from riemdp.statistics._sums import SumStatistic


#: Least share of either round.
_LEAST_SHARE = 1e-9


@final
@register
@dataclass(frozen=True)
class Recentred(Around):
    """Sums in two rounds: the second is seen from the mean that the first one released.

    The first round is the tangent mean at the centre, clipped to the ball, with the second moment
    that costs nothing. The second one asks the inner statistic of the same records, seen from that
    mean and shortened to ``alpha`` times the spread that was released (at least an eighth of the
    radius, at most the radius): its noise follows the spread of the records, not the radius.

    Parameters
    ----------
    statistic : SumStatistic
        Of normal coordinates: :class:`Moments`, :class:`ClassMoments` or
        :class:`TangentRegression`.
    share : float, default 0.2
        Share of the budget that the first round takes: of epsilon, of rho, or of mu^2.
    alpha : float, default 2.0
        Positive and finite. Smaller values clip more, and need less noise.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain, or the statistic is none that can be seen from a
        released point.

    References
    ----------
    docs/proofs/joint-sensitivities.md, docs/proofs/noisy-steps.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import Moments, Recentred
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> release = riemdp.private_statistic(Recentred(Moments()), points, ball, riemdp.GDP(1.0))
    >>> len(release.rounded), release.value.mean.shape
    (6, (2,))
    """

    name: ClassVar[str] = "recentred"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"
    caveat: ClassVar[str] = (
        "expected_distance is that of the noise of all features together, in units of distance; "
        "how far clipping moved them is not bounded"
    )

    statistic: SumStatistic
    share: float = 0.2
    alpha: float = 2.0

    def __post_init__(self) -> None:
        if not getattr(self.statistic, "recentres", False):
            raise InvalidParameterError(
                "statistic must be a sum of normal coordinates, such as Moments(), got "
                f"{kind_of(self.statistic)}"
            )
        share = real(self.share, "share")
        if not _LEAST_SHARE <= share <= 1.0 - _LEAST_SHARE:
            raise InvalidParameterError(
                f"share must be over 0 and under 1, by at least {_LEAST_SHARE:g}, got {share}"
            )
        object.__setattr__(self, "share", share)
        object.__setattr__(self, "alpha", positive(self.alpha, "alpha"))

    def queries(self, ball: Ball) -> Queries:
        """Ask for a mean, and for the features as they are seen from it.

        See :meth:`Statistic.queries`.
        """
        start = view_from_centre(ball)
        # of people with labels rows are averaged, also those of the mean
        mean = replace(mean_query(start, self.share, moment=True), takes=self.takes)
        first = yield mean
        view = at_mean(start, first, self.alpha)
        query = self.statistic.query(ball, view, 1.0 - self.share)
        answer = yield query
        value = self.statistic.value(view, query, answer)
        seen = steps_ball(ball)
        base = seen.manifold.coordinates(seen.center, view.base)
        return replace(
            value,
            raw=np.concatenate([base, [view.unit], value.raw]),
            ball=vector_ball(len(base) + 1 + len(value.raw), 2.0 * ball.reach + value.ball.reach),
            gain=view.unit / ball.reach,
            parts={**(value.parts or {}), "base_sd": first.deviation},
            moments=None if value.moments is None else partial(_checked, ball, value.moments),
        )


def _checked(ball: Ball, moments: Callable[[int], ReleasedMoments], n: int) -> ReleasedMoments:
    check_inference(ball)
    return moments(n)


def check_inference(ball: Ball) -> None:
    """Refuse inference about a base that was released from records of too large a ball.

    Parameters
    ----------
    ball : Ball
        Public ball, before any other was released.

    Raises
    ------
    UnsupportedBallError
        If its reach is half the injectivity radius or more, so that coordinates about a base in it
        may jump.

    References
    ----------
    docs/proofs/confidence-regions.md, When the assumptions hold
    """
    if 2.0 * ball.reach >= ball.manifold.injectivity_radius:
        raise UnsupportedBallError(
            "inference about a base that was released needs a public ball of less than half the "
            f"injectivity radius, {0.5 * ball.manifold.injectivity_radius:.6g}, got "
            f"{ball.reach:.6g}; take a smaller one, or a public base"
        )
