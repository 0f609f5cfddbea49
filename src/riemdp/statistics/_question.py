"""What one answer is computed from, chunk by chunk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._errors import UnsupportedError

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, FloatArray

#: What has been computed of a chunk of the records.
Partial = Any


class Question(ABC):
    """What one answer is computed from, chunk by chunk, of records clipped to a public ball.

    Attributes
    ----------
    clips : bool
        Whether :meth:`summarise` clips the records itself, in a form of its own; otherwise it is
        given records that are in the ball. It must not write to them: they may be the caller's.
    takes : tuple of str
        What it takes beside points, of :attr:`riemdp.statistics.Records.extras`; it is given
        :class:`riemdp.statistics.Records` then.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import TangentMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(1), [0.0], 1.0)
    >>> mean = TangentMean()
    >>> parts = [mean.summarise(ball, np.full((10, 1), value)) for value in (0.25, 0.75)]
    >>> [round(float(x), 6) for x in mean.finish(ball, mean.merge(*parts), 1e-9)]
    [0.5]
    """

    clips: ClassVar[bool] = False
    takes: ClassVar[tuple[str, ...]] = ()

    def adds(self, ball: Ball) -> bool:  # noqa: ARG002
        """Whether records may come a part at a time.

        Where what :meth:`summarise` returns has one size for any number of records, and
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
        r"""Put records into the form of :meth:`summarise`; by default clipped to the ball.

        Each by itself, as a function of the ball. Where a class overrides this, it is done once for
        all of its questions about the same data, so it must not depend on the instance.

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

    def summarise(self, ball: Ball, records: FloatArray) -> Partial:
        r"""Say of a chunk what :meth:`finish` needs of it: by default :meth:`added` rows.

        A class that overrides this is asked about one record at a time.

        Parameters
        ----------
        ball : Ball
        records : ndarray, shape (m, \*point_shape)
            As :meth:`prepare` returns them, m >= 1: points of the ball, by default. What is
            computed of one must not depend on the others.

        Returns
        -------
        object
        """
        return self.added(ball, self.rows(ball, records))

    def merge(self, first: Partial, second: Partial) -> Partial:
        """Put two chunks together; by default one after the other.

        Parameters
        ----------
        first, second : object
            What :meth:`summarise` or this method returned.

        Returns
        -------
        object
        """
        return np.concatenate([first, second])

    @abstractmethod
    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...] | FloatArray:
        """Answer, from all chunks.

        Parameters
        ----------
        ball : Ball
        partial : object
            What :meth:`summarise` or :meth:`merge` returned.
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


class Rewritten(Question):
    """The answer to another question, in another form."""

    clips = True

    question: Question

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the other takes."""
        return self.question.takes

    def adds(self, ball: Ball) -> bool:
        """Whether the other adds; see :meth:`Question.adds`."""
        return self.question.adds(ball)

    def rows(self, ball: Ball, records: Any) -> Partial:
        """Return those of the other; see :meth:`Question.rows`."""
        return self.question.rows(ball, self.question.prepare(ball, records))

    def guarded(self, ball: Ball, rows: Partial) -> NDArray[np.int64]:
        """Guard as the other does; see :meth:`Question.guarded`."""
        return self.question.guarded(ball, rows)

    def added(self, ball: Ball, rows: Partial) -> Partial:
        """Say what the other needs; see :meth:`Question.added`."""
        return self.question.added(ball, rows)

    def merge(self, first: Partial, second: Partial) -> Partial:
        """Merge as the other does; see :meth:`Question.merge`."""
        return self.question.merge(first, second)


class Pass(Question):
    """One of several passes over records that come a part at a time; the last one answers.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import FrechetMean
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> parts = [np.array([[0.6, 0.0, 0.8]]), np.array([[0.0, 0.6, 0.8]])]
    >>> tol = 1e-9
    >>> this = FrechetMean().in_passes(ball, tol)
    >>> passes = this.left
    >>> def ask(this):
    ...     prepared = (this.prepare(ball, part) for part in parts)
    ...     return this.merge(*(this.summarise(ball, part) for part in prepared))
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
