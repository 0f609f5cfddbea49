"""Logs of integrals of exponentials, by two rules that have to agree.

What is allowed for them is in docs/proofs/isotropic-curve.md.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.privacy._budget import FloatArray

    Flags = NDArray[np.bool_]
    Integrand = Callable[[FloatArray, FloatArray], FloatArray]
    Rows = NDArray[np.intp]
    Rule = Callable[["Cut"], FloatArray]

#: Largest relative difference of the two quadrature rules.
_AGREEMENT = 6e-12
#: Added to it, times the log of the integral: rounding of a large exponent.
_ROUNDING = 8e-15
#: Nodes of the grid that finds the peak.
COARSE_NODES = 24
#: Even steps across integrands that are cut off this far from both ends, as a share of what is
#: left: peaks, rather than powers of the distance to an end.
_STEPS, _FAR = 64, 0.01
#: Logarithms of what is cut off, relative to the largest value, once the peak is known: at first,
#: and at last.
_DEPTHS = (70.0, 36.0)
#: Panels shrink by this factor towards both ends.
_PANEL_FACTOR, _PANELS = 6.0, 12


@dataclass(frozen=True, eq=False)
class Cut:
    """Intervals from which something is cut off at both ends, and the logs of their integrands."""

    first: FloatArray
    last: FloatArray
    span: FloatArray
    log_integrand: Integrand

    @property
    def width(self) -> FloatArray:
        """Lengths of what is left, shape (rows, 1)."""
        return (self.span - self.first - self.last)[:, None]

    def logs(self, points: FloatArray, rest: FloatArray, weights: FloatArray) -> FloatArray:
        """Return logs of weighted sums of exponentials, shape of the weights with an axis of rows.

        Points are those of (0, 1), and ``rest`` is how far they are from 1.
        """
        width = self.width
        values = self.log_integrand(
            self.first[:, None] + width * points, self.last[:, None] + width * rest
        )
        peak = values.max(axis=1)
        shifted = np.exp(values - np.where(peak > -np.inf, peak, 0.0)[:, None])
        return np.asarray(peak + np.log(width[:, 0] * (weights @ shifted.T)))


def log_integrals(
    span: FloatArray, depth: float, build: Callable[[Rows], Integrand]
) -> tuple[FloatArray, Flags]:
    """Log of the integral over each of n intervals, and where two rules agree on it.

    ``span (n,)`` has positive lengths. ``build(rows)`` gives the log of the integrands of these
    intervals: a function of the distances to the lower and to the upper end, shape (rows, nodes).
    Where an integrand is ``exp(-depth)`` times its largest value on a coarse grid it is cut off,
    and farther in once the peak is located.
    """
    log_integrand = build(np.arange(span.size))
    first, last = np.zeros_like(span), np.zeros_like(span)
    depths = (depth, *(each for each in _DEPTHS if each < depth))
    for pair in itertools.pairwise(depths):
        first, last = _trimmed(Cut(first, last, span, log_integrand), pair)
    result, agree = np.empty_like(span), np.zeros(span.size, dtype=bool)

    def taken(rows: Rows) -> Cut:
        if rows.size == span.size:
            return Cut(first, last, span, log_integrand)
        return Cut(first[rows], last[rows], span[rows], build(rows))

    rows = np.flatnonzero(np.minimum(first, last) > _FAR * (span - first - last))
    if rows.size:
        result[rows], coarse = _even(taken(rows))
        agree[rows] = _agree(result[rows], coarse)
    rows, part = np.flatnonzero(~agree), None
    for group in _RULES:
        check = np.full(rows.size, np.nan)
        for apply in group:
            if not rows.size:
                return result, agree
            part = part or taken(rows)
            result[rows] = fine = apply(part)
            agree[rows] = done = _agree(fine, check)
            if done.any():
                rows, fine, part = rows[~done], fine[~done], None
            check = fine
    return result, agree


def _agree(fine: FloatArray, check: FloatArray) -> Flags:
    near = np.abs(fine - check) <= _AGREEMENT + _ROUNDING * np.abs(fine)
    return np.asarray(near | ((fine == check) & (fine == -np.inf)))


def _trimmed(whole: Cut, depths: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Offsets from the lower and the upper end between which the integrand counts.

    Cut off at the first depth until less than half goes, then at the second.
    """
    first, last, span = whole.first, whole.last, whole.span
    points, rest, _ = rule(COARSE_NODES)
    rows, end = np.arange(span.size), COARSE_NODES - 1

    def cut(depth: float) -> tuple[FloatArray, FloatArray]:
        kept = above >= -depth
        start, stop = kept.argmax(axis=1) - 1, kept[:, ::-1].argmax(axis=1) - 1
        low = np.where(start >= 0, t[rows, start], first)
        return low, np.where(stop >= 0, top[rows, end - np.maximum(stop, 0)], last)

    for _ in range(12):
        width = (span - first - last)[:, None]
        t, top = first[:, None] + width * points, last[:, None] + width * rest
        values = whole.log_integrand(t, top)
        above = values - values.max(axis=1, keepdims=True)
        low, high = cut(depths[0])
        if (span - low - high >= 0.5 * width[:, 0]).all():
            return cut(depths[1])
        first, last = low, high
    return first, last


