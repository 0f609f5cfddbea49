"""The exact privacy curve of the Laplace mechanism on the real line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._checks import positive
from riemdp.privacy._budget import check_delta, check_epsilon
from riemdp.privacy._closed_curves import CurveOfPureLoss
from riemdp.privacy._rao import RaoDP, angle, angle_of_affinity
from riemdp.privacy._response import CONVERSION_ERROR, TINY
from riemdp.privacy._rounding import ELEMENTARY, delta_up, first_within, up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray


@dataclass(frozen=True)
class LaplaceCurve(CurveOfPureLoss):
    """Exact curve of two Laplace laws on the real line.

    Better than :class:`PureCurve`, which has to hold for every mechanism of the same ``epsilon``.
    It does not hold for the Laplace law ``exp(-|x|/sigma)`` in more than one dimension.

    Parameters
    ----------
    separation : float
        Distance of the locations in units of the scale, positive and finite; it is the pure
        ``epsilon``.

    Raises
    ------
    InvalidParameterError
        If ``separation`` is outside its domain.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Section 2.4 (the trade-off
    function). docs/proofs/composition.md (``delta``, ``mu`` and the angle).

    Examples
    --------
    >>> from riemdp.privacy import LaplaceCurve, PureCurve
    >>> curve = LaplaceCurve(1.0)
    >>> curve.pure_epsilon(), f"{curve.delta_at(0.5):.4f}", f"{PureCurve(1.0).delta_at(0.5):.4f}"
    (1.0, '0.2212', '0.2876')
    """

    separation: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "separation", positive(self.separation, "separation"))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``1 - exp((epsilon - separation) / 2)``, rounded up; 0 from the separation on."""
        epsilon = check_epsilon(epsilon)
        delta = -np.expm1(0.5 * np.minimum(epsilon - self.separation, 0.0))
        return np.where(epsilon < self.separation, delta_up(delta), 0.0)

    def epsilon_at(self, delta: float) -> float:
        """``separation + 2 log(1 - delta)``, at least 0, rounded up."""
        epsilon = max(0.0, self.separation + 2.0 * math.log1p(-check_delta(delta)))
        step = max(1e-15 * self.separation, 5e-324)
        return first_within(self.delta_at, delta, epsilon, step, self.separation)

    def mu(self) -> float:
        """``2 Phi^{-1}(1 - exp(-separation/2) / 2)``, the smallest one, rounded up."""
        half = 0.5 * self.separation
        if self.separation < TINY:
            mu = math.sqrt(0.5 * math.pi) * self.separation
        elif half < 1.0:
            mu = 2.0 * math.sqrt(2.0) * float(scipy.special.erfinv(-math.expm1(-half)))
        else:
            mu = -2.0 * float(scipy.special.ndtri_exp(-half - math.log(2.0)))
        return up(mu, CONVERSION_ERROR)

    def pure_epsilon(self) -> float:
        """Return the separation."""
        return self.separation

    def _angle(self) -> RaoDP:
        if self.separation < 1e-100:  # its square underflows; the angle is at most the length
            return angle(self.separation)
        # the affinity is (1 + t/2) exp(-t/2); its log cancels for a small t
        half = 0.5 * self.separation
        if half > 0.1:
            minus_log = half - math.log1p(half)
        else:
            minus_log = half**2 * math.fsum((-half) ** j / (j + 2.0) for j in range(14))
        # the difference has lost a factor of 20
        return angle(angle_of_affinity(up(minus_log, 20.0 * ELEMENTARY)))
