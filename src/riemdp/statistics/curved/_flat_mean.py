"""Closed-form means: Euclidean space, log-Euclidean matrices, the circle."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp import _compiled
from riemdp._errors import NotOnManifoldError
from riemdp.spaces import (
    _log_2x2,
    _logarithms,
    _points,
    _symmetric,
    raise_first,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import Ball, FloatArray

_EPS = float(np.finfo(np.float64).eps)
_LOG_LARGEST = math.log(float(np.finfo(np.float64).max))
#: Matrices that one product adds.
GROUP = 32
#: From so many matrices on eigenvalues take longer than what does without them.
_MANY = 128
#: Least ratio of eigenvalues, in units of k eps, whose size a decomposition still tells.
_KNOWN = 8.0
#: Condition where it does not: beyond any bound, but nothing where it has no weight; infinity would
#: be NaN there.
_UNKNOWN = 1e300


def stable_mean(rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Mean over the first axis of ``(n, d)`` by pairwise summation: rounding grows with log n."""
    columns = np.ascontiguousarray(rows.T)
    if weights is not None:
        return np.asarray((columns * weights).sum(axis=-1))
    return np.asarray(columns.sum(axis=-1) / len(rows))


def summation_allowance(n: int, size: float) -> float:
    """Bound for the rounding of a pairwise sum of n terms of mean size ``size``."""
    return _EPS * (math.log2(max(n, 2)) + 10.0) * size


