"""Keywords that other libraries have, and what they are called here."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_BUDGET = (
    "the budget is an object, such as riemdp.PureDP(epsilon), ApproxDP(epsilon, delta), GDP(mu)"
)
_SEED = (
    "noise comes from the secure generator of this process; in a test "
    "generator=numpy.random.default_rng(seed), and the release is not private then"
)
_BALL = "the space and its public ball are one object: riemdp.Ball(manifold, center, radius)"
_POINTS = "the records are the first argument, points"
_ADVICE = {
    **dict.fromkeys(("epsilon", "eps", "delta", "mu", "rho", "privacy_budget"), _BUDGET),
    **dict.fromkeys(("random_state", "seed", "rng", "random"), _SEED),
    **dict.fromkeys(("manifold", "space", "center", "centre", "radius", "bounds"), _BALL),
    **dict.fromkeys(("X", "data", "x", "samples", "path"), _POINTS),
    **dict.fromkeys(("sigma", "scale", "noise"), "noise is calibrated to the budget"),
    "axis": "records lie along the first axis",
    "neighbors": "it is spelled neighbours",
    "metric": "the metric is that of the manifold of the ball",
}


def with_advice(function: Callable[P, R]) -> Callable[P, R]:
    """Answer a keyword that there is not with what to write instead.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        The same, but for the text of that ``TypeError``.
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def called(*arguments: P.args, **keywords: P.kwargs) -> R:
        for name in keywords:
            if name not in known:
                advice = f"; {_ADVICE[name]}" if name in _ADVICE else ""
                raise TypeError(f"{function.__name__}() takes no keyword {name!r}{advice}")
        return function(*arguments, **keywords)

    return called
