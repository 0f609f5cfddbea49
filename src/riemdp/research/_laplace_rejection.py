"""Exact draws from laws on a ball that a Laplace density dominates."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._errors import ConvergenceError, NotAttainableError
from riemdp.noise import IsotropicLaw, RadialLaw, constant_curvature, resolve_generator
from riemdp.noise._polar import check_onto
from riemdp.research._ball_laplace import BallLaplace
from riemdp.research._isotropic import polar_draws
from riemdp.research._polar import leading_axes, normal_coordinates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from riemdp.noise._generator import Size, Source
    from riemdp.spaces import Ball, FloatArray

#: Least share of the Laplace law about the centre in the ball at which drawing it and throwing
#: away what lies outside costs less than drawing from the law restricted to the ball.
_PLAIN_SHARE = 2e-3
#: Rounds of proposals before a draw is given up; at an acceptance of 1e-4 never reached.
_ROUNDS = 100_000
_LARGEST_BATCH = 4096
#: Cells of the sum that bounds the acceptance, and the probability of the first one.
_CELLS, _RAREST = 2000, 1e-12


@dataclass(frozen=True, eq=False)
class LaplaceRejection:
    """Density proportional to ``exp(-dist(x, footpoint) / sigma) a(footpoint, x)`` on a ball.

    ``sigma`` is in units of geodesic distance. The ball is one of a manifold of constant curvature
    that noise does not leave, else ``UnsupportedManifoldError``: elsewhere the distances of points
    are not those of draws. ``a <= 1`` is the probability with which a draw of
    the Laplace law is kept; ``log_acceptance`` takes footpoints and points ``(N, *point_shape)`` to
    ``log a``, shape ``(N,)``. Draws are exact; how many proposals they take depends on the
    footpoint.
    """

    ball: Ball
    sigma: float
    log_acceptance: Callable[[FloatArray, FloatArray], FloatArray]

    def __post_init__(self) -> None:
        check_onto(self.ball.manifold, 'use RiemannianLaplace ("riemannian-laplace")')

    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw points of the ball about footpoints in it, shape ``(*size, *batch, *point_shape)``.

        Raises ``UnsupportedBallError`` for a footpoint outside, and ``ConvergenceError`` if a draw
        took more proposals than any law with an acceptance over 1e-4 does.
        """
        generator = resolve_generator(generator)
        shape = self.ball.manifold.point_shape
        points, coordinates = self._checked(footpoint)
        batch = points.shape[: points.ndim - len(shape)]
        axes = leading_axes(size)
        wanted = np.broadcast_to(points, (*axes, *points.shape)).reshape(-1, *shape)
        about = np.broadcast_to(coordinates, (*axes, *coordinates.shape))
        about = about.reshape(-1, self.ball.manifold.dim)
        result = np.empty(wanted.shape)
        pending = np.arange(len(wanted))
        tries = 8 if len(wanted) < _LARGEST_BATCH else 2
        for _ in range(_ROUNDS):
            if not len(pending):
                return result.reshape(*axes, *batch, *shape)
            proposal, kept = self._propose(wanted[pending], about[pending], tries, generator)
            found = np.any(kept, axis=0)
            first = np.argmax(kept, axis=0)
            result[pending[found]] = proposal[first[found], np.flatnonzero(found)]
            pending = pending[~found]
            tries = min(4 * tries, max(2, _LARGEST_BATCH // max(len(pending), 1)))
        raise ConvergenceError(
            f"no proposal was accepted in {_ROUNDS} rounds; narrow the bounds of the prior or of "
            "the conformal factor, or use a larger budget"
        )

    def least_acceptance(self, rate: float) -> float:
        """Lower bound of the share of accepted proposals, over all footpoints in the ball.

        ``rate`` has to be such that ``log_acceptance`` is at least ``-rate dist(footpoint, x)``:
        the caller proves that (docs/proofs/conformal-laplace.md, Proposition 7).
        """
        ball = self.ball
        curvature = constant_curvature(ball.manifold)
        whole = isinstance(self._law, IsotropicLaw)
        # from a ball all proposals are kept, and no two points of it are farther apart
        upper = min(ball.manifold.injectivity_radius, math.inf if whole else 2.0 * ball.radius)
        law = RadialLaw("laplace", ball.manifold.dim, curvature, self.sigma, upper)
        probability = np.geomspace(_RAREST, 1.0, _CELLS)
        away = law.quantile(probability)
        value = np.exp(-rate * away)
        if whole:
            value = value * _inward_share(ball, away)
        # a decreasing function on each cell is at least its value at the farther end
        cells = np.diff(probability, prepend=0.0)
        finite = np.isfinite(away)
        return float(cells[finite] @ value[finite]) * (1.0 - 1e-6)

    def _propose(
        self,
        footpoints: FloatArray,
        coordinates: FloatArray,
        tries: int,
        generator: np.random.Generator,
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Draw ``(tries, N, *point_shape)`` of the Laplace law, and say which are accepted.

        What is not accepted is zero.
        """
        candidates, kept = self._candidates(coordinates, tries, generator)
        proposal = np.zeros((tries, *footpoints.shape))
        proposal[kept] = candidates
        about = np.broadcast_to(footpoints, proposal.shape)[kept]
        log_uniform = -generator.standard_exponential(len(about))
        kept[kept] = log_uniform <= self.log_acceptance(about, candidates)
        return proposal, kept

    def _candidates(
        self, coordinates: FloatArray, count: int, generator: np.random.Generator
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Draw the Laplace law ``count`` times about each footpoint, coordinates ``(*batch, dim)``.

        Returns those m draws that lie in the ball, ``(m, *point_shape)``, and which ones they are,
        ``(count, *batch)``. What lies outside may have no float64 coordinates of its own, and is
        never made into points.
        """
        if isinstance(self._law, IsotropicLaw):
            side, direction = polar_draws(self._law, coordinates, self.ball, count, generator)
            inside = side <= self.ball.radius
            return self.ball.point(side[inside][:, None] * direction[inside]), inside
        points = self._law.sample_from_coordinates(coordinates, count, generator)
        inside = np.ones((count, *coordinates.shape[:-1]), dtype=np.bool_)
        return points[inside], inside

    def _checked(self, footpoint: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return footpoints, and their normal coordinates about the centre of the ball."""
        points = self.ball.manifold.validate(footpoint)
        return points, normal_coordinates(self.ball, points)

    @functools.cached_property
    def _law(self) -> IsotropicLaw | BallLaplace:
        """Laplace law whose draws in the ball are the proposals; both give the same draws."""
        try:
            plain = IsotropicLaw("laplace", self.ball.manifold, self.sigma)
        except NotAttainableError:  # no normaliser on the whole space
            return BallLaplace(self.ball, self.sigma)
        share = float(plain.radial.cdf(self.ball.radius))
        return plain if share > _PLAIN_SHARE else BallLaplace(self.ball, self.sigma)


def _inward_share(ball: Ball, away: FloatArray) -> FloatArray:
    """Share of the directions from a boundary point that stay in the ball for these distances.

    Not increasing, and not more than the share from any other point of the ball.
    """
    dim, curvature = ball.manifold.dim, constant_curvature(ball.manifold)
    if dim == 1:
        return np.where(away <= 2.0 * ball.radius, 0.5, 0.0)
    unit = math.sqrt(abs(curvature)) if curvature else 1.0
    radius, half = unit * ball.radius, 0.5 * unit * away
    if curvature > 0.0 and radius >= 0.5 * math.pi:
        return np.full(away.shape, 0.5)  # more than half of the sphere
    if curvature > 0.0:  # from a quarter of a great circle on the ratio is negative
        ratio = np.where(half < radius, np.tan(np.minimum(half, radius)) / math.tan(radius), 1.0)
    else:
        ratio = np.tanh(half) / math.tanh(radius) if curvature else half / radius
    cosine = np.minimum(ratio, 1.0)
    share = scipy.special.betainc(0.5 * (dim - 1), 0.5, 1.0 - cosine**2)
    return np.asarray(np.where(half < math.inf, 0.5 * share, 0.0))
