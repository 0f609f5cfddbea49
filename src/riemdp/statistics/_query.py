"""Queries: what a statistic asks of the records, and what it is sent back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from riemdp._errors import UnsupportedError, UnsupportedNeighboursError
from riemdp.statistics._records import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._moments import ReleasedMoments

#: What has been computed of a chunk of the records.
Partial = Any
#: How a sensitivity is measured: as a geodesic distance, or as a norm of normal coordinates about
#: a public centre.
Metric = Literal["distance", "coordinates"]


class Query(ABC):
    """What is asked of the records at once: a function of all of them, clipped to a public ball.

    Its public numbers set the noise: :attr:`share`, :meth:`answers` and how far an answer moves. Of
    queries that follow on an answer they may not depend on that answer, which is checked before
    each draw. In every method ``ball`` is the public ball of the records.

    Most queries are a mean of one row a record, :class:`Rows`. What needs all records at once is a
    query of its own.

    Attributes
    ----------
    share : float
        Of the budget: of epsilon or rho, of the square of mu. Those of a statistic add up to 1.
    takes : tuple of str
        What it takes beside points, of :attr:`riemdp.statistics.Records.extras`; it is given
        :class:`riemdp.statistics.Records` then.
    projects : bool
        Whether draws may be projected onto the ball of answers. Not where they are several
        quantities in one vector, of which a projection would shorten all.
    sums : bool
        Whether an answer is a sum over the records, and how many there are is released with it.
    clips : bool
        Whether :meth:`rows` clips the records itself, in a form of its own; otherwise it is given
        records that are in the ball. It must not write to them: they may be the caller's.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import TangentMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(1), [0.0], 1.0)
    >>> query = next(TangentMean().queries(ball))
    >>> query.share, query.replace_one(ball, 100, "coordinates")
    (1.0, 0.02)
    """

    share: float = 1.0
    takes: tuple[str, ...] = ()
    projects: bool = True
    clips: ClassVar[bool] = False
    sums: ClassVar[bool] = False

    def answers(self, ball: Ball) -> Ball:
        """Public ball that holds an answer, on whose space noise is added; by default the same.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        Ball
        """
        return ball

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return the largest move of an exact answer when one of n records is replaced.

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
            If none is known on this ball in this metric; by default.
        """
        raise UnsupportedError(f"no sensitivity of {type(self).__name__} is known")

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:
        """Return the same when the point of a record is replaced, and nothing else of it.

        Parameters
        ----------
        ball, n, metric
            See :meth:`replace_one`, which it is by default.

        Returns
        -------
        float
        """
        return self.replace_one(ball, n, metric)

    def add_remove(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """Return the same when a record is added or removed, where n is private.

        Parameters
        ----------
        ball : Ball
        metric : {"distance", "coordinates"}

        Returns
        -------
        float

        Raises
        ------
        UnsupportedNeighboursError
            By default: of what is no sum.
        """
        raise UnsupportedNeighboursError(
            "no sensitivity is known when records are added or removed; use replace-one "
            "neighbours, with a public n"
        )

    def stretch(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """Return how much farther than the tolerance an answer may be in a metric; by default 1.

        The tolerance is a geodesic distance on the space of the answers.

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

    def tolerance(self, ball: Ball, sensitivity: float) -> float:  # noqa: ARG002
        """Return the public tolerance of an answer, from public numbers only; by default 0.

        Parameters
        ----------
        ball : Ball
        sensitivity : float
            Of the exact answer. At 0 the result is the least tolerance that holds for every data
            set.

        Returns
        -------
        float
            An upper bound of the distance from the answer as computed to the exact one. Twice that
            is added to the sensitivity.
        """
        return 0.0

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

    def typical(self, ball: Ball, length: float, n: float) -> FloatArray:  # noqa: ARG002
        """Return an answer as it may be, from which a plan goes on; by default the centre.

        Parameters
        ----------
        ball : Ball
        length : float
            Public guess of how far records are from their mean, as a root mean square.
        n : float
            Number of records that a sum is taken to be of.

        Returns
        -------
        ndarray
            Point of :meth:`answers`.
        """
        return self.answers(ball).center

    @property
    def functions(self) -> tuple[object, ...]:
        """Functions of records that it holds: those of other packages see one at a time."""
        return ()

    @property
    def form(self) -> Hashable:
        """What :meth:`prepare` depends on, beside ball and record; by default the class."""
        return type(self)

    def adds(self, ball: Ball) -> bool:  # noqa: ARG002
        """Whether records may come a part at a time.

        Where what :meth:`added` returns has one size for any number of records, and
        :meth:`merge` gives the same for any parts in any order, as exact sums do.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        bool
            False by default: all that is kept of records is put together.
        """
        return False

    def prepare(self, ball: Ball, records: FloatArray) -> Any:
        r"""Put records into the form of :meth:`rows`; by default clipped to the ball.

        Each by itself, as a function of the ball. Queries of one :attr:`form` share what comes out.

        Parameters
        ----------
        ball : Ball
        records : ndarray, shape (m, \*point_shape)
            Valid points, inside or outside; read-only.

        Returns
        -------
        object
            The records themselves, where :attr:`clips` is true.
        """
        return records if self.clips else ball.project(records)

    def rows(self, ball: Ball, records: Any) -> Partial:  # noqa: ARG002
        r"""Return a row for each record; by default the record.

        Parameters
        ----------
        ball : Ball
        records : ndarray, shape (m, \*point_shape)
            As :meth:`prepare` returns them. What is computed of one must not depend on the others.

        Returns
        -------
        ndarray, or nested tuples of ndarray, each with the records along its first axis
        """
        return records

    def guarded(self, ball: Ball, rows: Partial) -> NDArray[np.int64]:  # noqa: ARG002
        """Return integer rows none of which is longer than is proved.

        What is needed for means of the rows of people, :attr:`Statistic.of`, and for weights.

        Parameters
        ----------
        ball : Ball
        rows : object
            Of :meth:`rows`.

        Returns
        -------
        ndarray of int64, shape (m, d)
            A copy.

        Raises
        ------
        UnsupportedError
            By default: where rows are no integers of a stated length.
        """
        raise UnsupportedError(
            f"no length is stated of the rows of {type(self).__name__}, so that they are neither "
            "averaged for people with several records, nor multiplied by weights"
        )

    def added(self, ball: Ball, rows: Partial) -> Partial:  # noqa: ARG002
        """Say of rows what :meth:`finish` needs of them; by default all.

        Parameters
        ----------
        ball : Ball
        rows : object
            Of :meth:`rows`.

        Returns
        -------
        object
            Which :meth:`merge` puts together.
        """
        return rows

    def merge(self, first: Partial, second: Partial) -> Partial:
        """Put two chunks together: arrays one after the other, and sums added.

        Parameters
        ----------
        first, second : object
            What :meth:`added` or this method returned.

        Returns
        -------
        object
        """
        return joined(first, second)

    @abstractmethod
    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...] | FloatArray:
        """Answer, from all chunks.

        Parameters
        ----------
        ball : Ball
        partial : object
            What :meth:`added` or :meth:`merge` returned.
        tol : float
            Public tolerance: how far the result may be from the exact one.

        Returns
        -------
        tuple of Fraction, or ndarray, shape (dim,)
            Normal coordinates about the centre of the ball of answers.

        Raises
        ------
        ConvergenceError
            If the tolerance cannot be certified.
        """

    def in_passes(self, ball: Ball, tol: float) -> Pass | None:  # noqa: ARG002
        """Return how this is answered of records that come a part at a time, in several passes.

        Where :meth:`adds` is false: what has to be known of all records at once may be found in a
        number of passes that is public, each of which adds up integers.

        Parameters
        ----------
        ball : Ball
        tol : float
            Public tolerance of the answer.

        Returns
        -------
        Pass or None
            The first; None, by default, where nobody has proved that any number of them is enough.
        """
        return None


class Pass(Query):
    """One of several passes over records that come a part at a time; the last one answers.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import FrechetMean
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> parts = [np.array([[0.6, 0.0, 0.8]]), np.array([[0.0, 0.6, 0.8]])]
    >>> tol = 1e-9
    >>> this = next(FrechetMean().queries(ball)).in_passes(ball, tol)
    >>> passes = this.left
    >>> def ask(this):
    ...     prepared = (this.prepare(ball, part) for part in parts)
    ...     return this.merge(*(this.added(ball, this.rows(ball, part)) for part in prepared))
    ...
    >>> while this.left > 1:
    ...     this = this.after(ball, ask(this))
    ...
    >>> mean = this.finish(ball, ask(this), tol)  # in coordinates about the centre
    >>> passes, np.round(np.array(mean, dtype=float), 4)
    (20, array([ 0.3448, -0.3448]))
    """

    @property
    @abstractmethod
    def left(self) -> int:
        """Number of passes with this one, public."""

    @abstractmethod
    def after(self, ball: Ball, partial: Partial) -> Pass:
        """Return the next pass.

        Parameters
        ----------
        ball : Ball
        partial : object
            What this one has found, of all records.

        Returns
        -------
        Pass
        """


@dataclass(frozen=True, eq=False)
class Answer:
    """What a query was answered with: everything in it is released.

    Attributes
    ----------
    point : ndarray
        Point of the space of :meth:`Query.answers`: where the noise took the exact answer. Of sums
        over a private number of records it is divided by the number that was released.
    deviation : float
        Standard deviation of the noise of one coordinate; NaN where it is not known.
    relative : float
        That of the number of records that it was divided by, as a share of it: 0 where that is
        public.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp.statistics import Answer
    >>> Answer(np.array([0.1, 0.2]), deviation=0.01).relative
    0.0
    """

    point: FloatArray
    deviation: float
    relative: float = 0.0

    @property
    def known_deviation(self) -> float:
        """The deviation, 0 where it is not known."""
        return 0.0 if np.isnan(self.deviation) else self.deviation


@dataclass(frozen=True, eq=False)
class Value:
    """What a statistic makes of its answers.

    Attributes
    ----------
    raw : ndarray
        Point of the space of ``ball``.
    ball : Ball
        Public ball that holds the value for any records.
    gain : float
        How many times longer the noise is in a coordinate of the value than in one of the last
        answer, to first order.
    size : int, optional
        How many coordinates of that noise the value has; by default all.
    parts : mapping of str to object, optional
        What the value stands for, by name; by default the point as users write it.
    count : float, optional
        Number of records as it was released.
    total : float, optional
        What sums were divided by: that number, or the sum of private weights.
    moments : callable, optional
        Of the public number of records returns mean and second moments, as inference takes them.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import RefinedMean, outline
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> value = outline(RefinedMean(), ball, spread=0.25).value
    >>> value.raw, round(value.gain, 3)  # records are clipped to twice that
    (array([1., 0.]), 0.5)
    """

    raw: FloatArray
    ball: Ball
    gain: float = 1.0
    size: int | None = None
    parts: Mapping[str, Any] | None = None
    count: float | None = None
    total: float | None = None
    moments: Callable[[int], ReleasedMoments] | None = None


if TYPE_CHECKING:
    #: Yields queries, is sent an answer to each, and returns the value.
    Queries = Generator[Query, Answer, Value]
