"""Picture of a privacy curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _plots
from riemdp._plots import BLUE, GREEN, ORANGE

if TYPE_CHECKING:
    from riemdp.privacy._curve import PrivacyCurve

#: Deltas whose epsilon is marked; under the last one nothing is drawn.
_DELTAS = (1e-3, 1e-6, 1e-9)
_POINTS = 61
#: Letters of a name, and of a word in it, that a title has room for.
_LONGEST, _LONGEST_WORD = 120, 30


def draw_curve(curve: PrivacyCurve, ax: Any) -> Any:
    """Draw ``delta`` against ``epsilon``, with the pairs at some deltas; returns the axes."""
    axes = _plots.axes(ax)
    pairs = [(curve.epsilon_at(delta), delta) for delta in _DELTAS]
    pure = curve.pure_epsilon()
    last = max((epsilon for epsilon, _ in pairs if epsilon < math.inf), default=1.0)
    end = 1.02 * (last or 1.0)
    spread = end * (1.0 - np.linspace(1.0, 0.0, _POINTS) ** 2)  # denser where it falls
    epsilons = np.union1d(spread, [epsilon for epsilon, _ in pairs if epsilon < math.inf])
    deltas = np.asarray(curve.delta_at(epsilons))
    positive = np.where(deltas > 0.0, deltas, np.nan)
    axes.plot(epsilons, positive, color=BLUE, linewidth=2.0, label="proved, rounded up")
    for (epsilon, delta), marker in zip(pairs, "osD", strict=True):
        if epsilon < math.inf:
            label = f"epsilon {epsilon:.4g} at delta {delta:g}"
            axes.plot([epsilon], [delta], marker, color=ORANGE, label=label)
    if pure < math.inf:
        axes.axvline(pure, color=GREEN, linestyle="--", label=f"delta 0 from epsilon {pure:.4g} on")
    axes.set(xlabel="epsilon", ylabel="delta", yscale="log", xlim=(0.0, None))
    axes.set_ylim(bottom=0.3 * _DELTAS[-1])
    axes.legend(loc="best", fontsize="small", framealpha=0.9)
    name = str(curve)
    is_short = len(name) <= _LONGEST and max(map(len, name.split())) <= _LONGEST_WORD
    relation = "" if curve.adjacency is None else f"{curve.adjacency} neighbours"
    _plots.titled(axes, name if is_short else type(curve).__name__, relation)
    return axes
