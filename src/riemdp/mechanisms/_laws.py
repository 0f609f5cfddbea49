"""The Riemannian Laplace and Gaussian laws on each space, and what is known of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import scipy

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp._part import registered
from riemdp.manifolds import Manifold, SPDAffineInvariant
from riemdp.noise import AffineInvariantLaw, IsotropicLaw
from riemdp.noise._metropolis import MetropolisLaw
from riemdp.noise._polar import constant_curvature
from riemdp.noise._sinh_envelope import growth_rate

Kind = Literal["laplace", "gaussian"]
Sampler = Literal["exact", "metropolis"]
ExactLaw = IsotropicLaw | AffineInvariantLaw

#: Logarithms of matrices up to this long survive in float64 until a ball has cut them.
_REACH = 424.0
#: Share of draws farther out that is put up with.
_RARE = 1e-9


@dataclass(frozen=True)
class SpaceForm:
    """A space of constant curvature.

    Attributes
    ----------
    dim : int
    curvature : float
    upper : float
        Injectivity radius.
    """

    dim: int
    curvature: float
    upper: float


def check_sampler(sampler: object) -> None:
    """Raise ``InvalidParameterError`` for a name of no sampler."""
    if not is_one_of(sampler, ("exact", "metropolis")):
        raise InvalidParameterError(
            f'sampler must be "exact" or "metropolis", got {shown(sampler)}'
        )


def law_proofs(manifold: Manifold, sampler: Sampler) -> dict[str, str | None]:
    """Where it is proved that draws follow the law, beyond the mechanism's own note.

    Nowhere, of a chain, and where the law was inferred from what a manifold of another library
    says about its curvature.
    """
    if sampler != "exact":
        return {f"sampler {sampler}": None}
    ours = type(manifold) is registered(Manifold.sort).get(manifold.name)
    return {} if ours else {f"law on {manifold.name}": None}


def drawn_law(
    kind: Kind, manifold: Manifold, sigma: float, sampler: Sampler
) -> ExactLaw | MetropolisLaw:
    """Law that a mechanism draws from: :func:`exact_law`, or a chain that approximates it.

    Raises
    ------
    NotAttainableError
        If there is no normaliser, or an exact draw would take more than about a minute or often
        leave float64. Nothing has been drawn, or charged to an account, by then.
    UnsupportedManifoldError
        As :func:`exact_law`; a chain runs everywhere.
    """
    if sampler != "exact":
        return MetropolisLaw(kind, manifold, sigma)
    law = exact_law(kind, manifold, sigma)
    if isinstance(law, AffineInvariantLaw):
        law.check_drawable()
        if law.manifold.k > 1 and (reach := farthest(law)) > _REACH:
            raise NotAttainableError(
                f"draws of the {kind} law with sigma = {sigma:g} on {manifold} reach distances of "
                f"{reach:.3g}, too far for float64, which holds {_REACH:g}; use a smaller sigma "
                "(more data, a smaller ball, a larger budget) or a tangent mechanism "
                '("tangent-gaussian", "tangent-laplace")'
            )
    return law


def farthest(law: AffineInvariantLaw) -> float:
    """Distance that at most about one draw in 1e9 exceeds where the noise is wide.

    By the drifting normal variables of the sampler (docs/proofs/affine-invariant-sampler, scheme
    "ordered"): log-eigenvalues ``t delta + sqrt(t) z`` at a time t.
    """
    k, growth = law.manifold.k, growth_rate(law.manifold.k)
    time = law.sigma**2
    if law.kind == "laplace":
        rate = 0.5 * (1.0 / law.sigma - growth) * (1.0 / law.sigma + growth)
        time = float(scipy.special.gammainccinv(0.5 * (k + 1), _RARE)) / rate
    spread = math.sqrt(k) + math.sqrt(-2.0 * math.log(_RARE))
    return time * growth + math.sqrt(time) * spread


def has_law(manifold: Manifold) -> bool:
    """Whether :func:`exact_law` knows the space."""
    return isinstance(manifold, SPDAffineInvariant) or manifold.constant_curvature is not None


def exact_law(kind: Kind, manifold: Manifold, sigma: float) -> ExactLaw:
    """Law with an exact sampler, a density and known distances.

    Raises
    ------
    NotAttainableError
        If the Laplace law has no normaliser at this ``sigma``.
    UnsupportedManifoldError
        On other spaces than those of constant curvature and ``SPDAffineInvariant``.
    """
    if isinstance(manifold, SPDAffineInvariant):
        return AffineInvariantLaw(kind, manifold, sigma)
    return IsotropicLaw(kind, manifold, sigma)


def space_form(kind: Kind, manifold: Manifold) -> SpaceForm | None:
    """Space of constant curvature whose noise has the privacy curve of that on ``manifold``.

    The space itself where its curvature is constant. Positive numbers are a line; the Gaussian on
    2 x 2 matrices has the curve of the hyperbolic plane of curvature -1/2
    (docs/proofs/affine-invariant-gaussian.md, claim 1). None elsewhere.

    Raises
    ------
    UnsupportedManifoldError
        Where :func:`exact_law` raises it.
    """
    if not isinstance(manifold, SPDAffineInvariant):
        return SpaceForm(manifold.dim, constant_curvature(manifold), manifold.injectivity_radius)
    if manifold.k == 1:
        return SpaceForm(1, 0.0, math.inf)
    if manifold.k == 2 and kind == "gaussian":
        return SpaceForm(2, -0.5, math.inf)
    return None


def is_flat(manifold: Manifold) -> bool:
    """Whether the manifold is isometric to R^d."""
    if isinstance(manifold, SPDAffineInvariant):
        return manifold.k == 1
    return manifold.constant_curvature == 0.0 and math.isinf(manifold.injectivity_radius)


def volume_growth(manifold: Manifold) -> float:
    """Rate at which volume grows exponentially with the distance; 0 without negative curvature.

    The Laplace law has a normaliser for ``sigma`` below ``1 / volume_growth``.
    """
    if isinstance(manifold, SPDAffineInvariant):
        return growth_rate(manifold.k)
    return (manifold.dim - 1) * math.sqrt(max(0.0, -manifold.curvature_bound))


def score_dim(manifold: Manifold) -> int:
    """Dimension among which the Laplace law's Fisher information ``1/sigma^2`` is divided.

    All of them where every direction is alike. On affine-invariant matrices they are not, and it
    is bounded as if it lay in one (docs/proofs/rao.md, claim 7).
    """
    return 1 if isinstance(manifold, SPDAffineInvariant) else manifold.dim
