"""Proof that coordinates are near the mean of affine-invariant records, rounding and all.

A record is the matrix ``Q diag(e^s) Q^T``, ``s`` its float64 log-eigenvalues and ``Q`` the
orthogonal matrix nearest to its float64 vectors. What a decomposition returns is not believed but
multiplied out, and what sums and products can be wrong by is added; exponentials are made of these.
The proof: docs/proofs/certified-means.md, "SPD matrices, affine-invariant".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.manifolds import _symmetric, clip_norm
from riemdp.statistics._clipped_affine_invariant_mean import (
    improved,
    spectral_mean,
    worst_allowance,
)
from riemdp.statistics._enclosed_point import whitening
from riemdp.statistics._flat_mean import sum_by_halves
from riemdp.statistics._mean_solver import check_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray

    Matrix = Any

#: Unit roundoff of float64.
_UNIT = 2.0**-53
#: Longest logarithm of a record or a point, far beyond what any tolerance allows.
_LONGEST = 64.0
#: What a bound made of some dozens of rounded operations is raised by. The second part is for
#: results below the least normal number.
_UP, _TINY = 1.0 + 2.0**-30, 1e-150
#: Newton steps after those of the solver.
_STEPS = 4
#: Logarithm of two in two parts, the first of 40 bits.
_LN2 = 0xB17217F7D1 * 2.0**-40, float.fromhex("0x1.9ef35793c7673p-41")
#: Coefficients of the exponential, the highest first.
_TAYLOR = tuple(1.0 / math.factorial(j) for j in range(13, -1, -1))
#: Norm of ``A - 1`` under which a record is decomposed by what it differs from the point.
_NEAR = 0.5
#: Units of roundoff, times k, that frames of LAPACK and its singular value decompositions are wrong
#: by; of 300,000 frames of 3 x 3 matrices two are worse. Only :func:`floor` and
#: :func:`exact_records` use them.
_FRAME, _DECOMPOSITION = 8.0, 32.0
#: Defect of frames from which one step makes orthogonal ones; LAPACK's are far better.
_ROUGH = 2.0**-30
#: The same, nearer to what is measured. Only :func:`usual_error` uses them.
_USUAL = 1.0, 2.0


def certified_mean(
    logs: FloatArray,
    vectors: FloatArray,
    radius: float,
    tol: float,
    *,
    weights: NDArray[np.int64] | None = None,
) -> FloatArray:
    """Return coordinates ``(dim,)`` that are proved to lie within ``tol`` of the mean.

    ``logs`` ``(n, k)`` and ``vectors`` ``(n, k, k)`` are the log-eigenvalues and eigenvectors of
    :func:`exact_records`, ``radius`` that of their ball, ``tol`` a geodesic distance of at least
    :func:`floor`, ``weights`` ``(n,)`` positive and at most ``2^53``. Raises ``ConvergenceError``
    where nothing can be proved.
    """
    shares = None if weights is None else weights / sum(weights.tolist())
    point = spectral_mean(logs, vectors, radius, tol, weights=shares)
    bound = certificate(point, logs, vectors, weights)
    for _ in range(_STEPS):
        if bound <= tol:
            break
        point = improved(point, logs, vectors, radius, weights=shares)
        bound = certificate(point, logs, vectors, weights)
    check_bound(bound, tol)
    return point


def exact_records(
    logs: FloatArray, vectors: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray]:
    """Make records ``(n, k)``, ``(n, k, k)`` certifiable, and exactly in the ball, one by one.

    Lengths are kept under the radius by the rounding of a length. Vectors that are orthogonal to
    ``2^-30`` only are made so to rounding. A record whose vectors are not, or not finite, counts as
    the centre: no eigensolver that works returns such ones.
    """
    k = logs.shape[-1]
    with np.errstate(all="ignore"):
        defects = _defect(vectors)
        sound = (defects <= _ROUGH) & np.isfinite(logs).all(axis=-1)
    logs = np.where(sound[:, None], logs, 0.0)
    vectors = np.where(sound[:, None, None], vectors, np.eye(k))
    rough = sound & (defects > (_FRAME + k + 1.0) * k * _UNIT)
    vectors[rough] = _nearest(vectors[rough])
    return clip_norm(logs, radius * (1.0 - 2.0**-40)), vectors


def certificate(
    point: FloatArray,
    logs: FloatArray,
    vectors: FloatArray,
    weights: NDArray[np.int64] | None = None,
) -> float:
    """Bound the distance of the point with these coordinates from the exact mean of the records.

    ``point`` ``(dim,)`` is the diagonal of the logarithm, then ``sqrt(2)`` times its upper
    triangle, row by row: the very numbers that noise is added to. The rest is as in
    :func:`certified_mean`. The bound is a geodesic distance, rounded up; infinite where nothing is
    proved. See docs/proofs/certified-means.md.
    """
    n, k = logs.shape
    length = float(np.linalg.norm(point))
    lengths = np.linalg.norm(logs, axis=-1)
    if not (length <= _LONGEST and bool((lengths <= _LONGEST).all())):
        return math.inf
    frame, moved = whitening(point, k)
    if not moved < math.inf:
        return math.inf

    def part(rows: slice) -> tuple[FloatArray, float, float]:
        seen, lost, sizes = _seen_and_lost(frame, logs[rows], vectors[rows])
        logs_seen = seen.logs
        if weights is not None:
            times = weights[rows].astype(np.float64)  # which rounds none of them
            logs_seen, lost, sizes = logs_seen * times[:, None], lost * times, sizes * times
        total = sum_by_halves(
            (seen.vectors * logs_seen[:, None, :]) @ np.swapaxes(seen.vectors, -1, -2)
        )
        return total, float(lost.sum()), float(sizes.sum())

    with np.errstate(all="ignore"):
        try:
            totals, lost, sizes = zip(*_symmetric.map_chunks(part, n, k), strict=True)
        except np.linalg.LinAlgError:
            return math.inf
        if not all(np.isfinite(total).all() for total in totals):
            return math.inf
        entries = np.array(totals).reshape(len(totals), -1).T
        whole = n if weights is None else float(sum(weights.tolist()))
        gradient = np.array([math.fsum(entry) for entry in entries]) / whole
        # weights are multiplied by, and their sum is rounded
        steps = n.bit_length() + (5.0 if weights is None else 8.0)
        rounding = steps * _UNIT * math.fsum(sizes)
        bound = moved + float(np.linalg.norm(gradient)) + (math.fsum(lost) + rounding) / whole
    return bound * _UP + _TINY if bound < math.inf else math.inf


def logarithms(
    whitening: FloatArray, logs: FloatArray, vectors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return logarithms of records as seen from a point, and what they are wrong by, one by one.

    With W ``(k, k)`` of :func:`whitening` and records as in :func:`certificate`: entries ``(n, k *
    k)``, row by row, and bounds ``(n,)`` of the Frobenius norms of their errors. Where nothing is
    proved, bounds are infinite and entries may be anything.
    """
    n, k = logs.shape
    with np.errstate(all="ignore"):
        seen, lost, _ = _seen_and_lost(whitening, logs, vectors)
        matrices = (seen.vectors * seen.logs[:, None, :]) @ np.swapaxes(seen.vectors, -1, -2)
    return matrices.reshape(n, k * k), np.where(np.isfinite(lost), lost, math.inf)


