"""Compositions, as another package would add them: a chart is enough."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from riemdp import UnsupportedBallError
from riemdp.spaces import VALIDATION_TOLERANCE, FlatManifold, check_points, raise_first

#: Logarithm of the least part, in units of the largest one, that points are given.
LEAST = -600.0


@dataclass(frozen=True)
class Simplex(FlatManifold):
    """Shares (parts,) that add up to 1, with Aitchison's metric; proportions count, not amounts.

    The chart is the isometric log-ratio: logarithms, less their mean, along orthonormal contrasts.
    """

    name = "compositions.Simplex"
    proof = "https://doi.org/10.1023/A:1023818214614"  # Egozcue et al. 2003: it is an isometry

    parts: int

    @property
    def dim(self):
        return self.parts - 1

    @property
    def point_shape(self):
        return (self.parts,)

    @property
    def _contrasts(self):
        return scipy.linalg.helmert(self.parts)  # orthonormal rows, each of sum 0

    def to_chart(self, points):
        return np.einsum("ij,...j->...i", self._contrasts, np.log(np.asarray(points, dtype=float)))

    def from_chart(self, coordinates):
        logs = np.einsum("ij,...i->...j", self._contrasts, np.asarray(coordinates, dtype=float))
        shares = np.exp(np.maximum(logs - logs.max(axis=-1, keepdims=True), LEAST))
        return shares / shares.sum(axis=-1, keepdims=True)

    def validate(self, points):
        array = check_points(points, self.point_shape)
        raise_first((array <= 0.0).any(axis=-1), "has a part that is not positive; add a count "
                    "that is fixed before the data are seen")  # fmt: skip
        total = array.sum(axis=-1, keepdims=True)
        raise_first(np.abs(total[..., 0] - 1.0) > VALIDATION_TOLERANCE, "does not add up to 1")
        return np.where(np.abs(total - 1.0) > 1e-15 * self.parts, array / total, array)

    def check_ball(self, center, radius):
        super().check_ball(center, radius)
        if np.ptp(np.log(center)) > 0.5 * -LEAST:
            raise UnsupportedBallError("parts of the centre differ by more than e^300; merge parts")

    def rounding(self, center, radius):
        return 1e-15 * (np.linalg.norm(np.log(center)) + radius)
