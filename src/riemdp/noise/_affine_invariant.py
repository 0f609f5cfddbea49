"""Riemannian Laplace and Gaussian laws on SPD matrices with the affine-invariant metric."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import NotAttainableError
from riemdp._potential import Kind, potential
from riemdp.noise._affine_invariant_radial import AffineInvariantRadial
from riemdp.noise._law import Law
from riemdp.noise._radial import check_sigma
from riemdp.noise._volume_series import growth_rate
from riemdp.noise.exact._affine_invariant import AffineInvariantDraw as RoundedDraw
from riemdp.noise.exact._flat import FlatDraw
from riemdp.spaces import as_affine_invariant, check_broadcast

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.noise.exact._draw import ExactDraw
    from riemdp.spaces import FloatArray, SPDAffineInvariant

#: Logarithms of matrices up to this long survive in float64 until a ball has cut them.
_REACH = 424.0
#: Share of draws farther out that is put up with.
_RARE = 1e-9


@dataclass(frozen=True)
class AffineInvariantLaw(Law):
    """Law with density proportional to ``exp(-U(dist(x, footpoint)))`` in Riemannian volume.

    ``U(r) = r / sigma`` for the Riemannian Laplace law and ``r^2 / (2 sigma^2)`` for the
    Riemannian Gaussian; distance and volume belong to the metric ``tr(P^-1 U P^-1 V)``. The
    normaliser does not depend on the footpoint.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : SPDAffineInvariant
        Space of k x k matrices.
    sigma : float
        Scale, in units of geodesic distance.

    Raises
    ------
    InvalidParameterError
        If ``kind`` is unknown or ``sigma`` not positive and finite.
    NotAttainableError
        For the Laplace law unless ``sigma < sqrt(12 / (k (k^2 - 1)))``: no normaliser exists.
    UnsupportedManifoldError
        If the manifold is another one.

    References
    ----------
    Reimherr, Bharath, Soto, "Differential Privacy over Riemannian Manifolds", NeurIPS 2021,
    Definition 3 (Laplace); Said et al., "Riemannian Gaussian distributions on the space of
    symmetric positive definite matrices", IEEE Trans. Inf. Theory 63(4), 2017 (Gaussian). The
    sampler and the normaliser: docs/proofs/affine-invariant-sampler.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.noise import AffineInvariantLaw
    >>> law = AffineInvariantLaw("gaussian", riemdp.SPDAffineInvariant(2), 0.5)
    >>> f"{law.radial.mean():.4f}"
    '0.8090'
    """

    kind: Kind
    manifold: SPDAffineInvariant
    sigma: float

    def __post_init__(self) -> None:
        as_affine_invariant(self.manifold, "IsotropicLaw serves spaces of constant curvature")
        potential(self.kind)  # which has to be known
        object.__setattr__(self, "sigma", check_sigma(self.sigma))
        _ = self.radial  # checks the rest

    def exact_draw(self, reach: float | None = None) -> ExactDraw:
        """See :meth:`Law.exact_draw`; size 1 is a line."""
        if self.manifold.k == 1:
            return FlatDraw(self.kind, 1, self.sigma)
        return RoundedDraw(self.kind, self.manifold.k, self.sigma, reach=reach)

    @property
    def radial(self) -> AffineInvariantRadial:
        """Law of the distance between footpoint and draw."""
        return _radial(self.kind, self.manifold.k, self.sigma)

    def check_drawable(self) -> None:
        """Raise ``NotAttainableError`` if a draw takes over a minute, or many leave float64."""
        if self.manifold.k > 1 and (reach := self._farthest()) > _REACH:
            raise NotAttainableError(
                f"draws of the {self.kind} law with sigma = {self.sigma:g} on {self.manifold} "
                f"reach distances of {reach:.3g}, too far for float64, which holds {_REACH:g}; use "
                "a smaller sigma (more data, a smaller ball, a larger budget) or a tangent "
                'mechanism ("tangent-gaussian", "tangent-laplace")'
            )
        self.exact_draw().check_drawable()

    def _farthest(self) -> float:
        """Distance that at most about one draw in 1e9 exceeds where the noise is wide.

        By the drifting normal variables of the sampler (docs/proofs/affine-invariant-sampler,
        scheme "ordered"): log-eigenvalues ``t delta + sqrt(t) z`` at a time t.
        """
        k, growth = self.manifold.k, growth_rate(self.manifold.k)
        time = potential(self.kind).farthest_time(self.sigma, k, growth, _RARE)
        spread = math.sqrt(k) + math.sqrt(-2.0 * math.log(_RARE))
        return time * growth + math.sqrt(time) * spread

    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        """See :meth:`Law.log_density`."""
        footpoint, point = self.manifold.validate(footpoint), self.manifold.validate(point)
        check_broadcast(point, footpoint, 2)
        penalty = potential(self.kind).energy(self.manifold.dist(footpoint, point) / self.sigma)
        return np.asarray(-penalty - self.radial.log_normaliser())


@functools.lru_cache(maxsize=64)
def _radial(kind: Kind, k: int, sigma: float) -> AffineInvariantRadial:
    """Law of the distance with what it has computed, shared by laws of the same numbers."""
    return AffineInvariantRadial(kind, k, sigma)
