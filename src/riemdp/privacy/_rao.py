"""Rao differential privacy: the distance of the output laws, under either of its two meanings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidBudgetError, NoConversionError, UnsupportedBudgetError
from riemdp._part import register
from riemdp.privacy._approx import ApproxDP
from riemdp.privacy._budget import Budget, check_delta, check_epsilon, check_parameter, check_share
from riemdp.privacy._gdp import GDP
from riemdp.privacy._pure import PureDP
from riemdp.privacy._rounding import (
    ELEMENTARY,
    delta_up,
    first_within,
    root_of_squares_up,
    root_share_down,
    up,
)
from riemdp.privacy._rules import Options, composition, conversion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import Amount, FloatArray
    from riemdp.privacy._curve import PrivacyCurve

RaoDistance = Literal["angle", "parametric"]

#: Angles whose squares leave float64: there the angle is taken as the length.
_TINY = 1e-100


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

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.RaoDP(0.3, distance="angle")
    >>> f"{budget.delta_at(0.0):.4f}"  # sin(theta / 2)
    '0.1494'
    >>> f"{budget.delta_at(5.0):.4f}"  # never below sin(theta / 2)^2 = 0.0223
    '0.0225'
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("theta",)
    choices = ("distance",)
    leaves_open = (
        "an output of probability sin(theta/2)^2 may be impossible for the neighbour, so the "
        "loss can be infinite. A mechanism may have more (mechanism.privacy), theta has not"
    )

    theta: float
    distance: RaoDistance = field(kw_only=True)

    def __post_init__(self) -> None:
        check_distance(self.distance)
        theta = check_parameter("theta", self.theta)
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

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether the curve's Rao distance is small enough; see :meth:`Budget.allows`.

        Raises ``NoConversionError`` for the parametric distance, which only a mechanism has.
        """
        return curve.rao(self.distance).theta <= self.theta

    def part(self, share: Fraction) -> RaoDP:
        """``theta`` times the root of the share; of an angle that share of ``-log cos``.

        Raises ``UnsupportedBudgetError`` for an angle of pi, which limits nothing.
        """
        share = check_share(share)
        if share == 1:
            return self
        euclidean, n = root_share_down(self.theta, share), 1.0 / float(share)
        if self.distance == "parametric" or self.theta < _TINY:
            return RaoDP(euclidean, distance=self.distance)
        if self.theta == math.pi:
            raise UnsupportedBudgetError(
                "an angle of pi allows everything, so no share of it is the largest; choose a "
                "smaller theta"
            )
        theta, step = angle_of_affinity(minus_log_cosine(self.theta) / n), ELEMENTARY
        while _composed_angle(n * minus_log_cosine(theta), math.inf) > self.theta:
            theta *= 1.0 - step
            step *= 2.0
        return RaoDP(max(theta, euclidean), distance="angle")

    def price(self) -> tuple[Amount]:
        """``theta^2``, exactly, or ``-log cos(theta/2)`` of an angle, rounded down.

        See docs/proofs/composition.md.
        """
        if self.distance == "parametric":
            return (Fraction(self.theta) ** 2,)
        return (minus_log_cosine(self.theta) * (1.0 - ELEMENTARY),)

    def price_of(self, guarantee: Budget) -> tuple[Amount, ...]:
        """Price of what follows from a guarantee; of an angle rounded up."""
        if self.distance == "parametric":
            return super().price_of(guarantee)
        found: Any = self.implied_by(guarantee)
        return (up(minus_log_cosine(found.theta)),)

    def total(self, prices: Sequence[float]) -> RaoDP | None:
        """Inverse of :meth:`price`; an angle is rounded up."""
        if prices[0] <= 0.0:
            return None
        if self.distance == "parametric":
            return RaoDP(math.sqrt(prices[0]), distance="parametric")
        return angle(angle_of_affinity(prices[0]))

    @property
    def largest(self) -> float:
        """Pi for an angle."""
        return math.pi if self.distance == "angle" else math.inf

    def largest_mu(self) -> float:
        """Separation of Gaussians at this distance, ``theta`` itself if it is a length."""
        if self.distance == "parametric":
            return self.theta
        if self.theta < _TINY:
            return self.theta * (1.0 - ELEMENTARY)
        if self.theta >= math.pi:
            raise UnsupportedBudgetError(
                "an angle of pi allows any two laws, so there is no least noise for it; use a "
                "theta under pi"
            )
        half = 0.5 * self.theta
        # -log cos without cancellation at either end
        small = half < 0.5
        depth = -0.5 * math.log1p(-(math.sin(half) ** 2)) if small else -math.log(math.cos(half))
        return math.sqrt(8.0 * depth)

    def _check_beside(self, parts: Sequence[Budget]) -> None:
        if {part.distance for part in parts if isinstance(part, RaoDP)} != {self.distance}:
            raise InvalidBudgetError(
                "Rao guarantees with distance 'angle' and 'parametric' do not compose; convert the "
                'parametric ones first: convert(guarantee, RaoDP, distance="angle")'
            )

    def _sine(self) -> float:
        """``sin(theta/2)`` of the angle, rounded up."""
        return min(1.0, up(math.sin(0.5 * min(self.theta, math.pi))))


