"""Noise laid out along the manifold: the Riemannian Laplace mechanism."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, final

from riemdp._part import register
from riemdp.manifolds import check_manifold
from riemdp.mechanisms._additive import RiemannianMechanism
from riemdp.mechanisms._calibration import check_sensitivity, enough_noise
from riemdp.mechanisms._isotropic import isotropic_scales, least_noise
from riemdp.mechanisms._rao import (
    laplace_guarantee,
    restricted_laplace_guarantee,
    restricted_laplace_ratio,
)
from riemdp.noise import family
from riemdp.privacy import RaoDP, check_distance, quotient_up

if TYPE_CHECKING:
    from typing import Self

    from riemdp.manifolds import Manifold
    from riemdp.noise import Kind
    from riemdp.privacy import Budget, PrivacyCurve


@final
@register
@dataclass(frozen=True)
class RiemannianLaplace(RiemannianMechanism):
    """Riemannian Laplace mechanism, density proportional to ``exp(-dist(x, footpoint) / sigma)``.

    Pure ``sensitivity / sigma``-DP: the normaliser is the same at every footpoint of a homogeneous
    space, and the triangle inequality bounds the rest. On spaces of constant curvature its
    (epsilon, delta) curve and ``mu`` are its own, better than what this epsilon implies.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature, or ``SPDAffineInvariant``.
    sigma : float
        Scale, in units of geodesic distance. On hyperbolic space it must stay under
        ``1 / ((dim - 1) sqrt(-curvature))``, on affine-invariant matrices of size k under
        ``sqrt(12 / (k (k^2 - 1)))``.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.
    NotAttainableError
        If no normaliser exists for this ``sigma``, or a draw would take more than about a minute
        (large matrices).
    UnsupportedManifoldError
        On other manifolds.

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
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "laplace"
    name: ClassVar[str] = "riemannian-laplace"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-laplace.md"

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
    ) -> Self:
        """Mechanism with the least ``sigma`` proved to suffice; see :meth:`Mechanism.calibrate`.

        Parameters
        ----------
        manifold, sensitivity
            As there.
        budget : PureDP, ApproxDP, GDP, ZCDP or RaoDP
            For PureDP ``sigma = sensitivity / epsilon``; ApproxDP and GDP are met by the law's own
            curve, other definitions through a ``mu`` or pure epsilon that implies them. Where
            :meth:`privacy` knows a pure epsilon only, that has to imply the budget; on spaces that
            are not homogeneous ``sigma`` is twice as large. Under parametric RaoDP ``sigma`` is
            ``sensitivity / (theta sqrt(dim))``, without the root if not homogeneous; under an
            angle the least one that is proved, exact on R^d.

        Raises
        ------
        NotAttainableError
            On hyperbolic space and affine-invariant matrices, if the noise would be too wide to
            have a normaliser; the message names the smallest epsilon, delta, mu or theta. Also if
            its draws would take too long.
        """
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)
        build = functools.partial(cls, manifold)
        known = family("laplace", manifold)
        if not known.constant_normaliser:
            sigma = known.total_shift(sensitivity) / restricted_laplace_ratio(budget)
            return enough_noise(build, sigma, sensitivity, budget)
        scales = isotropic_scales(known, sensitivity, budget)
        return least_noise(build, scales, sensitivity, budget)

    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """Curve of the law, whose pure epsilon is ``sensitivity / sigma`` on homogeneous spaces.

        Where it is not computed, beyond dimension 1000, for sensitivities that span a sphere and on
        affine-invariant matrices, the worst curve with this epsilon. On spaces that are not
        homogeneous the worst one with twice this epsilon: the normaliser moves with the footpoint.
        See docs/proofs/isotropic-curve.md.
        """
        return super().privacy(sensitivity)

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``sensitivity / (sigma sqrt(dim))`` exactly, on R^d, spheres and hyperbolic
        spaces alike; on affine-invariant matrices the bound
        ``sensitivity / sigma``. Angle: exact on R^d, else the lesser of the parametric distance and
        ``4 arctan(tanh(epsilon / 4))`` at the pure epsilon.
        """
        known = self._family
        ratio = quotient_up(known.total_shift(check_sensitivity(sensitivity)), self.sigma)
        distance = check_distance(distance)
        if not known.constant_normaliser:
            return restricted_laplace_guarantee(ratio, distance)
        return laplace_guarantee(ratio, known.score_dim, distance, flat=known.is_flat)
