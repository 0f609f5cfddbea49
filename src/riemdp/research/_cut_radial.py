"""Laws of distances that end at a public bound."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._checks import probabilities
from riemdp.noise import gauss_legendre

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Fall of the log density, in logarithms, at which it is left out.
_DEPTH = 50.0
_SCAN = 4000
_PANELS, _PANEL_NODES = 1024, 6


@dataclass(frozen=True, eq=False)
class CutRadial:
    """Law of a distance with a continuous log density on ``(0, upper)``, known up to a constant.

    Integrals are those of a composite Gauss-Legendre rule, quantiles are right to five digits.
    """

    log_density: Callable[[FloatArray], FloatArray]
    upper: float

    def mean(self) -> float:
        """Mean distance."""
        middle, masses = self._nodes
        return float(np.sum(middle * masses))

    def quantile(self, q: ArrayLike) -> FloatArray:
        """See :meth:`RadialLaw.quantile`."""
        q = probabilities(q, "q")
        edges, heights = self._panels
        masses = self._nodes[1].sum(axis=-1)
        ends = np.concatenate([[0.0], np.cumsum(masses)])
        panel = np.clip(np.searchsorted(ends, q, side="right") - 1, 0, masses.size - 1)
        share = np.clip((q - ends[panel]) / np.maximum(masses[panel], 1e-300), 0.0, 1.0)
        # within a panel the density is taken as a power of the distance
        start, ratio = np.log(edges[panel]), np.log(edges[panel + 1] / edges[panel])
        grown = heights[panel + 1] - heights[panel] + ratio
        flat = np.abs(grown) < 1e-6
        safe = np.where(flat, 1.0, grown)
        with np.errstate(divide="ignore"):
            raised = np.logaddexp(np.log1p(-share), np.log(share) + safe) / safe
        distance = np.exp(start + np.where(flat, share, raised) * ratio)
        return np.asarray(np.where(q == 1.0, self.upper, np.where(q == 0.0, 0.0, distance)))

    @functools.cached_property
    def _panels(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the panels, all positive, and log densities there."""
        scan = np.geomspace(min(1e-120, 1e-20 * self.upper), self.upper, 2 * _SCAN)
        scan = np.union1d(scan, self.upper * np.arange(1, _SCAN + 1) / _SCAN)
        values = self.log_density(scan)
        heavy = np.flatnonzero(values >= values.max() - _DEPTH)
        low = scan[max(heavy[0] - 1, 0)]
        high = scan[min(heavy[-1] + 1, scan.size - 1)]
        even, rising = np.linspace(low, high, _PANELS), np.geomspace(low, high, _PANELS)
        edges = np.union1d(even, rising)
        return edges, self.log_density(edges)

    @functools.cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        """Nodes and their masses, which add up to one, shape ``(panels, nodes)``."""
        points, weights = gauss_legendre(_PANEL_NODES)
        edges = self._panels[0]
        half = 0.5 * np.diff(edges)[:, None]
        at = edges[:-1, None] + half * (1.0 + points)
        values = self.log_density(at.reshape(-1)).reshape(at.shape)
        masses = weights * half * np.exp(values - values.max())
        return at, masses / masses.sum()
