"""Values that the integers of a release stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riemdp._errors import InvalidParameterError
from riemdp.manifolds import clip_norm
from riemdp.noise.exact import Rounded
from riemdp.release._offer import noise_length
from riemdp.release._shrink import shrunk

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.release._release import Release
    from riemdp.statistics import Statistic

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


def replayed(
    statistic: Statistic,
    ball: Ball,
    grid: int,
    integers: tuple[int, ...],
    *,
    noise: Callable[[], float] = float,
    projected: bool = True,
    h: float | None = None,
) -> FloatArray:
    """Return the value that draws on a grid lead to, as a release made it of them.

    There have to be as many integers for each answer as it has coordinates. ``noise`` returns the
    mean length of the noise of an answer, 0 by default; for ``projected`` and ``h`` see
    :func:`rounded_point`.
    """
    answers = statistic.answers(ball)
    dim, point = answers.manifold.dim, statistic.start(ball)
    if len(integers) != statistic.steps * dim:
        raise InvalidParameterError(
            f"rounded must hold {dim} integers for each of {statistic.steps} answers, got "
            f"{len(integers)}"
        )
    for step in range(statistic.steps):
        noisy = Rounded(integers[step * dim : (step + 1) * dim], grid)
        answer = rounded_point(answers, noisy, projected=projected, h=h)
        point = statistic.move(ball, point, answer, step, noise)
    return statistic.value_at(ball, point)


def value_again(release: Release, h: float | None) -> FloatArray:
    """Return the value that the integers of a release stand for; see :func:`replayed`."""
    drawn = release._on_grid
    return replayed(
        release.statistic,
        release.ball,
        drawn.grid,
        drawn.integers,
        noise=lambda: noise_length(release.mechanism),
        projected=release.projected,
        h=h,
    )
