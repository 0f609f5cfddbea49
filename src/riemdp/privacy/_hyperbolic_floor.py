"""What the Riemannian Gaussian on hyperbolic space tends to as its noise grows.

The limits inform error messages; no guarantee rests on them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._checks import count, real, scale
from riemdp._errors import InvalidParameterError
from riemdp.privacy._budget import check_epsilon

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray


def _half_angle(dim: int, curvature: float, sensitivity: float) -> tuple[float, float]:
    if not (count(dim, "dim") > 1 and real(curvature, "curvature") < 0.0):
        raise InvalidParameterError(
            "only negative curvature in dimension 2 or more has a floor, got curvature "
            f"{curvature} in dimension {dim}"
        )
    distance = math.sqrt(-curvature) * scale(sensitivity, "sensitivity")
    return 0.5 * (dim - 1), distance


def gaussian_floor(dim: int, curvature: float, sensitivity: float) -> float:
    """``mu`` at ``epsilon = 0`` that the Gaussian on hyperbolic space tends to as sigma grows.

    ``2 Phi^{-1}(I_{1/(1+exp(-k sensitivity))}(h, h))`` with ``h = (dim - 1)/2``. No ``sigma``
    makes the curve much better than this.

    Parameters
    ----------
    dim : int
        At least 2.
    curvature : float
        Negative.
    sensitivity : float

    Returns
    -------
    float

    Examples
    --------
    >>> from riemdp.privacy import gaussian_floor
    >>> round(gaussian_floor(3, -1.0, 1.0), 4)  # no scale gets under this mu
    1.232
    """
    h, distance = _half_angle(dim, curvature, sensitivity)
    share = float(scipy.special.betainc(h, h, scipy.special.expit(-distance)))
    return -2.0 * float(scipy.special.ndtri(share))


def delta_floor(dim: int, curvature: float, sensitivity: float, epsilon: ArrayLike) -> FloatArray:
    """``delta`` that the Gaussian on hyperbolic space tends to as sigma grows.

    ``I_x(h, h) - exp(epsilon) I_y(h, h)``, ``x = (e^D - e^t)/(2 sinh D)`` and
    ``y = (e^-t - e^-D)/(2 sinh D)``, with ``t = epsilon/(dim - 1)`` and ``D = k sensitivity``; zero
    from ``epsilon = (dim - 1) D`` on.

    Parameters
    ----------
    dim, curvature, sensitivity
        As in :func:`gaussian_floor`.
    epsilon : array_like
        Not negative.

    Returns
    -------
    ndarray, shape of ``epsilon``

    Examples
    --------
    >>> from riemdp.privacy import delta_floor
    >>> floor = delta_floor(3, -1.0, 1.0, [0.0, 1.0])
    >>> bool(floor[0] > floor[1])
    True
    """
    h, distance = _half_angle(dim, curvature, sensitivity)
    t = np.minimum(check_epsilon(epsilon) / (2.0 * h), distance)
    scale = -math.expm1(-2.0 * distance)
    x = -np.expm1(t - distance) / scale
    y = np.exp(-distance - t) * -np.expm1(t - distance) / scale
    betainc = scipy.special.betainc
    return np.asarray(np.maximum(betainc(h, h, x) - np.exp(2.0 * h * t) * betainc(h, h, y), 0.0))
