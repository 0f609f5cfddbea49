"""Certified descent in passes over records, on curved spaces and products."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import ConvergenceError
from riemdp.kernel import added_products, sum_of
from riemdp.statistics._query import Pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._footpoint import Footpoint
    from riemdp.statistics._query import Partial
    from riemdp.statistics.curved._mean_solver import ExactMean


# Means of curved spaces in a public number of passes over records that come a part at a time.
#
# Each pass adds up, as integers, what records say of the gradient at a point, and moves the point
# by a public multiple of it. That so many passes are enough is proved beforehand, for all records
# of a ball; that the last point is near enough is certified afterwards, in the last pass.

#: Passes that are made at most; a ball that needs more is refused.
_MOST = 200
#: Share of the radius by which rounding may add to the distances that Hessians are bounded at.
_ROOM = 2.0**-20
#: What a sum or product of a few floats is raised by.
_UP = 1.0 + 1e-12
#: Share of the tolerance that is left free.
_USED = 0.99


class Descent(ABC):
    """Steps against the gradient from the centre of a ball, for one ball and one tolerance.

    All of it is public: lengths and number of steps are the same for all records.

    Attributes
    ----------
    steps : tuple of float
        What gradients are multiplied by; there is one pass more, which certifies.
    """

    steps: tuple[float, ...]

    @abstractmethod
    def start(self) -> FloatArray:
        """Coordinates ``(dim,)`` of the first point, the centre."""

    def view(self, point: FloatArray) -> Any:
        """Return what records are compared with at a point; by default the point.

        Parameters
        ----------
        point : ndarray, shape (dim,)
            Normal coordinates about the centre.
        """
        return point

    @abstractmethod
    def seen(
        self, records: Partial, view: Any, whole: NDArray[np.int64] | None = None, *, last: bool
    ) -> Partial:
        """Add up what records say of the gradient, each by itself.

        Parameters
        ----------
        records : object
            Of :meth:`ExactMean.summed`; with weights of :meth:`ExactMean.rows`.
        view : object
            Of :meth:`view`.
        whole : ndarray of int, shape (m,), optional
            Weights, positive and at most ``2^40``. None where all count alike.
        last : bool
            Whether the point is to be certified, and not to be moved.

        Returns
        -------
        object
            Of one size; those of two chunks are added, in whatever order, in tuples each by itself.
        """

    @abstractmethod
    def moved(self, point: FloatArray, partial: Partial, number: int) -> FloatArray:
        """Return the next point, in the ball.

        Parameters
        ----------
        point : ndarray, shape (dim,)
        partial : object
            Of :meth:`seen`, of all records.
        number : int
            Of the step, from 0.
        """

    @abstractmethod
    def certified(
        self, point: FloatArray, view: Any, partial: Partial, tol: float
    ) -> tuple[Fraction, ...]:
        """Return the coordinates of the last point.

        Raises
        ------
        ConvergenceError
            If it is not proved to lie within ``tol`` of the mean.
        """


@dataclass(frozen=True, eq=False)
class DescentPass(Pass):
    """One pass. Where it looks from is as private as the records, and in no text.

    Attributes
    ----------
    query : Footpoint
        Which clips records.
    descent : Descent
    number : int
        From 0.
    point : ndarray, shape (dim,)
    view : object
        Of :meth:`Descent.view`.
    """

    clips = True

    query: Footpoint
    descent: Descent
    number: int
    point: FloatArray = field(repr=False)
    view: Any = field(repr=False)

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the mean takes."""
        return self.query.takes

    @property
    def left(self) -> int:
        """See :attr:`Pass.left`."""
        return len(self.descent.steps) + 1 - self.number

    def adds(self, ball: Ball) -> bool:  # noqa: ARG002
        """Integers alone; see :meth:`Query.adds`."""
        return True

    def rows(self, ball: Ball, records: Any) -> Partial:
        """Clip; see :meth:`Query.rows`."""
        return self.query.rows(ball, records)

    def added(self, ball: Ball, rows: Partial) -> Partial:
        """Add up what they say of the gradient; see :meth:`Query.added`."""
        given, whole = self.query.terms(ball, rows)
        return self.descent.seen(given, self.view, whole, last=self.left == 1)

    def after(self, ball: Ball, partial: Partial) -> DescentPass:  # noqa: ARG002
        """Move; see :meth:`Pass.after`."""
        point = self.descent.moved(self.point, partial, self.number)
        return _pass(self.query, self.descent, self.number + 1, point)

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:  # noqa: ARG002
        """Certify; see :meth:`Query.finish`."""
        return self.descent.certified(self.point, self.view, partial, tol)


def descent_of(query: Footpoint, descent: Descent) -> DescentPass:
    """Return the first pass, from the centre.

    Parameters
    ----------
    query : Footpoint
    descent : Descent

    Returns
    -------
    DescentPass
    """
    return _pass(query, descent, 0, descent.start())


def _pass(query: Footpoint, descent: Descent, number: int, point: FloatArray) -> DescentPass:
    return DescentPass(query, descent, number, point, descent.view(point))


