"""Draws in float64 of radial laws, and of the laws on spaces of constant curvature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp.noise import resolve_generator
from riemdp.research._envelope import Envelope
from riemdp.research._polar import (
    Geometry,
    direction_about,
    leading_axes,
    split,
    uniform_directions,
)
from riemdp.spaces import as_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.noise import IsotropicLaw, RadialLaw
    from riemdp.noise._generator import Size, Source
    from riemdp.spaces import Ball, FloatArray

#: Largest radius, in units of 1/sqrt(-curvature), of a draw that gets hyperboloid coordinates.
_HYPERBOLIC_REACH = 300.0


def radii(law: RadialLaw, size: int | tuple[int, ...], generator: Source = None) -> FloatArray:
    """Draw distances, an array of shape ``size``."""
    generator = resolve_generator(generator)
    if law._is_closed:
        return law._from_gamma(np.asarray(generator.standard_gamma(law._shape, size)))
    if law.dim == 1:
        # inverse transform on a circle or a segment
        uniform = np.asarray(generator.random(size))
        ratio = law._potential.cut_quantile(uniform, law.upper / law.sigma)
        return np.asarray(np.minimum(ratio * law.sigma, law.upper))
    count = math.prod(size) if isinstance(size, tuple) else int(size)
    drawn = Envelope.of(law._profile).sample(count, generator) * law._unit
    return np.minimum(drawn, law.upper).reshape(size)


def acceptance(law: RadialLaw) -> float:
    """Probability that a proposal of :func:`radii` is accepted (1 where none is rejected)."""
    if law._is_closed or law.dim == 1:
        return 1.0
    return law._table.mass / Envelope.of(law._profile).area


def isotropic_vectors(
    law: RadialLaw, size: tuple[int, ...], generator: Source = None
) -> FloatArray:
    r"""Draw vectors of uniform direction whose length follows a radial law.

    Parameters
    ----------
    law : RadialLaw
    size : tuple of int
        Leading axes.
    generator : numpy.random.Generator, optional
        Source of randomness; a new secure generator by default.

    Returns
    -------
    ndarray, shape (\*size, law.dim)
    """
    generator = resolve_generator(generator)
    radius = radii(law, size, generator)
    return np.asarray(radius[..., None] * uniform_directions(size, law.dim, generator))


def along_geodesics(
    law: IsotropicLaw, footpoint: ArrayLike, size: Size, generator: Source
) -> FloatArray:
    """Draw along geodesics; ``NotAttainableError`` where a draw has no float64 coordinates."""
    generator = resolve_generator(generator)
    manifold = law.manifold
    points = manifold.validate(footpoint)
    batch = points.shape[: points.ndim - len(manifold.point_shape)]
    vectors = isotropic_vectors(law.radial, (*leading_axes(size), *batch), generator)
    if (chart := manifold.chart) is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            draws = chart.from_chart(chart.to_chart(points) + vectors)
        if not np.all(np.isfinite(draws)):
            raise NotAttainableError(_too_far(law))
        return draws
    unit = manifold.growth_unit
    if unit is not None:
        reach = np.max(np.linalg.norm(vectors, axis=-1), initial=0.0)
        if reach > _HYPERBOLIC_REACH * unit:
            raise NotAttainableError(_too_far(law))
    return manifold.exp(points, manifold.tangent_vector(points, vectors))


def polar_draws(
    law: IsotropicLaw,
    coordinates: FloatArray,
    ball: Ball,
    size: Size = None,
    generator: Source = None,
) -> tuple[FloatArray, FloatArray]:
    """Draw about footpoints ``(*batch, dim)``, in polar coordinates about the centre of a ball.

    Distance and angle about the centre follow from a triangle: nothing overflows, and no digits are
    lost far from the centre. Returns the distance of the draw from the ball's centre, shape
    ``(*size, *batch)``; on hyperbolic space, where it is so large that it no longer moves the
    projection onto the ball, merely some distance beyond the radius. Then a unit vector in normal
    coordinates about the centre, shape ``(*size, *batch, dim)``.
    """
    generator = resolve_generator(generator)
    manifold = law.manifold
    offset, axis = split(as_floats(coordinates))
    shape = (*leading_axes(size), *offset.shape)
    radius = radii(law.radial, shape, generator)
    unit = manifold.growth_unit
    if unit is not None:
        # Past c = 2R + 40 (unit curvature, R the ball's radius, t <= R the footpoint's distance
        # from the centre) a longer ray ends outside the ball too, c - t > R, and its direction
        # seen from the centre turns by at most 2 exp(2t - 2c), which moves the projection by less
        # than exp(R) exp(2R - 2c) = exp(-R - 80).
        radius = np.minimum(radius, 2.0 * ball.radius + 40.0 * unit)
    direction = uniform_directions(shape, manifold.dim, generator)
    cosine, across = direction[..., 0], direction[..., 1:]
    sine = np.linalg.norm(across, axis=-1)
    # (1 - |cos|)/2 from the sine: no cancellation at either end
    small = 0.5 * np.square(sine) / (1.0 + np.abs(cosine))
    toward = np.where(cosine > 0.0, 1.0 - small, small)
    away = np.where(cosine > 0.0, small, 1.0 - small)
    geometry = Geometry.of(manifold)
    side, cosine, turn = geometry.third_side(
        offset / geometry.unit, radius / geometry.unit, sine, toward, away
    )
    across = across * (turn / np.where(sine > 0.0, sine, 1.0))[..., None]
    return side * geometry.unit, direction_about(axis, cosine, across)


def _too_far(law: IsotropicLaw) -> str:
    return (
        f"a draw of the {law.kind} law with sigma = {law.sigma:g} lies too far out for float64 "
        f"coordinates on {law.manifold}; use a smaller sigma (more data, a smaller ball, a larger "
        "budget)"
    )
