"""What must hold of a privacy definition."""

from __future__ import annotations

import math

import numpy as np

from riemdp.privacy import Budget, GaussianCurve, PureCurve
from riemdp.testing._tools import available, require

_EPSILONS = np.linspace(0.0, 8.0, 33)
_DELTAS = (1e-9, 1e-6, 1e-3, 0.1)
#: Sizes of the curves that are held against a definition.
_SIZES = np.geomspace(1e-4, 1e2, 25)


def delta_falls(budget: Budget) -> None:
    """Check that ``delta_at`` lies in [0, 1] and falls."""
    delta = np.asarray(budget.delta_at(_EPSILONS))
    require(delta.shape == _EPSILONS.shape, "delta_at returns an array of the shape of epsilon")
    require((delta >= 0.0) & (delta <= 1.0), "delta lies in [0, 1]")
    require(np.diff(delta) <= 1e-12, "delta falls in epsilon")


def epsilon_inverts_delta(budget: Budget) -> None:
    """Check that ``epsilon_at`` is large enough, and falls in delta."""
    found = [budget.epsilon_at(delta) for delta in _DELTAS]
    require(np.asarray(found) >= 0.0, "epsilon is at least 0")
    require(sorted(found, reverse=True) == found, "epsilon falls in delta")
    for delta, epsilon in zip(_DELTAS, found, strict=True):
        if math.isfinite(epsilon):
            reached = float(np.asarray(budget.delta_at(epsilon)))
            require(
                reached <= delta * (1.0 + 1e-9),
                f"delta_at(epsilon_at({delta:g})) = {reached:.6g} is at most {delta:g}",
            )


def allows_less(budget: Budget) -> None:
    """Check that less is allowed wherever more is, and implies the delta that is stated.

    Gaussian and pure curves are exact: one that the definition allows must not lie above what the
    definition says it implies.
    """
    with available():
        for curve_of, name in ((GaussianCurve, "Gaussian"), (PureCurve, "pure")):
            curves = [curve_of(float(size)) for size in _SIZES]
            allowed = [budget.allows(curve) for curve in curves]
            require(
                allowed == sorted(allowed, reverse=True),
                f"less is allowed wherever more is, of {name} curves",
            )
            stated = np.asarray(budget.delta_at(_EPSILONS))
            for size, curve, within in zip(_SIZES, curves, allowed, strict=True):
                delta = np.asarray(curve.delta_at(_EPSILONS))
                require(
                    not within or bool(np.all(delta <= stated * (1.0 + 1e-9) + 1e-15)),
                    f"the {name} curve of {size:.4g} is allowed, but lies above delta_at",
                )


def shares_add_up(budget: Budget) -> None:
    """Check that the shares of several releases stay within the budget together."""
    for releases in (1, 2, 7):
        with available():
            share = budget.split(releases)
            total = budget.total([releases * amount for amount in share.price()])
            require(
                total is not None and _within(total, budget),
                f"{releases} shares of split({releases}) stay within the budget",
            )


def _within(total: Budget, budget: Budget) -> bool:
    limit = np.asarray(budget.delta_at(_EPSILONS)) * (1.0 + 1e-9)
    return bool(np.all(np.asarray(total.delta_at(_EPSILONS)) <= limit))


CHECKS = (delta_falls, epsilon_inverts_delta, allows_less, shares_add_up)
