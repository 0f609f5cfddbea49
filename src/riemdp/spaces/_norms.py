"""Norms of vectors: in chunks, beyond the range of squares, and clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from riemdp.spaces._points import FloatArray

#: Entries of an array that are worked on at once where temporary arrays should stay in the cache.
CHUNK_ENTRIES = 16384


def square_norm(array: FloatArray, metric: FloatArray | None = None) -> FloatArray:
    """Sum of squares over the last axis, each times an entry of ``metric`` where it is given.

    By products in the cache, several times faster than ``einsum``.
    """
    width = array.shape[-1]
    flat = array.reshape(-1, width)
    result, metric = np.empty(len(flat)), np.ones(width) if metric is None else metric
    step = max(1, CHUNK_ENTRIES // width)
    for start in range(0, len(flat), step):
        block = flat[start : start + step]
        np.dot(block * block, metric, out=result[start : start + step])
    return result.reshape(array.shape[:-1])


def all_within(values: FloatArray, middle: float, deviation: float) -> bool:
    """Whether no value, of any number of them, is farther from ``middle`` or NaN.

    By the extremes alone: rounding is monotone, so this is what a look at every value says.
    """
    if not values.size:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        lowest, highest = values.min(), values.max()
        return bool(middle - lowest <= deviation and highest - middle <= deviation)


def long_norm(vectors: FloatArray) -> FloatArray:
    """Norm over the last axis, also where the squares overflow float64."""
    with np.errstate(over="ignore"):
        length = np.asarray(np.linalg.norm(vectors, axis=-1))
    if not np.isinf(length).any():
        return length
    largest = np.abs(vectors).max(axis=-1)
    unit = np.where(np.isfinite(largest) & (largest > 0.0), largest, 1.0)
    with np.errstate(over="ignore"):
        longer = largest * np.linalg.norm(vectors / unit[..., None], axis=-1)
    return np.asarray(np.where(np.isinf(length) & np.isfinite(largest), longer, length))


def clip_norm(vectors: FloatArray, radius: float) -> FloatArray:
    """Shorten vectors ``(..., d)`` to at most ``radius``; shorter ones stay as they are.

    Each is scaled by a power of two first, which changes no digit, so that squares neither overflow
    nor vanish.

    Parameters
    ----------
    vectors : ndarray, shape (..., d)
    radius : float

    Returns
    -------
    ndarray, shape (..., d)
    """
    if vectors.ndim == 2 and vectors.flags.c_contiguous and vectors.size > CHUNK_ENTRIES:
        return _clip_rows(vectors, radius)
    return _clip(vectors, radius)


def _clip(vectors: FloatArray, radius: float) -> FloatArray:
    """:func:`clip_norm` of all vectors at a time."""
    with np.errstate(all="ignore"):
        if _surely_inside(vectors, radius):
            return np.asarray(vectors)
        exponent = np.frexp(np.abs(vectors).max(axis=-1, keepdims=True))[1]
        scaled = np.ldexp(vectors, -exponent)
        norm = np.linalg.norm(scaled, axis=-1, keepdims=True)
        outside = np.ldexp(norm, exponent) > radius
        if not outside.any():
            return np.asarray(vectors)
        shortened = scaled * (radius / np.where(outside, norm, 1.0))
    return np.where(outside, shortened, vectors)


def _surely_inside(vectors: FloatArray, radius: float) -> bool:
    """Whether all vectors are shorter by more than rounding of plain squares explains."""
    if not 1e-140 < radius < 1e140 or not vectors.size:
        return False
    square = np.einsum("...i,...i->...", vectors, vectors)
    return bool(square.max() <= (radius * (1.0 - 1e-6)) ** 2)  # not of NaN


def _clip_rows(vectors: FloatArray, radius: float) -> FloatArray:
    """:func:`clip_norm` of many rows, some at a time, whose temporary arrays stay in the cache."""
    step = max(1, CHUNK_ENTRIES // vectors.shape[-1])
    found = vectors
    for start in range(0, len(vectors), step):
        rows = vectors[start : start + step]
        clipped = _clip(rows, radius)
        if clipped is not rows:
            found = np.array(vectors) if found is vectors else found
            found[start : start + step] = clipped
    return np.asarray(found)
