"""Noise laid out along the manifold: the Riemannian Gaussian mechanism."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, final

from riemdp._part import register
from riemdp.manifolds import SPDAffineInvariant
from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.mechanisms._isotropic import isotropic_curve, isotropic_scales, least_noise
from riemdp.mechanisms._laws import (
    ExactLaw,
    Sampler,
    check_sampler,
    drawn_law,
    exact_law,
    is_flat,
    law_proofs,
    space_form,
)
from riemdp.mechanisms._mechanism import Mechanism, check_manifold, enough_noise
from riemdp.mechanisms._rao import (
    gaussian_guarantee,
    isotropic_guarantee,
)
from riemdp.noise import RadialLaw
from riemdp.noise._metropolis import MetropolisLaw
from riemdp.privacy import (
    AffineInvariantGaussianCurve,
    GaussianCurve,
    RaoDP,
    affine_invariant_sigma,
    affordable_mu,
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
    from riemdp.privacy import Budget, IsotropicCurve


@final
@register
@dataclass(frozen=True)
class RiemannianGaussian(Mechanism):
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
    sampler : {"exact", "metropolis"}, default "exact"
        ``"metropolis"`` draws from a chain that only approximates the law, on any manifold;
        :attr:`proven` is then false and everything stated is about the law itself.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite.
    NotAttainableError
        If an exact draw would take more than about a minute (large matrices).
    UnsupportedManifoldError
        On other manifolds, unless draws come from a chain; :meth:`privacy` there.

    References
    ----------
    Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds", NeurIPS 2023;
    docs/proofs/riemannian-gaussian.md, docs/proofs/isotropic-curve.md,
    docs/proofs/affine-invariant-gaussian.md
    """

    sampler: Sampler = field(default="exact", kw_only=True)

    name: ClassVar[str] = "riemannian-gaussian"
    proof: ClassVar[str | None] = "docs/proofs/riemannian-gaussian.md"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sampler(self.sampler)
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
        sampler: Sampler = "exact",
    ) -> Self:
        """Mechanism with the least ``sigma`` for the budget.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : ApproxDP, GDP, ZCDP, RaoDP or, on spheres and circles, PureDP
            ApproxDP and GDP are met by the law's own curve, PureDP by its largest privacy loss,
            other definitions through a ``mu`` or a pure epsilon that implies them, and so are all
            on affine-invariant matrices from size 3 on. For RaoDP on curved spaces the scale has
            the parametric distance ``theta``, which bounds the angle.
        sampler : {"exact", "metropolis"}, default "exact"

        Returns
        -------
        RiemannianGaussian

        Raises
        ------
        InvalidBudgetError
            For PureDP on unbounded spaces.
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
            On curved spaces beyond dimension 64, for budgets other than RaoDP.
        """
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)
        build = functools.partial(cls, manifold, sampler=sampler)
        form = space_form("gaussian", manifold)
        if form is None and isinstance(manifold, SPDAffineInvariant):
            sigma = affine_invariant_sigma(manifold.k, sensitivity, affordable_mu(budget))
        elif is_flat(manifold):
            sigma = sensitivity / affordable_mu(budget)
        else:
            scales = isotropic_scales("gaussian", manifold, sensitivity, budget)
            return least_noise(build, scales, sensitivity, budget)
        return enough_noise(build, sigma, sensitivity, budget)

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
        if isinstance(self._law, MetropolisLaw):
            return super().sample_from_coordinates(coordinates, ball, generator)
        return self._law.sample_from_coordinates(coordinates, ball, generator=generator)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """Log density in Riemannian volume; see :meth:`Mechanism.log_density`."""
        return self._target.log_density(point, footpoint)

    def privacy(
        self, sensitivity: float
    ) -> GaussianCurve | IsotropicCurve | AffineInvariantGaussianCurve:
        """Curve of the law: ``sensitivity / sigma``-GDP on spaces isometric to R^d.

        On affine-invariant matrices from size 3 on an upper bound of it.

        Raises
        ------
        InvalidParameterError
            If the sensitivity is not positive, or not below the largest distance of a sphere.
        NotAttainableError
            If nothing is proved: affine-invariant matrices from size 3 on with ``sigma`` of
            ``sqrt(12 / k)`` or more.
        UnsupportedManifoldError
            On other curved spaces beyond dimension 64.

        References
        ----------
        docs/proofs/isotropic-curve.md, docs/proofs/affine-invariant-gaussian.md
        """
        sensitivity = check_sensitivity(sensitivity)
        if is_flat(self.manifold):
            return GaussianCurve(quotient_up(sensitivity, self.sigma))
        if isinstance(self.manifold, SPDAffineInvariant) and self.manifold.k > 2:
            return AffineInvariantGaussianCurve(self.manifold.k, self.sigma, sensitivity)
        return isotropic_curve("gaussian", self.manifold, self.sigma, sensitivity)

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy; see :meth:`Mechanism.rao`.

        Parametric: ``sensitivity sqrt(E[dist^2] / dim) / sigma^2`` on every space of constant
        curvature. Angle: ``cos(angle/2) = exp(-(sensitivity/sigma)^2 / 8)`` on R^d, else bounded
        by the parametric distance. On affine-invariant matrices of size 2 as on the hyperbolic
        plane of curvature -1/2; from size 3 on as on R^d with ``mu`` for ``sensitivity/sigma``.
        """
        sensitivity, distance = check_sensitivity(sensitivity), check_distance(distance)
        if is_flat(self.manifold):
            return gaussian_guarantee(quotient_up(sensitivity, self.sigma), distance)
        form = space_form("gaussian", self.manifold)
        if form is None:
            return gaussian_guarantee(self.privacy(sensitivity).mu(), distance)
        law = RadialLaw("gaussian", form.dim, form.curvature, self.sigma, form.upper)
        return isotropic_guarantee(law, sensitivity, distance)

    @functools.cached_property
    def _law(self) -> ExactLaw | MetropolisLaw:
        return drawn_law("gaussian", self.manifold, self.sigma, self.sampler)

    @functools.cached_property
    def _target(self) -> ExactLaw:
        return exact_law("gaussian", self.manifold, self.sigma)

    @property
    def _distance_law(self) -> DistanceLaw:
        return self._target.radial
