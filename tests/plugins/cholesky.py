"""Matrices with the log-Cholesky metric, as another package would add them: a chart is enough."""

from dataclasses import dataclass

import numpy as np

from riemdp.manifolds import FlatManifold, check_points, raise_first


@dataclass(frozen=True)
class LogCholesky(FlatManifold):
    """Positive definite matrices by the entries of their Cholesky factor, logs on the diagonal."""

    name = "cholesky.LogCholesky"

    k: int

    @property
    def dim(self):
        return self.k * (self.k + 1) // 2

    @property
    def point_shape(self):
        return (self.k, self.k)

    def to_chart(self, points):
        factor = np.linalg.cholesky(np.asarray(points, dtype=float))
        rows = np.arange(self.k)
        factor[..., rows, rows] = np.log(factor[..., rows, rows])
        return factor[..., *np.tril_indices(self.k)]

    def from_chart(self, coordinates):
        coordinates = np.asarray(coordinates, dtype=float)
        factor = np.zeros((*coordinates.shape[:-1], self.k, self.k))
        factor[..., *np.tril_indices(self.k)] = coordinates
        rows = np.arange(self.k)
        factor[..., rows, rows] = np.exp(factor[..., rows, rows])
        return factor @ np.swapaxes(factor, -1, -2)

    def validate(self, points):
        array, tolerance = check_points(points, self.point_shape)
        gap = np.abs(array - np.swapaxes(array, -1, -2)).max(axis=(-2, -1))
        raise_first(gap > tolerance, "is not symmetric")
        raise_first(np.linalg.eigvalsh(array)[..., 0] <= 0.0, "is not positive definite")
        return array
