"""Noise laid out along the manifold: the Riemannian Gaussian mechanism."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, final

from riemdp._part import register
from riemdp.manifolds import check_manifold
from riemdp.mechanisms._additive import RiemannianMechanism
from riemdp.mechanisms._calibration import check_sensitivity, enough_noise
from riemdp.mechanisms._isotropic import isotropic_scales, least_noise
from riemdp.mechanisms._rao import gaussian_guarantee, rao_guarantee
from riemdp.noise import family
from riemdp.privacy import RaoDP, affordable_mu, check_distance, quotient_up

if TYPE_CHECKING:
    from typing import Self

    from riemdp.manifolds import Manifold
    from riemdp.noise import Kind
    from riemdp.privacy import Budget


@final
@register
@dataclass(frozen=True)
class RiemannianGaussian(RiemannianMechanism):
    """Riemannian Gaussian, density proportional to ``exp(-dist(x, footpoint)^2 / (2 sigma^2))``.

    On spaces isometric to R^d exactly ``sensitivity / sigma``-GDP; on spheres, circles and
    hyperbolic spaces its privacy curve is a one-dimensional integral. On spheres and circles it
    has a pure epsilon too. On affine-invariant SPD matrices the curve for size 2 is that of a
    hyperbolic plane, and from size 3 on the mechanism is ``mu``-GDP with
    ``mu = sensitivity / (sigma sqrt(1 - k sigma^2 / 12))``. There and on hyperbolic spaces more
    noise stops helping: see docs/negative_curvature_floor.

    Parameters
    ----------
    manifold : Manifold
        Space of constant curvature, or ``SPDAffineInvariant``.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.
    NotAttainableError
        If a draw would take more than about a minute (large matrices).
    UnsupportedManifoldError
        On other manifolds.

    References
    ----------
    Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023;
    docs/proofs/riemannian-gaussian.md, docs/proofs/isotropic-curve.md,
    docs/proofs/affine-invariant-gaussian.md

    Examples
    --------
    >>> import riemdp
    >>> sphere = riemdp.Sphere(2)
    >>> law = riemdp.RiemannianGaussian.calibrate(sphere, 0.01, riemdp.GDP(1.0))
    >>> law.privacy(0.01).mu() <= 1.0
    True
    """

    kind: ClassVar[Kind] = "gaussian"
    name: ClassVar[str] = "riemannian-gaussian"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-gaussian.md"

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
    ) -> Self:
        """Mechanism with the least ``sigma`` for the budget; see :meth:`Mechanism.calibrate`.

        Parameters
        ----------
        manifold, sensitivity
            As there.
        budget : ApproxDP, GDP, ZCDP, RaoDP or, on spheres and circles, PureDP
            ApproxDP and GDP are met by the law's own curve, PureDP by its largest privacy loss,
            other definitions through a ``mu`` or a pure epsilon that implies them, and so are all
            on affine-invariant matrices from size 3 on. For RaoDP on curved spaces the scale has
            the parametric distance ``theta``, which bounds the angle.

        Raises
        ------
        InvalidParameterError
            If the sensitivity is not positive, or (but for RaoDP) not below the largest distance of
            a sphere.
        NotAttainableError
            On hyperbolic spaces, where however wide the noise ``mu`` does not fall under
            :func:`riemdp.privacy.gaussian_floor`, ``delta`` not under
            :func:`riemdp.privacy.delta_floor` and the parametric ``theta`` not under
            ``sensitivity (dim - 1) sqrt(-curvature / dim)``. On affine-invariant matrices of size 2
            as on the hyperbolic plane of curvature -1/2; from size 3 on no ``mu`` under
            ``sensitivity sqrt(k / 3)`` is proved. The message names the floor.
        UnsupportedManifoldError
            On curved spaces beyond dimension 1000, for budgets other than RaoDP.
        """
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)
        build = functools.partial(cls, manifold)
        known = family("gaussian", manifold)
        form = known.form
        if known.is_flat:
            sigma = sensitivity / affordable_mu(budget)
        elif form is None:
            sigma = known.mu_scale(sensitivity, affordable_mu(budget))
        else:
            scales = isotropic_scales(known, sensitivity, budget)
            return least_noise(build, scales, sensitivity, budget)
        return enough_noise(build, sigma, sensitivity, budget)

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``sensitivity sqrt(E[dist^2] / dim) / sigma^2`` on every space of constant
        curvature. Angle: ``cos(angle/2) = exp(-(sensitivity/sigma)^2 / 8)`` on R^d, else bounded
        by the parametric distance. On affine-invariant matrices of size 2 as on the hyperbolic
        plane of curvature -1/2; from size 3 on as on R^d with ``mu`` for ``sensitivity/sigma``.
        """
        sensitivity, distance = check_sensitivity(sensitivity), check_distance(distance)
        known = self._family
        if known.is_flat:
            return gaussian_guarantee(quotient_up(sensitivity, self.sigma), distance)
        if known.form is None and distance == "angle":
            return gaussian_guarantee(self.privacy(sensitivity).mu(), distance)
        return rao_guarantee(distance, parametric=known.length(self.sigma, sensitivity))
