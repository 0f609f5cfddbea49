"""Logarithms without eigenvalues: in NumPy, or compiled, with the same bits."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from riemdp import _compiled
from riemdp.spaces._log_fractions import (
    LARGEST_TRACE,
    LEAST_TRACE,
    Logarithms,
    classes,
    congruent_3x3,
    fractions,
    logarithms_3x3,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces._points import FloatArray


def logarithms_of_3x3(matrices: FloatArray, factor: FloatArray | None = None) -> Logarithms:
    """Logarithms of symmetric 3 x 3 matrices X, or of ``P X P^T``.

    Parameters
    ----------
    matrices : ndarray, shape (n, 3, 3)
        X, of which the lower triangles are read.
    factor : ndarray, shape (3, 3), optional
        P, lower triangular.

    Returns
    -------
    Logarithms
        With the bits of :func:`logarithms_3x3`.
    """
    run = _compiled.kernel("logarithms_3x3", _same_bits)
    found = None if run is None else _compiled_3x3(run, matrices, factor)
    return _plain_3x3(matrices, factor) if found is None else found


def _plain_3x3(matrices: FloatArray, factor: FloatArray | None) -> Logarithms:
    return logarithms_3x3(matrices if factor is None else congruent_3x3(factor, matrices))


def _compiled_3x3(
    run: Callable[..., bool], matrices: FloatArray, factor: FloatArray | None
) -> Logarithms | None:
    n = len(matrices)
    found = Logarithms(np.empty((6, n)), np.empty(n), np.empty(n, dtype=bool))
    seen = np.empty(0) if factor is None else contiguous(factor)
    given = contiguous(matrices), seen, *_limits(), *poles()
    return found if run(*given, found.entries, found.condition, found.outside) else None


def _same_bits(run: Callable[..., bool]) -> bool:
    """Whether compiled code rounds as NumPy does: a compiler may contract a * b + c."""
    matrices, factor = public_matrices(3), np.array([[1.3, 0, 0], [-0.4, 0.7, 0], [0.2, 0.6, 2.9]])
    for seen in (None, factor):
        found, expected = _compiled_3x3(run, matrices, seen), _plain_3x3(matrices, seen)
        if found is None or not (
            np.array_equal(expected.entries, found.entries)
            and np.array_equal(expected.condition, found.condition)
            and np.array_equal(expected.outside, found.outside)
        ):
            return False
    return True


def public_matrices(k: int) -> FloatArray:
    """Return matrices of all classes, and a few outside: 259, for no number of lanes a multiple.

    Parameters
    ----------
    k : int

    Returns
    -------
    ndarray, shape (259, k, k)
    """
    steps = np.arange(1.0, 260.0)
    rows = np.outer(steps, np.arange(3.0, k * k + 3.0) ** 3) % 101.0 / 64.0 - 0.75
    rows = rows.reshape(-1, k, k)
    rows *= 2.0 ** -np.floor(np.outer(steps % 24.0, np.linspace(0.0, 1.0, k)))[:, :, None]
    matrices = np.einsum("nij,nkj->nik", rows, rows)
    matrices[::4] += k * np.eye(k)
    return np.asarray(matrices)


def contiguous(array: FloatArray) -> FloatArray:
    """Return an array as kernels take it: a copy only of other layouts."""
    return np.require(array, np.float64, ["C", "A"])


@functools.cache
def _limits() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Limits and levels of the classes of 3 x 3 matrices; least and largest trace."""
    of = classes(3)
    return np.array(of.limits), np.array(of.levels), np.array([LEAST_TRACE, LARGEST_TRACE])


@functools.cache
def poles() -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """Numbers of poles, poles and weights of all classes: as many of each, some of no weight."""
    table = fractions()
    counts = [len(fraction.shifts) for fraction in table]
    shape = (len(table), max(counts) + max(counts) % 2)
    shifts, weights = np.ones(shape), np.zeros(shape)
    for fraction, count, s, w in zip(table, counts, shifts, weights, strict=True):
        s[:count], w[:count] = fraction.shifts, fraction.weights
    return np.array(counts, dtype=np.int64), shifts, weights
