"""Proof that coordinates are near the mean of affine-invariant records, rounding and all.

A record is the matrix ``Q diag(e^s) Q^T``, ``s`` its float64 log-eigenvalues and ``Q`` the
orthogonal matrix nearest to its float64 vectors. What a decomposition returns is not believed but
multiplied out, and what sums and products can be wrong by is added; exponentials are made of these.
The proof: docs/proofs/certified-means.md, "SPD matrices, affine-invariant".
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from riemdp.kernel import Sum
from riemdp.spaces import _symmetric, clip_norm
from riemdp.statistics.curved._descent import added_rows, weight_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Unit roundoff of float64.
_UNIT = 2.0**-53
#: Longest logarithm of a record or a point, far beyond what any tolerance allows.
_LONGEST = 64.0
#: What a bound made of some dozens of rounded operations is raised by. The second part is for
#: results below the least normal number.
_UP, _TINY = 1.0 + 2.0**-30, 1e-150
#: Logarithms are under 128 in norm, so that integers have 62 bits.
BITS = 54
#: What is lost of a record is counted up to this; more is no proof.
_MOST_LOST = 1.0
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


def added(
    logs: FloatArray,
    vectors: FloatArray,
    lost: FloatArray,
    weights: NDArray[np.int64] | None = None,
) -> Sum:
    """Add up, in units of ``2^-54``, what :func:`seen_from` returns, and how many are no proof.

    Weights ``(n,)`` are at least 0 and at most ``2^40``.
    """
    with np.errstate(all="ignore"):
        entries = (vectors * logs[:, None, :]) @ np.swapaxes(vectors, -1, -2)
    entries = entries.reshape(len(logs), logs.shape[-1] ** 2)
    known = (lost <= _MOST_LOST) & (np.abs(entries).max(axis=-1, initial=0.0) < 128.0)
    raised = np.ceil(np.ldexp(np.where(known, lost, 0.0), BITS))
    rows = np.column_stack([np.where(known[:, None], entries, 0.0), np.ldexp(raised, -BITS)])
    totals = added_rows(rows, BITS, weights)
    return Sum((*totals, int((~known).sum())), weight_of(len(known), weights))


def gradient(partial: Sum, k: int) -> FloatArray:
    """Mean ``(k, k)`` of the logarithms that were added up."""
    unit = partial.count << BITS
    entries = [total / unit for total in partial.total[: k * k]]  # correctly rounded
    return _symmetric.symmetrise(np.array(entries).reshape(k, k))


def bound(moved: float, partial: Sum, k: int) -> float:
    """Bound the distance of a point from the exact mean of the records, rounded up.

    A geodesic distance, infinite where nothing is proved. The point is given by float64 coordinates
    ``(dim,)``, the diagonal of the logarithm, then ``sqrt(2)`` times its upper triangle, row by
    row: the very numbers that noise is added to. ``moved`` is that of :func:`whitening`, and the
    sum that of :func:`added`. See docs/proofs/certified-means.md.
    """
    *_, lost, unknown = partial.total
    if unknown:
        return math.inf
    wrong = float(Fraction(lost, partial.count << BITS)) + k * 2.0**-BITS
    size = float(np.linalg.norm(gradient(partial, k)))
    return (moved + size + wrong) * _UP + _TINY


def seen_from(
    whitening: FloatArray, logs: FloatArray, vectors: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return records as seen from a point, and what their logarithms may be wrong by.

    With W ``(k, k)`` of :func:`whitening`, and ``logs`` ``(n, k)`` and ``vectors`` ``(n, k, k)`` of
    :func:`exact_records`. The third array ``(n,)`` bounds how far the logarithm of a record is from
    the matrix of the first two as it is computed, in the Frobenius norm; not finite where nothing
    is proved.
    """
    with np.errstate(all="ignore"):
        defects = _defect(vectors)
        found, frames, distances, turned = _seen(whitening, logs, vectors, defects)
        composed = _composition_rounding(logs.shape[-1], turned) * _norm(found)
        return found, frames, distances + _frame_distances(logs, defects) + composed


def floor(k: int, radius: float) -> float:
    """Return the least tolerance, a distance, to which any records in a ball can be certified.

    It is made of the errors that :func:`bound` adds, at the largest condition numbers in the
    ball, of decompositions as good as LAPACK's; twice, for what they do to the solver.
    """
    return 2.0 * _worst(k, radius, _FRAME, _DECOMPOSITION)


def usual_error(k: int, radius: float) -> float:
    """Bound what a logarithm of a record in a ball is wrong by, as seen from a point in it.

    A geodesic distance, for decompositions that are wrong by no more than a half more than measured
    ones: only how many steps are taken rests on it.
    """
    return _worst(k, radius, *_USUAL)


def _worst(k: int, radius: float, frame: float, decomposition: float) -> float:
    """Bound what :func:`bound` adds to the gradient's norm, in a ball."""
    if radius > _LONGEST:
        return math.inf
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
    seen = float(_composition_rounding(k, np.array(defect))) * radius
    worst = products + exponentials + decomposed + frames + point + 2.0 * seen
    return 1.01 * worst + k * 2.0**-BITS


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


def _seen(
    whitening: FloatArray, logs: FloatArray, vectors: FloatArray, defects_before: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Decompose ``W U e^s U^T W^T``, about ``Z diag(e^l) Z^T``, and bound what is left.

    Returns l ``(n, k)``, Z ``(n, k, k)``, bounds ``(n,)`` of how far the records with the vectors
    as they are lie from those with the orthogonal matrix nearest to Z, and of ``|Z^T Z - 1|``.
    """
    k = logs.shape[-1]
    root, root_error = exponential(0.5 * logs)
    factor = (whitening @ vectors) * root[:, None, :]
    found, frame = _decomposed(factor)
    valid = (np.abs(found).max(axis=-1) <= 2.0 * _LONGEST) & (_norm(logs) <= _LONGEST)
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
    return found, frame, distances, defects


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
        try:
            frames[~near], values, _ = np.linalg.svd(factor[~near])
        except np.linalg.LinAlgError:
            values = np.array(math.nan)  # which proves nothing
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
