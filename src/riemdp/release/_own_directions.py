"""One direction, axis or shape for each person, of all that person's records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.statistics import rows_of_users

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

    #: One unit vector of several; None where they have none in common.
    Own = Callable[[FloatArray], FloatArray | None]


def own_directions(
    points: FloatArray, users: NDArray[Any], own: Own, fallback: FloatArray
) -> FloatArray:
    """Return one unit vector for each person, shape (people, dim), of that person's records alone.

    Of unit vectors, shape (n, dim), and whose each is. ``fallback`` is the public one of those
    whose records have none in common.
    """
    found = np.empty((0, points.shape[1]))
    for rows in rows_of_users(users):
        one = points[rows[0]] if len(rows) == 1 else own(points[rows])
        found = np.vstack([found, fallback if one is None else one])
    return found


def mean_direction(vectors: FloatArray) -> FloatArray | None:
    """Return the direction of the sum of vectors, shape (m, dim), if there is one."""
    total = np.array([math.fsum(column) for column in vectors.T])
    length = math.hypot(*total)
    return total / length if length > 0.0 else None


def main_axis(vectors: FloatArray) -> FloatArray | None:
    """Return the leading eigenvector of the mean of ``x x^T``: no sign of a vector counts."""
    return _leading(_added(vectors[:, :, None] * vectors[:, None, :]))


def main_preshape(vectors: FloatArray) -> FloatArray | None:
    """Return the leading eigenvector of the mean of ``z z*``: no phase of a vector counts.

    Rows, shape (m, 2 k), hold real parts, then imaginary parts; so does the result.
    """
    real, imaginary = np.split(vectors, 2, axis=-1)
    z = real + 1j * imaginary
    products = z[:, :, None] * z[:, None, :].conj()
    found = _leading(_added(products.real) + 1j * _added(products.imag))
    return None if found is None else np.concatenate([found.real, found.imag])


def _added(matrices: FloatArray) -> FloatArray:
    """Return the sum, correctly rounded: in whatever order they come."""
    flat = matrices.reshape(len(matrices), -1)
    return np.array([math.fsum(entry) for entry in flat.T]).reshape(matrices.shape[1:])


def _leading(matrix: NDArray[Any]) -> NDArray[Any] | None:
    try:
        vector = np.linalg.eigh(matrix)[1][:, -1]
    except np.linalg.LinAlgError:
        return None
    length = float(np.linalg.norm(vector))
    return vector / length if 0.5 < length < 2.0 else None