def _even(cut: Cut) -> FloatArray:
    """Apply trapezoids, and those of twice the step, to what counts for nothing at the ends."""
    points = np.linspace(0.0, 1.0, _STEPS + 1)
    weights = np.full((2, _STEPS + 1), 1.0 / _STEPS)
    weights[1] = np.where(np.arange(_STEPS + 1) % 2 == 0, 2.0 / _STEPS, 0.0)
    return cut.logs(points, points[::-1], weights)


def _apply(nodes: int, cut: Cut, *, graded: bool = False) -> FloatArray:
    return cut.logs(*(_graded(nodes) if graded else rule(nodes)))


def _apply_panels(nodes: int, cut: Cut) -> FloatArray:
    """Apply a rule to panels that shrink geometrically towards both ends."""
    steps = 0.5 * _PANEL_FACTOR ** -np.arange(float(_PANELS))
    low, high = np.append(0.0, steps[:0:-1]), steps[::-1]
    width = cut.width[:, 0]
    panels = [
        replace(cut, first=cut.first + width * i, last=cut.last + width * (1.0 - j))
        for i, j in [*zip(low, high, strict=True), *zip(1.0 - high, 1.0 - low, strict=True)]
    ]
    return np.asarray(np.logaddexp.reduce([_apply(nodes, panel) for panel in panels], axis=0))


#: Groups of rules in turn, until one agrees with the one before it in its group: nodes that crowd
#: at both ends; more so at the lower one, for a second scale there; more nodes; at last panels.
_RULES: tuple[tuple[Rule, ...], ...] = (
    tuple(functools.partial(_apply, nodes) for nodes in (42, 56, 72)),
    tuple(functools.partial(_apply, nodes, graded=True) for nodes in (88, 112)),
    tuple(functools.partial(_apply, nodes) for nodes in (108, 144)),
    tuple(functools.partial(_apply_panels, nodes) for nodes in (48, 64)),
)


@functools.cache
def rule(nodes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes on (0, 1), distances from 1, weights; in an angle, as the ends have square roots."""
    legendre, weights = np.polynomial.legendre.leggauss(nodes)
    angle = 0.5 * math.pi * (legendre + 1.0)
    points, rest = np.sin(0.5 * angle) ** 2, np.cos(0.5 * angle) ** 2
    return points, rest, 0.25 * math.pi * weights * np.sin(angle)


@functools.cache
def _graded(nodes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Take the squares of the nodes, fourth powers in the angle."""
    points, rest, weights = rule(nodes)
    return points**2, rest * (1.0 + points), 2.0 * points * weights
