"""Conformal noise without a net, in any dimension."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp.noise import gauss_legendre
from riemdp.research._conformal_calibration import lipschitz_rate
from riemdp.research._laplace_rejection import LaplaceRejection
from riemdp.research._public_prior import RejectionLaw, checked_bounds, clipped
from riemdp.spaces import Ball, as_floats, ball_proofs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Least acceptance that is allowed.
LEAST_ACCEPTANCE = 1e-4
_QUADRATURE = 16


@dataclass(frozen=True, eq=False)
class ConformalRejection(RejectionLaw):
    r"""Density ``exp(-rate s(footpoint, x)) factor(x)^(dim/2)`` on a public ball, any dimension.

    With ``c = sqrt(upper)`` the score s is the least of ``c dist(footpoint, x)`` and, over pairs
    of landmarks, ``c dist(footpoint, u) + dist_G(u, v) + c dist(v, x)``, where ``dist_G`` is the
    distance of the conformal metric along geodesics between landmarks. It is Lipschitz with
    constant c in the footpoint and at least ``sqrt(lower) dist(footpoint, x)``, so that draws of
    a Laplace law are accepted or rejected exactly.

    Parameters
    ----------
    ball : Ball
        Public ball of a manifold of constant curvature: footpoints and draws.
    conformal_factor : callable
        Public factor at points of shape ``(N, *point_shape)``; returns ``(N,)``, each a function
        of its own point alone.
    epsilon : float
        Privacy of one draw.
    sensitivity : float
        Largest distance between the footpoints of neighbouring data sets.
    bounds : tuple of float
        The factor is clipped to these two, ``0 < lower < upper``.
    landmarks : array_like, shape (m, \*point_shape), optional
        Public points of the ball; by default the centre and the points half-way to the boundary
        along the coordinate axes, ``2 dim + 1`` in all.

    Raises
    ------
    InvalidBudgetError, InvalidParameterError
        If a number is outside its domain or a landmark outside the ball.
    NotAttainableError
        If, from public numbers, it is not certain that from every footpoint at least one in
        10,000 proposals is accepted.
    UnsupportedManifoldError
        If the curvature is not constant.

    References
    ----------
    docs/proofs/conformal-laplace.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> from riemdp.research import ConformalRejection
    >>> law = ConformalRejection(ball, lambda x: 1.0 + x[:, 2], 1.0, 0.01, bounds=(1.0, 2.0))
    >>> law.guarantee, law.sample(ball.center, generator=np.random.default_rng(0)).shape
    (PureDP(epsilon=1.0), (3,))
    """

    ball: Ball
    conformal_factor: Callable[[FloatArray], ArrayLike] = field(repr=False)
    epsilon: float
    sensitivity: float
    bounds: tuple[float, float] = field(kw_only=True)
    landmarks: FloatArray | None = field(default=None, repr=False, kw_only=True)
    acceptance: float = field(init=False)

    def __post_init__(self) -> None:
        self._check_law(self.conformal_factor, "conformal_factor")
        manifold = self.ball.manifold
        object.__setattr__(self, "bounds", checked_bounds(self.bounds, "the conformal factor"))
        landmarks = _axis_points(self.ball) if self.landmarks is None else self.landmarks
        landmarks = np.array(manifold.validate(landmarks))
        if landmarks.ndim != 1 + len(manifold.point_shape) or not len(landmarks):
            raise InvalidParameterError(
                f"landmarks must have shape (m, *point_shape) with m >= 1, got {landmarks.shape}"
            )
        if not np.all(self.ball.contains(landmarks)):
            raise InvalidParameterError("landmarks must lie in the ball")
        landmarks.flags.writeable = False
        object.__setattr__(self, "landmarks", landmarks)
        # A function that does not work is noticed here, not at the first draw.
        clipped(self.conformal_factor, landmarks, self.bounds)
        object.__setattr__(self, "acceptance", self._least_acceptance())

    @property
    def rate(self) -> float:
        """Rate of the score, per unit of the conformal metric."""
        return lipschitz_rate(self.epsilon, math.sqrt(self.bounds[1]), self.sensitivity)

    @property
    def proven(self) -> bool:
        """Whether the guarantee is proved: of this very class, on an unchanged ball."""
        return type(self) is ConformalRejection and None not in ball_proofs(self.ball).values()

    def score(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        r"""Score of points for footpoints, pair by pair.

        Parameters
        ----------
        point, footpoint : array_like, shape (N, \*point_shape)

        Returns
        -------
        ndarray, shape (N,)
        """
        manifold = self.ball.manifold
        point, footpoint = as_floats(point), as_floats(footpoint)
        ceiling = math.sqrt(self.bounds[1])
        score = ceiling * manifold.dist(footpoint, point)
        through = ceiling * manifold.dist(np.expand_dims(footpoint, 1), self._posts)
        out = ceiling * manifold.dist(np.expand_dims(point, 1), self._posts)
        for v in range(len(self._posts)):
            score = np.minimum(score, np.min(through + self._between[:, v], axis=-1) + out[:, v])
        return np.asarray(score)

    @property
    def _posts(self) -> FloatArray:
        assert self.landmarks is not None
        return self.landmarks

    @functools.cached_property
    def _between(self) -> FloatArray:
        """Conformal distances between landmarks along geodesics from one to another."""
        manifold, posts = self.ball.manifold, self._posts
        node, weight = gauss_legendre(_QUADRATURE)
        length = np.zeros((len(posts), len(posts)))
        for i, post in enumerate(posts[:-1]):
            rest = posts[i + 1 :]
            log = manifold.log(post, rest)
            mean = np.zeros(len(rest))
            for x, share in zip(0.5 * (1.0 + node), 0.5 * weight, strict=True):
                factor = clipped(self.conformal_factor, manifold.exp(post, x * log), self.bounds)
                mean += share * np.sqrt(factor)
            length[i, i + 1 :] = manifold.dist(post, rest) * mean
        length += length.T
        return np.asarray(scipy.sparse.csgraph.floyd_warshall(length, directed=False))

    @functools.cached_property
    def _law(self) -> LaplaceRejection:
        floor, power = math.sqrt(self.bounds[0]), 0.5 * self.ball.manifold.dim
        manifold = self.ball.manifold

        def log_acceptance(footpoints: FloatArray, points: FloatArray) -> FloatArray:
            """Target over proposal, at most 1."""
            excess = self.score(points, footpoints) - floor * manifold.dist(footpoints, points)
            factor = clipped(self.conformal_factor, points, self.bounds)
            weight = power * np.log(factor / self.bounds[1])
            return np.asarray(weight - self.rate * np.maximum(excess, 0.0))

        return LaplaceRejection(self.ball, 1.0 / (self.rate * floor), log_acceptance)

    def _least_acceptance(self) -> float:
        """Lower bound over all footpoints: the score is at most ``sqrt(upper) dist``."""
        lower, upper = self.bounds
        dim = self.ball.manifold.dim
        rate = self.rate * (math.sqrt(upper) - math.sqrt(lower))
        least = float((lower / upper) ** (0.5 * dim)) * self._law.least_acceptance(rate)
        if least < LEAST_ACCEPTANCE:
            raise NotAttainableError(
                f"at some footpoint as few as {least:.2g} of the proposals might be accepted, in "
                f"dimension {dim} with bounds {self.bounds}, epsilon = {self.epsilon:g} and "
                f"sensitivity = {self.sensitivity:g}; it takes at least {LEAST_ACCEPTANCE:g}. "
                "Bring the bounds closer together"
            )
        return least


def _axis_points(ball: Ball) -> FloatArray:
    """Centre, and half-way to the boundary along each coordinate axis."""
    step = 0.5 * ball.radius * np.eye(ball.manifold.dim)
    return ball.point(np.concatenate([np.zeros((1, ball.manifold.dim)), step, -step]))
