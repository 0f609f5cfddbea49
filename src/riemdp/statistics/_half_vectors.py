"""Products of the entries of a vector, as vectors of the same norm; and the matrices of these."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.manifolds import above_diagonal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import FloatArray

    ComplexArray = NDArray[np.complex128]


def half_vectors(vectors: FloatArray, weight: float) -> FloatArray:
    """Return ``weight v v^T`` as vectors of the same norm: off-diagonal entries times root 2.

    Of vectors ``(m, d)`` in shape ``(m, d (d + 1) / 2)``, the diagonal first;
    :func:`riemdp.manifolds.unvecd` makes the matrices of them again.
    """
    dim, end = vectors.shape[-1], 0
    across = np.empty((*vectors.shape[:-1], dim * (dim - 1) // 2))
    for i in range(dim - 1):  # row by row: slices, which are no copies
        start, end = end, end + dim - 1 - i
        np.multiply(vectors[..., i, None], vectors[..., i + 1 :], out=across[..., start:end])
    across *= weight * math.sqrt(2.0)
    return np.concatenate([weight * (vectors * vectors), across], axis=-1)


def hermitian_half_vectors(vectors: FloatArray) -> FloatArray:
    """Return ``z z*`` as real vectors ``(m, d^2)`` of the same norm.

    Vectors ``(m, 2 d)`` are real parts, then imaginary parts, of z. The result is the diagonal,
    then root 2 times the real parts above it, then the same of imaginary parts.
    """
    dim = vectors.shape[-1] // 2
    real, imaginary = vectors[..., :dim], vectors[..., dim:]
    rows, columns = above_diagonal(dim)
    root = np.sqrt(2.0)
    cosine = real[..., rows] * real[..., columns] + imaginary[..., rows] * imaginary[..., columns]
    sine = imaginary[..., rows] * real[..., columns] - real[..., rows] * imaginary[..., columns]
    squares = real * real + imaginary * imaginary
    return np.concatenate([squares, root * cosine, root * sine], axis=-1)


def hermitian_of(half: FloatArray, dim: int) -> ComplexArray:
    """Return matrices ``(..., d, d)`` of vectors as :func:`hermitian_half_vectors` makes them."""
    found = np.zeros((*half.shape[:-1], dim, dim), dtype=np.complex128)
    rows, columns = above_diagonal(dim)
    diagonal, pairs = np.arange(dim), len(rows)
    above = half[..., dim : dim + pairs] + 1j * half[..., dim + pairs :]
    found[..., diagonal, diagonal] = half[..., :dim]
    found[..., rows, columns] = above / np.sqrt(2.0)
    found[..., columns, rows] = above.conj() / np.sqrt(2.0)
    return found
