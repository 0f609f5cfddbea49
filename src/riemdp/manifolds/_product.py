"""Products of spaces: records with several parts."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._part import register
from riemdp.manifolds._flat_manifold import FlatManifold
from riemdp.manifolds._manifold import Manifold
from riemdp.manifolds._points import as_floats, check_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds._points import FloatArray


class _Factors:
    """Cutting arrays of a product into those of its factors, and joining them."""

    spaces: tuple[Manifold, ...]

    def __init__(self, *factors: Manifold, spaces: Sequence[Manifold] = ()) -> None:
        found = (*factors, *spaces)
        if not found or not all(isinstance(space, Manifold) for space in found):
            raise InvalidParameterError(
                f"a product needs one manifold or more, got {', '.join(map(shown, found))}"
            )
        object.__setattr__(self, "spaces", found)

    @property
    def dim(self) -> int:
        """Sum of the dimensions."""
        return sum(space.dim for space in self.spaces)

    @property
    def point_shape(self) -> tuple[int]:
        """``(d,)``, d the number of entries of a point of every factor."""
        return (sum(math.prod(space.point_shape) for space in self.spaces),)

    def split(self, points: ArrayLike) -> list[FloatArray]:
        r"""Parts of points.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        list of ndarray, shape (..., \*space.point_shape) each
        """
        return _cut(as_floats(points), [space.point_shape for space in self.spaces])

    def join(self, parts: Sequence[ArrayLike]) -> FloatArray:
        r"""Points with these parts, the inverse of :meth:`split`.

        Parameters
        ----------
        parts : sequence of array_like, shape (..., \*space.point_shape) each
            Leading axes broadcast.

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """
        return _joined(parts, [space.point_shape for space in self.spaces])

    def split_coordinates(self, coordinates: ArrayLike) -> list[FloatArray]:
        """Coordinates of the factors.

        Parameters
        ----------
        coordinates : array_like, shape (..., dim)

        Returns
        -------
        list of ndarray, shape (..., space.dim) each
        """
        return _cut(as_floats(coordinates), [(space.dim,) for space in self.spaces])

    def join_coordinates(self, parts: Sequence[ArrayLike]) -> FloatArray:
        """Return the inverse of :meth:`split_coordinates`.

        Parameters
        ----------
        parts : sequence of array_like, shape (..., space.dim) each

        Returns
        -------
        ndarray, shape (..., dim)
        """
        return _joined(parts, [(space.dim,) for space in self.spaces])

    @property
    def origin(self) -> FloatArray:
        """Origins of the factors."""
        return self.join([space.origin for space in self.spaces])

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check every part; see :meth:`Manifold.validate`."""
        checked, _ = check_points(points, self.point_shape)
        raw = np.asarray(points)
        # parts keep the precision that tolerances follow
        given = raw if raw.dtype.kind == "f" and raw.shape == checked.shape else checked
        parts = _cut(given, [space.point_shape for space in self.spaces])
        return self.join([space.validate(part) for space, part in self._each(parts)])

    def extreme_directions(self, base: ArrayLike) -> FloatArray:
        """Those of the factors; see :meth:`Manifold.extreme_directions`."""
        found = []
        for index, (space, foot) in enumerate(self._each(self.split(base))):
            parts = [np.zeros(each.dim) for each in self.spaces]
            parts[index] = space.extreme_directions(foot)
            found.append(self.join_coordinates(parts))
        return np.concatenate(found)

    @property
    def inside(self) -> tuple[Manifold, ...]:
        """The factors."""
        return self.spaces

    def _each(self, parts: Sequence[FloatArray]) -> list[tuple[Manifold, FloatArray]]:
        return list(zip(self.spaces, parts, strict=True))


