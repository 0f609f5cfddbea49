"""Products, exponentials and logarithms of many matrices, side by side.

Matrices are arrays ``(k, k, n)``. Each operation is one of float64 numbers, of all matrices at a
time, in an order that is fixed: what becomes of a matrix depends neither on others nor on the
processor.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _compiled
from riemdp.spaces._logarithms import contiguous, public_matrices
from riemdp.spaces._logarithms import logarithms as at_poles
from riemdp.spaces._symmetric import above_diagonal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from riemdp._compiled import Kernel
    from riemdp.spaces._points import FloatArray

#: Exponentials of matrices of at most this Frobenius norm are the first terms of the series.
NEAR = 0.3
#: Their coefficients.
TAYLOR = tuple(1.0 / math.factorial(j) for j in range(13))
#: Matrices that compiled code works in at most.
_MATRICES = 5
#: Numbers that are worked on at a time.
_TILE = 2**15


def tiles(n: int, k: int) -> Iterator[slice]:
    """Parts of n matrices, one at least, of so few numbers that the cache holds them."""
    step = max(64, _TILE // k**2)
    return (slice(start, min(start + step, n)) for start in range(0, max(n, 1), step))


def in_lanes(matrices: FloatArray) -> FloatArray:
    """Copy matrices ``(n, k, k)``."""
    return np.ascontiguousarray(np.moveaxis(matrices, 0, -1))


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products, of which the one on the left may be one matrix ``(k, k)``."""
    found, term = np.empty(right.shape), np.empty(right.shape[1:])
    for i, factors in enumerate(left):
        row = np.multiply(factors[0], right[0], out=found[i])
        for factor, other in zip(factors[1:], right[1:], strict=True):
            row += np.multiply(factor, other, out=term)
    return found


