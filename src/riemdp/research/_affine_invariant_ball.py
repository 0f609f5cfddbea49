"""The Laplace law on affine-invariant SPD matrices, restricted to a public ball."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from riemdp._errors import NotAttainableError, UnsupportedManifoldError
from riemdp.noise import AffineInvariantRadial, resolve_generator
from riemdp.noise._affine_invariant_radial import check_distance_scale
from riemdp.noise._volume_series import growth_rate, log_sinhc
from riemdp.research._affine_invariant_draw import affine_invariant_draw, seen_from_center
from riemdp.research._ball_laplace import BallLaplace
from riemdp.research._cut_radial import CutRadial
from riemdp.research._polar import leading_axes, normal_coordinates
from riemdp.research._sinh_envelope import log_volume, volume_bound
from riemdp.spaces import Ball, Euclidean, _symmetric, as_affine_invariant, as_floats

if TYPE_CHECKING:
    from typing import NoReturn

    from numpy.typing import ArrayLike, NDArray

    from riemdp.noise import DistanceLaw
    from riemdp.noise._generator import Size, Source
    from riemdp.spaces import FloatArray, SPDAffineInvariant

Scheme = Literal["free", "chart"]

#: Share of accepted proposals, measured at public footpoints, under which the law is refused.
LEAST_ACCEPTANCE = 1e-3
#: Share from which proposals without quadrature are taken whatever the others have.
_ENOUGH = 0.1
#: So many proposals are made that fewer than wanted are accepted with a probability of at most
#: about exp(-28), even at a footpoint with half of the measured share.
_RARE = 28.0
#: A draw that would take longer than this, in seconds, is refused.
_PATIENCE = 60.0
#: Largest radius at which a footpoint and a draw, seen from it, keep nine digits in float64.
_LARGEST_RADIUS = 20.0
#: Draws about each public footpoint that measure the share.
_MEASURED = 256
#: Matrix entries of one batch of proposals.
_BATCH_ENTRIES = 1 << 18
#: Where this noise on other spaces is.
_OTHER_SPACES = "BallLaplace serves spaces of constant curvature"


@dataclass(frozen=True)
class AffineInvariantBallLaplace:
    """Density proportional to ``exp(-dist(x, footpoint) / sigma)`` on a closed ball, else 0.

    Its normaliser depends on the footpoint, so a release of sensitivity D is only
    ``2 D / sigma`` private. It exists for every ``sigma``. Draws are exact, by rejection. Which
    proposals are used follows from k, ``sigma`` and the radius; how many are accepted depends on
    the footpoint too, but a public number of them is made, of which enough are accepted but for
    about one call in 1e12. How long each takes depends on the footpoint, in balls of a radius from
    about 4 on visibly: do not let others time it.

    Parameters
    ----------
    ball : Ball
        Public ball of an :class:`SPDAffineInvariant`.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or under 1e-100.
    UnsupportedManifoldError
        If the ball belongs to another manifold.

    References
    ----------
    docs/proofs/affine-invariant-sampler.md, claim 6
    """

    ball: Ball
    sigma: float

    def __post_init__(self) -> None:
        as_affine_invariant(self.ball.manifold, _OTHER_SPACES)
        object.__setattr__(self, "sigma", check_distance_scale(self.sigma))

    @property
    def manifold(self) -> SPDAffineInvariant:
        """Space of the ball."""
        return as_affine_invariant(self.ball.manifold, _OTHER_SPACES)

    @functools.cached_property
    def radial(self) -> DistanceLaw:
        """Law of longer distances than any footpoint of the ball has.

        Along each direction the radial density is cut at some distance of at most the diameter,
        and its volume grows at most as fast as with equal gaps between the log-eigenvalues, and
        at most like ``exp(|delta| r)``.
        """
        k, sigma, power = self.manifold.k, self.sigma, self.manifold.dim - 1
        growth = growth_rate(k)
        # where the derivative of the bound with equal gaps reaches |delta|
        turn = math.sqrt(2.0 / (k - 1)) if k > 1 else 0.0
        pairs = 0.5 * k * (k - 1)
        bend = _turning_point(pairs, turn, growth)

        def log_density(r: FloatArray) -> FloatArray:
            near = pairs * log_sinhc(turn * np.minimum(r, bend))
            grown = near + growth * np.maximum(r - bend, 0.0)
            return np.asarray(power * np.log(r) + grown - r / sigma)

        return CutRadial(log_density, 2.0 * self.ball.radius)

    @functools.cached_property
    def about_center(self) -> DistanceLaw:
        """Law of the distance about the ball's centre."""
        k, sigma, radius = self.manifold.k, self.sigma, self.ball.radius
        if k == 1:
            return CutRadial(lambda r: -r / sigma, radius)
        # the mean of J over directions, from a law about whose radii it is known to all digits
        bound = CutRadial(self.radial.log_density, radius)  # type: ignore[attr-defined]
        width = float(bound.quantile(1.0 - 1e-12)) / math.sqrt(self.manifold.dim)
        known = AffineInvariantRadial("gaussian", k, width)

        def log_density(r: FloatArray) -> FloatArray:
            return np.asarray(known.log_pdf(r) + 0.5 * np.square(r / width) - r / sigma)

        return CutRadial(log_density, radius)

    def acceptance(self) -> float:
        """Share of accepted proposals, measured at public footpoints: not a bound."""
        return self._plan[1]

    @property
    def _plan(self) -> tuple[Scheme, float]:
        return _plan(self.manifold.k, self.sigma, self.ball.radius)

    def check_drawable(self) -> None:
        """Raise ``NotAttainableError`` if too few proposals are accepted, or float64 is left."""
        if self.manifold.k > 1 and self.ball.radius > _LARGEST_RADIUS:
            raise NotAttainableError(
                f"draws of the Laplace law restricted to a ball of radius {self.ball.radius:g} of "
                f"{self.manifold} are out of reach of float64: the radius may be at most "
                f"{_LARGEST_RADIUS:g}; choose a smaller ball"
            )
        share = self._plan[1]
        if share < LEAST_ACCEPTANCE:
            raise NotAttainableError(
                f"an exact draw of the Laplace law with sigma = {self.sigma:g} restricted to a "
                f"ball of radius {self.ball.radius:g} of {self.manifold} takes too long: about "
                f"{share:.2g} of the proposals are accepted, and it takes at least "
                f"{LEAST_ACCEPTANCE:g}; choose a smaller ball, or a tangent mechanism "
                '("tangent-gaussian", "tangent-laplace")'
            )

    def sample(
        self, footpoint: ArrayLike, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """Draw points of the ball; see :meth:`BallLaplace.sample`.

        Raises ``UnsupportedBallError`` for a footpoint outside the ball, and ``NotAttainableError``
        if too few proposals are accepted.
        """
        return self.sample_from_coordinates(
            normal_coordinates(self.ball, footpoint), size, generator
        )

    def sample_from_coordinates(
        self, coordinates: FloatArray, size: Size = None, generator: Source = None
    ) -> FloatArray:
        """See :meth:`BallLaplace.sample_from_coordinates`."""
        self.check_drawable()
        generator = resolve_generator(generator)
        coordinates = as_floats(coordinates)
        scheme, share = self._plan
        axes, dim = leading_axes(size), self.manifold.dim
        footpoints = _shortened(coordinates.reshape(-1, dim), self.ball.radius)
        count = math.prod(axes)
        attempt = _Proposals(self.manifold.k, self.sigma, self.ball.radius)
        draws = attempt.accepted(scheme, footpoints, count, _enough(count, share), generator)
        return self.ball.point(draws.reshape(*axes, *coordinates.shape))

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> NoReturn:
        """Refuse: its normaliser at a footpoint off the centre is not computed."""
        del point, footpoint
        raise UnsupportedManifoldError(
            f"the normaliser of the Laplace law restricted to a ball of {self.manifold} is not "
            "computed; -dist(footpoint, point) / sigma is the log density up to it, so that an "
            "audit with riemdp.auditing.DistanceScore loses nothing"
        )


@dataclass(frozen=True)
class _Proposals:
    """Proposals for draws about footpoints, all as coordinates about the centre of the ball."""

    k: int
    sigma: float
    radius: float

    def accepted(
        self,
        scheme: Scheme,
        footpoints: FloatArray,
        count: int,
        tries: int,
        generator: np.random.Generator,
    ) -> FloatArray:
        """First ``count`` accepted proposals about footpoints ``(n, dim)``, ``(count, n, dim)``.

        All of ``tries`` are made about each, whatever is accepted, and as many again where those
        were too few.
        """
        result = np.empty((count, *footpoints.shape))
        found = np.zeros(len(footpoints), dtype=np.intp)
        most = max(1, _BATCH_ENTRIES // self.k**2)
        step = max(1, most // tries)
        while (pending := np.flatnonzero(found < count)).size:
            for first in range(0, pending.size, step):
                rows = pending[first : first + step]
                for start in range(0, tries, most):
                    number = min(most, tries - start)
                    draws, kept = self.propose(scheme, footpoints[rows], number, generator)
                    rank = found[rows] + np.cumsum(kept, axis=0) - 1
                    at, row = np.nonzero(kept & (rank < count))
                    result[rank[at, row], rows[row]] = draws[at, row]
                    found[rows] += kept.sum(axis=0)
        return result

    def propose(
        self, scheme: Scheme, footpoints: FloatArray, tries: int, generator: np.random.Generator
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Proposals ``(tries, n, dim)``, and which of them are accepted ``(tries, n)``."""
        if scheme == "free":
            return self.free(footpoints, tries, generator)
        draws, log_acceptance = self.chart(footpoints, tries, generator)
        return draws, -generator.standard_exponential(log_acceptance.shape) <= log_acceptance

    def free(
        self, footpoints: FloatArray, tries: int, generator: np.random.Generator
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Draw the unrestricted law, and accept what lies in the ball."""
        shape = (tries, len(footpoints))
        draw = affine_invariant_draw("laplace", self.k, self.sigma)
        logs, vectors = draw.sample(math.prod(shape), generator)
        # so far out no draw lies in the ball, however far it is
        logs = _shortened(logs, 3.0 * self.radius)
        seen = _symmetric.eigh(_symmetric.unvecd(footpoints, self.k))
        spread = np.ptp(logs, axis=-1) + math.sqrt(2.0) * self.radius
        far, directions = seen_from_center(logs.reshape(*shape, self.k), vectors, seen, spread)
        inside = _symmetric.vecd(_symmetric.compose(far, directions)).reshape(*shape, -1)
        kept = np.linalg.norm(far, axis=-1) <= self.radius
        return inside, kept.reshape(shape)

    def chart(
        self, footpoints: FloatArray, tries: int, generator: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the restricted law of R^dim in coordinates; return log acceptances.

        Distances are at least those of the coordinates, and J is at most its bound at the radius.
        """
        dim = footpoints.shape[-1]
        flat = BallLaplace(Ball(Euclidean(dim), np.zeros(dim), self.radius), self.sigma)
        draws = flat.sample_from_coordinates(footpoints, tries, generator)
        if self.k == 1:
            return draws, np.zeros(draws.shape[:-1])
        values, vectors = _symmetric.eigh(_symmetric.unvecd(draws, self.k))
        # the isometry that takes the footpoint to the centre takes the centre to its inverse
        levels, frames = _symmetric.eigh(_symmetric.unvecd(-footpoints, self.k))
        turned = (np.swapaxes(frames, -1, -2) @ vectors).reshape(-1, self.k, self.k)
        # neither the draw nor the footpoint is farther out than the radius
        spread = 2.0 * math.sqrt(2.0) * self.radius
        seen, _ = seen_from_center(values, turned, (levels, frames), spread)
        distance = np.linalg.norm(seen, axis=-1).reshape(values.shape[:-1])
        excess = np.maximum(distance - np.linalg.norm(draws - footpoints, axis=-1), 0.0)
        highest = float(volume_bound(self.k, np.array([self.radius]))[0])
        return draws, log_volume(values) - highest - excess / self.sigma


@functools.lru_cache(maxsize=64)
def _plan(k: int, sigma: float, radius: float) -> tuple[Scheme, float]:
    """Scheme, and the least share of accepted proposals measured at public footpoints.

    From public numbers and public draws alone: it steers, and promises nothing.
    """
    if k == 1:  # coordinates are an isometry
        return "chart", 1.0
    generator = np.random.default_rng(0)
    proposals = _Proposals(k, sigma, radius)
    footpoints = _shortened(radius * _public_directions(k), radius)
    try:
        draw = affine_invariant_draw("laplace", k, sigma)
        draw.check()
    except NotAttainableError:  # no normaliser, or its own draws take too long
        free = 0.0
    else:
        _, kept = proposals.free(footpoints, _MEASURED, generator)
        free = float(kept.mean(axis=0).min())
        free *= free > 0.0 and draw.seconds() * _enough(1, free) <= _PATIENCE
    if free >= _ENOUGH:
        return "free", free
    _, log_acceptance = proposals.chart(footpoints, _MEASURED, generator)
    chart = float(np.exp(log_acceptance).mean(axis=0).min())
    return ("free", free) if free >= chart else ("chart", chart)


def _enough(count: int, share: float) -> int:
    """Return how many proposals ``count`` draws take, by Chernoff's bound of a lower tail."""
    more = count - 1
    return math.ceil(2.0 * (more + math.sqrt(2.0 * _RARE * more) + _RARE) / share) if count else 1


def _public_directions(k: int) -> FloatArray:
    """Coordinates of the scale, of one eigenvalue, of equal gaps and of two halves."""
    steps = np.arange(k) - 0.5 * (k - 1)
    one = np.eye(k)[0] - 1.0 / k
    logs = np.stack([np.ones(k), one, steps, np.sign(steps)])
    logs /= np.linalg.norm(logs, axis=-1, keepdims=True)
    return _symmetric.vecd(logs[:, :, None] * np.eye(k))


def _shortened(vectors: FloatArray, length: float) -> FloatArray:
    """Vectors ``(..., dim)`` no longer than a length, along the last axis."""
    norm = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors * np.minimum(1.0, length / np.where(norm > 0.0, norm, 1.0)))


def _turning_point(pairs: float, turn: float, growth: float) -> float:
    """Where the derivative of ``pairs g(turn r)`` reaches ``growth``; ``inf`` where it never does.

    ``g' = coth(x/2)/2 - 1/x`` rises to 1/2.
    """
    if growth == 0.0 or 0.5 * pairs * turn <= growth * (1.0 + 1e-12):
        return math.inf
    wanted = growth / (pairs * turn)
    low, high = 0.0, 1.0 / (0.5 - wanted) + 100.0
    for _ in range(200):
        x = 0.5 * (low + high)
        value = x / 12.0 if x < 1e-3 else 0.5 / math.tanh(0.5 * x) - 1.0 / x
        low, high = (x, high) if value < wanted else (low, x)
    return low / turn
