"""Which data sets a guarantee cannot tell apart."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

from riemdp._checks import count, kind_of
from riemdp._combinations import NO_WAY_BACK
from riemdp._errors import InvalidParameterError, UnsupportedNeighboursError
from riemdp._part import Part, register
from riemdp.statistics._counted import counted

if TYPE_CHECKING:
    from riemdp.spaces import Ball
    from riemdp.statistics._data import Records
    from riemdp.statistics._query import Metric, Query
    from riemdp.statistics._statistic import Statistic


class Neighbours(Part, sort="neighbours"):
    """A relation between data sets: a guarantee is about every pair of neighbours.

    In every method ``ball`` is the public ball of the records, and n, where it is not None, public.

    Attributes
    ----------
    implies_replace_one : bool
        Whether data sets that differ in one record are among the neighbours, so that a guarantee
        is one about these too, and an account may add it up. It is not inherited: a subclass
        measures another relation, and has to say so itself.
    size_is_public : bool
        Whether neighbours are of one size, so that it may be known, and set the noise.
    keeps_places : bool
        Whether records that neighbours have in common are at the same places, and as many around
        them.
    takes : tuple of str
        What it takes beside points, of :attr:`riemdp.statistics.Records.extras`.
    keeps_beside : bool
        Whether what records have beside points, such as public labels, is the same in neighbours.
    in_one_group : bool
        Whether neighbours differ in one group alone wherever records are in groups that are
        public, and people in one group each. It is not inherited either.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import Groups, ReplaceOne, TangentMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> relations = ReplaceOne(), Groups(3)
    >>> mean = next(TangentMean().queries(ball))
    >>> [round(r.sensitivity(mean, ball, 100, "distance"), 6) for r in relations]
    [0.02, 0.06]
    """

    implies_replace_one: ClassVar[bool] = False
    size_is_public: ClassVar[bool] = True
    keeps_places: ClassVar[bool] = True
    keeps_beside: ClassVar[bool] = False
    takes: ClassVar[tuple[str, ...]] = ()
    in_one_group: ClassVar[bool] = False

    @property
    def adds(self) -> tuple[str, ...]:
        """What :meth:`units` come with, of :attr:`riemdp.statistics.Records.extras`."""
        return ()

    @property
    def adjacency(self) -> str:
        """What definitions call it: :attr:`riemdp.privacy.Budget.adjacency` of a guarantee.

        That of single records where a guarantee implies one about these.
        """
        return ReplaceOne.name if self.implies_replace_one else self.name

    @property
    def title(self) -> str:
        """What reports call it, with the numbers that the strength of a guarantee depends on."""
        return self.name

    def groups_of(self, size: int) -> str:
        """Return what definitions call data sets that are so many neighbours apart.

        Parameters
        ----------
        size : int
            At least 1.

        Returns
        -------
        str
        """
        return self.adjacency if size == 1 else f"{self.adjacency}, groups of {size}"

    def replacing(self) -> Neighbours:
        """Return the relation in which one is replaced by another: two neighbours apart.

        Returns
        -------
        Neighbours

        Raises
        ------
        UnsupportedNeighboursError
            By default: where nothing is added or removed.
        """
        raise UnsupportedNeighboursError(f"{self.title}: {NO_WAY_BACK}")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.implies_replace_one = vars(cls).get("implies_replace_one", False)
        cls.in_one_group = vars(cls).get("in_one_group", False)
        cls.keeps_beside = vars(cls).get("keeps_beside", False)

    def form(self, statistic: Statistic, ball: Ball) -> Statistic:  # noqa: ARG002
        """Return the form in which a statistic is released; by default the statistic itself.

        Parameters
        ----------
        statistic : Statistic
        ball : Ball

        Returns
        -------
        Statistic

        Raises
        ------
        UnsupportedNeighboursError
            If it has none.
        """
        return statistic

    def units(self, ball: Ball, records: Records) -> Records:  # noqa: ARG002
        """Return what the statistic sees in place of the records; by default the records.

        Parameters
        ----------
        ball : Ball
        records : Records
            Validated.

        Returns
        -------
        Records
            One for each of those that the guarantee protects.
        """
        return records

    @abstractmethod
    def sensitivity(self, query: Query, ball: Ball, n: int | None, metric: Metric) -> float:
        """Return the largest move of one exact answer between neighbours.

        It asks the query for what that knows of itself, so a new relation needs no table.

        Parameters
        ----------
        query : Query
        ball : Ball
        n : int or None
            Number of records, or of what :meth:`units` makes of them. None where it is private.
        metric : {"distance", "coordinates"}
            What the mechanism measures it in.

        Returns
        -------
        float
            Rounded up.

        Raises
        ------
        UnsupportedError
            If none is known.
        """


@final
@register
@dataclass(frozen=True)
class ReplaceOne(Neighbours):
    """Data sets of one public size that differ in one record.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import ReplaceOne, TangentMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> mean = next(TangentMean().queries(ball))
    >>> round(ReplaceOne().sensitivity(mean, ball, 100, "distance"), 6)  # 2 radius / n
    0.02
    """

    name: ClassVar[str] = "replace-one"
    proof: ClassVar[str | None] = "docs/proofs/index.md"
    in_one_group: ClassVar[bool] = True
    implies_replace_one: ClassVar[bool] = True

    def groups_of(self, size: int) -> str:
        """As :class:`Groups` calls them; see :meth:`Neighbours.groups_of`."""
        return self.adjacency if size == 1 else f"groups of {size}"

    def sensitivity(self, query: Query, ball: Ball, n: int | None, metric: Metric) -> float:
        """Return :meth:`Query.replace_one`; see :meth:`Neighbours.sensitivity`."""
        return query.replace_one(ball, public_size(n), metric)


@final
@register
@dataclass(frozen=True)
class ReplacePoint(Neighbours):
    """Data sets of one public size that differ in the point of one record.

    Labels and covariates, record by record, are public: a guarantee says nothing about them. An
    account does not take it, since it adds up guarantees for whole records.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import ReplacePoint
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_mean(points, ball, riemdp.GDP(1.0), adjacency=ReplacePoint())
    >>> release.adjacency
    'replace-point'
    """

    name: ClassVar[str] = "replace-point"
    proof: ClassVar[str | None] = "docs/proofs/index.md"
    keeps_beside: ClassVar[bool] = True
    in_one_group: ClassVar[bool] = True

    def sensitivity(self, query: Query, ball: Ball, n: int | None, metric: Metric) -> float:
        """Return :meth:`Query.replace_point`; see :meth:`Neighbours.sensitivity`."""
        return query.replace_point(ball, public_size(n), metric)


@final
@register
@dataclass(frozen=True)
class Groups(Neighbours):
    """Data sets of one public size that differ in at most so many records, whichever these are.

    A guarantee for people who have several records each, or for records of one source. Each
    replacement moves an answer by at most what one does, and all of them by no more than the
    diameter of the ball of answers.

    Parameters
    ----------
    records : int
        Largest number of records that differ; at least 1, public.

    Raises
    ------
    InvalidParameterError
        If ``records`` is not a positive integer.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import Groups, TangentMean
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> mean = next(TangentMean().queries(ball))
    >>> round(Groups(3).sensitivity(mean, ball, 100, "distance"), 6)
    0.06
    >>> round(Groups(500).sensitivity(mean, ball, 100, "distance"), 6)  # the diameter
    2.0
    """

    name: ClassVar[str] = "groups"
    proof: ClassVar[str | None] = "docs/proofs/index.md"
    implies_replace_one: ClassVar[bool] = True

    records: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", count(self.records, "records, the size of a group,"))

    @property
    def title(self) -> str:
        """With the number of records."""
        return f"groups of {self.records}"

    def groups_of(self, size: int) -> str:
        """Return what groups of groups are; see :meth:`Neighbours.groups_of`."""
        return f"groups of {size * self.records}"

    def sensitivity(self, query: Query, ball: Ball, n: int | None, metric: Metric) -> float:
        """Return so many times :meth:`Query.replace_one`; see :meth:`Neighbours.sensitivity`.

        At most the diameter of the ball of answers.
        """
        size = public_size(n)
        one = query.replace_one(ball, size, metric)
        most = 2.0 * query.answers(ball).reach
        return min(most, math.nextafter(min(self.records, size) * one, math.inf))


class PrivateSize(Neighbours):
    """What relations have in common whose neighbours are of two sizes, which is private then.

    Released are sums over the records with their number, both with noise; see
    :class:`Counted` and docs/proofs/neighbours.md.
    """

    size_is_public: ClassVar[bool] = False
    keeps_places: ClassVar[bool] = False

    def form(self, statistic: Statistic, ball: Ball) -> Statistic:
        """Return :func:`counted`; see :meth:`Neighbours.form`."""
        return counted(statistic, ball)

    def sensitivity(self, query: Query, ball: Ball, n: int | None, metric: Metric) -> float:  # noqa: ARG002
        """Return :meth:`Query.add_remove`; see :meth:`Neighbours.sensitivity`."""
        return query.add_remove(ball, metric)


@final
@register
@dataclass(frozen=True)
class AddRemove(PrivateSize):
    """Data sets of which one has one record more: how many there are is private too.

    References
    ----------
    docs/proofs/neighbours.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import AddRemove
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.full((500, 2), 0.3)
    >>> release = riemdp.private_mean(points, ball, riemdp.GDP(1.0), adjacency=AddRemove())
    >>> release.adjacency, release.n
    ('add-remove', None)
    """

    name: ClassVar[str] = "add-remove"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    in_one_group: ClassVar[bool] = True

    def replacing(self) -> Neighbours:
        """Return :class:`ReplaceOne`; see :meth:`Neighbours.replacing`."""
        return ReplaceOne()


def public_size(n: int | None) -> int:
    """Return the public number of records, where there has to be one.

    Parameters
    ----------
    n : int or None

    Returns
    -------
    int

    Raises
    ------
    InvalidParameterError
        If it is None.
    """
    if n is None:
        raise InvalidParameterError(
            "n, the number of records, is needed where neighbours are of one size; it is left out "
            "under add-remove alone"
        )
    return n


def check_neighbours(neighbours: object) -> None:
    """Raise ``InvalidParameterError`` for what is no relation between data sets.

    Parameters
    ----------
    neighbours : object
    """
    if not isinstance(neighbours, Neighbours):
        raise InvalidParameterError(
            "neighbours must be a relation, an object such as ReplaceOne(), got "
            f"{kind_of(neighbours)}; a name goes to adjacency"
        )
