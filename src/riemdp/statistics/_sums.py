"""Features: numbers that are released together, and what they stand for."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp.spaces import unvecd
from riemdp.statistics._query import Value
from riemdp.statistics._records import record_coordinates
from riemdp.statistics._rows import Rows, shortened
from riemdp.statistics._seen import View, view_from_centre
from riemdp.statistics._statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from riemdp.kernel import Shape
    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._moments import ReleasedMoments
    from riemdp.statistics._query import Answer, Queries


@dataclass(frozen=True)
class SumStatistic(Statistic):
    r"""Mean over the records of a vector that is bounded, and a function of the record alone.

    A record is first a vector in the unit ball: its normal coordinates about the centre over the
    radius. A subclass says which features are made of it: :meth:`shape`, one of ``riemdp.kernel``,
    which knows how far they move at most. Noise is drawn about all features together, and is
    equally large in each of them. What they stand for is computed of the draw: :meth:`parts`.

    Attributes
    ----------
    recentres : bool
        Whether any point may be the base of the coordinates; see :class:`Recentred`.

    References
    ----------
    docs/proofs/joint-sensitivities.md

    Examples
    --------
    >>> from riemdp.statistics import Moments
    >>> shape = Moments().shape(2)  # in two dimensions: a mean, a mean square
    >>> shape.size, shape.move, Moments().recentres  # squared
    (3, Fraction(4, 1), True)
    """

    recentres: ClassVar[bool] = True

    @abstractmethod
    def shape(self, dim: int) -> Shape:
        """Return what becomes of a vector: integers, with their largest norm and move.

        Parameters
        ----------
        dim : int
            Of the vectors.

        Returns
        -------
        Shape
        """

    @property
    def beside(self) -> Callable[[Records], NDArray[Any]] | None:
        """What the shape takes beside vectors, of records; by default nothing."""
        return None

    @abstractmethod
    def parts(
        self, view: View, features: FloatArray, deviation: float, relative: float
    ) -> Mapping[str, Any]:
        """Return what noisy features stand for, by name.

        Parameters
        ----------
        view : View
            Where records were seen from, and which length stands for 1.
        features : ndarray
            With their noise.
        deviation : float
            Standard deviation of the noise of each feature; NaN where it is not known.
        relative : float
            That of the number of records that they were divided by, as a share of it: a common
            factor of all features. 0 where the number is public.

        Returns
        -------
        mapping of str to object
        """

    def moments_in(
        self, view: View, features: FloatArray, deviation: float
    ) -> Callable[[int], ReleasedMoments] | None:
        """Return what makes a mean and its second moments of features; see :class:`Value`.

        Parameters
        ----------
        view, features
            See :meth:`parts`.
        deviation : float
            Of the noise of a feature.

        Returns
        -------
        callable or None
            None, by default, where they are not among the features.
        """
        del view, features, deviation
        return None

    def query(self, ball: Ball, view: View | None = None, share: float = 1.0) -> Rows:
        """Return the query for the features of records as they are seen from a base.

        Parameters
        ----------
        ball : Ball
        view : View, optional
            From the centre as far as the boundary, by default.
        share : float, default 1.0

        Returns
        -------
        Rows
        """
        return Rows(
            self.shape(ball.manifold.dim),
            ball.reach,
            _of_coordinates if view is None else view.vectors(),
            beside=self.beside,
            clipped=record_coordinates if view is None else view.clipped,
            share=share,
            takes=self.takes,
            features=True,
            length=0.0 if view is None else view.unit,
        )

    def queries(self, ball: Ball) -> Queries:
        """Ask for the features; see :meth:`Statistic.queries`."""
        query = self.query(ball)
        answer = yield query
        return self.value(view_from_centre(ball), query, answer)

    def value(self, view: View, query: Rows, answer: Answer) -> Value:
        """Return the features, and what they stand for.

        Parameters
        ----------
        view : View
        query : Rows
        answer : Answer

        Returns
        -------
        Value
        """
        features, deviation = answer.point / query.unit, answer.deviation / query.unit
        return Value(
            answer.point,
            query.answers(view.ball),
            parts=self.parts(view, features, deviation, answer.relative),
            moments=self.moments_in(view, features, deviation),
        )


def _of_coordinates(ball: Ball, coordinates: FloatArray) -> FloatArray:
    return shortened(coordinates / ball.reach, 1.0)


def symmetric_of(products: FloatArray, dim: int, weights: tuple[float, float]) -> FloatArray:
    """Return a symmetric matrix of the weighted products of coordinates, the diagonal first.

    ``weights`` are what squares were multiplied by, and what is above the diagonal.
    """
    square, above = weights
    return unvecd(np.append(products[:dim] / square, products[dim:] * math.sqrt(2.0) / above), dim)