def check_distance(distance: object) -> RaoDistance:
    """Return one of the two names of a Rao distance.

    Parameters
    ----------
    distance : object

    Returns
    -------
    {"angle", "parametric"}

    Raises
    ------
    InvalidBudgetError
        If it is neither.
    """
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

    Parameters
    ----------
    mu : float
        Positive.

    Returns
    -------
    float
        In radians.
    """
    if mu < 1e-100:
        return mu
    return angle_of_affinity(0.125 * mu * mu) if mu < 1e100 else math.pi


def angle_of_response(epsilon: float) -> float:
    """Angle of randomised response, ``cos(theta/2) = sech(epsilon/2)``.

    It is at most ``epsilon``, and as good as that where a quarter of it loses digits.

    Parameters
    ----------
    epsilon : float
        Positive.

    Returns
    -------
    float
        In radians.
    """
    if epsilon < 1e-100:
        return epsilon
    return 4.0 * math.atan(math.tanh(0.25 * epsilon))


def minus_log_cosine(theta: float) -> float:
    """``-log cos(theta/2)``, accurate at both ends; infinite from pi on."""
    half = 0.5 * theta
    if half >= 0.5 * math.pi:
        return math.inf
    if half < 0.7:
        return -0.5 * math.log1p(-(math.sin(half) ** 2))
    return -math.log(math.cos(half))


def no_length(guarantee: Budget) -> NoConversionError:
    """Return the error for a parametric distance that was asked of a definition."""
    return NoConversionError(
        f'{guarantee!r} implies no RaoDP(distance="parametric"): the length of a path in the '
        "mechanism's family follows from the mechanism alone, ask it (mechanism.rao)"
    )


def angle_conversion(given: type, formula: Callable[[Any], RaoDP]) -> None:
    """Make a formula the conversion of a class to an angle; it has none to a length."""

    def rule(guarantee: Budget, options: Options) -> RaoDP:
        if check_distance(options.distance) == "parametric":
            raise no_length(guarantee)
        return formula(guarantee)

    conversion(given, RaoDP)(rule)


def _approx_angle(guarantee: ApproxDP) -> RaoDP:
    """``cos(theta/2) = (1 - delta) sech(epsilon/2)``."""
    lost = guarantee.delta
    tanh = math.tanh(0.5 * guarantee.epsilon)
    decay = math.exp(-0.5 * guarantee.epsilon)
    sech = 2.0 * decay / (1.0 + decay * decay)
    sine = math.hypot(tanh, sech * math.sqrt(lost) * math.sqrt(2.0 - lost))
    return angle(2.0 * math.atan2(sine, (1.0 - lost) * sech))


angle_conversion(PureDP, lambda g: angle(angle_of_response(g.epsilon)))
angle_conversion(GDP, lambda g: angle(angle_of_separation(g.mu)))
angle_conversion(ApproxDP, _approx_angle)


@conversion(RaoDP, RaoDP)
def _rao_to_rao(guarantee: RaoDP, options: Options) -> RaoDP:
    if check_distance(options.distance) == guarantee.distance:
        return guarantee
    if options.distance == "parametric":
        raise no_length(guarantee)
    return RaoDP(min(guarantee.theta, math.pi), distance="angle")


@composition(RaoDP, lossless=True)
def _together(parts: Sequence[RaoDP]) -> RaoDP:
    euclidean = root_of_squares_up(part.theta for part in parts)
    if parts[0].distance == "parametric":
        return RaoDP(euclidean, distance="parametric")
    minus_log = math.fsum(minus_log_cosine(part.theta) for part in parts)
    return RaoDP(_composed_angle(minus_log, euclidean), distance="angle")


def _composed_angle(minus_log: float, euclidean: float) -> float:
    """Angle of a composition, by the product of the cosines or by the root of the squares.

    The latter is looser in theory, and it holds where the logarithms underflow.
    """
    if euclidean < _TINY:
        return euclidean
    return min(angle(angle_of_affinity(up(minus_log))).theta, euclidean)
