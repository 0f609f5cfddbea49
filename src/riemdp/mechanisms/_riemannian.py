"""Noise laid out along the manifold: the Riemannian Laplace mechanism."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, final

from riemdp._errors import InvalidParameterError, UnsupportedBallError
from riemdp._part import register
from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.mechanisms._isotropic import (
    has_curve,
    isotropic_curve,
    isotropic_scales,
    least_noise,
)
from riemdp.mechanisms._laws import (
    ExactLaw,
    Sampler,
    check_sampler,
    drawn_law,
    exact_law,
    has_law,
    is_flat,
    law_proofs,
    score_dim,
)
from riemdp.mechanisms._mechanism import Mechanism, check_manifold, enough_noise
from riemdp.mechanisms._rao import (
    laplace_guarantee,
    restricted_laplace_guarantee,
    restricted_laplace_ratio,
)
from riemdp.noise import BallLaplace, RadialLaw
from riemdp.noise._metropolis import MetropolisLaw
from riemdp.privacy import (
    LaplaceCurve,
    PureCurve,
    RaoDP,
    affordable_epsilon,
    check_distance,
    quotient_up,
)

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, Manifold
    from riemdp.manifolds._manifold import FloatArray
    from riemdp.mechanisms._mechanism import DistanceLaw
    from riemdp.privacy import Budget, PrivacyCurve


@final
@register
@dataclass(frozen=True)
class RiemannianLaplace(Mechanism):
    """Riemannian Laplace mechanism, density proportional to ``exp(-dist(x, footpoint) / sigma)``.

    Pure ``sensitivity / sigma``-DP: the normaliser is the same at every footpoint of a homogeneous
    space, and the triangle inequality bounds the rest. On spaces of constant curvature its
    (epsilon, delta) curve and ``mu`` are its own, better than what this epsilon implies.
    Restricted to a ball the normaliser depends on the footpoint and the guarantee is
    ``2 sensitivity / sigma``; projecting an unrestricted draw onto the ball
    (:meth:`sample_in_ball`) needs half the noise.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature, or ``SPDAffineInvariant``.
    sigma : float
        Scale, in units of geodesic distance. On hyperbolic space (without ``ball``) it must stay
        under ``1 / ((dim - 1) sqrt(-curvature))``, on affine-invariant matrices of size k under
        ``sqrt(12 / (k (k^2 - 1)))``.
    ball : Ball, optional
        Public ball, in a space of constant curvature, that the density is restricted to.
    sampler : {"exact", "metropolis"}, default "exact"
        ``"metropolis"`` draws from a chain that only approximates the law, on any manifold;
        :attr:`proven` is then false and everything stated is about the law itself.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or the ball belongs to another manifold.
    NotAttainableError
        If no normaliser exists for this ``sigma``, or an exact draw would take more than about a
        minute (large matrices).
    UnsupportedManifoldError
        On other manifolds, unless draws come from a chain.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3, Theorems 1 and 3; docs/proofs/riemannian-laplace.md,
    docs/proofs/isotropic-curve.md, docs/proofs/affine-invariant-sampler.md
    """

    ball: Ball | None = field(default=None, kw_only=True)
    sampler: Sampler = field(default="exact", kw_only=True)

    name: ClassVar[str] = "riemannian-laplace"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-laplace.md"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sampler(self.sampler)
        if self.ball is not None:
            self._check_ball(self.ball)
            if self.sampler != "exact":
                raise InvalidParameterError('the law on a ball has the sampler "exact" only')
        self._law  # noqa: B018 -- refuses what has no law or no draws

    def proofs(self) -> dict[str, str | None]:
        """Those of the mechanism and of its sampler: that draws of a chain follow the law is none.

        Returns
        -------
        dict of str to (str or None)
        """
        return {**super().proofs(), **law_proofs(self.manifold, self.sampler)}

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *,
        ball: Ball | None = None,
        sampler: Sampler = "exact",
    ) -> Self:
        """Mechanism with the least ``sigma`` that is proved to suffice.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
            For PureDP ``sigma = sensitivity / epsilon``; ApproxDP and GDP are met by the law's own
            curve, other definitions through a ``mu`` or pure epsilon that implies them. Where
            :meth:`privacy` knows a pure epsilon only, that has to imply the budget; with ``ball``
            ``sigma`` is twice as large. Under parametric RaoDP ``sigma`` is
            ``sensitivity / (theta sqrt(dim))``, without the root if restricted to a ball; under an
            angle the least one that is proved, exact on R^d.
        ball : Ball, optional
            Public ball that the density is restricted to.
        sampler : {"exact", "metropolis"}, default "exact"

        Returns
        -------
        RiemannianLaplace

        Raises
        ------
        InvalidBudgetError, InvalidParameterError
            See :meth:`Mechanism.calibrate`.
        NotAttainableError
            On hyperbolic space and affine-invariant matrices, if the noise would be too wide to
            have a normaliser; the message names the smallest epsilon, delta, mu or theta. Also if
            its draws would take too long.
        """
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)
        build = functools.partial(cls, manifold, ball=ball, sampler=sampler)
        if sampler != "exact" and not has_law(manifold):
            sigma = sensitivity / affordable_epsilon(budget)
            return enough_noise(build, sigma, sensitivity, budget)
        if ball is not None:
            sigma = sensitivity / restricted_laplace_ratio(budget)
            return enough_noise(build, sigma, sensitivity, budget)
        scales = isotropic_scales("laplace", manifold, sensitivity, budget)
        return least_noise(build, scales, sensitivity, budget)

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
        if isinstance(self._law, ExactLaw):
            return self._law.sample_from_coordinates(coordinates, ball, generator=generator)
        if isinstance(self._law, BallLaplace) and self._law.ball == ball:
            return self._law.sample_from_coordinates(coordinates, generator=generator)
        return super().sample_from_coordinates(coordinates, ball, generator)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density in Riemannian volume; see :meth:`Mechanism.log_density`."""
        law = self._law
        if isinstance(law, MetropolisLaw):
            law = exact_law("laplace", self.manifold, self.sigma)
        return law.log_density(point, footpoint)

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Curve of the law, whose pure epsilon is ``sensitivity / sigma``.

        Where it is not computed, beyond dimension 64, for sensitivities that span a sphere and
        on affine-invariant matrices, the worst curve with this epsilon. Restricted to
        a ball the worst one with twice this epsilon.

        References
        ----------
        docs/proofs/isotropic-curve.md
        """
        sensitivity = check_sensitivity(sensitivity)
        factor = 1.0 if self.ball is None else 2.0
        epsilon = quotient_up(factor * sensitivity, self.sigma)
        known = has_law(self.manifold) and has_curve("laplace", self.manifold, sensitivity)
        if self.ball is not None or not known:
            return PureCurve(epsilon)
        if self.manifold.dim == 1 and is_flat(self.manifold):
            return LaplaceCurve(epsilon)
        return isotropic_curve("laplace", self.manifold, self.sigma, sensitivity)

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``sensitivity / (sigma sqrt(dim))`` exactly, on R^d, spheres and hyperbolic
        spaces alike; restricted to a ball and on affine-invariant matrices the bound
        ``sensitivity / sigma``. Angle: exact on R^d,
        else the lesser of the parametric distance and ``4 arctan(tanh(epsilon / 4))`` at the pure
        epsilon.
        """
        ratio = quotient_up(check_sensitivity(sensitivity), self.sigma)
        distance = check_distance(distance)
        if self.ball is not None:
            return restricted_laplace_guarantee(ratio, distance)
        if not has_law(self.manifold):
            return super().rao(sensitivity, distance)
        flat = is_flat(self.manifold)
        return laplace_guarantee(ratio, score_dim(self.manifold), distance, flat=flat)

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
    def _law(self) -> ExactLaw | BallLaplace | MetropolisLaw:
        if self.ball is not None:
            return BallLaplace(self.ball, self.sigma)
        return drawn_law("laplace", self.manifold, self.sigma, self.sampler)

    @functools.cached_property
    def _distance_law(self) -> DistanceLaw:
        if self.ball is None:
            return exact_law("laplace", self.manifold, self.sigma).radial
        ball = self.ball
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
