"""Flat spaces in their own chart, and R^d."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import count
from riemdp._part import register
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import as_floats, check_points, clip_norm, long_norm, with_axes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray


# Manifolds that are R^dim in a chart.


class FlatManifold(Manifold):
    """A manifold isometric to R^dim through one global chart.

    A class adds ``dim``, ``point_shape`` and ``validate`` to the chart. By default tangent vectors
    are those of the chart, and the origin is where that is zero.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> space = riemdp.SPDLogEuclidean(2)
    >>> chart = space.to_chart(np.diag([np.e, 1.0]))
    >>> chart.round(4)
    array([1., 0., 0.])
    >>> space.from_chart(chart).round(4)
    array([[2.7183, 0.    ],
           [0.    , 1.    ]])
    """

    curvature_bound = 0.0  #: Zero.
    constant_curvature = 0.0  #: Zero.
    injectivity_radius = math.inf  #: Infinite.

    @abstractmethod
    def to_chart(self, points: ArrayLike) -> FloatArray:
        r"""Isometry to coordinates in R^dim.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray, shape (..., dim)
        """

    @abstractmethod
    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        r"""Inverse of :meth:`to_chart`.

        Parameters
        ----------
        coordinates : array_like, shape (..., dim)

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """

    @property
    def chart(self) -> FlatManifold:
        """The manifold itself."""
        return self

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """``(dim,)``."""
        return (self.dim,)

    @property
    def origin(self) -> FloatArray:
        """Where the chart is zero."""
        return self.from_chart(np.zeros(self.dim))

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Sum in the chart."""
        return self.from_chart(self.to_chart(base) + as_floats(tangent))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Difference in the chart."""
        return self.to_chart(point) - self.to_chart(base)

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Distance in the chart."""
        return long_norm(self.to_chart(b) - self.to_chart(a))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Coordinates are the tangent vector."""
        return np.zeros_like(self.to_chart(base)) + as_floats(coordinates)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Return the tangent vector, which is its coordinates."""
        return self.tangent_vector(base, tangent)

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """Difference of the charts; see :meth:`Manifold.coordinates`."""
        with np.errstate(over="ignore"):  # of a record at the other end of float64
            return self.to_chart(points) - self.to_chart(center)

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Sum of the charts; see :meth:`Manifold.point`."""
        return self.from_chart(self.to_chart(center) + as_floats(coordinates))

    def clip(self, center: ArrayLike, points: ArrayLike, radius: float) -> FloatArray:
        """Clip in the chart; see :meth:`Manifold.clip`."""
        points = as_floats(points)
        middle = self.to_chart(center)
        offset = self.to_chart(points) - middle
        clipped = clip_norm(offset, radius)
        outside = (clipped != offset).any(axis=-1)
        if not outside.any():
            return points.copy()
        moved = self.from_chart(middle + clipped)
        return np.where(with_axes(outside, self.point_shape), moved, points)


# Euclidean space R^d.


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
