"""Mean-concentrated differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from riemdp._errors import NoConversionError
from riemdp._part import register
from riemdp.privacy._budget import Budget, check_parameter
from riemdp.privacy._gdp import GDP
from riemdp.privacy._kl import KLDP, mean_loss
from riemdp.privacy._pure import PureDP
from riemdp.privacy._rao import angle_conversion
from riemdp.privacy._renyi import RDP, finite_order
from riemdp.privacy._rounding import half_square_up, root_of_squares_up, sum_up, up
from riemdp.privacy._rules import Options, composition, conversion
from riemdp.privacy._zcdp import ZCDP, concentrated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


@final
@register
@dataclass(frozen=True)
class MeanCDP(Budget):
    """Mean-concentrated differential privacy: a loss of small mean, concentrated like a Gaussian.

    The privacy loss Z under P has ``E Z <= mu``, and ``E exp(t (Z - E Z)) <= exp(t^2 tau^2 / 2)``
    for every real t; in both orders of (P, Q). Post-processing need not keep it (it keeps the
    zero-concentrated guarantee that follows). ``delta_at`` and ``epsilon_at`` are proved upper
    bounds, those of :meth:`zcdp` and of :meth:`kl`, whichever is smaller.

    Parameters
    ----------
    mu : float
        Bound of the mean loss, positive and finite, in nats. No relation to ``GDP``.
    tau : float
        Subgaussian standard deviation of the loss, positive and finite, in nats.

    Raises
    ------
    InvalidBudgetError
        If a parameter is outside its domain.

    References
    ----------
    Dwork, Rothblum, "Concentrated differential privacy", 2016, Definitions 1.1 and 2.1.
    Bun, Steinke, "Concentrated differential privacy", TCC 2016, Section 4 (relation to
    zero-concentrated privacy, post-processing).

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.MeanCDP(mu=0.125, tau=0.5)  # as Gaussian noise at GDP(0.5) has it
    >>> budget.zcdp()
    ZCDP(rho=0.125, xi=0.0)
    >>> f"{budget.delta_at(2.0):.2e}"
    '3.95e-05'
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("tau", "mu")
    leaves_open = "it allows an unbounded privacy loss, and no comparison with a Gaussian is proved"

    mu: float
    tau: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_parameter("mu", self.mu))
        object.__setattr__(self, "tau", check_parameter("tau", self.tau))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Upper bound of ``delta``."""
        return np.asarray(np.minimum(self.zcdp().delta_at(epsilon), self.kl().delta_at(epsilon)))

    def epsilon_at(self, delta: float) -> float:
        """Upper bound of ``epsilon``; ``inf`` at ``delta = 0``."""
        return min(self.zcdp().epsilon_at(delta), self.kl().epsilon_at(delta))

    def zcdp(self) -> ZCDP:
        """``tau**2/2``-zCDP, since ``E exp(-Z) = 1`` keeps the mean under ``tau**2/2``."""
        return concentrated(half_square_up(self.tau))

    def kl(self) -> KLDP:
        """``min(mu, tau**2/2)``-KL."""
        return KLDP(min(self.mu, half_square_up(self.tau)))

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether it follows from a guarantee that the curve implies."""
        return any(self.follows_from(guarantee) for guarantee in curve._guarantees())

    def at(self, parameter: float) -> MeanCDP:
        """``tau`` is the parameter, and ``mu`` in proportion."""
        return MeanCDP(parameter * self.mu / self.tau, parameter)

    def _adaptive(self) -> ZCDP:
        """Its own rule needs mechanisms that are chosen beforehand."""
        return self.zcdp()


angle_conversion(MeanCDP, lambda g: g.kl().angle())


@composition(MeanCDP)
def _together(parts: Sequence[MeanCDP]) -> MeanCDP:
    return MeanCDP(
        sum_up([part.mu for part in parts]), root_of_squares_up(part.tau for part in parts)
    )


conversion(PureDP, MeanCDP)(lambda pure, _: MeanCDP(mean_loss(pure.epsilon), pure.epsilon))


@conversion(GDP, MeanCDP)
def _gdp_to_mean(guarantee: GDP, options: Options) -> MeanCDP:
    return _zcdp_to_mean(ZCDP(guarantee.renyi_rate()), options)


@conversion(ZCDP, MeanCDP)
def _zcdp_to_mean(guarantee: ZCDP, _: Options) -> MeanCDP:
    if guarantee.xi > 0.0:
        raise NoConversionError(
            f"{guarantee!r} implies no proved MeanCDP guarantee: xi > 0 allows a loss that small "
            "moments do not bound"
        )
    # any s in (0, 1] is valid; this one is nearly the best at both ends
    s = min(1.0, 1.6 / (1.0 + guarantee.rho))
    if s < 1e-150:
        raise NoConversionError(f"the MeanCDP guarantee that {guarantee!r} implies exceeds float64")
    half_square = math.expm1(up(s * (s + 1.0) * guarantee.rho)) / (s * s)
    return MeanCDP(guarantee.rho, up(math.sqrt(2.0 * half_square)))


conversion(MeanCDP, ZCDP)(lambda mean, _: mean.zcdp())
conversion(MeanCDP, KLDP)(lambda mean, _: mean.kl())


@conversion(MeanCDP, RDP)
def _mean_to_rdp(guarantee: MeanCDP, options: Options) -> RDP:
    order = finite_order(options, guarantee)
    rho = guarantee.zcdp().rho
    return RDP(order, up(min(guarantee.mu, rho) + (order - 1.0) * rho))
