"""Means of one bounded vector a record: integers that are added exactly."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp.statistics._counted import Sums
from riemdp.statistics._feature_sums import FeatureSum, mean_features, quotient_of
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._seen import View, vector_ball, view_from_centre

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial
    from riemdp.statistics._released_moments import ReleasedMoments
    from riemdp.statistics._statistic import Metric

#: Most features of one release.
_MOST = 2**22


@dataclass(frozen=True)
class SumStatistic(FeatureSum, Sums):
    r"""Mean over the records of a vector that is bounded, and a function of the record alone.

    A subclass says which features these are, and how far they move at most when a record is
    replaced: :meth:`feature_sensitivity`. Coordinates of the answer are features times r.

    Noise is drawn about all features together, and is equally large in each of them. What they
    stand for is computed of the draw: :meth:`parts`.

    Attributes
    ----------
    recentres : bool
        Whether features are those of normal coordinates, so that any point may be their base; see
        :class:`Recentred`.

    References
    ----------
    docs/proofs/joint-sensitivities.md

    Examples
    --------
    >>> from riemdp.statistics import Moments
    >>> Moments().size(2), Moments().recentres  # features in two dimensions: a mean, a mean square
    (3, True)
    """

    projects: ClassVar[bool] = False
    recentres: ClassVar[bool] = True
    in_parts: ClassVar[bool] = True

    @abstractmethod
    def feature_sensitivity(self, dim: int) -> float:
        """Return how far features move at most when a record is replaced by another one.

        Parameters
        ----------
        dim : int

        Returns
        -------
        float
            Rounded up; at least 1/2, and half of :meth:`feature_length`, or releases are refused.
        """

    @abstractmethod
    def feature_length(self, dim: int) -> float:
        """Return the largest norm of the features of a record.

        Parameters
        ----------
        dim : int

        Returns
        -------
        float
            Rounded up, at most 4.
        """

    def feature_norm(self, dim: int) -> float:
        """Return the same, attained: how far the sum moves when a record is added or removed.

        Parameters
        ----------
        dim : int

        Returns
        -------
        float
            Rounded up; at least 1/4, and a quarter of :meth:`feature_length`, which it is by
            default.
        """
        return self.feature_length(dim)

    def square(self, dim: int) -> Fraction:
        """See :meth:`FeatureSum.square`: that of :meth:`feature_norm`."""
        return Fraction(self.feature_norm(dim)) ** 2

    def answer_norm(self, dim: int, step: int) -> float:  # noqa: ARG002
        """See :meth:`Sums.answer_norm`."""
        return self.feature_norm(dim)

    def answer_move(self, dim: int, step: int) -> float:  # noqa: ARG002
        """See :meth:`Sums.answer_move`."""
        return self.feature_sensitivity(dim)

    def farthest(self, ball: Ball) -> float:
        """Return that of features; see :meth:`Sums.farthest`."""
        return self.feature_norm(self.dim(ball))

    def count_weight(self, ball: Ball) -> float:
        """For features at the boundary, not a mean alone; see :meth:`Sums.count_weight`."""
        dim = self.dim(ball)
        return self.feature_norm(dim) * math.pow(self.size(dim), -0.25)

    @abstractmethod
    def parts(self, view: View, features: FloatArray, deviation: float) -> Mapping[str, Any]:
        """Return what noisy features stand for, by name.

        Parameters
        ----------
        view : View
            Where records were seen from, and which length stands for 1.
        features : ndarray, shape (size,)
            With their noise.
        deviation : float
            Standard deviation of the noise of each feature; NaN where it is not known.

        Returns
        -------
        mapping of str to object
        """

    def moments_in(
        self, view: View, features: FloatArray, deviation: float, n: int, *, released_base: bool
    ) -> ReleasedMoments:
        """Return a mean with its second moments; see :meth:`Statistic.released_moments`.

        Parameters
        ----------
        view, features, deviation
            See :meth:`parts`.
        n : int
            Number of records.
        released_base : bool
            Whether the base of the view was released.

        Returns
        -------
        ReleasedMoments

        Raises
        ------
        UnsupportedError
            By default: where they are not among the features.
        """
        del view, features, deviation, n, released_base
        raise UnsupportedError(
            f"the {self.name} comes without the second moments that say how far records spread; "
            'release private_moments(..., second="matrix")'
        )

    def released_moments(
        self, ball: Ball, value: FloatArray, deviation: float, n: int
    ) -> ReleasedMoments:
        """See :meth:`Statistic.released_moments`."""
        unit = self.unit(ball)
        view = view_from_centre(ball)
        return self.moments_in(view, value / unit, deviation / unit, n, released_base=False)

    def unit(self, ball: Ball) -> float:
        """Return the length that features are multiplied by: the radius r, by default.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
        """
        return ball.reach

    def answers(self, ball: Ball) -> Ball:
        """Features times r; see :meth:`Statistic.answers`."""
        dim = self.dim(ball)
        size = self.size(dim)
        if size > _MOST:
            raise UnsupportedError(
                f"the {self.name} has {size} features in {dim} dimensions, and at most {_MOST} are "
                'released together; ask for less, such as second="scalar"'
            )
        return vector_ball(size, self.feature_length(dim) * self.unit(ball))

    def range(self, ball: Ball) -> Ball:
        """Return the ball of answers; see :meth:`Statistic.range`."""
        return self.answers(ball)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Move of the features times ``r / n``; see :meth:`Statistic.replace_one`."""
        return self._move_of_one(ball, n)

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return the same; see :meth:`Statistic.replace_point`."""
        return self._move_of_one(ball, n)

    def _move_of_one(self, ball: Ball, n: int) -> float:
        dim = self.dim(ball)
        move = Fraction(self.feature_sensitivity(dim))
        if move < Fraction(1, 2) or Fraction(self.feature_length(dim)) > min(2 * move, Fraction(4)):
            raise InvalidParameterError(
                f"features of the {self.name} must move by at least 1/2, and be no longer than 4 "
                "and than twice that: what rounding takes is proved for these; scale them"
            )
        return quotient_of(move * Fraction(self.unit(ball)), n)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Divide, as rational numbers; see :meth:`Question.finish`."""
        return mean_features(partial, self.unit(ball))

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> NamedValues:
        """Return :meth:`parts` of the value; see :meth:`Statistic.present`."""
        unit = self.unit(ball)
        found = self.parts(view_from_centre(ball), value / unit, deviation() / unit)
        return NamedValues(value, found)
