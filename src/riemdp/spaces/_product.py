"""Products of spaces, and their balls."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from riemdp._checks import kind_of, positive, real, shown
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedBallError
from riemdp._part import register
from riemdp.spaces._ball import Ball
from riemdp.spaces._euclidean import FlatManifold
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import as_floats, check_points, clip_norm, finite_in_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray


# Geometry of spaces side by side, whatever way their points are written in one array.


class Cut(Manifold):
    """How points of spaces side by side are cut into parts, and joined from them.

    A part belongs to one space or, with an axis of copies before those of a point, to several equal
    ones.
    """

    if TYPE_CHECKING:
        # a field of one class, a property of the other
        @property
        def spaces(self) -> tuple[Manifold, ...]:
            """Space of each part."""

    @property
    @abstractmethod
    def counts(self) -> tuple[int, ...]:
        """Number of copies in each part."""

    @abstractmethod
    def split(self, points: ArrayLike) -> list[FloatArray]:
        r"""Parts of points ``(..., \*point_shape)``, as arrays of points of :attr:`spaces`."""

    @abstractmethod
    def join(self, parts: Sequence[ArrayLike]) -> FloatArray:
        r"""Points ``(..., \*point_shape)`` with these parts, the inverse of :meth:`split`.

        Leading axes of the parts broadcast.
        """

    @abstractmethod
    def split_coordinates(self, coordinates: ArrayLike) -> list[FloatArray]:
        """Coordinates ``(..., dim)`` of the parts."""

    @abstractmethod
    def join_coordinates(self, parts: Sequence[ArrayLike]) -> FloatArray:
        """Return the inverse of :meth:`split_coordinates`, shape ``(..., dim)``."""

    @abstractmethod
    def apart(self, points: FloatArray) -> list[FloatArray]:
        r"""Points ``(..., \*point_shape)`` of the single factors, every copy by itself."""

    @property
    def each(self) -> tuple[Manifold, ...]:
        """Spaces of the single factors, every copy by itself."""
        pairs = zip(self.spaces, self.counts, strict=True)
        return tuple(space for space, count in pairs for _ in range(count))

    def _each(self, method: str, *parts: Sequence[FloatArray]) -> list[Any]:
        """Call a method of every space with its parts."""
        found = zip(self.spaces, *parts, strict=True)
        return [getattr(space, method)(*each) for space, *each in found]

    @property
    def inside(self) -> tuple[Manifold, ...]:
        """The spaces of the parts."""
        return self.spaces

    @property
    def origin(self) -> FloatArray:
        """Origins of the factors."""
        return self.join([space.origin for space in self.spaces])

    def point(self, center: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Factor by factor; see :meth:`Manifold.point`."""
        cut = self.split_coordinates(coordinates)
        return self.join(self._each("point", self.split(center), cut))

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Root of the sum of squares."""
        places = self._places(center)
        found = (math.sqrt(count) * space.rounding(at, radius) for space, at, count in places)
        return math.hypot(*found)

    def coincide(
        self, center: FloatArray, points: FloatArray, others: FloatArray, digits: float
    ) -> NDArray[np.bool_]:
        """Whether all factors do; see :meth:`Manifold.coincide`."""
        found = np.asarray(True)
        parts = zip(
            self.spaces, self.split(center), self.split(points), self.split(others), strict=True
        )
        for space, middle, here, there in parts:
            own = space.coincide(middle, here, there, digits)
            copies = own.ndim - (points.ndim - len(self.point_shape))
            found = found & own.all(axis=tuple(range(-copies, 0)))
        return found

    def room(self, center: ArrayLike) -> float:
        """Least of the factors."""
        return min(space.room(at) for space, at, _ in self._places(as_floats(center)))

    def clip_factors(
        self, center: ArrayLike, points: ArrayLike, radii: Sequence[float]
    ) -> FloatArray:
        """Move factors beyond their distance from a centre back to it; see :meth:`Manifold.clip`.

        ``radii`` are one for each of :attr:`each`. Factors within their distance come back
        unchanged, bit by bit.
        """
        points, left, found = as_floats(points), np.asarray(radii), []
        batch = points.ndim - len(self.point_shape)
        parts = zip(self.spaces, self.counts, self.split(center), self.split(points), strict=True)
        for space, count, middle, own in parts:
            here, left = left[:count], left[count:]
            if own.ndim == batch + len(space.point_shape):
                found.append(space.clip(middle, own, float(here[0])))
                continue
            moved, rest = own.copy(), (slice(None),) * len(space.point_shape)
            for radius in np.unique(here):
                same = (..., here == radius, *rest)
                moved[same] = space.clip(middle[here == radius], own[same], float(radius))
            found.append(moved)
        return self.join(found)

    def _places(self, center: FloatArray) -> list[tuple[Manifold, FloatArray, int]]:
        """Spaces and points of the factors, and how many have both."""
        if len(self.spaces) == 1:
            (space,), (points,) = self.spaces, self.split(center)
            if points.ndim > len(space.point_shape) and _same_bits(points):
                return [(space, points[0], len(points))]
        found: dict[tuple[int, bytes], tuple[Manifold, FloatArray, int]] = {}
        for index, (space, at) in enumerate(zip(self.each, self.apart(center), strict=True)):
            part = 0 if len(self.spaces) == 1 else index
            key = part, at.tobytes()
            count = found[key][2] if key in found else 0
            found[key] = space, at, count + 1
        return list(found.values())


def _same_bits(points: FloatArray) -> bool:
    """Whether all points along the first axis are one, bit by bit."""
    bits = np.ascontiguousarray(points).view(np.uint64)
    return bool((bits == bits[0]).all())


class Combined(Cut):
    """Riemannian manifolds side by side: squared distances add up."""

    @property
    def factors(self) -> tuple[Manifold, ...]:
        """Those of all spaces, one after the other."""
        pairs = zip(self.spaces, self.counts, strict=True)
        return tuple(each for space, count in pairs for each in space.factors * count)

    @property
    def curvature_bound(self) -> float:
        """Largest of the factors and, of planes across two factors, 0."""
        bounds = [space.curvature_bound for space in self.spaces]
        return max([*bounds, 0.0]) if sum(self.counts) > 1 else bounds[0]

    @property
    def curvature_floor(self) -> float:
        """Least of the factors and, of planes across two factors, 0."""
        floors = [space.curvature_floor for space in self.spaces]
        return min([*floors, 0.0]) if sum(self.counts) > 1 else floors[0]

    @property
    def constant_curvature(self) -> float | None:
        """0 where that of every factor is, and that of a single factor; else None."""
        found = {space.constant_curvature for space in self.spaces}
        if sum(self.counts) == 1 or found == {0.0}:
            return found.pop()
        return None

    @property
    def injectivity_radius(self) -> float:
        """Least of the factors."""
        return min(space.injectivity_radius for space in self.spaces)

    @property
    def convexity_radius(self) -> float:
        """Least of the factors, as half of the injectivity radius and ``pi / (2 k)`` are."""
        return min(space.convexity_radius for space in self.spaces)

    @property
    def diameter(self) -> float:
        """Root of the sum of squares."""
        pairs = zip(self.spaces, self.counts, strict=True)
        lengths = (math.sqrt(count) * space.diameter for space, count in pairs)
        return math.nextafter(math.hypot(*lengths), math.inf)

    def exp(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Factor by factor."""
        return self.join(self._each("exp", self.split(base), self._split_tangent(tangent)))

    def log(self, base: ArrayLike, point: ArrayLike) -> FloatArray:
        """Factor by factor."""
        return self._join_tangent(self._each("log", self.split(base), self.split(point)))

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Root of the sum of squares."""
        return self._norm(self._each("dist", self.split(a), self.split(b)))

    def tangent_vector(self, base: ArrayLike, coordinates: ArrayLike) -> FloatArray:
        """Frames of the factors, one after the other."""
        cut = self.split_coordinates(coordinates)
        return self._join_tangent(self._each("tangent_vector", self.split(base), cut))

    def tangent_coordinates(self, base: ArrayLike, tangent: ArrayLike) -> FloatArray:
        """Inverse of :meth:`tangent_vector`."""
        parts = self.split(base), self._split_tangent(tangent)
        return self.join_coordinates(self._each("tangent_coordinates", *parts))

    def coordinates(self, center: ArrayLike, points: ArrayLike) -> FloatArray:
        """Factor by factor; see :meth:`Manifold.coordinates`."""
        parts = self.split(center), self.split(points)
        return self.join_coordinates(self._each("coordinates", *parts))

    def clip(self, center: ArrayLike, points: ArrayLike, radius: float) -> FloatArray:
        """Of every record; see :meth:`Manifold.clip`.

        A record of which a factor has no logarithm becomes the centre.
        """
        center, points = as_floats(center), as_floats(points)
        try:
            with np.errstate(all="ignore"):
                return super().clip(center, points, radius)
        except (NotOnManifoldError, np.linalg.LinAlgError):
            kept = self.join(self._each("_kept", self.split(center), self.split(points)))
        with np.errstate(all="ignore"):
            return super().clip(center, kept, radius)

    def _lost(self, center: FloatArray, points: FloatArray) -> NDArray[np.bool_]:
        """Those of which a factor has lost its part."""
        lost = self._values(self._each("_lost", self.split(center), self.split(points)))
        return np.asarray(np.any(lost, axis=-1))

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Every factor needs room; see :meth:`Manifold.check_ball`."""
        super().check_ball(center, radius)
        for space, middle, _ in self._places(center):
            space.check_ball(middle, radius)

    def total(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Sum of numbers that the parts have, over the factors.

        Parameters
        ----------
        parts : sequence of ndarray
            Of numbers: with an axis of copies, where :meth:`split` makes one.

        Returns
        -------
        ndarray, shape (...)
        """
        return np.asarray(self._values(parts).sum(axis=-1))

    def balls(self, ball: Ball) -> tuple[Ball, ...]:
        """Return balls of the factors that hold the parts of a ball.

        Parameters
        ----------
        ball : Ball
            Of this space.

        Returns
        -------
        tuple of Ball
            One for each of :attr:`each`: about the parts of the centre, of the same radius unless
            the ball has one for each.
        """
        return _balls(ball) if ball.parts[0] is ball else ball.parts

    @abstractmethod
    def _norm(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Root of the sum of squares of numbers that the parts have."""

    @abstractmethod
    def _values(self, parts: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        """Numbers that the factors have along the last axis."""

    @abstractmethod
    def _split_tangent(self, tangent: ArrayLike) -> list[FloatArray]:
        """Parts of tangent vectors."""

    @abstractmethod
    def _join_tangent(self, parts: Sequence[ArrayLike]) -> FloatArray:
        """Inverse of :meth:`_split_tangent`."""

    def _total_log(self, center: ArrayLike, points: FloatArray) -> FloatArray:
        return self.tangent_vector(center, self.coordinates(center, points))


@functools.lru_cache(maxsize=4)
def _balls(ball: Ball) -> tuple[Ball, ...]:
    manifold: Combined = ball.manifold  # type: ignore[assignment]
    return factor_balls(manifold, ball.center, (ball.radius,) * sum(manifold.counts))


def factor_balls(manifold: Cut, center: FloatArray, radii: Sequence[float]) -> tuple[Ball, ...]:
    """Return balls of ``manifold.each``, of these radii about their parts of a centre.

    Equal ones are one object.
    """
    found: dict[tuple[Manifold, bytes, float], Ball] = {}
    every = []
    for space, middle, radius in zip(manifold.each, manifold.apart(center), radii, strict=True):
        key = space, middle.tobytes(), radius
        if key not in found:
            found[key] = Ball(space, middle, radius)
        every.append(found[key])
    return tuple(every)


# Balls of products that clip every factor by itself.


@dataclass(frozen=True, eq=False)
class BoxBall(Ball):
    """Records whose every factor lies in its own ball, and all of them together in one, if wanted.

    A record is clipped factor by factor, then as a whole. So the conditions on a radius hold for
    each factor's: many spheres need no small ball about all of them.

    Parameters
    ----------
    manifold : Manifold
        A product or a power.
    center : array_like, shape (*point_shape,)
        Centre, on the manifold.
    radius : float
        Of the ball that records are clipped to as a whole; kept as at most the root of the sum of
        squares of ``radii``, beyond which nothing is clipped. It has to suit no condition.
    radii : float or sequence of float
        Of the factors' balls: one for all, or one for each factor, every copy by itself.

    Raises
    ------
    InvalidParameterError
        If the manifold is no product, or there are not as many radii as factors.
    NotOnManifoldError
        If the centre is not one point of the manifold.
    UnsupportedBallError
        If a radius is not positive, or one of a factor too large for it.

    References
    ----------
    docs/proofs/products.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.spaces import BoxBall
    >>> space = riemdp.Power(riemdp.Euclidean(1), 3)
    >>> ball = BoxBall(space, np.zeros((3, 1)), 2.0, 1.0)
    >>> round(ball.radius, 4)  # no more than the root of 1 + 1 + 1
    1.7321
    >>> ball.project(np.array([[5.0], [0.0], [0.5]])).ravel().round(4)
    array([1. , 0. , 0.5])
    """

    proof = "docs/proofs/products.md"

    radii: tuple[float, ...]  # or one number for all, before they are checked

    def __post_init__(self) -> None:
        if not isinstance(self.manifold, Cut):
            raise InvalidParameterError(
                f"radii of factors need a Power or a Product, got {kind_of(self.manifold)}"
            )
        factors = sum(self.manifold.counts)
        given: object = self.radii
        several = given if isinstance(given, Iterable) else (given,) * factors
        radii = tuple(positive(radius, "radii") for radius in several)
        if len(radii) != factors:
            raise InvalidParameterError(
                f"radii must be one number, or one for each of {factors} factors, got {len(radii)}"
            )
        object.__setattr__(self, "radii", radii)
        far = math.nextafter(math.hypot(*radii) * (1.0 + 1e-15), math.inf)
        radius = real(self.radius, "radius")
        if not radius > 0.0:
            raise UnsupportedBallError(f"radius must be positive, got {radius}")
        object.__setattr__(self, "radius", min(radius, far))
        super().__post_init__()

    def _check_room(self) -> None:
        _ = self.parts

    @functools.cached_property
    def parts(self) -> tuple[Ball, ...]:
        """Balls of the factors, every copy by itself."""
        return factor_balls(self._space, self.center, self.radii)

    @property
    def clips_whole(self) -> bool:
        """Whether records are clipped as a whole, too."""
        return self.radius < math.hypot(*self.radii)

    @property
    def reach(self) -> float:
        """Largest distance of a point from the centre, or more."""
        return self.radius

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether points lie in all the balls; see :meth:`Ball.contains`."""
        each = zip(self.parts, self._space.apart(as_floats(points)), strict=True)
        inside = np.all([ball.contains(own) for ball, own in each], axis=0)
        return np.asarray(inside & super().contains(points))

    @property
    def rounding(self) -> float:
        """Root of the sum of squares of those of the factors."""
        return math.hypot(*(ball.rounding for ball in self.parts))

    def project(self, points: ArrayLike) -> FloatArray:
        """Clip factor by factor, then as a whole; see :meth:`Ball.project`."""
        found = self._space.clip_factors(self.center, points, self.radii)
        return super().project(found) if self.clips_whole else found

    def coordinates(self, points: ArrayLike) -> FloatArray:
        """See :meth:`Ball.coordinates`."""
        return self.shorten(self.manifold.coordinates(self.center, points))

    def unit_coordinates(self, points: ArrayLike) -> FloatArray:
        """See :meth:`Ball.unit_coordinates`."""
        with np.errstate(all="ignore"):
            return finite_in_units(self.coordinates(points), self.reach)

    def shorten(self, coordinates: ArrayLike, share: float = 1.0) -> FloatArray:
        """Shorten the parts to the radii, then all of them; see :meth:`Ball.shorten`."""
        alike: dict[tuple[float, int], list[int]] = {}
        found, start = as_floats(coordinates).copy(), 0
        for radius, space in zip(self.radii, self._space.each, strict=True):
            alike.setdefault((radius, space.dim), []).append(start)
            start += space.dim
        for (radius, width), starts in alike.items():
            where = np.add.outer(starts, np.arange(width))
            found[..., where] = clip_norm(found[..., where], radius * share)
        return clip_norm(found, self.radius * share) if self.clips_whole else found

    @property
    def _space(self) -> Cut:
        return self.manifold  # type: ignore[return-value]


# Products of spaces: records with several parts.


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
