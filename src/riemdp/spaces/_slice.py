"""Representatives that are aligned to a template: a totally geodesic part of a cover."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces._sphere import Sphere

if TYPE_CHECKING:
    from riemdp.spaces._manifold import Manifold
    from riemdp.spaces._points import FloatArray

#: An entry counts as negative below this: zeros, whose sign is rounding, never decide on a frame.
_NEGATIVE = -(2.0**-26)


class Slice(ABC):
    """Totally geodesic part of a cover that all representatives aligned to a template lie in.

    Attributes
    ----------
    space : Manifold
        The part, as a space of its own.
    reach : float
        Points of :attr:`space` nearer to the template than this are aligned: no representative
        of the same point of the quotient is as near.

    References
    ----------
    docs/proofs/aligned-means.md
    """

    space: Manifold
    reach: float

    @abstractmethod
    def restrict(self, points: FloatArray) -> FloatArray:
        r"""Aligned representatives as points of :attr:`space`.

        Parameters
        ----------
        points : ndarray, shape (..., \*cover.point_shape)
            What lies beside the part is dropped.

        Returns
        -------
        ndarray, shape (..., \*space.point_shape)
        """

    @abstractmethod
    def embed(self, points: FloatArray) -> FloatArray:
        r"""Points of :attr:`space` as representatives, the inverse of :meth:`restrict`.

        Parameters
        ----------
        points : ndarray, shape (..., \*space.point_shape)

        Returns
        -------
        ndarray, shape (..., \*cover.point_shape)
        """


class WholeSlice(Slice):
    """All of the cover, as where the orbits are discrete.

    Parameters
    ----------
    cover : Manifold
    reach : float
    """

    def __init__(self, cover: Manifold, reach: float) -> None:
        self.space, self.reach = cover, reach

    def restrict(self, points: FloatArray) -> FloatArray:
        """Themselves."""
        return points

    def embed(self, points: FloatArray) -> FloatArray:
        """Themselves."""
        return points


class SphereSlice(Slice):
    """Points of a sphere that are orthogonal to the orbit of a template, at the template.

    They are a sphere about the same centre. Its first axis is the template.

    Parameters
    ----------
    curvature : float
        Of the sphere.
    template : ndarray, shape (N,)
        Point of the sphere.
    vertical : ndarray, shape (v, N)
        Independent vectors that span the tangent space of its orbit there.
    reach : float
    """

    space: Sphere

    def __init__(
        self, curvature: float, template: FloatArray, vertical: FloatArray, reach: float
    ) -> None:
        dropped, size = vertical.shape
        self.space, self.reach = Sphere(size - 1 - dropped, curvature), reach
        self._normals, self._sign = reflections(np.concatenate([template[None], vertical]))
        self._dropped = dropped

    def restrict(self, points: FloatArray) -> FloatArray:
        """Leave out the coordinates along the orbit, and normalise."""
        turned = reflected(self._normals, points)
        found = np.concatenate(
            [self._sign * turned[..., :1], turned[..., 1 + self._dropped :]], axis=-1
        )
        length = np.linalg.norm(found, axis=-1, keepdims=True)
        unit = math.sqrt(self.space.curvature) * np.where(length > 0.0, length, 1.0)
        return np.asarray(found / unit)

    def embed(self, points: FloatArray) -> FloatArray:
        """Put zeros along the orbit."""
        turned = np.zeros((*points.shape[:-1], points.shape[-1] + self._dropped))
        turned[..., 0] = self._sign * points[..., 0]
        turned[..., 1 + self._dropped :] = points[..., 1:]
        return reflected(self._normals[..., ::-1, :], turned)


def reflections(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return unit normals of reflections that turn independent vectors to the first axes.

    Vectors and normals have shape ``(..., v, N)``: the first i reflections, one after the other,
    take the span of the first i vectors to that of the first i axes. Returned with them is the
    sign ``(...)`` of the first entry of what becomes of the first vector. Signs do not follow the
    rounding of zeros, so that the frame is the same on every machine.
    """
    normals = np.zeros(vectors.shape)
    signs = []
    for i in range(vectors.shape[-2]):
        rest = reflected(normals[..., :i, :], vectors[..., i, :])
        rest[..., :i] = 0.0
        rest = _unit(rest)
        sign = np.where(rest[..., i] > _NEGATIVE, 1.0, -1.0)
        rest[..., i] += sign
        normals[..., i, :] = _unit(rest)
        signs.append(-sign)
    return normals, signs[0]


def reflected(normals: FloatArray, points: FloatArray) -> FloatArray:
    """Points ``(..., N)`` after reflections, normals ``(..., v, N)``, one after the other."""
    found = np.array(points)
    for i in range(normals.shape[-2]):
        normal = normals[..., i, :]
        found = found - 2.0 * np.sum(found * normal, axis=-1, keepdims=True) * normal
    return found


def _unit(vectors: FloatArray) -> FloatArray:
    """Vectors over their norms, by sums that round alike on every machine."""
    return np.asarray(vectors / np.sqrt(np.sum(vectors * vectors, axis=-1, keepdims=True)))
