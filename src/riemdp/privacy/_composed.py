"""Several releases as one privacy curve."""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import NoConversionError
from riemdp.privacy import _rules
from riemdp.privacy._adjacency import one_adjacency
from riemdp.privacy._budget import Budget, check_delta, check_epsilon
from riemdp.privacy._closed_curves import GaussianCurve, PureCurve
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._gdp import GDP
from riemdp.privacy._pld import LossTable, accounting_available, composed_losses
from riemdp.privacy._pure import PureDP, pure_to_gaussian
from riemdp.privacy._rao import RaoDP, angle, angle_of_affinity, minus_log_cosine
from riemdp.privacy._renyi import RDP
from riemdp.privacy._rounding import delta_up, repeated_up, root_of_squares_up, sum_up, up
from riemdp.privacy._rules import Options
from riemdp.privacy._zcdp import ZCDP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray

#: Shares of delta that the closed bounds try for guarantees that are no pure or Gaussian ones.
_SHARES = tuple(10.0 ** (-0.5 * j) for j in range(2, 33))


@dataclass(frozen=True)
class BudgetCurve(PrivacyCurve):
    """Curve of the worst mechanism that a definition allows.

    Parameters
    ----------
    budget : Budget

    Examples
    --------
    >>> from riemdp import ZCDP
    >>> from riemdp.privacy import BudgetCurve
    >>> f"{BudgetCurve(ZCDP(0.5)).epsilon_at(1e-6):.3f}"
    '5.222'
    """

    budget: Budget

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", self.budget.adjacency)

    def under(self, adjacency: str) -> BudgetCurve:
        """Curve of the budget under that relation; see :meth:`PrivacyCurve.under`."""
        return BudgetCurve(self.budget.under(adjacency))

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """``budget.delta_at``."""
        return self.budget.delta_at(epsilon)

    def epsilon_at(self, delta: float) -> float:
        """``budget.epsilon_at``."""
        return self.budget.epsilon_at(delta)

    def mu(self) -> float:
        """Gaussian parameter, ``inf`` where there is none."""
        return self._parameter(GDP, "mu")

    def mu_bracket(self) -> tuple[float, float]:
        """0 and :meth:`mu`."""
        return 0.0, self.mu()

    def pure_epsilon(self) -> float:
        """Pure ``epsilon``, ``inf`` where there is none."""
        return self._parameter(PureDP, "epsilon")

    def zcdp_rho(self) -> float:
        """``rho`` with ``xi = 0``, ``inf`` where there is none."""
        return math.inf if self._parameter(ZCDP, "xi") > 0.0 else self._parameter(ZCDP, "rho")

    def _angle(self) -> RaoDP:
        found: RaoDP = _rules.implied(self.budget, RaoDP, Options(distance="angle"))
        return found

    def _parameter(self, kind: type[Budget], name: str) -> float:
        try:
            return float(getattr(_rules.implied(self.budget, kind, Options()), name))
        except NoConversionError:
            return math.inf

    def _guarantees(self) -> tuple[Budget, ...]:
        return (self.budget,)

    def _without_infinity(self) -> tuple[float, PrivacyCurve]:
        infinity, rest = self.budget._without_infinity()
        return (infinity, worst_curve(rest)) if infinity else (0.0, self)


def worst_curve(guarantee: Budget) -> PrivacyCurve:
    """Curve of the worst mechanism that a definition allows, in closed form where there is one."""
    curve: PrivacyCurve = _rules.implied(guarantee, PrivacyCurve, Options())
    return curve


_rules.conversion(None, PrivacyCurve)(lambda guarantee, _: BudgetCurve(guarantee))
_rules.conversion(PureDP, PrivacyCurve)(lambda pure, _: PureCurve(pure.epsilon))
_rules.conversion(GDP, PrivacyCurve)(lambda gaussian, _: GaussianCurve(gaussian.mu))


