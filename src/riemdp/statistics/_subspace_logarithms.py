r"""Logarithms of subspaces, and of planar shapes, with every rounding bounded.

Both are Grassmannians: of p-planes of ``R^N``, and of complex lines. A record is a matrix ``H``,
its normal coordinates about a point ``o`` of the abstract space; it stands for the span of the
columns of ``X = [cos sqrt(H* H); H sinc sqrt(H* H)]``, which are orthonormal. With the same columns
``Z`` of a point, the overlap ``A = Z* X`` and ``lambda(cos x) = x / sin x``, the logarithm of the
record at the point is ``(X - Z A) A* lambda(2 A A* - 1)``: nothing in it is singular. Complex
numbers are real 2 x 2 matrices, of which each norm is ``sqrt(2)`` times as large.

Sums, products, quotients and roots are all that is believed. The proof:
docs/proofs/certified-means.md, "Subspaces and planar shapes".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray

#: Unit roundoff of float64.
UNIT = 2.0**-53
#: What a bound made of some dozens of rounded operations is raised by, and what it is raised by for
#: results below the least normal number.
UP, TINY = 1.0 + 2.0**-30, 1e-150
#: Lowest cosine that is worked with.
LOWEST = -1.0 + 2.0**-40
#: Coefficients of ``cos`` and ``sin(x) / x`` in squares, the highest first.
_COSINE = tuple((-1.0) ** j / math.factorial(2 * j) for j in range(9, -1, -1))
_SINC = tuple((-1.0) ** j / math.factorial(2 * j + 1) for j in range(9, -1, -1))
#: Of ``arctan(x) / x``.
_ARCTAN = tuple((-1.0) ** j / (2 * j + 1) for j in range(11, -1, -1))
#: Relative error of :func:`angle_over_sine` in units of roundoff.
_ANGLE = 32.0


@dataclass(frozen=True)
class Subspaces:
    """A Grassmannian in normal coordinates about one of its points.

    Coordinates are the rows of matrices of so many rows and columns, one after the other; with
    ``planar`` these are columns of complex numbers: their real parts, then their imaginary parts.
    """

    rows: int
    columns: int
    planar: bool = False

    @property
    def curvature(self) -> float:
        """Upper bound of the sectional curvatures."""
        if self.planar:
            return 4.0
        return 1.0 if min(self.rows, self.columns) == 1 else 2.0

    @property
    def copies(self) -> int:
        """How often a number is part of a real matrix."""
        return 2 if self.planar else 1

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of real matrices, no wider than high: complements are as far from each other."""
        if self.planar:
            return 2 * self.rows, 2
        return max(self.rows, self.columns), min(self.rows, self.columns)

    def matrices(self, coordinates: FloatArray) -> FloatArray:
        """Real matrices of coordinates ``(n, dim)``."""
        if self.planar:
            real, imaginary = coordinates[:, : self.rows], coordinates[:, self.rows :]
            turned = np.concatenate([-imaginary, real], axis=1)
            return np.stack([coordinates, turned], axis=-1)
        given = coordinates.reshape(-1, self.rows, self.columns)
        return given if self.columns <= self.rows else np.swapaxes(given, -1, -2)

    def coordinates(self, matrix: FloatArray) -> FloatArray:
        """Coordinates of one real matrix."""
        if self.planar:
            return np.ascontiguousarray(matrix[:, 0])
        return (matrix if self.columns <= self.rows else matrix.T).ravel()


