"""Records as they are seen from a released point, and steps from one to the next."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import count
from riemdp._errors import InvalidParameterError
from riemdp.kernel import Moment, Vector
from riemdp.spaces import clip_norm, in_units
from riemdp.statistics._records import record_coordinates
from riemdp.statistics._rows import Rows, shortened, vector_ball

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.spaces import Ball, FloatArray, Manifold
    from riemdp.statistics._query import Answer


# What records look like from a point that is public or released.


def steps_ball(ball: Ball) -> Ball:
    """Ball in which steps are made: of coordinates where the space is flat, else the same."""
    if ball.manifold.chart is None:
        return ball
    return vector_ball(ball.manifold.dim, ball.reach)


@dataclass(frozen=True, eq=False)
class View:
    """Where records are seen from, and how far."""

    ball: Ball  # public, of the records
    base: FloatArray  # in the ball of steps; released, or its centre
    unit: float  # length that records are shortened to
    is_central: bool = False  # whether base and unit are those of the public ball

    @property
    def base_point(self) -> FloatArray:
        r"""The base as a point of the manifold, shape (\*point_shape,)."""
        return self.base if steps_ball(self.ball) is self.ball else self.ball.point(self.base)

    def stepped(self, vector: FloatArray) -> FloatArray:
        """Return the end of a step, projected onto the ball of steps, where it lies.

        ``vector`` ``(dim,)`` are normal coordinates about the base, in units of :attr:`unit`.
        """
        seen = steps_ball(self.ball)
        return seen.project(seen.manifold.point(self.base, vector * self.unit))

    def point(self, vector: FloatArray) -> FloatArray:
        r"""Return points ``(..., \*point_shape)`` of the ball; see :meth:`stepped`."""
        found = self.stepped(vector)
        return found if steps_ball(self.ball) is self.ball else self.ball.point(found)

    @property
    def clipped(self) -> Callable[[Ball, FloatArray], FloatArray]:
        """What clips records to the ball, in the form of the ball of steps."""
        return projected if steps_ball(self.ball) is self.ball else record_coordinates

    def vectors(self, *, unit: bool = False) -> Callable[[Ball, FloatArray], FloatArray]:
        """Return what sees clipped records: in units of :attr:`unit`, or of norm 1 if ``unit``."""
        return functools.partial(_directions if unit else _vectors, self.base, self.unit)


def view_from_centre(ball: Ball) -> View:
    """View of a ball from its centre, as far as its boundary."""
    return View(ball, steps_ball(ball).center, ball.reach, is_central=True)


def from_centre(ball: Ball, coordinates: FloatArray) -> FloatArray:
    """Return clipped coordinates over the radius, ``(m, dim)``, of norm at most 1."""
    return shortened(coordinates, ball.reach)


def projected(ball: Ball, points: FloatArray) -> FloatArray:
    """Return points in the ball."""
    return ball.project(points)


def _vectors(base: FloatArray, unit: float, ball: Ball, inside: FloatArray) -> FloatArray:
    return shortened(seen_from(steps_ball(ball).manifold, base, inside), unit)


def _directions(base: FloatArray, unit: float, ball: Ball, inside: FloatArray) -> FloatArray:
    """Return unit vectors; a record at the base counts as zero.

    One at a cut point has the direction that coordinates take there.
    """
    del unit
    coordinates = np.ascontiguousarray(seen_from(steps_ball(ball).manifold, base, inside))
    exponent = np.frexp(np.abs(coordinates).max(axis=-1, keepdims=True))[1]
    scaled = np.ldexp(coordinates, -exponent)  # squares neither overflow nor vanish
    norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return in_units(scaled, np.where(norm > 0.0, norm, 1.0))


def seen_from(manifold: Manifold, base: FloatArray, points: FloatArray) -> FloatArray:
    """Return finite normal coordinates ``(m, dim)`` about a base; of what has none, zero.

    In a space of another package a point without a logarithm may raise, as any record may.
    """
    with np.errstate(all="ignore"):
        found = np.asarray(manifold.coordinates(base, points))
    return np.where(np.isfinite(found).all(axis=-1, keepdims=True), found, 0.0)


# Noisy steps: from a released mean to the next, so that noise follows the spread of records.

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
