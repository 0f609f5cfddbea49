"""Steps to the mean on spheres and hyperbolic spaces, of records that come a part at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp.kernel import Sum
from riemdp.spaces import clip_norm
from riemdp.statistics.curved._certified_space_form import Enclosed, distance, enclosed, grid
from riemdp.statistics.curved._descent import (
    Descent,
    added_rows,
    check_reached,
    hadamard_steps,
    spherical_steps,
    weight_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

#: Unit roundoff of float64.
_UNIT = 2.0**-53
#: Bits of the grid of gradients, relative to the radius.
_BITS = 58
#: Radius beyond any use, in units of the curvature.
_WIDEST = 64.0


@dataclass(frozen=True)
class SpaceFormDescent(Descent):
    """On spheres and hyperbolic spaces.

    Attributes
    ----------
    dim : int
    curvature : float
    radius : float
    steps : tuple of float

    References
    ----------
    docs/proofs/streamed-frechet-means.md
    """

    dim: int
    curvature: float
    radius: float
    steps: tuple[float, ...] = field(repr=False)

    def start(self) -> FloatArray:
        """See :meth:`Descent.start`."""
        return np.zeros(self.dim)

    def seen(
        self,
        records: FloatArray,
        view: FloatArray,
        whole: NDArray[np.int64] | None = None,
        *,
        last: bool,
    ) -> Any:
        """In float64, and in balls where the point is certified; see :meth:`Descent.seen`."""
        if last:
            return enclosed(self.curvature, self.radius, view, records, whole)
        rows = logarithms(self.curvature, view, records)
        rows = np.where(np.isfinite(rows), rows, 0.0)
        total = added_rows(rows, grid(self.radius, _BITS), whole)
        return Sum(total, weight_of(len(records), whole))

    def moved(self, point: FloatArray, partial: Sum, number: int) -> FloatArray:
        """Go along the gradient, and into the ball; see :meth:`Descent.moved`."""
        unit = Fraction(2) ** grid(self.radius, _BITS) * partial.count
        along = np.array([[self.steps[number] * float(total / unit) for total in partial.total]])
        found = logarithms(self.curvature, -point, along)[0]  # seen from -point it is a translation
        return clip_norm(found, self.radius) if np.isfinite(found).all() else point

    def certified(
        self, point: FloatArray, view: FloatArray, partial: Enclosed, tol: float
    ) -> tuple[Fraction, ...]:
        """Enclose the gradient; see :meth:`Descent.certified`."""
        del view
        bound = distance(self.curvature, self.radius, point, partial, tol)
        check_reached(bound, tol)
        return tuple(map(Fraction, point.tolist()))


def space_form_descent(
    dim: int, curvature: float, radius: float, tol: float
) -> SpaceFormDescent | None:
    """Return steps that end within a tolerance of any mean in a ball, None if none are proved to.

    Parameters
    ----------
    dim : int
    curvature : float
        Not 0.
    radius, tol : float

    Returns
    -------
    SpaceFormDescent or None
    """
    k = math.sqrt(abs(curvature))
    if curvature < 0.0 and k * radius > _WIDEST:
        return None
    error = logarithm_error(dim, curvature, radius)
    clipped = (dim + 16.0) * _UNIT * radius
    if curvature > 0.0:
        steps = spherical_steps(k, radius, tol, error=error, moving=2.0 * error + clipped)
    else:
        spread = math.sinh(k * radius) / (k * radius) if k * radius > 1e-9 else 1.0

        def moving(length: float) -> float:
            wide = logarithm_error(dim, curvature, 0.5 * (radius + length))
            return wide + spread * clipped

        steps = hadamard_steps(k, radius, tol, error=error, moving=moving, own=2.0**-60 * tol)
    return None if steps is None else SpaceFormDescent(dim, curvature, radius, steps)


def logarithms(curvature: float, point: FloatArray, records: FloatArray) -> FloatArray:
    """Logarithms of records as seen from a point, in the frame that is parallel from the origin.

    In sums and functions of each record by itself: no product with a matrix.

    Parameters
    ----------
    curvature : float
    point : ndarray, shape (d,)
        Normal coordinates about the origin.
    records : ndarray, shape (n, d)
        The same of the records.

    Returns
    -------
    ndarray, shape (n, d)

    References
    ----------
    docs/proofs/certified-means.md, "Spheres and hyperbolic spaces"
    """
    spherical = curvature > 0.0
    k = math.sqrt(abs(curvature))
    even, odd = (np.cos, np.sin) if spherical else (np.cosh, np.sinh)
    t = k * float(np.linalg.norm(point))
    sine, cosine = (math.sin(t), math.cos(t)) if spherical else (math.sinh(t), math.cosh(t))
    half = (math.sin if spherical else math.sinh)(0.5 * t)
    sinc = sine / t if t else 1.0
    turn = 0.5 * curvature * ((half / (0.5 * t)) ** 2 if t else 1.0)
    columns = [np.ascontiguousarray(column) for column in records.T]
    with np.errstate(all="ignore"):
        zero = np.zeros(len(records))
        angles = k * np.sqrt(sum((x * x for x in columns), zero))
        products = sum((x * v for x, v in zip(columns, point.tolist(), strict=True)), zero)
        own = np.where(angles > 0.0, odd(angles) / np.where(angles > 0.0, angles, 1.0), 1.0)
        level = even(angles)
        along = level * sinc + turn * own * products
        across = [k * (own * x - along * v) for x, v in zip(columns, point.tolist(), strict=True)]
        size = np.sqrt(sum((x * x for x in across), zero))
        if spherical:
            between = np.arctan2(size, level * cosine + curvature * sinc * own * products)
        else:
            between = np.arcsinh(size)
        weight = np.where(size > 0.0, between / np.where(size > 0.0, size, 1.0), 1.0) / k
        return np.stack([weight * x for x in across], axis=-1)


def logarithm_error(dim: int, curvature: float, radius: float) -> float:
    """Bound what rounding makes of :func:`logarithms` in a ball; only the number of steps needs it.

    Parameters
    ----------
    dim : int
    curvature : float
    radius : float

    Returns
    -------
    float
        In units of distance.
    """
    k = math.sqrt(abs(curvature))
    x = 2.0 * k * radius
    if curvature > 0.0:
        size = 1.0 + (x / math.sin(x) if 0.0 < x < math.pi else math.inf)
    else:
        size = 2.0 * (math.sinh(x) if x < 700.0 else math.inf)
    return (3.0 * dim + 24.0) * _UNIT * size / k
