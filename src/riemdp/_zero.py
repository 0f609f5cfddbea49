"""Where a function changes its sign."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._errors import ConvergenceError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Evaluations after which a search ends; halving alone needs about 1,100 for any two floats.
_MOST = 2000


def zero_between(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float,
    rtol: float = 4.0 * 2.0**-52,
) -> float:
    """Where a continuous function is 0, between two numbers at which its signs differ.

    Inverse quadratic interpolation where it is safe, else halves: Chandrupatla, "A new hybrid
    quadratic/bisection algorithm for finding the zero of a nonlinear function without using
    derivatives", Adv. Eng. Software 1997. The first step is a secant. Pure Python, so that it is
    the same on every machine, and loads nothing.

    Parameters
    ----------
    function : callable
        May be infinite at the ends.
    low, high : float
    xtol, rtol : float
        The result is within ``xtol + rtol |result|`` of a change of sign.

    Returns
    -------
    float

    Raises
    ------
    ConvergenceError
        If the signs do not differ, or a value is NaN.
    """
    last, other = float(low), float(high)  # on both sides of the root
    f_last, f_other = float(function(last)), float(function(other))
    if f_last == 0.0:
        return last
    if not (f_other == 0.0 or (f_last > 0.0) is (f_other < 0.0)):
        raise ConvergenceError("a root was to be found where the signs do not differ")
    share = f_last / (f_last - f_other)
    for _ in range(_MOST):
        best, f_best = (last, f_last) if abs(f_last) < abs(f_other) else (other, f_other)
        least = (xtol + rtol * abs(best)) / abs(other - last)
        if f_best == 0.0 or least > 0.5:
            return best
        if not 0.0 <= share <= 1.0:  # NaN, of infinite values
            share = 0.5
        new = last + min(max(share, least), 1.0 - least) * (other - last)
        f_new = float(function(new))
        if math.isnan(f_new):
            break
        if (f_new > 0.0) is (f_last > 0.0):
            before, f_before = last, f_last
        else:
            before, f_before = other, f_other
            other, f_other = last, f_last
        last, f_last = new, f_new
        share = _share(last, other, before, f_last, f_other, f_before)
    raise ConvergenceError("no root was found")


def _share(  # noqa: PLR0917 -- three points and their values
    a: float, b: float, c: float, f_a: float, f_b: float, f_c: float
) -> float:
    """Return the share of the way from ``a`` to ``b`` at which to look next."""
    xi, phi = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
    if not (phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi):
        return 0.5
    slope = f_a / (f_b - f_a) * f_c / (f_b - f_c)
    return slope + (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (f_c - f_b)
