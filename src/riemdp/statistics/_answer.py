"""Answers to queries: the one place where a statistic gets to see records."""

from __future__ import annotations

import copy
import functools
import sys
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._discreet import discreetly
from riemdp._part import is_own_code, is_own_throughout
from riemdp.kernel import (
    computed,
    has_form,
    in_tiles,
    joined,
    means_of_owners,
    places_are_alike,
    public_row,
    rows_for,
    taken,
    tiles,
)
from riemdp.statistics._data import Records, as_records
from riemdp.statistics._query import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._query import Partial


class Summaries(ABC):
    """Records of which queries are told no more than they ask for."""

    @abstractmethod
    def summary(self, query: Query) -> Partial:
        """Clip records, and summarise them.

        Parameters
        ----------
        query : Query

        Returns
        -------
        object
            What :meth:`Query.added` or :meth:`Query.merge` returns.
        """

    def found(self, query: Query, tol: float) -> tuple[Query, Partial]:  # noqa: ARG002
        """Return what is known of the records in the end, and the query that answers of it.

        Parameters
        ----------
        query : Query
        tol : float
            Public tolerance of the answer.

        Returns
        -------
        query : Query
            By default the same; the last pass, where it takes several.
        partial : object
        """
        return query, self.summary(query)


class Prepared(Summaries):
    r"""Records in the forms that queries take: what a form does to them, it does once.

    Parameters
    ----------
    ball : Ball
    data : ndarray, shape (n, \*point_shape), or Records
        Valid points, inside or outside; with what belongs to them, :meth:`Records.validated`.
    owners : ndarray of int, shape (n,), optional
        Whose each record is, from 0, where rows of people are averaged: :attr:`Statistic.of`.
    """

    def __init__(
        self, ball: Ball, data: FloatArray | Records, owners: NDArray[np.intp] | None = None
    ) -> None:
        self._ball, self._records, self._owners = ball, as_records(data), owners
        if owners is not None:  # one person after the other
            order = np.argsort(owners, kind="stable")
            self._owners, self._records = owners[order], self._records.at(order)
        self._forms: dict[Any, Any] = {}
        self._alike: dict[Any, int] = {}

    def summary(self, query: Query) -> Partial:
        """See :meth:`Summaries.summary`: the one place where a statistic sees any records.

        Records are worked on in tiles (:mod:`riemdp.kernel`): what becomes of one depends neither
        on the others, nor on how many there are. Code of other packages is given one at a time.
        """
        found: Partial = None
        parts: list[Any] = []
        entries = 0
        adds = query.adds(self._ball)
        for part in self._of_units(query):
            if adds and entries >= _ENTRIES:
                found = merged(query, found, query.added(self._ball, joined(parts)))
                parts, entries = [], 0
            parts.append(part)
            entries += _entries(part)
        return merged(query, found, query.added(self._ball, joined(parts)))

    def _of_units(self, query: Query) -> Iterator[Any]:
        """Yield rows of some units after the other: of records, or of people."""
        rows = self._rows(query, self._rows_of_a_tile(query))
        if self._owners is None:
            return rows
        inside = (query.guarded(self._ball, part) for part in rows)
        return means_of_owners(inside, self._owners)

    def _rows(self, query: Query, rows: int) -> Iterator[Any]:
        """Yield rows of the records of one tile after the other."""
        arrays, fill = self._arrays(query), _fill(query, self._ball.center)
        anew = functools.partial(self._seen, query, None)
        public = public_row(anew, arrays, fill, rows)
        for place, (tile, number) in enumerate(tiles(arrays, fill, rows)):
            try:
                found = self._seen(query, (rows, place), *tile)
            except Exception:  # of a record
                found, _ = computed(anew, tile, fill)
            yield taken(found if has_form(found, public) else public, slice(number))

    def _seen(self, query: Query, place: Any, *tile: Any) -> Any:
        """Return rows of a tile, which is prepared once if it has a place."""
        kind = query.form, query.takes, place
        form = None if place is None else self._forms.get(kind)
        if form is None:
            form = query.prepare(self._ball, _as_given(query, tile))
        if place is not None and type(query).prepare is not Query.prepare:
            self._forms[kind] = copy.deepcopy(form)  # the memory may be written to again
        return query.rows(self._ball, form)

    def _arrays(self, query: Query) -> list[Any]:
        kept = {"labels": object, "users": object}
        return [
            np.asarray(getattr(self._records, name), dtype=kept.get(name, np.float64))
            for name in _names(query)
        ]

    def _rows_of_a_tile(self, query: Query) -> int:
        """Return one of code of other packages, and where places are not alike."""
        # of each query: one of a class of our own may hold what another package wrote
        if not (is_own_throughout(query, self._ball) and is_own_code(*query.functions)):
            return 1
        kind = query.form, query.takes, *(getattr(f, "func", f) for f in query.functions)
        if kind not in self._alike:
            rows = rows_for(self._ball.manifold.point_shape)
            record = _fill(query, self._ball.point(public_coordinates(self._ball)))
            alike = places_are_alike(functools.partial(self._seen, query, None), record, rows)
            self._alike[kind] = rows if alike else 1
        return self._alike[kind]


