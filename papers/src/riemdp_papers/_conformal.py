"""Conformal-DP as published, for comparison: it is not private."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy

from riemdp import (
    InvalidBudgetError,
    InvalidParameterError,
    UnsupportedBallError,
    UnsupportedManifoldError,
)
from riemdp.noise import resolve_generator
from riemdp.spaces import Ball, Euclidean, FlatManifold
from riemdp.statistics import FrechetMean
from riemdp_papers._checks import count, positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import Manifold
    from riemdp_papers._experiment import FloatArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
#: Default tolerance of :func:`riemdp.frechet_mean`.
_MEAN_TOL = 1e-10
_LARGEST_LOG_FACTOR = 350.0
_CHUNK_ENTRIES = 1 << 20


@dataclass(frozen=True, eq=False)
class PublishedConformalLaplace:
    r"""Density ``exp(-rate dist*(footpoint, z)) factor(z)^(dim/2)`` with a factor from the data.

    Conformal-DP as He, Tang, Rahimian and Joshi print it: a kernel density estimate of the
    private records, a graph Laplacian on them, ``L s = -(f - mean f)``, ``factor = exp(2 s)``,
    ``rate = epsilon / (2 sqrt(max factor) sensitivity)``, and a Metropolis-Hastings chain on a ball
    of the conformal metric about the private mean. **It is not epsilon-private**: the factor, the
    base measure, the rate and the support change with the data, by more than epsilon pays for. It
    is here to be compared with.

    What the paper leaves open is filled in thus: between the records s is interpolated, linearly
    on a line, else by an average with the kernel of the density estimate; ``dist*`` is the length
    in the conformal metric of the geodesic of the manifold, which is the distance on a line and
    an upper bound elsewhere; the whole manifold is the public ball.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Private records, n >= 2.
    ball : Ball
        Public ball; records are clipped to it, draws lie in it.
    epsilon : float
        Nominal. It is no guarantee.
    sensitivity : float, optional
        Largest distance between the footpoints of neighbouring data sets; by default that of
        ``frechet_mean(manifold, ball.project(points), ball=ball)``, tolerance included.
    bandwidth : float, optional
        Of the density estimate, in units of geodesic distance; a tenth of the radius by default.
    neighbours : int, default 10
        Of each record in the graph, symmetrised by the larger weight.
    kernel_width : float, optional
        Of the graph's weights ``exp(-dist^2 / kernel_width^2)``; half the radius by default.
    rate_max : float, default inf
        Largest rate.
    support : float, default inf
        Radius of the conformal ball about the footpoint outside which nothing is drawn.
    steps : int, default 1000
        Length of the chain of one draw.

    Raises
    ------
    InvalidBudgetError, InvalidParameterError
        If a number is outside its domain.
    NotOnManifoldError
        If a record is not on the manifold.
    UnsupportedManifoldError
        If the curvature is not constant.

    References
    ----------
    He, Tang, Rahimian, Joshi, "Conformal-DP: Data Density Aware Privacy on Riemannian Manifolds via
    Conformal Transformation", 2025, Table II and Algorithm 1. Why it is not private: the user
    guide's page on conformal noise.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, Euclidean
    >>> from riemdp_papers import PublishedConformalLaplace
    >>> ball = Ball(Euclidean(1), [0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.2, (100, 1))
    >>> law = PublishedConformalLaplace(points, ball, 1.0, steps=50)
    >>> law.sample([0.0], generator=np.random.default_rng(1)).shape
    (1,)
    """

    points: FloatArray = field(repr=False)
    ball: Ball
    epsilon: float
    sensitivity: float | None = None
    bandwidth: float | None = field(default=None, kw_only=True)
    neighbours: int = field(default=10, kw_only=True)
    kernel_width: float | None = field(default=None, kw_only=True)
    rate_max: float = field(default=math.inf, kw_only=True)
    support: float = field(default=math.inf, kw_only=True)
    steps: int = field(default=1000, kw_only=True)

    name: ClassVar[str] = "conformal-laplace-published"
    #: Nothing is guaranteed, as opposed to proved.
    proven: ClassVar[bool] = False
    guarantee: ClassVar[None] = None

    def __post_init__(self) -> None:
        if not isinstance(self.ball, Ball):
            raise InvalidParameterError(
                f"ball must be a riemdp.Ball, got {type(self.ball).__name__}"
            )
        manifold, radius = self.ball.manifold, self.ball.radius
        if manifold.constant_curvature is None:
            raise UnsupportedManifoldError(
                f"the published algorithm needs constant curvature, which {manifold} has not; use "
                "a Euclidean space, a sphere, a hyperbolic space or SPDLogEuclidean"
            )
        points = self.ball.project(manifold.validate(self.points))
        if points.ndim != 1 + len(manifold.point_shape) or len(points) < 2:
            raise InvalidParameterError(
                "the published algorithm needs records of shape (n, *point_shape) with n >= 2"
            )
        points.flags.writeable = False
        infinite = {
            name: positive(getattr(self, name), name, finite=False)
            for name in ("rate_max", "support")
        }
        sensitivity = self.sensitivity
        if sensitivity is None:
            sensitivity = computed_sensitivity(self.ball, len(points), _MEAN_TOL)[0]
        width = 0.5 * radius if self.kernel_width is None else self.kernel_width
        bandwidth = 0.1 * radius if self.bandwidth is None else self.bandwidth
        checked: dict[str, object] = {
            "points": points,
            "epsilon": positive(self.epsilon, "epsilon", error=InvalidBudgetError),
            "sensitivity": positive(sensitivity, "sensitivity"),
            "bandwidth": positive(bandwidth, "bandwidth"),
            "kernel_width": positive(width, "kernel_width"),
            "neighbours": count(self.neighbours, "neighbours"),
            "steps": count(self.steps, "steps"),
        }
        for name, number in (*checked.items(), *infinite.items()):
            object.__setattr__(self, name, number)

    @property
    def manifold(self) -> Manifold:
        """Space of the records."""
        return self.ball.manifold

    @functools.cached_property
    def log_scaling(self) -> FloatArray:
        """Half the log conformal factor at the records, shape ``(n,)``; private."""
        dist = self.manifold.dist(self.points[:, None], self.points[None])
        density = np.mean(np.exp(-0.5 * np.square(dist / self._kernel)), axis=1)
        density /= (math.sqrt(2.0 * math.pi) * self._kernel) ** self.manifold.dim
        laplacian = graph_laplacian(dist, self.neighbours, float(self.kernel_width or 0.0))
        solution = np.linalg.lstsq(laplacian, np.mean(density) - density, rcond=None)[0]
        return np.asarray(solution - np.mean(solution))

    @functools.cached_property
    def rate(self) -> float:
        """Rate of the law in the conformal metric; private."""
        largest = min(float(np.max(self.log_scaling)), _LARGEST_LOG_FACTOR)
        assert self.sensitivity is not None
        return min(self.epsilon / (2.0 * math.exp(largest) * self.sensitivity), self.rate_max)

    def log_scaling_at(self, points: ArrayLike) -> FloatArray:
        r"""Half the log conformal factor, anywhere.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (...)
        """
        manifold = self.manifold
        points = np.asarray(points, dtype=np.float64)
        if isinstance(manifold, Euclidean) and manifold.dim == 1:
            order = np.argsort(self.points[:, 0], kind="stable")
            known = self.points[order, 0]
            return np.asarray(np.interp(points[..., 0], known, self.log_scaling[order]))
        flat = points.reshape(-1, *manifold.point_shape)
        result = np.empty(len(flat))
        step = max(1, _CHUNK_ENTRIES // len(self.points))
        for start in range(0, len(flat), step):
            square = self._square_distance(flat[start : start + step])
            exponent = -0.5 * square / self._kernel**2
            weight = np.exp(exponent - np.max(exponent, axis=1, keepdims=True))
            result[start : start + step] = weight @ self.log_scaling / np.sum(weight, axis=1)
        return result.reshape(points.shape[: points.ndim - len(manifold.point_shape)])

    def conformal_distance(self, footpoint: ArrayLike, points: ArrayLike) -> FloatArray:
        r"""Length of geodesics in the conformal metric, by quadrature.

        Parameters
        ----------
        footpoint, points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (...)
        """
        manifold = self.manifold
        log = manifold.log(footpoint, points)
        total = np.zeros(())
        for x, share in zip(0.5 * (1.0 + _NODES), 0.5 * _WEIGHTS, strict=True):
            scaling = self.log_scaling_at(manifold.exp(footpoint, x * log))
            total = total + share * np.exp(np.minimum(scaling, _LARGEST_LOG_FACTOR))
        return np.asarray(total * manifold.dist(footpoint, points))

    def log_weight(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        r"""Log density in Riemannian volume, up to a constant.

        Parameters
        ----------
        point, footpoint : array_like, shape (..., \*point_shape)
            Points of the manifold; leading axes broadcast.

        Returns
        -------
        ndarray, shape (...)
            ``-inf`` off the support.
        """
        dist = self.conformal_distance(footpoint, point)
        weight = self.manifold.dim * self.log_scaling_at(point) - self.rate * dist
        inside = self.ball.contains(point) & (dist <= self.support)
        return np.asarray(np.where(inside, weight, -np.inf))

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        r"""End points of Metropolis-Hastings chains that start at the footpoint.

        The chains have not converged exactly, and nothing guarantees their privacy.

        Parameters
        ----------
        footpoint : array_like, shape (\*batch, \*point_shape)
            Points of the ball.
        size : int or tuple of int, optional
            Leading axes of the result.
        generator : numpy.random.Generator, optional
            Source of randomness.

        Returns
        -------
        ndarray, shape (\*size, \*batch, \*point_shape)
        """
        manifold, generator = self.manifold, resolve_generator(generator)
        start = manifold.validate(footpoint)
        if not np.all(self.ball.contains(start)):
            raise UnsupportedBallError("the footpoint must lie in the ball; project it first")
        shape = manifold.point_shape
        axes = () if size is None else size if isinstance(size, tuple) else (size,)
        full = (*axes, *start.shape)
        foot = np.broadcast_to(start, full).reshape(-1, *shape)
        state, dim = foot.copy(), manifold.dim
        weight = self.log_weight(state, foot)
        # 2.4/sqrt(dim) standard deviations of the law next to the footpoint, if its factor is 1
        spread = math.sqrt((dim + 1.0) / dim) * 2.4 / self.rate
        step = np.minimum(spread * np.exp(-self.log_scaling_at(foot)), self.ball.radius)
        for _ in range(self.steps):
            move = step[:, None] * generator.standard_normal((len(foot), dim)) / math.sqrt(dim)
            proposal = manifold.exp(state, manifold.tangent_vector(state, move))
            inside = self.ball.contains(proposal)
            proposed = np.full(len(foot), -np.inf)
            proposed[inside] = self.log_weight(proposal[inside], foot[inside])
            accepted = -generator.standard_exponential(len(foot)) < proposed - weight
            state[accepted], weight[accepted] = proposal[accepted], proposed[accepted]
        return state.reshape(full)

    def _square_distance(self, points: FloatArray) -> FloatArray:
        """Squared distances ``(N, n)`` to the records."""
        manifold = self.manifold
        if not isinstance(manifold, FlatManifold):
            return np.square(manifold.dist(points[:, None], self.points[None]))
        offset, records = manifold.to_chart(points), self._chart
        square = np.sum(np.square(offset), axis=1)[:, None] + np.sum(np.square(records), axis=1)
        return np.asarray(np.maximum(square - 2.0 * offset @ records.T, 0.0))

    @functools.cached_property
    def _chart(self) -> FloatArray:
        """Coordinates of the records on a flat manifold."""
        assert isinstance(self.manifold, FlatManifold)
        return self.manifold.to_chart(self.points)

    @property
    def _kernel(self) -> float:
        assert self.bandwidth is not None
        return self.bandwidth


def computed_sensitivity(ball: Ball, n: int, least: float = 0.0) -> tuple[float, float]:
    """Sensitivity of the mean as computed, and its tolerance, of which it contains the double."""
    query = next(FrechetMean().queries(ball))
    exact = query.replace_one(ball, n, "distance")
    tol = max(query.tolerance(ball, exact), least)
    return math.nextafter(exact + 2.0 * tol, math.inf), tol


def graph_laplacian(dist: FloatArray, neighbours: int, width: float) -> FloatArray:
    """``D - W`` of the nearest-neighbour graph with weights ``exp(-dist^2 / width^2)``.

    ``dist`` are the distances between records, shape (n, n). Each record adds ``neighbours`` edges;
    the larger weight of the two directions counts.
    """
    n = len(dist)
    others = dist + np.where(np.eye(n, dtype=bool), np.inf, 0.0)
    nearest = np.argsort(others, axis=1, kind="stable")[:, : min(neighbours, n - 1)]
    weights = np.zeros((n, n))
    rows = np.arange(n)[:, None]
    weights[rows, nearest] = np.exp(-np.square(dist[rows, nearest] / width))
    weights = np.maximum(weights, weights.T)
    return np.asarray(scipy.sparse.csgraph.laplacian(weights))
