"""Means of one bounded vector a record: integers that are added exactly."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp.manifolds import Ball, Euclidean, clip_norm
from riemdp.statistics._data import Records, as_records
from riemdp.statistics._exact_mean import added
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._records import joined, record_coordinates
from riemdp.statistics._seen import View, view_from_centre
from riemdp.statistics._statistic import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from riemdp.statistics._question import Partial
    from riemdp.statistics._records import IntegerSum
    from riemdp.statistics._released_moments import ReleasedMoments
    from riemdp.statistics._statistic import Metric

    FloatArray = NDArray[np.float64]

#: Minus the binary logarithm of the step of the grid that features are rounded to.
_GRID = 40
#: Most features of one release.
_MOST = 2**22
#: Entries of an array of features that are worked on at once.
_ENTRIES = 2**21


@dataclass(frozen=True)
class FeatureSum(Summary):
    r"""A function of the sum over the records of features of each.

    A record is first a vector in the unit ball: its normal coordinates about the centre, clipped
    to the radius r and divided by it. *Features* of that are rounded to a public grid, and integers
    are added, so that the sum is exact: records at other places in the data are not touched by a
    record that is replaced.

    References
    ----------
    docs/proofs/joint-sensitivities.md
    """

    clips = True

    @abstractmethod
    def size(self, dim: int) -> int:
        """Return the number of features.

        Parameters
        ----------
        dim : int
            Dimension of the vectors.

        Returns
        -------
        int
        """

    @abstractmethod
    def features(self, vectors: FloatArray, records: Records) -> FloatArray:
        """Return the features of records, each of its own record alone.

        Public weights times products of at most two coordinates, and sums of at most ``dim`` of
        these: what rounding is allowed for; see docs/proofs/joint-sensitivities.md. Features that
        do not shrink with the vector are multiplied by :meth:`whole`.

        Parameters
        ----------
        vectors : ndarray, shape (m, dim)
            In the unit ball.
        records : Records
            With what belongs to each of them; its points are the same vectors.

        Returns
        -------
        ndarray, shape (m, size)
        """

    def whole(self, dim: int) -> float:
        """Return what a feature of 1 is written as: vectors are shortened by as much.

        Parameters
        ----------
        dim : int

        Returns
        -------
        float
            A little under 1.
        """
        return 1.0 - features_margin(dim, self.size(dim))

    def dim(self, ball: Ball) -> int:
        """Return the dimension of the vectors: that of the space, by default.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        int
        """
        return ball.manifold.dim

    def vectors(self, ball: Ball, points: FloatArray) -> FloatArray:
        r"""Return the vectors of records, before they are shortened to the unit ball.

        Parameters
        ----------
        ball : Ball
        points : ndarray, shape (m, \*point_shape)
            Inside or outside.

        Returns
        -------
        ndarray, shape (m, dim)
            Finite.
        """
        return np.ascontiguousarray(record_coordinates(ball, points)) / ball.reach

    @property
    def numerical_delta(self) -> float:
        """0.0: sums of integers; see :attr:`Statistic.numerical_delta`."""
        return 0.0

    def tolerance(self, ball: Ball, sensitivity: float) -> float:  # noqa: ARG002
        """Zero: integers are added; see :meth:`Statistic.tolerance`."""
        return 0.0

    def prepare(self, ball: Ball, records: Any) -> Records:
        """Return vectors; see :meth:`Question.prepare`."""
        given = as_records(records)
        return given.with_points(self.vectors(ball, np.asarray(given.points)))

    def summarise(self, ball: Ball, records: Any) -> Partial:
        """Shorten, and add features; see :meth:`Question.summarise`."""
        return self.total(self.dim(ball), records)

    def total(self, dim: int, records: Records) -> IntegerSum:
        """Return the sum of the features of vectors that are shortened first, on the grid.

        Parameters
        ----------
        dim : int
        records : Records
            Whose points are vectors, shape (m, dim), finite.

        Returns
        -------
        IntegerSum
        """
        size = self.size(dim)
        inside = records.with_points(clip_norm(np.asarray(records.points), self.whole(dim)))
        step = max(1, _ENTRIES // size)
        chunks = [inside.at(slice(i, i + step)) for i in range(0, len(inside), step)]
        return functools.reduce(lambda one, other: one + other, map(self._added, chunks))

    def _added(self, records: Records) -> IntegerSum:
        found = self.features(np.asarray(records.points), records)
        # towards zero; a power of two rounds nothing
        return added((found * 2.0**_GRID).astype(np.int64))

    def merge(self, first: Partial, second: Partial) -> Partial:
        """Put chunks together; see :meth:`Question.merge`."""
        return joined(first, second)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> FloatArray:
        """Divide; see :meth:`Question.finish`."""
        return np.array([float(x) for x in self.finish_exactly(ball, partial, tol)])

    @abstractmethod
    def finish_exactly(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        """Answer with rational numbers; see :meth:`Question.finish_exactly`."""


@dataclass(frozen=True)
class SumStatistic(FeatureSum):
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
    """

    projects: ClassVar[bool] = False
    recentres: ClassVar[bool] = True

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
        self,
        view: View,  # noqa: ARG002
        features: FloatArray,  # noqa: ARG002
        deviation: float,  # noqa: ARG002
        n: int,  # noqa: ARG002
        *,
        released_base: bool,  # noqa: ARG002
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
        space = Euclidean(size)
        return Ball(space, space.origin, self.feature_length(dim) * self.unit(ball))

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

    def finish_exactly(
        self,
        ball: Ball,
        partial: Partial,
        tol: float,  # noqa: ARG002
    ) -> tuple[Fraction, ...]:
        """Divide, as rational numbers; see :meth:`Question.finish_exactly`."""
        return mean_features(partial, self.unit(ball))

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> NamedValues:
        """Return :meth:`parts` of the value; see :meth:`Statistic.present`."""
        unit = self.unit(ball)
        found = self.parts(view_from_centre(ball), value / unit, deviation() / unit)
        return NamedValues(value, found)


def mean_features(total: IntegerSum, unit: float) -> tuple[Fraction, ...]:
    """Return the mean of features on the grid, times a length."""
    each = Fraction(unit) / (total.count << _GRID)
    return tuple(whole * each for whole in total.total)


def features_margin(dim: int, size: int) -> float:
    """Share of the radius by which vectors are shortened, so that no rounding takes features over.

    See docs/proofs/joint-sensitivities.md.
    """
    return math.sqrt(size) * 2.0**-38 + (dim + 16.0) * 2.0**-49


def quotient_of(numerator: Fraction, n: int) -> float:
    """Quotient in float64, rounded up."""
    exact = numerator / n
    found = float(exact)
    return found if Fraction(found) >= exact else math.nextafter(found, math.inf)
