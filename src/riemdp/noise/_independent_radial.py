"""Distances on products: roots of sums of squares of independent ones."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.manifolds import FloatArray
    from riemdp.noise._law import DistanceLaw

#: Equally likely values that stand for the law of a distance.
_VALUES = 512


@dataclass(frozen=True)
class IndependentRadial:
    """Law of the root of a sum of squares of independent distances, to about three digits.

    ``counts`` says how many independent distances have the law of each part.
    """

    parts: tuple[DistanceLaw, ...]
    counts: tuple[int, ...]

    def mean(self) -> float:
        """Mean distance."""
        return float(np.mean(self._values))

    def quantile(self, q: ArrayLike) -> FloatArray:
        """See :meth:`DistanceLaw.quantile`."""
        levels = (np.arange(_VALUES) + 0.5) / _VALUES
        return np.asarray(np.interp(np.asarray(q, dtype=np.float64), levels, self._values))

    @functools.cached_property
    def _values(self) -> FloatArray:
        levels = (np.arange(_VALUES) + 0.5) / _VALUES
        total = np.zeros(1)
        for part, count in zip(self.parts, self.counts, strict=True):
            power = np.square(np.asarray(part.quantile(levels)))
            for bit in reversed(f"{count:b}"):  # sums of 1, 2, 4, ... of them
                total = _sums(total, power) if bit == "1" else total
                power = _sums(power, power)
        return np.sqrt(total)


def _sums(first: FloatArray, second: FloatArray) -> FloatArray:
    """Equally likely values that stand for those of a sum of two independent numbers."""
    sums = np.sort((first[:, None] + second).reshape(-1))
    return np.asarray(sums.reshape(_VALUES, -1).mean(axis=1))
