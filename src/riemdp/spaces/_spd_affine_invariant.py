"""Symmetric positive definite matrices with the affine-invariant metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import shown
from riemdp._errors import UnsupportedManifoldError
from riemdp._part import register
from riemdp.spaces import _symmetric
from riemdp.spaces._log_lanes import in_parts
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._matrix_lanes import congruent, full, logarithms, tiles
from riemdp.spaces._points import as_floats
from riemdp.spaces._spd import (
    REACH,
    LogarithmicSPD,
    distance_rounding,
    half_range,
    log_condition,
)
from riemdp.spaces._symmetric import orthogonal_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray

#: Spread of eigenvalues from which distances are refined by singular values.
_REFINE_ABOVE = 1e5


@final
@register
@dataclass(frozen=True)
class SPDAffineInvariant(LogarithmicSPD):
    """SPD(k) with the affine-invariant metric ``tr(P^-1 U P^-1 V)``.

    A Hadamard space with sectional curvature in [-1/2, 0]; every ``X -> A X A^T`` with A
    invertible is an isometry.

    Parameters
    ----------
    k : int
        Matrix size, at least 1. Points and tangent vectors (symmetric) have shape ``(k, k)``.

    Raises
    ------
    InvalidParameterError
        If ``k`` is not a positive integer.

    References
    ----------
    Pennec, Fillard, Ayache, "A Riemannian framework for tensor computing", Int. J. Computer
    Vision 66(1), 2006.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.SPDAffineInvariant(3)
    >>> space.dim, space.point_shape
    (6, (3, 3))
    """

    proof = "docs/proofs/spaces.md"

    curvature_bound = 0.0  #: Zero: the trace direction is flat.
    constant_curvature = None  #: None: the curvature is not constant.
    injectivity_radius = math.inf  #: Infinite.

    k: int

    @property
    def curvature_floor(self) -> float:
        """-1/2, and 0 of 1x1 matrices.

        The curvature is ``-|[X, Y]|^2 / 4`` of orthonormal X, Y, and ``|[X, Y]|^2 <= 2``
        (Boettcher, Wenzel, "The Frobenius norm and the commutator", 2008).
        """
        return 0.0 if self.k == 1 else -0.5

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """``L Expm(L^-1 V L^-T) L^T`` with ``P = L L^T``."""
        factor = self._factor(base)
        inside = whiten(inverse_factor(factor), as_floats(tangent))
        return _symmetric.congruent(factor, _symmetric.expm(inside))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """``L Logm(L^-1 X L^-T) L^T`` with ``P = L L^T``."""
        factor = self._factor(base)
        inside = whiten(inverse_factor(factor), as_floats(point))
        return _symmetric.congruent(factor, _symmetric.logm(inside))

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """``|Logm(L^-1 B L^-T)|_F`` from the eigenvalues, with ``A = L L^T``."""
        second = as_floats(b)
        inverse = inverse_factor(self._factor(a))
        values = _symmetric.eigvalsh(whiten(inverse, second))
        wide = values[..., -1] / _REFINE_ABOVE > values[..., 0]
        if wide.any():
            # Squaring the spread costs half the digits of the small eigenvalues. Singular values
            # of L_A^-1 L_B keep them.
            shape = (*wide.shape, self.k, self.k)
            factors = self._factor(np.broadcast_to(second, shape)[wide])
            quotient = np.broadcast_to(inverse, shape)[wide] @ factors
            values[wide] = np.square(np.sort(orthogonal_rows(quotient)[0], axis=-1))
        return np.asarray(np.linalg.norm(np.log(values), axis=-1))

    def inner(self, base: ArrayLike, u: ArrayLike, v: ArrayLike) -> FloatArray:
        """``tr(P^-1 U P^-1 V)``."""
        inverse = inverse_factor(self._factor(base))
        first = whiten(inverse, as_floats(u))
        second = whiten(inverse, as_floats(v))
        return np.asarray(np.einsum("...ij,...ij->...", first, second))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """``L S L^T`` for the symmetric matrix S with these coordinates."""
        inside = _symmetric.unvecd(as_floats(coordinates), self.k)
        return _symmetric.congruent(self._factor(base), inside)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """``vecd(L^-1 V L^-T)``, the inverse of :meth:`tangent_vector`."""
        inverse = inverse_factor(self._factor(base))
        return _symmetric.vecd(whiten(inverse, as_floats(tangent)))

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """``vecd(Logm(L^-1 X L^-T))``, of every record."""
        return _symmetric.vecd(logarithms_from(as_floats(center), as_floats(points)))

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """``L Expm(S) L^T``, its eigenvalues within a range that float64 holds.

        The eigenvalues of S are clipped to a range of at most 30 about zero; from k = 7 on to less,
        where what comes of it does not pass :meth:`validate`.
        """
        center = as_floats(center)
        scale = np.sqrt(np.diagonal(center, axis1=-2, axis2=-1))
        spread = log_condition(center / (scale[..., :, None] * scale[..., None, :]))
        inside = _symmetric.unvecd(as_floats(coordinates), self.k)
        factor = np.asarray(np.linalg.cholesky(center), dtype=np.float64)

        def within(half: float) -> FloatArray:
            reach = np.maximum(half - 0.5 * spread, 1.0)[..., None]
            return _symmetric.congruent(factor, _symmetric.expm_within(inside, 0.0, reach))

        found, narrow = within(REACH), half_range(self.k)
        if narrow == REACH or (held := _symmetric.is_held(found)).all():
            return found
        return np.where(held[..., None, None], found, within(narrow))

    def clip(self, center: ArrayLike, points: ArrayLike, radius: float) -> FloatArray:
        """Of every record; see :meth:`Manifold.clip`.

        What is not positive definite in float64 as seen from the centre counts as the centre, as
        for :meth:`coordinates`.
        """
        center, points = as_floats(center), as_floats(points)
        logs = logarithms_from(center, points)
        lost = _is_lost(center, points, logs)
        kept = np.where(lost[..., None, None], center, points)
        flat = logs.reshape(*logs.shape[:-2], self.k**2)
        length = np.sqrt(in_parts(np.moveaxis(flat * flat, -1, 0)))
        outside = length > radius
        if not outside.any():
            return kept
        shrink = np.where(outside, radius / np.where(outside, length, 1.0), 0.0)
        inside = _symmetric.expm(shrink[..., None, None] * logs)
        moved = _symmetric.congruent(lower_factor(center), inside)
        return np.where(outside[..., None, None], moved, kept)

    def _lost(self, center: FloatArray, points: FloatArray) -> NDArray[np.bool_]:
        """Those that count as the centre for :meth:`coordinates`, and are not next to it."""
        return _is_lost(center, points, logarithms_from(center, points))

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Of eigenvalues, which are known to eps times the largest one."""
        return distance_rounding(center, radius)

    def _factor(self, points: ArrayLike) -> FloatArray:
        return _symmetric.check_positive_definite(as_floats(points))