def logarithms(
    space: Subspaces, frame: FloatArray, matrices: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return about the logarithms of records at a point, and bounds of their errors.

    With ``(q, p) = space.shape``: of Z ``(q + p, p)`` as :func:`frames_of` makes it of the point,
    and exact H ``(n, q, p)`` of the records, logarithms ``(n, q + p, p)``, and errors ``(n,)`` in
    the Frobenius norm, rounded up; inf where none is proved.
    """
    records = frames_of(matrices)
    overlap = frame.T @ records
    seen = 2.0 * (overlap @ np.swapaxes(overlap, -1, -2)) - np.eye(frame.shape[-1])
    cosines, vectors = np.linalg.eigh(seen)
    cosines = np.clip(cosines, LOWEST, 1.0)
    across, turned = records - frame @ overlap, np.swapaxes(vectors, -1, -2)
    weight = angle_over_sine(cosines)
    factor = np.swapaxes(overlap, -1, -2) @ ((vectors * weight[:, None, :]) @ turned)
    found = Found(
        overlap=norms(overlap),
        seen=norms(seen),
        residual=norms(seen - (vectors * cosines[:, None, :]) @ turned),
        defect=_defect(vectors),
        lowest=cosines.min(axis=-1),
        largest=weight.max(axis=-1),
        weight=np.sqrt((weight * weight).sum(axis=-1)),
        across=norms(across),
        factor=norms(factor),
    )
    return across @ factor, errors_of(space, found)


def frames_of(matrices: FloatArray) -> FloatArray:
    """``[cos sqrt(H^T H); H sinc sqrt(H^T H)]`` of matrices ``(n, q, p)``, by power series."""
    square = np.swapaxes(matrices, -1, -2) @ matrices
    cosine, sinc = (np.zeros(square.shape) for _ in range(2))
    for matrix, coefficients in ((cosine, _COSINE), (sinc, _SINC)):
        diagonal = np.einsum("nii->ni", matrix)
        for coefficient in coefficients:
            matrix[...] = square @ matrix
            diagonal += coefficient
    return np.concatenate([cosine, matrices @ sinc], axis=1)


def angle_over_sine(cosine: FloatArray) -> FloatArray:
    """``x / sin x`` by ``cos x`` from above -1 to 1, right to a relative ``2^-48``, entry by entry.

    It is ``2 arctan(t) / (t (1 + cos x))`` with ``t = tan(x / 2)``, and the arc tangent is halved
    three times: sums, products, quotients and roots alone.
    """
    square = (1.0 - cosine) / (1.0 + cosine)
    factor = 2.0 / (1.0 + cosine)
    for _ in range(3):
        divisor = 1.0 + np.sqrt(1.0 + square)
        factor *= 2.0 / divisor
        square = square / (divisor * divisor)
    series = np.full(square.shape, _ARCTAN[0])
    for coefficient in _ARCTAN[1:]:
        series = series * square + coefficient
    return np.asarray(factor * series)


@dataclass(frozen=True, eq=False)
class Found:
    """What is computed of records and bounds their errors, each of shape ``(n,)``.

    Norms are Frobenius norms.
    """

    overlap: FloatArray  # norm of A
    seen: FloatArray  # norm of 2 A A* - 1
    residual: FloatArray  # norm of what its decomposition leaves
    defect: FloatArray  # bounds |E* E - 1|, E the eigenvectors
    lowest: FloatArray  # least eigenvalue
    largest: FloatArray  # largest weight
    weight: FloatArray  # norm of the weights
    across: FloatArray  # norm of X - Z A
    factor: FloatArray  # norm of A* lambda


def errors_of(space: Subspaces, found: Found) -> FloatArray:
    """Bound the errors ``(n,)`` of computed logarithms, as real matrices, in the Frobenius norm.

    Rounded up; inf where none is proved.
    """
    q, p = space.shape
    frame = _frame_error(q, p)
    overlap = 1.01 * ((q + p) * p * UNIT + 2.0 * frame)
    size = np.minimum(1.0, found.overlap) + overlap  # of A, as the spectrum sees it
    seen = 4.0 * overlap * size + 2.02 * p * UNIT * found.overlap**2 + 1.01 * UNIT * found.seen
    composed = (p + 2.0) * p * UNIT * (1.0 + found.defect)
    apart = 1.01 * (seen + found.residual + composed + 1.03 * math.sqrt(p) * found.defect)
    weight = _slope(found.lowest - apart) * apart
    weight += 1.02 * (1.03 * found.defect + (_ANGLE + 1.0) * UNIT + composed) * found.weight
    factor = 1.02 * overlap * found.largest + size * weight
    factor += 1.03 * p * UNIT * found.overlap * found.weight
    across = frame * (1.0 + size) + overlap + 1.01 * UNIT * found.across
    across += 1.02 * p * math.sqrt(p) * UNIT * found.overlap
    total = across * np.minimum(found.factor, 0.5 * math.pi + factor)
    total += np.minimum(1.0, found.across + across) * factor
    total += 1.01 * p * UNIT * found.across * found.factor
    sound = (found.defect <= 0.01) & (overlap <= 1e-6) & (apart <= 0.01)
    return np.where(sound & (found.lowest - apart > LOWEST), total * UP + TINY, math.inf)


def _frame_error(q: int, p: int) -> float:
    """Bound the error of ``[cos; H sinc]``, where the largest singular value is under .8."""
    return (q + 4.0 * math.sqrt(p) + 2.2 * p * math.sqrt(p)) * UNIT


def _slope(cosine: FloatArray) -> FloatArray:
    """Bound the slope of ``x / sin x`` as a function of the cosine, at this one and above."""
    below = np.clip(cosine, LOWEST, 0.0)
    square = (1.0 - below) * (1.0 + below)
    return (1.0 - math.pi * below / np.sqrt(square)) / square * UP


def _defect(frames: FloatArray) -> FloatArray:
    """Bound ``|E^T E - 1|`` in the Frobenius norm, ``(n,)``."""
    p = frames.shape[-1]
    product = np.swapaxes(frames, -1, -2) @ frames
    square = np.einsum("nii->n", product)
    return np.asarray((norms(product - np.eye(p)) + (p + 1.0) * UNIT * square) * UP)


def norms(matrices: FloatArray) -> FloatArray:
    """Frobenius norms, ``(n,)``."""
    return np.asarray(np.sqrt(np.einsum("nij,nij->n", matrices, matrices)))
