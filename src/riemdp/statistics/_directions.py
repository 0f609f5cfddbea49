"""Sums and scatters of directions, and the concentration they imply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.kernel import Moment, Products, Vector
from riemdp.statistics._sums import symmetric_of
from riemdp.statistics._unit_vectors import UnitVectorSum, leading_axis, length_limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.spaces import FloatArray
    from riemdp.statistics._seen import View


# Concentration of the von Mises-Fisher law, from the length of its mean vector.

#: Under it quotients of Bessel functions lose digits.
_LEAST = 1e-280
#: Beyond it a bound of the quotient has all digits.
_LARGE = 1e8
#: So many terms of the continued fraction are enough where Bessel functions underflow.
_TERMS = 100
#: Nearer to length 1 than this float64 does not tell Newton's steps from rounding.
_NEAR = 1e-6
_STEPS = 50


def mean_length(kappa: float, dim: int) -> float:
    """Return the length of the mean vector, ``I_{N/2}(kappa) / I_{N/2-1}(kappa)``, ``kappa > 0``.

    ``dim`` is N, that of the space around the sphere. The bound is from Amos, "Computation of
    modified Bessel functions and their ratios", Math. Comp. 1974.
    """
    import scipy.special

    order = 0.5 * dim - 1.0
    if kappa < _LARGE:
        below = float(scipy.special.ive(order, kappa))
        if below > _LEAST:
            return float(scipy.special.ive(order + 1.0, kappa)) / below
    terms = 0 if kappa >= _LARGE else _TERMS
    last = order + terms
    found = kappa / (last + 0.5 + math.hypot(last + 1.5, kappa))
    for j in range(terms, 0, -1):
        found = kappa / (2.0 * (order + j) + kappa * found)
    return found


def concentration(length: float, dim: int) -> float:
    """Return the concentration of the law whose mean vector has a length.

    ``dim`` is that of the space around the sphere. 0 where the length is not positive, ``inf``
    where it is 1 or more. Newton's method, as in Sra, "A short note on parameter approximation",
    Comput. Stat. 2012, from the approximation of Banerjee, Dhillon, Ghosh and Sra, "Clustering on
    the unit hypersphere using von Mises-Fisher distributions", JMLR 2005.
    """
    if not length > 0.0:
        return 0.0
    if length >= 1.0:
        return math.inf
    kappa = length * (dim - length * length) / ((1.0 - length) * (1.0 + length))
    if 1.0 - length < _NEAR:
        return kappa
    for _ in range(_STEPS):
        reached = mean_length(kappa, dim)
        slope = 1.0 - reached * reached - (dim - 1) * reached / kappa
        step = (reached - length) / slope
        kappa = max(kappa - step, 0.5 * kappa)
        if abs(step) <= 1e-13 * kappa:
            break
    return kappa


# Mean resultant and scatter of directions, jointly.

_BOTH = (1, 2)


@final
@register
@dataclass(frozen=True)
class DirectionalMoments(UnitVectorSum):
    r"""Mean of unit vectors x, or of ``x x^T``, or both in one release.

    With Gaussian noise the mean gets in one release of both the noise that it would get alone.

    Parameters
    ----------
    order : {1, 2, (1, 2)}, default 1
        1 for the mean resultant, of which one record moves at most 2/n; 2 for the scatter matrix,
        sqrt(2)/n, which does not tell x from -x; both, of which the scatter is multiplied by a
        little under 1/sqrt(2) before the noise.

    Raises
    ------
    InvalidParameterError
        If ``order`` is none of these.

    References
    ----------
    docs/proofs/joint-sensitivities.md, claim 6

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import DirectionalMoments
    >>> sphere = riemdp.Ball.whole(riemdp.Sphere(2))  # no ball is needed
    >>> points = sphere.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> both = DirectionalMoments((1, 2))
    >>> release = riemdp.private_statistic(both, points, sphere, riemdp.GDP(1.0))
    >>> release.value.direction.shape, release.value.scatter.shape
    ((3,), (3, 3))
    """

    name: ClassVar[str] = "directional-moments"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"

    order: int | tuple[int, ...] = 1

    def __post_init__(self) -> None:
        given: Any = self.order
        orders = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if not all(type(each) is int for each in orders) or orders not in ((1,), (2,), _BOTH):
            raise InvalidParameterError(f"order must be 1, 2 or (1, 2), got {shown(given)}")
        object.__setattr__(self, "order", orders if orders == _BOTH else orders[0])

    def shape(self, dim: int) -> Vector | Products | Moment:
        """x, ``x x^T``, or x and ``x x^T / sqrt(2)``; see :meth:`SumStatistic.shape`."""
        if self.order == _BOTH:
            return Moment(dim, "matrix")
        return Vector(dim) if self.order == 1 else Products(dim)

    def parts(
        self,
        view: View,
        features: FloatArray,
        deviation: float,
        relative: float,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return what the moments say; see :meth:`SumStatistic.parts`.

        Limits and bounds are those of Gaussian noise, and about the records themselves: what a
        sample says of a population is not in them. Of Laplace noise, whose length varies more, what
        is said to have a probability of .05 has up to .13. They are NaN where the noise is not
        known.

        Of order 1: ``resultant``, the mean of the unit vectors as it was drawn, shape (N,), and
        ``resultant_sd``, the standard deviation of the noise of each entry; ``direction``, of norm
        1; ``length`` of the resultant as drawn, and ``corrected_length``, the root of its square
        less the mean square of the noise; ``kappa``, the concentration of the von Mises-Fisher law
        of the corrected length (``inf`` from length 1 on); ``length_limit``, what the length
        exceeds with probability at most .05 where the exact resultant is zero,
        ``direction_significant``, whether it does, and ``direction_bound``, the angle in radians
        that the direction is within of the exact one with probability at least .95 (pi where it is
        not significant).

        Of order 2: ``scatter``, the mean of ``x x^T`` with its noise, shape (N, N), and
        ``scatter_sd``, the standard deviation of the noise of an entry of the diagonal (of the
        others that over root 2); ``axis``, its leading eigenvector, with a positive entry where it
        is largest; ``eigenvalues`` in falling order, ``gap`` between the first two, ``gap_noise``,
        a bound of the expected largest eigenvalue of the noise; ``gap_limit``, what the gap exceeds
        with probability at most .05 where the exact scatter has none, ``axis_significant``, whether
        it does, and ``axis_bound``, the angle in radians that the axis is within of the exact one
        with probability at least .95 (pi/2 where it is not significant).
        """
        dim = self.dim(view.ball)
        if self.order == 1:
            return _of_resultant(features, deviation)
        shape = self.shape(dim)
        assert not isinstance(shape, Vector)  # narrowed by the order
        rest = features if self.order == 2 else features[dim:]
        scatter = symmetric_of(rest, dim, shape.weights)
        found = leading_axis(scatter, len(rest), deviation / shape.weights[0])
        return {
            **(_of_resultant(features[:dim], deviation) if self.order == _BOTH else {}),
            "axis": found.vector,
            **found.parts("axis", scatter, deviation / shape.weights[0]),
        }


def _of_resultant(resultant: FloatArray, deviation: float) -> dict[str, Any]:
    dim = len(resultant)
    known = 0.0 if math.isnan(deviation) else deviation
    length = math.hypot(*resultant)
    corrected = math.sqrt(max(length**2 - dim * known**2, 0.0))
    limit = deviation * length_limit(dim)
    significant = length > limit
    bound = math.asin(limit / length) if significant else math.pi
    return {
        "direction": resultant / length if length > 0.0 else np.eye(dim)[0],
        "length": length,
        "corrected_length": corrected,
        "kappa": concentration(corrected, dim),
        "length_limit": limit,
        "direction_significant": significant,
        "direction_bound": math.nan if math.isnan(limit) else bound,
        "resultant": resultant,
        "resultant_sd": deviation,
    }
