"""What a guarantee in one privacy definition means in another one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from riemdp._checks import real, shown
from riemdp._errors import InvalidParameterError, NoConversionError
from riemdp.privacy._curve import pure_to_gaussian
from riemdp.privacy._definitions import GDP, ZCDP, ApproxDP, Budget, PureDP
from riemdp.privacy._divergences import KLDP, MeanCDP
from riemdp.privacy._rao import RaoDP, angle, angle_of_response, angle_of_separation, check_distance
from riemdp.privacy._renyi import RDP, response_divergence
from riemdp.privacy._rounding import half_square_up, up

if TYPE_CHECKING:
    from riemdp.privacy._rao import RaoDistance

BudgetT = TypeVar("BudgetT", bound=Budget)


def convert(
    guarantee: Budget,
    to: type[BudgetT],
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    order: float | None = None,
    distance: RaoDistance | None = None,
) -> BudgetT:
    """Tightest proved guarantee in another definition.

    Every mechanism with ``guarantee`` also has the result. Conversions are exact (no smaller
    parameter is true for all such mechanisms) or on the safe side; rounding is on the safe side.
    Rows are what is given, columns what is asked for:

    ==============  ======  ========  =====  =====  =====  =====  =======  =====  ==========
    from / to       PureDP  ApproxDP  GDP    ZCDP   RDP    KLDP   MeanCDP  angle  parametric
    ==============  ======  ========  =====  =====  =====  =====  =======  =====  ==========
    PureDP          exact   exact     exact  exact  exact  exact  safe     exact  none
    ApproxDP        none    exact     none   none   none   none   none     exact  none
    GDP             none    exact     exact  exact  exact  exact  safe     exact  none
    ZCDP            none    safe      none   exact  exact  exact  safe     exact  none
    RDP             none    safe      none   none   safe   safe   none     exact  none
    KLDP            none    safe      none   none   none   exact  none     exact  none
    MeanCDP         none    safe      none   safe   safe   safe   exact    safe   none
    Rao angle       none    exact     none   none   none   none   none     exact  none
    Rao parametric  none    safe      none   none   none   none   none     safe   exact
    ==============  ======  ========  =====  =====  =====  =====  =======  =====  ==========

    ``RDP(math.inf, epsilon)`` is treated as ``PureDP(epsilon)``. ``ZCDP`` with ``xi > 0`` has safe
    conversions only, and none to ``MeanCDP``. ``RDP`` goes to smaller orders only.

    Parameters
    ----------
    guarantee : Budget
        What is proved.
    to : type
        The class of the definition asked for.
    delta, epsilon : float, optional
        For ``ApproxDP``, exactly one of them: the other one is computed. ``delta`` in (0, 1),
        ``epsilon`` positive.
    order : float, optional
        For ``RDP``: the order, above 1; ``math.inf`` is allowed.
    distance : {"angle", "parametric"}, optional
        For ``RaoDP``.

    Returns
    -------
    Budget
        Of the class ``to``.

    Raises
    ------
    NoConversionError
        If no true conversion exists, or none is proved; the message says why.
    InvalidParameterError
        If an option is missing, outside its domain or not one of this definition.

    Notes
    -----
    Formulas and proofs: docs/proofs/privacy-conversions.md. ``delta`` and ``epsilon`` of a
    ``MeanCDP``, ``KLDP`` or ``RDP`` of order under 1.5 take milliseconds, all else is a closed
    form or a short root search.

    Examples
    --------
    >>> from riemdp import PureDP, RaoDP, convert
    >>> round(convert(PureDP(1.0), RaoDP, distance="angle").theta, 6)
    0.960762
    """
    if type(guarantee) not in KINDS:
        raise InvalidParameterError(
            f"guarantee must be a privacy definition of this library, got {shown(guarantee)}"
        )
    options = _Options(delta, epsilon, order, distance)
    options.check(to)
    if isinstance(guarantee, RDP) and math.isinf(guarantee.order):
        guarantee = PureDP(guarantee.epsilon)
    conversion = CONVERSIONS.get((type(guarantee), to))
    if conversion is None:
        if type(guarantee) is to:
            return guarantee
        raise _none(guarantee, to)
    return conversion(guarantee, options)  # type: ignore[return-value]


def within(guarantee: Budget, budget: Budget) -> bool:
    """Whether every mechanism with a guarantee is proved to lie within a budget.

    Parameters
    ----------
    guarantee : Budget
        What is proved.
    budget : Budget
        What is asked for, of any kind but ``ApproxDP``.

    Returns
    -------
    bool
        False also where no conversion exists.
    """
    options = {
        "order": getattr(budget, "order", None),
        "distance": getattr(budget, "distance", None),
    }
    try:
        implied = convert(guarantee, type(budget), **options)
    except NoConversionError:
        return False
    return all(
        getattr(implied, item.name) <= getattr(budget, item.name)
        for item in fields(implied)  # type: ignore[arg-type]
        if item.name not in options
    )


@dataclass(frozen=True, slots=True)
class _Options:
    delta: float | None
    epsilon: float | None
    order: float | None
    distance: RaoDistance | None

    def check(self, to: Any) -> None:
        """Check that the options given are those that the target needs."""
        if not isinstance(to, type) or to not in KINDS:
            names = ", ".join(kind.__name__ for kind in KINDS)
            raise InvalidParameterError(f"to must be one of the classes {names}, got {shown(to)}")
        needed = _NEEDED.get(to, ())
        given = [name for name in self.__slots__ if getattr(self, name) is not None]
        if len(given) != min(1, len(needed)) or not set(given) <= set(needed):
            asked = f"takes {' or '.join(f'{n}=' for n in needed)}" if needed else "takes no option"
            got = ", ".join(f"{name}=" for name in given) or "none"
            raise InvalidParameterError(f"a conversion to {to.__name__} {asked}, got {got}")


def _none(guarantee: Budget, to: type[Budget]) -> NoConversionError:
    return NoConversionError(
        f"{guarantee!r} implies no {to.__name__} guarantee: {_LIMITS[type(guarantee)]}"
    )


def _to_approx(guarantee: Budget, options: _Options) -> ApproxDP:
    routes: list[Budget] = [guarantee]
    if isinstance(guarantee, ZCDP):
        routes.append(_affinity_angle(guarantee))
    elif isinstance(guarantee, RDP) and guarantee.order < 1.5:
        routes.append(KLDP(guarantee.epsilon))
    if options.epsilon is not None:
        target = PureDP(options.epsilon).epsilon
        delta = min(float(route.delta_at(target)) for route in routes)
        if delta >= 1.0:
            raise NoConversionError(f"{guarantee!r} has no delta under 1 at epsilon = {target}")
        return ApproxDP(target, max(delta, sys.float_info.min))
    delta = real(options.delta, "delta")
    if delta == 0.0:
        raise NoConversionError("delta = 0 is pure privacy: convert to PureDP instead")
    delta = ApproxDP(1.0, delta).delta
    epsilon = min(route.epsilon_at(delta) for route in routes)
    if math.isinf(epsilon):
        floor = min(float(route.delta_at(math.inf)) for route in routes)
        raise NoConversionError(
            f"{guarantee!r} has no epsilon at delta = {delta}: its delta stays above {floor:.6g} "
            "at every epsilon"
        )
    return ApproxDP(max(epsilon, sys.float_info.min), delta)


def _order(options: _Options) -> float:
    return RDP(options.order, 1.0).order  # type: ignore[arg-type]


def _pure_to_rdp(guarantee: PureDP, options: _Options) -> RDP:
    order = _order(options)
    if math.isinf(order):
        return RDP(order, guarantee.epsilon)
    divergence = up(response_divergence(guarantee.epsilon, order))
    return RDP(order, min(guarantee.epsilon, divergence))


def _gaussian_to_rdp(guarantee: GDP, options: _Options) -> RDP:
    return RDP(_finite(_order(options), guarantee), up(_order(options) * _rho(guarantee)))


def _zcdp_to_rdp(guarantee: ZCDP, options: _Options) -> RDP:
    order = _finite(_order(options), guarantee)
    return RDP(order, up(guarantee.xi + guarantee.rho * order))


def _rdp_to_rdp(guarantee: RDP, options: _Options) -> RDP:
    order = _order(options)
    if order > guarantee.order:
        raise NoConversionError(
            f"{guarantee!r} implies no RDP guarantee of the larger order {order}: divergences "
            "grow with the order without limit"
        )
    return RDP(order, guarantee.epsilon)


def _mean_to_rdp(guarantee: MeanCDP, options: _Options) -> RDP:
    order = _finite(_order(options), guarantee)
    rho = guarantee.zcdp().rho
    return RDP(order, up(min(guarantee.mu, rho) + (order - 1.0) * rho))


def _finite(order: float, guarantee: Budget) -> float:
    if math.isinf(order):
        raise _none(guarantee, PureDP)
    return order


def _pure_kl(epsilon: float) -> float:
    """``epsilon tanh(epsilon/2)``, rounded up."""
    return min(epsilon, up(epsilon * math.tanh(0.5 * epsilon)))


def _zcdp_to_mean(guarantee: ZCDP) -> MeanCDP:
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


def _to_rao(formula: Callable[[Any], RaoDP]) -> Callable[[Any, _Options], RaoDP]:
    def conversion(guarantee: Budget, options: _Options) -> RaoDP:
        if check_distance(options.distance) == "angle":
            return formula(guarantee)
        raise NoConversionError(
            f'{guarantee!r} implies no RaoDP(distance="parametric"): the length of a path in the '
            "mechanism's family follows from the mechanism alone, ask it (mechanism.rao)"
        )

    return conversion


def _approx_angle(guarantee: ApproxDP) -> RaoDP:
    """``cos(theta/2) = (1 - delta) sech(epsilon/2)``."""
    lost = guarantee.delta
    tanh = math.tanh(0.5 * guarantee.epsilon)
    decay = math.exp(-0.5 * guarantee.epsilon)
    sech = 2.0 * decay / (1.0 + decay * decay)
    sine = math.hypot(tanh, sech * math.sqrt(lost) * math.sqrt(2.0 - lost))
    return angle(2.0 * math.atan2(sine, (1.0 - lost) * sech))


def _affinity_angle(guarantee: ZCDP) -> RaoDP:
    return KLDP(up(guarantee.rho + guarantee.xi)).angle()


def _rao_to_rao(guarantee: RaoDP, options: _Options) -> RaoDP:
    if check_distance(options.distance) == guarantee.distance:
        return guarantee
    if options.distance == "angle":
        return RaoDP(min(guarantee.theta, math.pi), distance="angle")
    return _to_rao(lambda kept: kept)(guarantee, options)


def _zcdp(rho: float) -> ZCDP:
    return ZCDP(max(rho, 1e-300))  # ZCDP searches for its orders in normal numbers


def _rho(guarantee: GDP) -> float:
    return half_square_up(guarantee.mu)


#: The definitions of this library.
KINDS: tuple[type[Budget], ...] = (PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP, RaoDP)

_NEEDED: dict[type[Budget], tuple[str, ...]] = {
    ApproxDP: ("delta", "epsilon"),
    RDP: ("order",),
    RaoDP: ("distance",),
}

#: What a definition leaves open, so that no conversion exists where the table has none.
_LIMITS: dict[type[Budget], str] = {
    ApproxDP: "with probability delta an output may reveal everything, so the loss has no moments",
    GDP: "a Gaussian satisfies it, and its privacy loss is unbounded",
    ZCDP: "it allows an unbounded privacy loss, and no comparison with a Gaussian is proved",
    RDP: "it bounds one moment of the privacy loss and leaves higher ones open",
    KLDP: "it bounds the mean of the privacy loss and leaves its other moments open",
    MeanCDP: "it allows an unbounded privacy loss, and no comparison with a Gaussian is proved",
    RaoDP: (
        "an output of probability sin(theta/2)^2 may be impossible for the neighbour, so the "
        "loss can be infinite. A mechanism may have more (mechanism.privacy), theta has not"
    ),
}

#: The conversions, by what is given and what is asked for. A pair that is missing has none.
CONVERSIONS: dict[tuple[type[Budget], type[Budget]], Callable[[Any, _Options], Budget]] = {
    **{(kind, ApproxDP): _to_approx for kind in KINDS},
    (PureDP, GDP): lambda g, _: GDP(pure_to_gaussian(g.epsilon)),
    (PureDP, ZCDP): lambda g, _: _zcdp(_pure_kl(g.epsilon)),
    (GDP, ZCDP): lambda g, _: _zcdp(_rho(g)),
    (MeanCDP, ZCDP): lambda g, _: g.zcdp(),
    (PureDP, RDP): _pure_to_rdp,
    (GDP, RDP): _gaussian_to_rdp,
    (ZCDP, RDP): _zcdp_to_rdp,
    (RDP, RDP): _rdp_to_rdp,
    (MeanCDP, RDP): _mean_to_rdp,
    (PureDP, KLDP): lambda g, _: KLDP(_pure_kl(g.epsilon)),
    (GDP, KLDP): lambda g, _: KLDP(_rho(g)),
    (ZCDP, KLDP): lambda g, _: KLDP(up(g.rho + g.xi) if g.xi else g.rho),
    (RDP, KLDP): lambda g, _: KLDP(g.epsilon),
    (MeanCDP, KLDP): lambda g, _: g.kl(),
    (PureDP, MeanCDP): lambda g, _: MeanCDP(_pure_kl(g.epsilon), g.epsilon),
    (GDP, MeanCDP): lambda g, _: _zcdp_to_mean(ZCDP(_rho(g))),
    (ZCDP, MeanCDP): lambda g, _: _zcdp_to_mean(g),
    (PureDP, RaoDP): _to_rao(lambda g: angle(angle_of_response(g.epsilon))),
    (ApproxDP, RaoDP): _to_rao(_approx_angle),
    (GDP, RaoDP): _to_rao(lambda g: angle(angle_of_separation(g.mu))),
    (ZCDP, RaoDP): _to_rao(_affinity_angle),
    (RDP, RaoDP): _to_rao(lambda g: g.angle()),
    (KLDP, RaoDP): _to_rao(lambda g: g.angle()),
    (MeanCDP, RaoDP): _to_rao(lambda g: g.kl().angle()),
    (RaoDP, RaoDP): _rao_to_rao,
}
