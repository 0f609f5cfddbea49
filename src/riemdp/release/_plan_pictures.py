"""Pictures of plans: of one, of several, and of radii of balls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _plots
from riemdp._plots import BLUE, COLOURS, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY

if TYPE_CHECKING:
    from riemdp.release._advise_ball import BallAdvice
    from riemdp.release._plan import Plan, PlanRow
    from riemdp.release._plan_grid import PlanGrid

_ERROR = "expected error, geodesic distance"


def draw_plan(plan: Plan, ax: Any) -> Any:
    """Draw a bar for each mechanism."""
    axes = _plots.axes(ax)
    rows, best = [*plan.rows], plan.best
    longest = max((far for row in rows for far in _numbers(row)), default=0.0)
    longest = max(longest, plan.target_error or 0.0) or 1.0
    for place, row in enumerate(rows):
        is_best = row is best
        if row.expected_distance is not None:
            axes.barh(place, row.expected_distance, color=BLUE if is_best else SKY, height=0.6)
        axes.text(
            1.54 * longest,
            place,
            _row_in_words(row),
            ha="right",
            va="center",
            fontsize="small",
            fontweight="bold" if is_best else "normal",
        )
    known = [(row.quantile_95, k) for k, row in enumerate(rows) if row.quantile_95 is not None]
    if known:
        axes.plot(*zip(*known, strict=True), "|", color=ORANGE, ms=14, mew=2, label="95 % under")
    if plan.target_error is not None:
        label = f"target {plan.target_error:.3g}"
        axes.axvline(plan.target_error, color=PURPLE, linestyle="--", label=label)
    if known or plan.target_error is not None:
        axes.legend(loc="lower right", ncols=2, fontsize="small", framealpha=0.9)
    names = [f"{row.mechanism}\n{row.summary}" + (", taken" if row is best else "") for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize="small")
    axes.set(ylim=(len(rows) + 0.3, -0.5), xlim=(0.0, 1.56 * longest), xlabel=_ERROR)
    _plots.second_axis(axes, plan.manifold.unit(1.56 * longest))
    _plots.titled(axes, plan.title)
    return axes


def _row_in_words(row: PlanRow) -> str:
    """Return the numbers of a row, or why there are none."""
    if row.expected_distance is None:
        return "not available" if row.problem else "error not known"
    said = f"{row.expected_distance:.3g}"
    if row.quantile_95 is not None:
        said += f" (95 %: {row.quantile_95:.3g})"
    return said + (", not proved" if row.unproven else "")


def _numbers(row: PlanRow) -> list[float]:
    return [far for far in (row.expected_distance, row.quantile_95) if far is not None]


def draw_grid(grid: PlanGrid, ax: Any) -> Any:
    """Draw a curve of errors for each budget, with the target."""
    axes = _plots.axes(ax)
    errors, target, order = grid.errors, grid.target_error, np.argsort(grid.ns, kind="stable")
    ns = np.asarray(grid.ns, dtype=float)[order]
    for j, (budget, needed) in enumerate(zip(grid.budgets, grid.required_n, strict=True)):
        said = "" if needed is None else f", needs n = {needed:,}"
        axes.plot(
            ns,
            errors[order, j],
            color=COLOURS[j % len(COLOURS)],
            marker=MARKERS[(j // len(COLOURS) + j) % len(MARKERS)],
            label=f"{budget}{said}",
        )
    if target is not None:
        axes.axhline(target, color=GREY, linestyle="--", label=f"target {target:.3g}")
        least = min(target, *errors[np.isfinite(errors)].tolist(), math.inf)
        met = [n for n in grid.required_n if n is not None and ns[0] <= n <= ns[-1]]
        if met:
            axes.plot(
                met, [target] * len(met), "k*", markersize=11, label="smallest n that meets it"
            )
        axes.axhspan(0.5 * least, target, color=GREEN, alpha=0.08, linewidth=0.0)
    axes.set(xscale="log", yscale="log", xlabel="number of records, n", ylabel=_ERROR)
    for axis in (axes.xaxis, axes.yaxis):
        _plots.plain_numbers(axis)
    if target is not None:
        axes.set_ylim(bottom=0.6 * least)
    known = errors[np.isfinite(errors)]
    if not known.size:  # nothing that logarithmic axes could find their limits by
        axes.set_xlim(0.5 * ns[0], 2.0 * ns[-1])
        if target is None:
            axes.set_ylim(0.1, 1.0)
    top = max(float(known.max()) if known.size else 0.0, target or 0.0)
    _plots.second_axis(axes, grid.manifold.unit(top), along="y")
    axes.legend(loc="best", fontsize="small", framealpha=0.9)
    _plots.titled(axes, grid.title)
    return axes


def draw_advice(advice: BallAdvice, ax: Any) -> Any:
    """Draw bias, noise and both together against the radius."""
    axes = _plots.axes(ax)
    radii = [row.radius for row in advice.rows]
    lines = [
        ("both together", [row.error for row in advice.rows], BLUE, "o-"),
        ("noise", [row.noise for row in advice.rows], ORANGE, "s--"),
        ("bias of clipping", [row.bias for row in advice.rows], GREEN, "^:"),
    ]
    for name, values, colour, style in lines:
        axes.plot(radii, values, style, color=colour, label=name, markersize=5)
    best = advice.best
    label = f"advised: radius {best.radius:.3g}, error {best.error:.3g}"
    axes.plot([best.radius], [best.error], "o", color=BLUE, ms=13, mfc="none", mew=2, label=label)
    axes.axhline(advice.shift, color=GREY, linewidth=1.0, label="error of the public centre alone")
    axes.set(xscale="log", xlabel="radius of the ball, geodesic", ylabel="error, geodesic distance")
    _plots.plain_numbers(axes.xaxis)
    axes.set_ylim(bottom=0.0)
    top = max(advice.shift, *(row.error for row in advice.rows))
    _plots.second_axis(axes, advice.ball.manifold.unit(top), along="y")
    axes.legend(loc="best", fontsize="small", framealpha=0.9)
    said = f"{advice.ball.manifold}, n = {advice.n:,}, {advice.budget}"
    _plots.titled(axes, said)
    return axes
