"""Means of bounded vectors, one for each record: what the records look like from a public point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.kernel import Moment, Shape, Vector, added, guarded
from riemdp.manifolds import Ball, Euclidean, clip_norm
from riemdp.statistics._question import Question
from riemdp.statistics._records import in_units, mean_of, record_coordinates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray, Manifold
    from riemdp.statistics._question import Partial

#: Bound of the norm of a vector and its second moment together, in units of r: that of ``Moment``.
JOINT_REACH = 2.0


def steps_ball(ball: Ball) -> Ball:
    """Ball in which steps are made: of coordinates where the space is flat, else the same."""
    if ball.manifold.chart is None:
        return ball
    return vector_ball(ball.manifold.dim, ball.reach)


def vector_ball(dim: int, reach: float) -> Ball:
    """Ball of the vectors of so many entries that are no longer than ``reach``."""
    space = Euclidean(dim)
    return Ball(space, space.origin, reach)


@dataclass(frozen=True, eq=False)
class View:
    """Where records are seen from, and how far."""

    ball: Ball  # public, of the records
    base: FloatArray  # in the ball of steps; released, or its centre
    unit: float  # length that records were shortened to

    @property
    def base_point(self) -> FloatArray:
        r"""The base as a point of the manifold, shape (\*point_shape,)."""
        return self.base if steps_ball(self.ball) is self.ball else self.ball.point(self.base)

    def point(self, vector: FloatArray) -> FloatArray:
        r"""Return points ``(..., \*point_shape)`` of the ball, projected onto it.

        ``vector`` ``(..., dim)`` are normal coordinates about the base, in units of :attr:`unit`.
        """
        seen = steps_ball(self.ball)
        found = seen.project(seen.manifold.point(self.base, vector * self.unit))
        return found if seen is self.ball else self.ball.point(found)


def view_from_centre(ball: Ball) -> View:
    """View of a ball from its centre, as far as its boundary."""
    return View(ball, steps_ball(ball).center, ball.reach)


@dataclass(frozen=True, eq=False)
class Seen(Question):
    """Mean of the logarithms at a released point, each shortened to a length that is released too.

    Lengths are then scaled so that this one becomes the radius r of the ball: whatever was
    released, a record counts as a vector of norm at most r. Every operation on a record is one on
    that record alone.
    """

    base: FloatArray  # where records are seen from, of the ball of steps
    unit: float  # length that r stands for, positive
    weight: float  # the mean is multiplied by it
    #: Whether the second moment is asked for as one more coordinate, which is 0 otherwise.
    moment: bool

    clips = True

    def adds(self, ball: Ball) -> bool:  # noqa: ARG002
        """Integers are added; see :meth:`Question.adds`."""
        return True

    def prepare(self, ball: Ball, records: FloatArray) -> FloatArray:
        """Clip to the ball, in the form of the ball of steps."""
        if ball.manifold.chart is None:
            return ball.project(records)
        return record_coordinates(ball, records)

    def _coordinates(self, ball: Ball, records: FloatArray) -> FloatArray:
        """Return normal coordinates about the base, shape (m, dim)."""
        return seen_from(steps_ball(ball).manifold, self.base, records)

    def _vectors(self, coordinates: FloatArray) -> FloatArray:
        """Return vectors of norm at most 1, shape (m, dim)."""
        return in_units(clip_norm(coordinates, self.unit), self.unit)

    def rows(self, ball: Ball, records: FloatArray) -> Partial:
        """Shorten and scale; see :meth:`Question.rows`."""
        vectors = self._vectors(np.ascontiguousarray(self._coordinates(ball, records)))
        return answer_shape(ball.manifold.dim, moment=self.moment).rows(vectors)

    def guarded(self, ball: Ball, rows: Partial) -> NDArray[np.int64]:
        """Guard integers; see :meth:`Question.guarded`, and docs/proofs/noisy-steps.md, claim 3."""
        return guarded(rows, answer_shape(ball.manifold.dim, moment=self.moment).longest)

    def added(self, ball: Ball, rows: Partial) -> Partial:
        """Add integers; see :meth:`Question.added`."""
        return added(rows, answer_shape(ball.manifold.dim, moment=self.moment).longest)

    def merge(self, first: Partial, second: Partial) -> Partial:
        """Add sums; see :meth:`Question.merge`."""
        return first + second

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Divide, and weight, as rational numbers; see :meth:`Question.finish`."""
        found = mean_of(partial, Fraction(self.weight) * Fraction(ball.reach))
        return found if self.moment else (*found, Fraction(0))


class SeenFromCentre(Seen):
    """The same from the centre of the ball, where records need not be clipped first."""

    def prepare(self, ball: Ball, records: FloatArray) -> FloatArray:
        """Clipped coordinates about the centre."""
        return record_coordinates(ball, records)

    def _coordinates(self, ball: Ball, records: FloatArray) -> FloatArray:  # noqa: ARG002
        return records


class Directions(Seen):
    """Mean of the directions in which records are seen: unit vectors, scaled to the radius.

    A record at the base counts as zero; one at a cut point has the direction that coordinates take
    there.
    """

    def _vectors(self, coordinates: FloatArray) -> FloatArray:
        exponent = np.frexp(np.abs(coordinates).max(axis=-1, keepdims=True))[1]
        scaled = np.ldexp(coordinates, -exponent)  # squares neither overflow nor vanish
        norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
        return in_units(scaled, np.where(norm > 0.0, norm, 1.0))


def answer_shape(dim: int, *, moment: bool) -> Shape:
    """Return the shape of the rows of an answer: of a vector, with the second moment or alone."""
    return Moment(dim) if moment else Vector(dim)


def seen_from(manifold: Manifold, base: FloatArray, points: FloatArray) -> FloatArray:
    """Return finite normal coordinates ``(m, dim)`` about a base, of any points.

    Of what has none, zero.
    """
    with np.errstate(all="ignore"):
        try:
            found = np.asarray(manifold.coordinates(base, points))
        except Exception:  # one point has no logarithm in a space of another package
            found = _seen_one_by_one(manifold, base, points)
    return np.where(np.isfinite(found).all(axis=-1, keepdims=True), found, 0.0)


def _seen_one_by_one(manifold: Manifold, base: FloatArray, points: FloatArray) -> FloatArray:
    """Coordinates where those of some points raise errors, zero for these.

    Another point takes the place of each of them: the rest is treated in the same arrays as if
    there were none, since a product may round by the number of its rows.
    """
    alone = [_seen(manifold, base, point) for point in points]
    lost = np.array([each is None for each in alone])
    kept = points[np.where(lost, np.argmin(lost), np.arange(len(points)))]
    try:
        found = np.asarray(manifold.coordinates(base, kept))
    except Exception:  # each has one, or none has, but not all together
        found = np.array([np.zeros(manifold.dim) if each is None else each for each in alone])
    return np.where(lost[:, None], 0.0, found)


def _seen(manifold: Manifold, base: FloatArray, point: FloatArray) -> Any:
    try:
        return manifold.coordinates(base, point[None])[0]
    except Exception:
        return None
