"""Everything that is proved about a mechanism at one sensitivity, as one privacy curve."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from riemdp.privacy import PrivacyCurve, check_distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from riemdp.mechanisms._mechanism import Mechanism
    from riemdp.privacy import Budget, RaoDP


class Proved(PrivacyCurve):
    """Privacy curve of a mechanism, with the mechanism's own Rao distances.

    The curve is not asked for before a definition needs it: some mechanisms have none.
    """

    def __init__(self, mechanism: Mechanism, sensitivity: float) -> None:
        self._mechanism, self._sensitivity = mechanism, sensitivity

    @functools.cached_property
    def _curve(self) -> PrivacyCurve:
        return self._mechanism.privacy(self._sensitivity)

    def delta_at(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        """``delta`` of the curve."""
        return self._curve.delta_at(epsilon)

    def epsilon_at(self, delta: float) -> float:
        """``epsilon`` of the curve."""
        return self._curve.epsilon_at(delta)

    def mu(self) -> float:
        """``mu`` of the curve."""
        return self._curve.mu()

    def mu_bracket(self) -> tuple[float, float]:
        """Two numbers around it."""
        return self._curve.mu_bracket()

    def pure_epsilon(self) -> float:
        """Pure epsilon of the curve."""
        return self._curve.pure_epsilon()

    def zcdp_rho(self) -> float:
        """``rho`` of the curve."""
        return self._curve.zcdp_rho()

    def rao(self, distance: str) -> RaoDP:
        """Rao distance of the mechanism, of either kind."""
        return self._mechanism.rao(self._sensitivity, check_distance(distance))

    def _guarantees(self) -> tuple[Budget, ...]:
        return self._curve._guarantees()
