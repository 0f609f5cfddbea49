"""Rao differential privacy: the distance of the output laws, under either of its two meanings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidBudgetError
from riemdp._part import register
from riemdp.privacy._definitions import Budget, _checked, check_delta, check_epsilon
from riemdp.privacy._rounding import delta_up, first_within, up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

RaoDistance = Literal["angle", "parametric"]


@final
@register
@dataclass(frozen=True)
class RaoDP(Budget):
    """Rao differential privacy: the Rao distance of the two output laws is at most ``theta``.

    Two different distances carry this name, so ``distance`` has to be given:

    - ``"angle"``: ``2 arccos`` of the affinity ``integral sqrt(p q)``, the geodesic distance among
      *all* laws. It is between 0 and pi, and needs nothing but the two laws.
    - ``"parametric"``: length of a path from one law to the other inside the mechanism's own
      family, in the Fisher metric. Lengths have no upper limit. The angle is at most the length.

    ``theta`` is no ``epsilon``: an angle allows a total variation distance of ``sin(theta/2)``, and
    ``delta(epsilon)`` never falls under ``sin(theta/2)**2``, however large ``epsilon``.

    Parameters
    ----------
    theta : float
        Positive and finite, in radians. At most pi for the angle; pi allows everything.
    distance : {"angle", "parametric"}
        Which distance is meant.

    Raises
    ------
    InvalidBudgetError
        If a parameter is outside its domain.

    Notes
    -----
    With ``c = exp(epsilon)``, ``delta = (integral |p - c q| + 1 - c)/2``, and by Cauchy-Schwarz
    the integral is at most ``sqrt((1 + c)^2 - 4 c cos(theta/2)^2)``. Laws with two outcomes attain
    it. Proofs: docs/proofs/privacy-conversions.md.

    References
    ----------
    Soto, "Rao differential privacy", Definition 3.1.
    """

    proof = "docs/proofs/privacy-conversions.md"

    theta: float
    distance: RaoDistance = field(kw_only=True)

    def __post_init__(self) -> None:
        check_distance(self.distance)
        theta = _checked("theta", self.theta)
        if self.distance == "angle" and theta > math.pi:
            raise InvalidBudgetError(
                f"an angle theta is at most pi, got {theta}; an angle of pi already allows any "
                'output, a longer path in a family is distance="parametric"'
            )
        object.__setattr__(self, "theta", theta)

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``(sqrt((c - 1)^2 + 4 c s^2) - (c - 1))/2``, ``c = e^epsilon``, ``s = sin(theta/2)``.

        The smallest true ``delta`` for the angle. A parametric ``theta`` is an angle of at most
        ``min(theta, pi)`` and gets that angle's ``delta``. Rounded up.
        """
        epsilon = check_epsilon(epsilon)
        s = self._sine()
        # divided by c, and with the root in the denominator, no term cancels or overflows
        with np.errstate(over="ignore", under="ignore"):
            slope = -np.expm1(-epsilon) / s
            delta = 2.0 * s / (slope + np.hypot(slope, 2.0 * np.exp(-0.5 * epsilon)))
        return np.maximum(delta_up(delta), delta_up(s * s))

    def epsilon_at(self, delta: float) -> float:
        """``log(delta (1 - delta) / (delta - sin(theta/2)^2))``, 0 from ``sin(theta/2)`` on.

        ``inf`` if ``delta`` is at most ``sin(theta/2)**2``. Rounded up.
        """
        delta = check_delta(delta)
        s = self._sine()
        if not self.delta_at(math.inf) < delta:
            return math.inf
        if self.delta_at(0.0) <= delta:
            return 0.0
        above = max(delta - up(s * s), math.ulp(delta))
        epsilon = math.log1p(max(0.0, (s - delta) * (s + delta) / above))
        # the curve has reached its floor in double precision
        limit = 800.0
        epsilon = first_within(self.delta_at, delta, epsilon, 1e-15 * (1.0 + epsilon), limit)
        return epsilon if epsilon < limit else math.inf

    def _sine(self) -> float:
        """``sin(theta/2)`` of the angle, rounded up."""
        return min(1.0, up(math.sin(0.5 * min(self.theta, math.pi))))


def check_distance(distance: object) -> RaoDistance:
    """Return one of the two names or raise ``InvalidBudgetError``."""
    if not is_one_of(distance, ("angle", "parametric")):
        raise InvalidBudgetError(
            f'distance must be "angle" (2 arccos of the affinity of the laws) or "parametric" '
            f"(length of a path in the mechanism's family), got {shown(distance)}"
        )
    return distance  # type: ignore[return-value]


def angle(theta: float) -> RaoDP:
    """Angle budget of a ``theta`` that is rounded up first, and cut at pi."""
    return RaoDP(min(math.pi, up(theta)), distance="angle")


def angle_of_affinity(minus_log: float) -> float:
    """``2 arccos(exp(-minus_log))``, without cancellation at either end."""
    return 2.0 * math.atan2(math.sqrt(-math.expm1(-2.0 * minus_log)), math.exp(-minus_log))


def angle_of_separation(mu: float) -> float:
    """Angle of two unit Gaussians ``mu`` apart, ``cos(theta/2) = exp(-mu^2/8)``.

    Where the square leaves float64 it is the length ``mu``, an upper bound, or pi.
    """
    if mu < 1e-100:
        return mu
    return angle_of_affinity(0.125 * mu * mu) if mu < 1e100 else math.pi


def angle_of_response(epsilon: float) -> float:
    """Angle of randomised response, ``cos(theta/2) = sech(epsilon/2)``.

    It is at most ``epsilon``, and as good as that where a quarter of it loses digits.
    """
    if epsilon < 1e-100:
        return epsilon
    return 4.0 * math.atan(math.tanh(0.25 * epsilon))
