"""Answers to queries about records that are read a part at a time."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import riemdp._errors as errors
from riemdp._checks import kind_of
from riemdp._discreet import discreetly, unlogged
from riemdp._errors import InvalidParameterError, RiemdpError, UnsupportedError
from riemdp._part import is_own_code
from riemdp._progress import ticks, uncounted
from riemdp._zarr_arrays import is_zarr, whole
from riemdp.kernel import in_tiles, rows_for
from riemdp.statistics._answer import Prepared, Summaries, merged
from riemdp.statistics._chunks import opened_part
from riemdp.statistics._data import (
    Records,
    as_records,
    digests,
    has_twice,
    has_unknown,
    labels_of,
    without,
)
from riemdp.statistics._frechet_mean import check_shape_of_rows
from riemdp.statistics._users import averages_rows, owners_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from riemdp.spaces import Ball
    from riemdp.statistics._chunks import Chunks, Part
    from riemdp.statistics._neighbours import Neighbours
    from riemdp.statistics._query import Partial, Query
    from riemdp.statistics._statistic import Statistic

#: Bytes of the key of a pass.
_KEY = 16


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is known of a part after it was read, of one size however many records it holds.

    Attributes
    ----------
    number : int
        Of the part.
    count : int
        Number of records in it.
    partial : object
        What the query says of the records, or of those of other parts too, whose own is None then.
    ids : ndarray of void, shape (count,), or None
        Digests of the ids of the records; None where they have none.
    noted : object
        Of :meth:`Statistic.check_chunk`.
    failure : tuple of (str, str), or None
        Class and text of an error, neither of which tells of values. There is nothing else then.
    job : bytes
        Of the pass that it belongs to.
    """

    number: int
    count: int = field(default=0, repr=False)
    partial: Partial = field(default=None, repr=False)
    ids: NDArray[np.void] | None = field(default=None, repr=False)
    noted: Any = field(default=None, repr=False)
    failure: tuple[str, str] | None = None
    job: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, eq=False)