def lower_factor(matrices: FloatArray) -> FloatArray:
    """Cholesky's factor of ``(..., k, k)``, the same on every processor; not a number without one.

    Column by column, each of which is subtracted from what is left.
    """
    left, found = np.array(matrices), np.zeros(matrices.shape)
    for i in range(matrices.shape[-1]):
        column = left[..., i:, i] / np.sqrt(left[..., i, i, None])
        found[..., i:, i] = column
        left[..., i:, i:] -= column[..., :, None] * column[..., None, :]
    return found


def inverse_factor(factor: FloatArray) -> FloatArray:
    """Inverse of lower triangular matrices ``(..., k, k)``, by forward substitution.

    Row by row, each of which is subtracted from those that follow, so that rescaling the rows of
    the factor rescales the columns of the inverse without further rounding.

    Parameters
    ----------
    factor : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray, shape (..., k, k)
    """
    k = factor.shape[-1]
    inverse = np.zeros(factor.shape)
    inverse[..., range(k), range(k)] = 1.0
    for i in range(k):
        inverse[..., i, :] /= factor[..., i, i, None]
        inverse[..., i + 1 :, :] -= factor[..., i + 1 :, i, None] * inverse[..., i, None, :]
    return inverse


def whiten(inverse: FloatArray, matrices: FloatArray) -> FloatArray:
    """``L^-1 X L^-T``, exactly symmetric, given ``inverse = L^-1``.

    One factor for a batch of matrices becomes two large products instead of many small ones.
    """
    if inverse.ndim > 2:
        return _symmetric.congruent(inverse, matrices)
    k = inverse.shape[-1]
    half = matrices.reshape(-1, k) @ inverse.T
    swapped = np.ascontiguousarray(np.swapaxes(half.reshape(matrices.shape), -1, -2))
    return _symmetric.symmetrise((swapped.reshape(-1, k) @ inverse.T).reshape(matrices.shape))


