"""Closed-form means: Euclidean space, log-Euclidean matrices, the circle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds import _symmetric
from riemdp.manifolds._manifold import raise_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball

    FloatArray = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
#: Matrices that one product adds.
_GROUP = 32


def stable_mean(rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Mean over the first axis of ``(n, d)`` by pairwise summation: rounding grows with log n."""
    columns = np.ascontiguousarray(rows.T)
    if weights is not None:
        return np.asarray((columns * weights).sum(axis=-1))
    return np.asarray(columns.sum(axis=-1) / len(rows))


def _summation_allowance(n: int, size: float) -> float:
    """Bound for the rounding of a pairwise sum of n terms of mean size ``size``."""
    return _EPS * (math.log2(max(n, 2)) + 10.0) * size


def euclidean(data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    """Mean ``(d,)`` of ``(n, d)`` and a bound of its rounding error."""
    value = stable_mean(data, weights)
    size = np.linalg.norm(stable_mean(np.abs(data), weights))
    return value, _summation_allowance(len(data), float(size))


def circle(ball: Ball, data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    """Mean on an open half circle: the angles about the centre average as on a line."""
    manifold = ball.manifold
    coordinates = ball.coordinates(data)
    mean = stable_mean(coordinates, weights)
    value = manifold.exp(ball.center, manifold.tangent_vector(ball.center, mean))
    return value, _summation_allowance(len(data), manifold.injectivity_radius)


def log_euclidean(data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    """``Expm(mean Logm)`` of ``(n, k, k)`` and a bound of its rounding error.

    The logarithms are never formed: ``sum_i U_i diag(log s_i) U_i^T`` is one product per chunk.
    An eigenvalue of a matrix X is known to about ``eps |X|``, so its logarithm to the condition
    number times eps; the mean of these, with a margin that grows like the measured error, is the
    allowance.
    """
    k = data.shape[-1]
    if k == 2:
        mean_log, condition = _mean_log_2x2(data, weights)
    else:
        mean_log, condition = _mean_log(data, weights)
    size = float(np.linalg.norm(mean_log)) + 1.0
    allowance = 3.0 * math.sqrt(k) * _EPS * condition + _summation_allowance(len(data), size)
    return _symmetric.expm(mean_log), allowance


def _mean_log(data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    n, k = data.shape[:2]

    def part(rows: slice) -> tuple[FloatArray, float]:
        values, vectors = np.linalg.eigh(data[rows])
        raise_first(values[:, 0] <= 0.0, _symmetric.NOT_POSITIVE_DEFINITE, rows.start)
        condition = values[:, -1] / values[:, 0]
        logs = np.log(values, out=values)
        share = np.full(len(logs), 1.0 / n) if weights is None else weights[rows]
        logs *= share[:, None]
        return _sum_of_compositions(logs, vectors), float(condition @ share)

    matrices, conditions = zip(*_symmetric.map_chunks(part, n, k), strict=True)
    return _symmetric.symmetrise(_pairwise_sum(np.array(matrices))), math.fsum(conditions)


def _sum_of_compositions(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """``sum_i V_i diag(values_i) V_i^T``.

    One product for a group of matrices, then pairwise: one product of all would add in sequence,
    where rounding grows with their number.
    """
    whole = len(values) - len(values) % _GROUP
    return _pairwise_sum(
        np.concatenate(
            [
                _group_compositions(values[:whole], vectors[:whole], _GROUP),
                _group_compositions(values[whole:], vectors[whole:], 1),
            ]
        )
    )


def _group_compositions(values: FloatArray, vectors: FloatArray, group: int) -> FloatArray:
    """Sum ``V_i diag(values_i) V_i^T`` within groups of ``group`` matrices."""
    k = values.shape[-1]
    side_by_side = vectors.reshape(-1, group, k, k).swapaxes(1, 2).reshape(-1, k, group * k)
    scaled = side_by_side * values.reshape(-1, 1, group * k)
    return np.asarray(scaled @ np.swapaxes(side_by_side, -1, -2))


def _pairwise_sum(terms: FloatArray) -> FloatArray:
    """Sum over the first axis; NumPy adds pairwise along contiguous memory only."""
    return np.asarray(np.ascontiguousarray(np.moveaxis(terms, 0, -1)).sum(axis=-1))


def _mean_log_2x2(data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    n = len(data)

    def part(rows: slice) -> list[float]:
        difference, off, log_det, slope, condition = _symmetric.log_parts_2x2(
            data[rows], rows.start
        )
        difference *= slope
        off *= slope
        parts = (log_det, difference, off, condition)
        if weights is None:
            return [float(part.sum()) / n for part in parts]
        return [float((part * weights[rows]).sum()) for part in parts]

    sums = zip(*_symmetric.map_chunks(part, n, 2), strict=True)
    log_det, difference, off, condition = (math.fsum(terms) for terms in sums)
    mean = np.array([[0.5 * log_det + difference, off], [off, 0.5 * log_det - difference]])
    return mean, condition
