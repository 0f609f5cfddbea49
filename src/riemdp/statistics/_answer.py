"""Answers to questions: the one place where a statistic gets to see records."""

from __future__ import annotations

import sys
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING

import numpy as np

from riemdp._discreet import discreetly
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball
    from riemdp.statistics._statistic import Partial, Question

    FloatArray = NDArray[np.float64]


def answer(question: Question, ball: Ball, data: FloatArray, tol: float) -> FloatArray:
    r"""Clip records to a ball, and answer.

    Parameters
    ----------
    question : Question
    ball : Ball
    data : ndarray, shape (n, \*point_shape)
        Valid points, inside or outside.
    tol : float
        Public tolerance.

    Returns
    -------
    ndarray, shape (dim,)
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

    def computed() -> FloatArray | None:
        return _floats(question.finish(ball, _summary(question, ball, data), tol))

    return _answered(question, discreetly(type(question).__name__, computed))


def exact_answer(
    question: Question, ball: Ball, data: FloatArray, tol: float
) -> tuple[Fraction, ...]:
    r"""Clip records to a ball, and answer with rational numbers; see :func:`answer`.

    Parameters
    ----------
    question : Question
    ball : Ball
    data : ndarray, shape (n, \*point_shape)
    tol : float

    Returns
    -------
    tuple of Fraction, length dim
    """

    def computed() -> FloatArray | tuple[Fraction, ...] | None:
        partial = _summary(question, ball, data)
        exact = question.finish_exactly(ball, partial, tol)
        return _floats(question.finish(ball, partial, tol)) if exact is None else _rational(exact)

    found = discreetly(type(question).__name__, computed)
    if isinstance(found, tuple):
        return found
    return tuple(map(Fraction, _answered(question, found).tolist()))


#: Coordinates beyond it are not finite in float64.
_GREATEST = Fraction(sys.float_info.max)


def _rational(answered: object) -> FloatArray | tuple[Fraction, ...] | None:
    """Return what is a tuple of rational numbers as it is, and anything else as floats."""
    if not (isinstance(answered, tuple) and all(isinstance(x, Rational) for x in answered)):
        return _floats(answered)
    if any(abs(x) > _GREATEST for x in answered):
        return np.full(len(answered), np.inf)
    return tuple(Fraction(int(x.numerator), int(x.denominator)) for x in answered)


def _summary(question: Question, ball: Ball, data: FloatArray) -> Partial:
    """Clip records, and summarise them: the one place where a statistic gets to see any."""
    rows = data.view()
    rows.flags.writeable = False  # they are the caller's
    return question.summarise(ball, rows if question.clips else ball.project(rows))


def _floats(answered: object) -> FloatArray | None:
    """Return float64 coordinates, None for what is something else."""
    found = np.asarray(answered)
    return found.astype(np.float64) if found.ndim == 1 and found.dtype.kind in "fiu" else None


def _answered(question: Question, found: FloatArray | None) -> FloatArray:
    """Return an answer, zero if it is not finite."""
    if found is None:  # what it is instead may tell of the data
        raise InvalidParameterError(
            f"{type(question).__name__}.finish must return real coordinates of shape (dim,)"
        )
    return found if np.isfinite(found).all() else np.zeros_like(found)
