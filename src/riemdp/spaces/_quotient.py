"""Quotients of spaces by groups of isometries."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import UnsupportedBallError, UnsupportedManifoldError
from riemdp.spaces._ball import Ball
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import Degrees, as_floats, with_axes
from riemdp.spaces._slice import WholeSlice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray
    from riemdp.spaces._slice import Slice
    from riemdp.spaces._sphere import Sphere

    #: An enclosure of python-flint.
    Arb = Any


# Manifolds with the geometry of another one.


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


# Manifolds that others cover: points are orbits of isometries.

#: Rounding of a representative that an author computes, in units of that of the cover.
_LIFTING = 8.0
#: Relative margin next to the radius at which a lift is no longer isometric.
_MARGIN = 1e-9


class Quotient(Manifold):
    """A manifold whose points are the orbits of isometries of another one, its cover.

    The map from the cover is a Riemannian submersion, so distances are those of nearest
    representatives, and noise of the cover becomes noise here at the same privacy
    (docs/proofs/quotients.md). A class says where that is proved for it, as ``proof``.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> axes = riemdp.ProjectiveSpace(2)
    >>> axes.cover
    Sphere(dim=2, curvature=1.0)
    >>> float(axes.dist([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]))  # one axis
    0.0
    """

    @property
    @abstractmethod
    def cover(self) -> Manifold:
        """Space of the representatives."""

    @abstractmethod
    def lift(self, points: ArrayLike) -> FloatArray:
        r"""Return representatives of points.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (..., \*cover.point_shape)
            Of each point by a fixed rule.
        """

    @abstractmethod
    def push(self, points: ArrayLike) -> FloatArray:
        r"""Points that representatives stand for.

        Parameters
        ----------
        points : array_like, shape (..., \*cover.point_shape)

        Returns
        -------
        ndarray, shape (..., \*point_shape)
            The same, up to rounding, of every representative.
        """

    @abstractmethod
    def nearest(self, base: ArrayLike, points: ArrayLike) -> FloatArray:
        r"""Return the representatives nearest to a point of the cover; ties by a fixed rule.

        Parameters
        ----------
        base : array_like, shape (..., \*cover.point_shape)
            Points of the cover.
        points : array_like, shape (..., \*cover.point_shape)
            Any representatives; leading axes broadcast.

        Returns
        -------
        ndarray, shape (..., \*cover.point_shape)
        """

    def raised(self, coordinates: Sequence[Fraction]) -> Sequence[Fraction]:
        """Return coordinates in the cover, exactly: where an exact draw begins.

        Parameters
        ----------
        coordinates : sequence of Fraction, length ``dim``
            Normal coordinates of a point about any centre.

        Returns
        -------
        sequence of Fraction, length ``cover.dim``
            Normal coordinates, about the centre's representative, of the point's nearest one.

        Raises
        ------
        UnsupportedManifoldError
            By default: a class that has exact draws gives them, with :meth:`folded`.
        """
        del coordinates
        raise self._unknown("raised(coordinates)")

    def folded(self, ends: Sequence[Arb]) -> Sequence[Arb] | None:
        """Return coordinates of the class of a point of the cover, in ball arithmetic.

        A function of the class alone: the same of every representative.

        Parameters
        ----------
        ends : sequence of flint.arb, length ``cover.dim``
            Enclosures of normal coordinates of a point of the cover, a draw, about a centre's
            representative, in units of distance.

        Returns
        -------
        sequence of flint.arb, length ``dim``, or None
            Enclosures of the normal coordinates about the centre of the class: those of its
            representative that is nearest to the centre's. None where the enclosures do not decide
            which that is; they are then asked for at more bits. Of draws, which have a density,
            that must be decided in the end with probability one.

        Raises
        ------
        UnsupportedManifoldError
            By default; see :meth:`raised`.
        """
        del ends
        raise self._unknown("folded(ends)")

    @property
    def folds(self) -> bool:
        """Whether :meth:`raised` and :meth:`folded` are known, so that there are exact draws."""
        own = type(self)
        return own.raised is not Quotient.raised and own.folded is not Quotient.folded

    def _unknown(self, method: str) -> UnsupportedManifoldError:
        return UnsupportedManifoldError(
            f"{self} does not say what coordinates of the cover stand for, so its noise is not "
            f"drawn exactly; give it {method}"
        )

    def slice_at(self, template: FloatArray) -> Slice:
        r"""Return the part of the cover that representatives nearest to a template's lie in.

        Parameters
        ----------
        template : ndarray, shape (\*point_shape,)

        Returns
        -------
        Slice

        Raises
        ------
        UnsupportedManifoldError
            By default: of a class it takes a proof that the part is totally geodesic.
        UnsupportedBallError
            If the template is none.
        """
        del template
        raise UnsupportedManifoldError(
            f"aligned means are not known on {self}: it does not say, by slice_at(template), where "
            "representatives nearest to a template lie"
        )

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Distance of nearest representatives."""
        return self.cover.dist(*self._beside(a, b))

    def _beside(self, base: ArrayLike, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return representatives of base points, and of other points those nearest to them."""
        start = self.lift(base)
        return start, self.nearest(start, self.lift(points))

    @property
    def diameter(self) -> float:
        """That of the cover, or less."""
        return self.cover.diameter

    @property
    def inside(self) -> tuple[Manifold, ...]:
        """The cover."""
        return (self.cover,)


class DiscreteQuotient(Quotient, Modelled):
    """A quotient by isometries that move every point far: locally the cover itself.

    Curvature, geodesics and frames are the cover's, which is its model: a point is there the
    representative nearest to the base. A class adds ``dim``, ``point_shape``,
    ``injectivity_radius`` and ``validate`` to what :class:`Quotient` asks for; half the least
    distance between two representatives is an upper bound of the injectivity radius, and is it
    where the cover's is larger. Tangent vectors are those of the cover at :meth:`lift`. With
    :meth:`folded` its noise is drawn exactly.

    Examples
    --------
    >>> import riemdp
    >>> rotations = riemdp.Rotations()
    >>> rotations.cover  # unit quaternions, of which q and -q are one rotation
    Sphere(dim=3, curvature=0.25)
    >>> f"{rotations.injectivity_radius:.4f}, {rotations.diameter:.4f}"
    '3.1416, 3.1416'
    """

    @property
    def _model(self) -> Manifold:
        return self.cover

    def _in_model(self, points: ArrayLike) -> FloatArray:
        return self.lift(points)

    def _of_model(self, points: ArrayLike) -> FloatArray:
        return self.push(points)

    def orbit(self, points: ArrayLike) -> FloatArray:
        r"""All representatives, for finite groups; densities of noise are sums over them.

        Parameters
        ----------
        points : array_like, shape (..., \*cover.point_shape)
            Any representatives.

        Returns
        -------
        ndarray, shape (m, ..., \*cover.point_shape)

        Raises
        ------
        UnsupportedManifoldError
            By default: a class that has finitely many may give them.
        """
        del points
        raise UnsupportedManifoldError(
            f"{self} does not give all representatives of a point, so densities of its noise are "
            "not known; give it orbit(points)"
        )

    def raised(self, coordinates: Sequence[Fraction]) -> Sequence[Fraction]:
        """Themselves: normal coordinates are those of the cover; see :meth:`Quotient.raised`."""
        return coordinates

    def slice_at(self, template: FloatArray) -> Slice:  # noqa: ARG002
        """All of the cover; see :meth:`Quotient.slice_at`."""
        return WholeSlice(self.cover, self.injectivity_radius)

    @property
    def factors(self) -> tuple[Manifold, ...]:
        """Those of the cover."""
        return self.cover.factors

    @property
    def origin(self) -> FloatArray:
        """That of the cover."""
        return self.push(self.cover.origin)

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Both the space and its cover need room; see :meth:`Manifold.check_ball`."""
        super().check_ball(center, radius)
        self.cover.check_ball(self.lift(center), radius)

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Of the cover, and of representatives."""
        return _LIFTING * self.cover.rounding(self.lift(center), radius)

    def lifted(self, ball: Ball) -> Ball:
        """Ball of the cover that a ball of this space is isometric to.

        Parameters
        ----------
        ball : Ball
            Ball of this space, of a radius under half the injectivity radius.

        Returns
        -------
        Ball
            About the centre's representative. Records are lifted by :meth:`lift_near`, and normal
            coordinates stay what they are.

        Raises
        ------
        UnsupportedBallError
            If the ball is larger.

        References
        ----------
        docs/proofs/quotients.md, claim 3
        """
        limit = 0.5 * self.injectivity_radius
        if not ball.radius * (1.0 + _MARGIN) < limit:
            raise UnsupportedBallError(
                f"radius {ball.radius:.6g} must stay under {limit:.6g}, half the injectivity "
                f"radius of {self}, for the ball to be one of its cover; choose a smaller ball, "
                'the aligned mean, QuotientBall(..., mean="aligned"), or the tangent mean'
            )
        return Ball(self.cover, self.lift(ball.center), ball.radius)

    def lift_near(self, ball: Ball, points: ArrayLike) -> FloatArray:
        r"""Return the representatives of points nearest to that of a ball's centre.

        Parameters
        ----------
        ball : Ball
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (..., \*cover.point_shape)
        """
        return self.nearest(self.lift(ball.center), self.lift(points))


# Spheres up to sign: what rotations and axes have in common.


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
