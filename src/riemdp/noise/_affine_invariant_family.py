"""Families of noise of symmetric positive definite matrices with the affine-invariant metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp.noise._affine_invariant import AffineInvariantLaw
from riemdp.noise._family import Family, SpaceForm
from riemdp.noise._rules import rule
from riemdp.noise._spaces import GaussianFamily, LaplaceFamily
from riemdp.noise._volume_series import growth_rate
from riemdp.privacy import (
    AffineInvariantGaussianCurve,
    affine_invariant_sigma,
    affine_invariant_slope,
    up,
)
from riemdp.spaces import SPDAffineInvariant

if TYPE_CHECKING:
    from riemdp.noise._law import Law
    from riemdp.privacy import PrivacyCurve


class _AffineInvariant(Family):
    """Symmetric positive definite matrices with the affine-invariant metric."""

    manifold: SPDAffineInvariant

    def law(self, sigma: float) -> Law:
        """See :meth:`Family.law`."""
        return AffineInvariantLaw(self.kind, self.manifold, sigma)

    @property
    def is_flat(self) -> bool:
        """Of positive numbers, which are a line."""
        return self.manifold.k == 1

    @property
    def growth(self) -> float:
        """``sqrt(k (k^2 - 1) / 12)``."""
        return growth_rate(self.manifold.k)


@rule("laplace", SPDAffineInvariant)
class AffineInvariantLaplace(_AffineInvariant, LaplaceFamily):
    """Laplace noise on symmetric positive definite matrices."""

    proof = "docs/proofs/riemannian-laplace.md"

    @property
    def form(self) -> SpaceForm | None:
        """A line for positive numbers."""
        return SpaceForm(1, 0.0, math.inf) if self.is_flat else None


@rule("gaussian", SPDAffineInvariant)
class AffineInvariantGaussian(_AffineInvariant, GaussianFamily):
    """Gaussian noise on symmetric positive definite matrices."""

    proof = "docs/proofs/affine-invariant-gaussian.md"

    @property
    def form(self) -> SpaceForm | None:
        """A line for positive numbers, for size 2 the hyperbolic plane of curvature -1/2.

        See docs/proofs/affine-invariant-gaussian.md, claim 1.
        """
        if self.is_flat:
            return SpaceForm(1, 0.0, math.inf)
        return SpaceForm(2, -0.5, math.inf) if self.manifold.k == 2 else None

    def curve(self, sigma: float, sensitivity: float) -> PrivacyCurve:
        """See :meth:`Family.curve`; from size 3 on an upper bound of it."""
        if self.form is None:
            return AffineInvariantGaussianCurve(self.manifold.k, sigma, sensitivity)
        return super().curve(sigma, sensitivity)

    def length(self, sigma: float, sensitivity: float) -> float:
        """``mu``, which is proportional to the distance, where there is no space form."""
        if self.form is not None:
            return super().length(sigma, sensitivity)
        return AffineInvariantGaussianCurve(self.manifold.k, sigma, sensitivity).mu()

    def slope(self, sigma: float) -> float:
        """In closed form from size 3 on; ``inf`` where nothing is proved at this scale."""
        if self.form is not None:
            return super().slope(sigma)
        return up(affine_invariant_slope(self.manifold.k, sigma))

    def mu_scale(self, sensitivity: float, mu: float) -> float:
        """In closed form."""
        return affine_invariant_sigma(self.manifold.k, sensitivity, mu)
