"""Hyperbolic spaces on the hyperboloid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import count, real
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._part import register
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import (
    VALIDATION_TOLERANCE,
    all_within,
    as_floats,
    check_finite,
    check_shape,
    clip_norm,
    raise_first,
    square_norm,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Relative rounding of a squared time coordinate that is not corrected.
_ROUNDING = 4.0 * _EPS
#: Largest radius of a ball of data, in units of 1/sqrt(-curvature).
RADIUS_LIMIT = 8.0


@final
@register
@dataclass(frozen=True)
class Hyperbolic(Manifold):
    """Hyperbolic space of dimension ``dim`` on the hyperboloid.

    Points satisfy ``-x_0^2 + x_1^2 + ... + x_dim^2 = 1/curvature``, ``x_0 > 0``. Float64
    coordinates lose digits with the distance from ``(1/sqrt(-curvature), 0, ..., 0)``: about
    4e-11 of a distance at 6 units of ``1/sqrt(-curvature)``, 9e-9 at 9, 5e-6 at 12.

    Parameters
    ----------
    dim : int
        Dimension, at least 1. Points have shape ``(dim + 1,)``, time coordinate first.
    curvature : float, default -1.0
        Sectional curvature, negative.

    Raises
    ------
    InvalidParameterError
        If ``dim`` is not a positive integer or ``curvature`` not negative and finite.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Hyperbolic(3)
    >>> space.dim, space.point_shape
    (3, (4,))
    """

    proof = "docs/proofs/spaces.md"

    dim: int
    curvature: float = -1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", count(self.dim, "dim"))
        object.__setattr__(self, "curvature", real(self.curvature, "curvature"))
        if not (-math.inf < self.curvature < 0.0):
            raise InvalidParameterError(
                f"curvature of a hyperbolic space must be negative and finite, "
                f"got {self.curvature}; use Sphere or Euclidean for the other signs"
            )

    @property
    def _scale(self) -> float:
        """The square root k of minus the curvature."""
        return math.sqrt(-self.curvature)

    @property
    def origin(self) -> FloatArray:
        """The point ``(1/sqrt(-curvature), 0, ..., 0)``, shape ``(dim + 1,)``."""
        point = np.zeros(self.dim + 1)
        point[0] = 1.0 / self._scale
        return point

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(dim + 1,)``."""
        return (self.dim + 1,)

    @property
    def curvature_bound(self) -> float:
        """The curvature; 0 in dimension one, which is a line."""
        return self.curvature if self.dim > 1 else 0.0

    @property
    def constant_curvature(self) -> float:
        """The curvature; 0 in dimension one, which is a line."""
        return self.curvature_bound

    @property
    def growth_unit(self) -> float:
        """``1 / sqrt(-curvature)``."""
        return 1.0 / self._scale

    @property
    def injectivity_radius(self) -> float:
        """Infinite."""
        return math.inf

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Riemannian exponential; the tangent vector has to be Minkowski-orthogonal to ``base``."""
        base = as_floats(base)
        tangent = as_floats(tangent)
        angle = self._scale * self.norm(base, tangent)[..., None]
        point: FloatArray = np.cosh(angle) * base + _sinhc(angle) * tangent
        return self._canonical(point)

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Riemannian logarithm."""
        base = self._scale * as_floats(base)
        point = self._scale * as_floats(point)
        excess = _excess(base, point)[..., None]
        across = (point - base) - excess * base
        angle = 2.0 * np.arcsinh(np.sqrt(excess / 2.0))
        return np.asarray(across / _sinhc(angle) / self._scale)

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Geodesic distance ``(2/k) asinh(k |a - b|_L / 2)``."""
        a = self._scale * as_floats(a)
        b = self._scale * as_floats(b)
        return np.asarray(2.0 / self._scale * np.arcsinh(np.sqrt(_excess(a, b) / 2.0)))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Lorentz boost that takes the origin to ``base``, applied to (0, c)."""
        base = self._scale * as_floats(base)
        coordinates = as_floats(coordinates)
        space = base[..., 1:]
        along = np.einsum("...i,...i->...", space, coordinates)[..., None]
        shape = np.broadcast_shapes(base.shape[:-1], coordinates.shape[:-1])
        tangent = np.empty((*shape, self.dim + 1))
        tangent[..., :1] = along
        tangent[..., 1:] = coordinates + space * (along / (1.0 + base[..., :1]))
        return tangent

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        base = self._scale * as_floats(base)
        tangent = as_floats(tangent)
        time, space = base[..., :1], base[..., 1:]
        # <space, c> equals the tangent's time component; reading it there costs no digits.
        return np.asarray(tangent[..., 1:] - space * (tangent[..., :1] / (1.0 + time)))

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Point with these normal coordinates, no longer than the largest radius of a ball."""
        longest = RADIUS_LIMIT * (1.0 + 1e-9) / self._scale
        return super().point(center, clip_norm(as_floats(coordinates), longest))

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Both far points and a far centre leave what float64 coordinates carry."""
        super().check_ball(center, radius)
        far = RADIUS_LIMIT / self._scale
        if radius > far:
            raise UnsupportedBallError(
                f"radius {radius:.6g} exceeds {far:.6g} = 8/sqrt(-curvature), where float64 "
                "hyperboloid coordinates no longer carry distances; choose a smaller ball"
            )
        away = float(self.dist(self.origin, center))
        if away > far * (1.0 + 1e-9):
            raise UnsupportedBallError(
                f"the centre lies {away:.6g} from the origin of coordinates, beyond {far:.6g} "
                "= 8/sqrt(-curvature), where float64 hyperboloid coordinates no longer carry "
                "distances; move the data by an isometry so that the centre is the origin"
            )

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Grows with the entries of points, which are ``cosh`` of the distance to the origin."""
        k = self._scale
        away = float(self.dist(self.origin, center))
        return 8.0 * _EPS * math.cosh(k * away) * math.cosh(k * (away + radius)) / k

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check the hyperboloid's equation and recompute ``x_0``; see :meth:`Manifold.validate`."""
        array = check_shape(points, self.point_shape)
        time = array[..., 0]
        with np.errstate(over="ignore", invalid="ignore"):
            square = self._square_of_time(array)
            ratio = np.asarray(time * time)
            ratio /= square
        if all_within(ratio, 1.0, _ROUNDING) and time.min(initial=1.0) > 0.0:
            return array
        off = ~((np.abs(ratio - 1.0) <= _ROUNDING) & (time > 0.0))
        check_finite(array, 1)
        raise_first(time <= 0.0, "has a time coordinate x_0 that is not positive")
        raise_first(~np.isfinite(square), "is so far out that its squares overflow float64")
        raise_first(
            np.abs(time / np.sqrt(square) - 1.0) > 0.5 * VALIDATION_TOLERANCE,
            f"does not satisfy -x_0^2 + x_1^2 + ... = 1/curvature = {1 / self.curvature:.6g} "
            f"(tolerance {VALIDATION_TOLERANCE:g} relative to x_0^2)",
        )
        # Of the other records recomputing x_0 would only change the last digits.
        canonical = np.array(array)
        canonical[..., 0] = np.where(off, np.sqrt(square), time)
        return canonical

    def _canonical(self, points: FloatArray) -> FloatArray:
        """Recompute the time coordinate from the others."""
        canonical = np.array(points)
        canonical[..., 0] = np.sqrt(self._square_of_time(points))
        return canonical

    def _square_of_time(self, points: FloatArray) -> FloatArray:
        """``x_0^2`` as it follows from the other coordinates."""
        space = np.ones(self.dim + 1)
        space[0] = 0.0
        square = square_norm(points, space)
        square -= 1.0 / self.curvature
        return square


def _excess(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``-<a, b>_L - 1 = |a - b|_L^2 / 2`` at unit curvature, never negative.

    Rounding is about ``eps |a - b|^2`` in the difference form and ``eps a_0 b_0`` in the product
    form; each entry takes the better one.
    """
    gap = a - b
    space = np.einsum("...i,...i->...", gap[..., 1:], gap[..., 1:])
    time = np.square(gap[..., 0])
    heights = a[..., 0] * b[..., 0]
    product = heights - np.einsum("...i,...i->...", a[..., 1:], b[..., 1:]) - 1.0
    better = np.where(space + time < 2.0 * heights, 0.5 * (space - time), product)
    return np.asarray(np.maximum(better, 0.0))


def _sinhc(angle: FloatArray) -> FloatArray:
    """Sinh(angle)/angle of nonnegative angles."""
    positive = np.maximum(angle, np.finfo(np.float64).tiny)
    return np.asarray(np.sinh(positive) / positive)
