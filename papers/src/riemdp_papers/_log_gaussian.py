"""Log-Gaussian laws with any tangent covariance, and the vector space of SPD matrices.

Utpala, Vepakomma, Miolane (TMLR 2023), Definition 1 and Table 2. The privacy of a general
covariance, which the paper does not state: docs/proofs/log-gaussian.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp import InvalidParameterError
from riemdp.noise import resolve_generator
from riemdp.spaces import SPDLogEuclidean
from riemdp_papers._checks import positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp_papers._experiment import FloatArray


def plus(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Sum of Table 2, ``Expm(Logm X + Logm Y)``, of matrices of shape (..., k, k)."""
    space, (a, b) = _charted(first, second)
    return space.from_chart(a + b)


def minus(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Difference of Table 2, ``Expm(Logm X - Logm Y)``; see :func:`plus`."""
    space, (a, b) = _charted(first, second)
    return space.from_chart(a - b)


def times(factor: float, matrix: ArrayLike) -> FloatArray:
    """Multiple of Table 2, ``Expm(a Logm X)``; see :func:`plus`."""
    space, (a,) = _charted(matrix)
    return space.from_chart(factor * a)


def log_jacobian(matrix: ArrayLike, *, as_printed: bool = False) -> float:
    """Log of ``J(X)`` in Definition 1, the volume factor of the matrix logarithm.

    Of the Frobenius norm's volume on either side; equal eigenvalues count as the limit. As printed
    ``h = log a - log b``, which is not divided by ``a - b``.
    """
    values = np.linalg.eigvalsh(np.asarray(matrix, dtype=float))
    logs = np.log(values)
    total = -float(np.sum(logs))
    for i in range(len(values)):
        for j in range(i):
            gap = values[i] - values[j]
            h = (logs[i] - logs[j]) / (1.0 if as_printed else gap) if gap else 1.0 / values[i]
            total += math.log(h)
    return total


def draw(
    mean: ArrayLike,
    covariance: ArrayLike,
    size: int,
    generator: np.random.Generator | None = None,
) -> FloatArray:
    """Draw matrices whose ``vecd Logm`` is normal with a covariance (d, d), d = k (k + 1) / 2.

    See Definition 1; the shape is (size, k, k). ``generator`` is a new secure one by default.
    """
    space, (middle,) = _charted(mean)
    factor = _factor(covariance, "covariance", space.dim)
    normal = resolve_generator(generator).standard_normal((size, space.dim))
    return space.from_chart(middle + normal @ factor.T)


def log_density(points: ArrayLike, mean: ArrayLike, covariance: ArrayLike) -> FloatArray:
    """Log density of the same law with respect to the log-Euclidean volume, shape (...).

    With respect to the volume of the Frobenius norm add :func:`log_jacobian`.
    """
    space, (found, middle) = _charted(points, mean)
    factor = _factor(covariance, "covariance", space.dim)
    white = np.linalg.solve(factor, (found - middle)[..., None])[..., 0]
    log_root = float(np.sum(np.log(np.diag(factor))))
    constant = -0.5 * space.dim * math.log(2.0 * math.pi) - log_root
    return np.asarray(constant - 0.5 * np.sum(white**2, axis=-1))


def gaussian_separation(covariance: ArrayLike, differences: ArrayLike) -> float:
    """Least ``mu``, rounded up, for which a release with this tangent covariance is ``mu``-GDP.

    Neighbours' summaries differ, in ``vecd Logm``, by vectors ``v`` with ``v' S^-1 v <= 1``; for a
    log-Euclidean sensitivity of Delta that is ``S = Delta^2 I``. Then ``mu^2`` is the largest
    eigenvalue of ``Sigma^-1 S``: ``Delta / sqrt(least eigenvalue)`` for a sensitivity. Given are
    ``Sigma``, and Delta or ``S``. Proof: docs/proofs/log-gaussian
    """
    factor = _factor(covariance, "covariance")
    dim = len(factor)
    if np.ndim(differences) == 0:
        root = positive(float(differences), "differences") * np.eye(dim)  # type: ignore[arg-type]
    else:
        root = _factor(differences, "differences", dim)
    # |Sigma^(-1/2) S^(1/2)|, and what rounding may have taken from it
    slack = 1.0 + 64.0 * dim * np.finfo(float).eps * float(np.linalg.cond(factor)) ** 2
    return float(np.linalg.norm(np.linalg.solve(factor, root), 2)) * slack


def least_covariance(differences: ArrayLike, mu: float) -> FloatArray:
    """Covariance of least trace, the mean squared error, that is ``mu``-GDP: ``S / mu^2``.

    ``S`` is that of :func:`gaussian_separation`. Proof: docs/proofs/log-gaussian
    """
    factor = _factor(differences, "differences")
    return np.asarray(factor @ factor.T / positive(mu, "mu") ** 2)


def _charted(*matrices: ArrayLike) -> tuple[SPDLogEuclidean, list[FloatArray]]:
    arrays = [np.asarray(matrix, dtype=float) for matrix in matrices]
    space = SPDLogEuclidean(arrays[0].shape[-1])
    return space, [space.to_chart(space.validate(array)) for array in arrays]


def _factor(matrix: ArrayLike, name: str, dim: int | None = None) -> FloatArray:
    """Cholesky factor."""
    array = np.asarray(matrix, dtype=float)
    square = array.ndim == 2 and array.shape[0] == array.shape[1]
    if not square or (dim is not None and len(array) != dim):
        wanted = "square" if dim is None else f"of shape ({dim}, {dim})"
        raise InvalidParameterError(f"{name} must be {wanted}, got shape {array.shape}")
    if not np.array_equal(array, array.T):
        raise InvalidParameterError(f"{name} must be symmetric; pass (A + A.T) / 2")
    try:
        return np.asarray(np.linalg.cholesky(array))
    except np.linalg.LinAlgError as error:
        raise InvalidParameterError(f"{name} must be positive definite") from error
