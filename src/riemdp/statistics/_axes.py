"""The axis that a noisy scatter matrix points out, and whether it means anything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray

#: Share of draws that limits may be exceeded in by the noise alone.
CHANCE = 0.05


@dataclass(frozen=True)
class Axis:
    """Leading eigenvector of a symmetric or Hermitian matrix with noise, and how far it may be off.

    Attributes
    ----------
    vector : ndarray, shape (d,)
        Of norm 1; a real one has a positive entry where it is largest.
    eigenvalues : ndarray, shape (d,)
        In falling order.
    gap : float
        Between the first two of them.
    gap_noise : float
        Bound of the expected largest eigenvalue of the noise.
    gap_limit : float
        What the gap exceeds with probability at most .05 where the matrix without noise has none.
    significant : bool
        Whether the gap exceeds it.
    bound : float
        Angle in radians: with probability at least .95 the vector is within it of the leading one
        without noise. pi/2, which says nothing, where the gap is not significant.
    """

    vector: NDArray[Any]
    eigenvalues: FloatArray
    gap: float
    gap_noise: float
    gap_limit: float
    significant: bool
    bound: float

    def parts(
        self, name: str, scatter: NDArray[Any], deviation: float, *, turn: float = 1.0
    ) -> dict[str, Any]:
        """Return what is released of a scatter, beside what its axis stands for.

        Parameters
        ----------
        name : str
            Of what the axis stands for.
        scatter : ndarray, shape (d, d)
            The noisy matrix.
        deviation : float
            Standard deviation of its noise.
        turn : float, default 1.0
            Distance of what axes stand for, over the angle between them.

        Returns
        -------
        dict of str to object
        """
        return {
            "eigenvalues": self.eigenvalues,
            "gap": self.gap,
            "gap_noise": self.gap_noise,
            "gap_limit": self.gap_limit,
            f"{name}_significant": self.significant,
            f"{name}_bound": turn * self.bound,
            "scatter": scatter,
            "scatter_sd": deviation,
        }


def leading_axis(matrix: NDArray[Any], features: int, deviation: float) -> Axis:
    """Return the leading eigenvector of a matrix with Gaussian noise.

    Parameters
    ----------
    matrix : ndarray, shape (d, d)
        Symmetric or Hermitian.
    features : int
        Number of real numbers that it is made of.
    deviation : float
        Standard deviation of the noise along every matrix of Frobenius norm 1; NaN where it is not
        known, and then neither are limit and bound.

    Returns
    -------
    Axis

    References
    ----------
    docs/proofs/directional-statistics.md, claims 2 and 3
    """
    values, vectors = np.linalg.eigh(matrix)
    values, vector = values[::-1], vectors[:, -1]
    if not np.iscomplexobj(vector):
        vector = vector * math.copysign(1.0, vector[np.argmax(np.abs(vector))])
    dim = len(values) * (2 if np.iscomplexobj(matrix) else 1)
    gap = float(values[0] - values[1])
    limit = deviation * spread_limit(dim, features)
    significant = gap > limit
    bound = math.asin(limit / (2.0 * gap - limit)) if significant else 0.5 * math.pi
    return Axis(
        vector,
        values,
        gap,
        deviation * math.sqrt(2.0 * dim),
        limit,
        significant,
        math.nan if math.isnan(limit) else bound,
    )


def spread_limit(dim: int, features: int, chance: float = CHANCE) -> float:
    """Return what the eigenvalues of Gaussian noise spread over with a small probability alone.

    Parameters
    ----------
    dim : int
        Real dimension of the vectors that the matrix acts on.
    features : int
        Number of real numbers that the matrix is made of; the noise has standard deviation 1 along
        every matrix of Frobenius norm 1.
    chance : float, default 0.05

    Returns
    -------
    float
        Bound of the ``1 - chance`` quantile of the largest eigenvalue minus the least.

    References
    ----------
    docs/proofs/directional-statistics.md, claim 2
    """
    by_norm = math.sqrt(2.0) * length_limit(features - 1, chance)
    by_concentration = 2.0 * math.sqrt(2.0 * dim) + 2.0 * math.sqrt(-math.log(chance))
    return min(by_norm, by_concentration)


def length_limit(dim: int, chance: float = CHANCE) -> float:
    """Return what the length of a standard normal vector exceeds with a probability.

    Parameters
    ----------
    dim : int
    chance : float, default 0.05

    Returns
    -------
    float
    """
    import scipy.special

    return math.sqrt(2.0 * float(scipy.special.gammainccinv(0.5 * dim, chance)))
