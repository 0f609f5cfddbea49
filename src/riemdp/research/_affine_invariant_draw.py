"""Exact draws of the logarithm of an SPD matrix, by its eigenvalues and eigenvectors."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._potential import Kind, Potential, potential
from riemdp.noise import AffineInvariantRadial, RadialLaw, resolve_generator
from riemdp.noise._radial import log_sphere_area
from riemdp.noise._volume_series import growth_rate, log_mean_volume, log_order_constant
from riemdp.research._isotropic import radii
from riemdp.research._polar import leading_axes
from riemdp.research._shell_envelope import ShellEnvelope
from riemdp.research._sinh_envelope import log_volume
from riemdp.spaces import _symmetric
from riemdp.spaces._symmetric import orthogonal_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.noise import AffineInvariantLaw
    from riemdp.noise._generator import Size, Source
    from riemdp.spaces import FloatArray

Scheme = Literal["shells", "ordered"]

#: A draw that would take longer than this, in seconds, is refused.
_PATIENCE = 60.0
#: Matrix entries of one batch of proposals.
_BATCH_ENTRIES = 1 << 18
#: Largest spread of log-eigenvalues of a draw that float64 holds as a positive definite matrix.
_LARGEST_SPREAD = 34.0
#: Spread up to which plain singular values keep 13 digits of the logarithms.
_PLAIN_SPREAD = 12.0


@dataclass(frozen=True)
class AffineInvariantDraw:
    """Exact sampler of ``S = V diag(r) V^T`` with density ``exp(-U(|S|)) J(S)``, S of size k.

    ``V`` is uniform on the orthogonal matrices and independent of r; ``sigma`` is in units of
    geodesic distance. Two rejection schemes, of
    which the cheaper is chosen from the public (kind, k, sigma): ``"shells"`` proposes the norm of
    the traceless part under a bound of the volume density and a uniform direction; ``"ordered"``
    proposes independent drifting normal numbers and keeps ordered ones. Both are exact: there is no
    cap on the number of proposals and no chain (docs/proofs/affine-invariant-sampler).
    """

    kind: Kind
    k: int
    sigma: float

    @functools.cached_property
    def radial(self) -> AffineInvariantRadial:
        """Law of the norm of S."""
        return AffineInvariantRadial(self.kind, self.k, self.sigma)

    def acceptance(self, scheme: Scheme) -> float:
        """Exact probability that a proposal of a scheme is accepted; ``k >= 2``."""
        k, sigma, dim = self.k, self.sigma, self.radial.dim
        if scheme == "shells":
            bound = ShellEnvelope.of(self.kind, k, sigma).log_mass + log_sphere_area(dim - 1)
            if not self._potential.is_linear:
                bound += 0.5 * math.log(2.0 * math.pi) + math.log(sigma)
            return math.exp(min(0.0, self.radial.log_normaliser() - bound))
        if not self._potential.is_linear:
            return math.exp(min(0.0, log_order_probability(k, sigma**2)))
        rate = 0.5 * self._rate
        # The normaliser is this constant times the mean of the Gaussian acceptance.
        constant = (
            0.5 * (dim - k) * math.log(2.0 * math.pi)
            - log_order_constant(k)
            + 0.5 * (k - 1) * math.log(2.0 * math.pi)
            - math.log(sigma)
            + math.lgamma(0.5 * (k + 1))
            - 0.5 * (k + 1) * math.log(rate)
        )
        return math.exp(min(0.0, self.radial.log_normaliser() - constant))

    @functools.cached_property
    def plan(self) -> tuple[Scheme, float]:
        """The scheme with the smaller expected time per draw, and its acceptance."""
        schemes: tuple[Scheme, ...] = ("shells", "ordered")
        rates = {scheme: self.acceptance(scheme) for scheme in schemes}
        best = max(schemes, key=lambda scheme: rates[scheme] / _cost(scheme, self.k))
        return best, rates[best]

    def seconds(self) -> float:
        """Rough expected time per draw on one core, from public numbers."""
        if self.k == 1:
            return 1e-7
        scheme, rate = self.plan
        return _cost(scheme, self.k) / max(rate, 1e-300)

    def check(self) -> None:
        """Raise ``NotAttainableError`` if a draw would take more than about a minute."""
        if self.k > 1 and self.seconds() > _PATIENCE:
            raise NotAttainableError(
                f"an exact draw of the {self.kind} law with sigma = {self.sigma:g} on "
                f"SPD({self.k}) would take about {self.seconds():.2g} seconds: of "
                f"{1.0 / max(self.plan[1], 1e-300):.2g} proposals one is accepted; use a smaller "
                "sigma (more data, a smaller ball, a larger budget) or a tangent mechanism"
            )

    def sample(
        self, size: int, generator: np.random.Generator, scheme: Scheme | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Draw log-eigenvalues ``(size, k)`` and eigenvectors, as columns, ``(size, k, k)``."""
        k = self.k
        self.check()
        if k == 1:
            radius = radii(RadialLaw(self.kind, 1, 0.0, self.sigma), size, generator)
            signs = np.where(generator.random(size) < 0.5, -1.0, 1.0)
            return (signs * radius)[:, None], np.ones((size, 1, 1))
        chosen, rate = self.plan
        if scheme is not None:
            chosen, rate = scheme, self.acceptance(scheme)
        if k == 2 and not self._potential.is_linear and chosen == "shells":
            # The traceless part is a hyperbolic plane of curvature -1/2.
            plane = RadialLaw("gaussian", 2, -0.5, self.sigma)
            rho = radii(plane, size, generator)
            trace = self.sigma * generator.standard_normal(size)
            return _pair(rho, trace), _rotations(size, generator)
        logs = np.empty((size, k))
        vectors = np.empty((size, k, k))
        filled = 0
        most = max(64, _BATCH_ENTRIES // k**2)
        attempt = self._shells if chosen == "shells" else self._ordered
        while filled < size:
            wanted = (size - filled) / max(rate, 1e-9)
            proposals = int(min(most, wanted + 3.0 * math.sqrt(wanted) + 1.0))
            found, frames = attempt(proposals, generator)
            stop = min(size, filled + len(found))
            logs[filled:stop] = found[: stop - filled]
            vectors[filled:stop] = frames[: stop - filled]
            filled = stop
        return logs, vectors

    def _shells(self, size: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Propose ``size`` draws under the bound of the volume; return the accepted ones."""
        k = self.k
        rho, bound = ShellEnvelope.of(self.kind, k, self.sigma).sample(size, generator)
        limit = bound - generator.standard_exponential(size)
        if k == 2:
            accepted = limit <= log_volume(_pair(rho, np.zeros(size)))
            rho = rho[accepted]
            trace = self._trace(rho, generator)
            return _pair(rho, trace), _rotations(rho.size, generator)
        matrices = generator.standard_normal((size, k, k))
        matrices += np.swapaxes(matrices, -1, -2).copy()
        if self.plan[1] < 0.3:  # eigenvectors only of what is kept
            accepted = limit <= log_volume(rho[:, None] * _unit(_symmetric.eigvalsh(matrices)))
            values, vectors = _symmetric.eigh(matrices[accepted])
            rho = rho[accepted]
            directions = _unit(values)
        else:
            values, vectors = _symmetric.eigh(matrices)
            directions = _unit(values)
            accepted = limit <= log_volume(rho[:, None] * directions)
            rho, directions, vectors = rho[accepted], directions[accepted], vectors[accepted]
        trace = self._trace(rho, generator)
        return rho[:, None] * directions + trace[:, None] / math.sqrt(k), vectors

    def _ordered(self, size: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Propose ``size`` vectors of drifting normal numbers; return the accepted ones."""
        k = self.k
        drift = np.arange(k) - 0.5 * (k - 1)
        limit = -generator.standard_exponential(size)
        if not self._potential.is_linear:
            time = np.full((size, 1), self.sigma**2)
        else:
            gamma = generator.standard_gamma(0.5 * (k + 1), (size, 1))
            time = gamma * (2.0 / self._rate)
        logs = time * drift + np.sqrt(time) * generator.standard_normal((size, k))
        rows = np.flatnonzero((np.diff(logs, axis=-1) > 0.0).all(axis=-1))
        logs, limit = logs[rows], limit[rows]
        total = np.zeros(rows.size)
        for step in range(1, k):
            total += np.log(-np.expm1(logs[:, :-step] - logs[:, step:])).sum(axis=-1)
        logs = logs[limit <= total]
        if k == 2:
            return logs, _rotations(len(logs), generator)
        matrices = generator.standard_normal((len(logs), k, k))
        vectors = _symmetric.eigh(matrices + np.swapaxes(matrices, -1, -2))[1]
        return logs, vectors

    def _trace(self, rho: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Draw the trace over sqrt(k) given the norm of the traceless part."""
        if not self._potential.is_linear:
            return np.asarray(self.sigma * generator.standard_normal(rho.shape))
        return _sample_trace(rho / self.sigma, generator) * self.sigma

    @property
    def _potential(self) -> Potential:
        return potential(self.kind)

    @property
    def _rate(self) -> float:
        """``1/sigma^2 - |delta|^2``, without cancellation."""
        growth = growth_rate(self.k)
        return (1.0 / self.sigma - growth) * (1.0 / self.sigma + growth)


@functools.lru_cache(maxsize=64)
def affine_invariant_draw(kind: Kind, k: int, sigma: float) -> AffineInvariantDraw:
    """Sampler with what it has computed, shared by laws with the same public numbers."""
    return AffineInvariantDraw(kind, k, sigma)


def affine_invariant_draws(
    law: AffineInvariantLaw, footpoint: ArrayLike, size: Size, generator: Source
) -> FloatArray:
    """Draw eigenvalues and frames.

    ``NotAttainableError`` if a draw would take more than about a minute, or has a condition above
    5e14 about its footpoint, which float64 does not hold as a positive definite matrix.
    """
    generator = resolve_generator(generator)
    points = law.manifold.validate(footpoint)
    shape = (*leading_axes(size), *points.shape[:-2])
    sampler = affine_invariant_draw(law.kind, law.manifold.k, law.sigma)
    logs, vectors = sampler.sample(math.prod(shape), generator)
    too_far = NotAttainableError(
        f"a draw of the {law.kind} law with sigma = {law.sigma:g} lies too far out for float64 on "
        f"{law.manifold}; use a smaller sigma (more data, a smaller ball, a larger budget)"
    )
    if np.max(np.ptp(logs, axis=-1), initial=0.0) > _LARGEST_SPREAD:
        raise too_far
    factor = np.linalg.cholesky(points)
    k = law.manifold.k
    with np.errstate(over="ignore", invalid="ignore"):
        half = (vectors * np.exp(0.5 * logs)[:, None, :]).reshape(*shape, k, k)
        half = factor @ half
        draws = _symmetric.symmetrise(half @ np.swapaxes(half, -1, -2))
    if not np.all(np.isfinite(draws)):
        raise too_far
    return draws


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


def log_order_probability(k: int, q: float) -> float:
    """Log of ``Pf[erf(sqrt(q)(j - i)/2)]``, the acceptance of ordered proposals.

    It is the chance that k Brownian paths with drifts one apart, started at one point, have not
    met by time q and never meet.
    """
    pairs = 0.25 * k * (k - 1) * math.log(q) - 0.5 * q * growth_rate(k) ** 2
    return log_mean_volume(k, q) + pairs + log_order_constant(k)


def _sample_trace(rho: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Draw t with density proportional to ``exp(-sqrt(t^2 + rho^2))``.

    A constant on ``|t| <= a`` and the tangents where the exponent has fallen by one, at
    ``t = c = sqrt(1 + 2 rho)``; accepted with probability at least 1 - 1/e.
    """
    fallen = np.sqrt(1.0 + 2.0 * rho)
    slope = fallen / (1.0 + rho)
    flat = fallen - 1.0 / slope
    result = np.empty(rho.shape)
    open_ = np.arange(rho.size)
    while open_.size:
        f, a, r = slope[open_], np.maximum(flat[open_], 0.0), rho[open_]
        x = generator.random(open_.size) * (a + 1.0 / f)
        tail = generator.standard_exponential(open_.size)
        beyond = x > a
        t = np.where(beyond, a + tail / f, x)
        envelope = np.where(beyond, -tail, 0.0)
        # r - sqrt(t^2 + r^2) without cancellation
        fall = -np.square(t) / (r + np.hypot(t, r))
        kept = -generator.standard_exponential(open_.size) <= fall - envelope
        sign = np.where(generator.random(open_.size) < 0.5, -1.0, 1.0)
        result[open_[kept]] = (sign * t)[kept]
        open_ = open_[~kept]
    return result


def _cost(scheme: Scheme, k: int) -> float:
    """Rough seconds per proposal on one core; they steer, they promise nothing."""
    if k == 2:
        return 1e-6 if scheme == "shells" else 5e-7
    if scheme == "ordered":
        return 2e-7 + 5e-8 * k
    return 2e-6 + 2e-7 * k * k


def _unit(values: FloatArray) -> FloatArray:
    """Vectors ``(n, k)`` without their mean, scaled to norm one."""
    centered = values - values.mean(axis=-1, keepdims=True)
    return np.asarray(centered / np.linalg.norm(centered, axis=-1, keepdims=True))


def _pair(rho: FloatArray, trace: FloatArray) -> FloatArray:
    """Two log-eigenvalues ``(n, 2)`` from the norm of the traceless part and the trace."""
    half = math.sqrt(0.5)
    return np.stack([half * (trace - rho), half * (trace + rho)], axis=-1)


def _rotations(size: int, generator: np.random.Generator) -> FloatArray:
    """Uniform rotations of the plane, shape ``(size, 2, 2)``."""
    angle = (2.0 * math.pi) * generator.random(size)
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([cosine, -sine], -1), np.stack([sine, cosine], -1)], -2)