@dataclass(frozen=True)
class ComposedCurve(PrivacyCurve):
    """Curve of several releases together.

    ``delta_at`` and ``epsilon_at`` are the better one of two proved bounds: numerical composition
    of the privacy losses, which needs the extra ``accounting`` (``pip install
    'riemdp[accounting]'``), and closed formulas. :attr:`method` says whether the first is there.
    The releases may be chosen adaptively, the curves not.

    Parameters
    ----------
    parts : tuple of (PrivacyCurve, int)
        Curves with the number of times each occurs.

    Raises
    ------
    UnsupportedNeighboursError
        If they are about different relations.

    References
    ----------
    docs/proofs/composition.md

    Examples
    --------
    >>> from riemdp.privacy import ComposedCurve, GaussianCurve
    >>> curve = ComposedCurve(((GaussianCurve(0.3), 1), (GaussianCurve(0.4), 1)))
    >>> f"{curve.mu():.4f}"
    '0.5000'
    """

    parts: tuple[tuple[PrivacyCurve, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", one_adjacency(curve for curve, _ in self.parts))

    def under(self, adjacency: str) -> ComposedCurve:
        """Composition of the parts under that relation; see :meth:`PrivacyCurve.under`."""
        return ComposedCurve(tuple((curve.under(adjacency), n) for curve, n in self.parts))

    @property
    def method(self) -> str:
        """``"privacy-loss-distribution"``, or ``"closed-form"`` with the way to smaller numbers."""
        if accounting_available():
            return "privacy-loss-distribution"
        return "closed-form; pip install 'riemdp[accounting]' gives smaller epsilon and delta"

    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Proved ``delta`` of all releases together."""
        epsilon = check_epsilon(epsilon)
        delta = np.ones(epsilon.shape)
        if self._losses is not None:
            delta = np.minimum(delta, self._losses.delta_at(epsilon))
        for infinity, curve in self._closed:
            rest = curve.delta_at(epsilon)
            mixed = delta_up(infinity + (1.0 - infinity) * rest)
            delta = np.minimum(delta, np.where(rest > 0.0, mixed, infinity))
        return np.asarray(delta)

    def epsilon_at(self, delta: float) -> float:
        """Smallest ``epsilon`` among the bounds, ``inf`` where none is proved."""
        delta = check_delta(delta)
        epsilon = self.pure_epsilon()
        if self._losses is not None:
            epsilon = min(epsilon, self._losses.epsilon_at(delta))
        for infinity, curve in self._closed:
            if infinity <= delta:  # less what delta_at is rounded up by
                rest = max(0.0, delta - infinity - 1e-14 * delta) / (1.0 - infinity)
                epsilon = min(epsilon, curve.epsilon_at(rest))
        return epsilon

    def mu(self) -> float:
        """Root of the sum of the squares; ``inf`` if a part has no ``mu``."""
        return _root_of_squares((curve.mu(), n) for curve, n in self.parts)

    def mu_bracket(self) -> tuple[float, float]:
        """Lower end of the worst part, and :meth:`mu`."""
        return max(curve.mu_bracket()[0] for curve, _ in self.parts), self.mu()

    def pure_epsilon(self) -> float:
        """Sum of the parts."""
        return _sum((curve.pure_epsilon(), n) for curve, n in self.parts)

    def zcdp_rho(self) -> float:
        """Sum of the parts."""
        return _sum((curve.zcdp_rho(), n) for curve, n in self.parts)

    def _angle(self) -> RaoDP:
        angles = [(curve.rao("angle").theta, n) for curve, n in self.parts]
        if (euclidean := _root_of_squares(angles)) < 1e-100:
            return angle(euclidean)  # squares of sines would underflow
        minus_log = math.fsum(n * minus_log_cosine(theta) for theta, n in angles)
        return angle(angle_of_affinity(up(minus_log)))

    def _parts(self) -> tuple[tuple[PrivacyCurve, int], ...]:
        return self.parts

    @functools.cached_property
    def _split(self) -> tuple[float, tuple[tuple[PrivacyCurve, int], ...]]:
        """Mass of an infinite loss, and the parts without it.

        An (epsilon, delta) pair is dominated by an infinite loss with probability delta and
        randomised response otherwise.
        """
        log_kept = 0.0
        base: list[tuple[PrivacyCurve, int]] = []
        for curve, n in self.parts:
            infinity, rest = curve._without_infinity()
            log_kept += n * math.log1p(-infinity)
            base.append((rest, n))
        return up(-math.expm1(log_kept)) if log_kept else 0.0, tuple(base)

    @functools.cached_property
    def _losses(self) -> LossTable | None:
        if not accounting_available():
            return None
        infinity, base = self._split
        return composed_losses(base, infinity)

    def _renyi(self) -> RDP | None:
        """All parts as Renyi guarantees of the smallest order among them, if they have one."""
        _, base = self._split
        orders = [
            order
            for curve, _ in base
            for guarantee in curve._guarantees()
            for order in guarantee._renyi_orders()
        ]
        if not orders:
            return None
        total = _sum((_renyi_at(curve, min(orders)), n) for curve, n in base)
        return RDP(min(orders), total) if total < math.inf else None

    @functools.cached_property
    def _closed(self) -> tuple[tuple[float, PrivacyCurve | Budget], ...]:
        """Bounds as a mass at infinity and the curve of the rest."""
        infinity, base = self._split
        bounds: list[tuple[float, PrivacyCurve | Budget]] = []
        if (pure := _sum((curve.pure_epsilon(), n) for curve, n in base)) < math.inf:
            bounds.append((infinity, PureCurve(pure)))
        if (rho := _sum((curve.zcdp_rho(), n) for curve, n in base)) < math.inf:
            bounds.append((infinity, ZCDP(rho)))
        if (mu := _root_of_squares((curve.mu(), n) for curve, n in base)) < math.inf:
            bounds.append((infinity, GaussianCurve(mu)))
        if (renyi := self._renyi()) is not None:
            bounds.append((infinity, renyi))
        if self._losses is not None:
            return tuple(bounds)
        for share in _SHARES:
            mass = min(1.0, up(infinity + (1.0 - infinity) * share))
            pure = _sum(_replaced(base, lambda curve: curve.pure_epsilon(), float, share))
            if pure < math.inf:
                bounds.append((mass, PureCurve(pure)))
            mu = _root_of_squares(
                _replaced(base, lambda curve: curve.mu(), pure_to_gaussian, share)
            )
            if mu < math.inf:
                bounds.append((mass, GaussianCurve(mu)))
        return tuple(bounds)


def _renyi_at(curve: PrivacyCurve, order: float) -> float:
    """Renyi parameter of a part at an order, infinite where none is proved."""
    least = math.inf
    for guarantee in curve._guarantees():
        with contextlib.suppress(NoConversionError):
            least = min(least, _rules.implied(guarantee, RDP, Options(order=order)).epsilon)
    return least


def _replaced(
    parts: Sequence[tuple[PrivacyCurve, int]],
    parameter: Callable[[PrivacyCurve], float],
    of_pure: Callable[[float], float],
    share: float,
) -> list[tuple[float, int]]:
    """Parameters; of the parts without one, that of an (epsilon, delta) pair instead.

    The pairs share the delta evenly.
    """
    values = [(parameter(curve), n) for curve, n in parts]
    count = sum(n for value, n in values if value == math.inf)
    result = []
    for (curve, _), (value, n) in zip(parts, values, strict=True):
        replaced = value
        if value == math.inf:
            epsilon = max(curve.epsilon_at(share / count), 1e-300)
            replaced = of_pure(epsilon) if epsilon < math.inf else math.inf
        result.append((replaced, n))
    return result


def _sum(values: Iterable[tuple[float, int]]) -> float:
    """Sum of values that occur several times each, rounded up."""
    terms = [float(np.nextafter(value * n, math.inf)) if n > 1 else value for value, n in values]
    return math.inf if math.inf in terms else sum_up(terms)


def _root_of_squares(values: Iterable[tuple[float, int]]) -> float:
    """Root of the sum of squares of values that occur several times each, rounded up."""
    return root_of_squares_up(repeated_up(value, n) for value, n in values)
