"""Hessian of the mean squared distance to SPD matrices, of a sample and of second moments.

Only the speed of a solver depends on it. A record with whitened logarithm L contributes the
function ``(x/2) coth(x/2)`` of the commutator with L, ``x`` the differences of its eigenvalues. The
function is nearly ``a + b x^2``: what the mean of ``x^2`` is over all records takes no eigenvectors
but the second moments of the entries of the logarithms, and a sample knows the small rest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds import _symmetric
from riemdp.statistics._affine_invariant_mean import conjugate_gradients, hessian
from riemdp.statistics._whitened_logarithms import packed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray
    from riemdp.statistics._affine_invariant_mean import Pass

    Operator = Callable[[FloatArray], FloatArray]

#: Largest k of which second moments are worth their price, which grows like its fourth power.
LARGEST = 32
#: Half differences under which the function is its Taylor polynomial, to two digits.
_NEARLY_FLAT = 0.1
#: Columns, and multiplications, of one product: see ``pieces`` of the module of the mean.
_COLUMNS, _PRODUCT = 64, 2**18
#: Residuals of steps, as shares of the gradient: under what the Hessian itself is wrong by.
_RESIDUAL, _COARSE = 1e-5, 1e-2


def positions(n: int, weights: FloatArray | None, size: int) -> NDArray[np.intp]:
    """Rows of a sample that stands for all n: evenly spaced, in steps of equal weight.

    Weights ``(n,)`` have sum one. Of ``size`` rows those of large weight may be there more than
    once.
    """
    middles = (np.arange(size) + 0.5) / size
    if weights is None:
        return np.asarray((middles * n).astype(np.intp))
    found = np.searchsorted(np.cumsum(weights), middles * weights.sum())
    return np.asarray(np.minimum(found, n - 1))


def second_moments(packed: FloatArray, shares: FloatArray | float) -> FloatArray:
    """``sum_i shares_i l_i l_i^T`` of rows ``(n, d)``, shape ``(d, d)``; what is above is left out.

    To a few digits.
    """
    n, d = packed.shape
    left = packed * (shares if isinstance(shares, float) else shares[:, None])
    moments = np.zeros((d, d))
    width = min(_COLUMNS, max(8, math.isqrt(_PRODUCT // n)), d)
    height = max(1, _PRODUCT // width**2)
    for first in range(0, d, width):
        rows = slice(first, first + width)
        for second in range(0, first + 1, width):
            columns = slice(second, second + width)
            for start in range(0, n, height):
                few = slice(start, start + height)
                moments[rows, columns] += left[few, rows].T @ packed[few, columns]
    return moments


def sampled_step(sample: Pass, gradient: FloatArray, moments: FloatArray | None) -> FloatArray:
    """Newton step ``(k, k)`` with the Hessian of a sample of records of equal weight.

    The gradient ``(k, k)`` is that of all records, at the same point. ``moments`` ``(d, d)``, if
    there are any, are the :func:`second_moments` of all logarithms, by which the sample's are
    replaced.
    """
    product = hessian(sample, None)
    if moments is not None:
        product = _corrected(product, sample, moments)
    return conjugate_gradients(product, gradient, _RESIDUAL * float(np.linalg.norm(gradient)))


def bounded_step(gradient: FloatArray, moments: FloatArray) -> FloatArray:
    """Step ``(k, k)`` with a bound of the Hessian: ``(x/2) coth(x/2) <= 1 + x^2/12``.

    ``moments`` ``(d, d)`` are the :func:`second_moments` of the logarithms whose mean is the
    gradient.
    """
    square = _squared_commutator(moments, len(gradient))

    def product(tangent: FloatArray) -> FloatArray:
        return tangent + square(tangent) / 12.0

    return conjugate_gradients(product, gradient, _COARSE * float(np.linalg.norm(gradient)))


def _corrected(product: Operator, sample: Pass, moments: FloatArray) -> Operator:
    n, k = sample.logs.shape
    logs = _symmetric.compose(sample.logs, sample.vectors)[:, *packed(k)]
    excess = _squared_commutator(moments - second_moments(logs, 1.0 / n), k)
    slope = _slope(sample.logs)

    def corrected(tangent: FloatArray) -> FloatArray:
        return product(tangent) + slope * excess(tangent)

    return corrected


def _squared_commutator(moments: FloatArray, k: int) -> Operator:
    """``V -> mean (L^2 V + V L^2 - 2 L V L)``, from :func:`second_moments` of the entries of L."""
    index = np.empty((k, k), dtype=np.intp)
    rows, columns = packed(k)
    moments = np.tril(moments) + np.tril(moments, -1).T
    index[rows, columns] = index[columns, rows] = np.arange(len(moments))
    # [a, d, b, c] is the mean of L_ab L_cd
    outer = moments[index[:, None, :, None], index[None, :, None, :]]
    square = np.einsum("adbb->ad", outer)
    outer = outer.reshape(k * k, k * k)

    def apply(tangent: FloatArray) -> FloatArray:
        # no product of BLAS, which would share out so large a matrix: sums must not depend on it
        middle = np.einsum("ij,j->i", outer, tangent.ravel()).reshape(k, k)
        return np.asarray(square @ tangent + tangent @ square - 2.0 * middle)

    return apply


def _slope(logs: FloatArray) -> float:
    """Slope of the line through ``(x/2) coth(x/2)`` as a function of ``x^2``."""
    rows, columns = _symmetric.above_diagonal(logs.shape[-1])
    half = 0.5 * np.abs(logs[:, rows] - logs[:, columns]).ravel()
    if half.size == 0 or half.max() < _NEARLY_FLAT:
        return 1.0 / 12.0
    half = np.maximum(half, 1e-8)
    value, square = half / np.tanh(half), np.square(2.0 * half)
    square -= square.mean()
    total = float(square @ square)
    return float(square @ (value - value.mean())) / total if total > 0.0 else 1.0 / 12.0
