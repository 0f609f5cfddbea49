"""Noise laid out along the manifold: the Riemannian Laplace mechanism."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.manifolds import check_manifold
from riemdp.mechanisms._additive import RiemannianMechanism, SamplerName, noise
from riemdp.mechanisms._calibration import check_sensitivity, enough_noise
from riemdp.mechanisms._isotropic import isotropic_scales, least_noise
from riemdp.mechanisms._rao import (
    laplace_guarantee,
    restricted_laplace_guarantee,
    restricted_laplace_ratio,
)
from riemdp.noise import find_sampler
from riemdp.privacy import PureCurve, RaoDP, check_distance, quotient_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from riemdp.manifolds import Ball, FloatArray, Manifold
    from riemdp.noise import DistanceLaw, Kind, Law, RestrictedLaw
    from riemdp.privacy import Budget, PrivacyCurve


@final
@register
@dataclass(frozen=True)
class RiemannianLaplace(RiemannianMechanism):
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
        Public ball, in a space of constant curvature or of ``SPDAffineInvariant``, that the
        density is restricted to; then every ``sigma`` will do. On affine-invariant matrices
        draws are by rejection, and balls too large for that are refused.
    sampler : {"exact", "metropolis"}, default "exact"
        ``"metropolis"`` draws from a chain that only approximates the law, on any manifold;
        :attr:`proven` is then false and everything stated is about the law itself.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or the ball belongs to another manifold.
    NotAttainableError
        If no normaliser exists for this ``sigma``, or an exact draw would take more than about a
        minute (large matrices, large balls of matrices).
    UnsupportedManifoldError
        On other manifolds, unless draws come from a chain.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3, Theorems 1 and 3; docs/proofs/riemannian-laplace.md,
    docs/proofs/isotropic-curve.md, docs/proofs/affine-invariant-sampler.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.RiemannianLaplace.calibrate(sphere, 0.01, riemdp.GDP(1.0))
    >>> law.sample(sphere.origin).shape
    (3,)
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    ball: Ball | None = field(default=None, kw_only=True)
    sampler: SamplerName = field(default="exact", kw_only=True)

    kind: ClassVar[Kind] = "laplace"
    name: ClassVar[str] = "riemannian-laplace"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-laplace.md"
    options: ClassVar[Mapping[str, Callable[[Ball], Any]]] = MappingProxyType(
        {"ball": lambda ball: ball}
    )

    def foreign_to(self, ball: Ball) -> str | None:
        """Say whether the law is restricted to another ball; see :meth:`Mechanism.foreign_to`."""
        if self.ball is not None and self.ball != ball:
            return super().foreign_to(ball) or "the mechanism is restricted to another ball"
        return super().foreign_to(ball)

    def distance_law(self, footpoint: FloatArray) -> DistanceLaw:
        """With a ball that of a draw about its centre; see :meth:`Mechanism.distance_law`."""
        if self.ball is None:
            return super().distance_law(footpoint)
        if float(self.manifold.dist(self.ball.center, footpoint)) > 1e-9 * self.ball.radius:
            raise InvalidParameterError(
                "the distance of a Laplace law restricted to a ball has a law of its own at each "
                "footpoint; audit it at the ball's centre"
            )
        return self._restricted.about_center

    def __post_init__(self) -> None:
        if self.ball is not None:
            self._check_ball(self.ball)
            if self.sampler != "exact":
                raise InvalidParameterError('the law on a ball has the sampler "exact" only')
        super().__post_init__()

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *,
        ball: Ball | None = None,
        sampler: SamplerName = "exact",
    ) -> Self:
        """Mechanism with the least ``sigma`` proved to suffice; see :meth:`Mechanism.calibrate`.

        Parameters
        ----------
        manifold, sensitivity
            As there.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
            For PureDP ``sigma = sensitivity / epsilon``; ApproxDP and GDP are met by the law's own
            curve, other definitions through a ``mu`` or pure epsilon that implies them. Where
            :meth:`privacy` knows a pure epsilon only, that has to imply the budget; with ``ball``,
            and on spaces that are not homogeneous, ``sigma`` is twice as large. Under parametric
            RaoDP ``sigma`` is ``sensitivity / (theta sqrt(dim))``, without the root if restricted
            to a ball or not homogeneous; under an angle the least one that is proved, exact on
            R^d.
        ball, sampler
            Of the class.

        Raises
        ------
        NotAttainableError
            On hyperbolic space and affine-invariant matrices, if the noise would be too wide to
            have a normaliser; the message names the smallest epsilon, delta, mu or theta. Also if
            its draws would take too long.
        """
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)
        build = functools.partial(cls, manifold, ball=ball, sampler=sampler)
        known = noise("laplace", manifold, sampler)
        if ball is not None or not known.constant_normaliser:
            sigma = known.total_shift(sensitivity) / restricted_laplace_ratio(budget)
            return enough_noise(build, sigma, sensitivity, budget)
        scales = isotropic_scales(known, sensitivity, budget)
        return least_noise(build, scales, sensitivity, budget)

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Curve of the law, whose pure epsilon is ``sensitivity / sigma`` on homogeneous spaces.

        Where it is not computed, beyond dimension 1000, for sensitivities that span a sphere and on
        affine-invariant matrices, the worst curve with this epsilon. Restricted to a ball, and on
        other spaces, the worst one with twice this epsilon: the normaliser moves with the
        footpoint. See docs/proofs/isotropic-curve.md.
        """
        sensitivity = check_sensitivity(sensitivity)
        if self.ball is not None:
            return PureCurve(quotient_up(2.0 * sensitivity, self.sigma))
        return super().privacy(sensitivity)

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``sensitivity / (sigma sqrt(dim))`` exactly, on R^d, spheres and hyperbolic
        spaces alike; restricted to a ball and on affine-invariant matrices the bound
        ``sensitivity / sigma``. Angle: exact on R^d, else the lesser of the parametric distance and
        ``4 arctan(tanh(epsilon / 4))`` at the pure epsilon.
        """
        known = self._family
        ratio = quotient_up(known.total_shift(check_sensitivity(sensitivity)), self.sigma)
        distance = check_distance(distance)
        if self.ball is not None or not known.constant_normaliser:
            return restricted_laplace_guarantee(ratio, distance)
        return laplace_guarantee(ratio, known.score_dim, distance, flat=known.is_flat)

    def expected_distance(self) -> float:
        """Mean distance between footpoint and draw; see :meth:`error_quantile`.

        Exact without a ball; restricted to one, an upper bound for all footpoints of it.
        """
        return super().expected_distance()

    def error_quantile(self, q: float) -> float:
        """Quantile of the distance; see :meth:`Mechanism.error_quantile`.

        Restricted to a ball it is an upper bound for every footpoint of the ball: the ball is
        convex, so along each direction the radial density is cut at some distance of at most the
        diameter, and cutting it there makes distances no longer. On affine-invariant matrices the
        bound takes the fastest growth of volume along any direction. A ball beyond an open
        hemisphere is not convex, and an ``UnsupportedBallError``.
        """
        return super().error_quantile(q)

    @functools.cached_property
    def _law(self) -> Law:
        if self.ball is None:
            return super()._law
        return find_sampler(self.sampler).wrap(self._restricted)

    @functools.cached_property
    def _restricted(self) -> RestrictedLaw:
        assert self.ball is not None
        return self._family.restricted(self.ball, self.sigma)
