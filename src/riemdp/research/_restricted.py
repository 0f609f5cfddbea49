"""The Riemannian Laplace mechanism restricted to a public ball."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

from riemdp._errors import InvalidParameterError
from riemdp._part import both_proved
from riemdp.mechanisms import Mechanism, check_sensitivity
from riemdp.mechanisms._calibration import enough_noise
from riemdp.mechanisms._rao import restricted_laplace_guarantee, restricted_laplace_ratio
from riemdp.noise import family
from riemdp.privacy import PureCurve, RaoDP, check_distance, quotient_up
from riemdp.research._affine_invariant_ball import AffineInvariantBallLaplace
from riemdp.research._ball_laplace import BallLaplace
from riemdp.spaces import Ball, SPDAffineInvariant, check_ball

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.noise import DistanceLaw
    from riemdp.privacy import Budget
    from riemdp.spaces import FloatArray, Manifold


@final
@dataclass(frozen=True)
class RestrictedLaplace(Mechanism):
    """Density proportional to ``exp(-dist(x, footpoint) / sigma)`` on a public ball, else 0.

    The normaliser depends on the footpoint, so that it is pure ``2 sensitivity / sigma``-DP;
    projecting a draw of :class:`riemdp.RiemannianLaplace` onto the ball needs half the noise.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature, or ``SPDAffineInvariant``.
    sigma : float
        Scale, in units of geodesic distance; every one will do.
    ball : Ball
        Public ball that the density is restricted to. On affine-invariant matrices draws are by
        rejection, and balls too large for that are refused.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or the ball belongs to another manifold.
    NotAttainableError
        If a draw would take more than about a minute (large balls of matrices).
    UnsupportedManifoldError
        On other manifolds.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Theorem 3; docs/proofs/riemannian-laplace.md, docs/proofs/affine-invariant-sampler.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.research import RestrictedLaplace
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> law = RestrictedLaplace.calibrate(ball.manifold, 0.01, riemdp.PureDP(1.0), ball=ball)
    >>> round(law.sigma, 9), law.sample(ball.center, 5, np.random.default_rng(0)).shape
    (0.02, (5, 3))
    """

    ball: Ball = field(kw_only=True)

    name: ClassVar[str] = "restricted-laplace"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-laplace.md"
    options: ClassVar[Mapping[str, Callable[[Ball], Any]]] = MappingProxyType(
        {"ball": lambda ball: ball}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ball(self.ball)
        if self.ball.manifold != self.manifold:
            raise InvalidParameterError(
                f"the ball belongs to {self.ball.manifold}, the mechanism to {self.manifold}"
            )
        self._law.check_drawable()

    def proofs(self) -> dict[str, str | None]:
        """Those of the mechanism, and of the law that is restricted."""
        return both_proved(super().proofs(), family("laplace", self.manifold).proofs())

    @classmethod
    def needed(cls, ball: Ball) -> dict[str, Any]:
        """Return the ball; see :meth:`Mechanism.needed`."""
        return {"ball": ball}

    def foreign_to(self, ball: Ball) -> str | None:
        """Say whether the law is restricted to another ball; see :meth:`Mechanism.foreign_to`."""
        problem = super().foreign_to(ball)
        if problem is None and self.ball != ball:
            return "the mechanism is restricted to another ball"
        return problem

    @classmethod
    def calibrate(
        cls, manifold: Manifold, sensitivity: float, budget: Budget, *, ball: Ball
    ) -> Self:
        """Mechanism with the least ``sigma`` proved to suffice; see :meth:`Mechanism.calibrate`.

        Parameters
        ----------
        manifold, sensitivity
            As there.
        budget : PureDP, or another one that a pure epsilon implies, or RaoDP
            ``sigma = 2 sensitivity / epsilon``; under parametric RaoDP ``sensitivity / theta``.
        ball
            Of the class.
        """
        sensitivity = check_sensitivity(sensitivity)
        sigma = sensitivity / restricted_laplace_ratio(budget)
        build = functools.partial(cls, manifold, ball=ball)
        return enough_noise(build, sigma, sensitivity, budget)

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Draw about footpoints of the ball; see :func:`riemdp.research.sample`."""
        return self._law.sample(footpoint, size, generator)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density in Riemannian volume, ``-inf`` outside the ball."""
        return self._law.log_density(point, footpoint)

    def privacy(self, sensitivity: float) -> PureCurve:
        """Worst curve of pure ``2 sensitivity / sigma``: the normaliser moves, too."""
        return PureCurve(quotient_up(2.0 * check_sensitivity(sensitivity), self.sigma))

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Bound by ``sensitivity / sigma``, the angle also by the pure epsilon."""
        ratio = quotient_up(check_sensitivity(sensitivity), self.sigma)
        return restricted_laplace_guarantee(ratio, check_distance(distance))

    def distance_law(self, footpoint: FloatArray) -> DistanceLaw:
        """Of a draw about the ball's centre; see :meth:`Mechanism.distance_law`."""
        if float(self.manifold.dist(self.ball.center, footpoint)) > 1e-9 * self.ball.radius:
            raise InvalidParameterError(
                "the distance of a Laplace law restricted to a ball has a law of its own at each "
                "footpoint; audit it at the ball's centre"
            )
        return self._law.about_center

    def error_quantile(self, q: float) -> float:
        """Quantile of the distance, an upper bound for every footpoint of the ball.

        The ball is convex, so along each direction the radial density is cut at some distance of at
        most the diameter, and cutting it there makes distances no longer. On affine-invariant
        matrices the bound takes the fastest growth of volume along any direction. A ball beyond an
        open hemisphere is not convex, and an ``UnsupportedBallError``.
        """
        return super().error_quantile(q)

    @functools.cached_property
    def _law(self) -> BallLaplace | AffineInvariantBallLaplace:
        if isinstance(self.manifold, SPDAffineInvariant):
            return AffineInvariantBallLaplace(self.ball, self.sigma)
        return BallLaplace(self.ball, self.sigma)

    @property
    def _distance_law(self) -> DistanceLaw:
        return self._law.radial
