"""Families of noise of spaces of constant curvature, and what all of this library share."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from riemdp._errors import UnsupportedManifoldError
from riemdp._radial_profile import volume_growth
from riemdp.noise._family import Family, SpaceForm
from riemdp.noise._fisher import fisher_information
from riemdp.noise._isotropic import IsotropicLaw
from riemdp.noise._law import Law
from riemdp.noise._polar import constant_curvature
from riemdp.noise._radial import RadialLaw
from riemdp.noise._rules import rule
from riemdp.privacy import (
    GaussianCurve,
    IsotropicCurve,
    LaplaceCurve,
    PureCurve,
    on_grid,
    quotient_up,
    score_bound,
    up,
)
from riemdp.spaces import FlatManifold, Hyperbolic, Sphere

if TYPE_CHECKING:
    from riemdp._potential import Kind
    from riemdp.privacy import PrivacyCurve

#: Dimension up to which the integrals of the privacy curves are checked.
LARGEST_DIM = 1000
#: Relative error allowed for in integrals.
_QUADRATURE_ERROR = 1e-12


def has_curve(family: Family, sensitivity: float) -> bool:
    """Whether :func:`isotropic_curve` is available.

    Parameters
    ----------
    family : Family
    sensitivity : float

    Returns
    -------
    bool
    """
    form = family.form
    return form is not None and form.dim <= LARGEST_DIM and sensitivity < form.upper


def isotropic_curve(family: Family, sigma: float, sensitivity: float) -> IsotropicCurve:
    """Curve of the law, where that is the curve of a space form. Cached: it keeps its ``mu``.

    On R^d it is a function of ``sensitivity / sigma``, of which a larger one covers less privacy:
    it is evaluated at that ratio rounded up to a grid, so that scales which are multiples of their
    sensitivities have one curve (docs/proofs/isotropic-curve.md, claim 9).

    Parameters
    ----------
    family : Family
    sigma, sensitivity : float

    Returns
    -------
    IsotropicCurve

    Raises
    ------
    UnsupportedManifoldError
        Beyond dimension 1000, and on affine-invariant matrices but for the Gaussian up to size 2.
    InvalidParameterError
        If the sensitivity is not below the largest distance on a sphere.
    NotAttainableError
        If the law has no normaliser.
    """
    form, manifold = family.form, family.manifold
    if form is None:
        raise UnsupportedManifoldError(
            f"the privacy curve of the {family.kind} law on {manifold} is not known; its pure "
            "epsilon (Laplace) or a bound of its mu (Gaussian) is"
        )
    if form.dim > LARGEST_DIM:
        raise UnsupportedManifoldError(
            f"the privacy curve is computed up to dimension {LARGEST_DIM}, not on {manifold}; use "
            'RiemannianLaplace ("riemannian-laplace", pure epsilon) or TangentGaussian at a '
            'public base point ("tangent-gaussian")'
        )
    if family.is_flat:
        sigma, sensitivity = 1.0, on_grid(quotient_up(sensitivity, sigma), up=True)
    return _curve(family.kind, form, sigma, sensitivity)


@functools.lru_cache(maxsize=32)
def _curve(kind: Kind, form: SpaceForm, sigma: float, sensitivity: float) -> IsotropicCurve:
    return IsotropicCurve(kind, form.dim, form.curvature, sigma, sensitivity, form.upper)


class Own(Family):
    """A family of this library, which the notes of the mechanisms cover."""

    def proofs(self) -> dict[str, str | None]:
        """Return what is not proved; the rest is in the note of the mechanism."""
        return {name: proof for name, proof in super().proofs().items() if proof is None}

    @functools.cached_property
    def constant_normaliser(self) -> str | None:
        """Of homogeneous spaces, not of one that has been changed."""
        return None if self.proofs() else "docs/proofs/riemannian-laplace.md"

    @property
    def invariance(self) -> str | None:
        """The density is a function of the distance, not so on a space that has been changed."""
        return None if self.proofs() else "docs/proofs/quotients.md"


class LaplaceFamily(Own):
    """Laplace noise: pure ``sensitivity / sigma``-DP by the triangle inequality, or better."""

    def curve(self, sigma: float, sensitivity: float) -> PrivacyCurve:
        """Curve of the space form, where there is one; else the worst with this epsilon."""
        epsilon = self.triangle_epsilon(sigma, sensitivity)
        if not (self.constant_normaliser and has_curve(self, sensitivity)):
            return PureCurve(epsilon)
        if self.is_flat and self.manifold.dim == 1:
            return LaplaceCurve(epsilon)
        return isotropic_curve(self, sigma, sensitivity)


class GaussianFamily(Own):
    """Gaussian noise."""

    def slope(self, sigma: float) -> float:
        """Of the score, on spaces of constant curvature (docs/proofs/isotropic-curve.md)."""
        form = self.form
        if self.is_flat:
            return quotient_up(1.0, sigma)
        if form is None or form.dim > LARGEST_DIM:
            return super().slope(sigma)
        return score_bound("gaussian", form.dim, form.curvature, sigma, 1.0, form.upper)

    def curve(self, sigma: float, sensitivity: float) -> PrivacyCurve:
        """``sensitivity / sigma``-GDP on flat spaces, else the curve of the space form."""
        if self.is_flat:
            return GaussianCurve(quotient_up(sensitivity, sigma))
        return isotropic_curve(self, sigma, sensitivity)

    def length(self, sigma: float, sensitivity: float) -> float:
        """By the Fisher information of the law of the distance (docs/proofs/rao.md)."""
        form = self.form
        if form is None:
            return super().length(sigma, sensitivity)
        if self.is_flat:
            return quotient_up(sensitivity, sigma)
        law = RadialLaw("gaussian", form.dim, form.curvature, sigma, form.upper)
        return up(sensitivity * math.sqrt(fisher_information(law)), _QUADRATURE_ERROR)


class _SpaceForms(Family):
    """Spaces of constant curvature, where every direction is alike."""

    is_isotropic = True

    def law(self, sigma: float) -> Law:
        """See :meth:`Family.law`."""
        return IsotropicLaw(self.kind, self.manifold, sigma)

    @functools.cached_property
    def form(self) -> SpaceForm:
        """The space itself."""
        manifold = self.manifold
        return SpaceForm(manifold.dim, constant_curvature(manifold), manifold.injectivity_radius)

    @property
    def is_flat(self) -> bool:
        """Whether the manifold is isometric to R^d."""
        return self.form.curvature == 0.0 and math.isinf(self.form.upper)

    @property
    def growth(self) -> float:
        """``(dim - 1) sqrt(-curvature)``."""
        form = self.form
        return volume_growth(form.dim, form.curvature)

    @property
    def score_dim(self) -> int:
        """All dimensions."""
        return self.manifold.dim


@rule("laplace", FlatManifold, Sphere, Hyperbolic)
class SpaceFormLaplace(_SpaceForms, LaplaceFamily):
    """Laplace noise on spaces of constant curvature."""

    proof = "docs/proofs/riemannian-laplace.md"


@rule("gaussian", FlatManifold, Sphere, Hyperbolic)
class SpaceFormGaussian(_SpaceForms, GaussianFamily):
    """Gaussian noise on spaces of constant curvature."""

    proof = "docs/proofs/riemannian-gaussian.md"
