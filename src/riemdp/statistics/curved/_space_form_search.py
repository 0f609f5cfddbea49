"""Where the Fréchet mean is on spheres and hyperbolic spaces: quasi-Newton steps from the centre.

Nothing rests on how the point is found: the sums of the last pass certify it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.statistics.curved._certified_space_form import distance
from riemdp.statistics.curved._descent_space_form import moved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray
    from riemdp.statistics.curved._space_form_sums import SpaceFormSums

#: Passes over the records at most; hostile data took up to 33.
_PASSES = 200
#: Share of the gradient that a quasi-Newton step may leave.
_LEFT = 0.9
#: Least cosine between such a step and the gradient, and between a correction and its cause.
_ALONG, _PLAIN = 0.1, 1e-8
#: Least average curvature of the functional that the first matrix is taken from.
_LEAST = 0.1


class _Inverse:
    """The inverse Hessian: a number, and a symmetric matrix of rank one for each step."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.corrections: list[tuple[FloatArray, float]] = []

    def __call__(self, vector: FloatArray) -> FloatArray:
        found = self.share * vector
        for direction, size in self.corrections:
            found += direction * (_inner(direction, vector) / size)
        return found

    def correct(self, step: FloatArray, change: FloatArray) -> None:
        """Take to a step what it changed of the gradient."""
        rest = step - self(change)
        size = _inner(rest, change)
        if abs(size) > _PLAIN * _norm(rest) * _norm(change):
            self.corrections.append((rest, size))


def nearest_point(
    sums: SpaceFormSums, records: FloatArray, whole: NDArray[np.int64] | None, tol: float
) -> tuple[FloatArray, float]:
    """Return a point near the mean of records in a ball, and a bound of its distance.

    The bound is inf where it is not within ``tol``. A quasi-Newton step that leaves too much of the
    gradient is taken back; the step along the gradient in its place is so short that the functional
    falls.

    Parameters
    ----------
    sums : SpaceFormSums
    records : ndarray, shape (n, dim)
    whole : ndarray of int, shape (n,), or None
        Weights; see :meth:`SpaceFormSums.sums`.
    tol : float

    Returns
    -------
    point : ndarray, shape (dim,)
    bound : float
    """
    wide = 2.0 * sums.reach
    short = 1.0 if sums.spherical or wide < 1e-6 else math.tanh(wide) / wide  # 1 over the Hessian
    point, step, plain = np.zeros(sums.dim), np.zeros(sums.dim), True
    inverse, before = None, None
    for _ in range(_PASSES):
        total = sums.sums(point, records, whole)
        gradient, average = sums.gradient(point, total)
        size = _norm(gradient)
        bound = distance(sums, point, total, tol) if size <= tol else math.inf
        if bound <= tol:
            return point, bound
        if before is not None and not plain and size > _LEFT * _norm(before[1]):
            point, gradient = before
            inverse, plain = None, True
        else:
            if inverse is None:  # the trace of the Hessian is 1 + (dim - 1) average
                trace = 1.0 + (sums.dim - 1) * average
                inverse = _Inverse(1.0 / max(trace / sums.dim, _LEAST))
            if before is not None:
                inverse.correct(step, before[1] - gradient)
            step = inverse(gradient)
            plain = _inner(step, gradient) <= _ALONG * _norm(step) * size
        if plain:
            inverse, step = None, short * gradient
        before, point = (point, gradient), moved(sums, point, step)
    return point, math.inf


def _inner(a: FloatArray, b: FloatArray) -> float:
    """Inner product without a product of matrices, whose rounding depends on the processor."""
    return float((a * b).sum())


def _norm(a: FloatArray) -> float:
    return math.sqrt(_inner(a, a))
