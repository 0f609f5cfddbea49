"""Polar coordinates of a draw: about its footpoint, and about the centre of a public ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp.noise import constant_curvature

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.noise._generator import Size
    from riemdp.spaces import Ball, FloatArray, Manifold


@dataclass(frozen=True)
class Geometry:
    """Sign of the curvature that distances see, and the length ``1/k``.

    The circle counts as positive here: its points close up like those of any sphere. A line has
    sign 0 and length 1.
    """

    sign: int
    unit: float

    @classmethod
    def of(cls, manifold: Manifold) -> Geometry:
        """Geometry of a manifold of constant curvature."""
        if math.isfinite(manifold.injectivity_radius):
            return cls(1, manifold.injectivity_radius / math.pi)
        curvature = constant_curvature(manifold)
        return cls(-1, 1.0 / math.sqrt(-curvature)) if curvature < 0.0 else cls(0, 1.0)

    def s(self, x: FloatArray) -> FloatArray:
        """Generalised sine: ``sin x``, ``x`` or ``sinh x``."""
        if self.sign == 0:
            return x
        return np.sin(x) if self.sign > 0 else np.sinh(x)

    def c(self, x: FloatArray) -> FloatArray:
        """Return the derivative of ``s``."""
        if self.sign == 0:
            return np.ones_like(x)
        return np.cos(x) if self.sign > 0 else np.cosh(x)

    def third_side(
        self, t: FloatArray, r: FloatArray, sine: FloatArray, toward: FloatArray, away: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Solve a triangle from two sides and the angle between them, in units of ``1/k``.

        ``t`` and ``r`` are the sides from the footpoint to the centre and to the draw; of the angle
        a between them ``sin a``, ``(1 + cos a)/2`` and ``(1 - cos a)/2`` are given. Returns the
        distance from the centre to the draw, and cosine and sine of the angle at the centre between
        the two others.
        """
        s, c = self.s, self.c
        half = np.square(s(0.5 * (r - t))) + s(r) * s(t) * away
        if self.sign > 0:
            cohalf = np.square(c(0.5 * (r + t))) + s(r) * s(t) * toward
            side = 2.0 * np.arctan2(np.sqrt(half), np.sqrt(np.maximum(cohalf, 0.0)))
        elif self.sign == 0:
            side = np.sqrt(np.square(r - t) + 4.0 * r * t * away)
        else:
            side = 2.0 * np.arcsinh(np.sqrt(half))
        along = s(t - r) + 2.0 * away * s(r) * c(t)
        across = s(r) * sine
        length = np.hypot(along, across)
        degenerate = length == 0.0
        length = np.where(degenerate, 1.0, length)
        return side, np.where(degenerate, 1.0, along / length), across / length


def normal_coordinates(ball: Ball, footpoint: ArrayLike) -> FloatArray:
    r"""Return normal coordinates about the centre of points of the ball.

    Parameters
    ----------
    ball : Ball
    footpoint : array_like, shape (..., \*point_shape)

    Returns
    -------
    ndarray, shape (..., dim)

    Raises
    ------
    UnsupportedBallError
        If a point lies outside the ball.
    """
    manifold = ball.manifold
    points = manifold.validate(footpoint)
    chart = manifold.chart
    if chart is not None:
        coordinates = chart.to_chart(points) - chart.to_chart(ball.center)
        inside = np.linalg.norm(coordinates, axis=-1) <= ball.radius * (1.0 + 1e-9)
    else:
        inside = ball.contains(points)
    if not np.all(inside):
        raise UnsupportedBallError(
            f"the footpoint must lie in the ball of radius {ball.radius:g}; "
            "project it first with ball.project"
        )
    if chart is not None:
        return coordinates
    return manifold.tangent_coordinates(ball.center, manifold.log(ball.center, points))


def direction_about(axis: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
    """Return unit vectors ``(..., dim)`` with component ``along (...)`` on a unit axis.

    ``across (..., dim - 1)`` has their components on an orthonormal basis of the axis' complement.
    """
    sign = np.where(axis[..., :1] >= 0.0, 1.0, -1.0)
    direction = np.concatenate([-sign * along[..., None], across], axis=-1)
    # The reflection in the complement of axis + sign e_0 takes e_0 to -sign * axis.
    normal = np.array(axis)
    normal[..., :1] += sign
    projection = np.einsum("...i,...i->...", normal, direction)[..., None]
    return np.asarray(direction - normal * (projection / (1.0 + np.abs(axis[..., :1]))))


def split(coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Length ``(...)`` and unit axis ``(..., dim)`` of vectors; the first axis where it is 0."""
    length = np.linalg.norm(coordinates, axis=-1)
    zero = length == 0.0
    axis = coordinates / np.where(zero, 1.0, length)[..., None]
    axis[..., 0] = np.where(zero, 1.0, axis[..., 0])
    return length, axis


def uniform_directions(
    size: tuple[int, ...], dim: int, generator: np.random.Generator
) -> FloatArray:
    """Uniform unit vectors, shape ``(*size, dim)``; no components at all for ``dim`` 0."""
    normal = generator.standard_normal((*size, dim))
    if dim == 1:
        return np.copysign(1.0, normal)
    return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))


def leading_axes(size: Size) -> tuple[int, ...]:
    """Return the leading axes that ``size`` asks for.

    Parameters
    ----------
    size : int or tuple of int, optional

    Returns
    -------
    tuple of int

    Raises
    ------
    InvalidParameterError
        Unless it is None or made of integers that are not negative.
    """
    if size is None:
        return ()
    lengths: tuple[Any, ...] = size if isinstance(size, tuple) else (size,)
    for length in lengths:
        whole = isinstance(length, (int, np.integer)) and not isinstance(length, bool)
        if not whole or length < 0:
            raise InvalidParameterError(
                "size must be None, an integer or a tuple of integers, none negative, "
                f"got {shown(length)}"
            )
    return tuple(int(length) for length in lengths)
