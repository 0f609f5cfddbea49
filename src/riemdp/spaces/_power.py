"""Powers of a space: many points of it at once, as a map or an atlas has them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._checks import count, kind_of, positive
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.spaces._ball import Ball
from riemdp.spaces._euclidean import FlatManifold
from riemdp.spaces._manifold import Manifold, check_manifold
from riemdp.spaces._points import as_floats, check_shape, long_norm
from riemdp.spaces._product import BoxBall, Combined, Cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces._points import FloatArray


def Power(space: Manifold, copies: int) -> FlatPower | CurvedPower:  # noqa: N802
    r"""Return copies of a space side by side: squared distances add up.

    The geometry of ``Product(space, ..., space)``, with points of shape
    ``(copies, *space.point_shape)`` and no loop over the copies. A ball clips a record as a whole,
    and a :func:`riemdp.ProductBall` every copy by itself, if wanted.

    Parameters
    ----------
    space : Manifold
    copies : int
        At least 1.

    Returns
    -------
    FlatPower or CurvedPower
        The former where the space is flat by a chart: then the power is, and everything that is
        known of R^d is known of it.

    Raises
    ------
    InvalidParameterError
        If the space is none, or the number is not a positive integer.

    References
    ----------
    docs/proofs/products.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> space = riemdp.Power(riemdp.SPDLogEuclidean(3), 10)
    >>> space.point_shape, space.dim
    ((10, 3, 3), 60)
    """
    check_manifold(space, "; a power is Power(space, copies)")
    chart = space.chart
    return CurvedPower(space, copies) if chart is None else FlatPower(chart, copies)


class _Copies(Cut):
    """Points have an axis of copies before those of a point."""

    space: Manifold
    copies: int

    def __post_init__(self) -> None:
        check_manifold(self.space)
        object.__setattr__(self, "copies", count(self.copies, "copies"))

    @property
    def spaces(self) -> tuple[Manifold, ...]:
        """The space."""
        return (self.space,)

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of copies, in a tuple."""
        return (self.copies,)

    @property
    def factors(self) -> tuple[Manifold, ...]:
        """Those of the space, as many times as there are copies."""
        return self.space.factors * self.copies

    @property
    def dim(self) -> int:
        """That of the space, as many times as there are copies."""
        return self.copies * self.space.dim

    @property
    def point_shape(self) -> tuple[int, ...]:
        r"""``(copies, *space.point_shape)``."""
        return (self.copies, *self.space.point_shape)

    def split(self, points: ArrayLike) -> list[FloatArray]:
        r"""One part, shape ``(..., copies, \*space.point_shape)``; single copies: :meth:`apart`."""
        return [as_floats(points)]

    def join(self, parts: Sequence[ArrayLike]) -> FloatArray:
        """Points of their one part, the inverse of :meth:`split`."""
        (part,) = parts
        return np.asarray(part)

    def apart(self, points: FloatArray) -> list[FloatArray]:
        """Return views of single copies; see :meth:`Cut.apart`."""
        return list(np.moveaxis(points, points.ndim - len(self.point_shape), 0))

    def split_coordinates(self, coordinates: ArrayLike) -> list[FloatArray]:
        """Coordinates of the copies: one array, shape ``(..., copies, space.dim)``."""
        found = as_floats(coordinates)
        return [found.reshape(*found.shape[:-1], self.copies, self.space.dim)]

    def join_coordinates(self, parts: Sequence[ArrayLike]) -> FloatArray:
        """Return the inverse of :meth:`split_coordinates`."""
        (part,) = parts
        found = np.asarray(part)
        return found.reshape(*found.shape[:-2], self.dim)

    @property
    def origin(self) -> FloatArray:
        """That of the space, in every copy."""
        return np.broadcast_to(self.space.origin, self.point_shape).copy()

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check every copy; see :meth:`Manifold.validate`. Messages name row and copy."""
        return self.space.validate(check_shape(points, self.point_shape))

    def extreme_directions(self, base: ArrayLike) -> FloatArray:
        """Those of the first copy; see :meth:`Manifold.extreme_directions`."""
        own = self.space.extreme_directions(as_floats(base)[0])
        return np.pad(own, [(0, 0), (0, self.dim - self.space.dim)])


@final
@register
@dataclass(frozen=True)
class CurvedPower(_Copies, Combined):
    """Copies of a space that no chart says to be flat; :func:`Power` makes it.

    Parameters
    ----------
    space, copies
        See :func:`Power`.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Power(riemdp.Sphere(2), 10)  # a direction for each of 10 voxels
    >>> type(space).__name__, space.dim, space.point_shape
    ('CurvedPower', 20, (10, 3))
    """

    proof = "docs/proofs/products.md"

    space: Manifold
    copies: int

    @property
    def tangent_shape(self) -> tuple[int, ...]:
        r"""``(copies, *space.tangent_shape)``."""
        return (self.copies, *self.space.tangent_shape)

    def _norm(self, parts: Sequence[FloatArray]) -> FloatArray:
        return long_norm(parts[0])

    def _values(self, parts: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        return parts[0]

    def _split_tangent(self, tangent: ArrayLike) -> list[FloatArray]:
        return [as_floats(tangent)]

    def _join_tangent(self, parts: Sequence[ArrayLike]) -> FloatArray:
        return self.join(parts)


@final
@register
@dataclass(frozen=True)
class FlatPower(_Copies, FlatManifold):
    """Copies of a flat space, which are flat; :func:`Power` makes it.

    Parameters
    ----------
    space, copies
        See :func:`Power`.

    Raises
    ------
    InvalidParameterError
        If the space is not flat.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.Power(riemdp.SPDLogEuclidean(3), 10)  # a tensor for each of 10 voxels
    >>> type(space).__name__, space.dim, space.point_shape
    ('FlatPower', 60, (10, 3, 3))
    """

    proof = "docs/proofs/products.md"

    space: FlatManifold
    copies: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.space.chart is None:
            raise InvalidParameterError("the space is not flat; use CurvedPower")

    def to_chart(self, points: ArrayLike) -> FloatArray:
        """Charts of the copies, one after the other."""
        return self.join_coordinates([self.space.to_chart(as_floats(points))])

    def from_chart(self, coordinates: ArrayLike) -> FloatArray:
        """Inverse of :meth:`to_chart`."""
        (part,) = self.split_coordinates(coordinates)
        return self.space.from_chart(part)


def ProductBall(  # noqa: N802
    space: Manifold,
    center: ArrayLike,
    *,
    rms_radius: float | None = None,
    radii: float | Sequence[float] | None = None,
) -> Ball:
    r"""Return the ball of a product, its radius given per factor.

    With ``rms_radius`` each record is clipped as a whole, at ``R = rms_radius * sqrt(V)`` in the
    metric of the product of V factors: one factor may be farther from its centre if the others
    are nearer. Where no curvature is positive, means move by at most ``2 R / n``.

    With ``radii`` every factor is clipped by itself, and each radius has to suit its own factor.
    Means move by the root of the sum of squares of what the factors' means move by. With both,
    factors are clipped first, then the record as a whole.

    Parameters
    ----------
    space : Manifold
        A power or a product.
    center : array_like, shape (\*point_shape,)
        Centre. Of a power also one point of its space, the centre of every copy.
    rms_radius : float, optional
        Root mean square, over the factors, of the distance that a record may have from the centre.
    radii : float or sequence of float, optional
        Distance that every factor may have: one number, or one for each factor.

    Returns
    -------
    Ball

    Raises
    ------
    InvalidParameterError
        If the space is neither, or no radius is given, or one is not a positive number.
    NotOnManifoldError
        If the centre is not one point.
    UnsupportedBallError
        If the ball is too large: ``R`` has to suit the factor that allows the least.

    References
    ----------
    docs/proofs/products.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> space = riemdp.Power(riemdp.Euclidean(2), 16)
    >>> ball = riemdp.ProductBall(space, np.zeros((16, 2)), rms_radius=0.5)
    >>> ball.radius  # 0.5 times the root of 16
    2.0
    """
    if not isinstance(space, Cut):
        raise InvalidParameterError(
            f"a product ball is one of a Power or a Product, got {kind_of(space)}; use Ball"
        )
    if rms_radius is None and radii is None:
        raise InvalidParameterError("a product ball needs rms_radius, radii, or both")
    radius = math.inf
    if rms_radius is not None:
        radius = positive(rms_radius, "rms_radius") * math.sqrt(sum(space.counts))
    middle = as_floats(center)
    if len(space.spaces) == 1 and middle.shape == space.spaces[0].point_shape:
        middle = np.broadcast_to(middle, space.point_shape)
    if radii is None:
        return Ball(space, middle, radius)
    return BoxBall(space, middle, radius, radii)  # type: ignore[arg-type]
