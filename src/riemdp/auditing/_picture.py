"""Picture of an audit: error rates that were measured, and those that the claim allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _plots
from riemdp._plots import BLUE, GREY, ORANGE
from riemdp.auditing._trade_off import claimed_trade_off

if TYPE_CHECKING:
    from riemdp.auditing._result import AuditResult

_RATES = np.linspace(0.0, 1.0, 401)


def draw_audit(result: AuditResult, ax: Any) -> Any:
    """Draw the claimed trade-off curve, the measured one with its band, and certified bounds."""
    axes = _plots.axes(ax)
    curve = result.trade_off
    axes.plot(_RATES, 1.0 - _RATES, color=GREY, linestyle=":", label="outputs that tell nothing")
    claimed = claimed_trade_off(result.claim, _RATES)
    axes.plot(_RATES, claimed, color=BLUE, label=f"claimed: {result.claim}")
    axes.fill_between(_RATES, 0.0, claimed, color=BLUE, alpha=0.08, linewidth=0.0)
    axes.plot(curve.fpr, curve.fnr, color=ORANGE, linestyle="--", label="measured")
    low = np.interp(_RATES + curve.margin, curve.fpr, curve.fnr) - curve.margin
    high = np.interp(_RATES - curve.margin, curve.fpr, curve.fnr) + curve.margin
    axes.fill_between(
        _RATES,
        np.clip(low, 0.0, 1.0),
        np.clip(high, 0.0, 1.0),
        color=ORANGE,
        alpha=0.25,
        linewidth=0.0,
        label=f"band of the whole curve, {100.0 * result.confidence:g} %",
    )
    points = [(event.fpr, event.fnr) for event in result.events]
    axes.plot(*zip(*points, strict=True), "kX", markersize=7, label="certified upper bounds")
    axes.set(xlabel="false positive rate", ylabel="false negative rate")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    axes.legend(loc="upper right", fontsize="small")
    shown = f"shown: mu >= {result.mu_lower:.3g}, pure epsilon >= {result.pure_epsilon_lower:.3g}"
    _plots.titled(axes, result.verdict, shown)
    return axes
