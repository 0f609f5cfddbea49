"""How far clipping to a ball moves a mean, as public points tell."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riemdp.spaces import clip_norm

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray, Manifold

#: Points under which the variance of their mean is not known.
_MANY = 30
#: Points that are looked at: more change no digit that is shown, and on curved spaces take long.
_MOST, _MOST_CURVED = 10_000, 1_000


@dataclass(frozen=True, eq=False)
class ClippingBias:
    """The records that public points suggest, about means that lie off the centre.

    A record is supposed at ``exp(t, c)`` for each point of normal coordinates c, shape (n, dim),
    about the centre, the mean of the public points, and each of the shifts, shape (K, dim), that
    leads from the centre to a point t. Since the c have mean 0, t is the Frechet mean of these
    records, wherever it is unique.
    """

    manifold: Manifold
    center: FloatArray
    coordinates: FloatArray
    shifts: FloatArray
    _means: FloatArray = field(init=False)
    _records: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        flat = self._is_flat
        most = _MOST if flat else _MOST_CURVED
        given = self.coordinates
        few = given[np.linspace(0, len(given) - 1, min(most, len(given))).astype(int)]
        few = few - few.mean(axis=0)
        object.__setattr__(self, "coordinates", few)
        means = self.manifold.point(self.center, self.shifts)
        records = [few + shift for shift in self.shifts]
        if not flat:
            records = [
                self.manifold.coordinates(self.center, self.manifold.point(mean, few))
                for mean in means
            ]
        object.__setattr__(self, "_means", means)
        object.__setattr__(self, "_records", np.stack(records))

    @property
    def _is_flat(self) -> bool:
        return self.manifold.constant_curvature == 0.0

    def at(self, radius: float, *, in_tangent_space: bool) -> float:
        """Return the bias: the root mean square, over shifts, of how far the mean lies off.

        Of that of the points' law: what the finite number of points adds to the square on average,
        the variance of a mean, is taken off where they are many enough to know it.

        With ``in_tangent_space`` the mean is that of coordinates about the centre. On a curved
        space it lies off the Frechet mean though nothing be clipped.
        """
        squares = []
        for mean, records in zip(self._means, self._records, strict=True):
            short = clip_norm(records, radius)
            moves = short - records
            off = moves.mean(axis=0)
            if not self._is_flat and in_tangent_space:
                point = self.manifold.point(self.center, short.mean(axis=0))
                off = self.manifold.coordinates(mean, point)
            elif self.manifold.curvature_bound > 0.0:
                off = self._pull(mean, records, short)
            squares.append(float(np.sum(off**2)) - self._of_mean(moves))
        return math.sqrt(max(0.0, math.fsum(squares) / len(squares)))

    def _pull(self, mean: FloatArray, records: FloatArray, short: FloatArray) -> FloatArray:
        """Return the mean of clipped records in normal coordinates about the mean of all."""
        far = np.any(records != short, axis=1)
        if not far.any():
            return np.zeros(records.shape[1])
        clipped = self.manifold.point(self.center, short[far])
        moves = self.manifold.coordinates(mean, clipped) - self.coordinates[far]
        pull: FloatArray = moves.sum(axis=0) / len(records)
        return pull

    @staticmethod
    def _of_mean(moves: FloatArray) -> float:
        n = len(moves)
        return float(np.sum(moves.var(axis=0, ddof=1))) / n if n >= _MANY else 0.0