class Summarise:
    """Read, validate, clip and summarise a part: what is sent to where the records are.

    It holds public numbers and releases alone, and where a query takes several passes what the
    last one has found, which is as private as the records are and in no text of it. It never
    raises: an engine that writes down what failed, with what it was called with, has nothing to
    write.

    Attributes
    ----------
    query : Query or None
        None where records are only to be checked.
    statistic : Statistic
        Which says what records it can be computed of.
    ball : Ball
        Public ball of the records.
    sized : bool
        Whether the size of every part is public.
    key : bytes
        For the digests of ids; of this pass alone.
    read : callable or None
        See :class:`Chunks`.
    people : Neighbours or None
        Where nobody has records in two parts, the relation that says what a person counts as.
    """

    query: Query | None
    statistic: Statistic
    ball: Ball
    sized: bool
    key: bytes = field(repr=False)
    read: Callable[[Any], Any] | None = None
    people: Neighbours | None = None

    def __call__(self, task: tuple[int, Part]) -> Outcome:
        """Return what is to be known of a part.

        Parameters
        ----------
        task : tuple of (int, object)
            Number of the part, and the part.

        Returns
        -------
        Outcome
        """
        return replace(self._outcome(*task), job=job_of(self.key))

    def of_several(self, tasks: Iterable[tuple[int, Part]]) -> list[Outcome]:
        """Return what is to be known of several parts: one sum of all, in the last with records.

        Parameters
        ----------
        tasks : iterable of tuple of (int, object)

        Returns
        -------
        list of Outcome
            One of each part.
        """
        found: list[Outcome] = []
        last = None  # the place of the sum
        for task in tasks:
            outcome = self(task)
            if outcome.partial is not None and self.query is not None:
                if last is not None:
                    total = merged(self.query, found[last].partial, outcome.partial)
                    found[last] = replace(found[last], partial=None)
                    outcome = replace(outcome, partial=total)
                last = len(found)
            found.append(outcome)
        return found

    def _outcome(self, number: int, part: Part) -> Outcome:
        try:
            return discreetly("a chunk", lambda: self._found(number, part))
        except RiemdpError as error:
            known = getattr(errors, type(error).__name__, None) is type(error)
            kind = type(error).__name__ if known else RiemdpError.__name__
            return Outcome(number, failure=(kind, str(error)))

    def _found(self, number: int, part: Part) -> Outcome:
        with unlogged():
            records = as_records(opened_part(part))
            if is_zarr(records.points):
                records = records.with_points(whole(records.points, "the array"))
        if len(records) == 0:
            return Outcome(number)
        if self.read is not None:
            records = records.with_points(self._made(self.read, np.asarray(records.points)))
        ids = None
        if records.ids is not None:
            ids = digests(labels_of(records.ids, len(records), "ids"), self.key)
        valid = records.validated(self.ball.manifold, tells_number=self.sized)
        check_shape_of_rows(np.asarray(valid.points), self.ball.manifold)
        if self.people is not None:
            return self._found_people(self.people, number, valid, ids)
        if valid.users is not None:
            raise InvalidParameterError("records that are read in chunks have no users")
        noted = self.statistic.check_chunk(valid)
        partial = None
        if self.query is not None:
            partial = Prepared(self.ball, valid).summary(self.query)
        return Outcome(number, len(valid), partial, ids, noted)

    def _found_people(
        self, people: Neighbours, number: int, valid: Records, ids: NDArray[np.void] | None
    ) -> Outcome:
        """Return the same of units, one of each person in the part."""
        if valid.users is None or ids is not None:
            raise InvalidParameterError(
                "with by_person all chunks say whose each record is, Records(points, users=...), "
                "and have no ids"
            )
        users = np.asarray(valid.users)
        owners = owners_of(users)
        rows = averages_rows(people, self.statistic)
        units = without(valid if rows else people.units(self.ball, valid), people.takes)
        noted, partial = self.statistic.check_chunk(units), None
        if self.query is not None:
            prepared = Prepared(self.ball, units, owners if rows else None)
            partial = prepared.summary(self.query)
        first = np.unique(owners, return_index=True)[1]
        return Outcome(number, len(first), partial, digests(users[first], self.key), noted)

    def _made(self, read: Callable[[Any], Any], points: NDArray[Any]) -> NDArray[Any]:
        """Return points of what a part holds, each by itself where a record may be missing."""
        if self.sized:
            return np.asarray(read(points))
        if is_own_code(read):
            read(points)  # whose errors name rows
            return np.asarray(in_tiles(read, [points], [points[0]], rows_for(points.shape[1:]))[0])
        # copies, since a reader may write the next point to the same memory
        made = [np.array(read(points[i : i + 1])) for i in range(len(points))]
        if any(len(point) != 1 for point in made):
            raise InvalidParameterError("read must return one point for each that a part holds")
        return np.concatenate(made)


def job_of(key: bytes) -> bytes:
    """Return a name of a pass that tells nothing of its key.

    Parameters
    ----------
    key : bytes

    Returns
    -------
    bytes
    """
    return hashlib.blake2b(b"job", digest_size=_KEY, key=key).digest()