def half_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Products that are symmetric: what is below the diagonal, and again above it.

    The one on the right may be one matrix ``(k, k, 1)``.
    """
    found, term = np.empty(left.shape), np.empty(left.shape[1:])
    for i, factors in enumerate(left):
        row, few = found[i, : i + 1], term[: i + 1]
        np.multiply(factors[0], right[0, : i + 1], out=row)
        for factor, other in zip(factors[1:], right[1:], strict=True):
            row += np.multiply(factor, other[: i + 1], out=few)
        found[:i, i] = found[i, :i]
    return found


def gram(factors: FloatArray) -> FloatArray:
    """``C C^T``."""
    return half_product(factors, np.swapaxes(factors, 0, 1))


def add(matrices: FloatArray, value: float) -> None:
    """Add a number times the identity, in place."""
    for i in range(len(matrices)):
        matrices[i, i] += value


def squares(matrices: FloatArray) -> FloatArray:
    """Squares of Frobenius norms ``(n,)``: columns are added first, and then along the row."""
    found = matrices * matrices
    for parts in (found, found[0]):
        for part in parts[1:]:
            parts[0] += part
    return np.asarray(found[0, 0])


def squarings(size: float) -> int:
    """How often a matrix of this norm is halved before the series is taken."""
    return math.ceil(math.log2(size / NEAR)) if size > NEAR else 0


@dataclass(frozen=True)
class _Function:
    """A function of numbers and matrices in NumPy, and a kernel that is used if it has its bits.

    Attributes
    ----------
    name : str
        Of the kernel.
    plain : callable
    shape : callable
        Returns that of what is found, of k and n.
    count : int
        Of matrices that it takes.
    numbers : tuple of float
        That bits are compared with.
    """

    name: str
    plain: Callable[..., FloatArray]
    shape: Callable[[int, int], tuple[int, ...]]
    count: int
    numbers: tuple[float, ...] = ()

    def __call__(self, *given: Any) -> FloatArray:
        run = _compiled.kernel(self.name, self.same_bits)
        found = None if run is None else self.ran(run, *given)
        return self.plain(*given) if found is None else found

    def ran(self, run: Kernel, *given: Any) -> FloatArray | None:
        """Run a kernel; None where it did nothing."""
        numbers, matrices = given[: len(self.numbers)], given[len(self.numbers) :]
        k = matrices[0].shape[1]
        found = np.empty(self.shape(k, matrices[0].size // k**2))
        first = np.array([k, *numbers], dtype=np.float64), np.array(TAYLOR)
        memory = np.empty((_MATRICES * k * k + 1) * _compiled.LANES)
        return found if run(*first, *map(contiguous, matrices), memory, found) else None

    def same_bits(self, run: Kernel) -> bool:
        """Whether compiled code rounds as NumPy does: a compiler may contract a * b + c."""
        for k in (1, 3, 6, 9):
            each = public_matrices(k)[:67] * 0.0625
            whole = each if self.name == "congruent" else in_lanes(each)
            given = *self.numbers, *(whole, each[5], whole[::-1])[: self.count]
            found = self.ran(run, *given)
            if found is None or not np.array_equal(found, self.plain(*given)):
                return False
        return True


def _exponentials(steps: int, scale: float, matrices: FloatArray) -> FloatArray:
    first = matrices * scale
    second = half_product(first, first)
    third = half_product(second, first)
    found = TAYLOR[12] * third
    term, other = np.empty(found.shape), np.empty(found.shape)
    for i in (9, 6, 3, 0):
        if i < 9:
            found = half_product(third, found)
        np.multiply(TAYLOR[i + 2], second, out=term)
        term += np.multiply(TAYLOR[i + 1], first, out=other)
        found += term
        add(found, TAYLOR[i])
    for _ in range(steps):
        found = half_product(found, found)
    return found


def _grams(roots: FloatArray, factor: FloatArray) -> FloatArray:
    return np.moveaxis(gram(product(factor, roots)), -1, 0)


def _congruent(matrices: FloatArray, factor: FloatArray) -> FloatArray:
    left = factor[..., None] if factor.ndim == 2 else in_lanes(factor)
    half = product(left, in_lanes(matrices))
    return np.moveaxis(half_product(half, np.swapaxes(left, 0, 1)), -1, 0)


def _defects(roots: FloatArray, factor: FloatArray, others: FloatArray) -> FloatArray:
    found = gram(product(others, product(factor, roots)))
    add(found, -1.0)
    return squares(found)


FUNCTIONS = (
    _Function("exponentials", _exponentials, lambda k, n: (k, k, n), 1, (3, -0.125)),
    _Function("grams", _grams, lambda k, n: (n, k, k), 2),
    _Function("congruent", _congruent, lambda k, n: (n, k, k), 2),
    _Function("defects", _defects, lambda _, n: (n,), 3),
)
_EXPONENTIALS, _GRAMS, _CONGRUENT, _DEFECTS = FUNCTIONS


def exponentials(matrices: FloatArray, share: float, longest: float) -> FloatArray:
    """``e^(share X)`` of symmetric matrices of norm at most ``longest``; a share is a power of two.

    They are squares, and squares of these, of the series up to the twelfth power.
    """
    steps = squarings(abs(share) * longest)
    return _EXPONENTIALS(steps, share * 0.5**steps, matrices)


def grams(factor: FloatArray, roots: FloatArray) -> FloatArray:
    """``W R R^T W^T`` ``(n, k, k)``, W one matrix ``(k, k)``, R as they are here."""
    return _GRAMS(roots, factor)


def congruent(factor: FloatArray, matrices: FloatArray) -> FloatArray:
    """``P X P^T`` ``(n, k, k)`` of matrices ``(n, k, k)`` and one or as many P.

    Of the product what is below the diagonal is computed, and stands above it as well.
    """
    return (_congruent if factor.ndim > 2 else _CONGRUENT)(matrices, factor)


def defects(factor: FloatArray, roots: FloatArray, others: FloatArray) -> FloatArray:
    """``|Y Y^T - 1|^2`` ``(n,)``, ``Y = F W R``, W one matrix ``(k, k)``."""
    return _DEFECTS(roots, factor, others)


def logarithms(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithms of symmetric matrices ``(n, k, k)``, by public poles.

    Smaller ones than 3 x 3 are parts of such ones, with the mean of the diagonal beside them.

    Returns
    -------
    entries : ndarray, shape (k (k + 1) / 2, n)
        In the order of :func:`packed`.
    condition : ndarray, shape (n,)
        Bounds of the condition numbers, infinite where poles do not cover a matrix.
    """
    n, k = matrices.shape[:2]
    if k < 3:
        parts = matrices
        matrices = np.zeros((n, 3, 3))
        matrices[:, :k, :k] = parts
        mean = parts[:, 0, 0] if k == 1 else 0.5 * (parts[:, 0, 0] + parts[:, 1, 1])
        for i in range(k, 3):
            matrices[:, i, i] = mean
    found = at_poles(matrices)
    entries = found.entries if k > 2 else found.entries[[0, 1, 3] if k == 2 else [0]]
    return entries, np.where(found.outside, math.inf, found.condition)


def full(entries: FloatArray) -> FloatArray:
    """Symmetric matrices ``(k, k, n)`` of what :func:`packed` says where it is."""
    k = math.isqrt(2 * len(entries))
    found = np.empty((k, k, entries.shape[1]))
    for entry, i, j in zip(entries, *packed(k), strict=True):
        found[i, j] = found[j, i] = entry
    return found


@functools.cache
def packed(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the diagonal, then of what is above it, row by row."""
    rows, columns = above_diagonal(k)
    diagonal = np.arange(k)
    return np.concatenate([diagonal, rows]), np.concatenate([diagonal, columns])
