"""Composition of guarantees: what several releases from the same data guarantee together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from riemdp._checks import shown
from riemdp._errors import InvalidBudgetError, InvalidParameterError
from riemdp.privacy._conversions import KINDS, convert
from riemdp.privacy._definitions import GDP, ZCDP, ApproxDP, Budget, PureDP
from riemdp.privacy._divergences import KLDP, MeanCDP
from riemdp.privacy._rao import RaoDP, angle, angle_of_affinity
from riemdp.privacy._renyi import RDP
from riemdp.privacy._rounding import up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.privacy._curve import PrivacyCurve


def compose(guarantees: Sequence[Budget]) -> Budget | PrivacyCurve:
    """Guarantee of several releases from the same data, taken together.

    Guarantees of one definition give the best closed form in that definition:

    ================  ==========================================================================
    ``PureDP``        sum of ``epsilon``
    ``ApproxDP``      sum of ``epsilon``, and ``1 - product(1 - delta)`` (at most the sum)
    ``GDP``           ``mu = sqrt(sum mu^2)``
    ``ZCDP``          sums of ``rho`` and ``xi``
    ``RDP``           sum of ``epsilon``; of different orders, all lowered to the smallest order
    ``KLDP``          sum of ``alpha``
    ``MeanCDP``       sum of ``mu``, ``tau = sqrt(sum tau^2)``
    Rao angle         ``cos(theta/2) = product cos(theta/2)``, pi once an angle is pi
    Rao parametric    ``theta = sqrt(sum theta^2)``
    ================  ==========================================================================

    Guarantees of different definitions are composed as privacy loss distributions and give a
    privacy curve (numerical with the extra ``accounting``, a looser bound without it). For a
    ``PureDP`` or ``ApproxDP`` total at a given ``delta`` that curve can be much better than the
    sum.

    All rules but one hold for adaptive composition, where each mechanism may be chosen by the
    earlier outputs (its guarantee has to be fixed beforehand). The exception is ``MeanCDP``: the
    rule is for mechanisms chosen beforehand. Convert to ``ZCDP`` first if they are adaptive.

    Parameters
    ----------
    guarantees : sequence of Budget
        At least one.

    Returns
    -------
    Budget or PrivacyCurve
        A ``Budget`` of the same class for guarantees of one definition, rounded up; else a
        ``PrivacyCurve``.

    Raises
    ------
    InvalidParameterError
        If there is nothing to compose or an entry is not a ``Budget``.
    InvalidBudgetError
        If Rao guarantees of both distances are mixed, or a total is outside its domain.

    References
    ----------
    Proofs and sources: docs/proofs/privacy-conversions.md.

    Examples
    --------
    >>> from riemdp import GDP, compose
    >>> compose([GDP(3.0), GDP(4.0)])
    GDP(mu=5.0)
    """
    if not isinstance(guarantees, Iterable):
        raise InvalidParameterError(f"guarantees must be a list of them, got {shown(guarantees)}")
    parts = list(guarantees)
    if not parts:
        raise InvalidParameterError("nothing to compose: give at least one guarantee")
    for part in parts:
        if not isinstance(part, Budget):
            raise InvalidParameterError(f"only privacy definitions compose, got {shown(part)}")
        if type(part) not in KINDS:
            raise InvalidParameterError(f"{type(part).__name__} has no rule of composition")
    distances = {part.distance for part in parts if isinstance(part, RaoDP)}
    if len(distances) > 1:
        raise InvalidBudgetError(
            "Rao guarantees with distance 'angle' and 'parametric' do not compose; convert the "
            'parametric ones first: convert(guarantee, RaoDP, distance="angle")'
        )
    if len(parts) == 1:
        return parts[0]
    if len({type(part) for part in parts}) > 1:
        from riemdp.privacy._pld import compose_budgets

        return compose_budgets(parts)
    return _compose_alike(parts)


def _compose_alike(parts: Sequence[Budget]) -> Budget:
    match parts[0]:
        case PureDP():
            return PureDP(_total(parts, "epsilon"))
        case ApproxDP():
            return _compose_approx(parts)
        case GDP():
            return GDP(_root_of_squares(parts, "mu"))
        case ZCDP():
            return ZCDP(_total(parts, "rho"), _total(parts, "xi"))
        case RDP():
            order = min(part.order for part in parts if isinstance(part, RDP))
            return RDP(
                order, _total([convert(part, RDP, order=order) for part in parts], "epsilon")
            )
        case KLDP():
            return KLDP(_total(parts, "alpha"))
        case MeanCDP():
            return MeanCDP(_total(parts, "mu"), _root_of_squares(parts, "tau"))
        case RaoDP(distance="parametric"):
            return RaoDP(_root_of_squares(parts, "theta"), distance="parametric")
        case _:
            return _compose_angles(parts)


def _compose_approx(parts: Sequence[Budget]) -> ApproxDP:
    deltas: list[float] = _values(parts, "delta")
    together = up(-math.expm1(math.fsum(math.log1p(-delta) for delta in deltas)))
    delta = min(sum_up(deltas), together)
    if delta >= 1.0:
        raise InvalidBudgetError("the composed delta is 1: nothing is guaranteed any more")
    return ApproxDP(_total(parts, "epsilon"), delta)


def _compose_angles(parts: Sequence[Budget]) -> RaoDP:
    thetas = _values(parts, "theta")
    minus_log = math.fsum(minus_log_cosine(theta) for theta in thetas)
    # looser in theory, and it holds where the logarithms underflow
    euclidean = root_of_squares_up(thetas)
    if euclidean < 1e-100:
        return RaoDP(euclidean, distance="angle")
    together = angle(angle_of_affinity(up(minus_log)))
    return RaoDP(min(together.theta, euclidean), distance="angle")


def minus_log_cosine(theta: float) -> float:
    """``-log cos(theta/2)``, accurate at both ends; infinite from pi on."""
    half = 0.5 * theta
    if half >= 0.5 * math.pi:
        return math.inf
    if half < 0.7:
        return -0.5 * math.log1p(-(math.sin(half) ** 2))
    return -math.log(math.cos(half))


def sum_up(values: Sequence[float]) -> float:
    """Smallest float not under the exact sum."""
    try:
        total = math.fsum(values)
    except OverflowError:
        return math.inf
    if math.fsum([*values, -total]) <= 0.0:
        return total
    return math.nextafter(total, math.inf)


def root_of_squares_up(values: Iterable[float]) -> float:
    """Smallest float not under the exact root of the sum of squares, or its successor."""
    values = list(values)
    root = math.hypot(*values)
    if math.isinf(root):
        return root
    exact = sum(
        (count * Fraction(value) ** 2 for value, count in Counter(values).items()), Fraction()
    )
    while Fraction(root) ** 2 < exact:
        root = math.nextafter(root, math.inf)
    return root


def repeated_up(value: float, n: int) -> float:
    """Root of the sum of ``n`` equal squares, ``sqrt(n) value``, rounded up."""
    return value if n == 1 else up(math.sqrt(n) * value, 1e-15)


def _values(parts: Iterable[Budget], name: str) -> list[float]:
    return [getattr(part, name) for part in parts]


def _total(parts: Sequence[Budget], name: str) -> float:
    return sum_up(_values(parts, name))


def _root_of_squares(parts: Sequence[Budget], name: str) -> float:
    return root_of_squares_up(_values(parts, name))
