"""Riemannian Laplace and Gaussian laws on manifolds of constant curvature."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._potential import Kind, potential
from riemdp.noise._law import Law
from riemdp.noise._polar import check_onto, constant_curvature, is_onto
from riemdp.noise._radial import RadialLaw
from riemdp.noise.exact._flat import FlatDraw
from riemdp.noise.exact._space_form import SpaceFormDraw
from riemdp.spaces import check_broadcast

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.noise.exact._draw import ExactDraw
    from riemdp.spaces import FloatArray, Manifold


@dataclass(frozen=True)
class IsotropicLaw(Law):
    """Law with density proportional to ``exp(-U(dist(x, footpoint)))`` in Riemannian volume.

    ``U(r) = r / sigma`` for the Riemannian Laplace law and ``r^2 / (2 sigma^2)`` for the
    Riemannian Gaussian. The normaliser does not depend on the footpoint.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Manifold
        Space of constant curvature.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``kind`` is unknown or ``sigma`` not positive and finite.
    NotAttainableError
        If the Laplace law has no normaliser at this ``sigma`` (hyperbolic spaces).
    UnsupportedManifoldError
        If the curvature is not constant.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3 (Laplace); Jiang et al., "Gaussian Differential Privacy on Riemannian Manifolds",
    NeurIPS 2023 (Gaussian).

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.noise import IsotropicLaw
    >>> law = IsotropicLaw("laplace", riemdp.Hyperbolic(2), 0.3)
    >>> f"{law.radial.mean():.4f}"
    '0.6593'
    """

    kind: Kind
    manifold: Manifold
    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", self.radial.sigma)

    @functools.cached_property
    def radial(self) -> RadialLaw:
        """Law of the distance between footpoint and draw."""
        return RadialLaw(
            kind=self.kind,
            dim=self.manifold.dim,
            curvature=constant_curvature(self.manifold),
            sigma=self.sigma,
            upper=self.manifold.injectivity_radius,
        )

    @property
    def exact_radial(self) -> bool:
        """Not where draws leave the space and are moved back: no farther than they were."""
        return is_onto(self.manifold)

    def exact_draw(self, reach: float | None = None) -> ExactDraw:  # noqa: ARG002
        """See :meth:`Law.exact_draw`."""
        law = self.radial
        if law.curvature == 0.0 and math.isinf(law.upper):
            return FlatDraw(self.kind, law.dim, self.sigma)
        # A sphere, a circle (whose curvature here is not that of its law) or a hyperbolic space.
        manifold: Any = self.manifold
        return SpaceFormDraw(self.kind, law.dim, manifold.curvature, self.sigma)

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """See :meth:`Law.log_density`."""
        check_onto(self.manifold)
        footpoint, point = self.manifold.validate(footpoint), self.manifold.validate(point)
        check_broadcast(point, footpoint, len(self.manifold.point_shape))
        dist = self.manifold.dist(footpoint, point)
        penalty = potential(self.kind).energy(dist / self.sigma)
        return np.asarray(-penalty - self.radial.log_normaliser())
