"""Means of one bounded vector a record: integers that are added exactly."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from riemdp._errors import UnsupportedError
from riemdp.statistics._counted import Sums
from riemdp.statistics._feature_sums import FeatureSum, root_up
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._records import mean_of
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

    A subclass says which features these are: :meth:`shape`, one of ``riemdp.kernel``, which
    knows how far they move at most when a record is replaced. Coordinates of the answer are
    features times r.

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
    >>> shape = Moments().shape(2)  # in two dimensions: a mean, a mean square
    >>> shape.size, shape.move, Moments().recentres  # squared
    (3, Fraction(4, 1), True)
    """

    projects: ClassVar[bool] = False
    recentres: ClassVar[bool] = True
    in_parts: ClassVar[bool] = True

    def answer_norm(self, dim: int, step: int) -> float:  # noqa: ARG002
        """See :meth:`Sums.answer_norm`."""
        return root_up(self.shape(dim).norm)

    def answer_move(self, dim: int, step: int) -> float:  # noqa: ARG002
        """See :meth:`Sums.answer_move`."""
        return root_up(self.shape(dim).move)

    def farthest(self, ball: Ball) -> float:
        """Return that of features; see :meth:`Sums.farthest`."""
        return self.answer_norm(self.dim(ball), 0)

    def count_weight(self, dim: int) -> float:
        """For features at the boundary, not a mean alone; see :meth:`Sums.count_weight`."""
        return self.answer_norm(dim, 0) * math.pow(self.shape(dim).size, -0.25)

    @abstractmethod
    def parts(self, view: View, features: FloatArray, deviation: float) -> Mapping[str, Any]:
        """Return what noisy features stand for, by name.

        Parameters
        ----------
        view : View
            Where records were seen from, and which length stands for 1.
        features : ndarray
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

    def answers(self, ball: Ball) -> Ball:
        """Features times r; see :meth:`Statistic.answers`."""
        dim = self.dim(ball)
        shape = self.shape(dim)
        if shape.size > _MOST:
            raise UnsupportedError(
                f"the {self.name} has {shape.size} features in {dim} dimensions, and at most "
                f'{_MOST} are released together; ask for less, such as second="scalar"'
            )
        return vector_ball(shape.size, root_up(shape.norm * Fraction(self.unit(ball)) ** 2))

    def range(self, ball: Ball) -> Ball:
        """Return the ball of answers; see :meth:`Statistic.range`."""
        return self.answers(ball)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Move of the features times ``r / n``; see :meth:`Statistic.replace_one`."""
        move = self.shape(self.dim(ball)).move
        return root_up(move * (Fraction(self.unit(ball)) / n) ** 2)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Divide, as rational numbers; see :meth:`Question.finish`."""
        return mean_of(partial, self.unit(ball))

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> NamedValues:
        """Return :meth:`parts` of the value; see :meth:`Statistic.present`."""
        unit = self.unit(ball)
        found = self.parts(view_from_centre(ball), value / unit, deviation() / unit)
        return NamedValues(value, found)
