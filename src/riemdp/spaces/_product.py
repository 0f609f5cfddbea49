"""Products of spaces: records with several parts."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.spaces._combined import Combined, Cut
from riemdp.spaces._flat_manifold import FlatManifold
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import as_floats, check_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray


class _Factors(Cut):
    """Points are the entries of those of the factors, one after the other."""

    spaces: tuple[Manifold, ...]

    def __init__(self, *factors: Manifold, spaces: Sequence[Manifold] = ()) -> None:
        found = (*factors, *spaces)
        if not found or not all(isinstance(space, Manifold) for space in found):
            raise InvalidParameterError(
                "a product needs one manifold or more, got "
                f"{', '.join(map(shown, found)) or 'none'}: Product(space, other, ...)"
            )
        object.__setattr__(self, "spaces", found)

    @property
    def counts(self) -> tuple[int, ...]:
        """One each."""
        return (1,) * len(self.spaces)

    @property
    def dim(self) -> int:
        """Sum of the dimensions."""
        return sum(space.dim for space in self.spaces)

    @property
    def point_shape(self) -> tuple[int]:
        """``(d,)``, d the number of entries of a point of every factor."""
        return (sum(math.prod(space.point_shape) for space in self.spaces),)

    def split(self, points: ArrayLike) -> list[FloatArray]:
        r"""Parts of points, shape ``(..., \*space.point_shape)`` each."""
        return _cut(as_floats(points), [space.point_shape for space in self.spaces])

    def join(self, parts: Sequence[ArrayLike]) -> FloatArray:
        """Points with these parts, whose leading axes broadcast; the inverse of :meth:`split`."""
        return _joined(parts, [space.point_shape for space in self.spaces])

    def apart(self, points: FloatArray) -> list[FloatArray]:
        """Parts; see :meth:`split`."""
        return self.split(points)

    def split_coordinates(self, coordinates: ArrayLike) -> list[FloatArray]:
        """Coordinates of the factors, shape ``(..., space.dim)`` each."""
        return _cut(as_floats(coordinates), [(space.dim,) for space in self.spaces])

    def join_coordinates(self, parts: Sequence[ArrayLike]) -> FloatArray:
        """Return the inverse of :meth:`split_coordinates`."""
        return _joined(parts, [(space.dim,) for space in self.spaces])

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check every part; see :meth:`Manifold.validate`."""
        return self.join(self._each("validate", self.split(check_points(points, self.point_shape))))

    def extreme_directions(self, base: ArrayLike) -> FloatArray:
        """Those of the factors; see :meth:`Manifold.extreme_directions`."""
        found = []
        for index, own in enumerate(self._each("extreme_directions", self.split(base))):
            parts = [np.zeros(each.dim) for each in self.spaces]
            parts[index] = own
            found.append(self.join_coordinates(parts))
        return np.concatenate(found)


@final
@register
@dataclass(frozen=True, init=False)
class Product(_Factors, Combined):
    """Product of Riemannian manifolds: squared distances add up.

    Points, and tangent vectors, are the entries of those of the factors, one after the other:
    :meth:`join` makes points of the factors' points, :meth:`split` takes them apart. A ball clips
    a record as a whole, and a :func:`riemdp.ProductBall` every factor by itself, if wanted.

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

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Product(riemdp.Sphere(2), riemdp.Euclidean(3))
    >>> space.dim
    5
    """

    proof = "docs/proofs/products.md"

    spaces: tuple[Manifold, ...]

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """``(d,)``, d the number of entries of a tangent vector of every factor."""
        return (sum(math.prod(space.tangent_shape) for space in self.spaces),)

    def _norm(self, parts: Sequence[FloatArray]) -> FloatArray:
        return functools.reduce(np.hypot, parts)

    def _values(self, parts: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        return np.stack(np.broadcast_arrays(*parts), axis=-1)

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
    *factors, spaces
        Flat ones; see :class:`Product`.

    Raises
    ------
    InvalidParameterError
        If there is no factor, or one is not flat.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.spaces import FlatProduct
    >>> space = FlatProduct(riemdp.SPDLogEuclidean(2), riemdp.Euclidean(1))
    >>> space.dim, space.point_shape
    (4, (5,))
    >>> space.to_chart(space.origin).round(4)
    array([0., 0., 0., 0.])
    """

    proof = "docs/proofs/products.md"

    spaces: tuple[FlatManifold, ...]

    def __init__(self, *factors: FlatManifold, spaces: Sequence[FlatManifold] = ()) -> None:
        super().__init__(*factors, spaces=spaces)
        if any(space.chart is None for space in self.spaces):
            raise InvalidParameterError("a factor is not flat; use Product")

    def to_chart(self, points: ArrayLike) -> FloatArray:
        """Charts of the factors, one after the other."""
        return self.join_coordinates(self._each("to_chart", self.split(points)))

    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        """Inverse of :meth:`to_chart`."""
        return self.join(self._each("from_chart", self.split_coordinates(coordinates)))


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
