"""Riemannian Laplace and Gaussian laws on SPD matrices with the affine-invariant metric."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._potential import Kind, potential
from riemdp.manifolds import _symmetric, as_affine_invariant, as_floats, check_broadcast
from riemdp.manifolds._jacobi import orthogonal_rows
from riemdp.noise._affine_invariant_draw import AffineInvariantDraw
from riemdp.noise._affine_invariant_radial import AffineInvariantRadial
from riemdp.noise._generator import Size, Source, resolve_generator
from riemdp.noise._law import Law
from riemdp.noise._polar import leading_axes
from riemdp.noise._radial import check_sigma
from riemdp.noise._sinh_envelope import growth_rate
from riemdp.noise.exact._affine_invariant import AffineInvariantDraw as RoundedDraw
from riemdp.noise.exact._flat import FlatDraw

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds import Ball, FloatArray, SPDAffineInvariant
    from riemdp.noise.exact._draw import ExactDraw

#: Largest spread of log-eigenvalues of a draw that float64 holds as a positive definite matrix.
_LARGEST_SPREAD = 34.0
#: Largest spread of log-eigenvalues about a ball's centre; squares of their ratios must not
#: underflow.
_LARGEST_NOISE_SPREAD = 600.0
#: Logarithms of matrices up to this long survive in float64 until a ball has cut them.
_REACH = 424.0
#: Share of draws farther out that is put up with.
_RARE = 1e-9
#: Where noise on other spaces is.
OTHER_SPACES = "IsotropicLaw and RestrictedLaplace serve spaces of constant curvature"
#: Spread up to which plain singular values keep 13 digits of the logarithms.
_PLAIN_SPREAD = 12.0


@dataclass(frozen=True)
class AffineInvariantLaw(Law):
    """Law with density proportional to ``exp(-U(dist(x, footpoint)))`` in Riemannian volume.

    ``U(r) = r / sigma`` for the Riemannian Laplace law and ``r^2 / (2 sigma^2)`` for the
    Riemannian Gaussian; distance and volume belong to the metric ``tr(P^-1 U P^-1 V)``. The
    normaliser does not depend on the footpoint. Draws are exact, by rejection, and neither
    their time nor their acceptance depends on the footpoint.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : SPDAffineInvariant
        Space of k x k matrices.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``kind`` is unknown or ``sigma`` not positive and finite.
    NotAttainableError
        For the Laplace law unless ``sigma < sqrt(12 / (k (k^2 - 1)))``: no normaliser exists.
    UnsupportedManifoldError
        If the manifold is another one.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3 (Laplace); Said et al., "Riemannian Gaussian distributions on the space of
    symmetric positive definite matrices", IEEE Trans. Inf. Theory 63(4), 2017 (Gaussian). The
    sampler and the normaliser: docs/proofs/affine-invariant-sampler.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.noise import AffineInvariantLaw
    >>> law = AffineInvariantLaw("gaussian", riemdp.SPDAffineInvariant(2), 0.5)
    >>> law.sample(np.eye(2), (5,), np.random.default_rng(0)).shape
    (5, 2, 2)
    """

    kind: Kind
    manifold: SPDAffineInvariant
    sigma: float

    def __post_init__(self) -> None:
        as_affine_invariant(self.manifold, OTHER_SPACES)
        potential(self.kind)  # which has to be known
        object.__setattr__(self, "sigma", check_sigma(self.sigma))
        _ = self.radial  # checks the rest

    def exact_draw(self, reach: float | None = None) -> ExactDraw:
        """See :meth:`Law.exact_draw`; size 1 is a line."""
        if self.manifold.k == 1:
            return FlatDraw(self.kind, 1, self.sigma)
        return RoundedDraw(self.kind, self.manifold.k, self.sigma, reach=reach)

    @functools.cached_property
    def radial(self) -> AffineInvariantRadial:
        """Law of the distance between footpoint and draw."""
        return self._draw.radial

    @functools.cached_property
    def _draw(self) -> AffineInvariantDraw:
        return affine_invariant_draw(self.kind, self.manifold.k, self.sigma)

    def acceptance(self) -> float:
        """Probability that a proposal of the sampler is accepted, from k and sigma alone."""
        return 1.0 if self.manifold.k == 1 else self._draw.plan[1]

    def check_drawable(self) -> None:
        """Raise ``NotAttainableError`` if a draw takes over a minute, or many leave float64."""
        self._draw.check()
        if self.manifold.k > 1 and (reach := self._farthest()) > _REACH:
            raise NotAttainableError(
                f"draws of the {self.kind} law with sigma = {self.sigma:g} on {self.manifold} "
                f"reach distances of {reach:.3g}, too far for float64, which holds {_REACH:g}; use "
                "a smaller sigma (more data, a smaller ball, a larger budget) or a tangent "
                'mechanism ("tangent-gaussian", "tangent-laplace")'
            )

    def _farthest(self) -> float:
        """Distance that at most about one draw in 1e9 exceeds where the noise is wide.

        By the drifting normal variables of the sampler (docs/proofs/affine-invariant-sampler,
        scheme "ordered"): log-eigenvalues ``t delta + sqrt(t) z`` at a time t.
        """
        k, growth = self.manifold.k, growth_rate(self.manifold.k)
        time = potential(self.kind).farthest_time(self.sigma, k, growth, _RARE)
        spread = math.sqrt(k) + math.sqrt(-2.0 * math.log(_RARE))
        return time * growth + math.sqrt(time) * spread

    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw eigenvalues and frames; see :meth:`Law.sample`.

        Raises ``NotAttainableError`` too if a draw would take more than about a minute, or has a
        condition above 5e14 about its footpoint, which float64 does not hold as a positive definite
        matrix.
        """
        generator = resolve_generator(generator)
        points = self.manifold.validate(footpoint)
        shape = (*leading_axes(size), *points.shape[:-2])
        logs, vectors = self._draw.sample(math.prod(shape), generator)
        if np.max(np.ptp(logs, axis=-1), initial=0.0) > _LARGEST_SPREAD:
            raise NotAttainableError(self._too_far())
        factor = np.linalg.cholesky(points)
        k = self.manifold.k
        with np.errstate(over="ignore", invalid="ignore"):
            half = (vectors * np.exp(0.5 * logs)[:, None, :]).reshape(*shape, k, k)
            half = factor @ half
            draws = _symmetric.symmetrise(half @ np.swapaxes(half, -1, -2))
        if not np.all(np.isfinite(draws)):
            raise NotAttainableError(self._too_far())
        return draws

    def sample_from_coordinates(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Keep the draw in factors until it is projected; see :meth:`Law.sample_from_coordinates`.

        See :func:`seen_from_center`. Singular values and right singular vectors give the logarithm
        of a draw; where their matrix is graded, rotations of its rows keep their digits. Raises
        ``NotAttainableError`` if a draw would take more than about a minute, or leaves float64.
        """
        return self._about(coordinates, ball, size, generator, ball.radius)

    def sample_about(
        self, coordinates: FloatArray, ball: Ball, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Keep the draw in factors, as from coordinates; see :meth:`Law.sample_about`."""
        return self._about(coordinates, ball, size, generator, math.inf)

    def _about(
        self, coordinates: FloatArray, ball: Ball, size: Size, generator: Source, longest: float
    ) -> FloatArray:
        """Draws, those farther from the centre than ``longest`` shortened to that."""
        generator = resolve_generator(generator)
        k = self.manifold.k
        coordinates = as_floats(coordinates)
        shape = (*leading_axes(size), *coordinates.shape[:-1])
        logs, vectors = self._draw.sample(math.prod(shape), generator)
        if np.max(np.ptp(logs, axis=-1), initial=0.0) > _LARGEST_NOISE_SPREAD:
            raise NotAttainableError(self._too_far())
        footpoint = _symmetric.eigh(_symmetric.unvecd(coordinates, k))
        # the footpoint's spread is at most sqrt(2) radii
        spread = np.ptp(logs, axis=-1) + math.sqrt(2.0) * ball.radius
        far, directions = seen_from_center(logs.reshape(*shape, k), vectors, footpoint, spread)
        length = np.linalg.norm(far, axis=-1, keepdims=True)
        far *= np.where(length > longest, longest / np.where(length > 0, length, 1.0), 1.0)
        inside = _symmetric.compose(far, directions)
        return ball.point(_symmetric.vecd(inside).reshape(*shape, self.manifold.dim))

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """See :meth:`Law.log_density`."""
        footpoint, point = self.manifold.validate(footpoint), self.manifold.validate(point)
        check_broadcast(point, footpoint, 2)
        penalty = potential(self.kind).energy(self.manifold.dist(footpoint, point) / self.sigma)
        return np.asarray(-penalty - self.radial.log_normaliser())

    def _too_far(self) -> str:
        return (
            f"a draw of the {self.kind} law with sigma = {self.sigma:g} lies too far out for "
            f"float64 on {self.manifold}; use a smaller sigma (more data, a smaller ball, a "
            "larger budget), or release into a public ball"
        )


@functools.lru_cache(maxsize=64)
def affine_invariant_draw(kind: Kind, k: int, sigma: float) -> AffineInvariantDraw:
    """Sampler with what it has computed, shared by laws with the same public numbers."""
    return AffineInvariantDraw(kind, k, sigma)


def seen_from_center(
    logs: FloatArray,
    vectors: FloatArray,
    footpoint: tuple[FloatArray, FloatArray],
    spread: FloatArray | float,
) -> tuple[FloatArray, FloatArray]:
    """Logarithms, seen from the centre of a ball, of n draws about footpoints of the ball.

    Seen from the centre the footpoint is ``Q diag(e^s) Q^T``, and the draw is ``M^T M`` with
    ``M = diag(e^(r/2)) V^T diag(e^(s/2)) Q^T``: ``logs (*size, *batch, k)`` are the r,
    ``vectors (n, k, k)`` the V, as columns, in the basis Q, and ``footpoint`` the s and Q of every
    batch. ``spread``, a bound of the spread of log-eigenvalues of M^T M that knows nothing of the
    footpoint, says which way M is decomposed. Returns eigenvalues ``(n, k)`` and eigenvectors, as
    columns.
    """
    k = logs.shape[-1]
    levels, frames = footpoint
    # largest noise first: the scale of a draw, however far, is kept apart
    top = logs.max(axis=-1, keepdims=True)
    graded = np.exp(0.5 * (logs - top)).reshape(-1, k, 1) * np.swapaxes(vectors, -1, -2)
    graded = graded.reshape(*logs.shape, k) * np.exp(0.5 * levels)[..., None, :]
    rows = (graded @ np.swapaxes(frames, -1, -2)).reshape(-1, k, k)
    graded_rows = np.broadcast_to(np.asarray(spread) > _PLAIN_SPREAD, rows.shape[:1])
    values, directions = _right_singular(rows, graded_rows)
    return top.reshape(-1, 1) + 2.0 * np.log(values), np.swapaxes(directions, -1, -2)


def _right_singular(rows: FloatArray, graded: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Singular values ``(n, k)`` and right singular vectors, as rows, ``(n, k, k)``."""
    values = np.empty(rows.shape[:-1])
    directions = np.empty(rows.shape)
    plain = ~graded
    if plain.any():
        _, values[plain], directions[plain] = np.linalg.svd(rows[plain])
    if graded.any():
        values[graded], directions[graded] = orthogonal_rows(rows[graded])
    return values, directions
