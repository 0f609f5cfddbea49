"""Answers to questions: the one place where a statistic gets to see records."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._discreet import discreetly
from riemdp._errors import InvalidParameterError
from riemdp.statistics._data import as_records
from riemdp.statistics._question import Question

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._data import Records
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
    one_by_one : bool, default False
        Whether each record is worked on by itself, so that what becomes of it does not depend on
        its place, nor on how many there are: where :attr:`Neighbours.keeps_places` is false.
    """

    def __init__(self, ball: Ball, data: FloatArray | Records, *, one_by_one: bool = False) -> None:
        records = as_records(data)
        self._one_by_one = one_by_one
        self._ball, self._rows = ball, np.asarray(records.points).view()
        self._rows.flags.writeable = False  # they are the caller's
        self._records = records.with_points(self._rows)
        self._forms: dict[Any, Any] = {}

    def summary(self, question: Question) -> Partial:
        """See :meth:`Summaries.summary`: the one place where a statistic sees any records."""
        kind, rows = type(question), self._records if question.takes else self._rows
        if self._one_by_one and len(rows) > 1:
            return self._merged(question)
        given: Any = rows
        if kind.prepare is Question.prepare:
            return question.summarise(self._ball, question.prepare(self._ball, given))
        if kind not in self._forms:
            self._forms[kind] = question.prepare(self._ball, given)
        return question.summarise(self._ball, self._forms[kind])

    def _merged(self, question: Question) -> Partial:
        """Summarise every record by itself, and put them together in pairs."""
        kind = type(question), question.takes  # of one class some may take more than others
        forms = self._forms.get(kind)
        if forms is None:
            alone = [self._records.at(slice(i, i + 1)) for i in range(len(self._records))]
            given: Any = alone if question.takes else [one.points for one in alone]
            forms = [question.prepare(self._ball, one) for one in given]
            if type(question).prepare is not Question.prepare:  # which may depend on the instance
                self._forms[kind] = forms
        found = [question.summarise(self._ball, one) for one in forms]
        while len(found) > 1:
            pairs = [question.merge(*found[i : i + 2]) for i in range(0, len(found) - 1, 2)]
            found = pairs + found[2 * len(pairs) :]
        return found[0]


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
