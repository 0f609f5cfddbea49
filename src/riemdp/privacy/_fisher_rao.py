"""Fisher-Rao distance of univariate normal laws."""

from __future__ import annotations

import math

from riemdp._checks import positive, real
from riemdp._errors import InvalidParameterError


def normal_fisher_rao_distance(mean1: float, std1: float, mean2: float, std2: float) -> float:
    """Fisher-Rao distance between N(mean1, std1^2) and N(mean2, std2^2).

    The length of the shortest path of normal laws, mean and standard deviation both free:
    ``sqrt(2) log((F + G) / (F - G))`` with ``F^2 = (mean1 - mean2)^2 + 2 (std1 + std2)^2`` and
    ``G^2 = (mean1 - mean2)^2 + 2 (std1 - std2)^2``, the distance of a hyperbolic plane of
    curvature -1/2.

    Parameters
    ----------
    mean1, mean2 : float
        Means, finite.
    std1, std2 : float
        Standard deviations, positive and finite.

    Returns
    -------
    float
        Full relative accuracy for near and far pairs alike.

    Raises
    ------
    InvalidParameterError
        If an argument is outside its domain.

    Notes
    -----
    At equal standard deviations it is less than ``|mean1 - mean2| / std``, the length of the path
    that keeps the standard deviation fixed: the shortest path leaves that family. A mechanism of
    fixed scale is measured by the latter (its ``rao(sensitivity, "parametric")``).

    References
    ----------
    Costa, Santos, Strapasson, "Fisher information distance: a geometrical reading", Discrete
    Applied Mathematics 2015; docs/proofs/rao.md, claim 6.

    Examples
    --------
    >>> from riemdp.privacy import normal_fisher_rao_distance
    >>> round(normal_fisher_rao_distance(0.0, 1.0, 0.0, 2.0), 6)  # sqrt(2) log(2)
    0.980258
    """
    mean1, mean2 = real(mean1, "mean1"), real(mean2, "mean2")
    for name, mean in (("mean1", mean1), ("mean2", mean2)):
        if not math.isfinite(mean):
            raise InvalidParameterError(f"{name} must be finite, got {mean}")
    std1, std2 = positive(std1, "std1"), positive(std2, "std2")
    # F^2 - G^2 = 8 std1 std2, so that (F + G) / (F - G) = exp(2 asinh(G / sqrt(8 std1 std2))).
    # Halves, as the differences themselves may overflow.
    half_gap = math.hypot(0.5 * mean1 - 0.5 * mean2, math.sqrt(2.0) * (0.5 * std1 - 0.5 * std2))
    quotient = half_gap / math.sqrt(std1) / math.sqrt(std2) / math.sqrt(2.0)
    if quotient < 1e9:
        return 2.0 * math.sqrt(2.0) * math.asinh(quotient)
    logs = math.log(half_gap) - 0.5 * (math.log(std1) + math.log(std2) - math.log(2.0))
    return 2.0 * math.sqrt(2.0) * logs
