"""Statistics: generators of queries, and those around another one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from riemdp._checks import kind_of, scale
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._part import Part, both_proved, is_named
from riemdp.statistics._data import check_extras
from riemdp.statistics._query import Answer, Query, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.spaces import Ball
    from riemdp.statistics._data import Records
    from riemdp.statistics._query import Queries


# What is asked of records in a public ball, and what is made of the answers.

#: Most queries of one release: a document that states more is not worked through.
_MOST = 100_000


class Statistic(Part, sort="statistic"):
    """What is asked of records in a public ball, query by query, and what the answers are worth.

    A statistic is a frozen dataclass with one generator, :meth:`queries`. It knows nothing of
    noise, budgets and neighbours: each query says how far its answer can move, and noise is added
    to the answer before the statistic sees it.

    Attributes
    ----------
    caveat : str
        What is to be known before a value is used, in words; empty where there is nothing.
    takes : tuple of str
        What it takes beside points, of :attr:`riemdp.statistics.Records.extras`.
    by_place : tuple of str
        What of that is public and belongs to places in the data: it stays when a record is
        replaced. Relations that do not keep places are refused then.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import RefinedMean, outline
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> first, second = outline(RefinedMean(), ball).queries
    >>> first.share, second.share
    (0.2, 0.8)
    """

    caveat: ClassVar[str] = ""
    takes: ClassVar[tuple[str, ...]] = ()
    by_place: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def queries(self, ball: Ball) -> Queries:
        """Yield what is asked, be sent each answer with its noise, and return the value.

        Parameters
        ----------
        ball : Ball
            Public ball of the records.

        Yields
        ------
        Query
            May depend on the answers before, but for its public numbers: its share, the ball of
            its answers and how far they move are the same for any answers.

        Returns
        -------
        Value
        """

    @property
    def title(self) -> str:
        """Name that people read; with that of a statistic inside, if its own says too little."""
        return self.name

    @property
    def of(self) -> Literal["points", "rows"]:
        """What is averaged of a person's records where people are protected.

        ``"points"``, in the tangent space at the centre, of which the statistic then sees one a
        person; or ``"rows"`` of integers that records are added as, where a person may have several
        labels or covariates.
        """
        return "rows" if {"labels", "covariates"} & set(self.takes) else "points"

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

    def check_size(self, n: int) -> None:
        """Raise ``InvalidParameterError`` where a public number of records contradicts a parameter.

        Parameters
        ----------
        n : int
        """

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
        self.check_chunks([self.check_chunk(records)])

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
            all together no longer than a parameter, fit for pickle, and public. None by default.

        Raises
        ------
        InvalidParameterError
            See :meth:`check_records`.
        """
        check_extras(records, self.takes, self.title)

    def check_chunks(self, noted: Sequence[Any]) -> None:
        """Check what concerns all records together.

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

        A public value for each name in :attr:`takes`.

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


@dataclass(frozen=True, eq=False)
class Outline:
    """What a statistic asks, and what it returns, of answers as they may be.

    Attributes
    ----------
    queries : tuple of Query
    value : Value

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import GeometricMedian, outline
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> len(outline(GeometricMedian(), ball).queries)
    13
    """

    queries: tuple[Query, ...]
    value: Value


def outline(
    statistic: Statistic,
    ball: Ball,
    spread: float | None = None,
    n: float = 1.0,
    deviations: Iterable[float] = (),
) -> Outline:
    """Go through a statistic with typical answers, without records and noise.

    Parameters
    ----------
    statistic : Statistic
    ball : Ball
    spread : float, optional
        Public guess of how far records are from their mean, as a root mean square; the radius by
        default.
    n : float, default 1
        Number of records that sums are taken to be of.
    deviations : iterable of float, optional
        Standard deviation of the noise of each answer, in turn; 0 by default.

    Returns
    -------
    Outline

    Raises
    ------
    InvalidParameterError
        If it asks what is no query, or too often, or the radius is not between 1e-75 and 1e75.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import GeometricMedian, outline
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> len(outline(GeometricMedian(), ball).queries)
    13
    """
    scale(ball.reach, "the radius of the ball")
    length = ball.reach if spread is None else spread
    found: list[Query] = []
    noise = iter(deviations)

    def typical(query: Query) -> Answer:
        found.append(query)
        if len(found) > _MOST:
            raise InvalidParameterError(f"{statistic.name} asks more than {_MOST} queries")
        return Answer(query.typical(ball, length, n), next(noise, 0.0))

    value = through(statistic, ball, typical)
    return Outline(tuple(found), value)


def through(statistic: Statistic, ball: Ball, answered: Callable[[Query], Answer]) -> Value:
    """Go through a statistic, query by query.

    Parameters
    ----------
    statistic : Statistic
    ball : Ball
    answered : callable
        Returns the answer to a query.

    Returns
    -------
    Value

    Raises
    ------
    InvalidParameterError
        If it asks what is no query, or returns no value.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import Answer, TangentMean, through
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> through(TangentMean(), ball, lambda query: Answer(np.array([0.1, 0.2]), 0.01)).raw
    array([0.1, 0.2])
    """
    queries = statistic.queries(ball)
    try:
        query = next(queries)
        while True:
            check_query(statistic, query)
            query = queries.send(answered(query))
    except StopIteration as end:
        if not isinstance(end.value, Value):
            raise InvalidParameterError(
                f"{statistic.name}.queries must return a riemdp.statistics.Value, got "
                f"{type(end.value).__name__}"
            ) from None
        return end.value


def check_query(statistic: Statistic, query: object) -> None:
    """Refuse a query that says by itself how far its answers move, as a class elsewhere would.

    Parameters
    ----------
    statistic : Statistic
        That yielded it.
    query : object
    """
    parts = query, getattr(query, "shape", None)
    known = all(part is None or is_named(type(part)) for part in parts)
    if not (isinstance(query, Query) and known):
        raise InvalidParameterError(
            f"{statistic.name}.queries must yield riemdp.statistics.Rows of a shape of "
            f"riemdp.kernel, got {kind_of(query)}; what is no mean of rows is for PointStatistic"
        )


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


# Statistics that are computed from the answers of another one.


class Around(Statistic):
    """What belongs to records is the business of the inner statistic, and so are its proofs."""

    statistic: Statistic

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the inner statistic takes; see :attr:`Statistic.takes`."""
        return self.statistic.takes

    @property
    def by_place(self) -> tuple[str, ...]:  # type: ignore[override]
        """What of that is public; see :attr:`Statistic.by_place`."""
        return self.statistic.by_place

    @property
    def inside(self) -> tuple[Statistic, ...]:
        """The inner statistic."""
        return (self.statistic,)

    def proofs(self) -> Mapping[str, str | None]:
        """Its own, and those of the inner statistic."""
        return both_proved({self.name: self.proof}, self.statistic.proofs())

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Its own, and those of the inner statistic; see :meth:`Statistic.proofs_on`."""
        return both_proved({self.name: self.proof}, self.statistic.proofs_on(ball))

    def check_size(self, n: int) -> None:
        """See :meth:`Statistic.check_size`."""
        self.statistic.check_size(n)

    def check_chunk(self, records: Records) -> Any:
        """See :meth:`Statistic.check_chunk`."""
        return self.statistic.check_chunk(records)

    def check_chunks(self, noted: Sequence[Any]) -> None:
        """See :meth:`Statistic.check_chunks`."""
        self.statistic.check_chunks(noted)

    def absent(self) -> Mapping[str, object]:
        """Return that of the inner statistic; see :meth:`Statistic.absent`."""
        return self.statistic.absent()

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Return those of the inner statistic; see :meth:`Statistic.typical_extras`."""
        return self.statistic.typical_extras(size, generator)
