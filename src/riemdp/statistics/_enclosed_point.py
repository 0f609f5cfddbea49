"""The matrices that a point of SPD stands for and is whitened by, in ball arithmetic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._working_precision import working_precision

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray

    Matrix = Any

#: Bits of the enclosures of the few matrices that belong to no record.
PRECISION = 256
#: What a bound made of some rounded operations is raised by.
_UP = 1.0 + 2.0**-30


def whitening(point: FloatArray, k: int) -> tuple[FloatArray, float]:
    """Return W ``(k, k)``, nearly ``exp(-S/2)``, and a bound of ``dist((W^T W)^-1, exp(S))``.

    S is the exact matrix of the point's coordinates ``(dim,)``.
    """
    from flint import arb_mat

    with working_precision(PRECISION):
        root = (exact_matrix(point, k) / 2).exp()
        inverse = (-exact_matrix(point, k) / 2).exp()
        found = np.array([[float(x) for x in row] for row in inverse.table()])
        return found, _displacement(arb_mat(found.tolist()) * root)


def _displacement(seen: Matrix) -> float:
    """Bound ``|log(B B^T)|`` of an ``arb_mat`` B, infinite unless it is small."""
    defect = seen * seen.transpose() - type(seen)(seen.nrows(), seen.ncols(), 1)
    size = sum((x * x for row in defect.table() for x in row), start=0 * seen[0, 0]).sqrt()
    size = float(size.abs_upper()) * _UP
    return size / (1.0 - size) * _UP if size < 0.5 else math.inf


def exact_matrix(point: FloatArray, k: int) -> Matrix:
    """Enclose the symmetric matrix with coordinates ``(dim,)``, at the working precision."""
    from flint import arb, arb_mat

    rows = [[arb(0)] * k for _ in range(k)]
    rest, root = iter(point[k:].tolist()), arb(2).sqrt()
    for i in range(k):
        rows[i][i] = arb(float(point[i]))
        for j in range(i + 1, k):
            rows[i][j] = rows[j][i] = arb(next(rest)) / root
    return arb_mat(rows)
