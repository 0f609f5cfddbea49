"""Subspaces of a given dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import count
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import VALIDATION_TOLERANCE, as_floats, check_points, raise_first

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Deviation of ``X^T X`` from the identity, per column, that is not corrected.
_ROUNDING = 16.0 * _EPS
#: Cosine of a principal angle that counts as a right one: what rounding leaves of zero.
_RIGHT = 64.0 * _EPS


@final
@register
@dataclass(frozen=True)
class Grassmann(Manifold):
    r"""Subspaces of dimension ``p`` of R^N.

    The distance is the norm of the p principal angles. Points are orthonormal bases, shape (N, p);
    any of them stands for its subspace, and distances, coordinates and what is released depend on
    the subspace alone.

    Parameters
    ----------
    p : int
        Dimension of the subspaces.
    N : int
        Dimension of the space around, more than p.

    Raises
    ------
    InvalidParameterError
        If they are no integers with ``1 <= p < N``.

    Notes
    -----
    Tangent vectors at X are matrices of shape (N, p) with columns orthogonal to the subspace, with
    the Frobenius norm. Coordinates are the entries, row by row, of H with shape (N - p, p) where
    the vector is ``Y H`` and Y the last columns of the full QR decomposition of X. No law of noise
    is known here: releases are by tangent and wrapped mechanisms.

    References
    ----------
    Edelman, Arias, Smith, "The geometry of algorithms with orthogonality constraints", SIAM Journal
    on Matrix Analysis and Applications 20, 1998; docs/proofs/spaces.md

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Grassmann(2, 5)
    >>> space.dim, space.point_shape
    (6, (5, 2))
    """

    proof = "docs/proofs/spaces.md"
    origin_name = "first-axes"
    injectivity_radius = 0.5 * math.pi  #: ``pi / 2``.

    p: int
    N: int

    def __post_init__(self) -> None:
        for name in ("p", "N"):
            object.__setattr__(self, name, count(getattr(self, name), name))
        if self.p >= self.N:
            raise InvalidParameterError(
                f"subspaces need 1 <= p < N, got p = {self.p} and N = {self.N}"
            )

    @property
    def _rank(self) -> int:
        """Largest number of principal angles that are not zero."""
        return min(self.p, self.N - self.p)

    @property
    def dim(self) -> int:
        """``p (N - p)``."""
        return self.p * (self.N - self.p)

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(N, p)``."""
        return (self.N, self.p)

    @property
    def curvature_bound(self) -> float:
        """2; of lines and hyperplanes 1, and 0 of lines in the plane."""
        return 2.0 if self._rank > 1 else float(self.dim > 1)

    @property
    def curvature_floor(self) -> float:
        """0; of lines and hyperplanes the constant curvature."""
        return 0.0 if self._rank > 1 else self.curvature_bound

    @property
    def constant_curvature(self) -> float | None:
        """Of lines and hyperplanes 1 (0 in the plane), else None."""
        return None if self._rank > 1 else self.curvature_bound

    @property
    def diameter(self) -> float:
        """``sqrt(min(p, N - p)) pi / 2``, rounded up."""
        bound = math.sqrt(self._rank) * 0.5 * math.pi
        return bound * (1.0 + 4.0 * _EPS)

    @property
    def origin(self) -> FloatArray:
        """Span of the first p axes."""
        return np.eye(self.N, self.p)

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Riemannian exponential; the tangent vector has to be orthogonal to ``base``."""
        base, tangent = as_floats(base), as_floats(tangent)
        left, angle, right = np.linalg.svd(tangent, full_matrices=False)
        # V (cos - 1) V^T, where cos - 1 keeps its digits
        bent = -2.0 * np.square(np.sin(0.5 * angle))
        turned = base + (base @ _transpose(right)) @ (bent[..., None] * right)
        end = turned + left @ (np.sin(angle)[..., None] * right)
        # one step towards the nearest orthonormal basis, of a basis that is so up to rounding
        return np.asarray(end @ (1.5 * np.eye(self.p) - 0.5 * (_transpose(end) @ end)))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Riemannian logarithm; at a right principal angle a fixed choice."""
        return self.tangent_vector(base, self.coordinates(base, point))

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Norm of the principal angles, accurate from 0 to right angles."""
        a, b = as_floats(a), as_floats(b)
        inside = _transpose(a) @ b
        across = b - a @ inside
        across = across - a @ (_transpose(a) @ across)  # what rounding left of it
        cosine = np.linalg.svd(inside, compute_uv=False)
        sine = np.ascontiguousarray(np.linalg.svd(across, compute_uv=False)[..., ::-1])
        return np.asarray(np.linalg.norm(np.arctan2(sine, cosine), axis=-1))

    def inner(self, base: ArrayLike, u: ArrayLike, v: ArrayLike) -> FloatArray:
        """Inner product of the entries."""
        del base
        return np.asarray(np.sum(as_floats(u) * as_floats(v), axis=(-2, -1)))

    def norm(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Norm of the entries."""
        del base
        return np.asarray(np.linalg.norm(as_floats(tangent), axis=(-2, -1)))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Matrix in the orthonormal basis of the complement."""
        entries = as_floats(coordinates)
        entries = entries.reshape(*entries.shape[:-1], self.N - self.p, self.p)
        return np.asarray(_complement(as_floats(base)) @ entries)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        return _flat(_transpose(_complement(as_floats(base))) @ as_floats(tangent))

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """See :meth:`Manifold.coordinates`.

        With the singular value decomposition ``center^T X = V cos W^T``, and Y the complement, the
        matrix is ``Y^T X W (angle / sin) V^T``, which is smooth where angles are small. A principal
        angle within 1e-14 of a right one is taken as one: all pairs of bases of the two null spaces
        are then logarithms, and a fixed one is taken.
        """
        center, points = as_floats(center), as_floats(points)
        left, cosine, right = np.linalg.svd(_transpose(center) @ points, full_matrices=False)
        across = (_transpose(_complement(center)) @ points) @ _transpose(right)
        cosine = np.minimum(cosine, 1.0)
        half = np.arctan2(np.sqrt(1.0 - cosine), np.sqrt(1.0 + cosine))
        sine = np.sqrt((1.0 - cosine) * (1.0 + cosine))
        scale = np.divide(2.0 * half, sine, out=np.ones_like(sine), where=sine > 0.0)
        across = across * scale[..., None, :]
        right_angles = np.asarray(cosine <= _RIGHT)
        if right_angles.any():
            left, across = np.array(left), np.array(across)
            for row in np.argwhere(right_angles.any(axis=-1)):
                index, null = tuple(row), right_angles[tuple(row)]
                for side in (left, across):
                    side[index][:, null] = _fixed_basis(side[index][:, null])
        return _flat(across @ _transpose(left))

    def rounding(self, center: FloatArray, radius: float) -> float:  # noqa: ARG002
        """Of bases, and of their products."""
        return 8.0 * _EPS * math.sqrt(self.p * self.N)

    def extreme_directions(self, base: ArrayLike) -> FloatArray:  # noqa: ARG002
        """One principal angle, and two; see :meth:`Manifold.extreme_directions`."""
        found = np.zeros((self._rank, self.N - self.p, self.p))
        found[:, 0, 0] = 1.0
        if self._rank > 1:
            found[1:, 1, 1] = 1.0
        flat = _flat(found)[:2]
        return np.asarray(flat / np.linalg.norm(flat, axis=-1, keepdims=True))

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check that bases are orthonormal; see :meth:`Manifold.validate`.

        Entries of ``X^T X`` may be off by 1e-4. Such a basis is replaced by the nearest orthonormal
        one, of the same subspace; one that is orthonormal up to rounding comes back unchanged, bit
        by bit.
        """
        array = check_points(points, self.point_shape)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = np.abs(_transpose(array) @ array - np.eye(self.p)).max(axis=(-2, -1))
        raise_first(
            ~(gap <= VALIDATION_TOLERANCE),
            f"has no orthonormal columns (tolerance {VALIDATION_TOLERANCE:g})",
        )
        off = np.asarray(gap > _ROUNDING * self.p)
        if not off.any():
            return array
        left, _, right = np.linalg.svd(array, full_matrices=False)
        return np.where(off[..., None, None], left @ right, array)


def _transpose(matrices: FloatArray) -> FloatArray:
    return np.swapaxes(matrices, -1, -2)


def _flat(matrices: FloatArray) -> FloatArray:
    return matrices.reshape(*matrices.shape[:-2], matrices.shape[-2] * matrices.shape[-1])


def _complement(bases: FloatArray) -> FloatArray:
    """Orthonormal bases of the complements, shape (..., N, N - p), functions of the bases alone."""
    return np.asarray(np.linalg.qr(bases, mode="complete")[0][..., bases.shape[-1] :])


def _fixed_basis(basis: FloatArray) -> FloatArray:
    """Basis of the same subspace, shape (n, r), and of the same norm, by a fixed rule.

    The one nearest to a fixed matrix whose columns no subspace singles out.
    """
    rows, columns = (np.arange(1.0, size + 1.0) for size in basis.shape)
    left, _, right = np.linalg.svd(basis.T @ np.cos(np.outer(rows, columns)))
    return np.asarray(basis @ (left @ right))
