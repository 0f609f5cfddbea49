"""Whether batches of matrices are symmetric, and positive definite beyond doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces._log_fractions import PLACES
from riemdp.spaces._points import (
    NOT_POSITIVE_DEFINITE,
    VALIDATION_TOLERANCE,
    check_finite,
    check_shape,
    raise_first,
)
from riemdp.spaces._symmetric import (
    CHUNK_ENTRIES,
    correlations,
    has_factor,
    symmetrise,
    without_factor,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray

#: Smallest eigenvalue of a record's correlation matrix, in units of k eps: what rounding leaves of
#: a matrix without full rank lies well under it.
_CONDITIONING = 32.0
#: Sizes and diagonal entries for which one Cholesky factorisation settles what is plain.
_SMALL, _SMALLEST, _LARGEST = 31, 1e-250, 1e250


def check_symmetric(points: ArrayLike, k: int) -> FloatArray:
    """Check shape, finiteness and symmetry of ``(..., k, k)`` matrices; return them symmetrised.

    The asymmetry may be 1e-4 of the geometric mean of the two diagonal entries, which is what
    rescaling the coordinates leaves invariant.
    """
    array = check_shape(points, (k, k))
    flat = array.reshape(-1, k, k)
    if all(_is_plainly_symmetric(flat[rows]) for rows in _blocks(len(flat), k)):
        return array
    check_finite(array, 2)
    diagonal = np.einsum("...ii->...i", array)
    raise_first((diagonal <= 0.0).any(axis=-1), "has a diagonal entry that is not positive")
    with np.errstate(all="ignore"):
        gap = np.abs(array - np.swapaxes(array, -1, -2))
        root = np.sqrt(diagonal)
        off = gap > VALIDATION_TOLERANCE * (root[..., :, None] * root[..., None, :])
    raise_first(
        off.any(axis=(-1, -2)), f"is not symmetric (relative tolerance {VALIDATION_TOLERANCE:g})"
    )
    mirrored = (gap == 0.0).all(axis=(-1, -2))  # halving would cost these a subnormal digit
    return np.where(mirrored[..., None, None], array, symmetrise(array))


def check_mirrored(points: ArrayLike, k: int) -> FloatArray:
    """Check shape and symmetry of k x k matrices, k < 4.

    Entries that are not finite and diagonals that are not positive are left to those who compute
    logarithms in closed form, which shows them.
    """
    array = check_shape(points, (k, k))
    if all((array[..., i, j] == array[..., j, i]).all() for i in range(k) for j in range(i)):
        return array
    return check_symmetric(points, k)


def _blocks(n: int, k: int) -> list[slice]:
    """Rows of parts of n matrices k x k that a cache holds."""
    step = max(1, CHUNK_ENTRIES // k**2)
    return [slice(start, start + step) for start in range(0, n, step)]


def _is_plainly_symmetric(matrices: FloatArray) -> bool:
    """Whether all are finite and exactly symmetric and have positive diagonals."""
    k = matrices.shape[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(matrices.sum()):
            return False
    if k > 3:
        diagonal = matrices.reshape(-1, k * k)[:, :: k + 1]
        return bool(diagonal.min() > 0.0) and np.array_equal(
            matrices, np.swapaxes(matrices, -1, -2)
        )
    # NumPy is slow along short axes: entry by entry instead.
    return all(matrices[:, i, i].min() > 0.0 for i in range(k)) and all(
        np.array_equal(matrices[:, i, j], matrices[:, j, i]) for i in range(k) for j in range(i)
    )


def check_positive_definite(matrices: FloatArray) -> FloatArray:
    """Return the Cholesky factors ``(..., k, k)`` or raise ``NotOnManifoldError`` for a row."""
    try:
        return np.asarray(np.linalg.cholesky(matrices))
    except np.linalg.LinAlgError:
        raise_first(without_factor(matrices), NOT_POSITIVE_DEFINITE)
        raise


def check_definite(points: ArrayLike, k: int) -> FloatArray:
    """Do :func:`check_symmetric`, and require matrices that are positive definite beyond doubt.

    The smallest eigenvalue of the correlation matrix, which rescaling the coordinates leaves
    alone, has to exceed ``32 k eps``, with ``eps`` of float64, in whatever precision points come.
    Otherwise rounding would decide whether a matrix without full rank passes.

    Raises
    ------
    NotOnManifoldError
        If that of a matrix does not; the message names the limit and the remedies.
    """
    array = check_shape(points, (k, k))
    limit = _limit(k)
    if k == 3 and array.size > 9 * _FEW:
        flat = array.reshape(-1, 3, 3)
        sure = (
            _surely_definite_3x3(flat[rows], limit, mirrored=True) for rows in _blocks(len(flat), 3)
        )
        if all(part.all() for part in sure):
            return array
    array = check_symmetric(points, k)
    raise_first(
        _nearly_singular(array, limit),
        "is not positive definite by what float64 can carry: the smallest eigenvalue of "
        f"its correlation matrix has to exceed {limit:.2g} = 32 k eps. Matrices without full "
        "rank need a remedy that is fixed before the data are seen: add a multiple of the "
        "identity, use fewer channels, or shrink each one towards a multiple of the identity",
    )
    return array


def is_held(matrices: FloatArray) -> NDArray[np.bool_]:
    """Whether :func:`check_definite` passes symmetric float64 matrices of positive diagonals.

    Parameters
    ----------
    matrices : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray of bool, shape (...)
    """
    return ~_nearly_singular(matrices, _limit(matrices.shape[-1]))


def _limit(k: int) -> float:
    return _CONDITIONING * k * 2.0**-52


def _nearly_singular(matrices: FloatArray, limit: float) -> NDArray[np.bool_]:
    """Whether correlation matrices have an eigenvalue under the limit."""
    k = matrices.shape[-1]
    flat = matrices.reshape(-1, k, k)
    found = np.zeros(len(flat), dtype=bool)
    for rows in _blocks(len(flat), k):
        block = flat[rows]
        if k == 3 and len(block) > _FEW:
            open_ = ~_surely_definite_3x3(block, limit)
        else:
            open_ = np.full(len(block), not _is_plainly_definite(block, 2.0 * limit))
        if not open_.any():
            continue
        correlation, _ = correlations(block[open_])
        index = np.arange(k)
        correlation[..., index, index] = 1.0 - limit
        found[rows][open_] = without_factor(correlation)
    return found.reshape(matrices.shape[:-2])


#: Up to so many matrices LAPACK is faster than closed forms in NumPy.
_FEW = 8
#: Diagonal entries of matrices whose products of entries float64 holds.
_LEAST, _MOST = 1e-90, 1e90
#: Least determinant, and least 2 x 2 minors, of correlation matrices that closed forms decide.
_PLAIN = 2.0**-20


def _surely_definite_3x3(
    matrices: FloatArray, limit: float, *, mirrored: bool = False
) -> NDArray[np.bool_]:
    """Mark matrices ``(m, 3, 3)`` whose correlation matrix has a Cholesky factor less the limit.

    A cheap condition that suffices, so that LAPACK need not be asked. With r the squares of the
    three correlations and t their product, a matrix of ones on the diagonal has the minors
    ``1 - r`` and the determinant ``1 - r_1 - r_2 - r_3 + 2 t``. Where all are positive it is
    positive definite, of trace 3: the product of the two larger eigenvalues is at most 9/4, and the
    least one at least 4/9 of the determinant. That this is 4 limits, and 2^-20 at the least, leaves
    1.8e-7 beyond the limit. Minors are multiplied by two of the diagonal entries and the
    determinant by all three before they are compared: no term is larger than the product of these
    entries, so rounding here is about 1e-15 of that product, as it is in LAPACK.

    With ``mirrored`` only those are marked whose upper triangle is the lower one.
    """
    room = np.empty((9, len(matrices)))  # NumPy is slow along memory that is not contiguous
    for row, (i, j) in zip(room, PLACES, strict=False):
        row[:] = matrices[:, j, i]
    (a, b, c, d, e, f), (pair, whole, square) = room[:6], room[6:]
    share = 1.0 - max(4.0 * limit, _PLAIN)
    with np.errstate(all="ignore"):
        sure = np.ones(len(matrices), dtype=bool)
        for entry in (a, b, c):
            sure &= entry > _LEAST  # not of NaN
            sure &= entry < _MOST
        if mirrored:
            for entry, (i, j) in zip((d, e, f), PLACES[3:], strict=True):
                sure &= entry == matrices[:, i, j]
        np.multiply(a, b, out=whole)
        whole *= c
        whole *= share
        for entry, left, right, other in ((d, a, b, c), (e, a, c, b), (f, b, c, a)):
            np.multiply(left, right, out=pair)
            pair *= share
            np.multiply(entry, entry, out=square)
            sure &= square < pair
            square *= other
            whole -= square
        np.multiply(d, e, out=pair)
        pair *= f
        pair *= 2.0
        whole += pair
        sure &= whole > 0.0
    return sure


def _is_plainly_definite(matrices: FloatArray, limit: float) -> bool:
    """Whether no correlation matrix has an eigenvalue under a limit, without forming any.

    Scaling rows and columns alike changes no pivot's sign. Cholesky's method is wrong by less than
    ``k (k + 1) eps / 2`` of a correlation matrix, less than half of a limit here for so small k:
    what passes with twice a limit passes with it.
    """
    k = matrices.shape[-1]
    if k > _SMALL or limit >= 1.0:
        return False
    diagonal = matrices.reshape(len(matrices), -1)[:, :: k + 1]
    if not (diagonal.min() > _SMALLEST and diagonal.max() < _LARGEST):
        return False
    shrunk = matrices.copy()
    index = np.arange(k)
    shrunk[:, index, index] *= 1.0 - limit
    return has_factor(shrunk)
