"""What a guarantee in one privacy definition means in another one."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeVar

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._part import registered
from riemdp.privacy import _rules
from riemdp.privacy._budget import Budget, check_budget

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
    check_budget(guarantee, "guarantee")
    given = {"delta": delta, "epsilon": epsilon, "order": order, "distance": distance}
    _check_options(to, {name for name, value in given.items() if value is not None})
    options = _rules.Options(delta, epsilon, order, distance)
    return _rules.implied(guarantee, to, options)  # type: ignore[no-any-return]


def within(guarantee: Budget, budget: Budget) -> bool:
    """Whether every mechanism with a guarantee is proved to lie within a budget.

    Parameters
    ----------
    guarantee : Budget
        What is proved.
    budget : Budget
        What is asked for.

    Returns
    -------
    bool
        False also where no conversion exists.
    """
    return budget.follows_from(guarantee)


def _check_options(to: object, given: set[str]) -> None:
    """Check that the options given are those that the target needs."""
    if not (isinstance(to, type) and issubclass(to, Budget)) or inspect.isabstract(to):
        names = ", ".join(registered(Budget.sort))
        raise InvalidParameterError(f"to must be one of the classes {names}, got {shown(to)}")
    if len(given) != min(1, len(to.choices)) or not given <= set(to.choices):
        asked = " or ".join(f"{name}=" for name in to.choices)
        asked = f"takes {asked}" if asked else "takes no option"
        got = ", ".join(f"{name}=" for name in sorted(given)) or "none"
        raise InvalidParameterError(f"a conversion to {to.__name__} {asked}, got {got}")
