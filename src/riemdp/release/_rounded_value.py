"""Values that the integers of a release stand for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._errors import InvalidParameterError
from riemdp.noise.exact import Rounded
from riemdp.release._offer import deviation_of
from riemdp.release._shrink import shrunk
from riemdp.spaces import clip_norm
from riemdp.statistics import Answer, through

if TYPE_CHECKING:
    from riemdp.release._offer import Asked, Offer
    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics import Query, Value

#: Binary logarithm of a length that float64 holds and no ball of a release has.
_LONGEST = 1000


def rounded_point(
    answers: Ball, rounded: Rounded, *, projected: bool = True, h: float | None = None
) -> FloatArray:
    """Return the point that a draw on a grid stands for.

    The draw is in normal coordinates about the centre of the public ball, of any length. It is
    shrunk by ``h`` first, see :func:`shrunk`, then projected onto the ball; if not, it is kept
    within what float64 holds.
    """
    # One that float64 cannot hold is shortened in the same direction, to far beyond any ball.
    longest = rounded.longest - rounded.grid
    near = Rounded(rounded.integers, rounded.grid + max(0, longest - _LONGEST))
    values = near.values() if h is None else shrunk(near.values(), h)
    return answers.point(clip_norm(values, answers.reach) if projected else values)


def answer_of(chosen: Offer, asked: Asked, noisy: Rounded, *, h: float | None = None) -> Answer:
    """Return an answer as the statistic sees it; for ``h`` see :func:`rounded_point`."""
    point = rounded_point(asked.answers, noisy, projected=chosen.projected, h=h)
    deviation = math.nan if h is not None else deviation_of(asked.mechanism, asked.answers)
    return Answer(point, deviation)


def replayed(
    chosen: Offer, integers: tuple[int, ...], grid: int, *, h: float | None = None
) -> Value:
    """Return the value that draws lead to, as a release made it of them.

    There have to be as many integers for each answer as it has coordinates; the last ones are on
    the ``grid``.
    """
    left, rest = iter(chosen.asked), list(integers)

    def answered(query: Query) -> Answer:
        asked = next(left, None)
        if asked is None or query.answers(chosen.ball) != asked.answers:
            raise InvalidParameterError(f"{chosen.statistic.name} asks other queries than planned")
        size = asked.answers.manifold.dim
        own, rest[:size] = tuple(rest[:size]), []
        if len(own) != size:
            raise InvalidParameterError("rounded has fewer integers than answers have coordinates")
        on = grid if asked is chosen.last else asked.grid
        return answer_of(chosen, asked, Rounded(own, on), h=h)

    value = through(chosen.statistic, chosen.ball, answered)
    if rest:
        raise InvalidParameterError(f"rounded holds {len(rest)} integers too many")
    return value