class Streamed(Summaries):
    """Records in chunks, of which nothing but sums is kept; see :class:`Prepared`.

    Parameters
    ----------
    ball : Ball
    chunks : Chunks
    statistic : Statistic
    n : int or None
        Public number of records; None where it is private.
    keeps_places : bool
        Whether neighbours have the records that they share at the same places.
    people : Neighbours, optional
        The relation, where people are counted in place of records: :attr:`Chunks.by_person`.
    listed : sequence of int and str, optional
        Ids of all people, where these are public.
    """

    def __init__(
        self,
        ball: Ball,
        chunks: Chunks,
        statistic: Statistic,
        n: int | None,
        *,
        keeps_places: bool,
        people: Neighbours | None = None,
        listed: Sequence[int | str] | None = None,
    ) -> None:
        self._ball, self._chunks, self._statistic, self._n = ball, chunks, statistic, n
        self._people, self._listed = people, listed
        #: Whether the size of every part is public.
        self._fixed = n is not None and chunks.sizes is not None
        self._sized = keeps_places and self._fixed

    def summary(self, query: Query) -> Partial:
        """Read all chunks once, and add up what the query needs of them.

        Parameters
        ----------
        query : Query

        Returns
        -------
        object

        Raises
        ------
        UnsupportedError
            If it needs all records at once.
        RiemdpError
            If a record is not valid, an id comes twice, or there are more records than n.
        """
        if not query.adds(self._ball):
            raise UnsupportedError("this query needs all records at once")
        return self._pass(query)

    def found(self, query: Query, tol: float) -> tuple[Query, Partial]:
        """Read all chunks as often as the query needs; see :meth:`Summaries.found`."""
        last = query
        if not query.adds(self._ball) and (step := query.in_passes(self._ball, tol)) is not None:
            for _ in range(step.left - 1):
                step = step.after(self._ball, self._pass(step))
            last = step
        return last, self.summary(last)

    def check(self) -> None:
        """Read all chunks once, and check records alone; raises what :meth:`summary` does."""
        self._pass(None)

    def _pass(self, query: Query | None) -> Partial:
        key = secrets.token_bytes(_KEY)
        function = Summarise(
            query,
            self._statistic,
            self._ball,
            self._sized,
            key,
            self._chunks.read,
            self._people,
        )
        tasks = _Counted(self._chunks.tasks())
        job, total, came, with_ids = job_of(key), None, 0, 0
        numbers: set[int] = set()
        ids: list[NDArray[np.void]] = []
        noted: list[Any] = []
        with uncounted(not self._fixed):  # how many parts there are may be private
            parts = self._chunks.mapper(function, tasks)
            try:
                for outcome in ticks(parts, self._chunks.number, "parts"):
                    self._check(outcome, numbers, job)
                    if query is not None and outcome.partial is not None:
                        total = merged(query, total, outcome.partial)
                    if outcome.count == 0:
                        continue
                    came += outcome.count
                    if self._n is not None and came > self._n:
                        what = "records than n" if self._people is None else "people than people"
                        raise InvalidParameterError(f"there are more {what} = {self._n}")
                    if outcome.ids is not None:
                        ids.append(outcome.ids)
                        with_ids += outcome.count
                    noted.append(outcome.noted)
            finally:  # workers do not wait until the last error is forgotten
                getattr(parts, "close", lambda: None)()
        self._check_numbers(numbers, tasks.total())
        self._check_ids(ids, key, came=came, with_ids=with_ids)
        if query is None:
            self._extras(self._statistic.takes, came)
        else:
            total = self._filled(query, total, came)
        self._statistic.check_chunks(noted)
        return total

    def _check(self, outcome: object, numbers: set[int], job: bytes) -> None:
        """Raise the error of a part, or one of its number or its size."""
        if not isinstance(outcome, Outcome):  # such as a future
            raise InvalidParameterError(
                "a mapper must hand in what the function returned for each task, got "
                f"{kind_of(outcome)}"
            )
        if outcome.job != job:  # such as a file that another one has left
            raise RiemdpError(
                f"chunk {outcome.number} was counted for another pass; a mapper must hand in what "
                "the function returned that it was given"
            )
        if outcome.number in numbers:
            raise RiemdpError(
                f"chunk {outcome.number} was counted twice; a mapper must hand in one outcome of "
                "each task"
            )
        numbers.add(outcome.number)
        stated = self._chunks.number if self._fixed else None
        if stated is not None and outcome.number >= stated:  # there may be no end of them
            raise _other_number(stated)
        rows = self._chunks.rows(outcome.number) if self._fixed else None
        where = f"chunk {outcome.number}" + (f", from row {rows[0]}" if rows else "")
        if outcome.failure is not None:
            name, text = outcome.failure
            raise getattr(errors, name)(f"{where}: {text}")
        if rows is not None and outcome.count != rows[1] - rows[0]:
            raise InvalidParameterError(
                f"{where}: its size is not the {rows[1] - rows[0]} that was stated; leave out "
                "sizes where records may be missing"
            )

    def _check_numbers(self, numbers: set[int], total: int) -> None:
        """Refuse outcomes of which some are missing, and a stream that has been read before."""
        stated = self._chunks.number if self._fixed else None
        if stated not in (None, total):
            raise _other_number(stated)
        if numbers != set(range(total)):
            raise RiemdpError("not all chunks were counted; a mapper must hand in all outcomes")
        if not numbers and self._n is not None and self._people is None:
            raise InvalidParameterError(
                "there were no chunks at all; was the iterator read before?"
            )

    def _check_ids(
        self, ids: list[NDArray[np.void]], key: bytes, *, came: int, with_ids: int
    ) -> None:
        manifest: Any = self._chunks.manifest
        if with_ids != came and (ids or manifest is not None):
            raise InvalidParameterError("either all records have ids, or none; with a manifest all")
        if has_twice(ids):
            raise InvalidParameterError(
                "an id comes twice: no record may be counted twice"
                if self._people is None
                else "somebody has records in two chunks, and with by_person nobody may"
            )
        if self._listed is not None and has_unknown(ids, digests(self._listed, key)):
            raise InvalidParameterError(
                "there is a record of nobody on the public list that people=... is"
            )
        if manifest is not None and has_unknown(ids, digests(manifest, key)):
            raise InvalidParameterError("there is an id that is not in the manifest")

    def _filled(self, query: Query, total: Partial, came: int) -> Partial:
        """Put the centre in the place of records that did not come."""
        missing = 0 if self._n is None else self._n - came
        if missing == 0:
            return self._of_none(query) if total is None else total
        extras = self._extras(query.takes, came)
        records = Records(self._ball.center[None], **extras)
        center = Prepared(self._ball, records).summary(query)
        return merged(query, total, _times(query.merge, center, missing))

    def _extras(self, takes: Sequence[str], came: int) -> dict[str, Any]:
        """Return what stands beside the centre for who has no record, or for a record.

        Refused is that records do not come where the centre cannot stand for all of one.
        """
        if self._people is not None:
            known = self._statistic.absent() if self._n is not None else {}
            return {name: [known[name]] for name in takes if name in known}
        if takes and self._n is not None and came < self._n:
            raise InvalidParameterError(
                f"there are fewer records than n = {self._n}, and nobody knows the "
                f"{' or '.join(takes)} of those that are missing"
            )
        return {}

    def _of_none(self, query: Query) -> Partial:
        extras: dict[str, Any] = dict.fromkeys(query.takes, np.empty(0))
        points = np.empty((0, *self._ball.manifold.point_shape))
        return Prepared(self._ball, Records(points, **extras)).summary(query)


class _Counted:
    """An iterator that knows how many there were."""

    def __init__(self, tasks: Iterator[Any]) -> None:
        self._tasks, self._total = tasks, 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        with unlogged():  # an iterator may open files
            found = next(self._tasks)
        self._total += 1
        return found

    def total(self) -> int:
        """Return how many there are, with those that nobody asked for."""
        return self._total + sum(1 for _ in self._tasks)


def _other_number(stated: int | None) -> InvalidParameterError:
    return InvalidParameterError(f"there are not {stated} chunks, as many as were stated")


def _times(merge: Callable[[Partial, Partial], Partial], one: Partial, times: int) -> Partial:
    """Put a partial together with itself, so that it counts so many times."""
    found = None
    while times:
        if times % 2:
            found = one if found is None else merge(found, one)
        times //= 2
        one = merge(one, one) if times else one
    return found
