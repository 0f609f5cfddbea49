"""Steps to the mean of a product, of all factors in the same passes."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.statistics._descent import Descent

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from numpy.typing import NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._exact_mean import ExactMean
    from riemdp.statistics._query import Partial


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