def hadamard_steps(
    k: float,
    radius: float,
    tol: float,
    *,
    error: float,
    moving: Callable[[float], float],
    own: float,
) -> tuple[float, ...] | None:
    """Return steps that end within a tolerance where no curvature is positive.

    Parameters
    ----------
    k : float
        Curvatures are ``-k^2`` at least.
    radius : float
        Of the ball that holds the records.
    tol : float
    error : float
        How far the gradient may be from what is computed of it.
    moving : callable
        Returns how far a point may be from where a computed step takes it, of at most this length.
    own : float
        What the last bound may exceed the norm of the gradient by.

    Returns
    -------
    tuple of float, or None
        None if rounding may keep points from coming so near, or it takes too many steps.

    References
    ----------
    docs/proofs/streamed-frechet-means.md, "No positive curvature"
    """
    largest = _coth(k * radius * (1.0 + _ROOM))
    steps: list[float] = []
    far, moved = radius, 0.0
    while not (largest * far + own) * _UP <= _USED * tol:
        if len(steps) >= _MOST - 1:
            return None
        bent = _coth(k * far)
        step = 2.0 / (bent * (largest + 1.0))
        rate = math.sqrt(1.0 - 4.0 * largest / (bent * (largest + 1.0) ** 2))
        length = 2.0 * (far + error)
        lost = _sinhc(k * length) * step * error + moving(length)
        far, moved = (rate * far + lost) * _UP, moved + lost
        steps.append(step)
    return tuple(steps) if moved <= _ROOM * radius / 8.0 else None


def spherical_steps(
    k: float, radius: float, tol: float, *, error: float, moving: float, own: tuple[float, float]
) -> tuple[float, ...] | None:
    """Return steps that end within a tolerance on a sphere of curvature ``k^2``.

    Parameters
    ----------
    k, radius, tol, error : float
        See :func:`hadamard_steps`.
    moving : float
        How far a point may be from where a computed step takes it.
    own : tuple of float
        What the last bound's gradient may exceed the true one by, and its average of ``a`` be less.

    Returns
    -------
    tuple of float, or None
        None too where the Hessian is not known to be positive.

    References
    ----------
    docs/proofs/streamed-frechet-means.md, "Spheres"
    """
    least = least_hessian(k * radius * (1.0 + _ROOM))
    if not least > 0.0:
        return None
    step, rate = 2.0 / (1.0 + least), (1.0 - least) / (1.0 + least)
    wide = k * (2.0 * radius + tol)
    bend = (wide - math.sin(wide) * math.cos(wide)) / math.sin(wide) ** 2
    certified = least - k * tol * bend - own[1]
    steps: list[float] = []
    far, moved = radius, 0.0
    while not (far + own[0]) * _UP <= _USED * tol * certified:
        if len(steps) >= _MOST - 1:
            return None
        lost = step * error + moving
        far, moved = (rate * far + lost) * _UP, moved + lost
        steps.append(step)
    return tuple(steps) if moved <= _ROOM * radius / 8.0 else None


def least_hessian(x: float) -> float:
    """Bound the Hessian on a sphere from below where the functional is no more than at the centre.

    Parameters
    ----------
    x : float
        Radius of the ball times the root of the curvature.

    Returns
    -------
    float
        Not positive where nothing is known.
    """
    if not 0.0 < 2.0 * x < math.pi:
        return 0.0
    return 1.0 - (1.0 - 2.0 * x / math.tan(2.0 * x)) / 4.0 - 1e-12


def _coth(x: float) -> float:
    """``x coth x``, rounded up."""
    return (x / math.tanh(x) if x > 1e-9 else 1.0) * _UP


def _sinhc(x: float) -> float:
    """``sinh(x) / x``, rounded up; inf far beyond any use."""
    if x > 700.0:
        return math.inf
    return (math.sinh(x) / x if x > 1e-9 else 1.0) * _UP


def check_reached(bound: float, tol: float) -> None:
    """Raise ``ConvergenceError`` for a certificate of the last pass that exceeds the tolerance.

    Parameters
    ----------
    bound, tol : float

    Raises
    ------
    ConvergenceError
    """
    if not bound <= tol:
        raise ConvergenceError(
            f"the mean cannot be certified to tol = {tol:.3g} in the last pass, as it is proved to "
            "be of records that are the same in each; did the records change in between?"
        )


#: Bits of the lower parts of integers under ``2^62``, of which int64 adds ``2^20``.
_LOW, _ROWS = 31, 2**20


def weight_of(number: int, whole: NDArray[np.int64] | None) -> int:
    """Return what records count for together: their number, or the sum of their weights.

    Parameters
    ----------
    number : int
    whole : ndarray of int, shape (number,), or None

    Returns
    -------
    int
    """
    return number if whole is None else sum_of(whole)


