"""Subspaces and planar shapes for tests: records, and logarithms and means by other formulas."""

from __future__ import annotations

import math

import mpmath
import numpy as np

from riemdp.spaces import clip_norm
from riemdp.statistics.curved import _descent_space_form as descent
from riemdp.statistics.curved._certified_grassmann import frames_of, logarithms


def space_form_mean(curvature, records, radius):
    """Newton's method in coordinates about the point before, from the average."""
    point = records.mean(axis=0)
    for _ in range(200):
        step = descent.logarithms(curvature, point, records).mean(axis=0)
        point = descent.logarithms(curvature, -point, step[None])[0]
    return clip_norm(point, radius)


KINDS = ("any", "one", "equal", "boundary", "opposite")


def dim_of(space):
    return space.rows * space.columns * space.copies


def some_records(rng, space, radius, kind):
    dim, n = dim_of(space), {"any": 6, "one": 1, "equal": 4, "boundary": 5, "opposite": 4}[kind]
    records = rng.normal(size=(n, dim))
    if kind == "equal":
        records[:] = records[0]
    if kind == "opposite":
        records[1:] = -records[0] + 0.02 * rng.normal(size=(3, dim))
    records /= np.linalg.norm(records, axis=1, keepdims=True)
    if kind == "any":
        records *= rng.uniform(size=(n, 1))
    return clip_norm(radius * records, radius * (1.0 - 2.0**-40))


# The same by other formulas, at 50 digits: matrices of complex or real numbers, decompositions.


def exact_matrix(space, coordinates):
    values = [mpmath.mpf(float(x)) for x in coordinates]
    if space.planar:
        half = space.rows
        return mpmath.matrix([[mpmath.mpc(values[i], values[half + i])] for i in range(half)])
    rows = [values[i * space.columns : (i + 1) * space.columns] for i in range(space.rows)]
    return mpmath.matrix(rows)


def exact_frame(space, coordinates):
    """Orthonormal columns that span the subspace, the exponential of a skew-Hermitian matrix."""
    matrix = exact_matrix(space, coordinates)
    q, p = matrix.rows, matrix.cols
    whole = mpmath.zeros(p + q)
    for i in range(q):
        for j in range(p):
            whole[p + i, j] = matrix[i, j]
            whole[j, p + i] = -mpmath.conj(matrix[i, j])
    return mpmath.expm(whole, method="taylor")[:, :p]


def singular(matrix):
    one_column = matrix.cols == 1
    if one_column:
        size = mpmath.norm(matrix)
        return matrix / size if size else matrix, [size], mpmath.eye(1)
    u, s, v = mpmath.svd(matrix)
    return u, list(s), v


def exact_log(base, frame):
    """Tangent vector at the base, by principal angles' tangents."""
    overlap = base.H * frame
    tangent = frame * mpmath.inverse(overlap) - base
    u, s, v = singular(tangent)
    return u * mpmath.diag([mpmath.atan(x) for x in s]) * v


def exact_exp(base, tangent):
    u, s, v = singular(tangent)
    cosine = v.H * mpmath.diag([mpmath.cos(x) for x in s]) * v
    return base * cosine + u * mpmath.diag([mpmath.sin(x) for x in s]) * v


def norm(matrix):
    return mpmath.sqrt(mpmath.fsum(abs(x) ** 2 for x in matrix))


def exact_mean(space, start, records, accuracy):
    """Frame of the mean, right to the accuracy, from coordinates near it."""
    at, frames = exact_frame(space, start), [exact_frame(space, x) for x in records]
    while True:
        step = mpmath.zeros(at.rows, at.cols)
        for frame in frames:
            step += exact_log(at, frame)
        step /= len(frames)
        if norm(step) < accuracy:
            return at
        at = exact_exp(at, step * mpmath.mpf(1.5))


def extremes(space):
    """Two orthogonal unit vectors that span a plane of the largest curvature."""
    along, across = np.zeros((2, dim_of(space)))
    if space.planar:
        along[0] = across[space.rows] = 1.0
    elif min(space.rows, space.columns) == 1:
        along[0] = across[1] = 1.0
    else:
        first, second = np.zeros((2, space.rows, space.columns))
        first[0, 0] = first[1, 1] = second[0, 1] = math.sqrt(0.5)
        second[1, 0] = -math.sqrt(0.5)
        along, across = first.ravel(), second.ravel()
    return along, across


def distance(space, first, second):
    frame = frames_of(space.matrices(first[None]))[0]
    found, _ = logarithms(space, frame, space.matrices(second[None]))
    return float(np.linalg.norm(found)) / math.sqrt(space.copies)
