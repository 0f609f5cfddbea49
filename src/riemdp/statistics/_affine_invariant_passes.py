"""Fréchet mean of SPD matrices in the affine-invariant metric, certified with allowances.

A pass needs the mean of the whitened logarithms, no more. Of many records the Hessian comes from a
sample, and so does the point to start from. What the certificate says depends on neither.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._errors import ConvergenceError, NotOnManifoldError
from riemdp.spaces import _logarithms, _symmetric
from riemdp.spaces._spd_affine_invariant import inverse_factor
from riemdp.statistics._affine_invariant_mean import Pass, descend
from riemdp.statistics._flat_mean import composition_allowance, least_known, pairwise_sum
from riemdp.statistics._whitened_logarithms import (
    compositions,
    decomposed,
    logarithm_error,
    packed,
    whitened_logarithms,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

_EPS = float(np.finfo(np.float64).eps)
#: Records from which on a sample is worth while; of how many it consists, and what part of all.
_MANY, _SAMPLE, _SHARE = 512, 256, 8
#: How near the start is to the mean of the sample, and the share of a gradient that a step with the
#: Hessian of a sample may leave.
_NEAR, _PROGRESS = 0.01, 0.1


def solve(
    data: FloatArray, weights: FloatArray | None, tol: float
) -> tuple[FloatArray, float, int]:
    """Return the mean ``(k, k)``, its certified error and the number of passes.

    The space is Hadamard, so the norm of the gradient bounds the distance to the mean:
    docs/proofs/frechet-mean-certificate.md, (a).

    Parameters
    ----------
    data : ndarray, shape (n, k, k)
    weights : ndarray, shape (n,), optional
        With sum one.
    tol : float

    Raises
    ------
    ConvergenceError
        If rounding alone exceeds ``tol``.
    NotOnManifoldError
        If rounding makes a row indefinite as seen from the mean.
    """
    n, found = len(data), None
    if n >= _MANY:
        # where this fails, all records say why
        failures = ConvergenceError, NotOnManifoldError, np.linalg.LinAlgError
        with np.errstate(all="ignore"), contextlib.suppress(*failures):
            sample = positions(n, weights, min(_SAMPLE, n // _SHARE))
            few = data[sample]
            near, _ = descend(Dense(few, None), arithmetic_mean(few, None), _NEAR)
            found = descend(Dense(data, weights, sample), near.point, tol)
    at, passes = found or descend(Dense(data, weights), arithmetic_mean(data, weights), tol)
    return _symmetric.symmetrise(at.point @ at.point.T), at.bound, passes


def positions(n: int, weights: FloatArray | None, size: int) -> NDArray[np.intp]:
    """Rows of a sample that stands for all n: evenly spaced, in steps of equal weight.

    Weights ``(n,)`` have sum one. Of ``size`` rows those of large weight may be there more than
    once.
    """
    middles = (np.arange(size) + 0.5) / size
    if weights is None:
        return np.asarray((middles * n).astype(np.intp))
    found = np.searchsorted(np.cumsum(weights), middles * weights.sum())
    return np.asarray(np.minimum(found, n - 1))


def arithmetic_mean(data: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return a lower triangular factor of the arithmetic mean of matrices ``(n, k, k)``."""
    shares = np.full(len(data), 1.0 / len(data)) if weights is None else weights
    mean = (shares @ data.reshape(len(data), -1)).reshape(data.shape[1:])
    return np.asarray(np.linalg.cholesky(_symmetric.symmetrise(mean)))


@dataclass
class Dense:
    """Matrices as they are; a point is a lower triangular factor of it.

    Of a sample, rows that stand for all, the Hessian is taken as long as steps with it help.
    """

    data: FloatArray  # (n, k, k)
    weights: FloatArray | None  # (n,) of sum one
    sample: NDArray[np.intp] | None = None
    size: float = math.inf  # of the last gradient

    def evaluate(self, point: FloatArray) -> Pass:
        data, weights, sample = self.data, self.weights, self.sample
        n, k = data.shape[:2]
        inverse = inverse_factor(point)
        skeel = float(np.linalg.norm(np.abs(inverse) @ np.abs(point), 2))
        known = least_known(k, 4.0 * skeel**2)
        compiled = sample is not None and _logarithms.is_worthwhile(n, k)
        if sample is None:
            logs, vectors = np.empty((n, k)), np.empty((n, k, k))
        else:
            logs, vectors, _ = decomposed(inverse, data[sample])

        def part(rows: slice) -> tuple[FloatArray, float, float, bool]:
            if sample is None:
                logs[rows], vectors[rows], spread = decomposed(inverse, data[rows], rows.start)
                entries = compositions(logs[rows], vectors[rows])
            else:
                given = inverse, data[rows], rows.start
                entries, spread = whitened_logarithms(*given, compiled=compiled)
            shares = np.full(len(spread), 1.0 / n) if weights is None else weights[rows]
            scaled = entries * shares[:, None]
            square = (scaled * entries).sum(axis=0)
            spread = np.where(shares > 0.0, spread, 1.0)
            # beyond, no bound on the error of a logarithm is known
            certain = bool((spread * known < 1.0).all())
            # what is above the diagonal counts twice
            size = float(square[:k].sum() + 2.0 * square[k:].sum())
            return pairwise_sum(scaled), size, float(spread @ shares), certain

        # compiled code divides chunks itself: they may be larger
        chunks = _symmetric.map_chunks(part, n, k // 2 + 1 if compiled else k)
        totals, squares, spreads, certain = zip(*chunks, strict=True)
        square = math.fsum(squares)
        allowance = _allowance(n, k, skeel, math.fsum(spreads), math.sqrt(square))
        gradient, places = np.empty((k, k)), packed(k)
        gradient[places] = gradient[places[::-1]] = pairwise_sum(np.array(totals))
        alike = None if sample is not None else weights
        at = Pass(point, logs, vectors, gradient, 0.5 * square, allowance, alike, all(certain))
        if not at.size <= _PROGRESS * self.size:
            self.sample = None
        self.size = at.size
        return at

    def moved(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        return np.asarray(point @ np.linalg.cholesky(_symmetric.expm(direction)))


def _allowance(n: int, k: int, skeel: float, spread: float, size: float) -> float:
    """Bound for what rounding does to a mean of n whitened logarithms.

    Whitening magnifies rounding by the square of the Skeel condition number of the factor, which
    rescaling rows leaves alone. The logarithm magnifies this, and the rounding of its own, by the
    condition number of what it is of. At last the factor is multiplied by itself.

    Parameters
    ----------
    n, k : int
    skeel : float
        Skeel condition number of a factor of the point.
    spread : float
        Mean condition number of the whitened matrices.
    size : float
        At least the mean norm of their logarithms.
    """
    magnified = 2.0 * skeel**2 * spread + 0.5 * (k + 1.0) * skeel**2
    magnified += logarithm_error(k, spread, size)
    return _EPS * (magnified + 4.0 * k) + composition_allowance(n, k, size)
