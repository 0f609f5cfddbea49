"""A bound of ``mu`` that is linear in the sensitivity: ``mu <= c * sensitivity``.

Moving the footpoint at unit speed changes the probability of an event at a rate of at most
``c phi(Phi^{-1}(probability))``, ``c`` a supremum over thresholds of the score. The proof, also of
where the supremum lies, is docs/proofs/isotropic-curve.md.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
import scipy

from riemdp._checks import OTHER_SCALE, scale
from riemdp._potential import potential
from riemdp.privacy._isotropic_quadrature import LossIntegrals
from riemdp.privacy._rounding import quotient_up

#: Relative error allowed for in ``c``: quadrature and rounding.
_ERROR = 2e-11
#: On the hyperbolic plane the supremum is proved to be at the median up to this ``k sigma``.
_PLANE_LIMIT = 1.8
#: From this ``k sigma`` on the two parts of the score are bounded separately.
_PLANE_FAR = 20.0
_CELLS = 512


def score_bound(  # noqa: PLR0917 -- the fields of IsotropicCurve in their order
    kind: Literal["laplace", "gaussian"],
    dim: int,
    curvature: float,
    sigma: float,
    sensitivity: float,
    upper: float = math.inf,
) -> float:
    """Bound ``mu`` for all footpoints at most ``sensitivity`` apart by a multiple of it.

    Parameters
    ----------
    kind, dim, curvature, sigma, sensitivity, upper
        As in :class:`IsotropicCurve`, whose ``mu`` is smaller, the less so the smaller the
        sensitivity. ``sensitivity/sigma`` for the Gaussian on Euclidean space.

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` or ``sensitivity`` is not between 1e-75 and 1e75.
    ConvergenceError
        If the mean distance of the Gaussian law is not known to double precision.

    References
    ----------
    docs/proofs/isotropic-curve.md, claim 7.

    Examples
    --------
    >>> from riemdp.privacy import score_bound
    >>> round(score_bound("gaussian", 3, 0.0, 2.0, 1.0), 6)  # on flat space 1 / 2
    0.5
    """
    sigma, sensitivity = scale(sigma, "sigma", OTHER_SCALE), scale(sensitivity, "sensitivity")
    flat = dim == 1 or curvature == 0.0
    ratio = sensitivity / sigma
    linear = potential(kind).is_linear
    if not linear and flat and upper == math.inf:
        return quotient_up(sensitivity, sigma)
    half = 0.5 * dim
    log_kappa = math.lgamma(half) - math.lgamma(half + 0.5)
    kappa = math.exp(log_kappa) / math.sqrt(2.0) * (1.0 + 1e-14 * dim)
    if linear:
        return kappa * ratio * (1.0 + _ERROR)
    if flat:
        return _scaled_score(1, 0, 1.0, upper / sigma, kappa) * ratio
    unit = math.sqrt(abs(curvature))
    sign = 1 if curvature > 0.0 else -1
    return _scaled_score(dim, sign, sigma * unit, math.pi if sign > 0 else math.inf, kappa) * ratio


@functools.lru_cache(maxsize=256)
def _scaled_score(dim: int, sign: int, sigma: float, upper: float, kappa: float) -> float:
    """``c * sigma`` of the Gaussian law in units of the curvature radius."""
    law = LossIntegrals("gaussian", dim, sign, sigma, 1.0, upper)
    at_median = kappa * math.exp(law.log_mean - math.log(sigma)) * (1.0 + _ERROR)
    if dim == 2 and sign < 0 and sigma > _PLANE_LIMIT:
        return max(at_median, _plane_score(sigma))
    return at_median


def _plane_score(sigma: float) -> float:
    """``c * sigma`` on the hyperbolic plane, bounded above cell by cell.

    The score times ``sigma`` is ``Z + sigma B``, ``B`` on (-1, 1) with density proportional to
    ``i0e(sigma^2 (1 - B^2)/4)``. Between thresholds ``x < x'`` the ratio is at most the
    expectation above ``x`` over ``phi(Phi^{-1}(P(above x')))``; beyond the last one it is at most
    ``1 + sigma/Phi^{-1}(P)``.
    """
    nodes, weights = np.polynomial.legendre.leggauss(16)
    panels = 4 + int(0.5 * min(sigma, _PLANE_FAR))
    angle = (0.5 * math.pi / panels) * (nodes + 2.0 * np.arange(panels)[:, None] + 1.0).ravel()
    b, slope = -np.cos(angle), np.sin(angle)
    share = np.tile(weights, panels) * slope * scipy.special.i0e(0.25 * sigma**2 * slope**2)
    share /= share.sum()
    if sigma > _PLANE_FAR:
        spread = math.sqrt(0.5 * math.pi) * float(np.abs(b) @ share)
        return (1.0 + sigma * spread) * (1.0 + 1e-3)
    depth = np.linspace(0.0, sigma + 6.0, _CELLS + 1)[:, None]
    gap = depth - sigma * b
    tail = scipy.special.ndtr(-gap)
    density = np.exp(-0.5 * gap * gap) / math.sqrt(2.0 * math.pi)
    above = (density + sigma * b * tail) @ share
    normal = -scipy.special.ndtri(tail @ share)
    cells = above[:-1] * np.exp(0.5 * normal[1:] ** 2) * math.sqrt(2.0 * math.pi)
    beyond = 1.0 + sigma / float(normal[-1])
    return max(float(cells.max()), beyond) * (1.0 + 1e-9)