def euclidean(data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    """Mean ``(d,)`` of ``(n, d)`` and a bound of its rounding error."""
    with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond float64 has no bound
        value = stable_mean(data, weights)
        size = np.linalg.norm(stable_mean(np.abs(data), weights))
        return value, summation_allowance(len(data), float(size))


def circle(ball: Ball, data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    """Mean on an open half circle: the angles about the centre average as on a line."""
    manifold = ball.manifold
    coordinates = ball.coordinates(data)
    mean = stable_mean(coordinates, weights)
    value = manifold.exp(ball.center, manifold.tangent_vector(ball.center, mean))
    return value, summation_allowance(len(data), manifold.injectivity_radius)


def check_data(k: int, points: ArrayLike) -> FloatArray:
    """Check that ``(..., k, k)`` matrices are symmetric; :func:`log_euclidean` checks the rest."""
    if k in {2, 3}:
        return _symmetric.check_mirrored(points, k)
    return _symmetric.check_symmetric(points, k)


def log_euclidean(data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
    """``Expm(mean Logm)`` of ``(n, k, k)`` and a bound of its rounding error.

    An eigenvalue of a matrix X is known to about ``eps |X|``, so its logarithm to the condition
    number times eps; the mean of these, with a margin that grows like the measured error, is one
    part of the allowance, the rounding of the sum the other.
    """
    n, k = data.shape[:2]
    value, condition, square = (_mean_2x2 if k == 2 else _mean)(data, weights)
    allowance = 3.0 * math.sqrt(k) * _EPS * condition
    return value, allowance + composition_allowance(n, k, math.sqrt(square) + 1.0)


def composition_allowance(n: int, k: int, size: float) -> float:
    """Bound for the rounding of a sum of n symmetric k x k matrices of mean norm ``size``."""
    return _EPS * GROUP * k * size + summation_allowance(n, size)


def _mean(
    data: FloatArray, weights: FloatArray | None, *, many: int = _MANY
) -> tuple[FloatArray, float, float]:
    """Mean, mean condition number, mean squared norm of the logarithms.

    Without eigenvalues of so many matrices, k > 2: the condition is rounded up there.
    """
    n, k = data.shape[:2]
    without = k > 2 and n >= many
    places = _symmetric_places(k)

    def part(rows: slice) -> FloatArray:
        some = data[rows]
        share = np.full(len(some), 1.0 / n) if weights is None else weights[rows]
        outside = np.ones(len(some), dtype=bool)
        logs, condition = np.empty((len(some), len(places[0]))), np.empty(len(some))
        if without:
            found = _logarithms.logarithms(some)
            logs, condition, outside = found.entries.T, found.condition, found.outside
        if outside.any():
            if k == 3:
                _symmetric.check_symmetric(data, 3)  # names what is not finite
            matrices, condition[outside] = _decomposed(some, outside, rows.start)
            logs[outside] = matrices[:, *places]
        scaled = logs * share[:, None]
        squares = np.einsum("ij,ij->j", logs, scaled)
        square = squares[:k].sum() + 2.0 * squares[k:].sum()
        return np.array([*sum_of_rows(scaled), condition @ share, square])

    # what does without eigenvalues divides chunks itself: they may be larger
    size = max(2, k // 2) if without else k
    threads = not without or _compiled.widest() > 0
    parts = _symmetric.map_chunks(part, n, size, threads=threads)
    totals = np.array(list(parts))
    mean_log = np.empty((k, k))
    rows, columns = places
    mean_log[rows, columns] = mean_log[columns, rows] = pairwise_sum(totals[:, :-2])
    return _symmetric.expm(mean_log), math.fsum(totals[:, -2]), math.fsum(totals[:, -1])


def sum_of_rows(rows: FloatArray) -> FloatArray:
    """Sum over the first axis, by pairs of groups: memory is not contiguous along it."""
    whole = len(rows) - len(rows) % GROUP
    groups = rows[:whole].reshape(-1, GROUP, rows.shape[-1]).sum(axis=1)
    return pairwise_sum(np.concatenate([groups, rows[whole:]]))


def _decomposed(
    data: FloatArray, outside: NDArray[np.bool_], first_row: int
) -> tuple[FloatArray, FloatArray]:
    """Logarithms and condition numbers of the marked matrices, by eigenvalues."""
    values, vectors = np.linalg.eigh(data[outside])
    bad = np.zeros(len(data), dtype=bool)
    bad[outside] = ~(values[:, 0] > 0.0)
    raise_first(bad, _points.NOT_POSITIVE_DEFINITE, first_row)
    condition = np.where(is_known(values), condition_numbers(values), _UNKNOWN)
    return _symmetric.compose(np.log(values), vectors), condition


def is_known(values: FloatArray, more: float = 0.0) -> NDArray[np.bool_]:
    """Whether the computed least eigenvalue of a matrix says how large the true one is.

    Computed ones are those of a matrix ``p eps |A|`` away, p of the order of k or less: where the
    least is that small, the logarithm of the true one may be any.

    Parameters
    ----------
    values : ndarray, shape (n, k)
        Ascending.
    more : float, default 0.0
        Rounding of the matrix itself, in units of ``eps |A|``.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    return np.asarray(values[:, 0] > least_known(values.shape[-1], more) * values[:, -1])


def condition_numbers(values: FloatArray) -> FloatArray:
    """Condition numbers from eigenvalues ``(n, k)``, ascending; infinite beyond float64."""
    with np.errstate(over="ignore"):  # here: errstate does not reach the threads of chunks
        return np.asarray(values[:, -1] / values[:, 0])


def least_known(k: int, more: float = 0.0) -> float:
    """Ratio of eigenvalues under which :func:`is_known` is false, of k x k matrices."""
    return (_KNOWN * k + more) * _EPS


@functools.lru_cache(maxsize=16)
def _symmetric_places(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns on and above the diagonal, in the order of the logarithms; read-only."""
    rows, columns = _symmetric.above_diagonal(k)
    found = np.concatenate([np.arange(k), rows]), np.concatenate([np.arange(k), columns])
    for places in found:
        places.setflags(write=False)
    return found


def pairwise_sum(terms: FloatArray) -> FloatArray:
    """Sum over the first axis; NumPy adds pairwise along contiguous memory only."""
    return np.asarray(np.ascontiguousarray(np.moveaxis(terms, 0, -1)).sum(axis=-1))


def sum_by_halves(terms: FloatArray) -> FloatArray:
    """Sum over the first axis; no term is part of more additions than n has binary digits."""
    while len(terms) > 1:
        half = len(terms) // 2
        paired = terms[:half] + terms[half : 2 * half]
        terms = np.concatenate([paired, terms[2 * half :]]) if len(terms) % 2 else paired
    return np.asarray(terms[0])


def _mean_2x2(data: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float, float]:
    """Return what :func:`_mean` does, in closed form, the mean squared norm rounded up.

    The squared norm of a logarithm is ``(log(det)^2 + log(condition)^2) / 2``, and
    ``log(e + x)^2`` is concave for ``x >= 0``: its mean is at most ``log(e + mean x)^2``.
    """
    n = len(data)

    def part(rows: slice) -> list[float]:
        with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond float64 has no bound
            parts = _log_2x2.log_parts_2x2(data[rows], rows.start)
            log_det = parts[0]
            if weights is None:
                sums = [float(part.sum()) for part in parts]
                return [total / n for total in (*sums, float(log_det @ log_det))]
            share = weights[rows]
            return [float((part * share).sum()) for part in (*parts, log_det * log_det)]

    try:
        sums = list(zip(*_symmetric.map_chunks(part, n, 2), strict=True))
    except NotOnManifoldError:
        # Entries that are not finite and diagonals that are not positive have their own names.
        _symmetric.check_symmetric(data, 2)
        raise
    log_det, p, q, excess, square = (math.fsum(terms) for terms in sums)
    condition = 1.0 + excess
    square = 0.5 * square + 0.5 * math.log(math.e + condition) ** 2
    return _expm_2x2(0.5 * log_det, p, q), condition, square


def _expm_2x2(middle: float, p: float, q: float) -> FloatArray:
    """``Expm(middle I + [[p, q], [q, -p]])``; not finite, quietly, on overflow."""
    h = math.hypot(p, q)
    large, small = (
        math.exp(x) if x <= _LOG_LARGEST else math.inf for x in (middle + h, middle - h)
    )
    if h == 0.0:
        return np.diag([large, large])
    slope = (large - small) / (2.0 * h)
    # h - |p| would cancel; adding only what is positive keeps small diagonal entries accurate.
    far = h + abs(p)
    diagonal = [small + slope * far, small + slope * (q / far) * q]
    first, second = diagonal if p > 0.0 else diagonal[::-1]
    return np.array([[first, slope * q], [slope * q, second]])
