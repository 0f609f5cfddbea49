"""Positions in a periodic box, as another package would add them: one file on a base."""

from dataclasses import dataclass

import numpy as np
from flint import arb

from riemdp import Euclidean
from riemdp.spaces import DiscreteQuotient, check_points, raise_first


@dataclass(frozen=True)
class Box(DiscreteQuotient):
    """Positions (dim,) in [0, length), as simulations with periodic boundaries have them."""

    name = "periodic.Box"

    dim: int
    length: float

    @property
    def point_shape(self):
        return (self.dim,)

    @property
    def injectivity_radius(self):
        return 0.5 * self.length  # half of the shortest way round

    @property
    def diameter(self):
        return 0.5 * self.length * np.sqrt(self.dim) * (1.0 + 1e-15)

    @property
    def cover(self):
        return Euclidean(self.dim)

    def lift(self, points):
        return np.asarray(points, dtype=float)

    def push(self, points):
        inside = np.mod(points, self.length)
        return np.where(inside == self.length, 0.0, inside)  # a tiny negative number rounds up

    def nearest(self, base, points):
        away = np.asarray(points) - base
        return base + (away - self.length * np.rint(away / self.length))

    def folded(self, ends):
        found, length = [], arb(self.length)
        for end in ends:
            turns = (end / length + 0.5).floor().unique_fmpz()
            if turns is None:
                return None  # asked again, at more bits
            found.append(end - length * turns)
        return found

    def validate(self, points):
        array = check_points(points, self.point_shape)
        outside = (array < 0.0) | (array >= self.length)
        raise_first(outside.any(axis=-1), "lies outside the box")
        return array

    def rounding(self, center, radius):
        return 1e-14 * self.diameter