def added_rows(
    rows: FloatArray, bits: int, weights: NDArray[np.int64] | None = None
) -> tuple[int, ...]:
    """Round each number towards zero to a multiple of ``2^-bits``, and add up columns exactly.

    Parameters
    ----------
    rows : ndarray, shape (m, d)
        Under ``2^(62 - bits)``.
    bits : int
    weights : ndarray of int, shape (m,), optional
        That rows are multiplied by, after they are rounded: at least 0 and at most ``2^40``.

    Returns
    -------
    tuple of int, length d
    """
    total = [0] * rows.shape[-1]
    for start in range(0, len(rows), _ROWS):
        some = slice(start, start + _ROWS)
        whole = np.ldexp(rows[some], bits).astype(np.int64)
        high, low = (
            part.sum(axis=0).tolist() if weights is None else added_products(part, weights[some])
            for part in (whole >> _LOW, whole & (2**_LOW - 1))
        )
        total = [x + (a << _LOW) + b for x, a, b in zip(total, high, low, strict=True)]
    return tuple(total)


# Steps to the mean of a product, of all factors in the same passes.


@dataclass(frozen=True, eq=False)
class SumOfFactor(Descent):
    """A factor whose mean is a sum of integers: it is known after any pass.

    Attributes
    ----------
    mean : ExactMean
    ball : Ball
    """

    mean: ExactMean
    ball: Ball
    steps: tuple[float, ...] = ()

    def start(self) -> FloatArray:
        """See :meth:`Descent.start`."""
        return np.zeros(self.ball.manifold.dim)

    def seen(
        self,
        records: Partial,
        view: Any,  # noqa: ARG002
        whole: NDArray[np.int64] | None = None,
        *,
        last: bool,  # noqa: ARG002
    ) -> Partial:
        """Return what they are, sums, unless they have weights; see :meth:`Descent.seen`."""
        return records if whole is None else self.mean.summed(self.ball, records, whole)

    def moved(self, point: FloatArray, partial: Partial, number: int) -> FloatArray:  # noqa: ARG002
        """Return the same point; see :meth:`Descent.moved`."""
        return point

    def certified(
        self,
        point: FloatArray,  # noqa: ARG002
        view: Any,  # noqa: ARG002
        partial: Partial,
        tol: float,
    ) -> tuple[Fraction, ...]:
        """Divide; see :meth:`Descent.certified`."""
        return self.mean.weighted(self.ball, partial, None, tol)


@dataclass(frozen=True, eq=False)
class ProductDescent(Descent):
    """Every factor by itself; those that take fewer steps wait where they are.

    Attributes
    ----------
    parts : tuple of Descent
        One for each factor, every copy of one by itself.
    steps : tuple of float
        Those of the factor that takes most.
    """

    parts: tuple[Descent, ...]
    steps: tuple[float, ...] = field(repr=False)

    def start(self) -> FloatArray:
        """See :meth:`Descent.start`."""
        return np.concatenate([part.start() for part in self.parts])

    def view(self, point: FloatArray) -> tuple[Any, ...]:
        """Return that of each factor; see :meth:`Descent.view`."""
        each = zip(self.parts, self._cut(point), strict=True)
        return tuple(part.view(own) for part, own in each)

    def seen(
        self, records: Partial, view: Any, whole: NDArray[np.int64] | None = None, *, last: bool
    ) -> tuple[Partial, ...]:
        """See :meth:`Descent.seen`."""
        each = zip(self.parts, records, view, strict=True)
        return tuple(part.seen(rows, own, whole, last=last) for part, rows, own in each)

    def moved(self, point: FloatArray, partial: Partial, number: int) -> FloatArray:
        """See :meth:`Descent.moved`."""
        each = zip(self.parts, self._cut(point), partial, strict=True)
        return np.concatenate(
            [
                part.moved(own, known, number) if number < len(part.steps) else own
                for part, own, known in each
            ]
        )

    def certified(
        self, point: FloatArray, view: Any, partial: Partial, tol: float
    ) -> tuple[Fraction, ...]:
        """Certify each to its share; see :meth:`Descent.certified`."""
        share = share_of(tol, len(self.parts))
        each = zip(self.parts, self._cut(point), view, partial, strict=True)
        return tuple(
            x for part, own, seen, known in each for x in part.certified(own, seen, known, share)
        )

    def _cut(self, point: FloatArray) -> list[FloatArray]:
        return np.split(point, np.cumsum([len(part.start()) for part in self.parts])[:-1])


def share_of(tol: float, parts: int) -> float:
    """Return the tolerance of each of so many factors.

    Parameters
    ----------
    tol : float
    parts : int

    Returns
    -------
    float
    """
    return tol / math.sqrt(parts) * (1.0 - 1e-15)


def product_descent(means: Iterable[tuple[ExactMean, Ball]], tol: float) -> ProductDescent | None:
    """Return steps that end near the mean of a product, None where none are proved to.

    Parameters
    ----------
    means : iterable of (ExactMean, Ball)
        Of every factor.
    tol : float
        Of all together.

    Returns
    -------
    ProductDescent or None
    """
    pairs = list(means)
    share = share_of(tol, len(pairs))

    @functools.cache
    def descent(mean: ExactMean, ball: Ball) -> Descent | None:
        return SumOfFactor(mean, ball) if mean.adds else mean.descent(ball, share)

    found = [descent(*pair) for pair in pairs]
    parts = tuple(part for part in found if part is not None)
    if len(parts) < len(found):
        return None
    return ProductDescent(parts, max((part.steps for part in parts), key=len))
