"""Laplace noise reweighted by a public prior."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import positive, real_array, shown
from riemdp._errors import InvalidBudgetError, InvalidParameterError
from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.noise import constant_curvature
from riemdp.privacy import PureDP
from riemdp.research._conformal_calibration import lipschitz_rate
from riemdp.research._laplace_rejection import LaplaceRejection
from riemdp.spaces import Ball, ball_proofs, check_ball

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Least lower bound of a prior over its upper bound.
LEAST_PRIOR = 1e-4


class RejectionLaw(ArrayFields, ABC):
    """Noise on a public ball that is drawn by rejection from the Laplace law there.

    Attributes
    ----------
    ball : Ball
        Public ball that footpoints and draws lie in.
    epsilon : float
        Privacy of one draw.
    sensitivity : float
        Largest distance between the footpoints of neighbouring data sets.
    """

    ball: Ball
    epsilon: float
    sensitivity: float

    def _check_law(self, function: object, name: str) -> None:
        """Check the ball, the numbers, and that a public function is one."""
        check_ball(self.ball)
        constant_curvature(self.ball.manifold)
        if not callable(function):
            raise InvalidParameterError(f"{name} must be a function, got {shown(function)}")
        epsilon = positive(self.epsilon, "epsilon", error=InvalidBudgetError)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "sensitivity", check_sensitivity(self.sensitivity))

    @property
    @abstractmethod
    def _law(self) -> LaplaceRejection:
        """What is drawn from."""

    @property
    def guarantee(self) -> PureDP:
        """Guarantee of one draw."""
        return PureDP(self.epsilon)

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Exact draws about footpoints of the ball; each costs ``epsilon``.

        See :func:`riemdp.research.sample`. How many proposals a draw takes depends on the
        footpoint: do not let others time it. A footpoint outside the ball is an
        ``UnsupportedBallError``.
        """
        return self._law.sample(footpoint, size, generator)


@dataclass(frozen=True, eq=False)
class PublicPriorLaplace(RejectionLaw):
    r"""Density proportional to ``exp(-dist(x, footpoint) / sigma) prior(x)`` on a public ball.

    Pure epsilon-DP with ``sigma = 2 sensitivity / epsilon``: the prior is public, so it cancels
    from the ratio of densities but for the normaliser. It helps where the noise is about as wide
    as the ball and the summary lies where the prior is large; elsewhere half the noise, without a
    prior, is better (:class:`riemdp.RiemannianLaplace`).

    Parameters
    ----------
    ball : Ball
        Public ball of a manifold of constant curvature.
    prior : callable
        Public density, up to a factor, at points of shape ``(N, *point_shape)``; returns ``(N,)``,
        each a function of its own point alone.
    epsilon : float
        Privacy of one draw.
    sensitivity : float
        Largest distance between the footpoints of neighbouring data sets.
    bounds : tuple of float
        The prior is clipped to these two, ``1e-4 upper <= lower < upper``. ``lower / upper`` bounds
        the share of proposals in the ball that are accepted from below.

    Raises
    ------
    InvalidBudgetError, InvalidParameterError
        If a number is outside its domain.
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
    >>> from riemdp.research import PublicPriorLaplace
    >>> law = PublicPriorLaplace(ball, lambda x: x[:, 2] ** 4, 1.0, 0.1, bounds=(0.1, 1.0))
    >>> law.guarantee, round(law.sigma, 3)
    (PureDP(epsilon=1.0), 0.2)
    >>> law.sample(ball.center, generator=np.random.default_rng(0)).shape
    (3,)
    """

    ball: Ball
    prior: Callable[[FloatArray], ArrayLike] = field(repr=False)
    epsilon: float
    sensitivity: float
    bounds: tuple[float, float] = field(kw_only=True)

    def __post_init__(self) -> None:
        self._check_law(self.prior, "prior")
        lower, upper = checked_bounds(self.bounds, "the prior")
        if lower < LEAST_PRIOR * upper:
            raise InvalidParameterError(
                f"the lower bound of the prior must be at least {LEAST_PRIOR:g} of the upper one, "
                f"so that every draw ends, got ({lower:.6g}, {upper:.6g})"
            )
        object.__setattr__(self, "bounds", (lower, upper))
        _ = self._law  # refuses spaces that draws may leave
        self._log_prior(np.stack([self.ball.center, self.ball.center]))  # one number for each?

    @property
    def sigma(self) -> float:
        """Scale of the Laplace factor, in units of geodesic distance."""
        return 1.0 / lipschitz_rate(self.epsilon, 1.0, self.sensitivity)

    @property
    def proven(self) -> bool:
        """Whether the guarantee is proved: of this very class, on an unchanged ball."""
        return type(self) is PublicPriorLaplace and None not in ball_proofs(self.ball).values()

    def log_weight(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        r"""Log density up to a constant that depends on the footpoint.

        Parameters
        ----------
        point : array_like, shape (N, \*point_shape)
        footpoint : array_like, shape (\*point_shape)

        Returns
        -------
        ndarray, shape (N,)
            ``-inf`` outside the ball.
        """
        manifold = self.ball.manifold
        point, footpoint = manifold.validate(point), manifold.validate(footpoint)
        weight = self._log_prior(point) - manifold.dist(footpoint, point) / self.sigma
        return np.asarray(np.where(self.ball.contains(point), weight, -np.inf))

    def _log_prior(self, points: FloatArray) -> FloatArray:
        return np.log(clipped(self.prior, points, self.bounds))

    @property
    def _law(self) -> LaplaceRejection:
        top = np.log(self.bounds[1])
        return LaplaceRejection(
            self.ball, self.sigma, lambda _, points: self._log_prior(points) - top
        )


def checked_bounds(bounds: object, what: str) -> tuple[float, float]:
    """Return two positive finite numbers in order, or raise ``InvalidParameterError``."""
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        raise InvalidParameterError(f"bounds of {what} must be a tuple (lower, upper)")
    lower, upper = (positive(bound, f"a bound of {what}") for bound in bounds)
    if not lower < upper:
        raise InvalidParameterError(
            f"the bounds of {what} must be in order, got ({lower:.6g}, {upper:.6g})"
        )
    return lower, upper


def clipped(
    function: Callable[[FloatArray], ArrayLike], points: FloatArray, bounds: tuple[float, float]
) -> FloatArray:
    """Values of a public function at points, clipped; NaN becomes the lower bound.

    Whatever the function returns, the result is a fixed function of the point, so that no draw
    can fail for a reason that depends on data.
    """
    if not len(points):  # few functions expect that, and whether it happens depends on data
        return np.zeros(0)
    values = real_array(function(points), "values of a public function", booleans=True)
    if values.shape != (len(points),):
        raise InvalidParameterError(
            f"a public function must return one number for each of {len(points)} points, got "
            f"shape {values.shape}"
        )
    return np.clip(np.where(np.isnan(values), bounds[0], values), *bounds)
