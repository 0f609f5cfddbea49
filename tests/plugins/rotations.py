"""Rotations of space as another package would add them: one file on a base of this library."""

from dataclasses import dataclass

import numpy as np

from riemdp import Sphere
from riemdp.spaces import VALIDATION_TOLERANCE, DiscreteQuotient, check_points, raise_first


@dataclass(frozen=True)
class SO3(DiscreteQuotient):
    """Matrices (3, 3); distances are angles. Unit quaternions, doubled, up to their sign."""

    name = "rotations.SO3"
    dim = 3
    point_shape = (3, 3)
    injectivity_radius = np.pi
    diameter = np.pi
    cover = Sphere(3, 0.25)

    def lift(self, points):
        """Quaternions, as top eigenvectors of a matrix that is linear in the rotation."""
        m = np.asarray(points, dtype=float)
        t = m[..., [0, 1, 2], [0, 1, 2]]
        k = np.zeros((*m.shape[:-2], 4, 4))
        k[..., [0, 1, 2], [0, 1, 2]] = 2.0 * t - t.sum(axis=-1, keepdims=True)
        k[..., [0, 0, 1], [1, 2, 2]] = (m + m.swapaxes(-1, -2))[..., [0, 0, 1], [1, 2, 2]]
        k[..., [0, 1, 2], 3] = (m - m.swapaxes(-1, -2))[..., [2, 0, 1], [1, 2, 0]]
        k[..., 3, 3] = t.sum(axis=-1)
        return self.nearest([0.1, 0.2, 0.3, 1.0], 2.0 * np.linalg.eigh(k, UPLO="U")[1][..., -1])

    def push(self, points):
        x, y, z, w = np.moveaxis(0.5 * np.asarray(points), -1, 0)
        rows = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
                2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]  # fmt: skip
        return np.stack(rows, axis=-1).reshape(*x.shape, 3, 3)

    def nearest(self, base, points):
        flip = np.sum(np.asarray(base) * points, axis=-1, keepdims=True) < 0.0
        return np.where(flip, -points, points)

    def orbit(self, points):
        return np.stack([points, np.negative(points)])

    def validate(self, points):
        array = check_points(points, self.point_shape)
        gap = np.abs(array @ array.swapaxes(-1, -2) - np.eye(3)).max(axis=(-2, -1))
        raise_first(gap > VALIDATION_TOLERANCE, "is not orthogonal")
        raise_first(np.linalg.det(array) < 0.0, "is a reflection")
        return np.where((gap > 1e-14)[..., None, None], self.push(self.lift(array)), array)
