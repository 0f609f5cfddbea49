"""Riemannian Laplace and Gaussian laws on manifolds of constant curvature."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._potential import Kind, potential
from riemdp.manifolds import as_floats, check_broadcast
from riemdp.noise._generator import Size, Source, resolve_generator
from riemdp.noise._law import Law
from riemdp.noise._polar import (
    Geometry,
    check_onto,
    constant_curvature,
    direction_about,
    is_onto,
    leading_axes,
    split,
    uniform_directions,
)
from riemdp.noise._radial import RadialLaw
from riemdp.noise.exact._flat import FlatDraw
from riemdp.noise.exact._space_form import SpaceFormDraw

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, FloatArray, Manifold
    from riemdp.noise.exact._draw import ExactDraw

#: Largest radius, in units of 1/sqrt(-curvature), of a draw that gets hyperboloid coordinates.
_HYPERBOLIC_REACH = 300.0


@dataclass(frozen=True)
class IsotropicLaw(Law):
    """Law with density proportional to ``exp(-U(dist(x, footpoint)))`` in Riemannian volume.

    ``U(r) = r / sigma`` for the Riemannian Laplace law and ``r^2 / (2 sigma^2)`` for the
    Riemannian Gaussian. The normaliser does not depend on the footpoint. Draws are exact, and
    neither their time nor their acceptance depends on the footpoint.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Manifold
        Space of constant curvature.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``kind`` is unknown or ``sigma`` not positive and finite.
    NotAttainableError
        If the Laplace law has no normaliser at this ``sigma`` (hyperbolic spaces).
    UnsupportedManifoldError
        If the curvature is not constant.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3 (Laplace); Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds",
    NeurIPS 2023 (Gaussian). The sampler: docs/proofs/exact-samplers.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.noise import IsotropicLaw
    >>> law = IsotropicLaw("laplace", riemdp.Hyperbolic(2), 0.3)
    >>> f"{law.radial.mean():.4f}"
    '0.6593'
    >>> law.sample(law.manifold.origin, (5,), np.random.default_rng(0)).shape
    (5, 3)
    """

    kind: Kind
    manifold: Manifold
    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", self.radial.sigma)

    @functools.cached_property
    def radial(self) -> RadialLaw:
        """Law of the distance between footpoint and draw."""
        return RadialLaw(
            kind=self.kind,
            dim=self.manifold.dim,
            curvature=constant_curvature(self.manifold),
            sigma=self.sigma,
            upper=self.manifold.injectivity_radius,
        )

    @property
    def exact_radial(self) -> bool:
        """Not where draws leave the space and are moved back: no farther than they were."""
        return is_onto(self.manifold)

    def exact_draw(self, reach: float | None = None) -> ExactDraw:  # noqa: ARG002
        """See :meth:`Law.exact_draw`."""
        law = self.radial
        if law.curvature == 0.0 and math.isinf(law.upper):
            return FlatDraw(self.kind, law.dim, self.sigma)
        # A sphere, a circle (whose curvature here is not that of its law) or a hyperbolic space.
        manifold: Any = self.manifold
        return SpaceFormDraw(self.kind, law.dim, manifold.curvature, self.sigma)

    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw along geodesics; see :meth:`Law.sample`."""
        generator = resolve_generator(generator)
        points = self.manifold.validate(footpoint)
        batch = points.shape[: points.ndim - len(self.manifold.point_shape)]
        vectors = isotropic_vectors(self.radial, (*leading_axes(size), *batch), generator)
        if (chart := self.manifold.chart) is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                draws = chart.from_chart(chart.to_chart(points) + vectors)
            if not np.all(np.isfinite(draws)):
                raise NotAttainableError(self._too_far())
            return draws
        unit = self.manifold.growth_unit
        if unit is not None:
            reach = np.max(np.linalg.norm(vectors, axis=-1), initial=0.0)
            if reach > _HYPERBOLIC_REACH * unit:
                raise NotAttainableError(self._too_far())
        return self.manifold.exp(points, self.manifold.tangent_vector(points, vectors))

    def sample_from_coordinates(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw in polar coordinates about the centre; see :meth:`Law.sample_from_coordinates`.

        Distance and angle about the centre follow from a triangle, and coordinates are made after
        the projection: nothing overflows, and no digits are lost far from the centre.
        """
        side, direction = self.polar_draws(coordinates, ball, size, generator)
        return ball.point(np.minimum(side, ball.radius)[..., None] * direction)

    def sample_about(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw in coordinates about the centre; see :meth:`Law.sample_about`."""
        side, direction = self.polar_draws(coordinates, ball, size, generator)
        return ball.point(side[..., None] * direction)

    def polar_draws(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> tuple[FloatArray, FloatArray]:
        """See :meth:`Law.sample_from_coordinates`: its draws in polar coordinates, unprojected.

        Returns the distance of the draw from the ball's centre, shape ``(*size, *batch)``; on
        hyperbolic space, where it is so large that it no longer moves the projection, merely some
        distance beyond the radius. Then a unit vector in normal coordinates about the centre, shape
        ``(*size, *batch, dim)``.
        """
        generator = resolve_generator(generator)
        offset, axis = split(as_floats(coordinates))
        shape = (*leading_axes(size), *offset.shape)
        radius = self.radial.sample(shape, generator)
        unit = self.manifold.growth_unit
        if unit is not None:
            # Past c = 2R + 40 (unit curvature, R the ball's radius, t <= R the footpoint's
            # distance from the centre) a longer ray ends outside the ball too, c - t > R, and
            # its direction seen from the centre turns by at most 2 exp(2t - 2c), which moves the
            # projection by less than exp(R) exp(2R - 2c) = exp(-R - 80).
            radius = np.minimum(radius, 2.0 * ball.radius + 40.0 * unit)
        direction = uniform_directions(shape, self.manifold.dim, generator)
        cosine, across = direction[..., 0], direction[..., 1:]
        sine = np.linalg.norm(across, axis=-1)
        # (1 - |cos|)/2 from the sine: no cancellation at either end
        small = 0.5 * np.square(sine) / (1.0 + np.abs(cosine))
        toward = np.where(cosine > 0.0, 1.0 - small, small)
        away = np.where(cosine > 0.0, small, 1.0 - small)
        geometry = Geometry.of(self.manifold)
        side, cosine, turn = geometry.third_side(
            offset / geometry.unit, radius / geometry.unit, sine, toward, away
        )
        across = across * (turn / np.where(sine > 0.0, sine, 1.0))[..., None]
        return side * geometry.unit, direction_about(axis, cosine, across)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """See :meth:`Law.log_density`."""
        check_onto(self.manifold)
        footpoint, point = self.manifold.validate(footpoint), self.manifold.validate(point)
        check_broadcast(point, footpoint, len(self.manifold.point_shape))
        dist = self.manifold.dist(footpoint, point)
        penalty = potential(self.kind).energy(dist / self.sigma)
        return np.asarray(-penalty - self.radial.log_normaliser())

    def _too_far(self) -> str:
        return (
            f"a draw of the {self.kind} law with sigma = {self.sigma:g} lies too far out for "
            f"float64 coordinates on {self.manifold}; use a smaller sigma (more data, a smaller "
            "ball, a larger budget), or release into a public ball"
        )


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
    radius = law.sample(size, generator)
    return np.asarray(radius[..., None] * uniform_directions(size, law.dim, generator))