def logarithms_from(center: FloatArray, points: FloatArray) -> FloatArray:
    """``Logm(L^-1 X L^-T)``, ``center = L L^T``, of points X, each by itself.

    Where eigenvalues span so many decades that poles lose the least ones matrices are decomposed,
    and one that is not positive definite in float64 as seen from the centre counts as the centre.

    Parameters
    ----------
    center : ndarray, shape (..., k, k)
    points : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray, shape (..., k, k)
    """
    k = points.shape[-1]
    inverse = inverse_factor(lower_factor(center))
    shape = np.broadcast_shapes(center.shape, points.shape)
    flat = np.broadcast_to(points, shape).reshape(-1, k, k)
    each = None if center.ndim == 2 else np.broadcast_to(inverse, shape).reshape(-1, k, k)
    found = np.empty(flat.shape)
    for rows in tiles(*flat.shape[:2]):
        own = inverse if each is None else each[rows]
        with np.errstate(all="ignore"):  # of what turns out to be outside
            logs, condition = logarithms(congruent(own, flat[rows]))
            found[rows] = np.moveaxis(full(logs), -1, 0)
            outside = ~(condition * _symmetric.GRADED < 1.0)
            if outside.any():
                own = inverse if each is None else own[outside]
                seen = _symmetric.congruent(own, flat[rows][outside])
                found[rows][outside] = _symmetric.compose(*_symmetric.log_eigh(seen, total=True))
    return found.reshape(shape)


def _is_lost(center: FloatArray, points: FloatArray, logs: FloatArray) -> NDArray[np.bool_]:
    """Whether points, whose logarithms from the centre are given, count as it and are not near."""
    scale = np.sqrt(np.einsum("...ii->...i", center))
    ulps = (points.shape[-1] + 4.0) * 2.0**-52
    near = np.abs(points - center) <= ulps * scale[..., :, None] * scale[..., None, :]
    return np.asarray((logs == 0.0).all(axis=(-1, -2)) & ~near.all(axis=(-1, -2)))


def as_affine_invariant(manifold: Manifold, advice: str = "") -> SPDAffineInvariant:
    """Return SPD matrices with the affine-invariant metric, and refuse any other space.

    Parameters
    ----------
    manifold : Manifold
    advice : str, default ""
        What to use elsewhere; ends the message.

    Returns
    -------
    SPDAffineInvariant

    Raises
    ------
    UnsupportedManifoldError
        If it is another space.
    """
    if not isinstance(manifold, SPDAffineInvariant):
        end = f"; {advice}" if advice else ""
        raise UnsupportedManifoldError(
            f"manifold must be an SPDAffineInvariant, got {shown(manifold)}{end}"
        )
    return manifold
