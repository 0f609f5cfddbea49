"""The Riemannian Laplace law restricted to a public ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import UnsupportedBallError
from riemdp.noise import RadialLaw, constant_curvature, resolve_generator
from riemdp.noise._polar import check_onto
from riemdp.noise._radial import check_sigma, log_sphere_area
from riemdp.research._ball_quadrature import BallRadialTable
from riemdp.research._cap import sample_cap
from riemdp.research._polar import (
    Geometry,
    direction_about,
    leading_axes,
    normal_coordinates,
    split,
    uniform_directions,
)
from riemdp.spaces import as_floats, check_broadcast

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.noise._generator import Size, Source
    from riemdp.spaces import Ball, FloatArray


@dataclass(frozen=True)
class BallLaplace:
    """Density proportional to ``exp(-dist(x, footpoint) / sigma)`` on a closed ball, else 0.

    Its normaliser depends on the footpoint, so a release of sensitivity D is only
    ``2 D / sigma`` private. It exists for every ``sigma``, on hyperbolic space too. Draws are by
    inversion, without rejection: the work does not depend on the footpoint.

    Parameters
    ----------
    ball : Ball
        Public ball of a manifold of constant curvature.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.
    UnsupportedManifoldError
        If the curvature is not constant.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Theorem 3. The sampler: docs/proofs/exact-samplers.
    """

    ball: Ball
    sigma: float

    def __post_init__(self) -> None:
        constant_curvature(self.ball.manifold)
        object.__setattr__(self, "sigma", check_sigma(self.sigma))

    @property
    def radial(self) -> RadialLaw:
        """Law of longer distances than any footpoint of the ball has.

        Along each direction the radial density is then cut at some distance of at most the
        diameter, and cutting it there makes distances no longer. Raises ``UnsupportedBallError``
        unless the ball is convex.
        """
        ball, manifold = self.ball, self.ball.manifold
        convex = 0.5 * manifold.injectivity_radius
        if ball.radius >= convex:
            raise UnsupportedBallError(
                f"no bound on the error of a Laplace law restricted to a ball of radius "
                f"{ball.radius:.6g}, which is not convex; choose a radius under {convex:.6g}, or "
                "project an unrestricted draw"
            )
        curvature = constant_curvature(manifold)
        return RadialLaw("laplace", manifold.dim, curvature, self.sigma, 2.0 * ball.radius)

    @property
    def about_center(self) -> RadialLaw:
        """Law of the distance about the ball's centre."""
        manifold = self.ball.manifold
        check_onto(manifold)
        curvature = constant_curvature(manifold)
        return RadialLaw("laplace", manifold.dim, curvature, self.sigma, self.ball.radius)

    def check_drawable(self) -> None:
        """Do nothing: draws are by inversion."""

    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw about footpoints ``(*batch, *point_shape)``, ``(*size, *batch, *point_shape)``.

        Footpoints outside the ball are an ``UnsupportedBallError``.
        """
        return self.sample_from_coordinates(
            normal_coordinates(self.ball, footpoint), size, generator
        )

    def sample_from_coordinates(
        self, coordinates: FloatArray, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw about footpoints ``(*batch, dim)`` in normal coordinates about the centre."""
        generator = resolve_generator(generator)
        offset, axis = split(as_floats(coordinates))
        shape = (*leading_axes(size), *offset.shape)
        table = self._table(offset.reshape(-1))
        count = math.prod(leading_axes(size))
        radius, opening = table.sample(count, generator)
        away = sample_cap(opening, self.ball.manifold.dim, generator)
        sine = 2.0 * np.sqrt(away * (1.0 - away))
        side, along, across = table.geometry.third_side(
            table.offset, radius, sine, 1.0 - away, away
        )
        turn = uniform_directions(shape, self.ball.manifold.dim - 1, generator)
        direction = direction_about(
            axis, along.reshape(shape), across.reshape(shape)[..., None] * turn
        )
        length = np.minimum(side.reshape(shape) * table.geometry.unit, self.ball.radius)
        return self.ball.point(length[..., None] * direction)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """See :meth:`Law.log_density`; ``-inf`` outside the ball.

        Raises ``UnsupportedBallError`` if a footpoint lies outside the ball, and
        ``UnsupportedManifoldError`` if draws may leave the space.
        """
        manifold = self.ball.manifold
        check_onto(manifold)
        point, footpoint = manifold.validate(point), manifold.validate(footpoint)
        check_broadcast(point, footpoint, len(manifold.point_shape))
        offset = np.linalg.norm(normal_coordinates(self.ball, footpoint), axis=-1)
        log_mass = self._table(offset.reshape(-1)).log_mass.reshape(offset.shape)
        dist = manifold.dist(footpoint, point)
        density = -dist / self.sigma - log_mass - log_sphere_area(manifold.dim)
        return np.asarray(np.where(self.ball.contains(point), density, -np.inf))

    def _table(self, offset: FloatArray) -> BallRadialTable:
        geometry = Geometry.of(self.ball.manifold)
        return BallRadialTable(
            geometry=geometry,
            dim=self.ball.manifold.dim,
            sigma=self.sigma / geometry.unit,
            radius=self.ball.radius / geometry.unit,
            offset=np.minimum(offset, self.ball.radius) / geometry.unit,
        )
