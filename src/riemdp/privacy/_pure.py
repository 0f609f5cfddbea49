"""Pure differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from riemdp._errors import UnsupportedBudgetError
from riemdp._part import register
from riemdp.privacy._budget import Additive, check_parameter
from riemdp.privacy._response import approximate_delta, approximate_epsilon
from riemdp.privacy._rounding import sum_up
from riemdp.privacy._rules import composition

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray
    from riemdp.privacy._curve import PrivacyCurve


@final
@register
@dataclass(frozen=True)
class PureDP(Additive):
    """Pure differential privacy: ``P(S) <= exp(epsilon) Q(S)`` for every event S.

    Parameters
    ----------
    epsilon : float
        Positive and finite.

    Raises
    ------
    InvalidBudgetError
        If ``epsilon`` is outside its domain.

    References
    ----------
    Dwork, McSherry, Nissim, Smith, "Calibrating noise to sensitivity in private data analysis",
    TCC 2006, Definition 1.

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.PureDP(1.0)
    >>> round(float(budget.delta_at(0.5)), 4)
    0.2876
    >>> budget.split(2)
    PureDP(epsilon=0.5)
    """

    proof = "docs/proofs/privacy-conversions.md"
    sizes = ("epsilon",)

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_parameter("epsilon", self.epsilon))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``(e^self.epsilon - e^epsilon) / (1 + e^self.epsilon)``, and 0 from there on."""
        return approximate_delta(self.epsilon, 0.0, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Inverse of :meth:`delta_at`; ``self.epsilon`` at ``delta = 0``."""
        return approximate_epsilon(self.epsilon, 0.0, delta)

    def allows(self, curve: PrivacyCurve) -> bool:
        """Whether the pure epsilon of the curve is small enough."""
        return curve.pure_epsilon() <= self.epsilon

    def largest_epsilon(self) -> float:
        """``epsilon`` itself."""
        return self.epsilon

    def largest_mu(self) -> float:
        """Raise: the privacy loss of Gaussian noise is unbounded."""
        raise UnsupportedBudgetError(
            "Gaussian noise has no pure epsilon; use TangentLaplace or RiemannianLaplace, or "
            "allow a delta with ApproxDP(epsilon, delta)"
        )


composition(PureDP)(lambda parts: PureDP(sum_up([part.epsilon for part in parts])))
