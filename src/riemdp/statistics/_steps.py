"""Noisy steps: from a released mean to the next, so that noise follows the spread of records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._checks import count
from riemdp._errors import InvalidParameterError
from riemdp.kernel import Moment, Vector
from riemdp.spaces import clip_norm
from riemdp.statistics._rows import Rows
from riemdp.statistics._seen import View, from_centre

if TYPE_CHECKING:
    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._query import Answer

#: Most steps of one release.
_MOST = 10_000
#: What the second moment is multiplied by.
_SCALAR = Moment(1).weights[0]
#: Least length that is clipped to, as a share of the ball's radius.
LEAST = 2.0**-40
#: Share of the last length under which the next one never falls: a spread is known no better.
_FLOOR = 0.125


def mean_query(view: View, share: float, *, moment: bool) -> Rows:
    """Ask for the mean of records as they are seen, with the mean square of their lengths or not.

    In units of the radius, which stands for ``view.unit``: so it moves by ``2r/n``, on every space,
    from any base and for any length, and the mean square costs no noise. See
    docs/proofs/noisy-steps.md.
    """
    ball, dim = view.ball, view.ball.manifold.dim
    shape = Moment(dim) if moment else Vector(dim)
    if view.is_central:
        return Rows(shape, ball.reach, from_centre, share=share)
    return Rows(
        shape, ball.reach, view.vectors(), clipped=view.clipped, share=share, length=view.unit
    )


def mean_of(ball: Ball, answer: Answer) -> FloatArray:
    """Return the mean in an answer, in units of what was clipped to, and of norm at most 1."""
    return clip_norm(answer.point[: ball.manifold.dim] / ball.reach, 1.0)


def spread_of(ball: Ball, answer: Answer) -> float:
    """Root mean square distance of records to where a noisy mean leads, estimated, in these units.

    ``moment - |mean|^2`` is less than the variance of the records by the mean square of the noise
    of the mean, on average; that is added, and once more as the square distance between the mean
    and where the noise leads.
    """
    mean, moment = mean_of(ball, answer), answer.point[-1] / ball.reach / _SCALAR
    deviation = answer.known_deviation / ball.reach
    noise = len(mean) * deviation * deviation
    return math.sqrt(max(moment - float(mean @ mean) + noise, 0.0) + noise)


def spread_doubt(ball: Ball, answer: Answer) -> float:
    """Root of the standard deviation of the noise of that distance's square; 0 if not known."""
    return math.sqrt(answer.known_deviation * ball.reach / _SCALAR)


def at_mean(view: View, answer: Answer, alpha: float) -> View:
    """Return the view from the noisy mean, as far as ``alpha`` times the spread there.

    That length is raised to an eighth of what was clipped to, and lowered to the radius.
    """
    ball = view.ball
    spread = spread_of(ball, answer) * view.unit
    length = max(alpha * spread, _FLOOR * view.unit, LEAST * ball.reach)
    return View(ball, view.stepped(mean_of(ball, answer)), min(ball.reach, length))


def step_count(value: object, name: str) -> int:
    """Return a number of steps, at most as many as one release may have."""
    number = count(value, name)
    if number > _MOST:
        raise InvalidParameterError(f"{name} must be at most {_MOST}, got {number}")
    return number
