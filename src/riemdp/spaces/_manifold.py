"""What a manifold has to know."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError, UnsupportedBallError, UnsupportedManifoldError
from riemdp._part import Part, both_proved
from riemdp.spaces._points import as_floats, clip_norm, finite_in_units, long_norm, with_axes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._euclidean import FlatManifold
    from riemdp.spaces._points import FloatArray, Unit

_EPS = float(np.finfo(np.float64).eps)
#: Rounding twice, and of the distance between what came of it.
_ELSEWHERE = 4.0


class Manifold(Part, sort="manifold"):
    """A Riemannian manifold with closed-form geodesics.

    Arrays are float64; batch axes lead: points have shape ``(..., *point_shape)``, tangent vectors
    ``(..., *tangent_shape)``, and all methods broadcast over the leading axes. Distances are in the
    metric's own units. ``exp``, ``log``, ``dist`` and ``inner`` take points as they are;
    ``validate`` is the place where points are checked.

    Every method reads its arguments as float64 arrays first, in whatever container they come, so
    that rows count by their order and no other library's arithmetic is followed. What does not
    hold real numbers, and masked arrays, raise :class:`riemdp.NotOnManifoldError`.

    Attributes
    ----------
    origin_name : str
        What the command line calls :attr:`origin`.
    other_units : str
        Units that records on it are often in by mistake, for a value where nobody expected it;
        empty where none are known.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> def midpoint(space, x, y):
    ...     return space.exp(x, 0.5 * space.log(x, y))
    ...
    >>> midpoint(riemdp.Sphere(2), [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]).round(4)
    array([0.7071, 0.    , 0.7071])
    >>> midpoint(riemdp.SPDAffineInvariant(2), np.eye(2), np.diag([4.0, 9.0])).round(4)
    array([[2., 0.],
           [0., 3.]])
    """

    origin_name: ClassVar[str] = "origin"
    other_units: ClassVar[str] = ""

    if TYPE_CHECKING:
        # At run time a field or a property of each class: an inherited property would shadow the
        # dataclass field of the same name.
        @property
        def dim(self) -> int:
            """Dimension of the manifold."""

    @property
    @abstractmethod
    def point_shape(self) -> tuple[int, ...]:
        """Shape of one point."""

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        """Shape of one tangent vector, by default that of a point."""
        return self.point_shape

    @property
    @abstractmethod
    def curvature_bound(self) -> float:
        """Upper bound of the sectional curvature (0 where there is none, as on the circle)."""

    @property
    def curvature_floor(self) -> float:
        """Lower bound of the sectional curvature; ``-inf`` where none is known.

        No guarantee rests on it, only what is said of errors.
        """
        constant = self.constant_curvature
        return -math.inf if constant is None else constant

    @property
    @abstractmethod
    def constant_curvature(self) -> float | None:
        """Sectional curvature where it is constant (0 in dimension one), else None."""

    @property
    @abstractmethod
    def injectivity_radius(self) -> float:
        """Largest radius on which every exponential map is injective (inf on Hadamard spaces)."""

    @property
    def convexity_radius(self) -> float:
        """Radius under which the Fréchet mean of points of a ball is proved to be unique.

        Half of the lesser of the injectivity radius and that of the sphere whose curvature bounds
        that of the manifold; see docs/proofs/frechet-mean-sensitivity.md.
        """
        curvature = self.curvature_bound
        if curvature <= 0.0:
            return 0.5 * self.injectivity_radius
        return 0.5 * min(self.injectivity_radius, math.pi / math.sqrt(curvature))

    @property
    @abstractmethod
    def origin(self) -> FloatArray:
        """Reference point: zero, the north pole, the hyperboloid's apex, the identity."""

    @property
    def diameter(self) -> float:
        """Bound of the distance of two points; ``inf`` unless the space is compact."""
        return math.inf

    @property
    def growth_unit(self) -> float | None:
        """Distance over which entries of points grow e-fold, None where they do not."""
        return None

    @property
    def scale_axis(self) -> FloatArray | None:
        """Unit vector of a flat factor of dimension one, None where no factor is known.

        In the normal coordinates about every centre it is the same, shape ``(dim,)``: the first
        factor's coordinate of a point is its product with the point's coordinates.
        """
        return None

    @property
    def chart(self) -> FlatManifold | None:
        """The manifold itself where it is isometric to R^dim by a chart, else None."""
        return None

    @property
    def inside(self) -> tuple[Manifold, ...]:
        """Manifolds that it is made of: the factors of a product, the cover of a quotient."""
        return ()

    @property
    def factors(self) -> tuple[Manifold, ...]:
        """Spaces whose product it is, itself alone if it is none."""
        return (self,)

    def proofs(self) -> dict[str, str | None]:
        """Return where its own claims and those of the manifolds inside are proved.

        Returns
        -------
        dict of str to (str or None)
            Two of one name are proved if both are.
        """
        own = {self.name: self.proof}
        return both_proved(own, *(part.proofs() for part in self.inside))

    @abstractmethod
    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        r"""Riemannian exponential: end of the geodesic that leaves ``base`` along ``tangent``.

        Parameters
        ----------
        base : array_like, shape (..., \*point_shape)
            Points of the manifold.
        tangent : array_like, shape (..., \*tangent_shape)
            Tangent vectors there; leading axes broadcast.

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """

    @abstractmethod
    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        r"""Riemannian logarithm: tangent vector at ``base`` whose exponential is ``point``.

        Parameters
        ----------
        base, point : array_like, shape (..., \*point_shape)
            Points of the manifold; leading axes broadcast.

        Returns
        -------
        ndarray, shape (..., \*tangent_shape)
            Its norm is the distance.
        """

    @abstractmethod
    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        r"""Geodesic distance.

        Parameters
        ----------
        a, b : array_like, shape (..., \*point_shape)
            Points of the manifold; leading axes broadcast.

        Returns
        -------
        ndarray, shape (...)
        """

    @abstractmethod
    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        r"""Tangent vector at ``base`` with these coordinates.

        The coordinates belong to an orthonormal basis of the tangent space that depends on
        ``base`` alone, so the map is a linear isometry from R^dim.

        Parameters
        ----------
        base : array_like, shape (..., \*point_shape)
            Points of the manifold.
        coordinates : array_like, shape (..., dim)
            Leading axes broadcast against those of ``base``.

        Returns
        -------
        ndarray, shape (..., \*tangent_shape)
        """

    @abstractmethod
    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        r"""Inverse of :meth:`tangent_vector`.

        Parameters
        ----------
        base : array_like, shape (..., \*point_shape)
            Points of the manifold.
        tangent : array_like, shape (..., \*tangent_shape)
            Tangent vectors there; leading axes broadcast.

        Returns
        -------
        ndarray, shape (..., dim)
        """

    @abstractmethod
    def validate(self, points: ArrayLike) -> FloatArray:
        r"""Check points and return them as canonical float64.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points to check. A record within a relative 1e-4 of the manifold, in whatever precision
            it comes, is moved onto it, record by record.

        Returns
        -------
        ndarray, shape (..., \*point_shape)

        Raises
        ------
        NotOnManifoldError
            On wrong shape, NaN or infinity, or a point off the manifold. The message names the
            first bad row and the broken condition.
        """

    def inner(self, base: ArrayLike, u: ArrayLike, v: ArrayLike) -> FloatArray:
        r"""Riemannian inner product of tangent vectors at ``base``.

        Parameters
        ----------
        base : array_like, shape (..., \*point_shape)
            Points of the manifold.
        u, v : array_like, shape (..., \*tangent_shape)
            Tangent vectors there; leading axes broadcast.

        Returns
        -------
        ndarray, shape (...)
        """
        first = self.tangent_coordinates(base, u)
        second = self.tangent_coordinates(base, v)
        return np.asarray(np.einsum("...i,...i->...", first, second))

    def norm(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        r"""Riemannian norm of a tangent vector at ``base``.

        Parameters
        ----------
        base : array_like, shape (..., \*point_shape)
            Points of the manifold.
        tangent : array_like, shape (..., \*tangent_shape)
            Tangent vectors there; leading axes broadcast.

        Returns
        -------
        ndarray, shape (...)
        """
        return np.asarray(np.linalg.norm(self.tangent_coordinates(base, tangent), axis=-1))

    def unit_vectors(self, points: ArrayLike) -> FloatArray:  # noqa: ARG002
        r"""Return points as unit vectors of the space around, where they are directions.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)
            Points of the manifold.

        Returns
        -------
        ndarray, shape (..., N)

        Raises
        ------
        UnsupportedManifoldError
            By default: points of a manifold are no directions.
        """
        raise UnsupportedManifoldError(
            f"points of {self} are no directions; moments of directions need unit vectors, points "
            "of a Sphere"
        )

    # How users write points.

    def read(self, points: ArrayLike) -> FloatArray:
        r"""Return points as users write them as float64 arrays; nothing else is checked.

        Every method starts with it. By default users write arrays of this shape.

        Parameters
        ----------
        points : array_like
            By default of shape (..., \*point_shape).

        Returns
        -------
        ndarray, shape (..., \*point_shape)

        Raises
        ------
        NotOnManifoldError
            If they hold something else, or are masked.
        """
        return as_floats(points)

    def present(self, points: ArrayLike) -> Any:
        r"""Return points in the form in which users write them, by default as they are.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray
            What :meth:`read` takes; the value of a release is one.
        """
        return self.read(points)

    # What a ball asks for: in normal coordinates about its centre. Several centres broadcast, as a
    # power of the space has one in every copy.

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        r"""Return normal coordinates about a centre, at a cut point a fixed choice of them.

        Parameters
        ----------
        center : array_like, shape (..., \*point_shape)
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (..., dim)
            Orthonormal coordinates of ``log(center, point)``.
        """
        return self.tangent_coordinates(center, self._total_log(center, self.read(points)))

    def unit_coordinates(self, center: ArrayLike, points: ArrayLike, length: float) -> FloatArray:
        r"""Return normal coordinates about a centre, clipped to a length, in units of it.

        Parameters
        ----------
        center : array_like, shape (\*point_shape)
        points : array_like, shape (..., \*point_shape)
        length : float

        Returns
        -------
        ndarray, shape (..., dim)
            Vectors no longer than 1 as real numbers, zero where float64 does not hold them.
        """
        with np.errstate(all="ignore"):
            coordinates = clip_norm(self.coordinates(center, points), length)
        return finite_in_units(coordinates, length)

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        r"""Point with these normal coordinates about a centre, kept within what float64 holds.

        Parameters
        ----------
        center : array_like, shape (..., \*point_shape)
        coordinates : array_like, shape (..., dim)

        Returns
        -------
        ndarray, shape (..., \*point_shape)
            Where it had to be moved, it is by a function of ``center`` and ``coordinates`` alone.
        """
        return self.exp(center, self.tangent_vector(center, coordinates))

    def clip(self, center: ArrayLike, points: ArrayLike, radius: float) -> FloatArray:
        r"""Move points beyond a distance from a centre back to it, along geodesics.

        Parameters
        ----------
        center : array_like, shape (\*point_shape,)
        points : array_like, shape (..., \*point_shape)
        radius : float

        Returns
        -------
        ndarray, shape (..., \*point_shape)
            Points within the distance come back unchanged, bit by bit.
        """
        points = self.read(points)
        dist = self.dist(center, points)
        outside = dist > radius
        if not outside.any():
            return points.copy()
        # All records are moved, those inside nowhere: a record's neighbours in memory, and so the
        # rounding of its result, never depend on which others are outside.
        shrink = np.where(outside, radius / np.where(outside, dist, 1.0), 0.0)
        tangent = with_axes(shrink, self.tangent_shape) * self._total_log(center, points)
        return np.where(with_axes(outside, self.point_shape), self.exp(center, tangent), points)

    def _kept(self, center: FloatArray, points: FloatArray) -> FloatArray:
        """Points, the centre in place of those without a logarithm."""
        return np.where(with_axes(self._lost(center, points), self.point_shape), center, points)

    def _lost(self, center: FloatArray, points: FloatArray) -> NDArray[np.bool_]:  # noqa: ARG002
        """Whether points, shape (...), have no logarithm in float64; by default all have one."""
        batch = points.ndim - len(self.point_shape)
        return np.zeros(points.shape[:batch], dtype=bool)

    def check_ball(self, center: FloatArray, radius: float) -> None:  # noqa: ARG002
        r"""Refuse a ball that the space, or float64, has no room for; by public numbers alone.

        Parameters
        ----------
        center : ndarray, shape (\*point_shape,)
        radius : float
            Positive and finite.

        Raises
        ------
        UnsupportedBallError
        """
        limit = self.injectivity_radius
        if radius >= limit:
            raise UnsupportedBallError(
                f"radius {radius:.6g} must stay under the injectivity radius {limit:.6g} of "
                f"{self}; choose a smaller ball (radii are lengths, on a unit sphere in radians)"
            )

    def room(self, center: ArrayLike) -> float:  # noqa: ARG002
        r"""Radius of a ball about a point on which its exponential map is defined and injective.

        Parameters
        ----------
        center : array_like, shape (\*point_shape,)

        Returns
        -------
        float
            By default the injectivity radius. Less on a space that is not complete, such as a cone:
            there :meth:`point` moves what lies outside back, noise has no density, and its
            expected distance is a bound.
        """
        return self.injectivity_radius

    def rounding(self, center: FloatArray, radius: float) -> float:  # noqa: ARG002
        r"""Error that rounding of coordinates explains of distances from the centre of a ball.

        Parameters
        ----------
        center : ndarray, shape (\*point_shape,)
        radius : float

        Returns
        -------
        float
            In units of distance.
        """
        return 4.0 * _EPS * float(long_norm(center.reshape(-1)))

    def coincide(
        self, center: FloatArray, points: FloatArray, others: FloatArray, digits: float
    ) -> NDArray[np.bool_]:
        r"""Whether points are the same, as two processors compute them from equal coordinates.

        On spaces side by side every factor has to be, by the numbers of that factor alone.

        Parameters
        ----------
        center : ndarray, shape (..., \*point_shape)
            Where the coordinates start. Leading axes broadcast.
        points, others : ndarray, shape (..., \*point_shape)
        digits : float
            Difference that is allowed besides what :meth:`rounding` explains so far out: a share
            of the distance from the centre.

        Returns
        -------
        ndarray of bool, shape (...)
        """
        points, others = np.broadcast_arrays(points, others)
        axes = tuple(range(-len(self.point_shape), 0))
        same = np.asarray((points == others).all(axis=axes))
        apart = ~same
        if not apart.any():
            return same
        at, others = np.broadcast_to(center, points.shape)[apart], others[apart]
        points = points[apart]
        with np.errstate(over="ignore", invalid="ignore"):
            away = self.dist(at, others)
            allowed = digits * away + _ELSEWHERE * self._rounding_at(at, away)
            # Entries besides: no distance sees how far a point lies off the space.
            size = np.abs(others).max(axis=axes)
            entries = digits * size + allowed * (1.0 + size)
            near = np.abs(points - others).max(axis=axes) <= entries
            near &= self.dist(points, others) <= allowed
            same[apart] = near & np.isfinite(entries)
        return same

    def _rounding_at(self, centers: FloatArray, radii: FloatArray) -> FloatArray:
        """Return :meth:`rounding` for each of the centres, of radii that are up to 5 % larger."""
        with np.errstate(divide="ignore"):
            few = np.exp2(np.ceil(16.0 * np.log2(radii)) / 16.0)
        known: dict[tuple[bytes, float], float] = {}
        keys = [(at.tobytes(), radius) for at, radius in zip(centers, few.tolist(), strict=True)]
        for key, at in zip(keys, centers, strict=True):
            if key not in known:
                known[key] = self.rounding(at, key[1])
        return np.array([known[key] for key in keys])

    def unit(self, distance: float) -> Unit | None:  # noqa: ARG002
        """Return the unit of those who measured the records, such as degrees.

        Parameters
        ----------
        distance : float
            The largest that is said in it.

        Returns
        -------
        Unit or None
            None where none is known, as by default.
        """
        return None

    def in_units(self, distance: float) -> str:
        """Say a distance in the units of those who measured the records, such as degrees.

        Parameters
        ----------
        distance : float

        Returns
        -------
        str
            To follow the number, in brackets; empty where :meth:`unit` is None.
        """
        unit = self.unit(distance)
        return "" if unit is None else unit.said(distance)

    def draw(self, ax: Any, point: FloatArray, radius: float) -> Any:  # noqa: ARG002
        r"""Draw a point, and the points at a distance from it, where the space has a picture.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
        point : ndarray, shape (\*point_shape,)
        radius : float
            In units of geodesic distance; 0 for the point alone.

        Returns
        -------
        matplotlib.axes.Axes or None
            None where it has no picture, as by default; nothing was drawn then.
        """
        return None

    def extreme_directions(self, base: ArrayLike) -> FloatArray:  # noqa: ARG002
        r"""Return unit tangent directions at a point along which curvature differs most.

        Parameters
        ----------
        base : array_like, shape (\*point_shape,)

        Returns
        -------
        ndarray, shape (K, dim)
            Coordinates in the orthonormal basis at ``base``. By default two orthogonal ones, as if
            no direction were special.
        """
        return np.eye(self.dim)[:2]

    def _total_log(self, center: ArrayLike, points: FloatArray) -> FloatArray:
        """Logarithm at a centre; at cut points a fixed choice."""
        return self.log(center, points)


def check_manifold(manifold: object, advice: str = "") -> None:
    """Raise ``InvalidParameterError`` for what is no manifold.

    Parameters
    ----------
    manifold : object
    advice : str
        What the message ends with.
    """
    if not isinstance(manifold, Manifold):
        if not advice and hasattr(manifold, "manifold") and not isinstance(manifold, type):
            advice = f"; its space is {type(manifold).__name__.lower()}.manifold"
        raise InvalidParameterError(
            f"manifold must be a riemdp manifold, got {kind_of(manifold)}{advice}"
        )
