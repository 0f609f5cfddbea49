"""Manifolds that others cover: points are orbits of isometries."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from riemdp._errors import UnsupportedBallError, UnsupportedManifoldError
from riemdp.spaces._ball import Ball
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._modelled import Modelled
from riemdp.spaces._slice import WholeSlice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import ArrayLike

    from riemdp.spaces._points import FloatArray
    from riemdp.spaces._slice import Slice

    #: An enclosure of python-flint.
    Arb = Any

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
