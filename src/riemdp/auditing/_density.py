"""Whether a density ratio exceeds a claimed pure epsilon anywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import count
from riemdp._errors import InvalidParameterError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.auditing._claims import Claim, pure_epsilon
from riemdp.auditing._scores import LogLikelihoodRatio, log_ratio
from riemdp.noise import resolve_generator
from riemdp.privacy import check_claim
from riemdp.research._sample import sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Rounding that a log density ratio is forgiven.
_ALLOWANCE = 1e-7
#: Points of the geodesic through both footpoints, in multiples of their distance.
_STEPS = np.concatenate([np.linspace(-2.0, 3.0, 201), [-30.0, -10.0, -5.0, 6.0, 11.0, 31.0]])


@dataclass(frozen=True, eq=False)
class DensityAudit(ArrayFields):
    """The largest log density ratio that was found.

    Parameters
    ----------
    claimed : float
        The pure epsilon that was held against it.
    largest : float
        Largest ``|log p(x | dataset) - log p(x | neighbour)|``, of the densities as computed.
    point : ndarray, shape (*point_shape,)
        Where.
    points : int
        Points that were looked at.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import audit_density_ratio
    >>> law, seeded = riemdp.RiemannianLaplace(riemdp.Euclidean(1), 0.5), np.random.default_rng(0)
    >>> result = audit_density_ratio(law, [0.0], [1.0], riemdp.PureDP(2.0), generator=seeded)
    >>> result.verdict, round(result.largest, 3)
    ('consistent', 2.0)
    """

    claimed: float
    largest: float
    point: FloatArray = field(repr=False)
    points: int

    def __post_init__(self) -> None:
        self._seal()

    @property
    def verdict(self) -> Literal["consistent", "violated"]:
        """``"violated"`` if the ratio exceeds the claim by more than rounding."""
        allowed = self.claimed + _ALLOWANCE * max(1.0, self.claimed)
        return "violated" if not self.largest <= allowed else "consistent"


@with_advice
@work("audit_density_ratio")
def audit_density_ratio(
    mechanism: Any,
    dataset: ArrayLike,
    neighbour: ArrayLike,
    claim: Claim,
    *,
    samples: int = 2000,
    points: ArrayLike | None = None,
    generator: np.random.Generator | None = None,
) -> DensityAudit:
    """Look for an output whose densities under two footpoints differ by more than claimed.

    The points are draws from both laws, the geodesic through both footpoints and beyond, as far as
    the antipodes on spheres, and those of the caller. The densities are taken at their word:
    whether draws follow them is what :func:`riemdp.auditing.audit_sampler` asks.

    Parameters
    ----------
    mechanism : Mechanism
        Or anything with ``sample``, ``log_density`` and ``manifold``.
    dataset, neighbour : array_like, shape (*point_shape,)
        The two footpoints.
    claim : PureDP, or another claim with a finite pure epsilon
    samples : int, default 2000
        Draws from each law.
    points : array_like, shape (N, *point_shape), optional
        More points to look at.
    generator : numpy.random.Generator, optional

    Returns
    -------
    DensityAudit

    Raises
    ------
    InvalidParameterError
        If the claim has no finite pure epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import audit_density_ratio
    >>> law = riemdp.RiemannianLaplace(riemdp.Euclidean(2), 0.5)
    >>> result = audit_density_ratio(
    ...     law, [0.0, 0.0], [1.0, 0.0], riemdp.PureDP(1.0), generator=np.random.default_rng(0)
    ... )
    >>> result.verdict  # it is PureDP(2)
    'violated'
    """
    claim = check_claim(claim)
    epsilon = pure_epsilon(claim)
    if not math.isfinite(epsilon):
        raise InvalidParameterError(
            f"a density ratio is held against a pure epsilon, which {claim} does not have; use "
            "audit, or a claim such as PureDP"
        )
    manifold = mechanism.manifold
    first, second = manifold.validate(dataset), manifold.validate(neighbour)
    samples = count(samples, "samples")
    generator = resolve_generator(generator)
    parts = [sample(mechanism, point, samples, generator) for point in (first, second)]
    parts.append(_geodesic(manifold, first, second))
    if points is not None:
        parts.append(manifold.validate(points))
    everything = np.concatenate(parts)
    densities = LogLikelihoodRatio(mechanism, first, second).log_densities(everything)
    ratio = np.abs(log_ratio(*densities))
    worst = int(np.argmax(ratio))
    return DensityAudit(epsilon, float(ratio[worst]), everything[worst], len(everything))


def _geodesic(manifold: Any, first: FloatArray, second: FloatArray) -> FloatArray:
    """Points of the geodesic through two others, as far as coordinates reach."""
    tangent = manifold.tangent_coordinates(first, manifold.log(first, second))
    length = float(np.linalg.norm(tangent))
    reach = manifold.injectivity_radius
    steps = _STEPS[np.abs(_STEPS) * length < min(reach, 10.0)]
    if length < reach < math.inf:  # the farthest points from the second and from the first
        steps = np.append(steps, [1.0 - reach / length, reach / length])
    return np.asarray(manifold.exp(first, manifold.tangent_vector(first, steps[:, None] * tangent)))
