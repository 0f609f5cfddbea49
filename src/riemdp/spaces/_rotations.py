"""Rotations of space, the group SO(3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from riemdp._checks import real_entries
from riemdp._errors import NotOnManifoldError
from riemdp._part import register
from riemdp.spaces._points import VALIDATION_TOLERANCE, as_floats, check_points, raise_first
from riemdp.spaces._quotient import AntipodalQuotient, dot
from riemdp.spaces._sphere import Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray

#: Deviation of columns from orthonormality that rounding explains, which is not mended.
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


@final
@register
@dataclass(frozen=True)
class Rotations(AntipodalQuotient):
    """Rotations of space, as matrices; their distance is the angle of the turn between them.

    A rotation is a unit quaternion up to its sign, so that the sphere of dimension three and
    radius two covers the group. Angles are in radians, at most pi. Points are matrices, shape
    (3, 3). Unit quaternions (x, y, z, w), in scipy's order, are taken wherever points are asked
    for. Nothing notices the order (w, x, y, z), which stands for another rotation.

    References
    ----------
    docs/proofs/quotients.md, "Rotations"

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Rotations()
    >>> space.dim, space.point_shape
    (3, (3, 3))
    """

    proof = "docs/proofs/quotients.md"
    origin_name = "identity"

    dim: ClassVar[int] = 3
    point_shape = (3, 3)  #: ``(3, 3)``.
    cover = Sphere(3, 0.25)  #: Unit quaternions, doubled.

    @property
    def origin(self) -> FloatArray:
        """The identity."""
        return np.eye(3)

    def read(self, points: ArrayLike) -> FloatArray:
        """Return matrices, of quaternions too; see :meth:`Manifold.read`."""
        array = as_floats(points)
        return self.push(array) if array.shape[-1:] == (4,) else array

    def lift(self, points: ArrayLike) -> FloatArray:
        """Return twice the unit quaternion (x, y, z, w) whose largest entry is positive.

        With q that quaternion, ``4 q q^T`` is linear in the matrix. Its row of the largest entry of
        the diagonal, at least 1, keeps all digits, at half a turn too.
        """
        (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(self.read(points), (-2, -1), (0, 1))
        squares = np.stack([1 + a - e - i, 1 - a + e - i, 1 - a - e + i, 1 + a + e + i], axis=-1)
        xy, xz, yz, xw, yw, zw = d + b, g + c, h + f, h - f, c - g, d - b
        x, y, z, w = np.moveaxis(squares, -1, 0)
        entries = [x, xy, xz, xw, xy, y, yz, yw, xz, yz, z, zw, xw, yw, zw, w]
        rows = np.stack(entries, axis=-1).reshape(*x.shape, 4, 4)
        largest = np.argmax(squares, axis=-1)[..., None, None]
        row = np.take_along_axis(rows, largest, axis=-2)[..., 0, :]
        return np.asarray(row * (2.0 / np.sqrt(_square(row)))[..., None])

    def push(self, points: ArrayLike) -> FloatArray:
        """Matrices of quaternions, of whatever length; see :meth:`Quotient.push`."""
        points = as_floats(points)
        x, y, z, w = np.moveaxis(points, -1, 0)
        double = 2.0 / _square(points)
        entries = [
            1 - double * (y * y + z * z), double * (x * y - z * w), double * (x * z + y * w),
            double * (x * y + z * w), 1 - double * (x * x + z * z), double * (y * z - x * w),
            double * (x * z - y * w), double * (y * z + x * w), 1 - double * (x * x + y * y),
        ]  # fmt: skip
        return np.stack(entries, axis=-1).reshape(*x.shape, 3, 3)

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check rotations, and return matrices; see :meth:`Manifold.validate`.

        They are matrices with orthonormal columns and determinant 1, shape (..., 3, 3), or unit
        quaternions (x, y, z, w) of either sign, shape (..., 4). Scalar products of columns may be
        off by 2e-4, norms by 1e-4; the rotation is then that of the normalised quaternion.
        """
        entries = real_entries(points, "points", error=NotOnManifoldError)
        if entries.shape[-1:] == (4,):
            return self._of_quaternions(points)
        if entries.shape[-2:] != (3, 3):
            raise NotOnManifoldError(
                "points must have shape (..., 3, 3), rotation matrices, or (..., 4), unit "
                f"quaternions (x, y, z, w), got {entries.shape}"
            )
        rows = check_points(points, (3, 3))
        first, second, third = np.moveaxis(rows, -1, 0)
        with np.errstate(over="ignore", invalid="ignore"):
            gaps = [_square(column) - 1.0 for column in (first, second, third)]
            gaps += [dot(first, second), dot(first, third), dot(second, third)]
            gap = np.max(np.abs(gaps), axis=0)
        raise_first(
            ~(gap <= 2.0 * VALIDATION_TOLERANCE),
            "is not a rotation: its columns are not orthonormal (relative tolerance "
            f"{VALIDATION_TOLERANCE:g})",
        )
        volume = dot(np.cross(first, second), third)
        raise_first(volume < 0.0, "is not a rotation: its determinant is -1, that of a reflection")
        off = gap > _ROUNDING
        if not off.any():
            return rows
        return np.where(off[..., None, None], self.push(self.lift(rows)), rows)

    def _of_quaternions(self, points: ArrayLike) -> FloatArray:
        """Check the norm, and return matrices."""
        rows = check_points(points, (4,))
        with np.errstate(over="ignore"):
            gap = np.abs(np.sqrt(_square(rows)) - 1.0)
        raise_first(
            ~(gap <= VALIDATION_TOLERANCE),
            "is not a unit quaternion: its norm is not 1 (relative tolerance "
            f"{VALIDATION_TOLERANCE:g})",
        )
        return self.push(rows)


def _square(vectors: FloatArray) -> FloatArray:
    return dot(vectors, vectors)
