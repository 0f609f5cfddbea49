"""Shapes of landmarks in three dimensions or more: Kendall's spaces, with singular points."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import count
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._part import register
from riemdp.spaces._landmarks import centred_landmarks, checked_preshape, preshape_of
from riemdp.spaces._points import as_floats, check_points
from riemdp.spaces._quotient import Quotient
from riemdp.spaces._slice import SphereSlice, reflected, reflections
from riemdp.spaces._sphere import Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray
    from riemdp.spaces._slice import Slice

_EPS = float(np.finfo(np.float64).eps)
#: Sum of the two least squared singular values of a template that counts as zero.
_ONE_LINE = 1e-12
#: Rounding of a canonical configuration that is left as it is, for each entry.
_ROUNDING = 16.0 * _EPS


@final
@register
@dataclass(frozen=True)
class KendallShapes(Quotient):
    """Shapes of ``k`` landmarks in ``m`` dimensions: without place, size and rotation.

    Mirror images are different shapes. Distances are angles: with centred configurations x, y of
    norm 1, the arc cosine of the sum of the singular values of ``x^T y``, the least of them with
    the sign of the determinant. Curvature is unbounded near configurations of lower rank, so that
    no ball has a proved intrinsic Fréchet mean: align records to a public template,
    ``QuotientBall(KendallShapes(k), template, radius, mean="aligned")``.

    Parameters
    ----------
    k : int
        Landmarks, more than dimensions. Points are configurations of shape ``(k, m)``, of any
        place, size and rotation; the canonical ones have centroid 0, norm 1, and are turned so
        that they are nearest to :attr:`origin`.
    m : int, default 3
        Dimensions, 2 or more.

    Raises
    ------
    InvalidParameterError
        If the numbers are none, or too small.

    References
    ----------
    Kendall, Barden, Carne, Le, "Shape and Shape Theory", Wiley 1999;
    docs/proofs/aligned-means.md

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.KendallShapes(5)
    >>> space.dim, space.point_shape
    (8, (5, 3))
    """

    proof = "docs/proofs/aligned-means.md"
    origin_name = "waves"

    curvature_bound = math.inf  #: Infinite.
    curvature_floor = 1.0  #: That of the cover: a submersion lowers no curvature.
    constant_curvature = None  #: None.
    #: 0: there is a singular shape within every distance of some shape.
    injectivity_radius = 0.0
    diameter = math.nextafter(0.5 * math.pi, math.inf)  #: ``pi / 2``, rounded up.

    k: int
    m: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", count(self.k, "k, the number of landmarks,"))
        object.__setattr__(self, "m", count(self.m, "m, the number of dimensions,"))
        if self.m < 2 or self.k <= self.m:
            raise InvalidParameterError(
                "shapes need 2 dimensions or more, and more landmarks than dimensions; got "
                f"k = {self.k}, m = {self.m}"
            )

    @property
    def dim(self) -> int:
        """``m (k - 1) - 1 - m (m - 1) / 2``."""
        return self.m * (self.k - 1) - 1 - self.m * (self.m - 1) // 2

    @property
    def point_shape(self) -> tuple[int, ...]:
        """``(k, m)``."""
        return (self.k, self.m)

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """``(m (k - 1),)``."""
        return self.cover.point_shape

    @functools.cached_property
    def cover(self) -> Sphere:
        """Unit vectors: configurations in Helmert's basis, one dimension after the other."""
        return Sphere(self.m * (self.k - 1) - 1)

    @property
    def origin(self) -> FloatArray:
        """Dimension j is half a cosine wave more than the one before; all are as wide."""
        i, j = np.arange(self.k)[:, None] + 0.5, np.arange(1, self.m + 1)
        return math.sqrt(2.0 / (self.k * self.m)) * np.cos(math.pi * i * j / self.k)

    @functools.cached_property
    def _start(self) -> FloatArray:
        """Unit vector of the origin."""
        return preshape_of(self.origin)[0]

    def lift(self, points: ArrayLike) -> FloatArray:
        """Return unit vectors of configurations, as they are turned."""
        return preshape_of(as_floats(points))[0]

    def push(self, points: ArrayLike) -> FloatArray:
        """Return configurations of unit vectors, turned to the origin."""
        return _landmarks(self._rows(self.nearest(self._start, points)))

    def nearest(self, base: ArrayLike, points: ArrayLike) -> FloatArray:
        """Rotate by the rotation that singular vectors give; ties are theirs.

        Which rotation it is follows from the two configurations alone.
        """
        rows = self._rows(as_floats(points))
        turn, _ = _rotation(_product(self._rows(as_floats(base)), rows))
        return self._flat(_turned(turn, rows))

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check that landmarks have a shape; return its canonical configuration.

        Their array has shape ``(..., k, m)``. One that is canonical up to rounding comes back
        unchanged, bit by bit. A row with all its landmarks at one place, within 1e-12 of its
        largest coordinate, has no shape; see :meth:`Manifold.validate`.
        """
        array = check_points(points, self.point_shape)
        rows = self._rows(checked_preshape(array))
        product = _product(self._rows(self._start), rows)
        turn, most = _rotation(product)
        # |X|^2 and the centroid of the configuration itself, not of what was made of it
        allowed = _ROUNDING * self.k * self.m
        with np.errstate(over="ignore", invalid="ignore"):
            ready = np.abs(np.square(array).sum(axis=(-1, -2)) - 1.0) <= allowed
            ready &= np.abs(array.sum(axis=-2)).max(axis=-1) <= allowed
        gap = product - np.swapaxes(product, -1, -2)
        ready &= np.abs(gap).max(axis=(-1, -2)) <= allowed
        ready &= np.trace(product, axis1=-2, axis2=-1) >= most - allowed
        if ready.all():
            return array
        return np.where(ready[..., None, None], array, _landmarks(_turned(turn, rows)))

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Refuse: no ball has a proved mean; see :meth:`Manifold.check_ball`."""
        del center
        raise UnsupportedBallError(
            f"a ball of {self}, of radius {radius:.6g}, has no proved Fréchet mean: the curvature "
            "is unbounded. Align the records to a public template: "
            'QuotientBall(space, template, radius, mean="aligned")'
        )

    def slice_at(self, template: FloatArray) -> Slice:
        """Return the sphere that aligned configurations lie in; see :meth:`Quotient.slice_at`.

        A template whose landmarks lie in less than ``m - 1`` dimensions is an
        ``UnsupportedBallError``.
        """
        start = self.lift(template)
        spread = self._spread(start)
        self._check_spread(spread)
        reach = math.asin(min(1.0, math.sqrt(float(spread))))
        return SphereSlice(1.0, start, self._vertical(start), reach)

    # Geometry, at the representative of the base.

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Exponential of the cover."""
        return self.push(self.cover.exp(self.lift(base), tangent))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Logarithm of the nearest representative."""
        return self.cover.log(*self._beside(base, point))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Frame of the complement of the representative and of its orbit.

        An ``UnsupportedBallError`` at the same points as :meth:`slice_at`.
        """
        along = as_floats(coordinates)
        normals = self._frame(base)
        batch = np.broadcast_shapes(normals.shape[:-2], along.shape[:-1])
        raised = np.zeros((*batch, self.m * (self.k - 1)))
        raised[..., -self.dim :] = along
        return reflected(normals[..., ::-1, :], raised)

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        return reflected(self._frame(base), as_floats(tangent))[..., -self.dim :]

    def rounding(self, center: FloatArray, radius: float) -> float:  # noqa: ARG002
        """Of unit vectors that are made of landmarks, and back."""
        return 16.0 * _EPS * math.sqrt(self.k)

    def _frame(self, base: ArrayLike) -> FloatArray:
        start = self.lift(base)
        self._check_spread(self._spread(start))
        vectors = np.concatenate([start[..., None, :], self._vertical(start)], axis=-2)
        return reflections(vectors)[0]

    def _vertical(self, start: FloatArray) -> FloatArray:
        """Return derivatives of rotations of a unit vector, shape (..., m (m - 1) / 2, N)."""
        rows = self._rows(start)
        found = []
        for i in range(self.m):
            for j in range(i):
                moved = np.zeros(rows.shape)
                moved[..., i, :], moved[..., j, :] = rows[..., j, :], -rows[..., i, :]
                found.append(self._flat(moved))
        return np.stack(found, axis=-2)

    def _spread(self, start: FloatArray) -> FloatArray:
        """Sum of the two least squared singular values: least square of a derivative of norm 1."""
        rows = self._rows(start)
        return np.asarray(np.linalg.eigvalsh(_product(rows, rows))[..., :2].sum(axis=-1))

    def _check_spread(self, spread: FloatArray) -> None:
        if np.any(spread <= _ONE_LINE):
            raise UnsupportedBallError(
                f"the template has its landmarks in less than {self.m - 1} dimensions, where "
                "rotations are not told apart by what they do to it; choose another template"
            )

    def _rows(self, flat: ArrayLike) -> FloatArray:
        """Return unit vectors as matrices ``(..., m, k - 1)``."""
        array = as_floats(flat)
        return array.reshape(*array.shape[:-1], self.m, self.k - 1)

    def _flat(self, rows: FloatArray) -> FloatArray:
        return rows.reshape(*rows.shape[:-2], self.m * (self.k - 1))


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Product of ``(..., m, K)`` with the transpose of another, each entry by itself."""
    size = range(a.shape[-2])
    entries = [
        [np.einsum("...i,...i->...", a[..., i, :], b[..., j, :]) for j in size] for i in size
    ]
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)


def _rotation(product: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotation R with the largest trace of ``product R^T``, and that trace."""
    u, s, v = np.linalg.svd(product)
    sign = np.where(np.linalg.det(u) * np.linalg.det(v) < 0.0, -1.0, 1.0)
    u[..., -1] *= sign[..., None]
    most = s[..., :-1].sum(axis=-1) + sign * s[..., -1]
    return _turned(u, v), most


def _turned(turn: FloatArray, rows: FloatArray) -> FloatArray:
    """Matrices ``(..., m, m)`` times ``(..., m, K)``, by sums in a fixed order."""
    found = turn[..., :, :1] * rows[..., :1, :]
    for j in range(1, turn.shape[-1]):
        found = found + turn[..., :, j : j + 1] * rows[..., j : j + 1, :]
    return np.asarray(found)


def _landmarks(rows: FloatArray) -> FloatArray:
    """Centred configurations ``(..., k, m)`` of matrices ``(..., m, k - 1)``."""
    return np.ascontiguousarray(np.swapaxes(centred_landmarks(rows), -1, -2))
