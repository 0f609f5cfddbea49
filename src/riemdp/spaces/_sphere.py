"""Spheres of any dimension and curvature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from riemdp._checks import count, real
from riemdp._errors import CutLocusError, InvalidParameterError
from riemdp._part import register
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._pictures import draw_on_globe
from riemdp.spaces._points import (
    VALIDATION_TOLERANCE,
    Degrees,
    all_within,
    as_floats,
    check_finite,
    check_shape,
    raise_first,
    square_norm,
    squares,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray


_EPS = float(np.finfo(np.float64).eps)
#: Rounding of a squared norm that is not corrected.
_ROUNDING = 4.0 * _EPS

#: Entries of an array so small that the overhead of a call counts more than its speed.
_FEW = 4096


@final
@register
@dataclass(frozen=True)
class Sphere(Manifold):
    """Sphere of dimension ``dim`` and radius ``1/sqrt(curvature)``.

    Parameters
    ----------
    dim : int
        Dimension, at least 1; ``Sphere(1)`` is the circle. Points are vectors of norm
        ``1/sqrt(curvature)`` with shape ``(dim + 1,)``.
    curvature : float, default 1.0
        Sectional curvature (on the circle: one over the squared radius).

    Raises
    ------
    InvalidParameterError
        If ``dim`` is not a positive integer or ``curvature`` not positive and finite.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Sphere(2)
    >>> space.dim, space.point_shape
    (2, (3,))
    """

    proof = "docs/proofs/spaces.md"
    origin_name = "north-pole"

    dim: int
    curvature: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", count(self.dim, "dim"))
        object.__setattr__(self, "curvature", real(self.curvature, "curvature"))
        if not (0.0 < self.curvature < math.inf):
            raise InvalidParameterError(
                f"curvature of a sphere must be positive and finite, got {self.curvature}; "
                "use Hyperbolic or Euclidean for the other signs"
            )

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(dim + 1,)``."""
        return (self.dim + 1,)

    @property
    def curvature_bound(self) -> float:
        """The curvature; 0 on the circle, which has no sectional curvature."""
        return self.curvature if self.dim > 1 else 0.0

    @property
    def constant_curvature(self) -> float:
        """The curvature; 0 on the circle, which is locally a line."""
        return self.curvature_bound

    @property
    def injectivity_radius(self) -> float:
        """``pi / sqrt(curvature)``."""
        return math.pi / math.sqrt(self.curvature)

    @property
    def diameter(self) -> float:
        """``pi / sqrt(curvature)``."""
        return self.injectivity_radius

    @property
    def origin(self) -> FloatArray:
        """The north pole ``(0, ..., 0, 1/sqrt(curvature))``, shape ``(dim + 1,)``."""
        point = np.zeros(self.dim + 1)
        point[-1] = 1.0 / math.sqrt(self.curvature)
        return point

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Riemannian exponential; the tangent vector has to be orthogonal to ``base``."""
        base = as_floats(base)
        tangent = as_floats(tangent)
        angle = math.sqrt(self.curvature) * np.linalg.norm(tangent, axis=-1, keepdims=True)
        point = np.cos(angle) * base + _sinc(angle) * tangent
        point /= math.sqrt(self.curvature) * np.linalg.norm(point, axis=-1, keepdims=True)
        return np.asarray(point)

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Riemannian logarithm; a ``CutLocusError`` at the exact antipode, where there is none."""
        log, antipodal = self.log_or_antipode(base, point)
        if np.any(antipodal):
            raise CutLocusError(
                "the logarithm at the exact antipode is undefined: every direction leads there"
            )
        return log

    def log_or_antipode(
        self, base: ArrayLike, point: ArrayLike
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        r"""Logarithm, and whether a point is an antipode, where the logarithm means nothing.

        Parameters
        ----------
        base, point : array_like, shape (..., \*point_shape)
            Points of the sphere; leading axes broadcast.

        Returns
        -------
        log : ndarray, shape (..., \*point_shape)
        antipodal : ndarray of bool, shape (...)
        """
        base = as_floats(base)
        point = as_floats(point)
        # The part orthogonal to the base is taken from the shorter of point - base and
        # point + base, which keeps its digits next to the base and next to the antipode.
        near = np.einsum("...i,...i->...", base, point)[..., None] >= 0.0
        across = np.where(near, point - base, point + base)
        for _ in range(2):  # once leaves rounding of |across| before, which may be much larger
            along = np.einsum("...i,...i->...", across, base)[..., None]
            across = across - self.curvature * along * base
        length = np.sqrt(squares(across))[..., None]
        dist = self.dist(base, point)[..., None]
        log = across * np.divide(dist, length, out=np.ones_like(dist), where=length > 0)
        return np.asarray(log), np.asarray((length == 0.0) & ~near)[..., 0]

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Great-circle distance, accurate to rounding from 0 to the antipode."""
        a = as_floats(a)
        b = as_floats(b)
        chord, cochord = np.sqrt(squares(a - b)), np.sqrt(squares(a + b))
        return np.asarray(2.0 / math.sqrt(self.curvature) * np.arctan2(chord, cochord))

    def inner(self, base: ArrayLike, u: ArrayLike, v: ArrayLike) -> FloatArray:
        """Inner product of the ambient space."""
        del base
        return np.asarray(np.sum(as_floats(u) * as_floats(v), axis=-1))

    def norm(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Norm of the ambient space."""
        del base
        return np.asarray(np.linalg.norm(as_floats(tangent), axis=-1))

    def unit_vectors(self, points: ArrayLike) -> FloatArray:
        """Points over the radius; see :meth:`Manifold.unit_vectors`."""
        return np.asarray(math.sqrt(self.curvature) * as_floats(points))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Householder reflection that takes the first axis to ``base``, applied to (0, c)."""
        base = math.sqrt(self.curvature) * as_floats(base)
        coordinates = as_floats(coordinates)
        shape = np.broadcast_shapes(base.shape[:-1], coordinates.shape[:-1])
        raised = np.zeros((*shape, self.dim + 1))
        raised[..., 1:] = coordinates
        return _reflect(base, raised)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        base = math.sqrt(self.curvature) * as_floats(base)
        return _reflect(base, as_floats(tangent))[..., 1:]

    def unit(self, distance: float) -> Degrees:  # noqa: ARG002
        """Degrees of the angle at the centre of the sphere; see :meth:`Manifold.unit`."""
        return Degrees(math.sqrt(self.curvature))

    def draw(self, ax: Any, point: FloatArray, radius: float) -> Any:
        """On a globe, in dimension 2; see :meth:`Manifold.draw`."""
        if self.dim != 2:
            return None
        scale = math.sqrt(self.curvature)
        return draw_on_globe(ax, scale * np.asarray(point), scale * radius)

    def rounding(self, center: FloatArray, radius: float) -> float:  # noqa: ARG002
        """Of the entries of a point, which are at most ``1/sqrt(curvature)``."""
        return 4.0 * _EPS / math.sqrt(self.curvature)

    def _total_log(self, center: ArrayLike, points: FloatArray) -> FloatArray:
        """Logarithm; of the antipode, along the first basis vector."""
        log, antipodal = self.log_or_antipode(center, points)
        if not antipodal.any():
            return log
        direction = np.zeros(self.dim)
        direction[0] = self.injectivity_radius
        fixed = self.tangent_vector(center, direction)
        return np.where(antipodal[..., None], fixed, log)

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check the norm ``1/sqrt(curvature)`` and normalise; see :meth:`Manifold.validate`."""
        array = check_shape(points, self.point_shape)
        with np.errstate(over="ignore", invalid="ignore"):
            square = np.asarray(self.curvature * _square_norm(array))
        if all_within(square, 1.0, _ROUNDING):
            return array
        off = ~(np.abs(square - 1.0) <= _ROUNDING)
        check_finite(array, 1)
        raise_first(
            np.abs(np.sqrt(square) - 1.0) > VALIDATION_TOLERANCE,
            f"does not have norm 1/sqrt(curvature) = {1 / math.sqrt(self.curvature):.6g} "
            f"(relative tolerance {VALIDATION_TOLERANCE:g}); to normalise vectors divide them by "
            "numpy.linalg.norm(points, axis=-1, keepdims=True)",
        )
        # Of the other records normalising would only change the last digits.
        return array / np.sqrt(np.where(off, square, 1.0))[..., None]


def _square_norm(array: FloatArray) -> FloatArray:
    """Sum of squares over the last axis, infinite, quietly, on overflow."""
    if array.size <= _FEW:
        return np.asarray(np.einsum("...i,...i->...", array, array))
    with np.errstate(over="ignore", invalid="ignore"):
        return square_norm(array)


def _sinc(angle: FloatArray) -> FloatArray:
    """Sin(angle)/angle of nonnegative angles."""
    positive = np.maximum(angle, np.finfo(np.float64).tiny)
    return np.asarray(np.sin(positive) / positive)


def _reflect(unit: FloatArray, vector: FloatArray) -> FloatArray:
    """Apply the reflection that swaps ``±e_0`` and ``unit`` (the sign avoids cancellation)."""
    sign = np.where(unit[..., :1] >= 0.0, 1.0, -1.0)
    normal = unit.copy()
    normal[..., :1] += sign
    # |normal|^2 = 2 + 2|unit_0|, so the reflection is v - normal <normal, v> / (1 + |unit_0|).
    along = np.einsum("...i,...i->...", normal, vector)[..., None]
    return np.asarray(vector - normal * (along / (1.0 + np.abs(unit[..., :1]))))