def public_coordinates(ball: Ball) -> FloatArray:
    """Return those of a public point in the ball, none of which is special."""
    turned = np.cos(np.arange(ball.manifold.dim) + 1.0)
    return np.asarray(0.5 * ball.reach * turned / np.linalg.norm(turned))


def of_each(
    ball: Ball,
    function: Callable[..., Any],
    *records: FloatArray,
    record: FloatArray | None = None,
    rows: int | None = None,
) -> tuple[Any, NDArray[np.bool_]]:
    """Return what a function makes of records, each by itself: in tiles (:mod:`riemdp.kernel`).

    On spaces of other packages, and where places are not alike, of one at a time.

    Parameters
    ----------
    ball : Ball
        Public.
    function : callable
        Of this library, of some records in arrays; see :func:`riemdp.kernel.in_tiles`.
    *records : ndarray, shape (n, ...)
        Valid points, or what else the function takes.
    record : ndarray, shape (...), optional
        A public one; by default a point, and the centre where the function raises.
    rows : int, optional
        Of a tile at most: one record alone takes as long as so many.

    Returns
    -------
    found : ndarray, or nested tuples of them, shape (n, ...)
    lost : ndarray of bool, shape (n,)
        For which records it raises.
    """
    size = rows_for(ball.manifold.point_shape)
    size = min(size, rows or size) if is_own_throughout(ball) else 1
    fill = ball.center if record is None else record
    if record is None:
        record = ball.center if size == 1 else ball.point(public_coordinates(ball))
    several = len(records)
    size = size if places_are_alike(function, [record] * several, size) else 1
    return in_tiles(function, records, [fill] * several, size)


#: What stands beside a public record, where a tile is filled with it.
_BESIDE = {"labels": 0, "covariates": 0.0, "weights": 0.0, "users": 0}
#: Entries of rows that are added at once.
_ENTRIES = 2**17


def _names(query: Query) -> tuple[str, ...]:
    return ("points", *query.takes)


def _fill(query: Query, point: FloatArray) -> list[Any]:
    return [point, *(_BESIDE[name] for name in query.takes)]


def _as_given(query: Query, tile: Any) -> Any:
    return Records(**dict(zip(_names(query), tile, strict=True))) if query.takes else tile[0]


def _entries(rows: Any) -> int:
    """Count entries."""
    return sum(map(_entries, rows)) if isinstance(rows, tuple) else int(np.size(rows))


def merged(query: Query, total: Partial, partial: Partial) -> Partial:
    """Put a summary to those before, of which there may be none yet.

    Parameters
    ----------
    query : Query
    total : object, or None
    partial : object

    Returns
    -------
    object
    """
    return partial if total is None else query.merge(total, partial)


def answer(
    query: Query, ball: Ball, data: FloatArray | Records | Summaries, tol: float
) -> tuple[Fraction, ...]:
    r"""Clip records to a ball, and answer.

    Parameters
    ----------
    query : Query
    ball : Ball
    data : ndarray, shape (n, \*point_shape), Records or Summaries
        Valid points, inside or outside.
    tol : float
        Public tolerance.

    Returns
    -------
    tuple of Fraction, length dim
        Normal coordinates about the centre of the ball of answers. Zero if they are not finite.

    Raises
    ------
    ConvergenceError
        If the tolerance cannot be certified.
    RiemdpError
        In place of any other error of the query.
    """

    def computed() -> tuple[Fraction, ...]:
        seen = data if isinstance(data, Summaries) else Prepared(ball, data)
        last, partial = seen.found(query, tol)
        return _rational(last.finish(ball, partial, tol))

    return discreetly(type(query).__name__, computed)


#: Coordinates beyond it are not finite in float64.
_GREATEST = Fraction(sys.float_info.max)
#: A quotient of integers whose lengths differ by no more bits is less.
_LONGEST = 1022


def _rational(answered: tuple[Fraction, ...] | FloatArray) -> tuple[Fraction, ...]:
    """Return coordinates as rational numbers, zeros for some beyond float64."""
    if isinstance(answered, np.ndarray):
        finite = np.isfinite(answered).all()
        return tuple(map(Fraction, answered.tolist() if finite else [0] * len(answered)))
    # lengths in bits bound the size, and cost less than comparing
    lengths = (x.numerator.bit_length() - x.denominator.bit_length() for x in answered)
    if max(lengths, default=0) > _LONGEST and any(abs(x) > _GREATEST for x in answered):
        return (Fraction(0),) * len(answered)
    return answered
