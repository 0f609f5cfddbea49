"""Shapes of landmarks in the plane: up to translation, scale and rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from riemdp._checks import count
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._part import register
from riemdp.spaces._landmarks import (
    checked_preshape,
    complex_landmarks,
    landmark_pairs,
    landmarks_of,
    leading_landmark,
    preshape_of,
)
from riemdp.spaces._points import as_floats, check_finite
from riemdp.spaces._quotient import Quotient
from riemdp.spaces._slice import SphereSlice
from riemdp.spaces._sphere import Sphere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray
    from riemdp.spaces._quotient import Arb
    from riemdp.spaces._slice import Slice

_EPS = float(np.finfo(np.float64).eps)
#: Deviation of a configuration from its canonical one, per landmark, that is not corrected.
_ROUNDING = 8.0 * _EPS
#: A product of unit vectors this small has no phase in float64.
_NO_PHASE = 1e-150


@final
@register
@dataclass(frozen=True)
class PlanarShapes(Quotient):
    r"""Kendall's shapes of ``k`` landmarks in the plane.

    Configurations of landmarks up to translation, scale and rotation (not reflection): the complex
    projective space CP^(k-2). The distance is the angle ``arccos |<z, w>|`` of centred
    configurations z, w of norm 1, in [0, pi/2].

    Users hand landmarks as complex numbers, shape (..., k), or as pairs of real ones, shape
    (..., k, 2), wherever points are asked for; methods return pairs. :meth:`present` makes complex
    numbers of them, and the value of a release is that. Any configuration whose landmarks are not
    all at one place stands for its shape. ``validate`` returns the one of it that is centred, of
    norm 1, and whose first landmark not at the centre is real and positive.

    Parameters
    ----------
    k : int
        Number of landmarks, at least 3. ``PlanarShapes(3)`` is a sphere of radius 1/2.

    Raises
    ------
    InvalidParameterError
        If ``k`` is no integer of at least 3.

    Notes
    -----
    The cover is ``Sphere(2 k - 3)``: real parts, then imaginary parts, of the centred configuration
    in Helmert's basis. Tangent vectors are those of the cover at the representative of the base,
    orthogonal to its orbit. With the representative z, coordinates belong to the orthonormal
    complex basis of its complement that a Householder reflection makes of the last k - 2 axes: real
    parts, then imaginary parts.

    References
    ----------
    Kendall, "Shape manifolds, Procrustean metrics, and complex projective spaces", Bulletin of the
    London Mathematical Society 16, 1984; docs/proofs/quotients.md

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.PlanarShapes(5)
    >>> space.dim, space.point_shape
    (6, (5, 2))
    """

    proof = "docs/proofs/quotients.md"
    origin_name = "regular-polygon"

    curvature_bound = 4.0  #: 4, of planes that multiplication by i maps to themselves.
    injectivity_radius = 0.5 * math.pi  #: ``pi / 2``.
    diameter = math.nextafter(0.5 * math.pi, math.inf)  #: ``pi / 2``, rounded up.

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", count(self.k, "k"))
        if self.k < 3:
            raise InvalidParameterError(
                f"shapes need k >= 3 landmarks, got {self.k}: all pairs have one shape"
            )

    @property
    def dim(self) -> int:
        """``2 k - 4``."""
        return 2 * self.k - 4

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(k, 2)``: landmarks as pairs of real numbers."""
        return (self.k, 2)

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """``(2 k - 2,)``, that of the cover."""
        return self.cover.tangent_shape

    @property
    def cover(self) -> Sphere:
        """Unit vectors of k - 1 complex numbers."""
        return Sphere(2 * self.k - 3)

    @property
    def curvature_floor(self) -> float:
        """1, of three landmarks 4."""
        return 1.0 if self.k > 3 else 4.0

    @property
    def constant_curvature(self) -> float | None:
        """4 of three landmarks, None of more."""
        return None if self.k > 3 else 4.0

    @property
    def origin(self) -> FloatArray:
        """The regular polygon, anticlockwise, its first landmark on the real axis."""
        turns = 2.0 * math.pi * np.arange(self.k) / self.k
        polygon = np.stack([np.cos(turns), np.sin(turns)], axis=-1)
        return self.validate(polygon / math.sqrt(self.k))

    # Landmarks and their unit vectors.

    def read(self, points: ArrayLike) -> FloatArray:
        """Return landmarks, complex or pairs, as pairs; see :meth:`Manifold.read`."""
        return landmark_pairs(points)

    def present(self, points: ArrayLike) -> Any:
        """Return complex landmarks, shape (..., k); see :meth:`Manifold.present`."""
        return complex_landmarks(self.read(points))

    def lift(self, points: ArrayLike) -> FloatArray:
        """Return unit vectors of configurations, turned to the canonical one."""
        pairs = self._canonical(self.read(points))
        return preshape_of(pairs)[0]

    def push(self, points: ArrayLike) -> FloatArray:
        """Return canonical landmarks of unit vectors."""
        return landmarks_of(np.ascontiguousarray(as_floats(points)))

    def nearest(self, base: ArrayLike, points: ArrayLike) -> FloatArray:
        """Turn unit vectors so that ``<base, point>`` is real and positive.

        Those with ``<base, point>`` zero, all turns of which are as near, stay as they are.
        """
        z, w = self._complex(base), self._complex(points)
        return self._real(_times(w, _conjugate(_phase(_inner(z, w)))))

    def slice_at(self, template: FloatArray) -> Slice:
        """Return the sphere of those with a real product with it; see :meth:`Quotient.slice_at`."""
        start = self.lift(template)
        x, y = self._complex(start)
        turned = np.concatenate([-y, x])
        return SphereSlice(1.0, start, turned[None], self.injectivity_radius)

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check that landmarks have a shape; return its canonical configuration.

        Their array has shape ``(..., k)``, of complex numbers, or ``(..., k, 2)``. One that is
        canonical up to rounding comes back unchanged, bit by bit. A row with all its landmarks at
        one place, within 1e-12 of its largest coordinate, has no shape; see
        :meth:`Manifold.validate`.
        """
        pairs = self.read(points)
        if pairs.shape[-2:] != self.point_shape:
            raise NotOnManifoldError(
                f"landmarks must have shape (..., {self.k}), complex numbers, or (..., {self.k}, "
                f"2), real ones, got {np.shape(points)}"
            )
        check_finite(pairs, 2)
        checked_preshape(pairs)
        return self._canonical(pairs)

    def _canonical(self, pairs: FloatArray) -> FloatArray:
        """Centre, scale and turn those that are not so up to rounding."""
        x, y = (np.ascontiguousarray(pairs[..., i]) for i in (0, 1))
        allowed = _ROUNDING * pairs.shape[-2]
        with np.errstate(over="ignore", invalid="ignore"):
            square = x * x + y * y
            first = leading_landmark(np.sqrt(square))[..., None]
            right, up = (np.take_along_axis(part, first, -1)[..., 0] for part in (x, y))
            is_canonical = np.abs(square.sum(axis=-1) - 1.0) <= allowed
            is_canonical &= (np.abs(up) <= allowed) & (right > 0.0)
            for part in (x, y):
                is_canonical &= np.abs(part.sum(axis=-1)) <= allowed
        if is_canonical.all():
            return pairs
        return np.where(is_canonical[..., None, None], pairs, landmarks_of(preshape_of(pairs)[0]))

    # Geometry, at the representative of the base.

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Exponential of the cover."""
        return self.push(self.cover.exp(self.lift(base), tangent))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Logarithm of the nearest representative, at distance pi/2 of a fixed one."""
        start = self.lift(base)
        return self._horizontal(start, self._normal(start, self.lift(point)))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Coordinates in a complex basis of the complement of the representative."""
        return self._horizontal(self.lift(base), as_floats(coordinates))

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        vector = self._complex(tangent)
        return self._real(_reflect(self._complex(self.lift(base)), vector)[..., 1:])

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """See :meth:`Manifold.coordinates`; at distance pi/2 those of :meth:`log`."""
        return self._normal(self.lift(center), self.lift(points))

    def rounding(self, center: FloatArray, radius: float) -> float:  # noqa: ARG002
        """Of unit vectors that are made of landmarks, and back."""
        return 16.0 * _EPS * math.sqrt(self.k)

    def _normal(self, start: FloatArray, points: FloatArray) -> FloatArray:
        """Return normal coordinates about the point of a unit vector."""
        z, w = self._complex(start), self._complex(points)
        product, across = _inner(z, w), _reflect(z, w)[..., 1:]
        aligned = self._real(_times(across, _conjugate(_phase(product))))
        sine = np.linalg.norm(aligned, axis=-1)
        angle = np.arctan2(sine, np.linalg.norm(product, axis=-1))
        scale = np.divide(angle, sine, out=np.ones_like(angle), where=sine > 0.0)
        return np.asarray(aligned * scale[..., None])

    def _horizontal(self, start: FloatArray, coordinates: FloatArray) -> FloatArray:
        """Tangent vector at a unit vector, orthogonal to its orbit."""
        z, along = self._complex(start), self._complex(coordinates)
        batch = np.broadcast_shapes(z.shape[:-2], along.shape[:-2])
        raised = np.zeros((*batch, 2, self.k - 1))
        raised[..., 1:] = along
        return self._real(_reflect(z, raised))

    @staticmethod
    def _complex(values: ArrayLike) -> FloatArray:
        """Real parts, then imaginary parts, as two rows, shape (..., 2, m)."""
        array = as_floats(values)
        return array.reshape(*array.shape[:-1], 2, array.shape[-1] // 2)

    @staticmethod
    def _real(parts: FloatArray) -> FloatArray:
        """Inverse of :meth:`_complex`."""
        return parts.reshape(*parts.shape[:-2], 2 * parts.shape[-1])

    # Coordinates of the cover, where noise is drawn.

    def raised(self, coordinates: Sequence[Fraction]) -> list[Fraction]:
        """First along the orbit, then these: an orthonormal frame; see :meth:`Quotient.raised`."""
        return [Fraction(0), *coordinates]

    def folded(self, ends: Sequence[Arb]) -> list[Arb] | None:
        """See :meth:`Quotient.folded`; in the frame of :meth:`raised`."""
        square = sum(v * v for v in ends)
        if not square > 0:
            return None
        length = square.sqrt()
        sine = length.sin() / length
        a, b = length.cos(), sine * ends[0]
        modulus = (a * a + b * b).sqrt()
        across = [sine * v for v in ends[1:]]
        size = sum(v * v for v in across)
        if not (modulus > 0 and size > 0):
            return None
        size = size.sqrt()
        scale = (size / modulus).atan() / (size * modulus)
        half = len(across) // 2
        x, y = across[:half], across[half:]
        # times the conjugate of a + i b
        turned = [u * a + v * b for u, v in zip(x, y, strict=True)]
        turned += [v * a - u * b for u, v in zip(x, y, strict=True)]
        return [scale * v for v in turned]


# Complex vectors are two rows of real numbers, shape (..., 2, m), and complex numbers pairs, shape
# (..., 2): NumPy rounds complex products differently from place to place in an array.


def _inner(z: FloatArray, w: FloatArray) -> FloatArray:
    """Product ``<z, w>``, conjugate in the first, shape (..., 2)."""
    x = [[np.einsum("...i,...i->...", z[..., i, :], w[..., j, :]) for j in (0, 1)] for i in (0, 1)]
    return np.stack([x[0][0] + x[1][1], x[0][1] - x[1][0]], axis=-1)


def _times(w: FloatArray, factor: FloatArray) -> FloatArray:
    """Complex vectors times complex numbers."""
    x, y = w[..., 0, :], w[..., 1, :]
    a, b = factor[..., :1], factor[..., 1:]
    return np.stack([x * a - y * b, x * b + y * a], axis=-2)


def _conjugate(number: FloatArray) -> FloatArray:
    return np.asarray(number * np.array([1.0, -1.0]))


def _phase(number: FloatArray) -> FloatArray:
    """Complex numbers over their modulus; 1 of those that are zero."""
    x, y = number[..., 0], number[..., 1]
    modulus = np.sqrt(x * x + y * y)
    has_one = (modulus > _NO_PHASE)[..., None]
    unit = number / np.where(has_one, modulus[..., None], 1.0)
    return np.asarray(np.where(has_one, unit, [1.0, 0.0]))


def _reflect(z: FloatArray, w: FloatArray) -> FloatArray:
    """Apply the reflection that takes the first axis to a multiple of the unit vector ``z``."""
    x, y = z[..., 0, 0], z[..., 1, 0]
    normal = z.copy()
    normal[..., 0] += _phase(z[..., 0])
    # |normal|^2 = 2 + 2|z_0|
    along = _inner(normal, w) / (1.0 + np.sqrt(x * x + y * y))[..., None]
    return np.asarray(w - _times(normal, along))
