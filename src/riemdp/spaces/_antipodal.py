"""Spheres up to sign: what rotations and axes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces._points import as_floats
from riemdp.spaces._quotient import DiscreteQuotient
from riemdp.spaces._units import Degrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray
    from riemdp.spaces._quotient import Arb
    from riemdp.spaces._sphere import Sphere


class AntipodalQuotient(DiscreteQuotient):
    """A quotient of a sphere in which opposite points are one.

    References
    ----------
    docs/proofs/quotients.md, "Opposite points"
    """

    if TYPE_CHECKING:

        @property
        def cover(self) -> Sphere:
            """Space of the representatives."""

    @property
    def injectivity_radius(self) -> float:
        """Half that of the sphere."""
        return 0.5 * self.cover.injectivity_radius

    @property
    def diameter(self) -> float:
        """Half that of the sphere, rounded up."""
        return float(np.nextafter(self.injectivity_radius, np.inf))

    def unit(self, distance: float) -> Degrees:  # noqa: ARG002
        """Degrees; see :meth:`Manifold.unit`."""
        return Degrees()

    def nearest(self, base: ArrayLike, points: ArrayLike) -> FloatArray:
        """Return the one of two opposite points on the side of ``base``, that given on no side."""
        points = as_floats(points)
        return np.where(dot(as_floats(base), points)[..., None] < 0.0, -points, points)

    def orbit(self, points: ArrayLike) -> FloatArray:
        """Both."""
        points = as_floats(points)
        return np.stack([points, -points])

    def folded(self, ends: Sequence[Arb]) -> Sequence[Arb] | None:
        """Coordinates of the shorter of two opposite points; see :meth:`Quotient.folded`."""
        from flint import arb

        end = arb.pi() / arb(self.cover.curvature).sqrt()
        length = sum([x * x for x in ends], arb(0)).nonnegative_part().sqrt()
        if length < end / 2:
            return ends
        if length > end / 2:
            factor = 1 - end / length
            return [factor * x for x in ends]
        return None


def dot(first: FloatArray, second: FloatArray) -> FloatArray:
    """Scalar products of vectors ``(..., N)``, shape ``(...)``, added in order.

    No row rounds otherwise for those beside it.
    """
    found = first[..., 0] * second[..., 0]
    for i in range(1, first.shape[-1]):
        found = found + first[..., i] * second[..., i]
    return np.asarray(found)


def signed(points: FloatArray) -> FloatArray:
    """Return vectors ``(..., N)`` with a positive first entry among those that are not zero."""
    first = np.argmax(points != 0.0, axis=-1)[..., None]
    flip = np.take_along_axis(points, first, axis=-1) < 0.0
    # zero has one sign too
    return np.asarray(np.where(flip, -points, points)) + 0.0
