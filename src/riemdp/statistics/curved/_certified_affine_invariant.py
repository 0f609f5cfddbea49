"""Proof that coordinates are near the mean of affine-invariant records, rounding and all.

A record is ``e^S``, S a symmetric matrix of float64 numbers. Its logarithm L as seen from a point
is not believed but multiplied out: ``e^(-L/2)`` takes what is seen to nearly orthogonal matrices.
What sums and products can be wrong by is added; exponentials are made of these.
The proof: docs/proofs/certified-means.md, "SPD matrices, affine-invariant".

Matrices are arrays ``(k, k, n)``: each operation is one of float64 numbers, of all records side by
side, in an order that is fixed. So no record looks at another one, and no processor rounds in a way
of its own.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from riemdp.kernel import Sum
from riemdp.spaces import _symmetric, clip_norm
from riemdp.spaces._matrix_lanes import (
    TAYLOR,
    defects,
    exponentials,
    full,
    grams,
    in_lanes,
    logarithms,
    packed,
    product,
    squares,
    squarings,
)
from riemdp.statistics.curved._descent import added_rows, weight_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Unit roundoff of float64.
_UNIT = 2.0**-53
#: Longest logarithm of a record or a point, far beyond what any tolerance allows.
_LONGEST = 30.0
#: By how many times the radius a logarithm seen from a point may be long: two, but for rounding.
_SEEN = 2.01
#: What a bound made of some dozens of rounded operations is raised by. The second part is for
#: results below the least normal number.
_UP, _TINY = 1.0 + 2.0**-30, 1e-150
#: Logarithms are under 128 in norm, so that integers have 62 bits.
BITS = 54
#: How far from orthogonal what is multiplied out may be; more is no proof.
_MOST_LOST = 2.0**-6
#: Condition number from which a record is decomposed: poles know a logarithm to roundoff times it.
_WIDE = 1e5
#: Units of roundoff, times k, that logarithms at poles are wrong by for each unit of the condition
#: number, and singular value decompositions for each of its root: those of hostile records were a
#: quarter of it. Only :func:`floor` uses them.
_ERRORS = 1.0, 16.0
#: The same, nearer to what was found. Only :func:`usual_error` uses them.
_USUAL = 0.25, 5.0


def exact_records(logarithms: FloatArray, radius: float) -> FloatArray:
    """Shorten logarithms ``(n, k, k)``, symmetric, so that they lie in the ball exactly.

    Norms stay under the radius by more than the rounding of a norm.
    """
    flat = logarithms.reshape(len(logarithms), -1)
    margin = max(2.0**-40, (flat.shape[1] + 8.0) * 2.0**-52)
    return clip_norm(flat, radius * (1.0 - margin)).reshape(logarithms.shape)


def roots(logarithms: FloatArray, radius: float) -> FloatArray:
    """``e^(S/2)`` ``(k, k, n)`` of :func:`exact_records`."""
    return exponentials(in_lanes(logarithms), 0.5, radius)


def seen_from(whitening: FloatArray, roots: FloatArray) -> FloatArray:
    """Logarithms of ``W e^S W^T``, entries ``(d, n)``, which are not certified.

    With W ``(k, k)`` of :func:`whitening` and :func:`roots`. Where the condition number is large
    singular values of ``W e^(S/2)`` keep the digits that its square has lost.
    """
    with np.errstate(all="ignore"):
        found, condition = logarithms(grams(whitening, roots))
        wide = ~(condition <= _WIDE)
        if wide.any():
            factors = np.moveaxis(product(whitening, roots[..., wide]), -1, 0)
            found[:, wide] = _decomposed(factors)[:, *packed(len(roots))].T
    return found


def _decomposed(factors: FloatArray) -> FloatArray:
    """Logarithms of ``C C^T``, ``(n, k, k)``."""
    try:
        frames, values, _ = np.linalg.svd(factors)
    except np.linalg.LinAlgError:
        return np.full(factors.shape, math.nan)  # which proves nothing
    return _symmetric.compose(2.0 * np.log(values), frames)


def lost(whitening: FloatArray, roots: FloatArray, found: FloatArray, radius: float) -> FloatArray:
    """Return what logarithms are found to be wrong by ``(n,)``; not a number without a proof.

    It is ``|Y Y^T - 1|``, ``Y = e^(-L/2) W e^(S/2)``, L those of :func:`seen_from`, as computed.
    """
    with np.errstate(all="ignore"):
        whole = full(found)
        defect = defects(whitening, roots, exponentials(whole, -0.5, _SEEN * radius))
        known = squares(whole) <= (_SEEN * radius) ** 2 * (1.0 - 2.0**-30)
        return np.where(known, np.sqrt(defect), math.nan)


def added(
    found: FloatArray, lost: FloatArray | None, weights: NDArray[np.int64] | None = None
) -> Sum:
    """Add up, in units of ``2^-54``, entries ``(d, n)`` and what logarithms are wrong by.

    And count logarithms without a bound: all of them where ``lost`` is None. Weights ``(n,)`` are
    at least 0 and at most ``2^40``.
    """
    rows = np.zeros((len(found) + 2, found.shape[1]))
    rows[:-2] = found
    with np.errstate(all="ignore"):
        known = np.abs(found).max(axis=0) < 128.0
        if not known.all():
            rows[:, ~known] = 0.0
        if lost is not None:
            known &= lost <= _MOST_LOST
            rows[-2] = np.ldexp(np.ceil(np.ldexp(np.where(known, lost, 0.0), BITS)), -BITS)
    rows[-1] = 2.0**-BITS * (~known if lost is not None else 1.0)
    return Sum(added_rows(rows.T, BITS, weights), weight_of(len(known), weights))


def gradient(partial: Sum, k: int) -> FloatArray:
    """Mean ``(k, k)`` of the logarithms that were added up."""
    unit, found = partial.count << BITS, np.empty((k, k))
    entries = [total / unit for total in partial.total[:-2]]  # correctly rounded
    places = packed(k)
    found[places] = found[places[::-1]] = entries
    return found


def length(array: FloatArray) -> float:
    """Norm of all entries, the same on every processor."""
    return math.sqrt(math.fsum((array * array).ravel().tolist()))


def bound(moved: float, partial: Sum, k: int, radius: float, point: FloatArray) -> float:
    """Bound the distance of a point from the exact mean of the records, rounded up.

    A geodesic distance, infinite where nothing is proved, such as of a point outside the ball. The
    point is given by float64 coordinates ``(dim,)``, the diagonal of the logarithm, then
    ``sqrt(2)`` times its upper triangle, row by row: the very numbers that noise is added to.
    ``moved`` is that of :func:`whitening`, and the sum that of :func:`added`. See
    docs/proofs/certified-means.md.
    """
    *_, wrong, unknown = partial.total
    inside = length(point) <= radius * (1.0 + 1e-6)
    if unknown or not inside or not moved <= 1e-3:
        return math.inf
    errors = float(Fraction(wrong, partial.count << BITS)) + rounding(k, radius)
    size = length(gradient(partial, k))
    return (moved + size + 1.05 * errors + k * 2.0**-BITS) * _UP + _TINY


@functools.lru_cache(maxsize=64)
def rounding(k: int, radius: float) -> float:
    """Bound what ``|Y Y^T - 1|`` differs by from its computed value, of records in a ball.

    It is the note's beta, a public number; infinite where it is no use.
    """
    if radius > _LONGEST:
        return math.inf
    near, seen = math.exp(radius / math.sqrt(2.0)), math.exp(_SEEN * radius / math.sqrt(2.0))
    product = 1.001 * k * k * _UNIT
    record = _exponential_error(k, 0.5 * radius)
    back = _exponential_error(k, 0.5 * _SEEN * radius)
    first = near * (1.01 * near * product * (1.0 + record) + record)
    whole = first + (1.0 + first) * seen * (back + product * (1.0 + back))
    if not whole <= 2.0**-7:
        return math.inf
    return 2.07 * whole + 1.04 * product + 2.0 * _UNIT


def _exponential_error(k: int, size: float) -> float:
    """Bound how far computed exponentials are from true ones, in units of their spectral norm.

    Of symmetric matrices of this Frobenius norm; see :func:`exponentials` and the note.
    """
    steps = squarings(size)
    h, c, wide = size * 0.5**steps, TAYLOR, math.sqrt(k)
    product = 1.001 * k * _UNIT
    square = product * h * h
    cube = math.sqrt(2.0) * (square * h + product * h * (h * h + square))
    true = wide * c[9] + c[10] * h + c[11] * h**2 + c[12] * h**3
    wrong = c[12] * cube + c[11] * square + 5.0 * _UNIT * true
    for i in (6, 3, 0):
        large, low = h**3 + cube, c[i + 1] * h + c[i + 2] * h * h
        wrong = math.sqrt(2.0) * (cube * true + large * (wrong + product * (true + wrong)))
        wrong += c[i + 2] * square + 2.0 * _UNIT * (wide * c[i] + large * true) + 5.0 * _UNIT * low
        true = h**3 * true + low + wide * c[i]
    wrong = 1.001 * (wrong + 1.1 * h**13 / math.factorial(13)) * math.exp(h)
    for _ in range(steps):
        wrong = wrong * (2.0 + wrong) + k * product * (1.0 + wrong) ** 2
    return wrong


def floor(k: int, radius: float) -> float:
    """Return the least tolerance, a distance, to which any records in a ball can be certified.

    It is made of the errors that :func:`bound` adds, at the largest condition numbers in the
    ball, of logarithms as good as they are found to be; twice, for what they do to the solver.
    """
    errors = rounding(k, radius) + _logarithm_error(k, radius, *_ERRORS)
    return 2.0 * (1.05 * errors + k * 2.0**-BITS)


def usual_error(k: int, radius: float) -> float:
    """Bound what a logarithm of a record in a ball is wrong by, as seen from a point in it.

    A geodesic distance, for logarithms that are wrong by no more than a half more than those that
    were found: only how many steps are taken rests on it.
    """
    return _logarithm_error(k, radius, *_USUAL)


def _logarithm_error(k: int, radius: float, poles: float, decomposition: float) -> float:
    if radius > _LONGEST:
        return math.inf
    far = math.exp(math.sqrt(2.0) * radius)
    return k * _UNIT * (poles * min(far * far, _WIDE) + decomposition * far)
