"""What is computed from records in a public ball, and what one record can do to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from riemdp._checks import kind_of
from riemdp._combinations import NO_SUM
from riemdp._errors import InvalidParameterError, UnsupportedError, UnsupportedNeighboursError
from riemdp._part import Part
from riemdp.statistics._data import check_extras
from riemdp.statistics._question import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds import Ball
    from riemdp.statistics._data import Records
    from riemdp.statistics._released_moments import ReleasedMoments

    FloatArray = NDArray[np.float64]

#: How a sensitivity is measured: as a geodesic distance, or as a norm of normal coordinates about
#: a public centre.
Metric = Literal["distance", "coordinates"]


class Statistic(Part, sort="statistic"):
    """A function of records in a public ball whose value lies in another ball, its range.

    Noise is added to its answers, on the space of :meth:`answers`, which is the range of most. How
    much is set by public numbers alone: the balls, n and what :meth:`replace_one` makes of them. In
    every method ``ball`` is the public ball of the records, and n is public.

    Attributes
    ----------
    steps : int
        Number of answers, public. What is asked for next may depend on what was released. The
        budget pays for all of them: as for one answer where the noise composes so
        (:meth:`riemdp.mechanisms.Mechanism.joint_weight`), else by equal shares of it.
    caveat : str
        What is to be known before a value is used, in words; empty where there is nothing.
    takes : tuple of str
        What it takes beside points, of :attr:`riemdp.statistics.Records.extras`.
    by_place : tuple of str
        What of that is public and belongs to places in the data: it stays when a record is
        replaced. Relations that do not keep places are refused then.
    of : {"points", "rows"}
        What is averaged of a person's records where people are protected: points, in the tangent
        space at the centre, of which the statistic then sees one a person; or the integer rows that
        records are added as, so that a person may have several labels or covariates. With the
        latter answers are sums, or means, of rows that :meth:`Question.guarded` knows, on a grid
        whose step is at most ``2^-39`` of how far a row moves if its record is replaced.
    projects : bool
        Whether draws may be projected onto the ball of answers by default. Not where they are
        several quantities in one vector, of which a projection would shorten all.
    keeps_range : bool
        Whether values lie in the range even where draws are not projected.
    totals : bool
        Whether answers are sums over the records, so that in the value their noise is divided by
        the number of records.
    weighs : bool
        Whether they are divided by a sum of private weights instead: :meth:`released_total`.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import FrechetMean
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> mean = FrechetMean()
    >>> mean.name, mean.steps, mean.range(ball).radius
    ('frechet-mean', 1, 1.0)
    >>> round(mean.replace_one(ball, 100, "distance"), 4)
    0.0311
    """

    steps: int = 1
    caveat: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ()
    by_place: ClassVar[tuple[str, ...]] = ()
    of: ClassVar[Literal["points", "rows"]] = "points"
    projects: ClassVar[bool] = True
    keeps_range: ClassVar[bool] = False
    totals: ClassVar[bool] = False
    weighs: bool = False

    @property
    def title(self) -> str:
        """Name that people read; with that of a statistic inside, if its own says too little."""
        return self.name

    def counted(self, ball: Ball) -> Statistic:  # noqa: ARG002
        """Return the same statistic for a number of records that is private.

        Its answers are sums, with the number of records among them: see
        :class:`riemdp.statistics.AddRemove`.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        Statistic
            With :attr:`totals`, and a sensitivity in :meth:`add_remove`.

        Raises
        ------
        UnsupportedNeighboursError
            By default: if it is no function of sums over the records.
        """
        raise UnsupportedNeighboursError(f"the {self.name} is not released so: {NO_SUM}")

    def released_count(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:  # noqa: ARG002
        """Return the number of records as it was released, with its noise.

        Parameters
        ----------
        ball : Ball
        answers : sequence of ndarray, each of shape (dim,)
            Normal coordinates of the noisy answers about the centre of their ball.

        Returns
        -------
        float or None
            None where it is not among what is released; by default.
        """
        return None

    def released_total(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:  # noqa: ARG002
        """Return what sums are divided by as it was released, where :attr:`weighs` is true.

        Parameters
        ----------
        ball, answers
            See :meth:`released_count`.

        Returns
        -------
        float or None
            None by default.
        """
        return None

    def answer_weight(self, step: int) -> float:  # noqa: ARG002
        """Return how sensitive an answer is, as a multiple of what :meth:`replace_one` says.

        A public number that is fixed beforehand: the shares of the answers are set by it, since all
        of them get noise of one scale.

        Parameters
        ----------
        step : int
            From 0.

        Returns
        -------
        float
            Positive; by default 1.
        """
        return 1.0

    def noise_in_value(self, ball: Ball) -> float:  # noqa: ARG002
        """Return how many times longer the noise may be in the value than in an answer.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
            An upper bound, 1 by default. The mechanism's expected distance is multiplied by it.
        """
        return 1.0

    def range(self, ball: Ball) -> Ball:
        """Public ball that holds the value for any records of a ball; by default the same.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        Ball
        """
        return ball

    def answers(self, ball: Ball) -> Ball:
        """Public ball that holds one answer: :meth:`range`, unless there are several.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        Ball
        """
        return self.range(ball)

    @abstractmethod
    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return the largest move of one exact answer when one of n records is replaced.

        Parameters
        ----------
        ball : Ball
        n : int
            Number of records, public.
        metric : {"distance", "coordinates"}
            Whether a geodesic distance on the space of the answers, or the norm of a difference of
            normal coordinates about the centre of their ball.

        Returns
        -------
        float
            Rounded up.

        Raises
        ------
        UnsupportedError
            If none is known on this ball in this metric.
        """

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return the same when the point of a record is replaced, and nothing else of it.

        Parameters
        ----------
        ball, n, metric
            See :meth:`replace_one`, which it is by default.

        Returns
        -------
        float
            Rounded up.
        """
        return self.replace_one(ball, n, metric)

    def stretch(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """Return how much farther than the tolerance an answer may be in a metric; by default 1.

        The tolerance is a geodesic distance on the space of the answers, unless the class says
        otherwise.

        Parameters
        ----------
        ball : Ball
        metric : {"distance", "coordinates"}

        Returns
        -------
        float
            At least 1, rounded up.
        """
        return 1.0

    def add_remove(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """Return the same when a record is added or removed, where n is private.

        Parameters
        ----------
        ball : Ball
        metric : {"distance", "coordinates"}

        Returns
        -------
        float
            Rounded up.

        Raises
        ------
        UnsupportedNeighboursError
            By default.
        """
        raise UnsupportedNeighboursError(
            f"no sensitivity of {self.name} is known when records are added or removed; use "
            "replace-one neighbours, with a public n"
        )

    def tolerance(self, ball: Ball, sensitivity: float) -> float:
        """Return the public tolerance of an answer, from public numbers only.

        Parameters
        ----------
        ball : Ball
        sensitivity : float
            Of the exact statistic. At 0 the result is the least tolerance that holds for every
            data set; by default 1e-12 of the radius of the answers, which allows for rounding of
            plain sums.

        Returns
        -------
        float
            An upper bound of the distance from the value as computed to the exact one. Twice that
            is added to the sensitivity.
        """
        return max(1e-9 * sensitivity, 1e-12 * self.answers(ball).reach)

    def rounding(self, ball: Ball) -> float:
        """Return what rounding alone may take: no release may state a smaller tolerance.

        By default half of the least tolerance: the other half is a margin.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
        """
        return 0.5 * self.tolerance(ball, 0.0)

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:  # noqa: ARG002
        """Return where the claims that are used on a ball are proved; as :meth:`Part.proofs` does.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        mapping of str to (str or None)
        """
        return self.proofs()

    @abstractmethod
    def ask(self, ball: Ball, point: Any, step: int) -> Question:
        r"""Return what is to be asked next.

        Parameters
        ----------
        ball : Ball
        point : ndarray, shape (\*point_shape,)
            Where the last move ended, in the range; released. Or what else :meth:`move` returned.
        step : int
            From 0.

        Returns
        -------
        Question
        """

    def streams(self, ball: Ball) -> bool:
        """Whether it can be computed of records that come a part at a time; see :class:`Chunks`.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        bool
            :meth:`Question.adds` of what is asked first.
        """
        return self.ask(ball, self.start(ball), 0).adds(ball)

    def passes(self, ball: Ball, tol: float) -> int | None:
        """Return how often records that come a part at a time are read for an answer.

        Parameters
        ----------
        ball : Ball
        tol : float
            Public tolerance of the answer.

        Returns
        -------
        int or None
            Once where :meth:`streams` is true; see :meth:`Question.in_passes`. None where it cannot
            be computed so.
        """
        asked = self.ask(ball, self.start(ball), 0)
        if asked.adds(ball):
            return 1
        first = asked.in_passes(ball, tol)
        return None if first is None else first.left

    def start(self, ball: Ball) -> Any:
        r"""Public point of the range that the first question may use: its centre.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        ndarray, shape (\*point_shape,)
        """
        return self.range(ball).center

    def value_at(self, ball: Ball, point: Any) -> FloatArray:  # noqa: ARG002
        r"""Return the value, from what the last move returned; by default that.

        Parameters
        ----------
        ball : Ball
        point : ndarray, shape (\*point_shape,)
            Or what else :meth:`move` returned.

        Returns
        -------
        ndarray, shape (\*point_shape,)
            In the range.
        """
        found: FloatArray = point
        return found

    def check_records(self, records: Records) -> None:
        """Raise an error for records that the statistic cannot be computed of.

        Parameters
        ----------
        records : Records
            Validated: :meth:`riemdp.statistics.Records.validated`.

        Raises
        ------
        InvalidParameterError
            If they hold more than the statistic takes, or less.
        """
        check_extras(records, self.takes, self.name)

    def check_chunk(self, records: Records) -> Any:
        """Check some of the records, where they come a part at a time: see :class:`Chunks`.

        Parameters
        ----------
        records : Records
            Validated, of one part.

        Returns
        -------
        object
            What :meth:`check_chunks` has to know of them: of one size however many they are, or of
            all together no longer than a parameter, fit for pickle, and public. None by default,
            after :meth:`check_records`.

        Raises
        ------
        InvalidParameterError
            See :meth:`check_records`.
        """
        self.check_records(records)
        return None

    def check_chunks(self, noted: Sequence[Any]) -> None:
        """Check what concerns all records that have come a part at a time.

        Parameters
        ----------
        noted : sequence
            What :meth:`check_chunk` returned of each part with records, in any order.

        Raises
        ------
        InvalidParameterError
            If the statistic cannot be computed of them.
        """

    def absent(self) -> Mapping[str, object]:
        """Return what stands beside the centre of the ball for a person without records.

        A public value for each name in :attr:`takes`: a vector is then within what
        :meth:`replace_one` bounds.

        Returns
        -------
        mapping of str to object

        Raises
        ------
        UnsupportedError
            By default, where the statistic takes anything.
        """
        if self.takes:
            raise UnsupportedError(
                f"{self.name} takes {' and '.join(self.takes)}, and does not say what stands for "
                "a person without records: leave out people, whose number is private then"
            )
        return {}

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Return what records may have beside points, as :func:`riemdp.testing.check_part` asks.

        Parameters
        ----------
        size : int
            Number of records.
        generator : numpy.random.Generator

        Returns
        -------
        mapping of str to array_like, shape (size,)
            For each name in :attr:`takes`; extreme values among them.

        Raises
        ------
        UnsupportedError
            By default, where the statistic takes anything.
        """
        del size, generator
        if self.takes:
            raise UnsupportedError(
                f"{self.name} takes {' and '.join(self.takes)}: say in typical_extras what that is"
            )
        return {}

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> Any:  # noqa: ARG002
        r"""Return a released value as users see it; by default as they write points of the range.

        Parameters
        ----------
        ball : Ball
        value : ndarray, shape (\*point_shape,)
            Of the range.
        deviation : callable
            Returns the standard deviation of the noise of one coordinate of an answer, NaN where
            that is not known.

        Returns
        -------
        object
            What :meth:`Manifold.present` of the range returns, or
            :class:`riemdp.statistics.NamedValues`.
        """
        return self.range(ball).manifold.present(value)

    def released_moments(
        self, ball: Ball, value: FloatArray, deviation: float, n: int
    ) -> ReleasedMoments:
        """Return a released mean with its second moments, as inference takes them.

        Parameters
        ----------
        ball : Ball
        value : ndarray
            Of the range, with Gaussian noise, neither projected nor shrunk.
        deviation : float
            Standard deviation of the noise of one coordinate of an answer.
        n : int
            Number of records.

        Returns
        -------
        ReleasedMoments

        Raises
        ------
        UnsupportedError
            By default: where they are not released.
        """
        del ball, value, deviation, n
        raise UnsupportedError(
            f"the {self.name} comes without the second moments that say how far records spread; "
            'release private_moments(..., second="matrix")'
        )

    def move(
        self,
        ball: Ball,  # noqa: ARG002
        point: Any,  # noqa: ARG002
        noisy: FloatArray,
        step: int,  # noqa: ARG002
        noise: Callable[[], float],  # noqa: ARG002
    ) -> Any:
        r"""Return the next point, from an answer with its noise; by default that.

        Everything that it uses is released, so it may do what it likes.

        Parameters
        ----------
        ball : Ball
        point : ndarray, shape (\*point_shape,)
            Where the last move ended.
        noisy : ndarray
            Point of the space of the answers.
        step : int
        noise : callable
            Returns the mean length of the noise in the answer, 0 where that is not known: public.

        Returns
        -------
        ndarray, shape (\*point_shape,)
            Or something else, of which :meth:`value_at` makes the value.
        """
        return noisy


class Summary(Statistic, Question):
    """A statistic of one answer, which is its own question.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import FrechetMean, Summary
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> mean = FrechetMean()
    >>> isinstance(mean, Summary), mean.ask(ball, ball.center, 0) is mean
    (True, True)
    """

    def ask(self, ball: Ball, point: Any, step: int) -> Question:  # noqa: ARG002
        """Return the statistic itself."""
        return self


def check_statistic(statistic: object) -> None:
    """Raise ``InvalidParameterError`` for what is no statistic.

    Parameters
    ----------
    statistic : object
    """
    if not isinstance(statistic, Statistic):
        raise InvalidParameterError(
            f"statistic must be a riemdp.statistics.Statistic, got {kind_of(statistic)}"
        )
