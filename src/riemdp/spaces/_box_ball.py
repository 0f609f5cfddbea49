"""Balls of products that clip every factor by itself."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import kind_of, positive, real
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp.spaces._ball import Ball
from riemdp.spaces._combined import Cut, factor_balls
from riemdp.spaces._norms import clip_norm
from riemdp.spaces._points import as_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray


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
