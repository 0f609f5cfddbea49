"""Geometry of spaces side by side, whatever way their points are written in one array."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import NotOnManifoldError
from riemdp.spaces._ball import Ball
from riemdp.spaces._manifold import Manifold
from riemdp.spaces._points import as_floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray


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
