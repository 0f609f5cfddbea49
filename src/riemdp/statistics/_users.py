"""Data sets of people: one point for each, of all records of that person."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import count
from riemdp._combinations import PEOPLE_NEED_A_CENTRE, PEOPLE_WEIGH
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._part import register
from riemdp.kernel import UNIT, means_of_owners, on_grid
from riemdp.statistics._answer import of_each, public_coordinates
from riemdp.statistics._data import Records
from riemdp.statistics._neighbours import Neighbours, PrivateSize, public_size
from riemdp.statistics._rows import quotient_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._query import Metric, Query
    from riemdp.statistics._statistic import Statistic

#: Rows that are added at a time.
_ROWS = 2**14


@dataclass(frozen=True)
class PerUser(Neighbours):
    """What relations between data sets of people share, each of whom has one or more records.

    The records of a person are averaged to one: a function of that person's records alone. By
    default that is a point, the mean in the tangent space at the centre of the ball. Statistics of
    labels or covariates, which a person may have several of, average the rows instead that records
    are added as: :attr:`riemdp.statistics.Statistic.of`.

    Parameters
    ----------
    contribution : int, default 1
        Largest number of records that a person counts for, public. A person with fewer records
        counts for less, with a weight that is as private as the records:
        :class:`riemdp.statistics.Counted`. With 1 every person counts alike.

    Raises
    ------
    InvalidParameterError
        If ``contribution`` is not a positive integer.

    References
    ----------
    docs/proofs/neighbours.md
    """

    keeps_places: ClassVar[bool] = False
    takes: ClassVar[tuple[str, ...]] = ("users",)

    contribution: int = 1

    def __post_init__(self) -> None:
        whole = count(self.contribution, "contribution, of records that a person counts for,")
        object.__setattr__(self, "contribution", whole)

    @property
    def title(self) -> str:
        """With the number of records, where people do not count alike."""
        many = "" if self.contribution == 1 else f", who counts for up to {self.contribution}"
        return self.name + many

    @property
    def adds(self) -> tuple[str, ...]:
        """Weights, where people do not count alike."""
        return () if self.contribution == 1 else ("weights",)

    def units(self, ball: Ball, records: Records) -> Records:
        """Return the mean of every person; see :func:`means_of_users`."""
        found = means_of_users(ball, records)
        if self.contribution == 1:
            return found
        numbers = np.bincount(owners_of(np.asarray(records.users)))
        return replace(found, weights=np.minimum(numbers, self.contribution) / self.contribution)


@final
@register
@dataclass(frozen=True)
class ReplaceUser(PerUser):
    """Data sets of one public number of people, of whom one has other records, or more, or fewer.

    The number is stated, ``people=...``, or the list of their ids, and not counted: who has no
    record counts as the centre of the ball.

    Parameters
    ----------
    contribution : int, default 1
        Largest number of records that a person counts for, public: see :class:`PerUser`.

    Raises
    ------
    InvalidParameterError
        If ``contribution`` is not a positive integer.

    References
    ----------
    docs/proofs/neighbours.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import ReplaceUser
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> records = riemdp.Records(np.full((500, 2), 0.3), users=np.arange(500) // 5)
    >>> release = riemdp.private_mean(
    ...     records, ball, riemdp.GDP(1.0), adjacency=ReplaceUser(), people=100
    ... )
    >>> release.adjacency, release.n
    ('replace-user', 100)
    """

    name: ClassVar[str] = "replace-user"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    in_one_group: ClassVar[bool] = True

    def sensitivity(self, query: Query, ball: Ball, n: int | None, metric: Metric) -> float:
        """Return :meth:`Query.replace_one`, of averaged rows with what rounding them adds.

        See :meth:`Neighbours.sensitivity`. Means that are rounded towards zero move by a grid unit
        a coordinate more than records do: docs/proofs/neighbours.md, claim 6.
        """
        found = query.replace_one(ball, public_size(n), metric)
        if not {"labels", "covariates"} & set(query.takes):
            return found
        root = math.isqrt(query.answers(ball).manifold.dim - 1) + 1
        return quotient_of(Fraction(found) * (1 + Fraction(root, 2**39)), 1)


@final
@register
@dataclass(frozen=True)
class AddRemoveUser(PrivateSize, PerUser):
    """Data sets of which one has one person more, with all records: how many people is private.

    Parameters
    ----------
    contribution : int, default 1
        Largest number of records that a person counts for, public: see :class:`PerUser`.

    Raises
    ------
    InvalidParameterError
        If ``contribution`` is not a positive integer.

    References
    ----------
    docs/proofs/neighbours.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> records = riemdp.Records(np.full((500, 2), 0.3), users=np.arange(500) // 5)
    >>> release = riemdp.private_mean(records, ball, riemdp.GDP(1.0))
    >>> release.adjacency, release.n
    ('add-remove-user', None)
    """

    name: ClassVar[str] = "add-remove-user"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    in_one_group: ClassVar[bool] = True

    def replacing(self) -> Neighbours:
        """Return :class:`ReplaceUser`; see :meth:`Neighbours.replacing`."""
        return ReplaceUser(self.contribution)


def means_of_users(ball: Ball, records: Records) -> Records:
    r"""Average the records of each person in the tangent space at the centre, clipped to the ball.

    Each is a function of that person's records alone, bit by bit, in whatever order they come, and
    lies in the ball: how accurate it is does not matter to privacy. A single record stays what it
    is, but for clipping.

    Parameters
    ----------
    ball : Ball
        Public ball of the records.
    records : Records
        Validated, with users.

    Returns
    -------
    Records
        A point for each person, and nothing else.

    Raises
    ------
    InvalidParameterError
        If there are no users, or records have weights.
    UnsupportedBallError
        If the ball is a whole space.
    """
    if records.users is None:
        raise InvalidParameterError(
            "the guarantee is about people, so say whose record each is: users=..., one a record"
        )
    check_centre(ball)
    if records.weights is not None:
        raise InvalidParameterError(str(PEOPLE_WEIGH))
    owners = owners_of(np.asarray(records.users))
    return Records(_means(ball, np.asarray(records.points), owners))


def averages_rows(neighbours: Neighbours, statistic: Statistic) -> bool:
    """Whether rows of people are averaged, and not points: see :attr:`Statistic.of`.

    Not under a relation that makes units of its own.

    Parameters
    ----------
    neighbours : Neighbours
    statistic : Statistic

    Returns
    -------
    bool
    """
    return type(neighbours).units is PerUser.units and statistic.of == "rows"


def check_centre(ball: Ball) -> None:
    """Raise ``UnsupportedBallError`` for a whole space, however many records people have.

    Parameters
    ----------
    ball : Ball
    """
    if ball.is_whole:
        raise UnsupportedBallError(str(PEOPLE_NEED_A_CENTRE))


def owners_of(users: NDArray[Any]) -> NDArray[np.intp]:
    """Return whose each record is, as a number from 0.

    Parameters
    ----------
    users : ndarray of int and str, shape (n,)

    Returns
    -------
    ndarray of int, shape (n,)
        In the order in which people first come.
    """
    named = users.tolist()
    known = {user: number for number, user in enumerate(dict.fromkeys(named))}
    return np.fromiter(map(known.__getitem__, named), dtype=np.intp, count=len(named))


def one_for_each(
    owners: NDArray[np.intp],
    single: Callable[[NDArray[np.intp]], FloatArray],
    rows: Callable[[NDArray[np.intp]], NDArray[np.int64]],
    made: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return a row for each person, of that person's records alone, in whatever order they come.

    Parameters
    ----------
    owners : ndarray of int, shape (n,)
        Of :func:`owners_of`.
    single : callable
        What it makes of some records is what stands for who has no other.
    rows : callable
        Of some records, integers (m, d) as :func:`riemdp.kernel.on_grid` returns them.
    made : callable
        Makes rows of the means (k, d) of these, each of its own.

    Returns
    -------
    ndarray, shape (people, ...)
    """
    order = np.argsort(owners, kind="stable")
    alone = np.bincount(owners) == 1
    if alone.all():
        return single(order)
    are_single = alone[owners[order]]  # of the records in order
    ones, others = order[are_single], order[~are_single]
    whole = rows(others)
    parts = (whole[i : i + _ROWS] for i in range(0, len(whole), _ROWS))
    several = made(np.concatenate(list(means_of_owners(parts, owners[others]))) / UNIT)
    found = np.empty((len(alone), *several.shape[1:]))
    found[~alone] = several
    if len(ones):
        found[alone] = single(ones)
    return found


def _means(ball: Ball, points: FloatArray, owners: NDArray[np.intp]) -> FloatArray:
    r"""Return the mean of each person, shape (people, \*point_shape)."""

    def whole(some: FloatArray) -> NDArray[np.int64]:
        return on_grid(ball.unit_coordinates(some))

    def point(vectors: FloatArray) -> FloatArray:
        return ball.project(ball.point(vectors))

    return one_for_each(
        owners,
        lambda rows: of_each(ball, ball.project, points[rows])[0],
        lambda rows: of_each(ball, whole, points[rows])[0],
        lambda means: of_each(ball, point, ball.reach * means, record=public_coordinates(ball))[0],
    )
