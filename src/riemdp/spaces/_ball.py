"""Closed geodesic balls: the public domain of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import kind_of, real
from riemdp._described import Described, digits
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedBallError
from riemdp._part import borrowed, both_proved, is_own
from riemdp.spaces._manifold import Manifold, check_manifold
from riemdp.spaces._points import as_floats, clip_norm

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray

#: Relative rounding that ``contains`` forgives.
_CONTAINS_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Ball(ArrayFields, Described):
    """Closed geodesic ball, chosen without looking at the data.

    Parameters
    ----------
    manifold : Manifold
        Space of the points.
    center : array_like, shape (*point_shape,)
        Centre, on the manifold.
    radius : float
        Radius in units of geodesic distance, positive, finite, under the injectivity radius;
        on hyperbolic space at most ``8 / sqrt(-curvature)``, where float64 coordinates still
        carry distances. ``inf`` on a compact space is the whole space; see :meth:`whole`.

    Raises
    ------
    NotOnManifoldError
        If the centre is not one point of the manifold.
    InvalidParameterError
        If the manifold is none, or the radius not a number.
    UnsupportedBallError
        If the radius is not positive and finite, or too large for the manifold; on hyperbolic
        space also if the centre lies farther than that from the origin of coordinates.

    Examples
    --------
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> bool(ball.contains([0.0, 0.6, 0.8]))
    True
    >>> ball.project([1.0, 0.0, 0.0]).round(4)  # moved to the boundary
    array([0.8415, 0.    , 0.5403])
    """

    manifold: Manifold
    center: FloatArray = field(repr=False)
    radius: float

    def __post_init__(self) -> None:
        check_manifold(self.manifold, "; a ball is Ball(manifold, center, radius)")
        given: object = self.center  # whatever a caller takes for one
        if isinstance(given, (str, int, float)) and self.manifold.point_shape:
            raise NotOnManifoldError(
                "the centre must be a point and the radius a number: Ball(manifold, center, "
                "radius); the space's own point, such as the identity, is manifold.origin"
            )
        center = np.array(self.manifold.validate(self.center))
        if center.shape != self.manifold.point_shape:
            raise NotOnManifoldError(
                f"the centre must be one point of shape {self.manifold.point_shape}, "
                f"got shape {center.shape}"
            )
        center.flags.writeable = False
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "radius", real(self.radius, "radius"))
        if self.is_whole:
            return
        self._check_room()

    def _check_room(self) -> None:
        """Refuse a ball that the space has no room for."""
        if not (0.0 < self.radius < math.inf):
            raise UnsupportedBallError(f"radius must be positive and finite, got {self.radius}")
        self.manifold.check_ball(self.center, self.radius)

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Title and lines of the text; see :class:`riemdp._described.Described`."""
        units = self.manifold.in_units(self.radius)
        return f"Ball in {self.manifold}", [
            ("centre", digits(self.center)),
            ("radius", f"{self.radius:.4g}, in units of geodesic distance{units and '; ' + units}"),
        ]

    @property
    def parts(self) -> tuple[Ball, ...]:
        """Balls whose product it is: itself alone, unless factors are clipped by themselves."""
        return (self,)

    @classmethod
    def whole(cls, manifold: Manifold) -> Self:
        """Return a compact space as a ball, about its origin: nothing is ever clipped.

        Parameters
        ----------
        manifold : Manifold

        Returns
        -------
        Ball
            Of radius ``inf``.

        Raises
        ------
        InvalidParameterError
            If the manifold is none.
        UnsupportedBallError
            If the space is not compact.
        """
        check_manifold(manifold)
        if math.isinf(manifold.diameter):
            raise UnsupportedBallError(
                f"{manifold} is not compact, so no ball is all of it; choose a radius"
            )
        return cls(manifold, manifold.origin, math.inf)

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole compact space."""
        return self.radius == math.inf and self.manifold.diameter < math.inf

    @property
    def reach(self) -> float:
        """Largest distance of a point from the centre: the radius, or the space's diameter."""
        return min(self.radius, self.manifold.diameter)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        r"""Whether points lie in the ball.

        Up to a relative 1e-9 of the radius, and what rounding of coordinates makes of distances.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray of bool, shape (...)
        """
        dist = self.manifold.dist(self.center, points)
        return np.asarray(dist <= self.radius * (1.0 + _CONTAINS_TOLERANCE) + self.rounding)

    @property
    def rounding(self) -> float:
        """Error of a distance from the centre that the rounding of coordinates explains."""
        return self.manifold.rounding(self.center, self.reach)

    def point(self, coordinates: ArrayLike) -> FloatArray:
        r"""Point with these normal coordinates about the centre.

        On SPD matrices a point whose eigenvalues float64 cannot hold together is moved: the
        eigenvalues of its logarithm, seen from the centre, are clipped to a range of 30 about the
        centre's, less for large ones. That is a function of public numbers and the point alone.

        Parameters
        ----------
        coordinates : array_like, shape (..., dim)
            Orthonormal coordinates of a tangent vector at the centre.

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """
        return self.manifold.point(self.center, coordinates)

    def project(self, points: ArrayLike) -> FloatArray:
        r"""Move points outside the ball along the geodesic from the centre to its boundary.

        Points inside come back unchanged, bit by bit. Every record is treated by itself, so
        that projecting costs no privacy; how many were moved is private. The exact antipode of
        the centre of a sphere, from which no direction is singled out, goes to one fixed point
        of the boundary.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """
        return self.manifold.clip(self.center, points, self.radius)

    def coordinates(self, points: ArrayLike) -> FloatArray:
        r"""Clipped normal coordinates about the centre.

        The orthonormal coordinates of ``log(center, x)``, shortened to the radius where they
        exceed it: what the record is after :meth:`project`, seen from the centre.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray, shape (..., dim)
        """
        return clip_norm(self.manifold.coordinates(self.center, points), self.radius)

    def unit_coordinates(self, points: ArrayLike) -> FloatArray:
        r"""Clipped normal coordinates in units of :attr:`reach`; see :meth:`coordinates`.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (..., dim)
            See :meth:`Manifold.unit_coordinates`.
        """
        return self.manifold.unit_coordinates(self.center, points, self.reach)

    def shorten(self, coordinates: ArrayLike, share: float = 1.0) -> FloatArray:
        """Shorten coordinates to those of a ball of this share of the radius about the centre.

        Parameters
        ----------
        coordinates : array_like, shape (..., dim)
        share : float, default 1.0

        Returns
        -------
        ndarray, shape (..., dim)
        """
        return clip_norm(as_floats(coordinates), self.reach * share)


def check_ball(ball: object, name: str = "ball") -> None:
    """Raise ``InvalidParameterError`` for what is no ball.

    Parameters
    ----------
    ball : object
    name : str
        Of the parameter.
    """
    if not isinstance(ball, Ball):
        raise InvalidParameterError(
            f"{name} must be a riemdp.Ball, got {kind_of(ball)}; Ball(manifold, center, radius) "
            "makes one"
        )


def ball_proofs(ball: Ball) -> dict[str, str | None]:
    """Return where the claims of a ball are proved; of another package's class of balls nowhere.

    Parameters
    ----------
    ball : Ball

    Returns
    -------
    dict of str to (str or None)
        By name; one of another package's class may clip to anything.
    """
    kind = type(ball)
    stated = vars(kind).get("proof") if is_own(kind) else None
    changed = {} if kind is Ball else {kind.__name__: stated}
    return both_proved(ball.manifold.proofs(), borrowed(ball.manifold), changed)
