"""Euclidean space R^d."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import count
from riemdp._part import register
from riemdp.spaces._flat_manifold import FlatManifold
from riemdp.spaces._norms import long_norm
from riemdp.spaces._points import as_floats, check_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray


@final
@register
@dataclass(frozen=True)
class Euclidean(FlatManifold):
    """Euclidean space R^dim.

    Parameters
    ----------
    dim : int
        Dimension, at least 1. Points have shape ``(dim,)``.

    Raises
    ------
    InvalidParameterError
        If ``dim`` is not a positive integer.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Euclidean(3)
    >>> space.dim, space.point_shape
    (3, (3,))
    """

    proof = "docs/proofs/spaces.md"

    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", count(self.dim, "dim"))

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(dim,)``."""
        return (self.dim,)

    @property
    def origin(self) -> FloatArray:
        """Zero, shape ``(dim,)``."""
        return np.zeros(self.dim)

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Return ``base + tangent``."""
        with np.errstate(over="ignore"):  # what lies beyond float64 is infinite
            return np.asarray(as_floats(base) + as_floats(tangent))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """``point - base``."""
        with np.errstate(over="ignore"):
            return np.asarray(as_floats(point) - as_floats(base))

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Euclidean distance."""
        return long_norm(self.log(a, b))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Coordinates are the tangent vector."""
        return np.zeros_like(as_floats(base)) + as_floats(coordinates)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Return the tangent vector, which is its coordinates."""
        return self.tangent_vector(base, tangent)

    def to_chart(self, points: ArrayLike) -> FloatArray:
        """Points are their coordinates."""
        return as_floats(points)

    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        """Coordinates are the point."""
        return as_floats(coordinates)

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check shape and finiteness; see :meth:`Manifold.validate`."""
        return check_points(points, self.point_shape)
