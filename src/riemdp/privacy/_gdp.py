"""Gaussian differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from riemdp._part import register
from riemdp.privacy._budget import Budget, check_delta, check_parameter, check_share
from riemdp.privacy._gaussian import gaussian_delta_up, gaussian_epsilon
from riemdp.privacy._pure import PureDP
from riemdp.privacy._response import gaussian_to_pure, pure_to_gaussian
from riemdp.privacy._rounding import half_square_up, root_of_squares_up, root_share_down
from riemdp.privacy._rules import composition, conversion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


@final
@register
@dataclass(frozen=True)
class GDP(Budget):
    """Gaussian differential privacy: at least as hard to tell apart as N(0, 1) and N(mu, 1).

    Parameters
    ----------
    mu : float
        Positive and finite.

    Raises
    ------
    InvalidBudgetError
        If ``mu`` is outside its domain.

    References
    ----------
    Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Definition 2.6.

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.GDP(1.0)
    >>> round(float(budget.delta_at(0.5)), 4)
    0.2384
    >>> budget.split(2)
    GDP(mu=0.7071067811865475)
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("mu",)
    leaves_open = "a Gaussian satisfies it, and its privacy loss is unbounded"

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", check_parameter("mu", self.mu))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """See :func:`gaussian_delta`; up to 2e-12 (relative) more, and 0 at ``inf`` only."""
        return gaussian_delta_up(self.mu, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Exact up to rounding, see :func:`gaussian_epsilon`; ``inf`` at ``delta = 0``."""
        return gaussian_epsilon(self.mu, delta) if check_delta(delta) > 0.0 else math.inf

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether the curve's ``mu`` is small enough."""
        return curve.mu() <= self.mu

    def part(self, share: Fraction) -> GDP:
        """``mu`` times the root of the share."""
        return GDP(root_share_down(self.mu, check_share(share)))

    def price(self) -> tuple[Fraction]:
        """``mu^2`` (Smith, Thakurta, 2022), exactly."""
        return (Fraction(self.mu) ** 2,)

    def total(self, prices: Sequence[float]) -> GDP | None:
        """Inverse of :meth:`price`."""
        return GDP(math.sqrt(prices[0])) if prices[0] > 0.0 else None

    def largest_epsilon(self) -> float:
        """See :func:`gaussian_to_pure`."""
        return gaussian_to_pure(self.mu)

    def largest_mu(self) -> float:
        """``mu`` itself."""
        return self.mu

    def renyi_rate(self) -> float:
        """``mu^2 / 2``, the Renyi divergence per order, rounded up."""
        return half_square_up(self.mu)


composition(GDP)(lambda parts: GDP(root_of_squares_up(part.mu for part in parts)))
conversion(PureDP, GDP)(lambda pure, _: GDP(pure_to_gaussian(pure.epsilon)))