@final
@register
@dataclass(frozen=True, init=False)
class Product(_Factors, Manifold):
    """Product of Riemannian manifolds: squared distances add up.

    Points, and tangent vectors, are the entries of those of the factors, one after the other. A
    ball clips a record as a whole.

    Parameters
    ----------
    *factors : Manifold
        One or more.
    spaces : sequence of Manifold, optional
        More factors, as documents write them.

    Raises
    ------
    InvalidParameterError
        If there is no factor, or one is no manifold.
    """

    proof = "docs/proofs/products.md"

    spaces: tuple[Manifold, ...]

    @property
    def factors(self) -> tuple[Manifold, ...]:
        """Those of all spaces, one after the other."""
        return tuple(factor for space in self.spaces for factor in space.factors)

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """``(d,)``, d the number of entries of a tangent vector of every factor."""
        return (sum(math.prod(space.tangent_shape) for space in self.spaces),)

    @property
    def curvature_bound(self) -> float:
        """Largest of the factors and, of planes across two factors, 0."""
        bounds = [space.curvature_bound for space in self.spaces]
        return max([*bounds, 0.0]) if len(bounds) > 1 else bounds[0]

    @property
    def curvature_floor(self) -> float:
        """Least of the factors and, of planes across two factors, 0."""
        floors = [space.curvature_floor for space in self.spaces]
        return min([*floors, 0.0]) if len(floors) > 1 else floors[0]

    @property
    def constant_curvature(self) -> float | None:
        """0 where that of every factor is, and that of a single factor; else None."""
        found = {space.constant_curvature for space in self.spaces}
        if len(self.spaces) == 1 or found == {0.0}:
            return found.pop()
        return None

    @property
    def injectivity_radius(self) -> float:
        """Least of the factors."""
        return min(space.injectivity_radius for space in self.spaces)

    @property
    def diameter(self) -> float:
        """Root of the sum of squares."""
        return math.nextafter(math.hypot(*(space.diameter for space in self.spaces)), math.inf)

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Factor by factor."""
        parts = zip(self.spaces, self.split(base), self._split_tangent(tangent), strict=True)
        return self.join([space.exp(*each) for space, *each in parts])

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Factor by factor."""
        parts = zip(self.spaces, self.split(base), self.split(point), strict=True)
        return self._join_tangent([space.log(*each) for space, *each in parts])

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Root of the sum of squares."""
        parts = zip(self.spaces, self.split(a), self.split(b), strict=True)
        return functools.reduce(np.hypot, [space.dist(*each) for space, *each in parts])

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Frames of the factors, one after the other."""
        cut = self.split_coordinates(coordinates)
        parts = zip(self.spaces, self.split(base), cut, strict=True)
        return self._join_tangent([space.tangent_vector(*each) for space, *each in parts])

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        parts = zip(self.spaces, self.split(base), self._split_tangent(tangent), strict=True)
        return self.join_coordinates([space.tangent_coordinates(*each) for space, *each in parts])

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """Factor by factor; see :meth:`Manifold.coordinates`."""
        parts = zip(self.spaces, self.split(center), self.split(points), strict=True)
        return self.join_coordinates([space.coordinates(*each) for space, *each in parts])

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Factor by factor; see :meth:`Manifold.point`."""
        cut = self.split_coordinates(coordinates)
        parts = zip(self.spaces, self.split(center), cut, strict=True)
        return self.join([space.point(*each) for space, *each in parts])

    def clip(self, center: ArrayLike, points: ArrayLike, radius: float) -> FloatArray:
        """Of every record; see :meth:`Manifold.clip`.

        A part without a logarithm in float64 counts as the centre's, as for :meth:`coordinates`.
        """
        center, points = as_floats(center), as_floats(points)
        try:
            with np.errstate(all="ignore"):
                return super().clip(center, points, radius)
        except (NotOnManifoldError, np.linalg.LinAlgError):
            parts = zip(self.spaces, self.split(center), self.split(points), strict=True)
            kept = self.join([space._kept(*each) for space, *each in parts])
        with np.errstate(all="ignore"):
            return super().clip(center, kept, radius)

    def _lost(self, center: FloatArray, points: FloatArray) -> NDArray[np.bool_]:
        """Those of which a factor has lost its part."""
        parts = zip(self.spaces, self.split(center), self.split(points), strict=True)
        return np.asarray(np.any([space._lost(*each) for space, *each in parts], axis=0))

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Every factor needs room; see :meth:`Manifold.check_ball`."""
        super().check_ball(center, radius)
        for space, middle in self._each(self.split(center)):
            space.check_ball(middle, radius)

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Root of the sum of squares."""
        parts = self._each(self.split(center))
        return math.hypot(*(space.rounding(middle, radius) for space, middle in parts))

    def _total_log(self, center: ArrayLike, points: FloatArray) -> FloatArray:
        return self.tangent_vector(center, self.coordinates(center, points))

    def _split_tangent(self, tangent: ArrayLike) -> list[FloatArray]:
        return _cut(as_floats(tangent), [space.tangent_shape for space in self.spaces])

    def _join_tangent(self, parts: Sequence[ArrayLike]) -> FloatArray:
        return _joined(parts, [space.tangent_shape for space in self.spaces])


@final
@register
@dataclass(frozen=True, init=False)
class FlatProduct(_Factors, FlatManifold):
    """Product of flat manifolds, which is flat: its chart has those of the factors.

    Parameters
    ----------
    *factors : FlatManifold
        One or more.
    spaces : sequence of FlatManifold, optional
        More factors, as documents write them.

    Raises
    ------
    InvalidParameterError
        If there is no factor, or one is not flat.
    """

    proof = "docs/proofs/products.md"

    spaces: tuple[FlatManifold, ...]

    def __init__(self, *factors: FlatManifold, spaces: Sequence[FlatManifold] = ()) -> None:
        super().__init__(*factors, spaces=spaces)
        if any(space.chart is None for space in self.spaces):
            raise InvalidParameterError("a factor is not flat; use Product")

    def to_chart(self, points: ArrayLike) -> FloatArray:
        """Charts of the factors, one after the other."""
        parts = zip(self.spaces, self.split(points), strict=True)
        return self.join_coordinates([space.to_chart(part) for space, part in parts])

    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        """Inverse of :meth:`to_chart`."""
        parts = zip(self.spaces, self.split_coordinates(coordinates), strict=True)
        return self.join([space.from_chart(part) for space, part in parts])

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Factor by factor; see :meth:`Manifold.point`."""
        cut = self.split_coordinates(coordinates)
        parts = zip(self.spaces, self.split(center), cut, strict=True)
        return self.join([space.point(*each) for space, *each in parts])

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Root of the sum of squares."""
        parts = self._each(self.split(center))
        return math.hypot(*(space.rounding(middle, radius) for space, middle in parts))


def _cut(values: FloatArray, shapes: Sequence[tuple[int, ...]]) -> list[FloatArray]:
    """Cut the last axis into arrays of these shapes."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    parts = np.split(values, ends, axis=-1)
    return [
        part.reshape(*values.shape[:-1], *shape) for part, shape in zip(parts, shapes, strict=True)
    ]


def _joined(parts: Sequence[ArrayLike], shapes: Sequence[tuple[int, ...]]) -> FloatArray:
    """Inverse of :func:`_cut`; leading axes broadcast."""
    flat = []
    for part, shape in zip(parts, shapes, strict=True):
        array = np.asarray(part)
        flat.append(array.reshape(*array.shape[: array.ndim - len(shape)], math.prod(shape)))
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in flat))
    wide = [np.broadcast_to(array, (*batch, array.shape[-1])) for array in flat]
    return np.concatenate(wide, axis=-1)
