"""Answers to questions: the one place where a statistic gets to see records."""

from __future__ import annotations

import copy
import functools
import sys
from abc import ABC, abstractmethod
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._discreet import discreetly
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._part import is_own_throughout
from riemdp.kernel import (
    computed,
    has_form,
    joined,
    means_of_owners,
    places_are_alike,
    public_row,
    rows_for,
    taken,
    tiles,
)
from riemdp.statistics._data import Records, as_records
from riemdp.statistics._question import Question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._question import Partial


class Summaries(ABC):
    """Records of which questions are told no more than they ask for."""

    @abstractmethod
    def summary(self, question: Question) -> Partial:
        """Clip records, and summarise them.

        Parameters
        ----------
        question : Question

        Returns
        -------
        object
            What :meth:`Question.summarise` or :meth:`Question.merge` returns.
        """

    def found(self, question: Question, tol: float) -> tuple[Question, Partial]:  # noqa: ARG002
        """Return what is known of the records in the end, and the question that answers of it.

        Parameters
        ----------
        question : Question
        tol : float
            Public tolerance of the answer.

        Returns
        -------
        question : Question
            By default the same; the last pass, where it takes several.
        partial : object
        """
        return question, self.summary(question)


class Prepared(Summaries):
    r"""Records in the forms that questions take: what a class does to them, it does once.

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

    def summary(self, question: Question) -> Partial:
        """See :meth:`Summaries.summary`: the one place where a statistic sees any records.

        Records are worked on in tiles (:mod:`riemdp.kernel`): what becomes of one depends neither
        on the others, nor on how many there are. Code of other packages is given one at a time.
        """
        if type(question).summarise is not Question.summarise:
            return self._merged(question)
        found: Partial = None
        parts: list[Any] = []
        entries = 0
        adds = question.adds(self._ball)
        for part in self._of_units(question):
            if adds and entries >= _ENTRIES:
                found = merged(question, found, question.added(self._ball, joined(parts)))
                parts, entries = [], 0
            parts.append(part)
            entries += _entries(part)
        return merged(question, found, question.added(self._ball, joined(parts)))

    def _of_units(self, question: Question) -> Iterator[Any]:
        """Yield rows of some units after the other: of records, or of people."""
        rows = self._rows(question, self._rows_of_a_tile(question))
        if self._owners is None:
            return rows
        inside = (question.guarded(self._ball, part) for part in rows)
        return means_of_owners(inside, self._owners)

    def _rows(self, question: Question, rows: int) -> Iterator[Any]:
        """Yield rows of the records of one tile after the other."""
        arrays, fill = self._arrays(question), _fill(question, self._ball.center)
        anew = functools.partial(self._seen, question, None)
        public = public_row(anew, arrays, fill, rows)
        for place, (tile, number) in enumerate(tiles(arrays, fill, rows)):
            try:
                found = self._seen(question, (rows, place), *tile)
            except Exception:  # of a record
                found, _ = computed(anew, tile, fill)
            yield taken(found if has_form(found, public) else public, slice(number))

    def _seen(self, question: Question, place: Any, *tile: Any) -> Any:
        """Return rows of a tile, which is prepared once if it has a place."""
        # of one class some may take more than others
        kind = _kinds(question), question.takes, place
        form = None if place is None else self._forms.get(kind)
        if form is None:
            form = question.prepare(self._ball, _as_given(question, tile))
        if place is not None and type(question).prepare is not Question.prepare:
            self._forms[kind] = copy.deepcopy(form)  # the memory may be written to again
        return question.rows(self._ball, form)

    def _arrays(self, question: Question) -> list[Any]:
        kept = {"labels": object, "users": object}
        return [
            np.asarray(getattr(self._records, name), dtype=kept.get(name, np.float64))
            for name in _names(question)
        ]

    def _rows_of_a_tile(self, question: Question) -> int:
        """Return one of code of other packages, and where places are not alike."""
        # of each question: one of a class of our own may hold one of another package
        if not is_own_throughout(question, self._ball):
            return 1
        kind = _kinds(question), question.takes
        if kind not in self._alike:
            rows = rows_for(self._ball.manifold.point_shape)
            record = _fill(question, self._ball.point(public_coordinates(self._ball)))
            alike = places_are_alike(functools.partial(self._seen, question, None), record, rows)
            self._alike[kind] = rows if alike else 1
        return self._alike[kind]

    def _merged(self, question: Question) -> Partial:
        """Summarise every record by itself, and put them together in pairs."""
        if self._owners is not None:
            raise UnsupportedError(f"{type(question).__name__} has no rows that people could have")
        arrays, fill = self._arrays(question), _fill(question, self._ball.center)
        public, _ = next(tiles([each[:0] for each in arrays], fill, 1))

        def summary(tile: Any) -> Partial:
            given = question.prepare(self._ball, _as_given(question, tile))
            return copy.deepcopy(question.summarise(self._ball, given))

        found = []
        for tile, number in tiles(arrays, fill, 1):
            try:
                found.append(summary(tuple(each[:number] for each in tile)))
            except Exception:  # of a record, if not of the public one
                found.append(summary(public))
        while len(found) > 1:
            pairs = [question.merge(*found[i : i + 2]) for i in range(0, len(found) - 1, 2)]
            found = pairs + found[2 * len(pairs) :]
        return found[0]


def public_coordinates(ball: Ball) -> FloatArray:
    """Return those of a public point in the ball, none of which is special."""
    turned = np.cos(np.arange(ball.manifold.dim) + 1.0)
    return np.asarray(0.5 * ball.reach * turned / np.linalg.norm(turned))


#: What stands beside a public record, where a tile is filled with it.
_BESIDE = {"labels": 0, "covariates": 0.0, "weights": 0.0, "users": 0}
#: Entries of rows that are added at once.
_ENTRIES = 2**17


def _kinds(question: object) -> tuple[type, ...]:
    """Return the class of a question, and that of the one inside it."""
    inner = getattr(question, "question", None)
    return (type(question), *(() if inner is None else _kinds(inner)))


def _names(question: Question) -> tuple[str, ...]:
    return ("points", *question.takes)


def _fill(question: Question, point: FloatArray) -> list[Any]:
    return [point, *(_BESIDE[name] for name in question.takes)]


def _as_given(question: Question, tile: Any) -> Any:
    return Records(**dict(zip(_names(question), tile, strict=True))) if question.takes else tile[0]


def _entries(rows: Any) -> int:
    """Count entries."""
    return sum(map(_entries, rows)) if isinstance(rows, tuple) else int(np.size(rows))


def merged(question: Question, total: Partial, partial: Partial) -> Partial:
    """Put a summary to those before, of which there may be none yet.

    Parameters
    ----------
    question : Question
    total : object, or None
    partial : object

    Returns
    -------
    object
    """
    return partial if total is None else question.merge(total, partial)


def answer(
    question: Question, ball: Ball, data: FloatArray | Records | Summaries, tol: float
) -> tuple[Fraction, ...]:
    r"""Clip records to a ball, and answer.

    Parameters
    ----------
    question : Question
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
    InvalidParameterError
        If the question answers with something else.
    RiemdpError
        In place of any other error of the question.
    """

    def computed() -> tuple[Fraction, ...] | None:
        seen = data if isinstance(data, Summaries) else Prepared(ball, data)
        last, partial = seen.found(question, tol)
        return _rational(last.finish(ball, partial, tol))

    found = discreetly(type(question).__name__, computed)
    if found is None:  # what it is instead may tell of the data
        raise InvalidParameterError(
            f"{type(question).__name__}.finish must return real coordinates of shape (dim,)"
        )
    return found


#: Coordinates beyond it are not finite in float64.
_GREATEST = Fraction(sys.float_info.max)
#: A quotient of integers whose lengths differ by no more bits is less.
_LONGEST = 1022


def _rational(answered: object) -> tuple[Fraction, ...] | None:
    """Return coordinates as rational numbers, zeros for some beyond float64; None for others."""
    if not isinstance(answered, tuple) or not all(isinstance(x, Rational) for x in answered):
        found = np.asarray(answered)
        if found.ndim != 1 or found.dtype.kind not in "fiu":
            return None
        if not np.isfinite(found.astype(np.float64)).all():
            return (Fraction(0),) * len(found)
        return tuple(map(Fraction, found.astype(np.float64).tolist()))
    own = tuple(
        x if type(x) is Fraction else Fraction(int(x.numerator), int(x.denominator))
        for x in answered
    )
    # lengths in bits bound the size, and cost less than comparing
    longest = max((x.numerator.bit_length() - x.denominator.bit_length() for x in own), default=0)
    if longest > _LONGEST and any(abs(x) > _GREATEST for x in own):
        return (Fraction(0),) * len(own)
    return own
