"""Logarithms without eigenvalues, compiled by numba where it is installed and worth its start.

A private release takes of it what has the bits of NumPy alone, logarithms of 3 x 3 matrices as they
are: its bits must depend neither on what is installed nor on how many records there are. 3 x 3
matrices as seen from a point have other bits, and so have larger ones, of which there is no other
code for this method.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp import _lanes
from riemdp._compiling import compiler
from riemdp.spaces import _log_kernels, _log_lanes
from riemdp.spaces._log_fractions import (
    FURTHER,
    LARGEST_TRACE,
    LEAST_TRACE,
    Logarithms,
    classes,
    fractions,
    logarithms_3x3,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray

#: Rows of matrices from which on compiled code is asked for: compiling it takes seconds, once on a
#: machine, and loading it a third of one.
WORTH = 2**14


@dataclass(frozen=True)
class Kernels:
    """Compiled functions.

    Attributes
    ----------
    small : callable or None
        For 3 x 3 matrices, :mod:`riemdp.spaces._log_kernels`; none where its bits are not those
        of NumPy.
    large : callable
        For larger ones, :mod:`riemdp.spaces._log_lanes`.
    """

    small: Callable[..., None] | None
    large: Callable[..., None]


@functools.cache
def kernels() -> Kernels | None:
    """Return the functions that numba compiles when they are called; none where there is no numba.

    Nothing is compiled yet but what 3 x 3 matrices take, to compare its bits.
    """
    compiled = compiler()
    if compiled is None:
        return None
    import numba

    small = compiled(_log_kernels.kernel_3x3)
    _lanes.teach(numba)
    return Kernels(small if _same_bits(small) else None, compiled(_log_lanes.kernel))


def _same_bits(kernel: Callable[..., None]) -> bool:
    """Whether compiled code rounds as NumPy does: a compiler may contract a * b + c."""
    steps = np.arange(1.0, 257.0)
    rows = np.sin(np.outer(steps, np.linspace(0.3, 5.0, 9))).reshape(-1, 3, 3)
    matrices = rows @ np.swapaxes(rows, -1, -2)
    expected, found = logarithms_3x3(matrices), _run_3x3(kernel, matrices)
    return np.array_equal(expected.entries, found.entries) and np.array_equal(
        expected.condition, found.condition
    )


def is_worthwhile(n: int, k: int) -> bool:
    """Whether compiled code is asked for: of public numbers, and of what is installed.

    Parameters
    ----------
    n, k : int
        Number and size of the matrices.

    Returns
    -------
    bool
    """
    return k > 2 and n * k >= WORTH and kernels() is not None


def logarithms_of_3x3(matrices: FloatArray, *, compiled: bool) -> Logarithms:
    """Do what :func:`logarithms_3x3` does, to the last bit, compiled or not.

    Parameters
    ----------
    matrices : ndarray, shape (n, 3, 3)
    compiled : bool
        Of :func:`is_worthwhile`, for all matrices of which these are some.

    Returns
    -------
    Logarithms
    """
    found = kernels() if compiled else None
    if found is None or found.small is None:
        return logarithms_3x3(matrices)
    return _run_3x3(found.small, matrices)


def whitened_logarithms_of_3x3(inverse: FloatArray, matrices: FloatArray) -> Logarithms | None:
    """Compiled logarithms of ``P X P^T``: for means that are not private.

    Parameters
    ----------
    inverse : ndarray, shape (3, 3)
        P, lower triangular.
    matrices : ndarray, shape (n, 3, 3)
        X, of which the lower triangles are read.

    Returns
    -------
    Logarithms or None
        None where there is no such code.
    """
    found = kernels()
    if found is None or found.small is None:
        return None
    return _run_3x3(found.small, matrices, inverse)


def _run_3x3(
    kernel: Callable[..., None], matrices: FloatArray, inverse: FloatArray | None = None
) -> Logarithms:
    n = len(matrices)
    found = Logarithms(np.empty((6, n)), np.empty(n), np.empty(n, dtype=bool))
    (limits, levels, extremes), (counts, shifts, weights) = _limits(), _poles()
    kernel(
        np.ascontiguousarray(matrices),
        np.empty((0, 0)) if inverse is None else np.array(inverse),
        limits,
        levels,
        extremes,
        counts,
        shifts,
        weights,
        _lanes.rows(_log_kernels.rows_of_work(shifts.shape[1])),
        found.entries,
        found.condition,
        found.outside,
    )
    return found


@functools.cache
def _limits() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Limits and levels of the classes of 3 x 3 matrices; least and largest trace."""
    of = classes(3)
    return np.array(of.limits), np.array(of.levels), np.array([LEAST_TRACE, LARGEST_TRACE])


def logarithms(matrices: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Logarithms of symmetric k x k matrices, k > 3, compiled: for means that are not private.

    Parameters
    ----------
    matrices : ndarray, shape (n, k, k)
        Of which the lower triangles are read; possibly not finite or not positive definite.

    Returns
    -------
    logs : ndarray, shape (n, k (k + 1) / 2)
        Diagonals, then what is above them, row by row; zeros for matrices outside.
    condition : ndarray, shape (n,)
        At least the condition number, up to rounding; 0 for those outside.
    outside : ndarray of bool, shape (n,)
        Matrices without a logarithm, or of a range that the poles do not cover: all of them where
        numba is not installed.

    References
    ----------
    docs/proofs/matrix-logarithms.md
    """
    found = kernels()
    if found is None:
        n, k = matrices.shape[:2]
        return np.zeros((n, k * (k + 1) // 2)), np.zeros(n), np.ones(n, dtype=bool)
    return _run_larger(found.large, matrices)


def _run_larger(
    kernel: Callable[..., None], matrices: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    n, k = matrices.shape[:2]
    logs, condition = np.empty((n, k * (k + 1) // 2)), np.empty(n)
    outside = np.empty(n, dtype=bool)
    counts, shifts, weights = _poles()
    kernel(
        np.ascontiguousarray(matrices),
        np.array([FURTHER * fraction.top / fraction.spread for fraction in fractions()]),
        counts,
        shifts,
        weights,
        np.array([LEAST_TRACE, LARGEST_TRACE, classes(k).limits[-1]]),
        _lanes.rows(_log_lanes.rows_of_work(k, shifts.shape[1])),
        logs,
        condition,
        outside,
    )
    return logs, condition, outside


@functools.cache
def _poles() -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """Numbers of poles, poles and weights of all classes: as many of each, some of no weight."""
    table = fractions()
    counts = [len(fraction.shifts) for fraction in table]
    shape = (len(table), max(counts) + max(counts) % 2)
    shifts, weights = np.ones(shape), np.zeros(shape)
    for fraction, count, s, w in zip(table, counts, shifts, weights, strict=True):
        s[:count], w[:count] = fraction.shifts, fraction.weights
    return np.array(counts, dtype=np.int64), shifts, weights