def _seen_and_lost(
    whitening: FloatArray, logs: FloatArray, vectors: FloatArray
) -> tuple[_Seen, FloatArray, FloatArray]:
    """Return records as seen, what their logarithms are wrong by, and the norms of these."""
    defects = _defect(vectors)
    seen = _seen(whitening, logs, vectors, defects)
    lost = seen.distances + _frame_distances(logs, defects)
    sizes = _norm(seen.logs)
    lost += _composition_rounding(logs.shape[-1], seen.defects) * sizes
    return seen, lost, sizes


def floor(k: int, radius: float) -> float:
    """Return the least tolerance, a distance, to which any records in a ball can be certified.

    It is made of the errors that :func:`certificate` adds, at the largest condition numbers in the
    ball, of decompositions as good as LAPACK's; twice, for what they do to the solver. Never less
    than what the solver asks for.
    """
    if radius > _LONGEST:
        return math.inf
    worst = _worst(k, radius, _FRAME, _DECOMPOSITION)
    return 2.0 * max(worst_allowance(k, radius), 1.01 * worst)


def usual_error(k: int, radius: float) -> float:
    """Bound what a logarithm of a record in a ball is wrong by, as seen from a point in it.

    A geodesic distance, for decompositions that are wrong by no more than a half more than measured
    ones: only how many steps are taken rests on it.
    """
    return 1.01 * _worst(k, radius, *_USUAL) if radius <= _LONGEST else math.inf


