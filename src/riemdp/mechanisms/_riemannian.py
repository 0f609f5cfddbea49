"""Noise laid out along the manifold: the Riemannian Laplace and Gaussian mechanisms."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from riemdp._errors import NotAttainableError, UnsupportedBallError, UnsupportedManifoldError
from riemdp.manifolds import FlatManifold
from riemdp.mechanisms._calibration import affordable_epsilon, affordable_mu, check_sensitivity
from riemdp.mechanisms._mechanism import Mechanism, enough_noise
from riemdp.mechanisms._rao import (
    gaussian_guarantee,
    isotropic_gaussian_sigma,
    isotropic_guarantee,
    laplace_guarantee,
    laplace_ratio,
    restricted_laplace_guarantee,
    restricted_laplace_ratio,
)
from riemdp.noise import BallLaplace, IsotropicLaw, RadialLaw
from riemdp.privacy import GaussianCurve, LaplaceCurve, PureCurve, RaoDP
from riemdp.privacy._rao import check_distance
from riemdp.privacy._rounding import quotient_up

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, Manifold
    from riemdp.manifolds._manifold import FloatArray
    from riemdp.privacy import Budget


@dataclass(frozen=True)
class RiemannianLaplace(Mechanism):
    """Riemannian Laplace mechanism, density proportional to ``exp(-dist(x, footpoint) / sigma)``.

    Pure ``sensitivity / sigma``-DP: the normaliser is the same at every footpoint of a homogeneous
    space, and the triangle inequality bounds the rest. Restricted to a ball the normaliser
    depends on the footpoint and the guarantee is ``2 sensitivity / sigma``; projecting an
    unrestricted draw onto the ball (:meth:`sample_in_ball`) needs half the noise.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature.
    sigma : float
        Scale, in units of geodesic distance. On hyperbolic space (without ``ball``) it must stay
        under ``1 / ((dim - 1) sqrt(-curvature))``.
    ball : Ball, optional
        Public ball that the density is restricted to.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or the ball belongs to another manifold.
    NotAttainableError
        If no normaliser exists for this ``sigma``.
    UnsupportedManifoldError
        On manifolds without constant curvature.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3, Theorems 1 and 3; docs/proofs/riemannian-laplace.md
    """

    ball: Ball | None = field(default=None, kw_only=True)

    name: ClassVar[str] = "riemannian-laplace"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ball is not None:
            self._check_ball(self.ball)
        self._law  # noqa: B018 -- refuses a manifold or a sigma without a law

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *,
        ball: Ball | None = None,
    ) -> Self:
        """Mechanism with ``sigma = sensitivity / epsilon``, twice that if restricted to a ball.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
            PureDP, ApproxDP, GDP and ZCDP are met through a pure epsilon that implies them:
            epsilon itself of (epsilon, delta), whose delta stays unused, ``sqrt(2 rho)`` of zCDP,
            and the largest one that implies mu-GDP. Under parametric RaoDP ``sigma`` is
            ``sensitivity / (theta sqrt(dim))``, without the root if restricted to a ball; under an
            angle the least one that is proved, exact on R^d.
        ball : Ball, optional
            Public ball that the density is restricted to.

        Returns
        -------
        RiemannianLaplace

        Raises
        ------
        InvalidBudgetError, InvalidParameterError
            See :meth:`Mechanism.calibrate`.
        NotAttainableError
            On hyperbolic space, if the noise would be too wide to have a normaliser; the message
            names the smallest epsilon or theta.
        """
        sensitivity = check_sensitivity(sensitivity)
        if isinstance(budget, RaoDP):
            if ball is None:
                ratio = laplace_ratio(budget, manifold.dim, flat=_is_flat(manifold))
            else:
                ratio = restricted_laplace_ratio(budget)
        else:
            ratio = affordable_epsilon(budget) / (1.0 if ball is None else 2.0)
        try:
            return enough_noise(
                lambda sigma: cls(manifold, sigma, ball=ball),
                sensitivity / ratio,
                sensitivity,
                budget,
            )
        except NotAttainableError as error:
            if manifold.curvature_bound >= 0.0:  # beyond float64, not without a normaliser
                raise
            least = sensitivity * (manifold.dim - 1) * math.sqrt(-manifold.curvature_bound)
            if isinstance(budget, RaoDP):
                least = laplace_guarantee(least, manifold.dim, budget.distance, flat=False).theta
                what, got = "a theta", budget.theta
            else:
                what, got = "a pure epsilon", ratio
            raise NotAttainableError(
                f"{error}. At sensitivity {sensitivity:.6g} the budget has to allow {what} "
                f"above {least:.6g}, got {got:.6g}; the tangent mechanisms "
                '("tangent-gaussian", "tangent-laplace") have no such limit'
            ) from None

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Exact draws; see :meth:`Mechanism.sample`."""
        return self._law.sample(footpoint, size=size, generator=generator)

    def sample_from_coordinates(
        self,
        coordinates: FloatArray,
        ball: Ball,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Draw and project; see :meth:`Mechanism.sample_from_coordinates`."""
        if isinstance(self._law, IsotropicLaw):
            return self._law.sample_from_coordinates(coordinates, ball, generator=generator)
        if self._law.ball == ball:
            return self._law.sample_from_coordinates(coordinates, generator=generator)
        return super().sample_from_coordinates(coordinates, ball, generator)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density in Riemannian volume; see :meth:`Mechanism.log_density`."""
        return self._law.log_density(point, footpoint)

    def privacy(self, sensitivity: float) -> PureCurve | LaplaceCurve:
        """Pure DP at ``sensitivity / sigma``, twice that if restricted to a ball.

        On a line the mechanism's own curve; else the worst one with this epsilon.
        """
        factor = 1.0 if self.ball is None else 2.0
        line = isinstance(self.manifold, FlatManifold) and self.manifold.dim == 1
        curve = LaplaceCurve if line and self.ball is None else PureCurve
        return curve(quotient_up(factor * check_sensitivity(sensitivity), self.sigma))

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``sensitivity / (sigma sqrt(dim))`` exactly, on R^d, spheres and hyperbolic
        spaces alike; restricted to a ball the bound ``sensitivity / sigma``. Angle: exact on R^d,
        else the lesser of the parametric distance and ``4 arctan(tanh(epsilon / 4))`` at the pure
        epsilon.
        """
        ratio = quotient_up(check_sensitivity(sensitivity), self.sigma)
        distance = check_distance(distance)
        if self.ball is not None:
            return restricted_laplace_guarantee(ratio, distance)
        flat = _is_flat(self.manifold)
        return laplace_guarantee(ratio, self.manifold.dim, distance, flat=flat)

    def expected_distance(self) -> float:
        """Mean distance between footpoint and draw.

        Exact without a ball. Restricted to a ball it depends on the footpoint; then this is an
        upper bound for all of them, see :meth:`error_quantile`.
        """
        return super().expected_distance()

    def error_quantile(self, q: float) -> float:
        """Quantile of the distance; see :meth:`Mechanism.error_quantile`.

        Restricted to a ball it is an upper bound for every footpoint of the ball: the ball is
        convex, so along each direction the radial density is cut at some distance of at most
        the diameter, and cutting it there makes distances no longer.

        Raises
        ------
        UnsupportedBallError
            If restricted to a ball beyond an open hemisphere, which is not convex.
        """
        return super().error_quantile(q)

    @functools.cached_property
    def _law(self) -> IsotropicLaw | BallLaplace:
        if self.ball is not None:
            return BallLaplace(self.ball, self.sigma)
        return IsotropicLaw("laplace", self.manifold, self.sigma)

    @functools.cached_property
    def _distance_law(self) -> RadialLaw:
        if isinstance(self._law, IsotropicLaw):
            return self._law.radial
        ball = self._law.ball
        convex = 0.5 * self.manifold.injectivity_radius
        if ball.radius >= convex:
            raise UnsupportedBallError(
                f"no bound on the error of a Laplace law restricted to a ball of radius "
                f"{ball.radius:.6g}, which is not convex; choose a radius under {convex:.6g}, or "
                "project an unrestricted draw"
            )
        return RadialLaw(
            kind="laplace",
            dim=self.manifold.dim,
            curvature=float(self.manifold.constant_curvature or 0.0),
            sigma=self.sigma,
            upper=2.0 * ball.radius,
        )


@dataclass(frozen=True)
class RiemannianGaussian(Mechanism):
    """Riemannian Gaussian, density proportional to ``exp(-dist(x, footpoint)^2 / (2 sigma^2))``.

    Draws, densities, error laws and Rao privacy hold on every space of constant curvature. The
    privacy curve is known in closed form where the space is isometric to R^d; on curved spaces and
    on the circle it is not available: :meth:`privacy` refuses, and so does :meth:`calibrate` but
    for RaoDP.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.
    UnsupportedManifoldError
        On manifolds without constant curvature.

    References
    ----------
    Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023;
    docs/proofs/riemannian-gaussian.md
    """

    name: ClassVar[str] = "riemannian-gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._law  # noqa: B018 -- refuses a manifold without a law

    @classmethod
    def calibrate(cls, manifold: Manifold, sensitivity: float, budget: Budget) -> Self:
        """Mechanism with the least ``sigma`` for the budget.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : ApproxDP, GDP, ZCDP or RaoDP
            Off spaces isometric to R^d RaoDP only; there the scale has the parametric distance
            ``theta``, which bounds the angle.

        Returns
        -------
        RiemannianGaussian

        Raises
        ------
        InvalidBudgetError, InvalidParameterError
            See :meth:`Mechanism.calibrate`.
        NotAttainableError
            For RaoDP on hyperbolic space, where ``theta`` cannot fall under ``sensitivity (dim - 1)
            sqrt(-curvature / dim)`` however wide the noise.
        UnsupportedManifoldError
            For other budgets on curved spaces and on the circle.
        """
        sensitivity = check_sensitivity(sensitivity)
        if isinstance(budget, RaoDP) and not _is_flat(manifold):
            law = cls(manifold, sensitivity)._law.radial  # its sigma does not matter
            sigma = isotropic_gaussian_sigma(law.dim, law.curvature, law.upper, sensitivity, budget)
        else:
            sigma = sensitivity / affordable_mu(budget)
        return enough_noise(lambda scale: cls(manifold, scale), sigma, sensitivity, budget)

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Exact draws; see :meth:`Mechanism.sample`."""
        return self._law.sample(footpoint, size=size, generator=generator)

    def sample_from_coordinates(
        self,
        coordinates: FloatArray,
        ball: Ball,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        """Draw and project; see :meth:`Mechanism.sample_from_coordinates`."""
        return self._law.sample_from_coordinates(coordinates, ball, generator=generator)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density in Riemannian volume; see :meth:`Mechanism.log_density`."""
        return self._law.log_density(point, footpoint)

    def privacy(self, sensitivity: float) -> GaussianCurve:
        """Exactly ``sensitivity / sigma``-GDP on spaces isometric to R^d.

        Raises
        ------
        UnsupportedManifoldError
            On curved spaces and on the circle.
        """
        sensitivity = check_sensitivity(sensitivity)
        if not _is_flat(self.manifold):
            raise UnsupportedManifoldError(
                f"the privacy curve of the Riemannian Gaussian is not available on "
                f'{self.manifold}; use RiemannianLaplace ("riemannian-laplace", pure epsilon) or '
                'TangentGaussian at a public base point ("tangent-gaussian")'
            )
        return GaussianCurve(quotient_up(sensitivity, self.sigma))

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``sensitivity sqrt(E[dist^2] / dim) / sigma^2`` on every space of constant
        curvature. Angle: ``cos(angle/2) = exp(-(sensitivity/sigma)^2 / 8)`` on R^d, else bounded
        by the parametric distance.
        """
        sensitivity, distance = check_sensitivity(sensitivity), check_distance(distance)
        if _is_flat(self.manifold):
            return gaussian_guarantee(quotient_up(sensitivity, self.sigma), distance)
        return isotropic_guarantee(self._law.radial, sensitivity, distance)

    @functools.cached_property
    def _law(self) -> IsotropicLaw:
        return IsotropicLaw("gaussian", self.manifold, self.sigma)

    @property
    def _distance_law(self) -> RadialLaw:
        return self._law.radial


def _is_flat(manifold: Manifold) -> bool:
    """Whether the manifold is isometric to R^d."""
    return manifold.constant_curvature == 0.0 and math.isinf(manifold.injectivity_radius)
