"""Whether the draws of a mechanism follow the law that its guarantee is proved for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import scipy

from riemdp._checks import count
from riemdp._errors import InsufficientSamplesError, InvalidParameterError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.auditing._audit import check_confidence
from riemdp.noise import resolve_generator
from riemdp.research._sample import sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: The p-values are those of large samples.
_LEAST = 1000
#: Quantiles of the radial law that the draws are compared at.
_GRID = np.arange(1, 2001) / 2001.0


class RadiusLaw(Protocol):
    """Law of the distance between footpoint and draw."""

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Distance that a draw exceeds with probability ``1 - q``."""


@dataclass(frozen=True)
class SamplerAudit:
    """Tests of draws against their law. Each p-value is small where the draws do not follow it.

    Parameters
    ----------
    samples : int
    confidence : float
    radius : float
        p-value of the distances (Kolmogorov and Smirnov).
    direction : float
        p-value of the mean direction (Rayleigh).
    axes : float
        p-value of the directions' second moments (Bingham); 1 in dimension one.
    independence : float
        p-value of a dependence of the mean direction on the distance.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import audit_sampler
    >>> law, seeded = riemdp.RiemannianGaussian(riemdp.Sphere(2), 0.3), np.random.default_rng(0)
    >>> result = audit_sampler(law, [0.0, 0.0, 1.0], samples=2000, generator=seeded)
    >>> result.verdict, result.samples
    ('consistent', 2000)
    """

    samples: int
    confidence: float
    radius: float
    direction: float
    axes: float
    independence: float

    @property
    def verdict(self) -> Literal["consistent", "violated"]:
        """``"violated"`` if a p-value is under a quarter of ``1 - confidence``."""
        least = min(self.radius, self.direction, self.axes, self.independence)
        return "violated" if 4.0 * least < 1.0 - self.confidence else "consistent"


@with_advice
@work("audit_sampler")
def audit_sampler(
    mechanism: Any,
    footpoint: ArrayLike,
    *,
    samples: int,
    law: RadiusLaw | None = None,
    confidence: float = 0.95,
    generator: np.random.Generator | None = None,
) -> SamplerAudit:
    """Hold draws against the law of their distance and the uniform law of their direction.

    Draws are those of :func:`riemdp.research.sample`.

    Parameters
    ----------
    mechanism : Mechanism
        Or anything with ``sample(footpoint, size, generator)`` and ``manifold``, given ``law``.
    footpoint : array_like, shape (*point_shape,)
        Of a Laplace law restricted to a ball, the ball's centre.
    samples : int
        At least 1000.
    law : RadiusLaw, optional
        Law of the distance, such as a :class:`riemdp.noise.RadialLaw`; the mechanism's own by
        default. It has ``quantile``.
    confidence : float, default 0.95
        Of a verdict "violated", in [0.5, 1); approximate, as the p-values are those of large
        samples.
    generator : numpy.random.Generator, optional

    Returns
    -------
    SamplerAudit

    Raises
    ------
    InsufficientSamplesError
        If there are fewer than 1000 samples.
    InvalidParameterError
        If no law is known, or a Laplace law restricted to a ball has its footpoint elsewhere.

    Notes
    -----
    Draws of a tangent mechanism are taken back to the tangent space at its base. On spheres that
    finds those only that do not wrap around, so sigma has to be small next to the injectivity
    radius. Where the curvature varies, on affine-invariant matrices, the directions of a Riemannian
    mechanism are not uniform; they are not tested there, and their p-values are 1.

    References
    ----------
    Mardia, Jupp, "Directional Statistics", 2000, Sections 10.4.1 and 10.7.1.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.auditing import audit_sampler
    >>> law = riemdp.RiemannianLaplace(riemdp.Euclidean(2), 0.5)
    >>> audit_sampler(law, [0.0, 0.0], samples=2000, generator=np.random.default_rng(0)).verdict
    'consistent'
    """
    confidence = check_confidence(confidence)
    samples = count(samples, "samples")
    if samples < _LEAST:
        raise InsufficientSamplesError(
            f"the tests of draws need at least {_LEAST} samples, got {samples}"
        )
    manifold = mechanism.manifold
    point = manifold.validate(footpoint)
    law = _law(mechanism, point) if law is None else law
    draws = sample(mechanism, point, samples, resolve_generator(generator))
    vectors = _noise(mechanism, point, manifold.validate(draws))
    radius = np.linalg.norm(vectors, axis=1)
    moved = radius > 0.0  # a draw at the footpoint has no direction; many show in the radius
    directions = (1.0, 1.0, 1.0)
    if _is_in_coordinates(mechanism) or manifold.constant_curvature is not None:
        directions = direction_tests(vectors[moved])
    return SamplerAudit(samples, confidence, radius_test(radius, law), *directions)


def radius_test(radius: FloatArray, law: RadiusLaw) -> float:
    """p-value of the largest gap between distribution functions, at quantiles of the law.

    On a grid the gap is no larger than everywhere, so the p-value is on the safe side.
    """
    quantiles = np.asarray(law.quantile(_GRID))
    ranks = np.searchsorted(np.sort(radius), quantiles, side="right") / len(radius)
    gap = float(np.max(np.abs(ranks - _GRID)))
    return float(scipy.special.kolmogorov(math.sqrt(len(radius)) * gap))


def direction_tests(vectors: FloatArray) -> tuple[float, float, float]:
    """p-values of mean direction, second moments, and dependence on the length."""
    number, dim = vectors.shape
    if number < _LEAST // 2:
        return 0.0, 0.0, 0.0
    length = np.linalg.norm(vectors, axis=1)
    units = vectors / length[:, None]
    tail = scipy.special.chdtrc
    mean = units.mean(axis=0)
    rayleigh = float(tail(dim, number * dim * float(mean @ mean)))
    ranks = np.argsort(np.argsort(length)) - 0.5 * (number - 1)
    pull = ranks @ units
    dependence = float(tail(dim, dim * float(pull @ pull) / float(ranks @ ranks)))
    if dim == 1:
        return rayleigh, 1.0, dependence
    moments = units.T @ units / number
    excess = float(np.sum(moments**2)) - 1.0 / dim
    bingham = float(tail((dim - 1) * (dim + 2) / 2, 0.5 * dim * (dim + 2) * number * excess))
    return rayleigh, bingham, dependence


def _law(mechanism: Any, footpoint: FloatArray) -> RadiusLaw:
    """Law of the distance from this footpoint."""
    if not hasattr(mechanism, "distance_law"):
        raise InvalidParameterError(
            "law, the law of the distance, is needed for a sampler that is no mechanism of riemdp; "
            "give a riemdp.noise.RadialLaw"
        )
    law: RadiusLaw = mechanism.distance_law(footpoint)
    return law


def _is_in_coordinates(mechanism: Any) -> bool:
    """Whether noise is added to coordinates, of the tangent space at a base or on flat space."""
    return getattr(mechanism, "metric", "distance") == "coordinates"


def _noise(mechanism: Any, footpoint: FloatArray, draws: FloatArray) -> FloatArray:
    """Coordinates of the noise: normal ones about the footpoint, or those at the base."""
    manifold = mechanism.manifold
    base = mechanism.base if _is_in_coordinates(mechanism) else None
    if base is not None:
        ends = manifold.tangent_coordinates(base, manifold.log(base, draws))
        start = manifold.tangent_coordinates(base, manifold.log(base, footpoint))
        return np.asarray(ends - start)
    return np.asarray(manifold.tangent_coordinates(footpoint, manifold.log(footpoint, draws)))
