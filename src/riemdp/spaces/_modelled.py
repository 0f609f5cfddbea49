"""Manifolds with the geometry of another one."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import with_axes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray


class Modelled(Manifold):
    """A manifold whose points stand for points of another one, its model, with that geometry.

    Curvature, geodesics and frames are the model's, and tangent vectors are vectors of it.
    """

    @property
    @abstractmethod
    def _model(self) -> Manifold:
        """The other manifold."""

    @abstractmethod
    def _in_model(self, points: ArrayLike) -> FloatArray:
        """Return what points are in the model."""

    @abstractmethod
    def _of_model(self, points: ArrayLike) -> FloatArray:
        """Points that points of the model stand for."""

    @abstractmethod
    def _beside(self, base: ArrayLike, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return base points in the model, and the others as seen from them: the nearest ones."""

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """That of the model."""
        return self._model.tangent_shape

    @property
    def curvature_bound(self) -> float:
        """That of the model."""
        return self._model.curvature_bound

    @property
    def curvature_floor(self) -> float:
        """That of the model."""
        return self._model.curvature_floor

    @property
    def constant_curvature(self) -> float | None:
        """That of the model."""
        return self._model.constant_curvature

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Exponential of the model."""
        return self._of_model(self._model.exp(self._in_model(base), tangent))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Logarithm of the model."""
        return self._model.log(*self._beside(base, point))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Frame of the model."""
        return self._model.tangent_vector(self._in_model(base), coordinates)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        return self._model.tangent_coordinates(self._in_model(base), tangent)

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """Those of the model; see :meth:`Manifold.coordinates`."""
        return self._model.coordinates(*self._beside(center, points))

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """See :meth:`Manifold.point`."""
        return self._of_model(self._model.point(self._in_model(center), coordinates))

    def clip(self, center: ArrayLike, points: ArrayLike, radius: float) -> FloatArray:
        """Clip in the model; see :meth:`Manifold.clip`."""
        points = self.read(points)
        start, near = self._beside(center, points)
        outside = self._model.dist(start, near) > radius
        if not outside.any():
            return points.copy()
        moved = self._of_model(self._model.clip(start, near, radius))
        return np.where(with_axes(outside, self.point_shape), moved, points)
