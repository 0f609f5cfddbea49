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
    logarithms_3x3,
    padded_poles,
)
from riemdp.spaces._log_lanes import bottoms, logarithms_kxk

if TYPE_CHECKING:
    from riemdp._compiled import Kernel
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
    run = _compiled.kernel("logarithms_3x3", _same_bits_3x3)
    found = None if run is None else _compiled_3x3(run, matrices, factor)
    return _plain_3x3(matrices, factor) if found is None else found


def logarithms(matrices: FloatArray) -> Logarithms:
    """Logarithms of symmetric k x k matrices, k > 2.

    Parameters
    ----------
    matrices : ndarray, shape (n, k, k)
        Of which the lower triangles are read; possibly not finite or not positive definite.

    Returns
    -------
    Logarithms
        With the bits of :func:`logarithms_3x3` or :func:`logarithms_kxk`.
    """
    if matrices.shape[1] == 3:
        return logarithms_of_3x3(matrices)
    run = _compiled.kernel("logarithms", _same_bits)
    found = None if run is None else _compiled_kxk(run, matrices)
    return logarithms_kxk(matrices) if found is None else found


def _plain_3x3(matrices: FloatArray, factor: FloatArray | None) -> Logarithms:
    return logarithms_3x3(matrices if factor is None else congruent_3x3(factor, matrices))


def _compiled_3x3(
    run: Kernel, matrices: FloatArray, factor: FloatArray | None
) -> Logarithms | None:
    found = _empty(len(matrices), 3)
    seen = np.empty(0) if factor is None else contiguous(factor)
    given = contiguous(matrices), seen, *_limits(), *padded_poles()
    return found if run(*given, found.entries, found.condition, found.outside) else None


def _compiled_kxk(run: Kernel, matrices: FloatArray) -> Logarithms | None:
    n, k = matrices.shape[:2]
    found = _empty(n, k)
    limits = np.array([LEAST_TRACE, LARGEST_TRACE, classes(k).limits[-1]])
    work = np.empty(_compiled.LANES * (2 * k * k + 14 * k + 1))
    given = contiguous(matrices), bottoms(), limits, *padded_poles()
    return found if run(*given, work, found.entries, found.condition, found.outside) else None


def _empty(n: int, k: int) -> Logarithms:
    return Logarithms(np.empty((k * (k + 1) // 2, n)), np.empty(n), np.empty(n, dtype=bool))


def _same_bits_3x3(run: Kernel) -> bool:
    """Whether compiled code rounds as NumPy does: a compiler may contract a * b + c."""
    matrices, factor = public_matrices(3), np.array([[1.3, 0, 0], [-0.4, 0.7, 0], [0.2, 0.6, 2.9]])
    return all(
        _alike(_compiled_3x3(run, matrices, seen), _plain_3x3(matrices, seen))
        for seen in (None, factor)
    )


def _same_bits(run: Kernel) -> bool:
    return _alike(_compiled_kxk(run, public_matrices(5)), logarithms_kxk(public_matrices(5)))


def _alike(found: Logarithms | None, expected: Logarithms) -> bool:
    return found is not None and all(
        getattr(found, name).tobytes() == getattr(expected, name).tobytes()
        for name in ("entries", "condition", "outside")
    )


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