def _worst(k: int, radius: float, frame: float, decomposition: float) -> float:
    """Bound what :func:`certificate` adds to the gradient's norm, in a ball."""
    # Largest ratios of eigenvalues' roots: of points and records, and of records seen from points.
    near, far = math.exp(radius / math.sqrt(2.0)), math.exp(math.sqrt(2.0) * radius)
    small = (1.0 + math.sqrt(k) * math.expm1(0.5 * radius)) * near * math.exp(0.5 * radius)
    products = 2.0 * _product_rounding(k) * k * min(small, math.sqrt(k) * far)
    exponentials = 4.0 * math.sqrt(k) * _UNIT * min(4.0, 1.1 + 9.0 * radius)
    close = math.expm1(2.0 * radius) <= _NEAR
    decomposed = 2.0 * k * _UNIT * (frame if close else decomposition * far)
    defect = (frame + k + 1.0) * k * _UNIT
    frames = 1.03 * defect * (far + near) + (k + 1.0) * k * _UNIT
    point = 2.0 * k * _UNIT * near
    seen = (float(_composition_rounding(k, np.array(defect))) + 70.0 * _UNIT) * radius
    return products + exponentials + decomposed + frames + point + 2.0 * seen


def exponential(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``e^x`` for ``|x| <= 64`` and a bound of its relative error: sums and products alone."""
    whole = np.rint(x * (1.0 / math.log(2.0)))
    rest = (x - whole * _LN2[0]) - whole * _LN2[1]
    value = np.full(x.shape, _TAYLOR[0])
    for coefficient in _TAYLOR[1:]:
        value *= rest
        value += coefficient
    error = _UNIT * np.minimum(4.0, 1.1 + 9.0 * np.abs(x))
    return np.asarray(np.ldexp(value, whole.astype(np.int32))), error


@dataclass(frozen=True, eq=False)
class _Seen:
    """Records as seen from a point: nearly ``Z diag(e^l) Z^T``.

    ``distances`` bounds how far the records with the vectors as they are lie from those with the
    orthogonal matrix nearest to ``Z``, ``defects`` bounds ``|Z^T Z - 1|``.
    """

    logs: FloatArray  # (n, k)
    vectors: FloatArray  # (n, k, k)
    distances: FloatArray  # (n,)
    defects: FloatArray  # (n,)


def _seen(
    whitening: FloatArray, logs: FloatArray, vectors: FloatArray, defects_before: FloatArray
) -> _Seen:
    """Decompose ``W U e^s U^T W^T``, and bound what is left."""
    k = logs.shape[-1]
    root, root_error = exponential(0.5 * logs)
    factor = (whitening @ vectors) * root[:, None, :]
    found, frame = _decomposed(factor)
    valid = np.abs(found).max(axis=-1) <= 2.0 * _LONGEST
    inverse, inverse_error = exponential(-0.5 * np.where(valid[:, None], found, 0.0))
    rest = (np.swapaxes(frame, -1, -2) @ factor) * inverse[:, :, None]  # nearly orthogonal
    defects = _defect(frame)
    residual = _defect(np.swapaxes(rest, -1, -2))
    size = 1.0 + residual  # of ``rest``
    stretch = _product_norm(whitening) * _norm(inverse) * _norm(root)
    error = _product_rounding(k) * stretch * (1.0 + defects) * (1.0 + defects_before)
    # Exponentials scale rows or columns, which the distance sees as it is.
    scaling = 1.01 * _norm(inverse_error)
    turned = 0.51 * defects * inverse.max(axis=-1) / inverse.min(axis=-1)
    error += (scaling + turned + scaling * turned) * (size + error)
    distances = _log_bound(residual + 2.0 * size * error + error * error)
    distances += 2.01 * _norm(root_error)
    distances = np.where(valid & (defects <= 0.01), distances, math.inf)
    return _Seen(found, frame, distances, defects)


def _decomposed(factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return about the eigenvalues' logarithms and eigenvectors of ``C C^T``.

    Near the identity from what it differs by: LAPACK is wrong by rounding times the matrix.
    """
    rest = factor @ np.swapaxes(factor, -1, -2) - np.eye(factor.shape[-1])
    near = (rest * rest).sum(axis=(-1, -2)) <= _NEAR**2
    logs, frames = np.empty(factor.shape[:-1]), np.empty(factor.shape)
    if near.any():
        values, frames[near] = np.linalg.eigh(rest[near])
        logs[near] = np.log1p(values)
    if not near.all():
        frames[~near], values, _ = np.linalg.svd(factor[~near])
        logs[~near] = 2.0 * np.log(values)
    return logs, frames


def _frame_distances(logs: FloatArray, defects: FloatArray) -> FloatArray:
    """Bound the distances of ``U e^s U^T`` from ``Q e^s Q^T``, by those of ``U^T U`` from one."""
    root, _ = exponential(0.5 * logs)
    turned = 0.51 * defects * root.max(axis=-1) / root.min(axis=-1)
    distances = _log_bound(turned * (2.0 + turned))
    return np.where(defects <= 0.01, distances, math.inf)


def _composition_rounding(k: int, defects: FloatArray) -> FloatArray:
    """Bound the error of ``Z diag(l) Z^T``, as the logarithm with Q for Z, in units of ``|l|``."""
    return np.asarray(1.03 * defects + (k + 2.0) * k * _UNIT * (1.0 + defects))


def _log_bound(defect: FloatArray) -> FloatArray:
    """Bound ``|log X|`` by ``|X - 1|``, Frobenius norms both: ``-log(1 - x) <= x / (1 - x)``."""
    return np.where(defect < 0.5, defect / (1.0 - np.minimum(defect, 0.5)), math.inf)


def _defect(frames: FloatArray) -> FloatArray:
    """Bound ``|Z^T Z - 1|`` in the Frobenius norm, ``(n,)``."""
    k = frames.shape[-1]
    product = np.swapaxes(frames, -1, -2) @ frames
    square = np.einsum("nii->n", product)
    found = np.sqrt(((product - np.eye(k)) ** 2).sum(axis=(-1, -2)))
    return np.asarray((found + (k + 1.0) * _UNIT * square) * _UP)


def _nearest(frames: FloatArray) -> FloatArray:
    """Take a step of Newton and Schulz to the nearest orthogonal matrices: the note, "Records"."""
    product = np.swapaxes(frames, -1, -2) @ frames
    return np.asarray(frames @ (1.5 * np.eye(frames.shape[-1]) - 0.5 * product))


def _norm(rows: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((rows * rows).sum(axis=-1)))


def _product_norm(matrix: FloatArray) -> float:
    """Bound the spectral norm of the absolute values of a matrix."""
    size = np.abs(matrix)
    rows_columns = math.sqrt(float(size.sum(axis=0).max()) * float(size.sum(axis=1).max()))
    return min(rows_columns, float(np.linalg.norm(size))) * _UP


def _product_rounding(k: int) -> float:
    """Relative error of ``D (Z^T ((W U) E))``: two products, two scalings."""
    return (2.0 * k + 3.0) * _UNIT
