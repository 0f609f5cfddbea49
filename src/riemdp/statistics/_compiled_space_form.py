"""Means on spheres and hyperbolic spaces by compiled loops, where that is worth their start.

A private release, whose bits must depend neither on what is installed nor on how many records
there are, does not ask for them. What is not plain (other arrays, records that are to be mended or
refused, that lie far apart, or whose mean is not found in a few steps) is left to the other solver,
which says what is wrong with it.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _lanes
from riemdp._compiling import compiler
from riemdp._errors import InvalidParameterError
from riemdp.statistics import _space_form_kernels as loops
from riemdp.statistics._shares import shares_of
from riemdp.statistics._space_form_mean import Pass, certificate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from riemdp.manifolds import Ball

    FloatArray = NDArray[np.float64]

#: Entries of the data from which on compiled code is asked for: compiling it takes seconds, once on
#: a machine, and loading it some tenths of one. Beyond as many as that the data are not copied.
WORTH, MOST = 2**14, 2**24
#: Width of a record up to which tiles of few records are small, and products of two records, which
#: the loops add in sequence, are within the allowance for them.
WIDEST = 2**12
_EPS = float(np.finfo(np.float64).eps)
#: As in the other solver: relative rounding of squares that is not corrected.
_ROUNDING = 4.0 * _EPS
#: Shares of the tolerance for the gradient, and for the residual of a Newton equation.
_GOAL, _ENOUGH = 0.9, 0.1


@dataclass(frozen=True)
class Kernels:
    """Compiled functions of :mod:`riemdp.statistics._space_form_kernels`."""

    fill_tiles: Callable[..., None]
    solve: Callable[..., None]


@functools.cache
def kernels() -> Kernels | None:
    """Return what numba compiles when it is called; none where there is no numba."""
    compiled = compiler(contracting=True)
    if compiled is None:
        return None
    import numba

    _lanes.teach(numba)
    return Kernels(compiled(loops.fill_tiles), compiled(loops.solve))


@dataclass(frozen=True, eq=False)
class Fractions:
    """The fractions for the weights of records, as the loops take them.

    Attributes
    ----------
    limits : ndarray, shape (c, 2)
        Intervals of ``1 + c`` on which the errors are proved.
    degrees : ndarray of int, shape (c,)
    coefficients : ndarray, shape (c, 2, m)
    errors : tuple of float
        Bounds of the relative error, rounding included.
    """

    limits: FloatArray
    degrees: NDArray[np.int64]
    coefficients: FloatArray
    errors: tuple[float, ...]


@functools.cache
def fractions(space: str) -> Fractions:
    """Return those for a space, ``"sphere"`` or ``"hyperbolic"``, the smallest interval first.

    References
    ----------
    docs/proofs/space-form-kernels.md
    """
    from importlib import resources

    path = resources.files("riemdp.statistics").joinpath("data/arc_weights.json")
    rows = [row for row in json.loads(path.read_text("ascii"))["classes"] if row["space"] == space]
    coefficients = np.zeros((len(rows), 2, max(len(row["over"]) for row in rows)))
    for place, row in zip(coefficients, rows, strict=True):
        place[:, : len(row["over"])] = row["over"], row["under"]
    return Fractions(
        np.array([[row["low"], row["high"]] for row in rows]),
        np.array([len(row["over"]) for row in rows], dtype=np.int64),
        coefficients,
        tuple(row["error"] for row in rows),
    )


def is_worthwhile(points: ArrayLike, width: int) -> bool:
    """Whether compiled code is asked for: of the shape of the data, and of what is installed.

    Parameters
    ----------
    points : array_like
    width : int
        Of a record, at least 3 (a circle and a line have formulas) and at most ``WIDEST``.

    Returns
    -------
    bool
    """
    plain = type(points) is np.ndarray and points.dtype == np.float64 and points.ndim == 2
    if not plain or not 3 <= width <= WIDEST or points.shape[1] != width:  # type: ignore[union-attr]
        return False
    return WORTH <= points.size <= MOST and kernels() is not None  # type: ignore[union-attr]


def mean(
    manifold: Any,
    points: ArrayLike,
    weights: ArrayLike | None,
    ball: Ball | None,
    tol: float,
) -> tuple[FloatArray, float, int] | None:
    """Validate data and find their mean; None where that is left to the other solver.

    Parameters
    ----------
    manifold : Sphere or Hyperbolic
    points : array_like, shape (n, dim + 1)
        Not validated.
    weights : array_like, shape (n,), optional
    ball : Ball, optional
        Within the open hemisphere about its centre, on spheres.
    tol : float

    Returns
    -------
    tuple or None
        The mean, its certified error and the number of passes.

    References
    ----------
    docs/proofs/space-form-kernels.md
    """
    compiled = kernels() if is_worthwhile(points, manifold.dim + 1) else None
    if compiled is None:
        return None
    data: Any = points
    if not (data.flags.c_contiguous and data.flags.writeable):
        data = np.array(data)  # of one kind, compiled once
    spherical, k = manifold.curvature > 0.0, math.sqrt(abs(manifold.curvature))
    n, width = data.shape
    try:
        shares = np.ones(1) if weights is None else shares_of(weights, n)
    except InvalidParameterError:  # of less consequence than what may be wrong with the data
        return None
    weight = float(n) if weights is None else 1.0
    shape = (-(-n // loops.TILE), width + 3, loops.TILE)
    tiles = _lanes.rows(math.prod(shape) // _lanes.WIDE).reshape(shape)
    point, known = np.empty(width), np.empty(2)
    center = np.zeros(width) if ball is None else np.array(ball.center)
    compiled.fill_tiles(data, shares, center, manifold.curvature, _ROUNDING, tiles, point, known)
    if known[0] != len(tiles) * loops.TILE or not all(map(math.isfinite, point.tolist())):
        return None
    if spherical and not manifold.curvature * known[1] > _cosine(ball, k):
        return None
    point /= _length(point, spherical)
    table, found = fractions("sphere" if spherical else "hyperbolic"), np.empty(7)
    compiled.solve(
        tiles,
        manifold.curvature,
        weight,
        _GOAL * k * tol,
        _ENOUGH * k * tol,
        table.limits,
        table.degrees,
        table.coefficients,
        point,
        found,
    )
    if found[0] != 1.0:
        return None
    if spherical and not k * float(center @ point) > _cosine(ball, k) + 4.0 * _EPS:
        return None
    reach = _reach(found, spherical)
    beyond = {}
    if spherical and found[3] < 0.0:
        over = _beyond_right_angles(tiles[:, width], tiles[:, width + 1])
        beyond["lost"] = float(np.sum(over)) / weight
    elif not spherical:
        beyond["spread"] = float(point[0]) * k * float(known[1])
    error = table.errors[int(found[6])]
    allowance = _allowance(width, len(tiles), error, reach, **beyond)
    at = Pass(point, math.nan, point, float(found[1]), float(found[2]), reach, allowance)
    bound = certificate(at, k, ball if spherical else None, tol)
    return (point / k, bound, int(found[5])) if bound <= tol else None


def _allowance(
    width: int, tiles: int, error: float, reach: float, *, lost: float = 0.0, spread: float = 0.0
) -> float:
    """Return what rounding and the fractions may add to the norm of a gradient.

    Parameters
    ----------
    width : int
        Of a record.
    tiles : int
    error : float
        Of the weights, relative.
    reach : float
        Distance of the farthest record, at unit curvature.
    lost : float
        On spheres, the mean of 1 over the squared sine, of records within a right angle 0.
    spread : float
        On hyperbolic spaces, the product of the time coordinates of the point and of the farthest
        record, at unit curvature; zero on spheres.

    Returns
    -------
    float

    References
    ----------
    docs/proofs/space-form-kernels.md, 3 to 5
    """
    weight = 1.0 if spread or not reach else reach / math.sin(reach)  # the largest one
    allowance = 8.0 * _EPS * math.sqrt(width) * (1.0 + reach)
    allowance += _EPS * _chain(tiles) * weight
    allowance += error * (reach + weight)
    return allowance * max(1.0, spread) + 16.0 * math.pi * _EPS * math.sqrt(width) * lost


def _cosine(ball: Ball | None, k: float) -> float:
    """Of the radius of a ball on a sphere."""
    return math.inf if ball is None else math.cos(k * ball.radius)


def _beyond_right_angles(shares: FloatArray, cosines: FloatArray) -> FloatArray:
    """Weights over squares of sines, of those records that are farther away than a right angle."""
    beyond = cosines < 0.0  # others may be at the point itself, where no sine is left
    return shares[beyond] / (1.0 - cosines[beyond] * cosines[beyond])


def _length(vector: FloatArray, spherical: bool) -> float:
    """Of a sum of records, in the geometry of the ambient space."""
    across = vector[1:] @ vector[1:]
    square = vector[0] ** 2 + (across if spherical else -across)
    return math.sqrt(abs(square))


def _reach(found: FloatArray, spherical: bool) -> float:
    """Distance of the farthest record, at unit curvature."""
    if spherical:
        return math.acos(min(max(float(found[3]), -1.0), 1.0))
    return math.acosh(max(float(found[4]), 1.0))


def _chain(tiles: int) -> int:
    """Additions that a term of a sum over the records goes through, at most, and its product."""
    within = loops.TILE // loops.LANES + min(tiles, loops.RUN)
    return within + -(-tiles // loops.RUN) + loops.LANES
